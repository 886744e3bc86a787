"""Settings for the checks of a protocol, and inputs and groups of users to compare."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np

from shuffledp.populations.base import Fixed, Law
from shuffledp.populations.laws import Binomial, Poisson
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.conformance.statistics import generator
from shuffledp.tasks import (
    Array,
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

Protocol = type[ProtocolBase]
Participating = Callable[[int], Participants]


@dataclass(frozen=True)
class Case:
    """Setting of a check: the arguments and options of ``calibrate``, and the participants.

    Participants are ``counts``, the users per value, or ``participating(R)``, R repeats of the same participants.
    """

    budget: Budget
    population: Law
    task: Task
    accounting: str
    counts: tuple[int, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    participating: Participating | None = None

    def __str__(self) -> str:
        setting = [self.population, self.task, self.budget, self.accounting, *map("=".join, self._texts())]
        return "; ".join(map(str, setting))

    def _texts(self) -> list[tuple[str, str]]:
        return [(key, repr(value)) for key, value in self.options]

    def participants(self, repeats: int) -> Participants:
        """Return R repeats of the same participants."""
        if self.participating is not None:
            return self.participating(repeats)
        return Participants.from_counts(np.tile(np.asarray(self.counts, np.int64), (repeats, 1)))

    def users(self) -> Users:
        """Return the raw inputs of one repeat."""
        participants = self.participants(1)
        assert participants.users is not None, f"{self}: the participants have no raw inputs"
        chunks = list(participants.users(0))
        assert len(chunks) == 1, f"{self}: give the raw inputs in one chunk"
        return chunks[0]

    def calibrate(self, protocol_class: Protocol) -> ProtocolBase:
        """Return the protocol, calibrated for this case. Raise `Infeasible` if no parameters meet the budget."""
        return protocol_class.calibrated(
            self.budget, self.population, self.task, accounting=self.accounting, **dict(self.options)
        )


@dataclass(frozen=True)
class SameVectors:
    """``Case.participating`` for vectors: the same raw vectors in every repeat, some of them longer than the clip."""

    task: Vectors
    vectors: tuple[tuple[float, ...], ...]

    def __call__(self, repeats: int) -> Participants:
        """Return R repeats of these participants."""
        raw = np.array(self.vectors)
        norms = np.linalg.norm(raw, ord=1 if self.task.norm == "l1" else 2, axis=1, keepdims=True)
        total = (raw * (self.task.clip / np.maximum(norms, self.task.clip))).sum(axis=0)
        sums = np.tile(total, (repeats, 1))

        def users(repeat: int) -> Iterator[Users]:
            yield Users(raw.copy())

        return Participants(Public(np.full(repeats, len(raw))), sums, sums / len(raw), users)


@dataclass(frozen=True)
class SameNumbers:
    """``Case.participating`` for sums: the same users per number in every repeat, with the shape ``counts_shape``."""

    task: Summation
    holders: tuple[int, ...]

    def __call__(self, repeats: int) -> Participants:
        """Return R repeats of these participants."""
        single = np.array(self.holders, np.int64).reshape(self.task.counts_shape)
        counts = np.tile(single, (repeats, *[1] * single.ndim))
        *coordinate, number = np.unravel_index(
            np.repeat(np.arange(single.size), single.ravel()), single.shape
        )
        number = number - (self.task.max_value if self.task.signed else 0)
        raw = np.column_stack((*coordinate, number)) if coordinate else number

        def users(repeat: int) -> Iterator[Users]:
            yield Users(raw.copy())

        return Participants(
            Public(np.full(repeats, single.sum())), counts, np.asarray(counts @ self.task.values), users
        )


@dataclass(frozen=True)
class SameSets:
    """``Case.participating`` for sets: ``times[level]`` users hold every set, so that items do not depend on levels."""

    task: Sets
    sets: tuple[tuple[int, ...], ...]
    times: tuple[int, ...]

    def __call__(self, repeats: int) -> Participants:
        """Return R repeats of these participants."""
        item_counts = np.bincount(np.ravel(self.sets), minlength=self.task.domain_size)
        sizes = np.array(self.times) * len(self.sets)
        n = int(sizes.sum())
        counts = np.tile(np.outer(self.times, item_counts), (repeats, 1, 1))
        truth = counts.sum(axis=1)[:, : self.task.estimate_shape[0]] / n

        values = np.concatenate([np.tile(self.sets, (times, 1)) for times in self.times])
        levels = np.repeat(np.arange(len(sizes)), sizes)

        def users(repeat: int) -> Iterator[Users]:
            yield Users(values.copy(), levels.copy())

        public = Public(np.full(repeats, n), np.tile(sizes.astype(float), (repeats, 1)))
        return Participants(public, counts, truth, users)


def default_cases(
    protocol_class: Protocol, options: Mapping[str, Any] | None = None, *, users: int = 60
) -> tuple[Case, ...]:
    """Return small settings that together cover the corner cases of a protocol, with these options of ``calibrate``.

    They have three laws of the population, a tiny, a usual and a large budget, a single participant, and every
    accounting. Frequencies: 2 and 5 values, one value without users. Vectors: dimensions of 1 to 3, some vectors longer
    than the clip. Sums: integers and real numbers, one or several sums. Sets: 2 to 7 items, up to three privacy levels,
    with and without padding. The number of participants is about `users` >= 10.
    """
    makers: Mapping[str, Callable[[int, str, Options], Iterator[Case]]] = {
        "frequency": _frequency_cases,
        "sets": partial(_set_cases, protocol_class.multi_level),
        "summation": _number_cases,
        "vectors": _vector_cases,
    }
    make = makers.get(protocol_class.task_kind)
    if make is None:
        raise ValueError(
            f"No default cases for {protocol_class.task_kind!r} tasks yet: make them from conformance.Case."
        )
    extra = tuple(sorted((options or {}).items()))
    return tuple(case for accounting in protocol_class.accountings for case in make(users, accounting, extra))


Options = tuple[tuple[str, Any], ...]
BUDGETS = (Budget(0.05, 1e-6), Budget(1.0, 1e-3), Budget(6.0, 1e-2))


def _laws(users: int) -> tuple[Law, ...]:
    others = users - 1
    return (Fixed(others), Binomial(4 * others, 0.25), Poisson(float(others)))


def _frequency_cases(users: int, accounting: str, extra: Options) -> Iterator[Case]:
    skewed = {2: (users - users // 4, users // 4), 5: (users // 2, 0, 1, users // 4, 0)}
    skewed[5] = (*skewed[5][:4], users - sum(skewed[5]))
    for i, law in enumerate(_laws(users)):
        for k in (2, 5):
            # Every law meets every domain and every budget, without the full product of the three.
            for budget in BUDGETS if k == 2 else BUDGETS[i : i + 1]:
                yield Case(budget, law, Frequency(k), accounting, skewed[k], extra)
    yield Case(Budget(1.0, 1e-3), Fixed(0), Frequency(2), accounting, (0, 1), extra)
    yield Case(Budget(1.0, 1e-3), Binomial(12, 0.25), Frequency(2), accounting, (1, 1), extra)


def _vector_cases(users: int, accounting: str, extra: Options) -> Iterator[Case]:
    def case(budget: Budget, law: Law, dimension: int, n: int, norm: Literal["l1", "l2"] = "l1") -> Case:
        task = Vectors(dimension, 5.0, norm)
        participants = SameVectors(
            task, tuple(map(tuple, generator(7).normal(1.0, 3.0, (n, dimension)).tolist()))
        )
        return Case(budget, law, task, accounting, options=extra, participating=participants)

    for budget, law in zip(BUDGETS, _laws(users), strict=True):
        yield case(budget, law, 3, users)
    yield case(BUDGETS[2], Binomial(4 * users - 4, 0.25), 1, users)
    yield case(Budget(1.0, 1e-3), Fixed(0), 1, 1)
    yield case(Budget(1.0, 1e-3), Fixed(0), 2, 1, "l2")
    yield case(Budget(1.0, 1e-3), Binomial(12, 0.25), 1, 2)


def _number_cases(users: int, accounting: str, extra: Options) -> Iterator[Case]:
    def case(budget: Budget, law: Law, task: Summation, *holders: int) -> Case:
        participants = SameNumbers(task, holders)
        return Case(budget, law, task, accounting, options=extra, participating=participants)

    third, (_, usual, large), lone = users // 3, BUDGETS, Fixed(0)
    law, others = Fixed(3 * third - 1), Fixed(2 * third)
    yield case(large, law, Summation(1), third, 2 * third)
    yield case(usual, law, Summation(3), 0, third, third, third)  # everybody sends
    yield case(large, others, Summation(3), 1, third, 0, third)
    yield case(usual, law, Summation(4, real=True), third, 0, third, third - 1, 1)
    yield case(large, law, Summation(2, coordinates=2), 0, third, third, third - 1, 0, 1)
    yield case(usual, others, Summation(3, real=True, coordinates=3), *[0] * 4, third, third, *[0] * 5, 1)
    yield case(usual, Binomial(4 * users - 4, 0.25), Summation(2), third, third, third)
    yield case(usual, lone, Summation(2), 0, 1, 0)
    yield case(usual, lone, Summation(2, signed=True), 1, 0, 0, 0, 0)


def _set_cases(multi_level: bool, users: int, accounting: str, extra: Options) -> Iterator[Case]:
    def case(
        eps: tuple[float, ...],
        delta: float,
        law: Law,
        task: Sets,
        sets: tuple[tuple[int, ...], ...],
        *times: int,
    ) -> Case:
        budget = Budget(eps if multi_level else eps[0], delta)
        return Case(budget, law, task, accounting, (), extra, SameSets(task, sets, times))

    part = users // 10  # users per set and level, twice
    five = ((0, 1), (1, 3), (2, 3), (0, 3), (3, 1))  # no user holds item 4
    seven = ((0, 1, 2), (3, 4, 5), (4, 2, 6), (2, 0, 5), (6, 1, 4))
    fixed = Fixed(10 * part - 1)
    yield case((1.0, 1.5), 1e-3, fixed, Sets(5, 2, 2), five, part // 2, 2 * part - part // 2)
    yield case((0.8, 1.0, 1.2), 1e-2, fixed, Sets(7, 3, 3, 2), seven, part, part // 2, part - part // 2)
    yield case((3.0,), 1e-2, Binomial(4 * (10 * part - 1), 0.25), Sets(5, 2), five, 2 * part)
    yield case((1.0,), 1e-3, Poisson(10.0 * part - 1), Sets(2, 1), ((0,), (1,), (1,), (1,), (1,)), 2 * part)
    yield case((1.0,), 1e-4, fixed, Sets(2, 1), ((0,), (1,), (1,), (1,), (1,)), 2 * part)
    yield case((1.0,), 1e-3, Fixed(0), Sets(3, 1), ((1,),), 1)


MOST_INPUTS = 6


def inputs(task: Task) -> list[Array]:
    """Return up to `MOST_INPUTS` possible inputs of a user, rows of ``Users.values``, most different ones first."""
    if isinstance(task, Frequency):
        return [np.array(v) for v in range(min(task.domain_size, MOST_INPUTS))]
    if isinstance(task, Summation):
        low = -task.max_value if task.signed else 0
        numbers = [np.array(v) for v in dict.fromkeys((task.max_value, low, 1))]
        if task.coordinates == 1:
            return numbers
        return [np.array([c, int(v)]) for v in numbers[:2] for c in (0, 1)]
    if isinstance(task, Sets):
        all_sets = np.array(list(combinations(range(task.domain_size), task.set_size))[:2000])
        return [np.asarray(row) for row in (all_sets[0], all_sets[-1], *all_sets[1:-1])][:MOST_INPUTS]
    if isinstance(task, Vectors):
        axis = np.zeros(task.dimension)
        axis[0] = task.clip
        return [axis, -axis, 0 * axis]
    raise TypeError(f"no inputs are known for {task}")


def unit(task: Task, value: Array) -> Array:
    """Return the sufficient statistic of one user with this input."""
    if isinstance(task, Vectors):
        return np.asarray(value, float)
    counts = np.zeros(task.counts_shape, np.int64)
    if isinstance(task, Frequency):
        counts[int(value)] = 1
    elif isinstance(task, Sets):
        counts[0, value] = 1
    elif isinstance(task, Summation):
        shift = task.max_value if task.signed else 0
        place = (int(value[0]), int(value[1]) + shift) if task.coordinates > 1 else (int(value) + shift,)
        counts[place] = 1
    return counts


def crowd(task: Task, first: Array, rest: Array, others: Ints) -> Participants:
    """Return user 1 with the input `first` among users with the input `rest`, one repeat per number of other users."""
    first_unit, rest_unit = unit(task, first), unit(task, rest)
    shape = (len(others), *[1] * first_unit.ndim)
    n = others + 1
    levels = np.asarray(n, float)[:, None] if isinstance(task, Sets) else None

    def users(repeat: int) -> Iterator[Users]:
        yield users_of(task, np.concatenate((first[None], same(rest, int(others[repeat])))))

    counts = first_unit + others.reshape(shape) * rest_unit
    return Participants(Public(n, levels), counts, np.zeros((len(n), *task.estimate_shape)), users)


def same(value: Array, n: int) -> Array:
    """Return n copies of an input, one per row."""
    return np.repeat(value[None], n, axis=0)


def users_of(task: Task, values: Array) -> Users:
    """Return users with these inputs, one per row, at the first privacy level if the task has levels."""
    return Users(values, np.zeros(len(values), np.int64) if isinstance(task, Sets) else None)


def alike(case: Case, value: Array) -> Participants:
    """Return one repeat of a case's participants in which every user has the input `value`."""
    public, task = case.participants(1).public, case.task
    n, levels = int(public.n_users[0]), case.users().levels
    if isinstance(task, Sets) and public.level_counts is not None:
        counts = np.multiply.outer(public.level_counts[0], unit(task, value)[0])
    else:
        counts = n * unit(task, value)

    def users(repeat: int) -> Iterator[Users]:
        yield Users(same(value, n), levels)

    shape = (1, *task.counts_shape)
    return Participants(
        public,
        np.asarray(counts).astype(unit(task, value).dtype).reshape(shape),
        case.participants(1).truth,
        users,
    )


def jumps(protocol: ProtocolBase, case: Case) -> tuple[Floats, float]:
    """Return bounds on one user's effect on each number of the aggregate, (A,), and on one coordinate of the estimate.

    The bounds divide differences between aggregates of users with equal inputs by n; noise only increases them.
    """
    rng = generator(6)
    crowds = [alike(case, value) for value in inputs(case.task)]
    aggregates = np.stack([protocol.sample_aggregate(participants, rng)[0] for participants in crowds])
    public = crowds[0].public
    estimates = np.stack([protocol.estimate(row[None], public)[0].reshape(-1) for row in aggregates])
    n = float(public.n_users[0])
    rows = aggregates.reshape(len(aggregates), -1).astype(float)
    return np.ptp(rows, axis=0) / n, float(np.max(np.ptp(estimates, axis=0))) / n
