"""Sums: numbers of the specification, exact laws at n = 3, wrapping, rounding, budgets of several sums, and speed."""

import math

import numpy as np
import pytest

from shuffledp.accounting import (
    Infeasible,
    correlated_noise_delta,
)
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.protocols.conformance import SameNumbers, check_protocol, default_cases, privacy, running
from shuffledp.protocols.summation._levels import level_variances
from shuffledp.protocols.summation._sums import Numbers
from shuffledp.protocols.summation.single_message_sum import spread_error
from shuffledp.tasks import Budget, Public, Summation


def calibrated(name, n, task, eps=1.0, delta=1e-6, **options):
    task = Summation(task) if isinstance(task, int) else task
    found = get("summation", name)
    how = {"accounting": "printed", **options} if name.endswith("_sum") else options
    return found.calibrate(Budget(eps, delta), Fixed(n - 1), task, **how)


def rmse(protocol, task):
    task = Summation(task) if isinstance(task, int) else task
    n = getattr(protocol, "n_users", 10**6)
    holders = np.zeros(task.counts_shape, np.int64)
    holders.flat[-1] = n
    return math.sqrt(
        float(np.ravel(protocol.expected_variance(SameNumbers(task, tuple(holders.flat))(1)))[0])
    )


# -- section 4.1 and Figure 1 ---------------------------------------------------------------------------------------


def test_rappor_refuses_lone_users_and_calibrations():
    """For one user with two values, delta was once 0.19 at a budget of 0.05."""
    for accounting in ("printed", "exact"):
        with pytest.raises(Infeasible, match="At least one other user"):
            calibrated("fragmented_rappor", 1, 1, delta=0.05, accounting=accounting)
    for accounting, calibration in (
        ("printed", "worst_case"),
        ("printed", "sound"),
        ("exact", "optimistic"),
        ("exact", "hopeful"),
    ):
        with pytest.raises(ValueError, match=f"calibration under {accounting} must be one of"):
            calibrated("fragmented_rappor", 9, 1, accounting=accounting, calibration=calibration)


# -- noise of our own ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 20])
def test_coarse_noise_has_its_certificate(size):
    """Its error is that of correlated noise, and its delta is known at the certified eps and above."""
    protocol = get("summation", "coarse_correlated_sum").calibrate(
        Budget(1.0, 1e-6), Fixed(10**6 - 1), Summation(size), accounting="exact"
    )
    found, profile = protocol.parameters(), protocol.privacy_profile()
    assert found["certified_pairs"] == size * (size + 1)
    assert rmse(protocol, size) == pytest.approx(
        rmse(calibrated("correlated_sum", 10**6, size), size), rel=1e-12
    )
    assert profile.delta(1.0) == found["certified_delta"] <= 1e-6
    assert protocol.profile_for(10) is None
    if size > 3:
        assert profile.delta(3.0) == found["certified_delta"]
        with pytest.raises(Infeasible, match="only known from the certified eps"):
            profile.delta(0.5)


def test_jumps_are_option_of_all_sums():
    for name, task in (
        ("correlated_sum", Summation(1)),
        ("real_sum", Summation(4, real=True)),
        ("sparse_sum", Summation(1, coordinates=3)),
    ):
        options = {"accounting": "exact", "atoms": "best", **({"levels": 2} if name == "real_sum" else {})}
        usual = calibrated(name, 1000, task, **options)
        ours = calibrated(name, 1000, task, **options, law="jumps")
        assert ours.design.messages < 0.85 * usual.design.messages
        assert ours.design.mse == usual.design.mse
        assert float(ours.privacy_profile().delta(1.0)) <= 1e-6
    with pytest.raises(ValueError, match="law must be 'negative_binomial' for the accounting 'printed'"):
        calibrated("correlated_sum", 1000, 2, law="jumps")


# -- split-and-mix --------------------------------------------------------------------------------------------------


def test_several_sums_have_half_the_budget():
    task = Summation(3, coordinates=4)
    protocol = calibrated("sparse_sum", 1000, task, accounting="exact", atoms="star")
    assert (protocol.design.eps, protocol.design.delta) == (0.5, 5e-7)
    assert protocol.design.eps_star == pytest.approx(0.45)
    assert correlated_noise_delta(protocol.design, 0.5) <= 5e-7
    assert float(protocol.privacy_profile().delta(1.0)) <= 1e-6
    assert protocol.cost().extra_messages == pytest.approx(4 * protocol.design.messages / 1000)
    assert protocol.cost().bits_per_message == 2 + 3
    central = calibrated("central_laplace", 1000, task)
    assert rmse(central, task) == pytest.approx(math.sqrt(1 / 2) / math.sinh(1 / 12), rel=1e-12)


def test_wrapped_error_needs_planned_users():
    protocol = calibrated("split_and_mix", 100, 3, group="figure")
    fewer = SameNumbers(Summation(3), (40, 30, 10, 10))(1)
    assert protocol.expected_variance(fewer) is protocol.expected_squared_error(fewer) is None
    assert calibrated("split_and_mix", 100, 3).expected_variance(fewer) is not None


def test_classes_decode_near_the_middle():
    for order in (9, 10):
        protocol = get("summation", "split_and_mix")(3, Numbers(2, False, 1), 1.0, 2, order, "figure")
        sums = protocol.estimate(np.arange(order)[:, None], Public(np.full(order, 3)))
        assert sorted(sums % order) == list(range(order))
        # (n D / 2 - q / 2, n D / 2 + q / 2]
        assert sums.min() > 3 - order / 2 and sums.max() <= 3 + order / 2


def test_unproven_forms_have_no_privacy_profile():
    for form, known in (("figure", False), ("average", False), ("worst_case", True), ("collision", True)):
        pair = calibrated("split_and_mix", 1000, 3, form=form).privacy_profile()
        assert (pair is not None) == known
        if known:
            assert 0 < float(pair.delta(1.0)) <= 1e-6 * (1 + 1e-9)


# -- refusals -------------------------------------------------------------------------------------------------------


def test_further_refusals():
    real = Summation(9, real=True)
    for name, task, options, error, reason in (
        ("correlated_sum", 3, {"atoms": "star"}, ValueError, "halving"),
        ("correlated_sum", 3, {"alphabet": "greek"}, ValueError, "alphabet"),
        ("correlated_sum", 30, {"accounting": "exact", "atoms": "halving"}, Infeasible, "make designs"),
        ("correlated_sum", 3, {"gamma": 0.6}, Infeasible, "gamma"),
        ("sparse_sum", real, {}, Infeasible, "For one sum"),
        ("sparse_sum", Summation(3, coordinates=2), {"levels": 2}, Infeasible, "left out for integers"),
        ("split_and_mix", 3, {"group": "small"}, ValueError, "group"),
    ):
        with pytest.raises(error, match=reason):
            calibrated(name, 1000, task, **options)
    with pytest.raises(Infeasible, match="19 users"):
        calibrated("split_and_mix", 18, 3)


@pytest.mark.parametrize(
    "name, options",
    [
        ("correlated_sum", {"atoms": "star", "alphabet": "used"}),
        ("real_sum", {"atoms": "best", "levels": 3}),
        ("sparse_sum", {"atoms": "halving", "levels": 2, "zeta": 0.4}),
        ("fragmented_rappor", {"estimator": "centred", "calibration": "worst_case"}),
        ("split_and_mix", {"form": "collision"}),
        ("split_and_mix", {"group": "figure"}),
    ],
)
def test_protocols_conform_with_other_options(name, options, monkeypatch):
    monkeypatch.setattr(running, "MOST_DRAWN", 100_000)
    for draws, few in (("REPORTS", 2000), ("VIEWS", 1000), ("SLOW_MESSAGES", 25_000)):
        monkeypatch.setattr(privacy, draws, few)
    protocol = get("summation", name)
    cases = [c for c in default_cases(protocol, options) if c.accounting == protocol.accountings[-1]]
    check_protocol(protocol, list({case.task: case for case in cases}.values()))


# -- reference lines --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size, levels", [(1, 1), (1, 4), (12, 5), (12, 8), (12, 24), (7, 3), (30, 1)])
def test_mean_error_is_over_all_numbers(size, levels):
    numbers = Numbers(size, real=True, coordinates=1)
    for rate in (0.0, 0.3, 0.9):
        want = np.mean(level_variances(numbers, levels, rate))
        assert spread_error(numbers, levels, rate) == pytest.approx(want, rel=1e-12)


def test_too_many_levels_are_infeasible():
    real, users = Summation(10, real=True), 30_000_000
    for name, n, task, accountings in (
        ("correlated_sum", 100, Summation(4000), ("printed", "corrected", "exact")),
        ("real_sum", users, real, ("printed", "corrected")),
    ):
        for accounting in accountings:
            with pytest.raises(Infeasible, match="at most 2048 levels"):
                calibrated(name, n, task, delta=1e-10, accounting=accounting)
    # Fewer levels, and the error counts their rounding.
    made = calibrated("real_sum", users, real, delta=1e-10, accounting="exact")
    worst = made.expected_variance(SameNumbers(real, (0, 0, 0, 0, 0, users, 0, 0, 0, 0, 0))(1))
    assert made.levels == 1000
    assert made.numbers.rounding_variance(1000)[5] == 0 < worst[0]


def test_too_wide_noise_is_infeasible():
    # It was calibrated, and drawing it raised an error.
    with pytest.raises(Infeasible, match=r"Noise of variance 1\.07e\+09 is beyond 1e\+09"):
        get("summation", "skellam").calibrate(Budget(1.0, 1e-10), Fixed(999_999), Summation(10_000))
