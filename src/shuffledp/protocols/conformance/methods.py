"""Checks that the methods of a user's class return what the interface requires; each fault is one sentence."""

import io
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.conformance.cases import Case, Protocol
from shuffledp.protocols.conformance.statistics import generator
from shuffledp.protocols.messages import Cost, Messages

#: Largest number of messages of a tried case.
MOST_MESSAGES = 100_000
#: Approximate number of users that the checks of a class encode in all.
DRAWN = 30_000_000
#: Expected seconds above which `check-baseline` prints a warning first.
PATIENCE = 600.0


def fault(protocol_class: Protocol, cases: Iterable[Case]) -> str | None:
    """Return the first wrong result of a method; None without one. Errors have a note with the setting."""
    for case in cases:
        try:
            fault_text = _wrong(protocol_class, case)
        except Infeasible:
            continue
        except Exception as error:
            error.add_note(f"in the setting {case}")
            raise
        if fault_text is not None:
            return f"{fault_text}, in the setting {case}"
    return None


def _wrong(protocol_class: Protocol, case: Case) -> str | None:
    made: Any = case.calibrate(protocol_class)
    if not isinstance(made, ProtocolBase):
        return f"calibrate returns {_kind(made)}, expected a {protocol_class.__name__}"
    participants = case.participants(2)
    made = made.refine(participants.public.of_repeat(0))
    cost: Any = made.cost()
    if not isinstance(cost, Cost):
        return f"cost returns {_kind(cost)}, expected a Cost"
    if cost.messages_per_user * len(case.users()) + cost.shuffler_messages > MOST_MESSAGES:
        return None
    sent: Any = made.encode(case.users(), generator(50))
    if not isinstance(sent, Messages):
        return f"encode returns {_kind(sent)}, expected Messages"
    passed: Any = made.shuffle(sent, participants.public.of_repeat(0), generator(51))
    if not isinstance(passed, Messages):
        return f"shuffle returns {_kind(passed)}, expected Messages"
    aggregate: Any = made.aggregate(passed)
    if not _numbers(aggregate):
        return f"aggregate returns {_kind(aggregate)}, expected an array of numbers"
    table: Any = made.sample_aggregate(participants, generator(52))
    if not _numbers(table) or len(table) != 2:
        return f"sample_aggregate returns {_kind(table)}, expected an array of numbers with a row for each of 2 repeats"
    want = (2, *case.task.estimate_shape)
    for rows, name in ((table, "two repeats"), (np.stack([aggregate, aggregate]), "two aggregates")):
        estimate: Any = made.estimate(rows, participants.public)
        if not _numbers(estimate) or estimate.shape != want:
            return (
                f"estimate returns {_kind(estimate)} for {name}, expected an array of numbers of shape {want}"
            )
        if not np.all(np.isfinite(estimate)):
            return f"estimate returns {estimate.reshape(-1)[~np.isfinite(estimate.reshape(-1))][0]} among its numbers"
    parameters: Any = made.parameters()
    if not isinstance(parameters, dict):
        return f"parameters returns {_kind(parameters)}, expected a dict"
    return None


def _numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0 and value.dtype.kind in "iufb"


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return "None" if value is None else f"a {type(value).__name__}"


# -- what else a class may do ----------------------------------------------------------------------------------

Found = TypeVar("Found")


class Printed(io.TextIOBase):
    """Stream that keeps the first line of the printed text, and counts its lines."""

    def __init__(self) -> None:
        self.lines = 0
        self.text = ""

    def write(self, text: str) -> int:
        """Count the lines of a text, and keep the first line."""
        if not self.lines:
            self.text += text
        self.lines += text.count("\n")
        return len(text)

    def __str__(self) -> str:
        """Return a summary in one line; empty if no text was printed."""
        first = self.text.strip().partition("\n")[0][:60]
        return f"{max(self.lines, 1)} lines, the first is {first!r}" if self.text else ""


def quietly(printed: Printed, call: Callable[[], Found]) -> Found:
    """Call a function and capture its output in `printed`. A class that exits has failed."""
    try:
        with redirect_stdout(printed):
            return call()
    except SystemExit as error:
        raise RuntimeError(f"sys.exit({error}) is called") from error


def each_quietly(printed: Printed, steps: Iterator[Found]) -> Iterator[Found]:
    """Yield the items of an iterator, and capture the output of each step in `printed`."""
    while step := quietly(printed, lambda: list(islice(steps, 1))):
        yield from step


def seconds_per_user(protocol_class: Protocol, cases: Iterable[Case]) -> float:
    """Return the seconds of `encode` per user in the first feasible case; 0 without one."""
    for case in cases:
        try:
            protocol = case.calibrate(protocol_class).refine(case.participants(1).public)
        except Infeasible:
            continue
        users, rng = case.users(), generator(53)
        before = time.perf_counter()
        protocol.encode(users, rng)
        return (time.perf_counter() - before) / max(len(users), 1)
    return 0.0
