"""Table II of Wang et al. 2023: lower bounds on the number of participants, each with a check."""

from __future__ import annotations

import math

import pandas as pd

from shuffledp.accounting.random_population.population_bounds import (
    population_lower_bound,
    population_shortfall,
)
from shuffledp.pipeline.papers.random_population.settings import DELTA
from shuffledp.populations.base import Law, Population
from shuffledp.populations.bounds import MomentBounded, SubExponential, SubGaussian
from shuffledp.populations.laws import Binomial, Poisson


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
        verdict = "right" if same else "safe"
        if tail > share * (1 + 1e-9):
            verdict = "unsafe"
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
                "verdict": OPEN if isinstance(population, SubGaussian) else verdict,
            }
        )
    return pd.DataFrame(rows)
