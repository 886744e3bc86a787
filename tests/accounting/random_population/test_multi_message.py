import math

import numpy as np
import pytest

from enumerated_sums import polya_difference
from shuffledp.accounting import (
    discrete_gaussian_gap,
    multi_exact_plan,
    multi_expected_delta,
    multi_expected_scale,
    multi_union_plan,
)
from shuffledp.accounting.random_population import multi_message
from shuffledp.accounting.random_population.polya import polya_reach
from shuffledp.populations import (
    Binomial,
    Empirical,
    Fixed,
    Poisson,
)

D = 1e-5
LAWS = [Fixed(20), Binomial(60, 0.3), Poisson(30), Empirical((0.2, 0.3, 0.5), 4)]


@pytest.mark.parametrize("shape, eps", [(0.3, 1.0), (1.0, 0.1), (7.5, 0.2)])
def test_polya_noise_stays_within_its_reach(shape, eps):
    size = math.ceil(60 / eps) + 100
    pmf = polya_difference(shape, eps, size)
    reach = polya_reach(shape, math.exp(-eps), 1e-6)
    outside = np.abs(np.arange(-size + 1, size)) > reach
    assert 1e-10 < pmf[outside].sum() <= 1e-6
    assert pmf @ np.arange(-size + 1, size) ** 2.0 == pytest.approx(
        2 * shape * math.exp(-eps) / (1 - math.exp(-eps)) ** 2
    )


def test_plans():
    union = [multi_union_plan(LAWS[1], 0.1, D, accounting=a) for a in ("printed", "corrected", "exact")]
    exact = multi_exact_plan(LAWS[1], 0.1, D)
    assert exact.n1 >= union[2].n1 >= union[1].n1
    assert exact.ratio == math.exp(-0.1) and exact.shape == 1 / exact.n1
    assert exact.noise_variance(exact.n1) == pytest.approx(2 * exact.ratio / (1 - exact.ratio) ** 2)
    with pytest.raises(ValueError, match="n must be at least 0, got -1"):
        exact.noise_variance(-1)
    assert exact.share_count < union[0].share_count
    assert multi_union_plan(LAWS[1], 0.1, D, precision=10, accounting="printed").ratio == math.exp(-0.01)
    assert (1 + math.exp(0.1)) * 2**-exact.security_bits == pytest.approx(D / 2)


# -- scales far from the first guess, and budgets at which the discrete noise is hardly Gaussian --


@pytest.mark.parametrize("accounting", ["printed", "exact"])
def test_scale_of_sometimes_empty_population(accounting):
    law = Empirical(
        (1e-3, *[0.0] * 39_999, 0.999)
    )  # alone with probability 1e-3: its noise must suffice by itself
    tau = multi_expected_scale(law, 0.5, 1e-5, 200, accounting=accounting)
    assert multi_expected_delta(law, tau, 0.5, 200, accounting=accounting) <= 0.5e-5 * (1 + 1e-9)
    assert multi_expected_delta(law, tau * 0.999, 0.5, 200, accounting=accounting) > 0.5e-5


@pytest.mark.parametrize("tau", [0.01, 0.3, 1.0, 30.0])
def test_gap_of_many_summands_is_complete(monkeypatch, tau):
    n = np.array([1, 500, 100_000, 30_000])
    want = discrete_gaussian_gap(n, tau)
    monkeypatch.setattr(multi_message, "_ENUMERATED", 20_000)
    np.testing.assert_allclose(discrete_gaussian_gap(n, tau), want, rtol=1e-11)
    monkeypatch.undo()
    huge = discrete_gaussian_gap(10**12, tau)  # an array of all terms would take 8 TB
    assert huge == pytest.approx(1e12 * math.exp(-2 * (math.pi * tau) ** 2), rel=1e-3)
