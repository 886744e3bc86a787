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
def test_intervals_cover_and_are_at_most_a_step_wider(name, level):
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


@pytest.mark.parametrize("level", LEVELS)
def test_normal_skellam_and_sums_of_terms(level):
    z = stats.norm.isf(level / 2)
    assert half_width([normal_term(4.0)], level, 0.0) == pytest.approx(2 * z, rel=1e-4)
    support = np.arange(-400, 401)
    assert half_width(two_sided(np.full((1, 1), 50.0), 0.0), level) == pytest.approx(
        exact_half_width(support, stats.skellam(50, 50).pmf(support), 0.0, level) + 0.5, abs=1.0
    )
    # Gamma variables as negative binomial variables of tiny steps: a Laplace variable has the tail e^-x.
    laplace = two_sided(1e6, -1e6, 1e-6)
    assert half_width(laplace, level, 0.0) == pytest.approx(math.log(1 / level), rel=0.03)
    both = half_width([normal_term(9.0), *laplace], level, 0.0)
    assert both > max(half_width([normal_term(9.0)], level, 0.0), math.log(1 / level))


def test_widths_of_several_estimates_and_cases():
    law = ErrorLaw([normal_term(np.array([[1.0, 4.0], [9.0, 16.0]]))])
    single = half_widths([(law, np.array([[1.0, 1.0], [0.0, 0.0]]))], 0.05)
    np.testing.assert_allclose(single, [1.96, 3.92], rtol=1e-3)
    together = half_widths([(law, np.array([[0.0, 1000.0], [0.0, 0.0]]))], 0.05, together=True)
    assert float(together) == pytest.approx(2 * stats.norm.isf(0.025 / 1000), rel=1e-4)
    mixed = float(half_widths([(law, np.full((2, 2), 0.5))], 0.05)[0])
    assert stats.norm.sf(mixed) + stats.norm.sf(mixed / 3) == pytest.approx(0.05, rel=1e-3)


def test_an_error_that_is_always_zero_has_no_width():
    assert half_width([Term(0.0, 0.0, 1.0)], 0.05) < 1.0
    assert half_width([Term(5.0, 1.0, 1.0)], 0.05, 0.0) < 1e-9


def test_a_constant_changes_no_half_width():
    """Reports that are sent at the rate 1 are a constant, also far in the tail of the other terms."""
    noise = Term(np.full((1, 1), 9.168), 0.009168, 1e-3)
    reports = Term(np.full((1, 1), 250.0), 1.0, 1e-3)
    for level in (0.05, 0.0125, 1e-6):
        assert half_width([noise, reports], level, 1e-3) == half_width([noise], level, 1e-3)


@pytest.mark.parametrize("mean", [1e-6, 1e-4, 1e-3, 0.01, 0.0258, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("estimates", [1, 64, 333])
def test_half_widths_where_few_successes_are_expected(mean, estimates):
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


def test_half_widths_of_nearly_certain_successes_and_rare_geometric_noise():
    trials, rate, estimates = 50, 0.9999, np.full((1, 1), 20.0)
    law = ErrorLaw([Term(np.full((1, 1), trials * rate), rate, 1.0)], 1.0)
    width = float(half_widths([(law, estimates)], 0.05, together=True))
    errors = np.abs(np.arange(trials + 1) - trials * rate)
    assert 20 * stats.binom.pmf(np.arange(trials + 1), trials, rate)[errors > width].sum() < 0.05
    ratio = math.exp(-8)  # |noise| >= 1 with 2 q / (1 + q)
    width = float(half_widths([(ErrorLaw(geometric_noise(8.0), 1.0), 250 * estimates)], 0.05, together=True))
    assert 5000 * 2 * ratio ** (math.floor(width) + 1) / (1 + ratio) < 0.05 and width < 2
