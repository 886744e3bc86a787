"""Fragmented RAPPOR: one randomised bit per value, each one-bit a message of its own."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.summation_baselines import RAPPOR_ESTIMATORS, rappor_flip_probability, rappor_mse
from shuffledp.numerics.checks import check_choice
from shuffledp.populations import Population
from shuffledp.protocols._requests import fixed_users, positive_delta
from shuffledp.protocols.base import Cost, Messages, ProtocolBase
from shuffledp.protocols.summation._sums import Numbers, numbers_of
from shuffledp.tasks import Budget, Floats, Ints, Participants, Public, Task, Users

#: Coins that are tossed at once.
_COINS = 2**22


@dataclass(frozen=True)
class FragmentedRappor(ProtocolBase):
    """A message is a value whose bit is set after every bit was flipped with probability p.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included.
    numbers : Numbers
        What users hold.
    flip_probability : float
        p, in (0, 1/2).
    estimator : {"plain", "centred"}
        Whether the value 0 has no bit, or one, and weights are values less D / 2.
    """

    n_users: int
    numbers: Numbers
    flip_probability: float
    estimator: str

    name = "fragmented_rappor"
    task_kind = "summation"
    label = "fragmented RAPPOR"
    source = "Erlingsson et al. 2020; calibrated as in Ghazi et al. 2021, arXiv 2106.04247"
    trust = "shuffler"
    accountings = ("exact",)
    reduction = "own"
    guarantee = "approximate"

    @classmethod
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "exact",
        estimator: str = "plain",
        calibration: str = "optimistic",
    ) -> Self:
        """The smallest flip probability for given other users.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Fixed
            Number of other users.
        task : Summation
            One sum of numbers that are not negative.
        accounting : {"exact"}
            Of the assumed other users; that they are the worst is not proven.
        estimator : {"plain", "centred"}
        calibration : {"optimistic", "worst_case"}
            What the other users hold, see :func:`shuffledp.accounting.rappor_flip_probability`: a third value, as
            published, or one of the two.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If the number of users is random, delta is 0, or numbers may be negative.
        """
        cls.check_request(budget, task, accounting)
        n, numbers, delta = fixed_users(population), numbers_of(task), positive_delta(budget)
        check_choice(f"{cls.name}: estimator", estimator, RAPPOR_ESTIMATORS)
        p = rappor_flip_probability(max(n, 2), budget.largest_eps, delta, calibration=calibration)
        return cls(n, numbers, p, estimator)

    @property
    def first(self) -> int:
        """Smallest value with a bit."""
        return 1 if self.estimator == "plain" else 0

    @property
    def bits(self) -> int:
        """Number of bits."""
        return self.numbers.max_value + 1 - self.first

    @property
    def weights(self) -> Floats:
        """What a bit adds to the sum, in steps, (bits,)."""
        values = np.arange(self.first, self.numbers.max_value + 1, dtype=float)
        return values if self.estimator == "plain" else values - self.numbers.max_value / 2

    def cost(self) -> Cost:
        """Expected one-bits of a user whose own value has a bit."""
        p = self.flip_probability
        return Cost(1 - p + (self.bits - 1) * p, math.ceil(math.log2(self.bits)), own_messages=1 - p)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """The values, counted from the smallest with a bit, whose bits are one."""
        _, number = self.numbers.inputs(users)
        sent = []
        step = max(1, _COINS // self.bits)
        for begin in range(0, len(number), step):
            part = number[begin : begin + step]
            ones = rng.random((len(part), self.bits)) < self.flip_probability
            ones ^= np.arange(self.first, self.numbers.max_value + 1) == part[:, None]
            sent.append(np.nonzero(ones)[1])
        return Messages(np.concatenate(sent) if sent else np.zeros(0, np.int64))

    @property
    def alphabet_size(self) -> int:
        """One message per bit."""
        return self.bits

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the one-bits of each value, (R, bits)."""
        held = self.numbers.held(participants).astype(np.int64)
        own: Ints = held[:, self.first :]
        others = participants.public.n_users[:, None] - own
        p = self.flip_probability
        return np.asarray(rng.binomial(own, 1 - p) + rng.binomial(others, p))

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased sums, (R,)."""
        n, p = np.asarray(public.n_users, float), self.flip_probability
        users = (np.asarray(aggregate, float) - n[:, None] * p) / (1 - 2 * p)
        offset = 0.0 if self.estimator == "plain" else n * self.numbers.max_value / 2
        return np.asarray((users @ self.weights + offset) * self.numbers.step)

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of the sum, (R,), whatever the data."""
        n, p = np.asarray(participants.public.n_users, float), self.flip_probability
        one = p * (1 - p) / (1 - 2 * p) ** 2 * float(self.weights @ self.weights)
        return np.asarray(n * one * self.numbers.step**2)

    def parameters(self) -> dict[str, float]:
        """Flip probability, and error of a sum."""
        mse = rappor_mse(
            self.n_users, self.numbers.max_value, self.flip_probability, estimator=self.estimator
        )
        return {
            "flip_probability": self.flip_probability,
            "noise_rmse": math.sqrt(mse) * self.numbers.step,
        }
