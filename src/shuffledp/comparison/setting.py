"""What a comparison is about: who takes part, what they hold, under which budget.

Without data all values are equally frequent, which decides the error of protocols whose noise depends on the data. For
the error of a frequent value the first one is held by a tenth of the users and the others share the rest evenly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.numerics.checks import check_count
from shuffledp.populations import Fixed, Law, Population
from shuffledp.tasks import Budget, Floats, Frequency, Ints, Participants, Public, Summation, Task

#: Share of the users that hold the frequent value.
HEAVY_SHARE = 0.1
#: Numbers of participants at which an expectation over a random number of them is evaluated.
NODES = 16


@dataclass(frozen=True)
class Setting:
    """What every protocol of a comparison is calibrated for.

    Parameters
    ----------
    population : Population
        The users other than user 1.
    task : Frequency or Summation
        One sum.
    budget : Budget
        One eps in nats, one delta.
    shares : (V,) ndarray
        Share of the users that hold each value.
    """

    population: Population
    task: Task
    budget: Budget
    shares: Floats

    def typical(self, shares: Floats) -> tuple[Participants, Floats]:
        """Participants at every pooled number of users, (R, V) counts, with its weight (R,); the most likely first."""
        sizes, weights = _sizes(self.population)
        order = np.argsort(-weights, kind="stable")
        return self.participants(sizes[order], np.stack([_dealt(shares, int(n)) for n in sizes[order]])), (
            weights[order]
        )

    def participants(self, n: Ints, counts: NDArray[np.int64]) -> Participants:
        """R repeats of users who hold what the counts (R, V) say."""
        if isinstance(self.task, Summation):
            return Participants(Public(n), counts, counts @ self.task.values)
        return Participants.from_counts(counts)

    @property
    def heavy_shares(self) -> Floats | None:
        """Shares with one frequent value, the first; None for sums."""
        if not isinstance(self.task, Frequency):
            return None
        shares = np.full(self.task.domain_size, (1 - HEAVY_SHARE) / (self.task.domain_size - 1))
        shares[0] = HEAVY_SHARE
        return shares

    def drawn(self, repeats: int, rng: np.random.Generator) -> Participants:
        """Participants of R repeats: the given counts where their number is fixed, otherwise drawn by the shares."""
        if not isinstance(self.population, Law):
            raise ValueError(
                f"{self.population!r} only bounds the number of users; a simulation needs a law."
            )
        if isinstance(self.population, Fixed):
            n = np.full(repeats, 1 + int(self.population.mean))
            counts = np.tile(_dealt(self.shares, int(n[0])), (repeats, 1))
        else:
            n = np.array([1 + int(self.population.sample(rng)) for _ in range(repeats)])
            counts = np.stack([rng.multinomial(size, self.shares) for size in n])
        return self.participants(n, counts)


def _sizes(population: Population) -> tuple[Ints, Floats]:
    """Numbers of participants, user 1 included, and their weights; neighbors are pooled at their mean."""
    if not isinstance(population, Law):  # a bound states no more than the mean
        return np.array([1 + round(population.mean)]), np.ones(1)
    window = population.window(1e-15)
    parts = np.array_split(np.arange(len(window.pmf)), min(NODES, len(window.pmf)))
    weights = np.array([window.pmf[part].sum() for part in parts])
    support = np.asarray(window.support, float)
    means = np.array(
        [support[part] @ window.pmf[part] / max(window.pmf[part].sum(), 1e-300) for part in parts]
    )
    likely = weights > 0
    return 1 + np.rint(means[likely]).astype(np.int64), weights[likely] / weights[likely].sum()


def _dealt(shares: Floats, n: int) -> NDArray[np.int64]:
    """Integer counts that sum to n, each within one of its share of n."""
    counts = np.floor(shares * n * (1 + 1e-12)).astype(np.int64)
    rest = n - int(counts.sum())
    first = np.argsort(counts - shares * n, kind="stable")
    counts[first[: max(rest, 0)]] += 1
    if rest < 0:  # rounding gave one too many
        counts[np.argmax(counts)] += rest
    return counts


def setting_of(
    users: int | None,
    population: Population | None,
    task: Task | None,
    domain_size: int | None,
    max_value: int | None,
    counts: ArrayLike | None,
    budget: Budget,
) -> Setting:
    """Check what was given and fill in what follows from it.

    Raises
    ------
    ValueError
        If users or the task are missing or given twice, or the counts do not fit the task.
    """
    given = None if counts is None else _checked_counts(counts)
    law = _population(users, population, given)
    if sum(x is not None for x in (task, domain_size, max_value)) > 1:
        raise ValueError("Give one of task, domain_size and max_value, not several.")
    if task is None:
        task = _task(domain_size, max_value, given)
    if not isinstance(task, Frequency | Summation) or len(task.counts_shape) != 1:
        raise ValueError(f"A comparison is about frequencies or one sum; the task is {task!r}.")
    (size,) = task.counts_shape
    if given is not None and len(given) != size:
        raise ValueError(f"The task has {size} values, but the data are counts of {len(given)}.")
    shares = np.full(size, 1 / size) if given is None else given / given.sum()
    return Setting(law, task, budget, shares)


def _population(users: int | None, population: Population | None, counts: Any) -> Population:
    if users is not None and population is not None:
        raise ValueError("Give users or population, not both.")
    if population is not None:
        return population
    if users is None and counts is None:
        raise ValueError("Give users, a population, or data.")
    return Fixed(check_count("users", int(counts.sum()) if users is None else users, 2) - 1)


def _task(domain_size: int | None, max_value: int | None, counts: Any) -> Task:
    if domain_size is not None:
        return Frequency(domain_size)
    if max_value is not None:
        return Summation(max_value)
    if counts is None:
        raise ValueError("Give a task: domain_size for frequencies, max_value for a sum.")
    return Frequency(len(counts))


def _checked_counts(counts: ArrayLike) -> NDArray[np.int64]:
    found = np.asarray(counts)
    if found.ndim != 1 or len(found) < 2 or not np.issubdtype(found.dtype, np.integer):
        raise ValueError(
            f"counts must be integers, users per value for at least 2 values, got {found.dtype} of shape {found.shape}."
        )
    if found.min() < 0 or found.sum() < 1:
        raise ValueError("counts must not be negative and must have at least one user.")
    return found.astype(np.int64)
