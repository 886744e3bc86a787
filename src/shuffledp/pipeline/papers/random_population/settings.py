"""Settings of Wang et al. 2023, and the error with the best number of dummies over the error without dummies."""

from __future__ import annotations

import math

import numpy as np

from shuffledp.accounting.random_population.amplification import local_budget
from shuffledp.accounting.random_population.best_dummies import dummy_grid, optimal_dummies
from shuffledp.accounting.random_population.report_errors import report_variance
from shuffledp.populations.base import Law
from shuffledp.populations.laws import Binomial, Poisson

#: Delta of the paper's experiments.
DELTA = 1e-5
#: Values of eps_central (nats); the paper gives only the ends 0.001 and 0.5.
EPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
#: Share of females among the users of Adult (Section VII-A).
ADULT_FEMALE = 16_192 / 48_842
#: Populations of Figure 4, then of Figures 5 and 6.
POPULATIONS: dict[str, Law] = {
    **{f"Adult, rate {rate}": Binomial(48841, rate) for rate in (0.01, 0.05, 0.1, 0.2, 0.5)},
    **{f"Poisson, mean {mean}": Poisson(float(mean)) for mean in (1000, 5000, 25000, 125000)},
}


def _error_ratio(eps_local: float, reference: float) -> float:
    return math.sqrt(report_variance(eps_local) / report_variance(reference))


def dummies_error(law: Law, eps: float, accounting: str, *, adaptive: bool) -> float:
    """Return the error with the number of dummies that minimizes (6) or (7), relative to no dummies."""
    plan = optimal_dummies(law, eps, DELTA, adaptive=adaptive, accounting=accounting, grid=_grid(law))
    window = law.window()
    n = window.support + 1.0
    dummies = np.maximum(plan.dummies - (n - 1), 0) if adaptive else plan.dummies
    with_dummies = float(window.pmf @ (np.sqrt(n + dummies) / n))
    without = float(window.pmf @ (1 / np.sqrt(n)))
    alone = local_budget(law, eps, DELTA, accounting=accounting)
    return _error_ratio(plan.eps_local, alone) * with_dummies / without


def _grid(law: Law) -> list[int]:
    """Return the paper's grid of numbers of dummies, finer for small populations, where few dummies are optimal."""
    if law.mean > 200:
        return [int(k) for k in dummy_grid(law)]
    return list(range(0, math.floor(2 * law.mean) + 1, max(1, int(law.mean) // 20)))
