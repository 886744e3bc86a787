"""Checks that every protocol has to pass, built-in or plug-in.

Run all of them on a baseline of your own::

    from shuffledp.protocols import get
    from shuffledp.protocols.conformance import check_protocol, default_cases

    mine = get("frequency", "my_baselines/mine.py:Mine")
    check_protocol(mine, default_cases(mine))

Each ``check_..`` takes a protocol class and cases, calibrates the protocol for each case and raises an
``AssertionError`` that says what is wrong and where. Cases for which the protocol is infeasible are passed over; if
none is feasible, that is an error, since nothing was checked.

Statistical checks draw from a fixed seed, so that a result can be repeated, and compare with bounds that a correct
protocol misses with a probability of about 1e-6 per comparison (five standard errors, or a p-value of 1e-6). Checks
can show that a protocol is wrong, not that it is right: a guarantee, in particular, is only compared with the
protocol's own privacy profile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import FrozenInstanceError, dataclass, fields, is_dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.populations import Binomial, Fixed, Law, Poisson
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.registry import interface_faults
from shuffledp.tasks import (
    Budget,
    Floats,
    Frequency,
    Participants,
    Public,
    Sets,
    Summation,
    Task,
    Users,
    Vectors,
)

if not __debug__:  # otherwise `python -O` would let every protocol pass
    raise ImportError("The conformance checks are assertions: run Python without -O.")

SEED = 20230215
SIGMAS = 5.0
"""Standard errors that a mean or a variance may be off: 6e-7 for a normal deviate."""
P_VALUE = 1e-6
MESSAGE_REPEATS = 600
"""Repeats of the message level."""
MOST_MESSAGES = 20_000
"""Messages of one repeat up to which the message level is run; with more, only the case with the fewest is."""
FAST_REPEATS = 10_000
"""Repeats of `sample_aggregate` where a protocol has a fast law."""

Protocol = type[ProtocolBase]
Participating = Callable[[int], Participants]


@dataclass(frozen=True)
class Case:
    """One setting in which a protocol is checked.

    Parameters
    ----------
    budget, population, task, accounting : Budget, Law, Task, str
        Arguments of ``calibrate``.
    counts : tuple of int
        Users per value among the participants (frequency tasks).
    options : tuple of (str, value) pairs
        Further options of ``calibrate``.
    participating : callable, optional
        For other tasks: ``participating(R)`` gives R times the same participants, with their raw inputs.
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
        """R repeats with the same participants."""
        if self.participating is not None:
            return self.participating(repeats)
        return Participants.from_counts(np.tile(np.asarray(self.counts, np.int64), (repeats, 1)))

    def users(self) -> Users:
        """The raw inputs of one repeat."""
        who = self.participants(1)
        assert who.users is not None, f"{self}: the participants have no raw inputs"
        chunks = list(who.users(0))
        assert len(chunks) == 1, f"{self}: give the raw inputs in one chunk"
        return chunks[0]

    def calibrate(self, protocol_class: Protocol) -> ProtocolBase:
        """The protocol for this case; raises ``Infeasible`` if there is none."""
        return protocol_class.calibrate(
            self.budget, self.population, self.task, accounting=self.accounting, **dict(self.options)
        )


@dataclass(frozen=True)
class SameVectors:
    """``Case.participating`` for a vectors task: the same raw vectors, some of them longer than the clip."""

    task: Vectors
    vectors: tuple[tuple[float, ...], ...]

    def __call__(self, repeats: int) -> Participants:
        """R repeats with these participants."""
        raw = np.array(self.vectors)
        norms = np.linalg.norm(raw, ord=1 if self.task.norm == "l1" else 2, axis=1, keepdims=True)
        total = (raw * (self.task.clip / np.maximum(norms, self.task.clip))).sum(axis=0)
        sums = np.tile(total, (repeats, 1))

        def users(repeat: int) -> Iterator[Users]:
            yield Users(raw.copy())

        return Participants(Public(np.full(repeats, len(raw))), sums, sums / len(raw), users)


@dataclass(frozen=True)
class SameNumbers:
    """``Case.participating`` for a summation task: the same users per number, in the order of ``counts_shape``."""

    task: Summation
    holders: tuple[int, ...]

    def __call__(self, repeats: int) -> Participants:
        """R repeats with these participants."""
        one = np.array(self.holders, np.int64).reshape(self.task.counts_shape)
        counts = np.tile(one, (repeats, *[1] * one.ndim))
        *coordinate, number = np.unravel_index(np.repeat(np.arange(one.size), one.ravel()), one.shape)
        number = number - (self.task.max_value if self.task.signed else 0)
        raw = np.column_stack((*coordinate, number)) if coordinate else number

        def users(repeat: int) -> Iterator[Users]:
            yield Users(raw.copy())

        return Participants(
            Public(np.full(repeats, one.sum())), counts, np.asarray(counts @ self.task.values), users
        )


@dataclass(frozen=True)
class SameSets:
    """``Case.participating`` for a sets task: the same sets at every privacy level, held by some users each.

    Items and levels are then independent, without which the estimates of several levels cannot be averaged.

    Parameters
    ----------
    task : Sets
    sets : tuple of tuple of int
        Different sets, as many users of each at a level.
    times : tuple of int
        Users per set at each level.
    """

    task: Sets
    sets: tuple[tuple[int, ...], ...]
    times: tuple[int, ...]

    def __call__(self, repeats: int) -> Participants:
        """R repeats with these participants."""
        held = np.bincount(np.ravel(self.sets), minlength=self.task.domain_size)
        sizes = np.array(self.times) * len(self.sets)
        n = int(sizes.sum())
        counts = np.tile(np.outer(self.times, held), (repeats, 1, 1))
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
    """Small settings that between them reach the corners of a protocol.

    Three laws of the population, a tiny, a usual and a large budget, a lone participant, and every accounting that the
    class names. Frequencies: domains of 2 and 5 values, one of them held by nobody. Vectors: dimensions of 1 and 3,
    some vectors longer than the clip. Sums: of integers and real numbers, one or several at once, with and without
    users who hold 0. Sets: domains of 2 to 7 items, one of them held by nobody, up to three privacy levels, with and
    without padding.

    Parameters
    ----------
    protocol_class : type
        Its ``accountings`` are used.
    options : mapping, optional
        Options of ``calibrate``.
    users : int
        About how many take part, at least 10.

    Raises
    ------
    ValueError
        For other tasks: write the cases by hand, with `Case.participating`.
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
    def case(budget: Budget, law: Law, dimension: int, n: int) -> Case:
        task = Vectors(dimension, 5.0)
        held = SameVectors(task, tuple(map(tuple, _rng(7).normal(1.0, 3.0, (n, dimension)).tolist())))
        return Case(budget, law, task, accounting, options=extra, participating=held)

    for budget, law in zip(BUDGETS, _laws(users), strict=True):
        yield case(budget, law, 3, users)
    yield case(BUDGETS[2], Binomial(4 * users - 4, 0.25), 1, users)
    yield case(Budget(1.0, 1e-3), Fixed(0), 1, 1)
    yield case(Budget(1.0, 1e-3), Binomial(12, 0.25), 1, 2)


def _number_cases(users: int, accounting: str, extra: Options) -> Iterator[Case]:
    def case(budget: Budget, law: Law, task: Summation, *holders: int) -> Case:
        held = SameNumbers(task, holders)
        return Case(budget, law, task, accounting, options=extra, participating=held)

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
    five = ((0, 1), (1, 3), (2, 3), (0, 3), (3, 1))  # nobody holds item 4
    seven = ((0, 1, 2), (3, 4, 5), (4, 2, 6), (2, 0, 5), (6, 1, 4))
    fixed = Fixed(10 * part - 1)
    yield case((1.0, 1.5), 1e-3, fixed, Sets(5, 2, 2), five, part // 2, 2 * part - part // 2)
    yield case((0.8, 1.0, 1.2), 1e-2, fixed, Sets(7, 3, 3, 2), seven, part, part // 2, part - part // 2)
    yield case((6.0,), 1e-2, Binomial(4 * (10 * part - 1), 0.25), Sets(5, 2), five, 2 * part)
    yield case((1.0,), 1e-3, Poisson(10.0 * part - 1), Sets(2, 1), ((0,), (1,), (1,), (1,), (1,)), 2 * part)
    yield case((1.0,), 1e-4, fixed, Sets(2, 1), ((0,), (1,), (1,), (1,), (1,)), 2 * part)
    yield case((1.0,), 1e-3, Fixed(0), Sets(3, 1), ((1,),), 1)


@lru_cache(maxsize=4096)  # searching for the best number of dummies takes longer than most checks
def _calibrated(protocol_class: Protocol, case: Case) -> ProtocolBase | None:
    try:
        return case.calibrate(protocol_class)
    except Infeasible as error:
        assert str(error).strip(), f"{protocol_class.__name__}, {case}: Infeasible gives no reason"
        return None


def _feasible(protocol_class: Protocol, cases: Iterable[Case]) -> Iterator[tuple[Case, ProtocolBase, str]]:
    """The feasible cases, their protocols after a public first round, and how to name them in messages."""
    found = False
    for case in cases:
        protocol = _calibrated(protocol_class, case)
        if protocol is not None:
            found = True
            protocol = protocol.refine(case.participants(1).public)
            yield case, protocol, f"{protocol_class.__name__}, {case}"
    assert found, f"{protocol_class.__name__}: no case is feasible, so nothing was checked"


def _sending(protocol_class: Protocol, cases: Iterable[Case]) -> Iterator[tuple[Case, ProtocolBase, str]]:
    """The feasible cases that send few enough messages to be run one by one; at least the one with the fewest."""
    feasible = list(_feasible(protocol_class, cases))
    sent = [protocol.cost().messages_per_user * len(case.users()) for case, protocol, _ in feasible]
    limit = max(MOST_MESSAGES, min(sent))
    yield from (found for found, messages in zip(feasible, sent, strict=True) if messages <= limit)


def _simulated(protocol_class: Protocol, cases: Iterable[Case]) -> Iterator[tuple[Case, ProtocolBase, str]]:
    """The feasible cases; without a fast law, those that can be run message by message."""
    return (_feasible if _has_fast_law(protocol_class) else _sending)(protocol_class, cases)


def _rng(offset: int = 0) -> np.random.Generator:
    return np.random.default_rng([SEED, offset])


def _messages(protocol: ProtocolBase, case: Case, repeats: int) -> NDArray[Any]:
    """Aggregates of the message level, (R, A)."""
    users, public, rng = case.users(), case.participants(1).public, _rng(1)
    rows = [protocol.simulate_messages(users, public, rng) for _ in range(repeats)]
    assert len({np.shape(row) for row in rows}) == 1, "the aggregate changes its shape from run to run"
    return np.stack(rows).reshape(repeats, -1).astype(float)


def _has_fast_law(protocol_class: Protocol) -> bool:
    return protocol_class.sample_aggregate is not ProtocolBase.sample_aggregate


def _repeats(protocol_class: Protocol) -> int:
    return FAST_REPEATS if _has_fast_law(protocol_class) else MESSAGE_REPEATS


def _mean_and_error(sample: Floats) -> tuple[Floats, Floats]:
    return sample.mean(axis=0), sample.std(axis=0, ddof=1) / math.sqrt(len(sample))


def _variance_and_error(sample: Floats) -> tuple[Floats, Floats]:
    """Sample variance and its standard error, from the fourth moment."""
    centred = sample - sample.mean(axis=0)
    variance = np.mean(centred**2, axis=0)
    fourth = np.mean(centred**4, axis=0)
    return variance * len(sample) / (len(sample) - 1), np.sqrt(
        np.maximum(fourth - variance**2, 0) / len(sample)
    )


def _assert_close(name: str, got: Any, want: Any, error: Any, scale: Any = 0.0) -> None:
    """Compare within SIGMAS standard errors, and rounding."""
    got, want = np.asarray(got, float), np.asarray(want, float)
    slack = SIGMAS * np.asarray(error, float) + 1e-9 * (np.abs(want) + np.abs(scale) + 1e-12)
    off = np.abs(got - want) > slack
    assert not np.any(off), f"{name}: got {got}, expected {want} within {slack}"


# -- declarations and refusals ---------------------------------------------------------------------------------


def check_declarations(protocol_class: Protocol, cases: Iterable[Case] = ()) -> None:
    """Class variables are set and of the right kind, and the four methods are there."""
    faults = interface_faults(protocol_class)
    assert not faults, f"{protocol_class.__name__} {'; it '.join(faults)}"
    unknown = {case.accounting for case in cases} - set(protocol_class.accountings)
    assert not unknown, (
        f"{protocol_class.__name__}: cases with accountings it does not offer: {sorted(unknown)}"
    )


def check_value_object(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """A protocol is a frozen, hashable dataclass, equal to another one calibrated alike, with finite parameters."""
    for case, protocol, where in _feasible(protocol_class, cases):
        assert isinstance(protocol, protocol_class), f"{where}: calibrate returns {type(protocol).__name__}"
        assert is_dataclass(protocol), f"{where}: not a dataclass"
        for field in fields(protocol):
            try:
                setattr(protocol, field.name, getattr(protocol, field.name))
            except FrozenInstanceError:
                continue
            raise AssertionError(f"{where}: the field {field.name} can be changed")
        again = case.calibrate(protocol_class)
        again = again.refine(case.participants(1).public)
        assert protocol == again, f"{where}: calibrating twice gives {protocol} and {again}"
        try:
            assert hash(protocol) == hash(again), f"{where}: equal protocols have different hashes"
        except TypeError as error:
            raise AssertionError(f"{where}: not hashable, {error}") from error
        for name, value in protocol.parameters().items():
            assert math.isfinite(value), f"{where}: parameter {name} is {value}"


def check_refusals(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """An unknown accounting, a foreign task and several privacy levels raise a ValueError; delta = 0 may."""
    other_tasks: tuple[Task, ...] = (Frequency(2), Summation(1), Sets(3, 1), Vectors(2, 1.0))
    name = protocol_class.__name__
    for case, _, where in _feasible(protocol_class, cases):
        _refused(protocol_class, case, f"{where}: accounting 'no_such'", "no_such", accounting="no_such")
        for task in other_tasks:
            if task.kind != protocol_class.task_kind:
                _refused(protocol_class, case, f"{where}: a {task.kind} task", task.kind, task=task)
        if not protocol_class.multi_level:
            levels = Budget((case.budget.largest_eps / 2, case.budget.largest_eps), case.budget.delta)
            _refused(protocol_class, case, f"{where}: a budget with two privacy levels", "", budget=levels)
        for neighbours in {"replace_one", "add_remove"} - set(protocol_class.neighbours):
            foreign = Budget(case.budget.eps, case.budget.delta, neighbours)  # type: ignore[arg-type]
            _refused(protocol_class, case, f"{where}: {neighbours} neighbours", neighbours, budget=foreign)
        pure = _changed(case, budget=Budget(case.budget.eps, 0.0))
        try:
            pure.calibrate(protocol_class)
        except ValueError as error:  # Infeasible is one, too
            assert "delta" in str(error), (
                f"{name}: refuses delta = 0 with {str(error)!r}, which does not say so"
            )
        return  # what is refused does not depend on the case


def _changed(case: Case, **changes: Any) -> Case:
    values = {f.name: getattr(case, f.name) for f in fields(case)}
    return Case(**(values | changes))


def _refused(protocol_class: Protocol, case: Case, what: str, mention: str, **changes: Any) -> None:
    try:
        _changed(case, **changes).calibrate(protocol_class)
    except ValueError as error:
        assert mention in str(error), f"{what} is refused with {str(error)!r}, which does not name it"
        return
    except Exception as error:
        raise AssertionError(
            f"{what} raises {type(error).__name__} instead of a ValueError: {error}"
        ) from error
    raise AssertionError(f"{what} is accepted; call cls.check_request first")


# -- purity ----------------------------------------------------------------------------------------------------


def check_seeded(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Results depend on the generator alone: same seed, same bytes; numpy's global state is left alone."""
    for case, protocol, where in _sending(protocol_class, cases):
        before = repr(np.random.get_state())  # noqa: NPY002  # to see that nobody else uses it
        for level, run in _levels(protocol, case):
            first, second = run(_rng()), run(_rng())
            same = np.array_equal(first, second)
            assert same, f"{where}: {level} gives different results for the same seed"
        assert before == repr(np.random.get_state()), f"{where}: draws from numpy's global state"  # noqa: NPY002


def _levels(
    protocol: ProtocolBase, case: Case
) -> tuple[tuple[str, Callable[[np.random.Generator], NDArray[Any]]], ...]:
    """The three ways to run a protocol, by name."""
    users, who = case.users(), case.participants(3)
    public = who.public.of_repeat(0)
    return (
        ("simulate_messages", lambda rng: protocol.simulate_messages(users, public, rng)),
        ("sample_aggregate", lambda rng: protocol.sample_aggregate(who, rng)),
        ("simulate", lambda rng: protocol.simulate(who, rng)),
    )


def check_inputs_unchanged(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """No method writes into its arguments."""
    for case, protocol, where in _sending(protocol_class, cases):
        who, users = case.participants(3), case.users()
        inputs = [who.public.n_users, who.counts, who.truth, users.values]
        kept = [x.copy() for x in inputs]
        sent = protocol.encode(users, _rng())
        sent_before = sent.payload.copy()
        shuffled = protocol.shuffle(sent, who.public.of_repeat(0), _rng())
        shuffled_before = shuffled.payload.copy()
        protocol.aggregate(shuffled)
        table = protocol.sample_aggregate(who, _rng())
        table_before = table.copy()
        protocol.estimate(table, who.public)
        protocol.expected_variance(who)
        for name, old, new in (
            *zip(("n_users", "counts", "truth", "values"), kept, inputs, strict=True),
            ("the messages", sent_before, sent.payload),
            ("the shuffled messages", shuffled_before, shuffled.payload),
            ("the aggregate", table_before, table),
        ):
            assert np.array_equal(old, new), f"{where}: {name} changed"


def check_repeats_apart(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Repeats share neither memory nor estimates: each row is what it would be alone, also for different N."""
    for case, protocol, where in _feasible(protocol_class, cases):
        who = case.participants(3)
        if case.participating is None:  # different numbers of participants
            counts = np.asarray(case.counts, np.int64)
            who = Participants.from_counts(np.stack((counts, 2 * counts, counts + 1)))
        table = protocol.sample_aggregate(who, _rng())
        estimate = protocol.estimate(table, who.public)
        shape = (3, *case.task.estimate_shape)
        assert len(table) == 3, f"{where}: sample_aggregate gives {len(table)} rows for 3 repeats"
        assert estimate.shape == shape, f"{where}: estimates have shape {estimate.shape}, expected {shape}"
        assert np.all(np.isfinite(estimate)), f"{where}: estimates are not finite: {estimate}"
        for name, result in (("aggregates", table), ("estimates", estimate)):
            shared = np.shares_memory(result[0], result[1])
            assert not shared, f"{where}: the {name} of two repeats share memory"
        for repeat in range(3):
            alone = protocol.estimate(table[repeat : repeat + 1], who.public.of_repeat(repeat))[0]
            _assert_close(f"{where}: the estimate of repeat {repeat} alone", alone, estimate[repeat], 0.0)


# -- messages --------------------------------------------------------------------------------------------------


def check_permutation_invariant(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """The aggregate does not depend on the order of the shuffled messages."""
    for case, protocol, where in _sending(protocol_class, cases):
        public = case.participants(1).public
        shuffled = protocol.shuffle(protocol.encode(case.users(), _rng()), public, _rng(1))
        want = protocol.aggregate(shuffled)
        for seed in range(3):
            mixed = type(shuffled)(_rng(seed).permutation(shuffled.payload, axis=0))
            got = protocol.aggregate(mixed)
            assert np.allclose(got, want), f"{where}: the aggregate depends on the order of the messages"


def check_additive(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """If ``streamable``: the aggregate of all messages is the sum over chunks, or the estimates of both are equal.

    The second is for sums modulo a number, which the sum over chunks exceeds.
    """
    if not protocol_class.streamable:
        return
    for case, protocol, where in _sending(protocol_class, cases):
        public = case.participants(1).public
        sent = protocol.shuffle(protocol.encode(case.users(), _rng()), public, _rng(1))
        chunks = np.array_split(sent.payload, 3)
        whole = protocol.aggregate(sent)
        added = np.sum([protocol.aggregate(type(sent)(chunk)) for chunk in chunks if len(chunk)], axis=0)
        if np.shape(added) == whole.shape and np.allclose(added, whole):
            continue
        message = f"{where}: streamable, but the aggregate is not the sum over chunks"
        assert np.shape(added) == whole.shape, message
        of_added, of_whole = (protocol.estimate(np.stack([x]), public) for x in (added, whole))
        assert np.allclose(of_added, of_whole, rtol=1e-12, atol=1e-12), message


def check_cost(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """``cost`` is what is sent: messages per user, bits that can hold them, and the dummies of a random population.

    A protocol that writes its own ``shuffle`` is not asked for dummies here, as it may add them anywhere.
    """
    for case, protocol, where in _sending(protocol_class, cases):
        cost, users, rng = protocol.cost(), case.users(), _rng(2)
        runs = [protocol.encode(users, rng) for _ in range(30)]
        per_user = np.array([len(sent) / len(users) for sent in runs])
        mean, error = _mean_and_error(per_user)
        if _somebody_holds_0(case, users):
            mean = np.maximum(mean, cost.messages_per_user)  # stated for users with other numbers than 0
        _assert_close(f"{where}: messages per user, sent and stated", mean, cost.messages_per_user, error)
        assert 0 <= cost.own_messages <= cost.messages_per_user, (
            f"{where}: own_messages is {cost.own_messages}"
        )
        kinds = len(np.unique(np.concatenate([sent.payload for sent in runs]), axis=0))
        assert math.log2(kinds) <= cost.bits_per_message + 1e-9, (
            f"{where}: {kinds} different messages do not fit into {cost.bits_per_message} bits"
        )
        if type(protocol).shuffle is ProtocolBase.shuffle:
            added, spread = _mean_dummies(protocol, case, rng)
            stated = cost.shuffler_messages
            _assert_close(f"{where}: dummies, added and stated", added, stated, spread, scale=1e3)


def _somebody_holds_0(case: Case, users: Users) -> bool:
    """Whether a user of a sum may have nothing to send."""
    numbers = users.values if users.values.ndim == 1 else users.values[:, -1]
    return isinstance(case.task, Summation) and bool(np.any(numbers == 0))


def _mean_dummies(protocol: ProtocolBase, case: Case, rng: np.random.Generator) -> tuple[float, float]:
    """Expected number of dummies over the law of the population, and its standard error.

    Every likely number of users is tried, twice, in case the number of dummies is itself random.
    """
    window = case.population.window(1e-12)
    added = np.empty((len(window.pmf), 2))
    for row, others in zip(added, window.support, strict=True):
        public = Public(np.array([1 + others], np.int64))
        for i in range(2):
            dummies = protocol.dummies(public, rng)
            row[i] = 0 if dummies is None else len(dummies)
    noise = window.pmf * (added[:, 0] - added[:, 1]) / 2
    return float(window.pmf @ added.mean(axis=1)), float(np.sqrt(np.sum(noise**2)))


# -- laws ------------------------------------------------------------------------------------------------------


def check_one_law(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """``sample_aggregate`` has the law of the message level.

    Means and variances within five standard errors, and two-sample Kolmogorov-Smirnov tests of every coordinate and
    of five projections on random directions, which see correlations (p-value 1e-6; conservative for counts).
    """
    from scipy.stats import ks_2samp  # slow to import, and only needed here

    if not _has_fast_law(protocol_class):
        return  # the fast law is the message level itself
    for case, protocol, where in _sending(protocol_class, cases):
        slow = _messages(protocol, case, MESSAGE_REPEATS)
        fast = protocol.sample_aggregate(case.participants(FAST_REPEATS), _rng(3))
        fast = fast.reshape(FAST_REPEATS, -1).astype(float)
        assert slow.shape[1] == fast.shape[1], (
            f"{where}: the fast law has {fast.shape[1]} numbers, not {slow.shape[1]}"
        )
        directions = _rng(4).standard_normal((slow.shape[1], 5))
        slow = np.column_stack((slow, slow @ directions))
        fast = np.column_stack((fast, fast @ directions))
        for name, summary in (("mean", _mean_and_error), ("variance", _variance_and_error)):
            (a, a_error), (b, b_error) = summary(slow), summary(fast)
            error = np.hypot(a_error, b_error)
            _assert_close(f"{where}: {name} of the fast law and of the messages", b, a, error, scale=1.0)
        for column in range(slow.shape[1]):
            # Rounded, since a projection of a constant differs in its last digit.
            p = float(ks_2samp(slow[:, column].round(9), fast[:, column].round(9), method="asymp").pvalue)
            assert p > P_VALUE, f"{where}: the fast law and the messages differ in distribution (p = {p:.1e})"


def check_unbiased(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Mean estimates are the participants' truth within five standard errors, unless ``biased``."""
    repeats = _repeats(protocol_class)
    for case, protocol, where in _simulated(protocol_class, cases):
        if protocol.biased:
            continue
        who = case.participants(repeats)
        estimate = protocol.simulate(who, _rng(5)).reshape(repeats, -1)
        assert np.all(np.isfinite(estimate)), f"{where}: some estimates are not finite"
        mean, error = _mean_and_error(estimate)
        _assert_close(f"{where}: mean estimate", mean, who.truth[0].reshape(-1), error, scale=1.0)


def check_variance(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """``expected_variance``, where there is one, agrees with simulations within five standard errors.

    With normal errors that is 7 % (29 % for a protocol without a fast law, which gets fewer repeats).
    ``expected_mse`` is the mean over coordinates: a number for (k,) counts and (R,) for (R, k).
    """
    repeats = _repeats(protocol_class)
    for case, protocol, where in _simulated(protocol_class, cases):
        who = case.participants(repeats)
        variance = protocol.expected_variance(who)
        if variance is None:
            continue
        want = (repeats, *case.task.estimate_shape)
        assert variance.shape == want, (
            f"{where}: expected_variance has shape {variance.shape}, expected {want}"
        )
        assert np.all(np.isfinite(variance) & (variance >= 0)), f"{where}: expected_variance is {variance[0]}"
        estimate = protocol.simulate(who, _rng(6)).reshape(repeats, -1)
        got, error = _variance_and_error(estimate)
        _assert_close(f"{where}: variance, simulated and expected", got, variance[0].reshape(-1), error)
        if case.participating is not None:
            continue
        counts = np.asarray(case.counts, np.int64)
        single, several = protocol.expected_mse(counts), protocol.expected_mse(np.stack((counts, 2 * counts)))
        assert isinstance(single, float), f"{where}: expected_mse of (k,) counts is {type(single).__name__}"
        assert isinstance(several, np.ndarray), f"{where}: expected_mse of (2, k) counts is no array"
        assert several.shape == (2,), f"{where}: expected_mse of (2, k) counts has shape {several.shape}"
        _assert_close(f"{where}: expected_mse", [single, several[0]], float(variance[0].mean()), 0.0)


# -- privacy ---------------------------------------------------------------------------------------------------


def check_privacy(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """The privacy profile, where there is one, meets the budget: ``delta(eps) <= delta`` up to rounding.

    It must be an exact or an upper bound for the budget's neighbouring relation, and its delta must not grow
    with eps.
    """
    for case, protocol, where in _feasible(protocol_class, cases):
        pair = protocol.privacy_profile()
        if pair is None:
            continue
        assert pair.kind in ("exact", "upper"), f"{where}: the privacy profile is only {pair.kind!r}"
        assert pair.neighbours == case.budget.neighbours, f"{where}: the profile is for {pair.neighbours!r}"
        eps = case.budget.levels[0] * np.array([0.5, 1.0, 2.0])
        delta = np.asarray(pair.delta(eps), float)
        assert np.all((delta >= 0) & (delta <= 1)), f"{where}: the profile's delta is {delta}"
        assert np.all(np.diff(delta) <= 1e-12), f"{where}: the profile's delta grows with eps: {delta}"
        allowed = case.budget.delta * (1 + 1e-9) + 1e-15
        assert delta[1] <= allowed, (
            f"{where}: delta is {delta[1]:.6g} at the claimed eps, above {case.budget.delta}"
        )


Check = Callable[[Protocol, Iterable[Case]], None]
CHECKS: tuple[Check, ...] = (
    check_declarations,
    check_value_object,
    check_refusals,
    check_seeded,
    check_inputs_unchanged,
    check_repeats_apart,
    check_permutation_invariant,
    check_additive,
    check_cost,
    check_one_law,
    check_unbiased,
    check_variance,
    check_privacy,
)


def check_protocol(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Run every check; stops at the first that fails.

    Parameters
    ----------
    protocol_class : type
        As `shuffledp.protocols.get` returns it.
    cases : iterable of Case
        For example `default_cases(protocol_class)`.

    Raises
    ------
    AssertionError
        Naming the case and what is wrong.
    """
    given = tuple(cases)
    for check in CHECKS:
        check(protocol_class, given)
