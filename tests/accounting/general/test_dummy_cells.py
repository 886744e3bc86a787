"""Fabricated messages in every cell: enumeration of all counts, reference values, composition and extremes."""

import math
from functools import reduce

import mpmath
import numpy as np
import pytest
from scipy import stats

from shuffledp.accounting import dummy_cells_delta, dummy_cells_epsilon, dummy_cells_mean
from shuffledp.accounting.general import dummy_cells
from shuffledp.accounting.general.dummy_cells import groups_delta

#: Messages of one device per day, and dummies of a million devices per cell.
SENT, MEAN = 18, 1245.12


def test_delta_of_the_reference():
    """Another program certified delta from both sides; for one half of the change it has 2.71e-19 and 3.92e-18."""
    assert 9.346e-11 <= dummy_cells_delta(1.0, MEAN, SENT, SENT) <= 9.3585e-11
    assert dummy_cells_delta(1.0, MEAN, 0, SENT) == pytest.approx(3.92e-18, rel=2e-3)
    assert dummy_cells_delta(1.0, MEAN, SENT, 0) == dummy_cells_delta(1.0, MEAN, 0, SENT)


def enumerated(groups, eps):
    """Return delta in one direction, over all counts of all cells, from the laws of the counts."""
    laws = []
    for mean, losing, gaining in groups:
        y = np.arange(stats.poisson.ppf(1 - 1e-15, mean) + 3)
        without, added = stats.poisson.pmf(y, mean), stats.poisson.pmf(y - 1, mean)
        laws += [(added, without)] * losing + [(without, added)] * gaining
    p, q = (reduce(np.multiply.outer, direction) for direction in zip(*laws, strict=True))
    return float(np.sum(np.maximum(p - math.exp(eps) * q, 0.0)))


@pytest.mark.parametrize("losing, gaining", [(1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (2, 2), (3, 0), (0, 3)])
@pytest.mark.parametrize("mean", [0.05, 1.0, 7.5])
@pytest.mark.parametrize("eps", [0.0, 0.4, 4.0])
def test_enumeration(losing, gaining, mean, eps):
    true = max(enumerated([(mean, *way)], eps) for way in ((losing, gaining), (gaining, losing)))
    found = dummy_cells_delta(eps, mean, losing, gaining)
    assert true * (1 - 1e-12) <= found <= true * (1 + 5e-5)


def test_enumeration_of_cells_with_different_means():
    groups = ((0.8, 1, 1), (5.0, 1, 1))
    for eps in (0.1, 1.0, 2.0):
        true = enumerated(groups, eps)
        assert true * (1 - 1e-12) <= groups_delta(groups, eps) <= true * (1 + 2e-5)


@pytest.mark.parametrize(
    "eps, mean, cells, true",
    [
        (10.0, 40.0, 18, 7.6470e-17),  # 18 e^-40: the counts of gaining cells may be 0
        (20.0, 40.0, 1, 4.24835e-18),
        (5.0, 34.0, 1, 1.7139e-15),
        (20.0, 700.0, 3, 2.9580e-304),
        (20.0, 1e-3, 1, 0.9990005),
    ],
)
def test_infinite_losses_are_not_lost(eps, mean, cells, true):
    found = dummy_cells_delta(eps, mean, cells, cells)
    assert found == pytest.approx(true, rel=1e-4)
    with mpmath.workdps(50):
        infinite = -mpmath.expm1(cells * mpmath.log1p(-mpmath.exp(-mpmath.mpf(mean))))
        assert mpmath.mpf(found) >= infinite
        assert math.isinf(dummy_cells_epsilon(max(float(infinite) * 0.999, 3e-308), mean, cells, cells))


def test_ends_of_the_ranges(monkeypatch):
    assert dummy_cells_delta(1.0, 5.0, 0, 0) == 0
    assert dummy_cells_epsilon(1e-5, 5.0, 0, 0) == 0
    assert dummy_cells_mean(1.0, 1e-5, 0, 0) == 1e-3
    # Only an empty gaining cell has a loss that large.
    assert dummy_cells_delta(600.0, 5.0, 2, 1) == pytest.approx(1 - (1 - math.exp(-5)) ** 2, rel=1e-8)
    # Many cells of a large mean are a normal law.
    normal = stats.norm.cdf(0.5 - 1) - math.e * stats.norm.cdf(-0.5 - 1)
    assert dummy_cells_delta(1.0, 1e6, 500_000, 500_000) == pytest.approx(normal, rel=1e-3)
    monkeypatch.setattr(dummy_cells, "MOST_MEAN", 1e3)  # that of the library takes ten seconds
    with pytest.raises(ValueError, match=r"eps and delta must allow a mean of at most 1000"):
        dummy_cells_mean(0.1, 1e-10, 10, 10)
