"""Simulated errors against closed forms, for all protocols of histograms and sums on a grid; some CPU minutes.

A cell is a protocol at a setting. The z-score of a cell is the mean squared error over many repeats of the fast law,
minus the expected one, over the standard error of the mean. If every closed form is right, the z-scores of all cells
have mean 0 and standard deviation 1.

    python tools/simulations.py                 # prints a line per protocol; exits with 1 if a z-score is too large
    python tools/simulations.py --repeats 2000 --seed 3
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting import Infeasible
from shuffledp.populations import Fixed
from shuffledp.protocols import available, get
from shuffledp.tasks import METRICS, Budget, Frequency, Participants, Public, Summation, Task

#: How far the mean of all z-scores, and their standard deviation, may be from 0 and 1; and a single protocol's mean in
#: standard errors.
MEAN, SPREAD, ALONE = 0.2, 0.1, 4.5
DELTA = 1e-5
EPS = (0.5, 1.0, 2.0)
USERS = (2_000, 30_000)


@dataclass(frozen=True)
class Cell:
    """Task with its participants' inputs."""

    task: Task
    counts: NDArray[np.int64]

    @property
    def truth(self) -> NDArray[np.float64]:
        """Return the estimated quantity."""
        if isinstance(self.task, Summation):
            return np.asarray(self.counts @ self.task.values)
        return np.asarray(self.counts / self.counts.sum())


def cells(kind: str) -> Iterator[Cell]:
    """Yield cells with equally frequent values, with one frequent value, and with equally frequent numbers."""
    for users in USERS:
        if kind == "frequency":
            for k in (2, 7, 40):
                even, few = np.full(k, users // k), users // (2 * k)
                yield Cell(Frequency(k), even)
                yield Cell(Frequency(k), np.r_[users - (k - 1) * few, np.full(k - 1, few)])
        else:
            for most in (1, 5):
                yield Cell(Summation(most), np.full(most + 1, users // (most + 1)))


def z_scores(kind: str, name: str, repeats: int, seed: int) -> list[float]:
    """Return the z-scores of a protocol in all cells where it is feasible and has a closed form."""
    found = []
    for place, cell in enumerate(cells(kind)):
        for eps in EPS:
            rng = np.random.default_rng([seed, place, int(10 * eps), *name.encode()])
            score = _z_score(kind, name, cell, eps, repeats, rng)
            found += [] if score is None else [score]
    return found


def _z_score(
    kind: str, name: str, cell: Cell, eps: float, repeats: int, rng: np.random.Generator
) -> float | None:
    users = int(cell.counts.sum())
    protocol_class = get(kind, name)
    accounting = "exact" if "exact" in protocol_class.accountings else protocol_class.accountings[-1]
    try:
        protocol = protocol_class.calibrate(
            Budget(eps, DELTA), Fixed(users - 1), cell.task, accounting=accounting
        )
    except Infeasible:
        return None
    expected = protocol.expected_mse(cell.counts)
    if expected is None or protocol.biased or not math.isfinite(expected):
        return None
    counts = np.tile(cell.counts, (repeats, *[1] * cell.counts.ndim))
    truth = np.tile(cell.truth, (repeats, *[1] * cell.truth.ndim))
    who = Participants(Public(np.full(repeats, users)), counts, truth)
    errors = METRICS["mse"](protocol.simulate(who, rng), truth)
    spread = float(np.std(errors, ddof=1)) / math.sqrt(repeats)
    return (float(np.mean(errors)) - expected) / spread if spread > 1e-9 * expected else None


def main() -> int:
    """Print the results of every protocol; return 1 if a z-score is too large."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=600)
    parser.add_argument("--seed", type=int, default=20261122)
    chosen = parser.parse_args()
    every: list[float] = []
    wrong = False
    for kind in ("frequency", "summation"):
        for name in available(kind):
            scores = z_scores(kind, name, chosen.repeats, chosen.seed)
            if not scores:
                print(f"{kind} {name}: no feasible cell with a closed form")
                continue
            every += scores
            alone = abs(float(np.mean(scores))) * math.sqrt(len(scores))
            wrong |= alone > ALONE
            mark = "  <- off" if alone > ALONE else ""
            print(
                f"{kind} {name}: {len(scores)} cells, mean {np.mean(scores):.2f}, "
                f"standard deviation {np.std(scores):.2f}{mark}"
            )
    mean, spread = float(np.mean(every)), float(np.std(every))
    print(f"All: {len(every)} cells, mean {mean:.3f}, standard deviation {spread:.3f}")
    return int(wrong or abs(mean) > MEAN or abs(spread - 1) > SPREAD)


if __name__ == "__main__":
    sys.exit(main())
