import functools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from shuffledp.accounting.baselines.shuffled_checkin import (
    checkin_baseline_epsilon,
    checkin_generic_epsilon,
    checkin_generic_rdp,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.rdp import LastOrderWarning, best_epsilon
from shuffledp.accounting.shuffle_gaussian.all_users import enough_orders, shuffle_gaussian_rdp
from shuffledp.accounting.shuffle_gaussian.checkin import (
    CHECKIN_FORMS,
    best_checkin_shuffle_gaussian_rdp_theorem3,
    checkin_shuffle_gaussian_epsilon,
    checkin_shuffle_gaussian_rdp,
    checkin_theorem3_epsilon,
)
from shuffledp.accounting.shuffle_gaussian.checkin_participants import log_mass
from shuffledp.accounting.shuffle_gaussian.subsampled import (
    SUBSAMPLED_FORMS,
    subsampled_rdp,
    subsampled_shuffle_gaussian_epsilon,
    subsampled_shuffle_gaussian_rdp,
)

N, RATE, DELTA = 60_000, 0.1, 1e-5


def excess(orders, rdp):
    return np.expm1((np.asarray(orders) - 1) * rdp)


# Theorem 2


# Check-in, by direct summation


@functools.cache
def each_number_of_participants(n, sigma, last):
    """Return divergences of 1..n shuffled reports at orders 2..`last`, and of subsets of that size, by form."""
    orders = np.arange(2, last + 1)
    alone = [shuffle_gaussian_rdp(orders, m, sigma) for m in range(1, n + 1)]
    subsets = {
        form: [subsampled_shuffle_gaussian_rdp(orders, n, m, sigma, form=form) for m in range(1, n + 1)]
        for form in ("printed", "pair")
    }
    return np.array(alone), np.array(subsets["printed"]), np.array(subsets["pair"])


def test_no_sample_has_no_loss():
    assert subsampled_rdp([1.0, 2.0], 0.0).tolist() == [0.0, 0.0]
    assert subsampled_rdp([0.0], 0.5).tolist() == [0.0]


@pytest.mark.parametrize("rate", [0.03, 0.5, 1.0])
@pytest.mark.parametrize("sigma", [0.6, 1.0, 5.0])
def test_windowed_sum_equals_the_full_one(rate, sigma):
    n, last = 100, 20
    orders = np.arange(2, last + 1)
    alone, conditional, pair = each_number_of_participants(n, sigma, last)
    want = {
        "printed": excess(orders, np.array([subsampled_rdp(rdp, rate) for rdp in alone])),
        "conditional": excess(orders, conditional),
        "convex": np.arange(1, n + 1)[:, None] / n * excess(orders, alone),
        "pair": excess(orders, pair),
    }
    for form in CHECKIN_FORMS:
        got = checkin_shuffle_gaussian_rdp(orders, n, rate, sigma, form=form)
        full = np.log1p(binom.pmf(np.arange(1, n + 1), n, rate) @ want[form]) / (orders - 1)
        assert_allclose(got, full, rtol=2e-10)
        assert np.all(got >= full * (1 - 2e-10))


def test_blocks_of_large_populations_are_safe():
    """Large populations are summed in blocks, with an error on the safe side."""
    orders, n = np.array([2, 3, 10]), 10**9
    for form in CHECKIN_FORMS:
        got = checkin_shuffle_gaussian_rdp(orders, n, 0.01, 3.0, form=form)
        plain = "printed" if form == "conditional" else form
        at_mean = subsampled_shuffle_gaussian_rdp(orders, n, n // 100, 3.0, form=plain)
        assert np.all(got >= at_mean * (1 - 1e-9))
        assert_allclose(got, at_mean, rtol=3e-5)


# Theorem 3


# What Figure 1b compares with


def test_baseline_that_cannot_be_met():
    with pytest.raises(Infeasible, match="No local delta"):
        checkin_baseline_epsilon(n=N, rate=RATE, sigma=5.0, rounds=10, delta=1e-22)


# Curves and arguments


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: subsampled_shuffle_gaussian_rdp([2], 5, 6, 1.0, form="printed"),
            r"m must be in \[1, n\] with n = 5, got 6",
        ),
        (lambda: checkin_generic_rdp([2], 5, 0.1, 1.0), r"rate must be in \[1/n, 1\]"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


CURVES = [
    *(
        (subsampled_shuffle_gaussian_epsilon, subsampled_shuffle_gaussian_rdp, {"m": 60, "form": form})
        for form in SUBSAMPLED_FORMS
    ),
    *(
        (checkin_shuffle_gaussian_epsilon, checkin_shuffle_gaussian_rdp, {"rate": RATE, "form": form})
        for form in CHECKIN_FORMS
    ),
    (
        checkin_theorem3_epsilon,
        lambda *of, **other: best_checkin_shuffle_gaussian_rdp_theorem3(*of, **other)[0],
        {"rate": RATE},
    ),
    (checkin_generic_epsilon, checkin_generic_rdp, {"rate": RATE}),
]


@pytest.mark.parametrize("epsilon, divergences, options", CURVES)
def test_curves_take_the_best_order(epsilon, divergences, options):
    orders, setting = np.arange(2, 65), {"n": N, "sigma": 5.0, **options}
    found = epsilon(rounds=100, delta=DELTA, most_order=64, **setting)
    assert found == best_epsilon(orders, 100 * divergences(orders, **setting), DELTA)[0]


def test_orders_suffice_or_warn():
    small = {"n": N, "m": 60, "sigma": 5.0, "rounds": 1, "delta": DELTA}
    found = subsampled_shuffle_gaussian_epsilon(**small)
    assert found == subsampled_shuffle_gaussian_epsilon(most_order=enough_orders(60, 5.0, DELTA), **small)
    with pytest.warns(LastOrderWarning):
        subsampled_shuffle_gaussian_epsilon(n=10**9, m=10**8, sigma=9.0, rounds=1, delta=1e-9, form="pair")


@pytest.mark.parametrize(
    "first, last, factor",
    [(1, 60, 1.1), (80, 99, 2.0), (101, 140, 4.0), (150, 400, 1.1), (95, 110, 1.2)],
)
def test_blocks_of_participants_bound_their_mass(first, last, factor):
    found = math.exp(log_mass(1000, 0.1, first, last))
    exact = float(binom.pmf(np.arange(first, last + 1), 1000, 0.1).sum())
    assert exact * (1 - 1e-9) <= found <= factor * exact
