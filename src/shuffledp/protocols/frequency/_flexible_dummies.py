"""Dummy points of some users: each user sends a number of dummies with some probability."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.dump.flexible import (
    RANDOM_SENDERS,
    flexible_dummies,
    flexible_dummy_delta,
)
from shuffledp.accounting.dump.flexible_profile import message_losses, quick_bound
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, Standing
from shuffledp.numerics.saddlepoint import ErrorLaw, poisson_term
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols.frequency._dummy_points import BLANKET, DummyPoints
from shuffledp.protocols.messages import Cost
from shuffledp.tasks import Array, Floats, Participants, Public, Users

#: Number of dummies that the flexible variants subtract: the expected or the observed number.
Estimator = Literal["expected", "observed"]


@dataclass(frozen=True)
class FlexibleDummies(DummyPoints):
    """Reports, and ``per_sender`` dummies that each user sends with probability ``rate``.

    The analyzer subtracts the ``expected`` number of dummies, as printed, or the ``observed`` number, for a smaller
    variance.
    """

    no_client = "A client is written for a fixed number of dummies alone, see pure_dump and mix_dump."

    profile_points = 40

    per_sender: int
    rate: float
    estimator: Estimator = "expected"

    @property
    def standing(self) -> Standing:
        """Label of the guarantee; ``upper`` also if all users send dummies or no dummies are needed."""
        certain = self.rate == 1 or (self.per_sender == 0 and self.eps_local < math.inf)
        return UPPER if certain and super().standing == RANDOM_SENDERS else super().standing

    def counted_on(self) -> str:
        """Name the users who send dummies."""
        return (
            f"{super().counted_on()}, each of whom sends {self.per_sender:,} with probability {self.rate:.6g}"
        )

    @property
    def dummies_subtracted(self) -> float:
        """Expected number of dummies of a user, or, if ``observed``, all messages of the user but one."""
        return float(self.per_sender * (1 if self.estimator == "observed" else self.rate))

    def dummies_sent(self, users: Users, rng: Generator) -> int:
        """Draw the total number of dummies; each user decides independently."""
        return self.per_sender * int(rng.binomial(len(users), self.rate))

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the messages per value, (R, k), from their exact law, at a cost independent of n."""
        senders = rng.binomial(participants.public.n_users, self.rate)
        return self._sampled(participants, self.per_sender * np.asarray(senders, np.int64), rng)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased relative frequencies, (R, k)."""
        if self.estimator == "observed":
            return self._estimated(aggregate, np.asarray(aggregate).sum(axis=1) - public.n_users, public)
        return self._estimated(aggregate, self._expected_dummies(public.n_users), public)

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the law of reports, of senders of dummies, and of the dummies of a value."""
        each = self.per_sender / self.domain_size
        # The squares and cubes of a sender's Poisson dummies of a value have the ratio of the step.
        step = (each**2 + 3 * each + 1) / (each + 1) if self.estimator == "expected" else 1.0
        variance = self._dummy_variance(participants.public.n_users)[:, None]
        return self._law(participants, [poisson_term(variance, step)])

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each frequency given the values, (R, k); Theorem 5.15 is corrected."""
        return self._variance(participants, self._dummy_variance(participants.public.n_users))

    def _dummy_variance(self, users: Array) -> Floats:
        """Return the variance of a value's dummies, (R,)."""
        share = 1 / self.domain_size
        blocks = self.per_sender * (1 - self.rate) * share if self.estimator == "expected" else 0.0
        return self._expected_dummies(users) * share * (1 - share + blocks)

    def cost(self) -> Cost:
        """Return the cost of the report and the expected number of dummies."""
        return self._cost(self.rate * self.per_sender, self.per_sender)

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of two values, averaged over the number of senders, which the analyzer can compute."""
        k, eps_local, sent = self.domain_size, self.eps_local, (self.per_sender, self.rate)
        profile = Profile(
            lambda eps: flexible_dummy_delta(eps, users, k, *sent, eps_local=eps_local), BLANKET, "exact"
        )
        if eps_local == math.inf:
            return profile
        return replace(
            profile,
            kind="upper",
            bound=lambda eps, excess: quick_bound(users, k, eps, *sent, eps_local, excess),
            loss_parts=lambda negligible: message_losses(users, k, *sent, eps_local, negligible),
        )

    def parameters(self) -> dict[str, float]:
        """Return the local budget, if it is finite, the dummies in total, per user and per sender, and the rate."""
        return {
            **self._budget_parameters(),
            "dummies": float(self._expected_dummies(np.array([self.usual_users]))[0]),
            "dummies_per_user": self.rate * self.per_sender,
            "dummies_per_sender": float(self.per_sender),
            "rate": self.rate,
        }

    def _expected_dummies(self, users: Array) -> Floats:
        return self.rate * self.per_sender * np.asarray(users, float)


def default_rate(n: int, delta: float) -> float:
    """Return the rate 0.01 of sending dummies, the larger value in Tables 3 and 4, or a larger rate for few users.

    At the larger rate, no user sends dummies with probability ``delta / 100``; a rate above one half becomes 1.
    """
    rate = max(0.01, -math.expm1(math.log(delta / 100) / n))
    return rate if rate <= 0.5 else 1.0


def flexible_plan(
    n: int,
    domain_size: int,
    eps: float,
    delta: float,
    *,
    accounting: str,
    rate: float | None,
    estimator: Estimator,
    eps_local: float = math.inf,
) -> tuple[int, float, Estimator]:
    """Return dummies per sender, rate and estimator that meet a budget; the default rate is from `default_rate`."""
    share = default_rate(n, delta) if rate is None else float(rate)
    per_sender = flexible_dummies(
        n, domain_size, eps, delta, share, accounting=accounting, eps_local=eps_local
    )
    return per_sender, share, estimator
