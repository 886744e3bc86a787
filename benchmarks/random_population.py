"""Times of exact accounting for random populations, against plain bisection in the same run."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import linprog
from scipy.special import betainc, gammaln

from shuffledp.accounting import (
    amplified_epsilon,
    clone_delta,
    dummy_grid,
    error_factor,
    local_budget,
    optimal_dummies,
    report_variance,
)
from shuffledp.numerics.memoize import forget_all
from shuffledp.populations import Binomial, Fixed, Law, MomentBounded, Poisson


@dataclass(frozen=True)
class Row:
    """Line of the table; `reference` is a plain computation of the same number, if there is one."""

    name: str
    seconds: float
    reference: float | None = None
    difference: float | None = None


def best_of(function: Callable[[], float], repeats: int) -> tuple[float, float]:
    """Return (shortest wall time in seconds, value)."""
    fastest, value = math.inf, math.nan
    for _ in range(repeats):
        forget_all()
        start = time.perf_counter()
        value = function()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest, value


def plain_delta(trials: int, rate: float, eps_local: float, eps: float) -> float:
    """Return delta by the textbook sum: mean +- 13 sd +- 40, two incomplete beta functions per term.

    Differences of log-gamma functions limit the precision to about 1e-9 relative at these sizes, the difference in the
    table.
    """
    p = rate * math.exp(-eps_local)
    mean, spread = trials * p, math.sqrt(trials * p * (1 - p))
    c = np.arange(
        max(0, math.floor(mean - 13 * spread - 40)), min(trials, math.ceil(mean + 13 * spread + 40)) + 1
    )
    log_pmf = gammaln(trials + 1) - gammaln(c + 1) - gammaln(trials - c + 1)
    pmf = np.exp(log_pmf + c * math.log(p) + (trials - c) * math.log1p(-p))
    e, y = math.exp(eps_local), math.exp(eps)
    x0 = np.floor((y * e - 1) / ((e - 1) * (y + 1)) * (c + 1)) + 1

    def tail(j: np.ndarray) -> np.ndarray:
        inside = (j > 0) & (j <= c)
        value = betainc(np.where(inside, j, 1.0), np.where(inside, c - j + 1, 1.0), 0.5)
        return np.where(inside, value, np.where(j <= 0, 1.0, 0.0))

    terms = (e - y) / (e + 1) * tail(x0 - 1) - (e * y - 1) / (e + 1) * tail(x0)
    return float(pmf @ terms)


def plain_budget(trials: int, rate: float, eps: float, delta: float) -> float:
    """Return the budget by bisection to the library's relative tolerance, 1e-11."""
    low, high = eps, eps + math.log(trials * rate) + 1
    while high - low > 1e-11 * low:
        middle = 0.5 * (low + high)
        if plain_delta(trials, rate, middle, eps) <= delta:
            low = middle
        else:
            high = middle
    return low


def plain_epsilon(trials: int, eps_local: float, delta: float) -> float:
    low, high = 0.0, eps_local
    while high - low > 1e-11 * high:
        middle = 0.5 * (low + high)
        if plain_delta(trials, 1.0, eps_local, middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def scanned_error(law: Law, eps: float, delta: float, adaptive: bool) -> float:
    """Return the smallest error over the default grid, after evaluation of every candidate."""
    budgets = {
        int(k): local_budget(law, eps, delta, dummies=int(k), adaptive=adaptive, accounting="exact")
        for k in dummy_grid(law)
    }
    return min(report_variance(b) * error_factor(law, k, adaptive=adaptive) for k, b in budgets.items())


def plain_worst_delta(mean: float, variance: float, eps_local: float, eps: float, most: int) -> float:
    """Return delta of the linear program with one unknown for each number of users up to `most`."""
    n = np.arange(most + 1)
    values = np.array([clone_delta(Fixed(int(x)), eps_local, eps) for x in n])
    scale = float(values[int(mean)])
    result = linprog(
        -values / scale,
        A_eq=np.vstack((np.ones(n.size), n / mean)),
        b_eq=[1.0, 1.0],
        A_ub=((n - mean) ** 2 / variance)[None, :],
        b_ub=[1.0],
        method="highs",
    )
    return float(-result.fun * scale)


def compared(name: str, ours: Callable[[], float], plain: Callable[[], float]) -> Row:
    seconds, value = best_of(ours, 7)
    reference, want = best_of(plain, 3)
    return Row(name, seconds, reference, abs(value / want - 1))


def rows() -> list[Row]:
    """Return all rows of the table, in a few seconds."""
    result = []
    for rate, eps in ((0.01, 0.01), (0.2, 0.1), (1.0, 0.5), (1.0, 0.01)):
        law = Binomial(10**6 - 1, rate)
        result.append(
            compared(
                f"exact budget, n' = 10^6, rate {rate}, eps {eps}, delta 1e-8",
                partial(local_budget, law, eps, 1e-8, accounting="exact"),
                partial(plain_budget, 10**6 - 1, rate, eps, 1e-8),
            )
        )
    result.append(
        compared(
            "exact eps, n = 10^8 fixed, eps_local 4, delta 1e-9",
            lambda: amplified_epsilon(Fixed(10**8 - 1), 4.0, 1e-9, accounting="exact"),
            lambda: plain_epsilon(10**8 - 1, 4.0, 1e-9),
        )
    )
    result.append(
        compared(
            "exact delta, n' = 10^6, rate 0.2, eps_local 3, eps 0.1",
            lambda: clone_delta(Binomial(10**6 - 1, 0.2), 3.0, 0.1),
            lambda: plain_delta(10**6 - 1, 0.2, 3.0, 0.1),
        )
    )
    for adaptive in (False, True):
        how = "adaptive" if adaptive else "non-adaptive"
        result.append(
            compared(
                f"best number of {how} dummies, exact, Poisson 25000, default grid, eps 0.05",
                lambda adaptive=adaptive: (
                    optimal_dummies(
                        Poisson(25000), 0.05, 1e-5, accounting="exact", adaptive=adaptive
                    ).objective
                ),
                partial(scanned_error, Poisson(25000), 0.05, 1e-5, adaptive),
            )
        )
    result.append(
        compared(
            "worst case delta, mean 500, variance 900, eps_local 0.5, eps 0.1",
            lambda: clone_delta(MomentBounded(500, 900), 0.5, 0.1),
            partial(plain_worst_delta, 500, 900, 0.5, 0.1, 1500),
        )
    )
    for name, call in (
        (
            "printed budget, n' = 48842",
            lambda: local_budget(Binomial(48841, 0.05), 0.1, 1e-5, accounting="printed"),
        ),
        (
            "exact budget, Poisson 5000, 5000 adaptive dummies",
            lambda: local_budget(Poisson(5000), 0.1, 1e-5, dummies=5000, adaptive=True, accounting="exact"),
        ),
        (
            "best number of adaptive dummies, exact, Poisson 125000, default grid, eps 0.05",
            lambda: optimal_dummies(Poisson(125000), 0.05, 1e-5, accounting="exact", adaptive=True).objective,
        ),
        (
            "worst case eps, mean 5000, variance 8700",
            lambda: amplified_epsilon(MomentBounded(5000, 8700), 0.5, 1e-4, accounting="exact"),
        ),
    ):
        result.append(Row(name, best_of(call, 3)[0]))
    return result
