"""Protocols for sets of items: their task, items with privacy levels, and blanket messages.

A user holds s distinct items of d. Blanket messages are uniform over all d items; a `SegmentedPlan` defines the law of
their number. Estimates are shares of holders, without padding items.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.expected_errors.most_messages import PoissonMessages, most_sent
from shuffledp.accounting.segmented.plans import SegmentedPlan
from shuffledp.populations.base import Population
from shuffledp.protocols.base import ProtocolBase
from shuffledp.tasks import Array, Budget, Floats, Ints, Participants, Public, Sets, Task, Users


def sets_task(task: Task) -> Sets:
    """Return the task. Raise ValueError if its kind is not ``sets``."""
    if not isinstance(task, Sets):
        raise ValueError(f"Expected a sets task, got {task!r}.")
    return task


def shape_of(task: Sets) -> tuple[int, int, int]:
    """Return the first fields of every `SetProtocol`, by name."""
    return task.domain_size, task.set_size, task.padding_items


def check_levels(name: str, budget: Budget, task: Sets) -> None:
    """Raise ValueError if budget and task have different numbers of privacy levels."""
    if len(budget.levels) != task.levels:
        raise ValueError(
            f"{name} needs one eps per privacy level: the task has {task.levels} levels, the budget has "
            f"{len(budget.levels)} eps."
        )


@dataclass(frozen=True)
class SetProtocol(ProtocolBase):
    """Protocol for sets of items 0..domain_size-1, the last ``padding_items`` of which are not estimated."""

    no_client = "A client reports one value; none is written for sets of items."

    domain_size: int
    set_size: int
    padding_items: int

    @property
    def alphabet_size(self) -> int:
        """Number of different messages, one per item."""
        return self.domain_size

    def real(self, per_item: Array) -> Floats:
        """Return the numbers without padding items: (R, d) becomes (R, d - padding_items)."""
        numbers = np.asarray(per_item, float)
        if numbers.shape[1:] != (self.domain_size,):
            raise ValueError(f"numbers must be (R, {self.domain_size}), got shape {numbers.shape}.")
        return numbers[:, : self.domain_size - self.padding_items]


def holders(participants: Participants) -> Array:
    """Return the users per privacy level and item, (R, levels, d). Raise ValueError for another shape."""
    counts = np.asarray(participants.counts)
    if counts.ndim != 3:
        raise ValueError(f"Counts of sets are (R, levels, d), got shape {counts.shape}.")
    return counts


def shares(participants: Participants) -> Floats:
    """Return the share of holders of each item among all participants, (R, d)."""
    return np.asarray(holders(participants).sum(axis=1) / participants.public.n_users[:, None])


def levels_of(users: Users, levels: int) -> Ints:
    """Return the privacy level of each user, (n,), 0 for a single level. Raise ValueError if levels are missing."""
    if users.levels is not None:
        return users.levels
    if levels > 1:
        raise ValueError(
            f"users.levels is missing: it must hold one of {levels} privacy levels for each user."
        )
    return np.zeros(len(users), np.int64)


def announced_sizes(public: Public, levels: int) -> tuple[int, ...]:
    """Return the announced number of users of each level. Raise ValueError if missing or different between repeats."""
    if public.level_counts is None:
        if levels > 1:
            raise ValueError(
                f"public.level_counts is missing: it must hold the number of users of each of {levels} privacy levels."
            )
        counts = public.users_column
    else:
        counts = np.asarray(public.level_counts, float)
    if counts.shape[1] != levels:
        raise ValueError(f"public.level_counts must have {levels} privacy levels, got {counts.shape[1]}.")
    if np.any(counts != counts[0]):
        raise ValueError("public.level_counts must be the same in all repeats: parameters depend on it.")
    return tuple(int(n) for n in np.rint(counts[0]))


def assignment_error(squares: float, participants: Participants) -> Floats:
    """Return the error per item, (R, d), that a random assignment of levels causes in a weighted share.

    The weights of the n users sum to 1, and their squares to `squares`.
    """
    n, w = participants.public.users_column, shares(participants)
    excess = np.maximum(squares - 1 / n, 0.0)
    return w * (1 - w) * excess * n / np.maximum(n - 1, 1)


def blankets_sent(plan: SegmentedPlan, users: int, rng: Generator) -> Ints:
    """Draw the blanket messages of this number of users."""
    if plan.blanket_law == "poisson":
        number = int(rng.poisson(plan.blankets, users).sum())
    else:
        number = int(rng.binomial(plan.slots.count, plan.slots.rate, users).sum())
    return rng.integers(0, plan.domain_size, number)


def most_blankets(plans: Iterable[SegmentedPlan], population: Population | None) -> tuple[float, bool]:
    """Return the largest number of blanket messages of any user, and True if the number is a certain bound.

    A random number of users is replaced by its mean, or by the plans' number of users if that is larger.
    """
    plan_list = list(plans)
    if all(plan.blanket_law == "binomial" for plan in plan_list):
        return max(float(plan.slots.count) for plan in plan_list), True
    mean, users = max(plan.blankets for plan in plan_list), float(sum(plan.n for plan in plan_list))
    if population is not None:
        users = max(users, 1 + population.mean)
    return float(most_sent([PoissonMessages(mean)], 1.0, users)), False


def blanket_counts(plan: SegmentedPlan, n_users: Ints, rng: Generator) -> Ints:
    """Draw the blanket messages per item, (R, d), from (R,) numbers of users, by their exact law."""
    d = plan.domain_size
    if plan.blanket_law == "poisson":
        return rng.poisson((n_users * plan.blankets / d)[:, None], (len(n_users), d))
    used = rng.binomial(n_users * plan.slots.count, plan.slots.rate)
    return rng.multinomial(used, np.full(d, 1 / d))


def blanket_variance(plan: SegmentedPlan, n_users: Array) -> Floats:
    """Return the variance of an item's number of blanket messages, (R,), for (R,) numbers of users."""
    variance_factor = 1.0 if plan.blanket_law == "poisson" else 1 - plan.slots.rate / plan.domain_size
    return n_users * plan.blankets / plan.domain_size * variance_factor
