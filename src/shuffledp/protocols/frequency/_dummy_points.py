"""Protocols with dummy points: reports among uniform messages.

A participant sends a value, after generalized randomized response (GRR) with budget ``eps_local``, together with
dummies, uniform over the k values. ``eps_local = inf`` sends the true value. The dummies are either a fixed total that
a planned number of users divides evenly, or each user sends a number of them with some probability.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.dump.dummies import dummy_delta
from shuffledp.accounting.dump.flexible_profile import quick_bound
from shuffledp.accounting.general.grr_blanket import grr_blanket_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.accounting.general.random_users import mixed_delta
from shuffledp.guarantees import NAMED, Enforced, Reliance
from shuffledp.numerics.saddlepoint import ErrorLaw, Term
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._requests import PlannedUsers, seats_left
from shuffledp.protocols.client.description import (
    AS_CALIBRATED,
    ODDS,
    Client,
    frequencies,
    noise_law,
    odds_below,
)
from shuffledp.protocols.frequency._value_counts import GeneralizedResponse, held_counts, held_integers
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.tasks import Array, Floats, Ints, Participants, Public, Users

#: Description of a profile among dummies. With GRR the profile is an upper bound: the adversary knows which other
#: reports are uniform.
BLANKET = "hockey stick of the counts of two values, averaged over the uniform messages"


@dataclass(frozen=True)
class DummyPoints(PlannedUsers):
    """Reports by generalized randomized response (true values for ``eps_local = inf``), and uniform dummies."""

    n_users: int
    domain_size: int
    eps_local: float

    trust = "shuffler"
    relies_on: ClassVar[Reliance] = "others' reports and dummies"
    reduction = "dummy blanket"
    poisoning: ClassVar[Enforced] = "capped messages"

    @property
    def response(self) -> GeneralizedResponse:
        """Local randomizer of the user's value."""
        return GeneralizedResponse(self.eps_local, self.domain_size)

    @property
    def alphabet_size(self) -> int:
        """Number of different messages, one per value."""
        return self.domain_size

    @property
    @abstractmethod
    def dummies_subtracted(self) -> float:
        """Number of dummies that the analyzer subtracts for one more user, who sends the largest number of messages."""

    def gain_per_fake(self, most: float) -> float:
        """Return the gain of the largest number of messages, all of the target."""
        return (most - self.response.lie - self.dummies_subtracted / self.domain_size) / self.response.gap

    @abstractmethod
    def dummies_sent(self, users: Users, rng: Generator) -> int:
        """Draw the number of dummies of all these users together; the shuffler hides their senders."""

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw each user's report, and uniform dummies."""
        reports = self.response.randomize(users.values, rng)
        dummies = rng.integers(0, self.domain_size, self.dummies_sent(users, rng))
        return Messages(np.concatenate((reports, dummies)))

    def _sampled(self, participants: Participants, dummies: Ints, rng: Generator) -> Ints:
        """Draw the messages per value, (R, k), with these total numbers of dummies, (R,)."""
        true_counts = held_integers(participants, self.domain_size)
        shares = np.full(self.domain_size, 1 / self.domain_size)
        return self.response.sample_counts(true_counts, rng) + rng.multinomial(dummies, shares)

    def _estimated(self, aggregate: Array, dummies: Array, public: Public) -> Floats:
        """Return unbiased relative frequencies, (R, k), for these expected numbers of dummies, (R,)."""
        reports = aggregate - (dummies / self.domain_size)[:, None]
        return self.response.debiased(reports, public.n_users) / public.n_users[:, None]

    def _variance(self, participants: Participants, per_value: Array) -> Floats:
        """Return the variance of each frequency, (R, k); `per_value`, (R,), is the variance of a value's dummies."""
        n = participants.public.users_column
        true_counts = held_counts(participants, self.domain_size)
        return (self.response.variance(true_counts) + per_value[:, None] / self.response.gap**2) / n**2

    def _law(self, participants: Participants, dummies: list[Term]) -> ErrorLaw:
        """Return the law of each frequency's error; `dummies` add up to a value's dummies."""
        n = participants.public.users_column
        reports = self.response.error_law(held_counts(participants, self.domain_size), n)
        worth = 1 / (n * self.response.gap)
        return ErrorLaw([*reports.terms, *(term.times(worth) for term in dummies)], worth)

    def _cost(self, dummies_per_user: float, most: int) -> Cost:
        """Return the cost of a report and of dummies, from the mean and the largest number of dummies per user."""
        return Cost(1.0 + dummies_per_user, message_bits(self.domain_size), most_messages=1.0 + most)

    def _budget_parameters(self) -> dict[str, float]:
        return {} if self.eps_local == math.inf else {"eps_local": self.eps_local}


class DealtDummies(PlannedUsers):
    """Fixed total of dummies, in equal numbers from ``n_users`` users; the first users send the remainder.

    The place in the list of users determines a user's number of dummies, also after the first ``n_users`` users.
    """

    n_users: int
    dummies_in_all: int

    def dummies_of(self, users: Array, first: int = 0) -> Ints:
        """Return the number of dummies of `users` consecutive users, (R,), after the first `first` users."""
        each, remainder = divmod(self.dummies_in_all, self.n_users)
        n = np.asarray(users, np.int64)
        return np.asarray(each * n + np.clip(remainder - first, 0, n), np.int64)

    def dummies_among(self, users: int, first: int = 0) -> int:
        """Return `dummies_of` for a single number of users."""
        return int(self.dummies_of(np.array([users]), first)[0])

    @property
    def usual_dummies(self) -> int:
        """Total number of dummies for the expected number of users."""
        return self.dummies_among(self.usual_users)

    @property
    def most_dummies(self) -> int:
        """Largest number of dummies of any user."""
        return -(-self.dummies_in_all // self.n_users)

    @abstractmethod
    def profile_with(self, users: int, dummies: int) -> PrivacyProfile:
        """Return the profile for this number of participants and of dummies."""

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile if only the first users of the list take part."""
        return self.profile_with(users, self.dummies_among(users))

    def profile_among(self, users: int, honest: int, *, colluding: bool) -> PrivacyProfile:
        """Return the profile if the first users of the list collude, or if users drop out at random."""
        if colluding:
            return self.profile_with(honest, self.dummies_among(honest, users - honest))
        each, remainder = divmod(self.dummies_in_all, self.n_users)
        if remainder == 0:
            return self.profile_with(honest, each * honest)
        seats = seats_left(min(remainder, users), users, honest)
        return Profile(
            lambda eps: mixed_delta(
                lambda seated: float(self.profile_with(honest, each * honest + seated).delta(eps)), seats
            ),
            "mean over the users of the list who remain",
        )

    def profile_of_any(self, honest: int) -> PrivacyProfile:
        """Return the profile with the same number of dummies from every user, the smaller one."""
        return self.profile_with(honest, self.dummies_in_all // self.n_users * honest)

    def when_absent(self) -> str:
        """Return a sentence on the dummies, and one on the list if the numbers per user differ."""
        text = super().when_absent()
        return f"{text} {NAMED}" if self.dummies_in_all % self.n_users else text

    def counted_on(self) -> str:
        """Name the users who send dummies."""
        each, remainder = divmod(self.dummies_in_all, self.n_users)
        first = f"the first {remainder:,} users of the list"
        if each == 0:
            return f"{first}, one each"
        return f"all {self.n_users:,} planned users, {each:,} each" + (
            f", and one more of {first}" if remainder else ""
        )


@dataclass(frozen=True)
class FixedDummies(DealtDummies, DummyPoints):
    """Reports, and a fixed total of dummies from all ``n_users`` users."""

    dummies_in_all: int

    @property
    def dummies_subtracted(self) -> float:
        """Number of dummies of a user who follows the planned users in the list."""
        return float(self.dummies_in_all // self.n_users)

    def dummies_sent(self, users: Users, rng: Generator) -> int:
        """Return the number of dummies of these users, which depends on their places in the list of users."""
        return self.dummies_among(len(users), users.offset)

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the messages per value, (R, k), from their exact law, at a cost independent of n."""
        return self._sampled(participants, self.dummies_of(participants.public.n_users), rng)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased relative frequencies, (R, k)."""
        return self._estimated(aggregate, self.dummies_of(public.n_users), public)

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the exact law of the reports and of the dummies of a value."""
        share = 1 / self.domain_size
        dummies = self.dummies_of(participants.public.n_users)[:, None] * share
        return self._law(participants, [Term(dummies, share, 1.0)])

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each frequency given the participants' values, (R, k)."""
        share = 1 / self.domain_size
        return self._variance(
            participants, self.dummies_of(participants.public.n_users) * share * (1 - share)
        )

    def cost(self) -> Cost:
        """Return the cost of a report, and of the mean number of dummies for the expected number of users."""
        return self._cost(self.usual_dummies / self.usual_users, self.most_dummies)

    def profile_with(self, users: int, dummies: int) -> PrivacyProfile:
        """Return the profile of two values among the dummies; it is exact if users send true values."""
        k, eps_local = self.domain_size, self.eps_local
        if eps_local == math.inf:
            return Profile(lambda eps: dummy_delta(k, dummies, eps), BLANKET, "exact")
        return Profile(
            lambda eps: grr_blanket_delta(eps, users, k, eps_local, dummies=dummies),
            BLANKET,
            bound=lambda eps, excess: quick_bound(users, k, eps, dummies, None, eps_local, excess),
        )

    def parameters(self) -> dict[str, float]:
        """Return the local budget, if it is finite, and the number of dummies in total and per user."""
        return {
            **self._budget_parameters(),
            "dummies": float(self.usual_dummies),
            "dummies_per_user": self.usual_dummies / self.usual_users,
        }

    def client(self) -> Client:
        """Return the client, which sends the report, and dummies by the user's place in the list."""
        k = self.domain_size
        each, remainder = divmod(self.dummies_in_all, self.n_users)
        report = {"part": "response", "max_value": k - 1, "levels": k - 1, **odds_below(self.eps_local)}
        if self.eps_local == math.inf:
            report = {"part": "kept", "rate": "1", "symbols": 1}
        dummies = {"part": "dealt", "values": k, "each": each, "more": remainder}
        own_rate, other_rate = self.response.keep, self.response.lie
        return Client(
            self.n_users,
            k,
            [("value", k)],
            [report, dummies] if self.dummies_in_all else [report],
            frequencies(
                k, "of_values", own_rate, other_rate, noise_law([], "messages", each=each, more=remainder)
            ),
            ODDS if self.eps_local < math.inf else AS_CALIBRATED,
        )
