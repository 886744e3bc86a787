"""The exact accountant of correlated noise, against enumeration and a second implementation."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from enumerated_sums import design_of, enumerated
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation import joint_noise
from shuffledp.accounting.summation.closed_designs import analytic_design, modular_design
from shuffledp.accounting.summation.design_search import family_design
from shuffledp.accounting.summation.joint_noise import (
    correlated_noise_delta,
    loss_grid,
    pair_deltas,
)
from shuffledp.accounting.summation.noise_design import NoiseDesign
from shuffledp.accounting.summation.pair_table import pair_table
from shuffledp.accounting.summation.shift_noise import negative_binomial_shift_delta

CASES = {
    "D2 small shapes": (design_of(2, 3.0, {1: (0.7, 0.3), 2: (0.6, 0.4)}), 0.5, 1e-9),
    "D3 halving": (
        design_of(3, 5.0, {-2: (1.5, 0.2), 1: (1.2, 0.25), 2: (2.0, 0.2), 3: (1.1, 0.25)}),
        1.1,
        1e-6,
    ),
    "D3 star": (
        design_of(3, 5.0, {1: (2.2, 0.3), 2: (2.0, 0.2), 3: (1.1, 0.25)}, atoms="star"),
        0.8,
        1e-6,
    ),
    "D4 hub": (
        design_of(
            4,
            7.0,
            {-2: (1.5, 0.2), 1: (1.2, 0.2), 2: (1.5, 0.15), 3: (1.1, 0.2), 4: (1.0, 0.2)},
            atoms="hub",
            hubs=(2,),
        ),
        1.0,
        1e-5,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_all_pairs_equal_enumeration(name):
    design, eps, lost = CASES[name]
    table = pair_table(design.max_value, design.atoms, design.hubs)
    found = enumerated(design, eps, lost)
    want = np.array([found[x, y] for x, y in table.pairs.tolist()])
    slack = 2 * (len(design.indices) + 2) * lost * math.exp(eps)
    upper = pair_deltas(design, eps, table, bound="upper", grid=loss_grid(design, eps, "upper", finer=8))
    lower = pair_deltas(design, eps, table, bound="lower")
    estimate = pair_deltas(design, eps, table, bound="estimate")
    assert np.all(upper >= want - slack)
    assert np.all(lower <= want + slack)
    assert_allclose(upper, want, rtol=1e-7, atol=slack + 3e-8)
    assert_allclose(lower, want, rtol=3e-3, atol=slack)
    assert_allclose(estimate, want, rtol=3e-3, atol=slack + 1e-5)
    assert want.max() > 0.01
    assert correlated_noise_delta(design, eps) == np.max(pair_deltas(design, eps, table))


def test_grid_grows_until_large_losses_fit():
    design = design_of(2, 0.5, {1: (1.0, 0.2), 2: (1.0, 0.2)})
    for eps in (0.1, 1.0, 3.0):
        lower, upper = (correlated_noise_delta(design, eps, bound=b) for b in ("lower", "upper"))
        assert lower <= upper <= lower * 1.01


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: design_of(2, 0.9, {1: (1.0, 0.5)}), ValueError, r"missing \[2\]"),
        (
            lambda: design_of(2, 0.9, {1: (1.0, 0.5), 2: (1.0, 0.5), 7: (1.0, 0.5)}),
            ValueError,
            r"unknown \[7\]",
        ),
        (lambda: NoiseDesign.from_dict({"max_value": 2}), ValueError, "content must have the keys"),
        (lambda: negative_binomial_shift_delta(0.5, 0.5, 1, 1.0), Infeasible, "shape must be at least 1"),
        (lambda: analytic_design(5, 1.0, 0.6, 0.1), Infeasible, "delta < 1/2"),
        (lambda: analytic_design(5, 1.0, 1e-6, 0.5), Infeasible, "gamma < 1/2"),
        (lambda: modular_design(5, 1.0, 1e-6, 1.0, split=0.5), Infeasible, "eps_star must be below eps"),
        (lambda: family_design(5, 1.0, 1e-6, 1.5), Infeasible, "eps_star must be below eps"),
        (
            lambda: correlated_noise_delta(design_of(2, 1e-7, {1: (1.0, 0.5), 2: (1.0, 0.5)}), 1.0),
            Infeasible,
            "grid",
        ),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_too_wide_design_is_refused_early(monkeypatch):
    """A design with too wide noise is refused before any loss is computed."""
    design = analytic_design(100, 1.0, 1e-8, 0.1)
    monkeypatch.setattr(joint_noise, "cells_of", lambda *_: pytest.fail("losses of a design that is refused"))
    with pytest.raises(Infeasible, match="atom 1 has a window"):
        correlated_noise_delta(design, 1.0)
