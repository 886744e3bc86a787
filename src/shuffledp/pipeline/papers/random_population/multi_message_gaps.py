"""Gains of multi-message protocols in the settings of Wang et al. 2023, Figures 7 to 9, and Table II.

As in :mod:`shuffledp.pipeline.papers.random_population.published_gaps`, errors are expectations of the total variation
error due to randomization alone. MULTI-UNION adds Polya noise for the ``n1`` users of a lower bound on the population,
MULTI-EXPECTED discrete Gaussian noise for the expected delta. MULTI-EXACT is the Polya noise of MULTI-UNION for the
largest ``n1`` at which the expected delta is half of the budget, as in MULTI-EXPECTED.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pandas as pd
from scipy.interpolate import BarycentricInterpolator

from shuffledp.accounting.random_population.amplification import local_budget
from shuffledp.accounting.random_population.multi_message import multi_expected_scale
from shuffledp.accounting.random_population.polya import best_polya_shape
from shuffledp.accounting.random_population.polya_errors import polya_mean_absolute
from shuffledp.accounting.random_population.population_bounds import (
    population_lower_bound,
    population_shortfall,
)
from shuffledp.accounting.random_population.report_errors import report_variance
from shuffledp.numerics.roots import root_below
from shuffledp.pipeline.papers.random_population.published_gaps import DELTA, EPS, ends
from shuffledp.populations.base import Law, Population
from shuffledp.populations.bounds import MomentBounded, SubExponential, SubGaussian
from shuffledp.populations.laws import Binomial, Poisson

#: Populations of Figure 7, then of Figure 8.
MULTI_POPULATIONS: dict[str, Law] = {
    **{f"Adult, rate {rate}": Binomial(48841, rate) for rate in (0.01, 0.05, 0.1, 0.2, 0.5)},
    **{f"Poisson, mean {mean}": Poisson(float(mean)) for mean in (1000, 5000, 25000, 125000)},
}


def _inverse_root(law: Law) -> float:
    """Return ``E[1 / sqrt(N)]``."""
    window = law.window()
    return float(window.pmf @ (1 / np.sqrt(window.support + 1.0)))


def _union_error(law: Law, users: float, eps: float) -> float:
    window = law.window()
    n = window.support + 1.0
    low, high = float(n[0]), float(n[-1])
    # The mean absolute value is smooth in the number of users: interpolated from few Chebyshev points.
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(12) + 0.5) / 12)
    values = polya_mean_absolute(nodes / users, eps) / nodes
    return 2 * float(window.pmf @ BarycentricInterpolator(nodes, values)(n))


def _expected_error(law: Law, eps: float, accounting: str) -> float:
    precision = math.ceil(math.sqrt(law.mean + 1))
    tau = multi_expected_scale(law, eps, DELTA, precision, accounting=accounting)
    return 2 * math.sqrt(2 / math.pi) * tau / precision * _inverse_root(law)


def _amplified_error(law: Law, eps: float, accounting: str) -> float:
    budget = local_budget(law, eps, DELTA, accounting=accounting)
    return 2 * math.sqrt(2 / math.pi * report_variance(budget)) * _inverse_root(law)


@cache
def multi_gaps() -> pd.DataFrame:
    """Return comparisons of errors for the protocols in Figures 7 and 8, over :data:`~comparisons.EPS`."""
    rows = []
    for name, law in MULTI_POPULATIONS.items():
        union, expected = {}, {}
        for form in ("printed", "exact"):
            n1 = math.floor(population_lower_bound(law, DELTA / 2, form=form))
            union[form] = np.array([_union_error(law, n1, e) for e in EPS])
            expected[form] = np.array([_expected_error(law, e, form) for e in EPS])
        amplified = np.array([_amplified_error(law, e, "printed") for e in EPS])
        polya = [
            _union_error(law, best_polya_shape(law, e, DELTA), e) / error
            for e, error in zip(EPS, union["exact"], strict=True)
        ]
        rows.append(
            {
                "population": name,
                "union saves": 1 - float(np.mean(union["printed"] / amplified)),
                "expected saves": 1 - float(np.mean(expected["printed"] / amplified)),
                **ends("printed", expected["printed"] / union["printed"], "least", "most"),
                **ends("exact", expected["exact"] / union["exact"], "least", "most"),
                "exact Polya": max(polya),
                "loses below": _crossing(law),
            }
        )
    return pd.DataFrame(rows)


def _crossing(law: Law) -> float:
    """Return the eps_central (nats) at which MULTI-EXPECTED and exactly accounted AMPLIFIED have equal errors."""

    def excess(log_eps: float) -> float:
        eps = math.exp(log_eps)
        return math.log(_amplified_error(law, eps, "exact") / _expected_error(law, eps, "printed"))

    return math.exp(root_below(excess, math.log(0.1), math.log(EPS[0]), math.log(EPS[-1]), xtol=1e-4))


def _allowed_shortfall(population: Population, bound: float) -> float:
    """Return ``Pr[N < bound]``, or the largest value that the population's definition permits."""
    distance = population.mean - (bound - 1)  # of the others below their mean
    if isinstance(population, SubGaussian):
        return math.exp(-(distance**2) / (2 * population.variance))
    if isinstance(population, SubExponential):
        return min(1.0, population.a * math.exp(-population.b * distance))
    return population_shortfall(population, bound)


#: Laws of the experiments, and one example of each further row of Table II.
TABLE_TWO_POPULATIONS: dict[str, Population] = {
    **{f"Binomial(48841, {rate})": Binomial(48841, rate) for rate in (0.01, 0.05, 0.1, 0.2, 0.4, 0.5)},
    **{f"Poisson({mean})": Poisson(float(mean)) for mean in (1000, 5000, 25000, 125000)},
    "sub-Gaussian, mean 25000, variance proxy 25000": SubGaussian(25_000.0, math.sqrt(25_000.0)),
    "sub-exponential, mean 25000, a 1, b 0.1": SubExponential(25_000.0, 1.0, 0.1),
    "mean 125000, variance 30000": MomentBounded(125_000.0, 30_000.0),
}


#: Verdict on the bound of a law whose definition is not available.
OPEN = "open"


def table_two() -> pd.DataFrame:
    """Return Table II's lower bounds on the number of participants with a check of each."""
    share = DELTA / 2
    rows = []
    for name, population in TABLE_TWO_POPULATIONS.items():
        printed, corrected = (
            population_lower_bound(population, share, form=form) for form in ("printed", "corrected")
        )
        tail = _allowed_shortfall(population, printed)
        same = math.isclose(printed, corrected, rel_tol=1e-12)
        rows.append(
            {
                "law": name,
                "delta": DELTA,
                "printed bound": printed,
                "corrected bound": corrected,
                "exact quantile": population_lower_bound(population, share, form="exact")
                if isinstance(population, (Law, MomentBounded))
                else math.nan,
                "tail at printed bound": tail,
                "verdict": OPEN
                if isinstance(population, SubGaussian)
                else "unsafe"
                if tail > share * (1 + 1e-9)
                else "right"
                if same
                else "safe",
            }
        )
    return pd.DataFrame(rows)
