"""Time and memory of every protocol, by number of users n and number of values k.

A case is one protocol at one n and one k: it is calibrated, one repeat is drawn by its fast law, and the estimate is
computed, in a separate process. This process is a fork with all imports; the memory beyond an idle fork belongs to the
case.

``python benchmarks/scale.py [--page] [--only TEXT]``

Measures all cases; --page writes the table into docs/benchmarks.md and the picture into the same folder.

``python benchmarks/scale.py --messages N [--page]``

Runs instead the message level of some protocols in parts, with N users.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

import shuffledp.accounting
import shuffledp.protocols
from shuffledp.accounting.errors import Infeasible
from shuffledp.comparison.setting import holding
from shuffledp.numerics.memoize import forget_all
from shuffledp.numerics.repeated_indices import pieces
from shuffledp.pipeline.code_keys import CodeKeys
from shuffledp.pipeline.doc_blocks import write_block
from shuffledp.pipeline.resumable import Lines
from shuffledp.populations import Binomial, Fixed, Law
from shuffledp.protocols import available, get, stream
from shuffledp.tasks import (
    TASK_KINDS,
    USERS_AT_ONCE,
    Budget,
    Frequency,
    Participants,
    Public,
    Sets,
    Summation,
    Task,
    TaskKind,
    Users,
    Vectors,
)

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/benchmarks.md"
PICTURE = ROOT / "docs/images/scale.png"
#: File with the measured cases.
LINES = ROOT / "logs/scale.jsonl"
BUDGET = Budget(1.0, 1e-10)
"""Budget of every case: delta is below 1 / n for every measured n."""
USERS = tuple(10**e for e in range(3, 10))
VALUES = (2, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
"""Values of k: numbers of values of a domain, steps of a number, items, or coordinates of a vector."""
USUAL_USERS, USUAL_VALUES = 10**6, 10
MOST_CPU, MOST_MEMORY = 10, 4 << 30
"""CPU seconds and bytes of a case; a case that needs more is recorded, and no larger case is tried."""

Outcome = Literal["done", "infeasible", "too long", "too much memory", "failed"]


@dataclass(frozen=True)
class Case:
    """One protocol at one size."""

    kind: TaskKind
    protocol: str
    users: int
    values: int
    accounting: str = ""
    population: str = ""

    @property
    def task(self) -> Task:
        """Task of the protocol's kind, with `values` values."""
        k = self.values
        if self.kind == "frequency":
            return Frequency(k)
        if self.kind == "sets":
            return Sets(k + 1, 2)
        if self.kind == "vectors":
            return Vectors(k, 1.0, "l2" if self.protocol == "privunit" else "l1")
        if self.protocol == "sparse_sum":
            return Summation(4, coordinates=k)
        return Summation(k, real=self.protocol == "real_sum")

    @property
    def budget(self) -> Budget:
        """Usual budget, or a budget with a shipped noise design."""
        return Budget(1.0, 1e-6) if self.protocol == "coarse_correlated_sum" else BUDGET

    @property
    def law(self) -> Law:
        """Fixed number of other users, or a binomial number for protocols of random populations."""
        if self.population == "binomial" or self.protocol == "random_checkin":
            return Binomial(2 * (self.users - 1), 0.5)
        return Fixed(self.users - 1)


@dataclass(frozen=True)
class Measured:
    """CPU seconds of a case, and bytes beyond an idle process."""

    case: Case
    outcome: Outcome
    calibrating: float = 0.0
    simulating: float = 0.0
    memory: int = 0
    note: str = ""


def participants(task: Task, users: int) -> Participants:
    """Return `users` participants, about equally many with each value."""
    if isinstance(task, Summation) and task.coordinates > 1:
        return _sums(task, users)
    cells = task.counts_shape[-1]
    total = users * task.set_size if isinstance(task, Sets) else users
    counts = np.full((1, cells), total // cells, np.int64)
    counts[0, : total % cells] += 1
    n = np.array([users], np.int64)
    found = holding(task, n, counts)
    if isinstance(task, Sets):
        found = replace(found, public=replace(found.public, level_counts=n[:, None].astype(float)))
    return found


def _sums(task: Summation, users: int) -> Participants:
    cells = int(np.prod(task.counts_shape))
    counts = np.full(cells, users // cells, np.int64)
    counts[: users % cells] += 1
    table = counts.reshape(1, *task.counts_shape)
    return Participants(Public(np.array([users], np.int64)), table, table @ task.values)


def run(case: Case) -> tuple[float, float]:
    """Return the CPU seconds of the calibration, and of one repeat with its estimate."""
    found = get(case.kind, case.protocol)
    how = case.accounting or ("exact" if "exact" in found.accountings else found.accountings[-1])
    task = case.task
    forget_all()
    begin = time.process_time()
    protocol = found.calibrate(case.budget, case.law, task, accounting=how)
    calibrated = time.process_time()
    who = participants(task, case.users)
    held = time.process_time()
    estimate = protocol.simulate(who, np.random.default_rng(1))
    done = time.process_time()
    if not np.all(np.isfinite(estimate)):
        raise ArithmeticError("the estimate is not finite")
    variance = protocol.expectation("variance", who)
    if variance is not None:
        error = np.asarray(estimate - who.truth).ravel()
        spread = np.sqrt(np.asarray(variance).ravel())
        if not np.all(np.isfinite(spread)):
            raise ArithmeticError("the variance is not finite")
        worst = np.max(np.abs(error) / np.maximum(spread, 1e-300)) if np.any(spread) else 0
        if worst > 9 + np.log(error.size) and not protocol.biased:
            raise ArithmeticError(f"an error of {worst:.3g} standard deviations")
    return calibrated - begin, done - held


def streamed(case: Case) -> tuple[float, float]:
    """Return the CPU seconds of the calibration, and of one repeat at the message level in parts."""
    begin = time.process_time()
    found = get(case.kind, case.protocol)
    protocol = found.calibrate(case.budget, case.law, case.task)
    calibrated = time.process_time()
    counts = participants(case.task, case.users).counts[0]
    public = Public(np.array([case.users], np.int64))
    chunks = (Users(values) for _, values in pieces(counts, USERS_AT_ONCE))
    last = [time.monotonic()]

    def tell(done: int, total: int) -> None:
        if time.monotonic() - last[0] > 10:
            last[0] = time.monotonic()
            print(f"    {case.protocol}: {done:,} of {total:,} users", file=sys.stderr, flush=True)

    aggregate = stream(protocol, chunks, public, np.random.default_rng(1), progress=tell)
    if not np.all(np.isfinite(protocol.estimate(aggregate[None], public))):
        raise ArithmeticError("the estimate is not finite")
    return calibrated - begin, time.process_time() - calibrated


def measured(case: Case, what: Callable[[Case], tuple[float, float]] = run, cpu: int = MOST_CPU) -> Measured:
    """Run a case in a fork of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            os.write(writing, json.dumps(_in_child(case, what, cpu)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    _, status, _ = os.wait4(child, 0)
    if not text:
        killed = os.WTERMSIG(status)
        return Measured(case, "too long" if killed == signal.SIGXCPU else "failed", note=f"signal {killed}")
    return Measured(case, **json.loads(text))


def _in_child(case: Case, what: Callable[[Case], tuple[float, float]], cpu: int) -> dict[str, Any]:
    before = _resident()
    spent = int(time.process_time()) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (spent + cpu, spent + cpu + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    try:
        calibrating, simulating = what(case)
    except Infeasible as error:
        return {"outcome": "infeasible", "note": str(error)}
    except MemoryError as error:
        return {"outcome": "too much memory", "note": str(error)}
    except Exception as error:
        return {"outcome": "failed", "note": f"{type(error).__name__}: {error}"}
    memory = max(0, _resident() - before)
    return {"outcome": "done", "calibrating": calibrating, "simulating": simulating, "memory": memory}


def _resident() -> int:
    """Return the peak memory of this process in bytes; a fork starts from its parent's peak."""
    with Path("/proc/self/status").open(encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))


def load_everything() -> None:
    """Import every module of the accounting and of the protocols."""
    for package in (shuffledp.accounting, shuffledp.protocols):
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            import_module(found.name)


# -- which cases ---------------------------------------------------------------------------------------------------

Axis = Literal["users", "values"]


def axes() -> Iterator[tuple[Axis, list[Case]]]:
    """Yield the cases of every protocol along both axes, smallest first."""
    for kind in TASK_KINDS:
        for name in available(kind):
            usual = USUAL.get((kind, name), USUAL_VALUES)
            yield "users", [Case(kind, name, n, usual) for n in USERS]
            if (kind, name) not in BITS:
                yield "values", [Case(kind, name, USUAL_USERS, k) for k in VALUES]


BITS = frozenset(("frequency", f"multi_{name}") for name in ("exact", "expected", "union"))
"""Protocols of bits, which have no k."""
USUAL: Mapping[tuple[TaskKind, str], int] = {
    **dict.fromkeys(BITS, 2),
    ("summation", "coarse_correlated_sum"): 3,
}
"""The k along the axis of users, if it is not the usual k."""


@cache
def digest() -> str:
    """Return a digest of the library."""
    return CodeKeys(ROOT).keys("results")["results"][:12]


def remembered(lines: Lines, level: str, case: Case, measure: Callable[[], Measured]) -> Measured:
    """Return a measured case; a missing case is measured and appended to the file."""
    key = json.dumps([level, digest(), *astuple(case)])
    return Measured(
        case, **lines.of(key, lambda: {k: v for k, v in asdict(measure()).items() if k != "case"})
    )


def measure_axes(lines: Path, only: str) -> dict[tuple[TaskKind, str, Axis], list[Measured]]:
    """Measure all cases on each axis, until a case exceeds the limit of time or memory."""
    known, every = Lines(lines), [(a, c) for a, c in axes() if only in f"{c[0].kind} {c[0].protocol}"]
    found: dict[tuple[TaskKind, str, Axis], list[Measured]] = {}
    for number, (axis, cases) in enumerate(every):
        rows: list[Measured] = []
        for case in cases:
            if rows and rows[-1].outcome in ("too long", "too much memory"):
                rows.append(Measured(case, rows[-1].outcome, note="not tried"))
            else:
                rows.append(remembered(known, "law", case, partial(measured, case)))
        found[(cases[0].kind, cases[0].protocol, axis)] = rows
        told = f"{number + 1} of {len(every)}: {cases[0].kind}, {cases[0].protocol}, {axis}"
        print(f"{told}: {', '.join(short(one) for one in rows)}", file=sys.stderr, flush=True)
    return found


def short(one: Measured) -> str:
    """Return the seconds of a case, or its outcome, as text."""
    return f"{one.calibrating + one.simulating:.3f} s" if one.outcome == "done" else one.outcome


MESSAGES: tuple[tuple[TaskKind, str, int], ...] = (
    ("frequency", "grr_blanket", 10),
    ("frequency", "amplified", 2),
    ("frequency", "pure_dump", 10),
    ("frequency", "one_sided_noise", 10),
    ("frequency", "unary_rows", 10),
    ("frequency", "sageo", 10),
    ("summation", "bit_sum", 1),
    ("summation", "correlated_sum", 5),
    ("frequency", "skellam", 10),
    ("frequency", "multi_union", 2),
)
"""Protocols simulated message by message, with their number of values."""
MANY_MESSAGES = {"multi_union": 10}
"""Protocols with a tenth of the users, because each user sends more than fifty messages."""
MOST_CPU_OF_MESSAGES = 3600


def measure_messages(users: int, lines: Path) -> list[Measured]:
    """Measure the message level of some protocols, in parts."""
    known, found = Lines(lines), []
    for kind, name, values in MESSAGES:
        case = Case(kind, name, users // MANY_MESSAGES.get(name, 1), values)
        one = remembered(known, "messages", case, partial(measured, case, streamed, MOST_CPU_OF_MESSAGES))
        print(f"{kind}, {name}: {short(one)}, {one.memory >> 20} MiB {one.note}", file=sys.stderr, flush=True)
        found.append(one)
    return found


def main() -> None:
    """Measure and print, and write the page with --page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks.md and its picture")
    parser.add_argument("--only", default="", metavar="TEXT", help="of protocols with this in task and name")
    parser.add_argument("--messages", type=int, metavar="N", help="run the message level with N users")
    given = parser.parse_args()
    if given.page and given.only:
        parser.error("--page is about all protocols: leave out --only")
    load_everything()
    messages = measure_messages(given.messages, LINES) if given.messages else []
    found = {} if messages else measure_axes(LINES, given.only)
    from scale_picture import (  # what draws is not in the processes that are measured
        drawn,
        message_table,
        table,
    )

    if messages:
        text = "\n".join(message_table(messages))
        print(text)
        if given.page:
            write_block(PAGE, "message level", text)
        return
    text = "\n".join(table(found))
    print(text)
    if given.page:
        write_block(PAGE, "scale", text)
        PICTURE.write_bytes(drawn(found))


if __name__ == "__main__":
    main()
