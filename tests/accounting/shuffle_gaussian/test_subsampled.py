import functools
import math

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from shuffledp.accounting.baselines.gaussian_clones import (
    clones_apply,
    closed_form_clones_epsilon,
)
from shuffledp.accounting.baselines.shuffled_checkin import (
    _clones_profile,
    checkin_baseline_epsilon,
    checkin_generic_epsilon,
    checkin_generic_rdp,
    profile_rdp,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.rdp import LastOrderWarning, best_epsilon, gaussian_rdp
from shuffledp.accounting.shuffle_gaussian.all_users import enough_orders, shuffle_gaussian_rdp
from shuffledp.accounting.shuffle_gaussian.checkin import (
    CHECKIN_FORMS,
    best_checkin_shuffle_gaussian_rdp_theorem3,
    checkin_shuffle_gaussian_epsilon,
    checkin_shuffle_gaussian_rdp,
    checkin_shuffle_gaussian_rdp_theorem3,
    checkin_theorem3_epsilon,
)
from shuffledp.accounting.shuffle_gaussian.checkin_participants import first_blocks, log_mass, split_blocks
from shuffledp.accounting.shuffle_gaussian.subsampled import (
    SUBSAMPLED_FORMS,
    subsampled_rdp,
    subsampled_shuffle_gaussian_epsilon,
    subsampled_shuffle_gaussian_rdp,
)
from shuffledp.numerics import binomial_upper_tail

N, RATE, DELTA = 60_000, 0.1, 1e-5
TO_30 = np.arange(2, 31)


def excess(orders, rdp):
    return np.expm1((np.asarray(orders) - 1) * rdp)


# Theorem 2


def test_the_pair_agrees_with_quadrature_over_both_reports():
    sigma, n, m = 0.9, 3, 2
    x, w = np.polynomial.hermite_e.hermegauss(160)
    ratio = np.exp((2 * sigma * x - 1) / (2 * sigma**2))
    mixture = 1 - m / n + m / n * (ratio[:, None] + ratio) / 2
    want = [float(np.sum(np.outer(w, w) * mixture**k)) / (2 * math.pi) - 1 for k in (2, 3, 4)]
    got = subsampled_shuffle_gaussian_rdp([2, 3, 4], n, m, sigma, form="pair")
    assert_allclose(excess([2, 3, 4], got), want, rtol=1e-9)


@pytest.mark.parametrize("sigma", [0.5, 2.0])
@pytest.mark.parametrize("n, m", [(100, 1), (100, 10), (1000, 999), (N, 60)])
def test_pair_is_below_both_bounds_and_convex_below_no_subsampling(n, m, sigma):
    forms = {f: subsampled_shuffle_gaussian_rdp(TO_30, n, m, sigma, form=f) for f in SUBSAMPLED_FORMS}
    assert np.all(forms["pair"] < np.minimum(forms["printed"], forms["convex"]))
    assert np.all(forms["convex"] < shuffle_gaussian_rdp(TO_30, m, sigma))


def test_drawing_everybody_is_theorem_1():
    want = shuffle_gaussian_rdp(TO_30, 50, 1.5)
    for form in ("pair", "convex"):
        assert_allclose(subsampled_shuffle_gaussian_rdp(TO_30, 50, 50, 1.5, form=form), want, rtol=1e-13)


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


@pytest.mark.parametrize(("n", "rate"), [(50, 0.5), (10**6, 0.3), (10**9, 1e-3)])
def test_blocks_cover_every_number_of_participants_once(n, rate):
    blocks = first_blocks(n, rate)
    for first, last in (blocks, split_blocks(*blocks)):
        order = np.argsort(first)
        assert np.all(first <= last)
        assert np.append(first[order], n + 1).tolist() == [1, *(last[order] + 1)]


def test_nothing_sampled_or_nothing_lost_is_no_loss():
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


def test_small_numbers_of_participants_count_where_they_dominate():
    n, rate, sigma, order = 400, 0.1, 0.7, 60
    k = np.arange(1, n + 1)
    log_alone = [(order - 1) * shuffle_gaussian_rdp([order], int(m), sigma)[0] for m in k]
    with mp.workdps(40):
        total = mp.fsum(
            mp.binomial(n, int(m))
            * mp.mpf(rate) ** int(m)
            * (1 - mp.mpf(rate)) ** (n - int(m))
            * m
            / n
            * mp.expm1(x)
            for m, x in zip(k, log_alone, strict=True)
        )
        want = float(mp.log1p(total) / (order - 1))
    got = checkin_shuffle_gaussian_rdp([order], n, rate, sigma, form="convex")[0]
    assert_allclose(got, want, rtol=1e-10)


def test_bound_on_the_mass_of_a_block():
    n, rate = 1000, 0.1
    for a, b in ((1, 40), (60, 70), (99, 99), (90, 110), (140, 1000), (150, 151)):
        exact = float(binomial_upper_tail(a, n, rate) - binomial_upper_tail(b + 1, n, rate))
        bound = math.exp(log_mass(n, rate, a, b))
        assert exact * (1 - 1e-9) <= bound <= 2.2 * exact
        if a == b:
            assert_allclose(bound, exact, rtol=1e-10)


def test_large_populations_are_summed_in_blocks_that_err_on_the_safe_side():
    orders, n = np.array([2, 3, 10]), 10**9
    for form in CHECKIN_FORMS:
        got = checkin_shuffle_gaussian_rdp(orders, n, 0.01, 3.0, form=form)
        plain = "printed" if form == "conditional" else form
        at_mean = subsampled_shuffle_gaussian_rdp(orders, n, n // 100, 3.0, form=plain)
        assert np.all(got >= at_mean * (1 - 1e-9))
        assert_allclose(got, at_mean, rtol=3e-5)


@pytest.mark.parametrize("form", CHECKIN_FORMS)
@pytest.mark.parametrize("n, rate", [(2**53, 1e-15), (10, 1e-300), (2**53, 1 - 1e-12)])
def test_extreme_populations(n, rate, form):
    got = checkin_shuffle_gaussian_rdp([2, 3, 50], n, rate, 1.0, form=form)
    assert np.all(np.isfinite(got)) and np.all(got >= 0)
    if form == "convex":
        assert np.all(got <= gaussian_rdp([2, 3, 50], 1.0)) and np.all(got > 0)


@pytest.mark.parametrize("form", ["conditional", "convex", "pair"])
def test_a_single_user_is_the_gaussian_mechanism_with_the_probability_to_take_part(form):
    rate, orders = 1e-9, np.array([2, 3, 30])
    got = checkin_shuffle_gaussian_rdp(orders, 1, rate, 1.0, form=form)
    want = np.log1p(rate * np.expm1(orders * (orders - 1) / 2)) / (orders - 1)
    if form == "conditional":  # Theorem 2 at rate 1 is above the mechanism itself
        assert np.all(got > want)
    else:
        assert_allclose(got, want, rtol=1e-9)


# Theorem 3


@pytest.mark.parametrize("n, rate, sigma", [(N, RATE, 5.0), (500, 0.05, 2.0), (50, 0.9, 1.0), (3, 0.2, 1.0)])
def test_the_best_delta_is_no_worse_than_any_other_and_above_the_sum(n, rate, sigma):
    orders = np.array([2, 3, 8, 30])
    best, splits = best_checkin_shuffle_gaussian_rdp_theorem3(orders, n, rate, sigma)
    assert np.all((splits >= 0) & (splits <= 1))
    for split in np.linspace(0, 1, 37):
        other = checkin_shuffle_gaussian_rdp_theorem3(orders, n, rate, sigma, float(split))
        assert np.all(best <= other * (1 + 1e-6))
    again = [
        checkin_shuffle_gaussian_rdp_theorem3([int(o)], n, rate, sigma, float(s))[0]
        for o, s in zip(orders, splits, strict=True)
    ]
    assert_allclose(best, again, rtol=1e-12)
    assert np.all(best >= checkin_shuffle_gaussian_rdp(orders, n, rate, sigma, form="printed") * (1 - 1e-10))


# What Figure 1b compares with


def test_baseline_that_cannot_be_met():
    with pytest.raises(Infeasible, match="No local delta"):
        checkin_baseline_epsilon(n=N, rate=RATE, sigma=5.0, rounds=10, delta=1e-22)


@pytest.mark.parametrize("budget", [0.3, 1.0, 3.0])
def test_inverse_of_the_clones_bound_stays_within_the_range_of_the_theorem(budget):
    reports, local = 6000, 1e-40
    eps = np.linspace(0.05, 3, 60)
    values = _clones_profile(eps, reports, np.array([budget]), np.array([local]))
    inside = values < 1
    assert np.count_nonzero(inside) > 20
    tight = 0
    for e, delta in zip(eps[inside], values[inside], strict=True):
        if delta < 1e-25:  # the failure of the local guarantee, about 1e-35, matters
            continue
        assert clones_apply(budget, reports, delta * (1 + 1e-9))
        at_limit = not clones_apply(budget, reports, delta * (1 - 1e-9))
        got = closed_form_clones_epsilon(budget, reports, delta * (1 + 1e-9))
        assert got <= e * (1 + 1e-9)
        if not at_limit:
            assert_allclose(got, e, rtol=1e-6)
        tight += at_limit
    assert (tight > 0) == (budget > 2)


def test_divergences_of_a_profile():
    orders = np.array([2, 3, 10, 60])
    lonely = profile_rdp(
        orders, 1, 2.0
    )  # clones say nothing of one report: the identity gives back order / 2 s^2
    assert_allclose(lonely, gaussian_rdp(orders, 2.0), rtol=1e-5)
    hidden = profile_rdp(orders, 6000, 5.0)
    assert np.all(hidden < gaussian_rdp(orders, 5.0)) and np.all(
        hidden > shuffle_gaussian_rdp(orders, 6000, 5.0)
    )
    assert_allclose(
        checkin_generic_rdp(orders, N, RATE, 5.0),
        subsampled_rdp(profile_rdp(np.arange(2, 61), 6000, 5.0), RATE)[orders - 2],
    )


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


def test_curves_take_the_best_order_and_say_when_it_is_the_last():
    orders, common = np.arange(2, 65), {"n": N, "rounds": 100, "delta": DELTA}
    for form in SUBSAMPLED_FORMS:
        rdp = subsampled_shuffle_gaussian_rdp(orders, N, 60, 0.86, form=form)
        found = subsampled_shuffle_gaussian_epsilon(m=60, sigma=0.86, form=form, most_order=64, **common)
        assert found == best_epsilon(orders, 100 * rdp, DELTA)[0]
    for form in CHECKIN_FORMS:
        rdp = checkin_shuffle_gaussian_rdp(orders, N, RATE, 5.0, form=form)
        found = checkin_shuffle_gaussian_epsilon(rate=RATE, sigma=5.0, form=form, most_order=64, **common)
        assert found == best_epsilon(orders, 100 * rdp, DELTA)[0]
    best, _ = best_checkin_shuffle_gaussian_rdp_theorem3(orders, N, RATE, 5.0)
    found = checkin_theorem3_epsilon(rate=RATE, sigma=5.0, most_order=64, **common)
    assert found == best_epsilon(orders, 100 * best, DELTA)[0]
    rdp = checkin_generic_rdp(orders, N, RATE, 5.0)
    found = checkin_generic_epsilon(rate=RATE, sigma=5.0, most_order=64, **common)
    assert found == best_epsilon(orders, 100 * rdp, DELTA)[0]
    small = {"n": N, "m": 60, "sigma": 5.0, "rounds": 1, "delta": DELTA}
    found = subsampled_shuffle_gaussian_epsilon(**small)
    assert found == subsampled_shuffle_gaussian_epsilon(most_order=enough_orders(60, 5.0, DELTA), **small)
    with pytest.warns(LastOrderWarning):
        subsampled_shuffle_gaussian_epsilon(n=10**9, m=10**8, sigma=9.0, rounds=1, delta=1e-9, form="pair")
