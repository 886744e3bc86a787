"""Base classes of protocols for sums: the numbers of a task, and messages about them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.guarantees import Reliance
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.tasks import Array, Floats, Ints, Participants, Summation, Task, Users


@dataclass(frozen=True)
class Numbers:
    """Numbers of a task with ``coordinates`` sums: 0..max_value, in units of 1, or ``1 / max_value`` if ``real``."""

    max_value: int
    real: bool
    coordinates: int

    @property
    def step(self) -> float:
        """Difference of consecutive numbers."""
        return 1 / self.max_value if self.real else 1.0

    @property
    def unit(self) -> float:
        """Largest number."""
        return self.max_value * self.step

    @property
    def estimate_shape(self) -> tuple[int, ...]:
        """Shape of the estimate of one repeat, () or (coordinates,)."""
        return () if self.coordinates == 1 else (self.coordinates,)

    def held(self, participants: Participants) -> Array:
        """Return the users per number, (R, *estimate_shape, max_value + 1). Raise ValueError for another shape."""
        counts = np.asarray(participants.counts)
        want = (*self.estimate_shape, self.max_value + 1)
        if counts.shape[1:] != want:
            raise ValueError(f"counts must be (R, {', '.join(map(str, want))}), got shape {counts.shape}.")
        return counts

    def total(self, counts: Ints) -> Ints:
        """Return the sums in steps, (R, *estimate_shape), from the users per number."""
        return counts @ np.arange(self.max_value + 1)

    def rounding(self, levels: int) -> tuple[Ints, Floats]:
        """Return the level below each number of 0..max_value, and the probability of the next level."""
        below, part = np.divmod(np.arange(self.max_value + 1) * levels, self.max_value)
        return below, part / self.max_value

    def rounding_variance(self, levels: int) -> Floats:
        """Return the variance of each rounded number, relative to the largest number, (max_value + 1,)."""
        chance = self.rounding(levels)[1]
        return chance * (1 - chance) / levels**2

    def rounded(self, levels: int, counts: Ints, rng: Generator) -> Ints:
        """Draw the users per level, (.., levels + 1), from the users per number, (.., max_value + 1)."""
        below, chance = self.rounding(levels)
        up = rng.binomial(counts, chance)
        level_counts = np.zeros((*counts.shape[:-1], levels + 2), np.int64)
        np.add.at(level_counts.T, below, (counts - up).T)
        np.add.at(level_counts.T, below + 1, up.T)
        return level_counts[..., :-1]

    def rounded_inputs(self, levels: int, number: Ints, rng: Generator) -> Ints:
        """Draw the level of each user's number by unbiased rounding, (n,)."""
        below, part = np.divmod(number * levels, self.max_value)
        if levels == self.max_value:
            return below
        return np.asarray(below + (rng.random(number.shape) * self.max_value < part), np.int64)

    def inputs(self, users: Users) -> tuple[Ints, Ints]:
        """Return each user's coordinate and number in steps, each (n,). Raise ValueError for values out of range."""
        values = np.asarray(users.values, np.int64)
        if self.coordinates == 1:
            where, number = np.zeros(len(values), np.int64), values
        else:
            where, number = values[:, 0], values[:, 1]
        for name, what, most in (
            ("Coordinates", where, self.coordinates - 1),
            ("Numbers", number, self.max_value),
        ):
            if what.size and not (what.min() >= 0 and what.max() <= most):
                raise ValueError(f"{name} must lie in 0..{most}, got {what.min()}..{what.max()}.")
        return where, number

    def rows(self, where: Ints, what: Ints) -> Ints:
        """Return messages: (M,) numbers, or (M, 2) coordinates and numbers."""
        return what if self.coordinates == 1 else np.column_stack((where, what))

    def read(self, payload: NDArray[np.generic]) -> tuple[Ints, Ints]:
        """Return the coordinate and the number of each message, the inverse of `rows`."""
        content = np.asarray(payload, np.int64)
        if self.coordinates == 1:
            return np.zeros(len(content), np.int64), content
        return content[:, 0], content[:, 1]


def numbers_of(task: Task, *, coordinates: bool = False) -> Numbers:
    """Return the numbers of a task. Raise `Infeasible` for negative numbers, or several sums without `coordinates`."""
    assert isinstance(task, Summation)  # check_request has seen to it
    if task.signed:
        raise Infeasible("Numbers must not be negative here; add the largest one to all of them.")
    if task.coordinates > 1 and not coordinates:
        raise Infeasible(f"This protocol estimates one sum, not {task.coordinates}.")
    return Numbers(task.max_value, task.real, task.coordinates)


@dataclass(frozen=True)
class SumReports(PlannedUsers):
    """Base class of protocols whose users send messages about their numbers."""

    n_users: int
    numbers: Numbers

    task_kind = "summation"
    trust = "shuffler"
    relies_on: ClassVar[Reliance] = "others' reports"


def over_users(participants: Participants, n_users: int, numbers: Numbers) -> Floats:
    """Return the ratio of participants to planned users, (R,) or (R, 1), to broadcast with `Numbers.total`."""
    n = participants.public.n
    return n.reshape(-1, *[1] * len(numbers.estimate_shape)) / n_users
