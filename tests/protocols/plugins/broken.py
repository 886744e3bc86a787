"""Baselines with one fault each; the check that a test names must find the fault."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shuffledp.accounting import ClonesProfile, Infeasible, OtherReports
from shuffledp.populations import Fixed
from shuffledp.protocols import Cost, Messages, ProtocolBase
from shuffledp.protocols.frequency.amplified import Amplified
from shuffledp.protocols.frequency.balls_into_bins import BallsIntoBins
from shuffledp.protocols.frequency.non_adaptive import NonAdaptive


class Biased(Amplified):
    """Estimator that ignores wrong reports of users with 0."""

    def estimate(self, aggregate, public):
        return aggregate / public.n_users[:, None] / self.response.keep


class AllButOne(Amplified):
    """Estimates shares of all users except one."""

    def estimate(self, aggregate, public):
        n = public.n_users[:, None]
        return super().estimate(aggregate, public) * n / (n - 1)


class DoesNotShuffle(Amplified):
    """Passes messages on in the order of the users."""

    def shuffle(self, messages, public, rng):
        return messages


class WrongMean(Amplified):
    """Fast law without the wrong reports."""

    def sample_aggregate(self, participants, rng):
        return rng.binomial(participants.counts, self.response.keep)


class WrongSpread(Amplified):
    """Fast law that rounds the mean instead of drawing."""

    def sample_aggregate(self, participants, rng):
        drawn = super().sample_aggregate(participants, rng)
        return np.rint(0.5 * (drawn + drawn.mean(axis=0))).astype(np.int64)


class WrongCorrelation(Amplified):
    """Fast law with independent counts: right marginal laws, but a wrong joint law."""

    def sample_aggregate(self, participants, rng):
        k = self.domain_size
        return np.stack(
            [super(WrongCorrelation, self).sample_aggregate(participants, rng)[:, i] for i in range(k)], 1
        )


class WrongShape(Amplified):
    """Fast law with the right mean and variance, but only two values."""

    def sample_aggregate(self, participants, rng):
        drawn = super().sample_aggregate(participants, rng).astype(float)
        centre, deviation = drawn.mean(axis=0), drawn.std(axis=0)
        sign = rng.choice([-1.0, 1.0], size=len(drawn))
        sign = sign[:, None] * np.where(np.arange(drawn.shape[1]) == 0, 1, -1)
        return centre + sign * deviation


class WrongVariance(Amplified):
    """Variance formula that is 10 % too small."""

    def expected_variance(self, participants):
        return 0.9 * super().expected_variance(participants)


class WrongVarianceShape(Amplified):
    """Variance with one number per repeat instead of one per value."""

    def expected_variance(self, participants):
        return super().expected_variance(participants).mean(axis=1)


class LyingCost(Amplified):
    """Encoder that sends two copies of every report, with the stated cost of one."""

    def encode(self, users, rng):
        sent = super().encode(users, rng)
        return Messages.joined(sent, sent)


class LyingBits(Amplified):
    """Messages with five values, with the stated cost of one bit."""

    def cost(self):
        return Cost(1.0, 1.0)


class LyingMost(BallsIntoBins):
    """Wrong declaration that no user sends more than two messages."""

    def cost(self):
        return replace(super().cost(), most_messages=2.0)


class LyingDummies(NonAdaptive):
    """Shuffler that adds twenty dummies, with the stated cost of none."""

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        return super().calibrate(budget, population, task, accounting=accounting, dummies=20)

    def cost(self):
        return Cost(1.0, super().cost().bits_per_message)


class OverClaimed(Amplified):
    """Protocol whose actual eps exceeds the claim by a tenth."""

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        honest = super().calibrate(budget, population, task, accounting=accounting)
        return replace(honest, eps_local=1.1 * honest.eps_local)


class WritesCounts(Amplified):
    """Method that changes the participants' counts in place."""

    def sample_aggregate(self, participants, rng):
        participants.counts[:, 0] += 1
        return super().sample_aggregate(participants, rng)


class WritesAggregate(Amplified):
    """Method that changes the aggregate in place."""

    def estimate(self, aggregate, public):
        estimate = super().estimate(aggregate, public)
        aggregate -= 1
        return estimate


class OwnGenerator(Amplified):
    """Method that ignores the given generator."""

    def encode(self, users, rng):
        return super().encode(users, np.random.default_rng())


class GlobalGenerator(Amplified):
    """Method that draws from numpy's global state without using the draw."""

    def encode(self, users, rng):
        np.random.random()  # noqa: NPY002
        return super().encode(users, rng)


class OrderDependent(Amplified):
    """Aggregate that depends on the first message."""

    def aggregate(self, messages):
        return super().aggregate(messages) + int(messages.payload[0])


class NotAdditive(Amplified):
    """Aggregate that is normalized within each chunk."""

    def aggregate(self, messages):
        return super().aggregate(messages) / len(messages)


class SharedRepeats(Amplified):
    """Fast law whose draw all repeats share."""

    def sample_aggregate(self, participants, rng):
        drawn = super().sample_aggregate(participants, rng)
        return np.broadcast_to(drawn[0], drawn.shape)


class MixesRepeats(Amplified):
    """Estimate from the mean number of users over all repeats."""

    def estimate(self, aggregate, public):
        mean = np.full_like(public.n_users, public.n_users.mean())
        return super().estimate(aggregate, replace(public, n_users=mean))


class AcceptsAnything(Amplified):
    """Calibration that does not check the accounting."""

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        return super().calibrate(budget, population, task, accounting="printed")


class WeakestLevel(Amplified):
    """Calibration that meets only the largest of several eps."""

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        return super().calibrate(
            replace(budget, eps=budget.largest_eps), population, task, accounting=accounting
        )


@dataclass(frozen=True)
class NotHashable(Amplified):
    """Protocol with an array as a field."""

    weights: list[float] = None

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        honest = Amplified.calibrate(budget, population, task, accounting=accounting)
        return cls(honest.population, honest.domain_size, honest.eps_local, weights=[1.0])


class BareText(Amplified):
    """Missing comma: the accountings are a text instead of a tuple."""

    accountings = "printed"


class NeverFeasible(Amplified):
    """Protocol without parameters for any setting."""

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        from shuffledp.accounting import Infeasible

        raise Infeasible("Never.")


@dataclass(frozen=True)
class BareCoin(ProtocolBase):
    """Bits by randomized response with a declared local budget; subclasses change the actual budget."""

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


class NoProfile(BareCoin):
    """Protocol without a profile that uses and declares 1.5 times the budget."""

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="exact"):
        return cls(1.5 * super().calibrate(budget, population, task, accounting=accounting).eps_local)


@dataclass(frozen=True)
class FaithlessEncoder(BareCoin):
    """Profile for the calibrated local budget, with an encoder that uses 1.5 times this budget."""

    others: int = 0

    spends = 1.5

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="exact"):
        honest = super().calibrate(budget, population, task, accounting=accounting)
        return cls(honest.eps_local, others=int(population.mean))

    def privacy_profile(self):
        return ClonesProfile(OtherReports(Fixed(self.others)), self.eps_local)
