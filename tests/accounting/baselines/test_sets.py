import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import poisson

from shuffledp.accounting import Infeasible
from shuffledp.accounting.baselines.sets import mm_plan
from shuffledp.accounting.segmented.items import item_delta
from shuffledp.protocols.sets._subset_exponential import SubsetExponential, SubsetExponentialProfile
from shuffledp.protocols.sets.subset_shuffled import shuffled_subset_exponential

# -- balls-into-bins ---------------------------------------------------------------------------------------------


def test_published_calibrations_are_not_exact():
    with pytest.raises(Infeasible, match="one item"):
        mm_plan(500, 17, 4, 0.5, 1e-6, accounting="exact", calibration="numeric")


@pytest.mark.parametrize("set_size", [1, 4])
def test_published_calibrations_are_for_one_item(set_size):
    eps, delta = 0.5 / set_size, item_delta(0.5, 2e-6, set_size)
    analytic, numeric = (
        mm_plan(
            5000, 17, set_size, 0.5, 2e-6, accounting="printed", calibration=calibration
        ).blankets_per_item
        for calibration in ("analytic", "numeric")
    )
    assert_allclose(analytic, 32 * math.log(2 / delta) / eps**2, rtol=1e-12)
    x = np.arange(5000)
    found = poisson.pmf(x, numeric) @ poisson.sf(np.ceil(math.exp(eps) * x - 1) - 1, numeric)
    assert_allclose(found, delta, rtol=1e-6)


# -- subset exponential mechanism ----------------------------------------------------------------------------------


def distribution(d, k, held, eps):
    weight = {z: math.exp(eps) if held & set(z) else 1.0 for z in itertools.combinations(range(d), k)}
    total = sum(weight.values())
    return {z: w / total for z, w in weight.items()}


@pytest.mark.parametrize("d, s, k", [(6, 2, 1), (6, 2, 3), (7, 3, 2), (5, 3, 2), (5, 3, 1)])
@pytest.mark.parametrize("eps", [0.3, 2.0])
def test_subset_exponential_equals_enumeration(d, s, k, eps):
    mechanism = SubsetExponential(d, s, k, eps)
    law = distribution(d, k, set(range(s)), eps)
    assert_allclose(mechanism.own_rate, sum(p for z, p in law.items() if 0 in z), rtol=1e-12)
    assert_allclose(mechanism.other_rate, sum(p for z, p in law.items() if d - 1 in z), rtol=1e-12)
    far = distribution(d, k, set(range(d - s, d)), eps)
    assert_allclose(mechanism.distance, sum(max(p - far[z], 0) for z, p in law.items()), rtol=1e-12)
    profile = SubsetExponentialProfile(mechanism, 1, sound=False)
    for e in (0.0, 0.1, 1.0, 2.5):
        want = sum(max(p - math.exp(e) * far[z], 0) for z, p in law.items())
        assert_allclose(float(profile.delta(e)), want, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("d, s", [(1_000, 8), (10_000, 20)])
def test_subsets_of_large_domains(d, s):
    """Binomial coefficients beyond floats, and subsets that reveal almost nothing, once raised errors."""
    for k in (1, 7, d // 2, d - 2 * s + 1, d - s):
        mechanism = SubsetExponential(d, s, k, 1.5)
        every, missed = math.comb(d, k), math.comb(d - s, k)
        without = Fraction(math.comb(d - s - 1, k - 1), every)
        total = Fraction(every - missed, every) + Fraction(missed, every) * Fraction(math.exp(-1.5))
        other = (Fraction(k, d) - without * (1 - Fraction(math.exp(-1.5)))) / total
        only_one = Fraction(missed - math.comb(d - 2 * s, k), every)
        assert mechanism.miss == pytest.approx(float(Fraction(missed, every)), rel=1e-11)
        assert mechanism.own_rate == pytest.approx(float(Fraction(k, d) / total), rel=1e-12)
        assert mechanism.other_rate == pytest.approx(float(other), rel=1e-12)
        wanted = float(only_one / total) * -math.expm1(-1.5)
        assert mechanism.distance == pytest.approx(wanted, rel=1e-11)
    assert SubsetExponential(d, s, d - s, 1.5).expected_sse(10) > 1e20
    shuffled = shuffled_subset_exponential(10_000, d, s, 1.0, 1e-6, sound=True)
    at = [SubsetExponential(d, s, k, shuffled.eps_local) for k in (shuffled.subset_size, d // 3)]
    assert at[0].expected_sse(10_000) < at[1].expected_sse(10_000)
