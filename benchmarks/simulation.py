"""Times of simulation by the aggregate's exact law: ten million users, ten thousand users, and many repeats."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from random_population import Row, best_of

from shuffledp.accounting.baselines.rappor_known_coins import told_bits_delta
from shuffledp.populations import Binomial, Fixed
from shuffledp.protocols import available, get
from shuffledp.protocols.conformance import SameNumbers
from shuffledp.tasks import Budget, Frequency, Participants, Summation

SUMS = ("correlated_sum", "split_and_mix", "fragmented_rappor", "central_laplace")


def simulated(task: Summation, name: str, tenths: int) -> Callable[[], float]:
    """Return a function that simulates one sum of ``10 * tenths`` users."""
    n = 10 * tenths
    how = {"accounting": "printed"} if name == "correlated_sum" else {}
    protocol = get("summation", name).calibrate(Budget(1.0, 1e-6), Fixed(n - 1), task, **how)
    who = SameNumbers(task, (*[tenths] * (task.counts_shape[0] - 1), 5 * tenths))(1)
    return lambda: float(protocol.simulate(who, np.random.default_rng(1))[0])


def repeated(name: str, repeats: int) -> Callable[[], float]:
    """Return a function that simulates `repeats` repeats of a multi-message protocol."""
    population = Binomial(48841, 0.5)
    found = get("frequency", name)
    protocol = found.calibrate(Budget(0.1, 1e-5), population, Frequency(2), accounting=found.accountings[0])
    n = 1 + population.sample(np.random.default_rng(6), repeats)
    who = Participants.from_counts(np.column_stack((n - n // 3, n // 3)))
    return lambda: float(protocol.simulate(who, np.random.default_rng(7))[0, 0])


def rows() -> list[Row]:
    """Return all rows of the table, in a few seconds; the ratio is the smaller task's time over the larger task's."""
    found = []
    for name in SUMS:
        few, many = (best_of(simulated(Summation(5), name, tenths), 5)[0] for tenths in (10**3, 10**6))
        found.append(Row(f"{name}: 10^7 users, against 10^4", many, few))
    for name in available("frequency"):
        if name.startswith("multi_"):
            one, all_ = (best_of(repeated(name, repeats), 5)[0] for repeats in (1, 200))
            found.append(Row(f"{name}: 200 repeats, against one", all_, one))
    told = partial(told_bits_delta, 10**8 - 1, 145e-8, 1.0, 1e-20)
    found.append(Row("sound delta of RAPPOR fragments, n = 10^8", best_of(told, 3)[0]))
    assert all(math.isfinite(row.seconds) for row in found)
    return found
