"""What every protocol costs against the number of users n and the number of values k, in time and memory.

A case is one protocol at one n and one k: it is calibrated, one repeat is drawn by its fast law, and the estimate is
made, in a process of its own. That process is a copy of this one, which has imported everything, so that what it uses
beyond a copy that does nothing is the case's own.
"""

from __future__ import annotations

import json
import os
import pkgutil
import resource
import signal
import time
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.comparison.holding import holding
from shuffledp.numerics.remember import forget_all
from shuffledp.populations import Binomial, Fixed, Law
from shuffledp.protocols.registry import get
from shuffledp.tasks import (
    Budget,
    Frequency,
    Participants,
    Sets,
    Summation,
    Task,
    TaskKind,
    Vectors,
)

BUDGET = Budget(1.0, 1e-10)
"""Of every case: delta is below 1 / n for every n that is measured."""
USERS = tuple(10**e for e in range(3, 10))
VALUES = (2, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
"""Of k: values of a domain, steps of a number, items, or coordinates of a vector."""
USUAL_USERS, USUAL_VALUES = 10**6, 10
MOST_CPU, MOST_MEMORY = 10, 4 << 30
"""CPU seconds and bytes of a case; what needs more is written down as such and nothing larger is tried."""

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
        """Of the protocol's kind, with so many values."""
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
    def law(self) -> Law:
        """A known number of other users, or one coin each where the protocol is about such users."""
        if self.population == "binomial" or self.protocol == "random_checkin":
            return Binomial(2 * (self.users - 1), 0.5)
        return Fixed(self.users - 1)


@dataclass(frozen=True)
class Measured:
    """What a case took; CPU seconds, and bytes beyond those of a process that does nothing."""

    case: Case
    outcome: Outcome
    calibrating: float = 0.0
    simulating: float = 0.0
    memory: int = 0
    note: str = ""


def participants(task: Task, users: int) -> Participants:
    """So many users of whom about equally many hold each value."""
    if isinstance(task, Summation):
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
    from shuffledp.tasks import Public

    return Participants(Public(np.array([users], np.int64)), table, table @ task.values)


def run(case: Case) -> tuple[float, float]:
    """CPU seconds of the calibration, and of one repeat with its estimate."""
    found = get(case.kind, case.protocol)
    how = case.accounting or ("exact" if "exact" in found.accountings else found.accountings[-1])
    task = case.task
    forget_all()
    begin = time.process_time()
    protocol = found.calibrate(BUDGET, case.law, task, accounting=how)
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


def measured(case: Case) -> Measured:
    """Run a case in a copy of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            os.write(writing, json.dumps(_in_child(case)).encode())
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


def _resident() -> int:
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))


def _in_child(case: Case) -> dict[str, Any]:
    before = _resident()
    spent = int(time.process_time()) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (spent + MOST_CPU, spent + MOST_CPU + 1))
    address = MOST_MEMORY + (4 << 30)
    resource.setrlimit(resource.RLIMIT_AS, (address, address))
    try:
        calibrating, simulating = run(case)
    except Infeasible as error:
        return {"outcome": "infeasible", "note": str(error)}
    except MemoryError as error:
        return {"outcome": "too much memory", "note": str(error)}
    except Exception as error:
        return {"outcome": "failed", "note": f"{type(error).__name__}: {error}"}
    memory = max(0, _resident() - before)
    return {"outcome": "done", "calibrating": calibrating, "simulating": simulating, "memory": memory}


def load_everything() -> None:
    import shuffledp.accounting
    import shuffledp.protocols

    for package in (shuffledp.accounting, shuffledp.protocols):
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            import_module(found.name)
