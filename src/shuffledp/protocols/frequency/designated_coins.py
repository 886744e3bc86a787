"""Designated coins: the first users of the list add fair coins to every count."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.accounting.general.random_users import mixed_delta
from shuffledp.guarantees import EXACT, NAMED, UPPER, Standing, under
from shuffledp.numerics.argument_ranges import Count
from shuffledp.protocols._requests import PlannedUsers, seats_left
from shuffledp.protocols.client.description import Client, noise_law
from shuffledp.protocols.frequency._noisy_counts import CountNoise, NoisyCounts, coin_noise
from shuffledp.protocols.frequency.sbin import fair_coins
from shuffledp.protocols.messages import Cost
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Ints, Users


@dataclass(frozen=True)
class DesignatedCoins(NoisyCounts, PlannedUsers):
    """Each user's value; the first users of the list add a dummy of every value with probability 1/2.

    A message is a value; the shuffler only permutes. Privacy relies on the ``designated`` users, of whom ``colluding``
    may collude with the analyzer. Binomial noise of rate 1/2 has the least variance of its family, with more dummies.
    """

    n_users: int
    designated: int
    colluding: int = 0

    name = "designated_coins"
    task_kind = "frequency"
    label = "designated coins"
    source = "this project; the upper end of the family of balls into bins"
    proof = "shuffledp.accounting.general.count_pairs"
    trust = "shuffler"
    relies_on = "named users' dummies"
    guarantees = under(exact=EXACT)

    @classmethod
    def fit(cls, request: Request, *, colluding: Count = 0) -> Self:
        """Find the number of designated users, see :func:`shuffledp.protocols.frequency.sbin.fair_coins`.

        ``colluding`` is the number of designated users who may collude with the analyzer. Raises `Infeasible` if more
        users are needed than take part.
        """
        n = request.n
        needed = fair_coins(request.eps, request.delta) + colluding
        if needed > n:
            raise Infeasible(f"{needed} users have to be designated, there are {n}.")
        return cls(request.k, n, needed, colluding)

    @property
    def standing(self) -> Standing:
        """Label of the guarantee, ``exact``; ``upper`` if users may collude, as their coins are not counted."""
        return UPPER if self.colluding else super().standing

    def noise(self, users: Array) -> CountNoise:
        """Return the law of the designated users' fair coins, or of all users' coins if fewer take part."""
        return coin_noise(np.minimum(np.asarray(users, np.int64), self.designated), 0.5)

    def noise_of(self, users: Users, rng: np.random.Generator) -> Ints:
        """Draw the coins of the designated users among these users, by their places in the list."""
        designated = min(max(self.designated - users.offset, 0), len(users))
        return rng.binomial(designated, 0.5, self.domain_size)

    def counted_on(self) -> str:
        """Name the designated users."""
        first = f"the first {self.designated:,} users of the list"
        return f"{first}, of whom {self.colluding:,} may collude with the analyzer"

    def cost(self) -> Cost:
        """Return the cost of the user's value and of ``k M / (2 n)`` dummies on average, at most k."""
        usual = self.usual_users
        most = self.domain_size if self.designated else 0
        return self.cost_of(self.domain_size * min(self.designated, usual) / 2 / usual, most)

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of the two counts that change, with the coins of designated users who do not collude."""
        return self._with_coins(min(users, self.designated))

    def _with_coins(self, coins: int) -> PrivacyProfile:
        """Return the profile with the coins of this number of designated users, some of whom may collude."""
        honest_coins = max(coins - self.colluding, 0)
        profile = self.two_counts(coin_noise(honest_coins, 0.5), "the shuffler's dummies")
        return replace(profile, kind="upper") if self.colluding else profile

    def profile_among(self, users: int, honest: int, *, colluding: bool) -> PrivacyProfile:
        """Return the profile if designated users collude first, or if random users drop out."""
        if colluding:
            return self._with_coins(max(self.designated - (users - honest), 0))
        seats = seats_left(self.designated, users, honest)
        return Profile(
            lambda eps: mixed_delta(lambda coins: float(self._with_coins(coins).delta(eps)), seats),
            "mean over the designated users who remain",
        )

    def profile_of_any(self, honest: int) -> PrivacyProfile:
        """Return the profile without any coin, where delta is 1."""
        return self._with_coins(0)

    def when_absent(self) -> str:
        """Return a sentence on dropouts, and one on the designated users."""
        return f"{super().when_absent()} {NAMED}"

    def client(self) -> Client:
        """Return the client, which sends the value and, from the first users, a fair coin for every value."""
        coins = noise_law([(self.designated / 2, 0.5, 1)], "places", coins=self.designated)
        return self.client_of(self.n_users, coins, {"part": "coins", "rate": "1/2", "first": self.designated})
