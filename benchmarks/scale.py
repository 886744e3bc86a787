"""A protocol at a number of users and of values: one calibration, one repeat by the fast law, and the estimate."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from shuffledp.comparison.setting import holding
from shuffledp.numerics.memoize import forget_all
from shuffledp.populations import Binomial, Fixed, Law
from shuffledp.protocols import get
from shuffledp.tasks import (
    Budget,
    Frequency,
    Participants,
    Public,
    Sets,
    Summation,
    Task,
    TaskKind,
    Vectors,
)

#: Budget of every case: delta is below 1 / n for every measured n.
BUDGET = Budget(1.0, 1e-10)
#: Protocols of bits, which have no k.
BITS = frozenset(("frequency", f"multi_{name}") for name in ("exact", "expected", "union"))


@dataclass(frozen=True)
class Case:
    """One protocol at one size."""

    kind: TaskKind
    protocol: str
    users: int
    values: int
    accounting: str = ""

    @property
    def task(self) -> Task:
        """Task of the protocol's kind, with `values` values."""
        k = 2 if (self.kind, self.protocol) in BITS else self.values
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
        if self.protocol == "random_checkin":
            return Binomial(2 * (self.users - 1), 0.5)
        return Fixed(self.users - 1)


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
