"""Setting of a comparison: the participants, their data, and the budget.

Without data all values, or all items of sets, are equally frequent, and vectors are unit vectors along the axes, the
same number along each axis. Frequencies matter for protocols whose noise depends on the data. For the error of a
frequent value, a tenth of the users hold the first value, and all other values are equally frequent.

A comparison has one eps, which holds for every user: sets have one privacy level, and counts of several levels are
added.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.accountant.batches import Crowd, checked_rounds, crowd_in
from shuffledp.accounting.errors import Infeasible
from shuffledp.comparison.options import SettingOptions
from shuffledp.guarantees import NAMED
from shuffledp.numerics.argument_ranges import check_count
from shuffledp.numerics.repeated_indices import pieces, repeated
from shuffledp.numerics.samplers import without_replacement
from shuffledp.numerics.statements import STATED, Conditions, Who
from shuffledp.populations.base import Fixed, Law, Population
from shuffledp.protocols._requests import remaining
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.vectors import VectorParticipants
from shuffledp.tasks import (
    Budget,
    Floats,
    Frequency,
    Ints,
    Participants,
    Public,
    Sets,
    Summation,
    Task,
    Users,
    Vectors,
)
from shuffledp.userdata.counting import MOST_COUNTERS

#: Number of raw inputs that are created together.
_TOGETHER = 1 << 21


def holding(task: Task, n: Ints, counts: Ints) -> Participants:
    """Return R repeats of (R,) users with these counts (R, V); the true values are exact statistics of the counts.

    Counts are users per value or number, holders per item, or users whose vector has the length of the clip along each
    axis. Holders sum to ``n * set_size``, at most n per item. A fixed rule assigns items to users and spreads the
    holders of an item over all users.
    """
    if isinstance(task, Summation):
        return Participants(Public(n), counts, counts @ task.values)
    if isinstance(task, Sets):
        real = counts[:, : task.domain_size - task.padding_items]
        return Participants(
            Public(n),
            counts[:, None, :],
            real / n[:, None],
            lambda repeat: _sets(counts[repeat], int(n[repeat]), task.set_size),
        )
    if isinstance(task, Vectors):
        return _along_axes(task, n, counts)
    return Participants.from_counts(counts)


def _sets(holders: Ints, n: int, set_size: int) -> Iterator[Users]:
    """Yield sets of distinct items, (chunk, s), in which item j has ``holders[j]`` holders.

    In the list that repeats each item once per holder, user i has the entries i, i + n, i + 2n, .. Since no item has
    more than n holders, these items are distinct.
    """
    ends = np.cumsum(holders)
    step = max(1, _TOGETHER // set_size)
    for start in range(0, n, step):
        stop = min(start + step, n)
        items = [repeated(ends, place * n + start, place * n + stop) for place in range(set_size)]
        yield Users(np.column_stack(items), offset=start)


def _along_axes(task: Vectors, n: Ints, counts: Ints) -> VectorParticipants:
    """Return users whose vectors lie along the axes and have the clip as their norm."""

    def users(repeat: int) -> Iterator[Users]:
        for start, some in pieces(counts[repeat], max(1, _TOGETHER // task.dimension)):
            vectors = np.zeros((len(some), task.dimension))
            vectors[np.arange(len(some)), some] = task.clip
            yield Users(vectors, offset=start)

    def some(sizes: Ints, rng: np.random.Generator) -> Floats:
        chosen_counts = [
            without_replacement(row, int(size), rng) for row, size in zip(counts, sizes, strict=True)
        ]
        return task.clip * np.asarray(chosen_counts, float)

    shares = counts / n[:, None]
    return VectorParticipants(
        Public(n),
        task.clip * counts,
        task.clip * shares,
        users,
        some=some,
        spread=task.clip**2 * shares * (1 - shares) * (n / np.maximum(n - 1, 1))[:, None],
        squares=task.clip**2 * counts.astype(float),
        directions=counts.astype(float),
    )


#: Share of the users that hold the frequent value.
HEAVY_SHARE = 0.1
#: Number of nodes of an expectation over a random number of participants.
NODES = 16
#: Bytes of memory of a comparison per value or item, and per number of participants.
BYTES = 100


@dataclass(frozen=True)
class Setting:
    """Setting for which every protocol of a comparison is calibrated.

    `task` is frequencies, one sum, sets of one privacy level, or vectors. `shares`, (V,), are the shares of the users
    that hold each value, each item, or the unit vector along each axis. Shares of items sum to the size of a set, all
    other shares to 1. `assumed` is True without data, `counted` if the number of users is the number in the data.
    `dropout` is the share of the users who may drop out; the population has the users who remain.
    """

    population: Population
    task: Task
    budget: Budget
    shares: Floats
    assumed: bool = True
    counted: bool = False
    dropout: float = 0.0
    rounds: int = 1
    crowd: Crowd = "fixed"

    @cached_property
    def usual(self) -> tuple[Participants, Floats]:
        """Participants for each pooled number of users, as counts (R, V), and weights (R,), the likeliest first."""
        return self.of_shares(self.shares)

    @cached_property
    def heavy(self) -> tuple[Participants, Floats] | None:
        """Participants as in `usual` but with a frequent first value or item; None without such a value or user."""
        shares = self.heavy_shares
        few = 1 + self.population.mean < 1 / HEAVY_SHARE
        return None if few or shares is None else self.of_shares(shares)

    def of_shares(self, shares: Floats) -> tuple[Participants, Floats]:
        """Return participants with these shares for each pooled number of users, as in `usual`, and the weights."""
        sizes, weights = _sizes(self.population)
        order = np.argsort(-weights, kind="stable")
        return self.participants(sizes[order], np.stack([dealt(shares, int(n)) for n in sizes[order]])), (
            weights[order]
        )

    def participants(self, n: Ints, counts: Ints) -> Participants:
        """Return R repeats of (R,) users with the counts (R, V)."""
        return holding(self.task, n, counts)

    @property
    def heavy_shares(self) -> Floats | None:
        """Shares with a frequent first value or item; None for sums, vectors, and sets where every item is frequent."""
        if isinstance(self.task, Frequency):
            items = 1
        elif isinstance(self.task, Sets) and self.task.set_size / self.task.domain_size < HEAVY_SHARE:
            items = self.task.set_size
        else:
            return None
        size = self.task.domain_size
        shares = np.full(size, (items - HEAVY_SHARE) / (size - 1))
        shares[0] = HEAVY_SHARE
        return shares

    def draw_participants(self, repeats: int, rng: np.random.Generator) -> Participants:
        """Draw participants of R repeats: their number from the population; their values have the given shares."""
        if not isinstance(self.population, Law):
            raise ValueError(
                f"{self.population!r} only bounds the number of users; a simulation needs a law."
            )
        fixed = isinstance(self.population, Fixed)
        n = np.array(
            [1 + int(self.population.mean if fixed else self.population.sample(rng)) for _ in range(repeats)]
        )
        sizes, place = np.unique(n, return_inverse=True)
        return self.participants(n, np.stack([dealt(self.shares, int(size)) for size in sizes])[place])


def _sizes(population: Population) -> tuple[Ints, Floats]:
    """Return numbers of participants, user 1 included, and their weights; close numbers are pooled at their mean."""
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


def dealt(shares: Floats, n: int) -> Ints:
    """Return integer counts, each within one of n times the share; their sum is n times the sum of the shares."""
    over = shares * n
    counts = np.floor(over * (1 + 1e-12)).astype(np.int64)
    rest = n * round(float(shares.sum())) - int(counts.sum())
    np.subtract(counts, over, out=over)  # in place, as there may be 10^7 values
    counts[np.argsort(over, kind="stable")[: max(rest, 0)]] += 1
    if rest < 0:  # rounding gave one too many
        counts[np.argmax(counts)] += rest
    return counts


def _task_of(options: SettingOptions, values: int | None) -> Task:
    """Return the task; by default frequencies, with one value per count."""
    sizes = options.given("task", "domain_size", "max_value", "dimension")
    if len(sizes) > 1:
        raise ValueError("Give one of task, domain_size, max_value and dimension, not several.")
    if options.norm != "l2" and options.dimension is None:
        raise ValueError(f"norm {options.norm!r} is for vectors and needs dimension.")
    if options.set_size is not None:
        if options.domain_size is None and (values is None or sizes):
            raise ValueError("set_size needs domain_size, the number of items.")
        return Sets(options.domain_size or values or 0, options.set_size)
    if options.task is not None:
        return options.task
    if options.max_value is not None:
        return Summation(options.max_value)  # type: ignore[arg-type]  # which refuses what is no integer
    if options.dimension is not None:
        return Vectors(options.dimension, clip=1.0, norm=options.norm)
    if options.domain_size is None and values is None:
        raise ValueError(
            "Give a task: domain_size for frequencies, with set_size for sets, max_value for a sum, or dimension "
            "for vectors."
        )
    return Frequency(options.domain_size or values or 0)


def setting_of(options: SettingOptions) -> Setting:
    """Return the setting of checked users, task and counts.

    Raises ValueError if users or the task are missing or given twice, or if the counts do not fit the task.
    """
    budget = Budget(options.eps, options.delta, options.neighbours)
    counts = None if options.counts is None else _checked_counts(options.counts)
    _check_who(options.users, options.population, counts)
    task = _task_of(options, None if counts is None else counts.shape[-1])
    single = len(task.counts_shape) == 1 or (isinstance(task, Sets) and task.levels == 1)
    if not isinstance(task, Frequency | Summation | Sets | Vectors) or not single:
        raise ValueError(
            f"task must be frequencies, one sum, sets of one privacy level, or vectors, got {task!r}."
        )
    items = task.set_size if isinstance(task, Sets) else 1
    size = task.counts_shape[-1]
    if size > MOST_COUNTERS:
        raise ValueError(f"task must have at most {MOST_COUNTERS:,} values, got {size:,}.")
    if counts is not None:
        counts = _fitting(counts, task, size)
    law = _population(options.users, options.population, counts, items, options.dropout)
    numbers = NODES if isinstance(law, Law) and not isinstance(law, Fixed) else 1
    if BYTES * size * numbers > machine_memory():
        raise ValueError(
            f"{size:,} values at {numbers} numbers of users take about {BYTES * size * numbers / 1e9:.1f} GB, and "
            f"this machine has {machine_memory() / 1e9:.1f} GB."
        )
    shares = np.broadcast_to(items / size, size) if counts is None else items * counts / counts.sum()
    from_data = options.users is None and options.population is None and not options.dropout
    rounds, crowd = checked_rounds(options.rounds), crowd_in(options.crowd, options.population)
    return Setting(law, task, budget, shares, counts is None, from_data, options.dropout, rounds, crowd)


def check_dropout(where: Setting, protocol: ProtocolBase) -> None:
    """Raise Infeasible if users may drop out on whom the guarantee relies by their place in a list."""
    if where.dropout and NAMED in protocol.when_absent():
        raise Infeasible("The guarantee relies on the first users of a list, and any of them may drop out.")


def conditions(where: Setting, protocol: ProtocolBase) -> dict[str, Conditions]:
    """Return the conditions of the numbers of a row, by the names of its fields."""
    who_kind: Who = "planned" if isinstance(where.population, Fixed) else "mean"
    if where.counted:
        who_kind = "counted"
    usual = Conditions(
        1 + float(where.population.mean), who_kind, "equal shares" if where.assumed else "given", "nearest"
    )
    of_protocol = usual
    if who_kind == "mean" and getattr(protocol, "follows_announcement", False):
        of_protocol = replace(usual, users=float(where.usual[0].public.n_users[0]), who="likeliest")
    row_conditions = {}
    for name, (data, side) in STATED.items():
        condition = of_protocol if data == "worst" else usual
        if data == "interval":
            data = "worst" if where.assumed else None
        row_conditions[name] = replace(condition, data=data or condition.data, side=side)
    return row_conditions


def _fitting(counts: Ints, task: Task, size: int) -> Ints:
    """Return (V,) counts that fit the task; counts of several privacy levels are added. Raise ValueError otherwise."""
    if isinstance(task, Vectors):
        raise ValueError("counts must be left out for vectors, which are compared without data.")
    if counts.ndim == 2 and not isinstance(task, Sets):
        raise ValueError(
            f"counts must be (k,), one number per value, got shape {counts.shape}; (levels, k), one row per privacy "
            "level, is for sets."
        )
    if counts.shape[-1] != size:
        raise ValueError(
            f"counts must have {size} entries, one per value of the task, got {counts.shape[-1]}."
        )
    totals = np.atleast_2d(counts).sum(axis=0)
    items = task.set_size if isinstance(task, Sets) else 1
    users, remainder = divmod(int(totals.sum()), items)
    if remainder:
        raise ValueError(f"counts must sum to a multiple of set_size = {items}, got {int(totals.sum())}.")
    if totals.max() > users:
        raise ValueError(
            f"counts must be at most {users}, the number of users, got {int(totals.max())} holders of an item."
        )
    return np.asarray(totals)


def _check_who(users: int | None, population: Population | None, counts: Ints | None) -> None:
    if users is not None and population is not None:
        raise ValueError("Give users or population, not both.")
    if users is None and population is None and counts is None:
        raise ValueError("Give users, a population, or data.")


def _population(
    users: int | None, population: Population | None, counts: Ints | None, items: int, dropout: float
) -> Population:
    """Return the population of other users, from the population, the number of users or the counts.

    The share `dropout` of a number of users, rounded up to a number, is subtracted.
    """
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout must be in [0, 1), got {dropout!r}.")
    if population is not None and dropout:
        raise ValueError("dropout needs a number of users; a population is a law of the users who remain.")
    if population is not None:
        return population
    if users is None:
        assert counts is not None  # one of the three was given
        users = int(counts.sum()) // items
    return Fixed(check_count("users", remaining(users, dropout), 2) - 1)


def _checked_counts(counts: ArrayLike) -> Ints:
    numbers = np.asarray(counts)
    if numbers.ndim not in (1, 2) or numbers.shape[-1] < 2 or not np.issubdtype(numbers.dtype, np.integer):
        raise ValueError(
            f"counts must be integers, users per value for at least 2 values, got {numbers.dtype} of shape "
            f"{numbers.shape}."
        )
    if numbers.min() < 0 or numbers.sum() < 1:
        raise ValueError("counts must not be negative and must have at least one user.")
    return numbers.astype(np.int64)


def machine_memory() -> int:
    """Return the bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
