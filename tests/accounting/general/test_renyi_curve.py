"""Renyi curves are additive, and equal the curves of dp_accounting."""

import dp_accounting
import numpy as np
import pytest
from dp_accounting import rdp
from numpy.testing import assert_allclose

from shuffledp.accounting import (
    ClonesProfile,
    GaussianProfile,
    LastOrderWarning,
    OtherReports,
    RenyiCurve,
    composed_epsilon,
    to_renyi,
)
from shuffledp.populations import Fixed

BATCH = ClonesProfile(OtherReports(Fixed(9_999)), 1.0)


def test_epsilon_is_just_above_exact():
    """The eps of the curve is above that of loss distributions, and near it."""
    query = GaussianProfile(0.1)
    exact = composed_epsilon([BATCH, query], 1e-6, rounds=[16, 1])
    assert exact < (16 * BATCH.to_renyi() + query.to_renyi()).epsilon(1e-6) < 1.1 * exact


def test_dp_accounting_curves_are_added():
    accountant = rdp.RdpAccountant(neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_ONE)
    accountant.compose(dp_accounting.GaussianDpEvent(20.0), 3)
    theirs = RenyiCurve(accountant.orders, accountant.rdp)
    ours = 3 * GaussianProfile(1 / 20.0).to_renyi(accountant.orders)
    assert_allclose(ours.divergences[:-1], theirs.divergences[:-1], rtol=5e-3)
    assert np.all(ours.divergences >= theirs.divergences)
    assert np.isinf(ours.divergences[-1])  # of order 1024: losses at which delta is far below the least float
    total = 16 * BATCH.to_renyi(accountant.orders) + theirs
    converted = rdp.compute_epsilon(total.orders, total.divergences, 1e-6)[0]
    assert total.epsilon(1e-6) == pytest.approx(converted, rel=1e-6)


def test_short_list_of_orders_warns():
    with pytest.warns(LastOrderWarning):
        to_renyi(BATCH, [2.0, 3.0]).epsilon(1e-6)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: RenyiCurve([2.0], [0.1, 0.2]), "the same shape"),
        (lambda: RenyiCurve([1.0], [0.1]), "orders must be finite numbers above 1"),
        (lambda: RenyiCurve([2.0], [-0.1]), "divergences must be >= 0"),
        (lambda: RenyiCurve([2.0], [0.1]) + RenyiCurve([3.0], [0.1]), "must have the same orders"),
        (
            lambda: RenyiCurve([2.0], [0.1]) + RenyiCurve([2.0], [0.1], "add_remove"),
            "the same neighboring relation",
        ),
        (lambda: 0 * RenyiCurve([2.0], [0.1]), "rounds must be an integer in"),
    ],
)
def test_what_is_no_curve_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
    with pytest.raises(TypeError):
        RenyiCurve([2.0], [0.1]) + 1.0
