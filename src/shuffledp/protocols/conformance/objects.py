"""Checks of a protocol as an object: declarations, refused requests, and no hidden draws or changes."""

import math
from collections.abc import Callable, Iterable
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any

import numpy as np

from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.conformance.cases import Case, Protocol
from shuffledp.protocols.conformance.running import feasible, sending, with_new_corners
from shuffledp.protocols.conformance.statistics import assert_close, generator
from shuffledp.protocols.registry import interface_faults
from shuffledp.tasks import Array, Budget, Frequency, Participants, Sets, Summation, Task, Vectors


def check_declarations(protocol_class: Protocol, cases: Iterable[Case] = ()) -> None:
    """Check that class variables are set and of the right type, and that the four methods exist."""
    faults = interface_faults(protocol_class)
    assert not faults, f"{protocol_class.__name__} {'; it '.join(faults)}"
    unknown = {case.accounting for case in cases} - set(protocol_class.accountings)
    assert not unknown, (
        f"{protocol_class.__name__}: cases with accountings it does not offer: {sorted(unknown)}"
    )


def check_value_object(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check that a protocol is a frozen, hashable dataclass with finite parameters, equal for equal calibrations."""
    for case, protocol, where, new in with_new_corners(protocol_class, cases):
        assert isinstance(protocol, protocol_class), f"{where}: calibrate returns {type(protocol).__name__}"
        assert is_dataclass(protocol), f"{where}: not a dataclass"
        for field in fields(protocol):
            try:
                setattr(protocol, field.name, getattr(protocol, field.name))
            except FrozenInstanceError:
                continue
            raise AssertionError(f"{where}: the field {field.name} can be changed")
        try:
            hash(protocol)
        except TypeError as error:
            raise AssertionError(f"{where}: not hashable, {error}") from error
        if new:
            again = case.calibrate(protocol_class).refine(case.participants(1).public)
            assert protocol == again, f"{where}: calibrating twice gives {protocol} and {again}"
            assert hash(protocol) == hash(again), f"{where}: equal protocols have different hashes"
        for name, value in protocol.parameters().items():
            assert math.isfinite(value), f"{where}: parameter {name} is {value}"


def check_refusals(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check that ValueErrors name a wrong accounting, task or relation, and delta if delta 0 is refused."""
    other_tasks: tuple[Task, ...] = (Frequency(2), Summation(1), Sets(3, 1), Vectors(2, 1.0))
    name = protocol_class.__name__
    for case, _, where in feasible(protocol_class, cases):
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
        pure = replace(case, budget=Budget(case.budget.eps, 0.0))
        try:
            pure.calibrate(protocol_class)
        except ValueError as error:  # Infeasible is one, too
            assert "delta" in str(error), (
                f"{name}: refuses delta = 0 with {str(error)!r}, which does not name delta"
            )
        return  # what is refused does not depend on the case


def _refused(protocol_class: Protocol, case: Case, what: str, mention: str, **changes: Any) -> None:
    try:
        replace(case, **changes).calibrate(protocol_class)
    except ValueError as error:
        assert mention in str(error), f"{what} is refused with {str(error)!r}, which does not name it"
        return
    except Exception as error:
        raise AssertionError(
            f"{what} raises {type(error).__name__} instead of a ValueError: {error}"
        ) from error
    raise AssertionError(f"{what} is accepted; call cls.check_request first")


def check_other_inputs(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check that ValueErrors name the protocol for inputs and counts of another task."""
    case, protocol, where = next(sending(protocol_class, cases))
    users, participants, rng = case.users(), case.participants(3), generator()
    values, public = users.values, participants.public.of_repeat(0)
    beyond = np.add(values, math.inf if case.task.kind == "vectors" else 10**9)
    pairs = np.stack((values, values), axis=-1)
    wide = np.concatenate((participants.counts, participants.counts[..., :1]), axis=-1)
    attempts: dict[str, Callable[[], object]] = {
        "inputs out of range": lambda: protocol.simulate_messages(replace(users, values=beyond), public, rng),
        "inputs of another shape": lambda: protocol.simulate_messages(
            replace(users, values=pairs), public, rng
        ),
        "counts of another domain": lambda: protocol.simulate(replace(participants, counts=wide), rng),
    }
    if case.task.kind != "vectors":
        negative = replace(participants, counts=-1 - participants.counts)
        attempts["negative counts"] = lambda: protocol.simulate(negative, rng)
    for what, attempt in attempts.items():
        try:
            attempt()
        except ValueError as error:
            named = str(error).startswith(f"{protocol_class.name}: ")
            assert named, f"{where}: {what} are refused with {str(error)!r}, which does not name the protocol"
            continue
        raise AssertionError(f"{where}: {what} are accepted")


# -- purity ----------------------------------------------------------------------------------------------------


def check_seeded(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check that equal seeds give equal bytes, and that numpy's global state is unchanged."""
    for case, protocol, where in sending(protocol_class, cases):
        before = repr(np.random.get_state())  # noqa: NPY002  # to check that no other code uses it
        for level, run in _levels(protocol, case):
            first, second = run(generator()), run(generator())
            same = np.array_equal(first, second)
            assert same, f"{where}: {level} gives different results for the same seed"
        assert before == repr(np.random.get_state()), f"{where}: draws from numpy's global state"  # noqa: NPY002


def _levels(
    protocol: ProtocolBase, case: Case
) -> tuple[tuple[str, Callable[[np.random.Generator], Array]], ...]:
    """Return the three functions that run a protocol, by name."""
    users, participants = case.users(), case.participants(3)
    public = participants.public.of_repeat(0)
    return (
        ("simulate_messages", lambda rng: protocol.simulate_messages(users, public, rng)),
        ("sample_aggregate", lambda rng: protocol.sample_aggregate(participants, rng)),
        ("simulate", lambda rng: protocol.simulate(participants, rng)),
    )


def check_inputs_unchanged(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check that no method writes into its arguments."""
    for case, protocol, where in sending(protocol_class, cases):
        participants, users = case.participants(3), case.users()
        inputs = [participants.public.n_users, participants.counts, participants.truth, users.values]
        copies = [x.copy() for x in inputs]
        sent = protocol.encode(users, generator())
        sent_before = sent.payload.copy()
        shuffled = protocol.shuffle(sent, participants.public.of_repeat(0), generator())
        shuffled_before = shuffled.payload.copy()
        protocol.aggregate(shuffled)
        table = protocol.sample_aggregate(participants, generator())
        table_before = table.copy()
        protocol.estimate(table, participants.public)
        protocol.expected_variance(participants)
        for name, old, new in (
            *zip(("n_users", "counts", "truth", "values"), copies, inputs, strict=True),
            ("the messages", sent_before, sent.payload),
            ("the shuffled messages", shuffled_before, shuffled.payload),
            ("the aggregate", table_before, table),
        ):
            assert np.array_equal(old, new), f"{where}: {name} changed"


def check_repeats_apart(protocol_class: Protocol, cases: Iterable[Case]) -> None:
    """Check that repeats share neither memory nor estimates: each row equals a run of its own, also for different N."""
    for case, protocol, where in feasible(protocol_class, cases):
        participants = case.participants(3)
        if case.participating is None:  # different numbers of participants
            counts = np.asarray(case.counts, np.int64)
            doubled = counts if protocol.capacity is not None else 2 * counts
            participants = Participants.from_counts(np.stack((counts, doubled, counts + 1)))
        table = protocol.sample_aggregate(participants, generator())
        estimate = protocol.estimate(table, participants.public)
        shape = (3, *case.task.estimate_shape)
        assert len(table) == 3, f"{where}: sample_aggregate gives {len(table)} rows for 3 repeats"
        assert estimate.shape == shape, f"{where}: estimates have shape {estimate.shape}, expected {shape}"
        assert np.all(np.isfinite(estimate)), f"{where}: estimates are not finite: {estimate}"
        for name, result in (("aggregates", table), ("estimates", estimate)):
            shared = np.shares_memory(result[0], result[1])
            assert not shared, f"{where}: the {name} of two repeats share memory"
        for repeat in range(3):
            alone = protocol.estimate(table[repeat : repeat + 1], participants.public.of_repeat(repeat))[0]
            assert_close(f"{where}: the estimate of repeat {repeat} alone", alone, estimate[repeat], 0.0)
