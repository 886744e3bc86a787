"""Profiles in other forms: comparison with libraries and closed forms for the same mechanisms."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from enumerated_reports import responses
from shuffledp.accounting import (
    CountPair,
    GaussianProfile,
    Infeasible,
    hockey_stick,
    renyi_from_profile,
    to_pld,
    trade_off,
)
from shuffledp.accounting.general.exports import convex_minorant

# -- loss distributions ----------------------------------------------------------------------------------------------


def test_a_pair_is_its_losses():
    """Binary randomized response has two losses in each direction; its composition has binomial losses."""
    eps_local, rounds, eps = 0.5, 5, 0.7
    table = responses(2, eps_local)
    loss = CountPair(*np.log(table)).to_pld(step=0.05).self_compose(rounds)
    p = binom.pmf(np.arange(rounds + 1), rounds, table[0, 0])
    truth = np.maximum(p - math.exp(eps) * p[::-1], 0).sum()
    assert loss.get_delta_for_epsilon(eps) == pytest.approx(truth, rel=1e-9)


def test_pair_is_bounded_in_both_directions():
    """Neither direction suffices alone; each of three rounds counts with the worse direction."""
    p, q = np.array([0.7, 0.2, 0.1]), np.array([0.6, 0.15, 0.25])
    loss = CountPair(np.log(p), np.log(q)).to_pld(step=1e-2).self_compose(3)
    many = [np.log(np.einsum("i,j,k->ijk", law, law, law).ravel()) for law in (p, q)]
    for eps in (0.0, 0.3, 1.0, 2.0):
        for first, second in (many, many[::-1]):
            assert hockey_stick(first, second, eps) <= loss.get_delta_for_epsilon(eps) + 1e-12


def test_too_fine_a_step_is_refused():
    with pytest.raises(Infeasible, match="choose a larger one"):
        to_pld(GaussianProfile(1.0), step=1e-6)


def test_convex_minorant_is_the_largest():
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    assert_allclose(convex_minorant(x, np.array([4.0, 3.5, 1.0, 0.9, 0.0])), [4.0, 2.5, 1.0, 0.5, 0.0])
    y = (4 - x) ** 2
    assert_allclose(convex_minorant(x, y), y)


# -- Renyi divergence, trade-off, Gaussian privacy ---------------------------------------------------------------------


def test_infinite_loss_has_no_divergence():
    shown = CountPair(np.log([0.1, 0.9]), np.array([-np.inf, 0.0]))
    with pytest.raises(Infeasible, match="no order has a finite divergence"):
        renyi_from_profile(shown, [2.0])


def test_trade_off_of_the_gaussian_mechanism():
    rates = np.array([1e-3, 1e-2, 0.1, 0.5, 0.9])
    truth = ndtr(-ndtri(rates) - 1.0)
    found = trade_off(GaussianProfile(1.0), rates)
    assert np.all(found <= truth + 1e-12)
    assert trade_off(GaussianProfile(1.0), 0.5).shape == ()
    with pytest.raises(ValueError, match=r"false_positive_rates must be in \[0, 1\]"):
        trade_off(GaussianProfile(1.0), 1.5)
