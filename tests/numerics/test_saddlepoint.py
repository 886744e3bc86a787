"""Half-widths from saddlepoint tails, against exact laws of scipy: they cover, and are hardly wider."""

import math

import numpy as np
import pytest
from scipy import stats

from shuffledp.numerics.saddlepoint import (
    ErrorLaw,
    Term,
    geometric_noise,
    half_widths,
    normal_term,
    poisson_term,
    two_sided,
)

LEVELS = (0.05, 5e-5, 5e-8)
ONE = np.ones((1, 1))


def half_width(terms, level, step=1.0):
    return float(half_widths([(ErrorLaw(terms, step), ONE)], level)[0])


def exact_half_width(support, pmf, mean, level):
    """Return the least distance from the mean outside of which at most `level` of the mass is."""
    distance = np.abs(support - mean)
    order = np.argsort(distance)
    outside = np.cumsum(pmf[order][::-1])[::-1]  # from each distance on
    return float(distance[order][max(int(np.searchsorted(-outside, -level)) - 1, 0)])


LAWS = {
    "rare coins": (Term(0.5, 0.01, 1.0), stats.binom(50, 0.01), 51),
    "few coins": (Term(5.0, 0.1, 1.0), stats.binom(50, 0.1), 51),
    "fair coins": (Term(500.0, 0.5, 1.0), stats.binom(1000, 0.5), 1001),
    "poisson": (Term(1.0, 0.0, 1.0), stats.poisson(1.0), 100),
    "many poisson": (poisson_term(1e4, 1.0), stats.poisson(1e4), 20_000),
    "geometric": (Term(9.0, -9.0, 1.0), stats.nbinom(1, 0.1), 1000),
    "negative binomial": (Term(45.0, -9.0, 1.0), stats.nbinom(5, 0.1), 2000),
    "heavy tail": (Term(0.45, -9.0, 1.0), stats.nbinom(0.05, 0.1), 1000),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", LAWS)
def test_intervals_cover_and_are_narrow(name, level):
    term, law, size = LAWS[name]
    support = np.arange(size)
    pmf, mean = law.pmf(support), float(np.asarray(term.mean))
    width = half_width([term], level)
    assert pmf[np.abs(support - mean) > width].sum() <= level * 1.001
    # A law with little mass beyond its mode is an exception.
    assert width <= exact_half_width(support, pmf, mean, level) * 1.03 + (4 if name == "heavy tail" else 1)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("decay", [0.01, 0.1, 0.45, 1.0, 3.0])
def test_two_sided_geometric_noise(decay, level):
    """The exact distance solves ``2 e^(-decay (d + 1)) / (1 + e^-decay) <= level``."""
    exact = max(math.ceil(math.log(2 / ((1 + math.exp(-decay)) * level)) / decay) - 1, 0)
    width = half_width(geometric_noise(decay), level)
    assert exact <= width <= 1.01 * exact + 1.0


def test_widths_of_several_estimates_and_cases():
    law = ErrorLaw([normal_term(np.array([[1.0, 4.0], [9.0, 16.0]]))])
    single = half_widths([(law, np.array([[1.0, 1.0], [0.0, 0.0]]))], 0.05)
    np.testing.assert_allclose(single, [1.96, 3.92], rtol=1e-3)
    together = half_widths([(law, np.array([[0.0, 1000.0], [0.0, 0.0]]))], 0.05, together=True)
    assert float(together) == pytest.approx(2 * stats.norm.isf(0.025 / 1000), rel=1e-4)
    mixed = float(half_widths([(law, np.full((2, 2), 0.5))], 0.05)[0])
    assert stats.norm.sf(mixed) + stats.norm.sf(mixed / 3) == pytest.approx(0.05, rel=1e-3)


def test_zero_error_has_no_width():
    assert half_width([Term(0.0, 0.0, 1.0)], 0.05) < 1.0
    assert half_width([Term(5.0, 1.0, 1.0)], 0.05, 0.0) < 1e-9


@pytest.mark.parametrize("mean", [1e-6, 1e-4, 1e-3, 0.01, 0.0258, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("estimates", [1, 64, 333])
def test_half_widths_for_few_successes(mean, estimates):
    """They cover, and hardly any smaller one does; the laws are exact."""
    weights, at = np.full((1, 1), float(estimates)), np.full((1, 1), mean)
    width = float(half_widths([(ErrorLaw(two_sided(at, 0.0), 1.0), weights)], 0.05, together=True))
    beyond, shorter = (
        2 * estimates * stats.skellam.sf(w, mean, mean) for w in (width, math.floor(width) - 2)
    )
    assert beyond < 0.053 and (width < 2 or shorter > 0.05)
    width = float(half_widths([(ErrorLaw([Term(at, 0.0, 1.0)], 1.0), weights)], 0.05, together=True))
    outside = stats.poisson.sf(mean + width, mean) + stats.poisson.cdf(math.ceil(mean - width) - 1, mean)
    assert estimates * outside < 0.053 and width < 6 * math.sqrt(mean) + 3.1
