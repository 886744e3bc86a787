"""Baselines with one fault each; every one of them has to be caught by the check that its test names."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shuffledp.accounting import ClonesProfile, Infeasible, OtherReports
from shuffledp.populations import Fixed
from shuffledp.protocols import Cost, Messages, ProtocolBase
from shuffledp.protocols.frequency.amplified import Amplified
from shuffledp.protocols.frequency.balls_into_bins import BallsIntoBins
from shuffledp.protocols.frequency.non_adaptive import NonAdaptive


@dataclass(frozen=True)
class Biased(Amplified):
    """Forgets that randomized response also says 1 for some who hold 0."""

    def estimate(self, aggregate, public):
        return aggregate / public.n_users[:, None] / self.response.keep


@dataclass(frozen=True)
class ForgetsDummies(NonAdaptive):
    """Takes the dummies for users."""

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        return super().calibrate(budget, population, task, accounting=accounting, dummies=20)

    def estimate(self, aggregate, public):
        return replace(self, dummy_count=0).estimate_plain(aggregate, public)

    def estimate_plain(self, aggregate, public):
        return super().estimate(aggregate, public)


@dataclass(frozen=True)
class WrongMean(Amplified):
    """The fast law forgets the lies."""

    def sample_aggregate(self, participants, rng):
        return rng.binomial(participants.counts, self.response.keep)


@dataclass(frozen=True)
class WrongSpread(Amplified):
    """The fast law rounds the mean instead of drawing."""

    def sample_aggregate(self, participants, rng):
        drawn = super().sample_aggregate(participants, rng)
        return np.rint(0.5 * (drawn + drawn.mean(axis=0))).astype(np.int64)


@dataclass(frozen=True)
class WrongCorrelation(Amplified):
    """The fast law draws every count on its own: right coordinate by coordinate, wrong together."""

    def sample_aggregate(self, participants, rng):
        k = self.domain_size
        return np.stack(
            [super(WrongCorrelation, self).sample_aggregate(participants, rng)[:, i] for i in range(k)], 1
        )


@dataclass(frozen=True)
class WrongShape(Amplified):
    """The fast law has a right mean and variance but a normal's tails, cut to two points."""

    def sample_aggregate(self, participants, rng):
        drawn = super().sample_aggregate(participants, rng).astype(float)
        centre, deviation = drawn.mean(axis=0), drawn.std(axis=0)
        sign = rng.choice([-1.0, 1.0], size=len(drawn))
        sign = sign[:, None] * np.where(np.arange(drawn.shape[1]) == 0, 1, -1)
        return centre + sign * deviation


@dataclass(frozen=True)
class WrongVariance(Amplified):
    """The formula is short of a tenth."""

    def expected_variance(self, participants):
        return 0.9 * super().expected_variance(participants)


@dataclass(frozen=True)
class WrongVarianceShape(Amplified):
    """One number per repeat instead of one per value."""

    def expected_variance(self, participants):
        return super().expected_variance(participants).mean(axis=1)


@dataclass(frozen=True)
class LyingCost(Amplified):
    """Sends every report twice and says once."""

    def encode(self, users, rng):
        sent = super().encode(users, rng)
        return Messages.joined(sent, sent)


@dataclass(frozen=True)
class LyingBits(Amplified):
    """Says that five values fit into one bit."""

    def cost(self):
        return Cost(1.0, 1.0)


@dataclass(frozen=True)
class LyingMost(BallsIntoBins):
    """Says that no user sends more than two messages."""

    def cost(self):
        return replace(super().cost(), most_messages=2.0)


@dataclass(frozen=True)
class LyingDummies(NonAdaptive):
    """Adds twenty dummies and says none."""

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        return super().calibrate(budget, population, task, accounting=accounting, dummies=20)

    def cost(self):
        return Cost(1.0, super().cost().bits_per_message)


@dataclass(frozen=True)
class OverClaimed(Amplified):
    """Spends a tenth more than the accounting allows."""

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        honest = super().calibrate(budget, population, task, accounting=accounting)
        return replace(honest, eps_local=1.1 * honest.eps_local)


@dataclass(frozen=True)
class WritesCounts(Amplified):
    """Adds something to the participants' counts in place."""

    def sample_aggregate(self, participants, rng):
        participants.counts[:, 0] += 1
        return super().sample_aggregate(participants, rng)


@dataclass(frozen=True)
class WritesAggregate(Amplified):
    """Corrects the aggregate in place."""

    def estimate(self, aggregate, public):
        estimate = super().estimate(aggregate, public)
        aggregate -= 1
        return estimate


@dataclass(frozen=True)
class OwnGenerator(Amplified):
    """Ignores the generator that it is given."""

    def encode(self, users, rng):
        return super().encode(users, np.random.default_rng())


@dataclass(frozen=True)
class GlobalGenerator(Amplified):
    """Draws from numpy's global state, and does not even use what it drew."""

    def encode(self, users, rng):
        np.random.random()  # noqa: NPY002
        return super().encode(users, rng)


@dataclass(frozen=True)
class OrderDependent(Amplified):
    """Looks at the first message."""

    def aggregate(self, messages):
        return super().aggregate(messages) + int(messages.payload[0])


@dataclass(frozen=True)
class NotAdditive(Amplified):
    """Normalises within each chunk."""

    def aggregate(self, messages):
        return super().aggregate(messages) / len(messages)


@dataclass(frozen=True)
class SharedRepeats(Amplified):
    """Draws once and shows it for all repeats."""

    def sample_aggregate(self, participants, rng):
        drawn = super().sample_aggregate(participants, rng)
        return np.broadcast_to(drawn[0], drawn.shape)


@dataclass(frozen=True)
class MixesRepeats(Amplified):
    """Uses the mean number of users of all repeats."""

    def estimate(self, aggregate, public):
        mean = np.full_like(public.n_users, public.n_users.mean())
        return super().estimate(aggregate, replace(public, n_users=mean))


@dataclass(frozen=True)
class AcceptsAnything(Amplified):
    """Does not look at the accounting."""

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        return super().calibrate(budget, population, task, accounting="printed")


@dataclass(frozen=True)
class WeakestLevel(Amplified):
    """Meets only the largest of several eps."""

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        return super().calibrate(
            replace(budget, eps=budget.largest_eps), population, task, accounting=accounting
        )


@dataclass(frozen=True)
class NotHashable(Amplified):
    """Keeps an array."""

    weights: list[float] = None

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        honest = Amplified.calibrate(budget, population, task, accounting=accounting)
        return cls(honest.population, honest.domain_size, honest.eps_local, weights=[1.0])


@dataclass(frozen=True)
class BareText(Amplified):
    """A missing comma: the accountings are a text, not a tuple."""

    accountings = "printed"


@dataclass(frozen=True)
class NeverFeasible(Amplified):
    """Has no parameters for any setting."""

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        from shuffledp.accounting import Infeasible

        raise Infeasible("Never.")


@dataclass(frozen=True)
class BareCoin(ProtocolBase):
    """A coin of its own for bits, with a declared local budget: the planted errors change what it spends."""

    eps_local: float

    name = "bare_coin"
    task_kind = "frequency"
    label = "Bare coin"
    source = "Warner 1965"
    trust = "shuffler"
    accountings = ("exact",)
    spends = 1.0

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="exact"):
        cls.check_request(budget, task, accounting)
        if task.domain_size != 2:
            raise Infeasible("A coin has two sides.")
        honest = Amplified.calibrate(budget, population, task, accounting=accounting)
        return cls(honest.eps_local)

    @property
    def keep(self):
        return 1 / (1 + np.exp(-self.spends * self.eps_local))

    def encode(self, users, rng):
        return Messages(np.where(rng.random(len(users)) < self.keep, users.values, 1 - users.values))

    def estimate(self, aggregate, public):
        n = public.n_users[:, None]
        return (aggregate - n * (1 - self.keep)) / ((2 * self.keep - 1) * n)

    def cost(self):
        return Cost(1, 1)


@dataclass(frozen=True)
class NoProfile(BareCoin):
    """Spends 1.5 times the budget, declares what it spends, and has no profile."""

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="exact"):
        return cls(1.5 * super().calibrate(budget, population, task, accounting=accounting).eps_local)


@dataclass(frozen=True)
class FaithlessEncoder(BareCoin):
    """Its profile is of the calibrated local budget, its encoder spends 1.5 times that."""

    others: int = 0

    spends = 1.5

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="exact"):
        honest = super().calibrate(budget, population, task, accounting=accounting)
        return cls(honest.eps_local, others=int(population.mean))

    def privacy_profile(self):
        return ClonesProfile(OtherReports(Fixed(self.others)), self.eps_local)


@dataclass(frozen=True)
class TwiceTheBudget(BareCoin):
    """Calibrated to twice the eps that is asked for, and labeled exact."""

    guarantee = "exact"

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="exact"):
        twice = replace(budget, eps=2 * budget.largest_eps)
        cls.check_request(budget, task, accounting)
        return super().calibrate(twice, population, task, accounting=accounting)
