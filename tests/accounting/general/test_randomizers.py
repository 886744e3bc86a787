"""Local randomizers: the masses of their comparisons are correct."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import (
    GRR,
    BinaryRandomizedResponse,
    DensityRandomizer,
    FiniteRandomizer,
    GaussianRandomizer,
    LaplaceRandomizer,
    Randomizer,
    SubsetSelection,
    SymmetricRAPPOR,
)
from shuffledp.accounting.general.comparisons import Outputs, differences

ALL = [
    GRR(1.0, 7),
    BinaryRandomizedResponse(2.0),
    SubsetSelection(3.0, 9, 4),
    LaplaceRandomizer(0.7),
    LaplaceRandomizer(9.0),
    GaussianRandomizer(1.3),
    SymmetricRAPPOR(1.0, 4, "reports"),
    FiniteRandomizer([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]),
]


@pytest.mark.parametrize("randomizer", ALL)
@pytest.mark.parametrize("side", ["upper", "lower"])
def test_both_inputs_are_laws(randomizer, side):
    """E[G] = 1 - e^eps holds up to the truncation error, and rounding preserves it."""
    assert isinstance(randomizer, Randomizer)
    for comparison in randomizer.comparisons(side, 1e-12):
        for eps in (0.0, 0.3, 2.0):
            values, masses = comparison.law(eps, side)
            assert np.all(masses >= 0)
            assert float(np.sum(masses)) <= 1 + 1e-12
            assert float(masses @ values) == pytest.approx(1 - math.exp(eps), abs=1e-9)
        if isinstance(comparison, Outputs):
            assert_allclose(comparison.masses @ np.exp(comparison.log_own), 1, rtol=1e-12)
            assert_allclose(comparison.masses @ np.exp(comparison.log_other), 1, rtol=1e-12)


def test_differences_do_not_cancel():
    gap = 1e-12
    found = differences(np.array([12.0, -math.inf]), np.array([0.0, 0.0]), 12.0 - gap)
    assert found[0] == pytest.approx(math.exp(12) * gap, rel=1e-3)
    assert found[1] == pytest.approx(-math.exp(12 - gap))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: GRR(301.0, 5), "eps_local must be at most 300"),
        (lambda: SubsetSelection(1.0, 5, 5), r"subset_size must be in \[1, 4\], got 5"),
        (lambda: GaussianRandomizer(0.1), r"sigma must be in \[0.2, 1e6\]"),
        (lambda: FiniteRandomizer([[0.5, 0.5]]), "at least 2 inputs"),
        (lambda: FiniteRandomizer([[0.5, 0.4], [0.5, 0.5]]), "sum to 1"),
        (lambda: FiniteRandomizer([[0.5, 0.5], [1.0]]), "equal length"),
        (lambda: DensityRandomizer(len, len, (0.0, 0.0), (0.0, 1.0)), "different numbers"),
        (lambda: DensityRandomizer(len, len, (0.0, 1.0), (1.0, 0.0)), "increasing"),
        (lambda: SymmetricRAPPOR(151.0), "eps_bit must be at most 150"),
        (
            lambda: FiniteRandomizer(np.random.default_rng(1).dirichlet(np.ones(3), 65)).comparisons(
                "upper", 0.0
            ),
            "at most 4032 kinds of pairs of inputs are compared, got 4160",
        ),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_kinds_are_of_all_pairs(side):
    rng = np.random.default_rng(5)
    rows = rng.choice([1.0, 2.0, 5.0], (5, 4))
    rows = np.concatenate([rows, rows[:, ::-1], rows[:2]])  # some pairs differ in the order of outputs only
    rows /= rows.sum(axis=1, keepdims=True)
    blankets = [rows.min(axis=0)] if side == "upper" else list(rows)
    kinds = {
        tuple(sorted(map(tuple, np.round(np.column_stack((rows[i] / w, rows[j] / w, w)), 8))))
        for w in blankets
        for i in range(len(rows))
        for j in range(len(rows))
        if np.abs(rows[i] - rows[j]).max() > 0
    }
    assert len(FiniteRandomizer(rows).comparisons(side, 0.0)) == len(kinds)
