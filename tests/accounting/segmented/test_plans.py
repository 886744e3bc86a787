import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting.baselines.sets import (
    mm_plan,
    sep_mm_plan,
)
from shuffledp.accounting.segmented.plan_search import segmented_choices, segmented_plan
from shuffledp.accounting.segmented.plans import full_reporting, level_rate
from shuffledp.accounting.segmented.profile import SegmentedProfile
from shuffledp.protocols.sets.subset_local import local_subset_exponential

EPS = (0.5, 1.0, 2.0)
SHARES = {"S1": (0.25, 0.5, 0.25), "S2": (0.5, 0.25, 0.25), "S3": (0.25, 0.25, 0.5)}


def sizes(levels, n):
    return [round(share * n) for share in SHARES[levels]]


# -- the search ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accounting", ["printed", "corrected"])
@pytest.mark.parametrize("levels", SHARES)
def test_best_number_of_blankets_is_chosen(accounting, levels):
    setting = (sizes(levels, 2000), EPS, 1e-5, 20, 3)
    plan = segmented_plan(*setting, accounting=accounting)
    assert plan.flat is not None

    def bound(m):
        return segmented_plan(*setting, blankets=m, accounting=accounting).error_bound()

    low, high = (full_reporting(2000, 20, 3, e, 1e-5, accounting=accounting) for e in (2.0, 0.5))
    assert low <= plan.flat[0] <= plan.blankets <= plan.flat[1] <= high
    for m in np.geomspace(low / 2, 2 * high, 97):
        assert bound(float(m)) >= plan.error_bound() * (1 - 1e-9)
        if plan.flat[0] < m < plan.flat[1]:
            assert bound(float(m)) <= 1.051 * plan.error_bound()
    assert bound(plan.blankets) == plan.error_bound()
    for end, further in ((plan.flat[0], 0.99), (plan.flat[1], 1.01)):
        if low < end * further < high:
            assert bound(end * further) > 1.049 * plan.error_bound()


# -- profiles ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accounting", ["printed", "corrected", "exact"])
def test_profiles_meet_budget_of_every_level(accounting):
    plan = segmented_plan((1250, 2500, 1250), EPS, 2e-6, 17, 4, blankets=0.3, accounting=accounting)
    for level, eps in enumerate(EPS):
        assert plan.rates[level] == level_rate(5000, 0.3, 17, 4, eps, 2e-6, accounting=accounting)
        profile = SegmentedProfile(plan, level)
        deltas = profile.delta([0.9 * eps, eps, 1.1 * eps])
        assert np.all(np.diff(deltas) < 0)
        assert deltas[1] <= 2e-6 * (1 + 1e-8)
        if plan.rates[level] < 1:
            assert deltas[0] > 2e-6
        assert profile.kind == ("approximate" if accounting == "printed" else "upper")


# -- arguments ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask",
    [
        lambda: segmented_plan([10, 10], [0.5], 1e-3, 10, 2, accounting="printed"),
        lambda: segmented_plan([10], [0.5], 1e-3, 10, 11, accounting="printed"),
        lambda: segmented_plan([10], [0.5], 1e-3, 10, 2, spread=1.7, accounting="printed"),
        lambda: segmented_plan([10], [0.5], 1e-3, 10, 2, interval=(2.0, 1.0), accounting="printed"),
        lambda: sep_mm_plan([10], [0.5, 1.0], 1e-3, 10, 2, accounting="printed"),
        lambda: local_subset_exponential(10, 10, 1.0),
        lambda: SegmentedProfile(mm_plan(10, 10, 2, 0.5, 1e-3, accounting="printed"), 1),
    ],
)
def test_arguments_outside_their_range_are_rejected(ask):
    with pytest.raises(ValueError, match=r"must be|must have"):
        ask()


# -- many announcements at once -------------------------------------------------------------------------------------

ANNOUNCED = [(1500, 3000, 1500), (1, 2999, 3000), (5998, 1, 1), (0, 3000, 3000), (0, 0, 6000)]


@pytest.mark.parametrize("accounting", ["printed", "corrected"])
@pytest.mark.parametrize("spread", [None, 2.0])
def test_choices_equal_those_of_search(accounting, spread):
    """The choices are for many announced numbers of users."""
    setting = (EPS, 1e-5, 12, 3)
    found = segmented_choices(ANNOUNCED, *setting, accounting=accounting, spread=spread)
    for row, sizes_ in enumerate(ANNOUNCED):
        best = segmented_plan(sizes_, *setting, accounting=accounting, spread=spread)
        chosen = segmented_plan(sizes_, *setting, blankets=found.blankets[row], accounting=accounting)
        assert_allclose(found.rates[row], chosen.rates, rtol=1e-12)
        errors = [p.error_bound() if spread is None else p.expected_sse(spread) for p in (best, chosen)]
        assert errors[0] * (1 - 1e-9) <= errors[1] <= errors[0] * 1.005
        variance = 12 * chosen.n * found.blanket_variances[row] / chosen.reports**2
        assert_allclose(variance, chosen.blanket_sse(), rtol=1e-12)


def test_given_blankets_are_not_searched():
    found = segmented_choices(ANNOUNCED, EPS, 1e-5, 12, 3, blankets=0.3, accounting="corrected")
    assert set(found.blankets) == {0.3} and len(np.unique(found.rates, axis=0)) == 1


@pytest.mark.parametrize("sizes_", [[(10, 20), (10, 21)], [(0, 0)], [(-1, 31)]])
def test_different_totals_of_users_are_refused(sizes_):
    with pytest.raises(ValueError, match="one sum, the number of users"):
        segmented_choices(sizes_, [0.5, 1.0], 1e-5, 12, 3)
