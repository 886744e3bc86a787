import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog

from shuffledp.accounting import (
    Infeasible,
    best_polya_shape,
    discrete_gaussian_gap,
    expected_polya_delta,
    group_order,
    multi_exact_plan,
    multi_expected_delta,
    multi_expected_plan,
    multi_expected_scale,
    multi_union_plan,
    negative_binomial_delta,
    population_lower_bound,
    population_shortfall,
    security_bits,
    share_count,
)
from shuffledp.accounting.random_population.polya import polya_reach
from shuffledp.populations import (
    Binomial,
    Empirical,
    Fixed,
    MomentBounded,
    Poisson,
    SubExponential,
    SubGaussian,
)

D = 1e-5
ADULT = {a: Binomial(48841, a) for a in (0.01, 0.05, 0.1, 0.2, 0.4, 0.5)}
PAPER = [*ADULT.values(), *(Poisson(x) for x in (1000, 5000, 25000, 125000))]
LAWS = [Fixed(20), Binomial(60, 0.3), Poisson(30), Empirical((0.2, 0.3, 0.5), 4)]


def noise(shape, eps, size):
    """Law of the difference of two negative binomial variables, on -(size - 1), .., size - 1."""
    j = np.arange(size - 1)
    ratios = (j + shape) / (j + 1) * math.exp(-eps)
    pmf = np.concatenate(([1.0], np.cumprod(ratios))) * (-math.expm1(-eps)) ** shape
    return np.convolve(pmf, pmf[::-1])


def test_table_of_lower_bounds():
    adult, poisson = ADULT[0.05], Poisson(1000)
    assert population_lower_bound(adult, D / 2, form="printed") == pytest.approx(2270.4, abs=0.05)
    assert population_lower_bound(adult, D / 2, form="corrected") == pytest.approx(2198.9, abs=0.05)
    assert population_lower_bound(adult, D / 2, form="exact") == 2233
    assert population_lower_bound(poisson, D / 2, form="printed") == pytest.approx(809.6, abs=0.05)
    assert population_lower_bound(poisson, D / 2, form="corrected") == pytest.approx(844.8, abs=0.05)
    assert population_lower_bound(poisson, D / 2, form="exact") == 864


@pytest.mark.parametrize(
    ("rate", "tail"), [(0.01, 1.7e-4), (0.05, 1.5e-4), (0.1, 1.0e-4), (0.2, 4.3e-5), (0.4, 3.2e-6)]
)
def test_printed_binomial_bound_fails_for_small_rates(rate, tail):
    law = ADULT[rate]
    bound = law.mean - math.sqrt(law.mean * math.log(2 / D)) + 1  # with the mean of the others, not n'a
    assert population_shortfall(law, bound) == pytest.approx(
        tail, abs=5 * 10 ** (math.floor(math.log10(tail)) - 2)
    )
    printed = population_lower_bound(law, D / 2, form="printed")
    assert (population_shortfall(law, printed) > D / 2) == (rate < 0.38)


def test_lower_bounds_of_bounds_by_hand():
    log = math.log(1e3)
    assert population_lower_bound(SubGaussian(900, 30), 1e-3, form="printed") == pytest.approx(
        901 - 30 * math.sqrt(log)
    )
    assert population_lower_bound(SubGaussian(900, 30), 1e-3, form="corrected") == pytest.approx(
        901 - 30 * math.sqrt(2 * log)
    )
    for form in ("printed", "corrected"):
        got = population_lower_bound(SubExponential(900, 2, 0.1), 1e-3, form=form)
        assert got == pytest.approx(901 - math.log(2e3) / 0.1)
    assert population_lower_bound(MomentBounded(900, 25), 1e-3, form="printed") == pytest.approx(
        901 - math.sqrt(25e3)
    )
    assert population_lower_bound(MomentBounded(900, 25), 1e-3, form="corrected") == pytest.approx(
        901 - math.sqrt(25 * 999)
    )
    assert population_lower_bound(Fixed(7), 0.1, form="printed") == 8
    for bound in (SubGaussian(900, 30), SubExponential(900, 2, 0.1)):
        with pytest.raises(Infeasible, match="bounds a tail only"):
            population_lower_bound(bound, 1e-3, form="exact")
        with pytest.raises(Infeasible, match="bounds a tail only"):
            population_shortfall(bound, 3)


@pytest.mark.parametrize("law", [*LAWS, MomentBounded(12.3, 4.0), MomentBounded(9, 0.5)], ids=repr)
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.1, 0.6])
def test_exact_lower_bound_is_the_largest_and_corrected_is_valid(law, delta):
    exact = population_lower_bound(law, delta, form="exact")
    assert isinstance(exact, int)
    assert population_shortfall(law, exact) <= delta < population_shortfall(law, exact + 1)
    assert population_lower_bound(law, delta, form="corrected") <= exact + 1e-9


@pytest.mark.parametrize(("mean", "variance"), [(12.3, 4.0), (9.0, 0.5), (3.5, 0.25), (6.2, 30.0)])
def test_shortfall_for_moments_is_the_linear_programme(mean, variance):
    n = np.arange(400)
    for bound in range(1, math.ceil(mean) + 3):
        answer = linprog(
            -(n + 1 < bound).astype(float),
            A_ub=[(n - mean) ** 2 / 100],
            b_ub=[variance / 100],
            A_eq=[np.ones(400), n],
            b_eq=[1, mean],
        )
        assert population_shortfall(MomentBounded(mean, variance), bound) == pytest.approx(
            -answer.fun, abs=1e-7
        )


@pytest.mark.parametrize(("shape", "delta"), [(0.99, 7e-4), (0.95, 3.7e-3), (0.9, 8e-3)])
def test_polya_delta_of_the_specification(shape, delta):
    assert negative_binomial_delta(shape, 0.1) == pytest.approx(delta, abs=5e-5)


@pytest.mark.parametrize("shape", [1e-3, 0.3, 0.5, 0.97, 1.0, 1.2])
@pytest.mark.parametrize("eps", [0.05, 0.7, 4.0])
def test_polya_delta_by_enumeration_in_both_directions(shape, eps):
    pmf = noise(shape, eps, math.ceil(45 / eps) + 50)
    forward = np.sum(np.maximum(pmf[:-1] - math.exp(eps) * pmf[1:], 0))
    backward = np.sum(np.maximum(pmf[1:] - math.exp(eps) * pmf[:-1], 0))
    for direct in (forward, backward):
        assert negative_binomial_delta(shape, eps) == pytest.approx(direct, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("eps", [1e-6, 1e-3, 0.1, 1.0, 20.0, 39.0, 50.0, 900.0])
@pytest.mark.parametrize("shape", [0.0, 1e-9, 0.4, 0.5, 0.9, 0.999, 1 - 2.0**-40])
def test_polya_delta_agrees_with_50_digits(shape, eps):
    with mpmath.workdps(50 + int(eps)):  # P(0) cancels about eps / log(10) digits
        s, e = 1 - mpmath.mpf(shape), mpmath.mpf(eps)
        want = mpmath.expm1(e) / 2 * (mpmath.hyp2f1(s, 0.5, 1, mpmath.sech(e / 2) ** 2) - 1)
        if 0.1 <= eps <= 1 and shape > 0:  # the definition: probability of 0 as a sum
            x = mpmath.exp(-2 * e)
            zero = (1 - mpmath.exp(-e)) ** (2 * shape) * mpmath.hyp2f1(shape, shape, 1, x)
            definition = ((1 + mpmath.exp(e)) * zero - mpmath.expm1(e)) / 2
            assert abs(definition / want - 1) < 1e-25
    assert negative_binomial_delta(shape, eps) == pytest.approx(float(want), rel=2e-13, abs=0)


def test_polya_delta_falls_with_the_shape():
    values = [negative_binomial_delta(r, 0.2) for r in np.linspace(0, 1.2, 60)]
    assert all(b <= a for a, b in itertools.pairwise(values))
    assert values[0] == pytest.approx(1)
    assert values[-1] == 0


def test_unsafe_union_bound_still_meets_its_delta():
    assert expected_polya_delta(ADULT[0.05], 2270, 0.1) == pytest.approx(5e-8, abs=5e-9)
    assert expected_polya_delta(ADULT[0.05], 2270, 0.5) == pytest.approx(2e-7, abs=5e-8)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_best_polya_shape_is_the_largest(law):
    for eps, delta in ((0.1, 1e-3), (1.0, 1e-5), (5.0, 0.5)):
        n1 = best_polya_shape(law, eps, delta)
        window = law.window()

        def expected(users, eps=eps, window=window):
            return sum(
                p * negative_binomial_delta(n / users, eps)
                for n, p in enumerate(window.pmf, window.start + 1)
            )

        assert expected(n1) <= delta / 2 < expected(n1 + 1)
        assert n1 >= population_lower_bound(law, delta / 2, form="exact")


def test_best_polya_shape_of_the_paper():
    # The specification says about 905, where the expected delta is still 7.5 times too small.
    assert best_polya_shape(Poisson(1000), 0.1, D) == 923
    assert expected_polya_delta(Poisson(1000), 905, 0.1) == pytest.approx(6.710496e-7, rel=1e-6)
    with pytest.raises(Infeasible, match="not a law"):
        best_polya_shape(MomentBounded(10, 1), 0.1, D)


def test_scale_of_the_specification():
    assert multi_expected_scale(Poisson(1000), 0.1, D, 32, accounting="printed") == pytest.approx(
        50.2293, abs=5e-5
    )
    assert multi_expected_scale(ADULT[0.05], 0.5, D, 50, accounting="printed") == pytest.approx(
        10.10984, abs=5e-6
    )
    exact = multi_expected_scale(Poisson(1000), 0.1, D, 32, accounting="exact")
    assert exact == pytest.approx(32.913, abs=5e-4)


@pytest.mark.parametrize("accounting", ["printed", "exact"])
@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_scale_meets_delta_barely(law, accounting):
    for eps, delta in ((0.01, 1e-6), (1.0, 1e-3), (8.0, 0.1)):
        tau = multi_expected_scale(law, eps, delta, 3, accounting=accounting)
        assert 2 * multi_expected_delta(law, tau, eps, 3, accounting=accounting) <= delta
        assert 2 * multi_expected_delta(law, tau * (1 - 1e-9), eps, 3, accounting=accounting) > delta


def discrete_delta(n, tau, eps, precision):
    """Hockey stick of the sum of n discrete Gaussian variables and its shift, by enumeration."""
    reach = math.ceil(12 * tau) + 2
    single = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * tau**2))
    total = single = single / single.sum()
    for _ in range(n - 1):
        total = np.convolve(total, single)
    padded = np.concatenate((np.zeros(precision), total, np.zeros(precision)))
    return float(np.sum(np.maximum(padded[precision:] - math.exp(eps) * padded[:-precision], 0)))


@pytest.mark.parametrize(("n", "precision", "eps"), [(1, 1, 0.5), (3, 2, 0.2), (8, 3, 1.0)])
def test_scales_are_safe_for_the_true_discrete_sum(n, precision, eps):
    delta = 1e-4
    tau = multi_expected_scale(Fixed(n - 1), eps, delta, precision, accounting="printed")
    assert tau > 1
    assert discrete_delta(n, tau, eps, precision) <= delta / 2
    exact = multi_expected_scale(Fixed(n - 1), eps, delta, precision, accounting="exact")
    assert exact < tau
    assert discrete_delta(n, exact, eps, precision) == pytest.approx(delta / 2, rel=0.025)


def test_gap_of_discrete_gaussians():
    assert discrete_gaussian_gap(1, 0.5) == 0
    want = sum(math.exp(-2 * math.pi**2 * 0.25 * k / (k + 1)) for k in range(1, 7))
    np.testing.assert_allclose(discrete_gaussian_gap([7, 1], 0.5), [want, 0], rtol=1e-13)
    assert discrete_gaussian_gap(10**4, 2.0) < 1e-12
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        discrete_gaussian_gap([3, 0], 1.0)


def test_share_counts_of_the_specification():
    assert share_count(40, 10**4 * 2**32, 10**4, form="balle") == 12
    assert share_count(30.0, 2**20, 1, form="any_n") == 1
    assert security_bits(0.5, D / 2) == pytest.approx(math.log2((1 + math.exp(0.5)) / (D / 2)))


def test_share_counts_in_the_experiments():
    printed, every, likely = set(), set(), set()
    for law in PAPER:
        for eps in (0.001, 0.01, 0.1, 0.5):
            plan = multi_expected_plan(law, eps, D, accounting="printed")
            sigma, q = plan.security_bits, plan.group_order
            printed.add(plan.share_count)
            every.add(share_count(sigma, q, form="any_n"))
            n1 = population_lower_bound(law, D / 2, form="exact")
            likely.add(share_count(sigma, q, n1, form="any_n"))
    assert (min(printed), max(printed)) == (78, 122)
    assert (min(every), max(every)) == (33, 39)
    assert (min(likely), max(likely)) == (6, 10)


@pytest.mark.parametrize("sigma", [0.0, 7.5, 18.61, 40.0, 3000.25])
@pytest.mark.parametrize("q", [2, 1000, 2**32, 10**40])
def test_share_count_hash_bound_by_search(sigma, q):
    with mpmath.workdps(1000):
        for n in (2, 18):
            m = share_count(sigma, q, n, form="any_n")
            needed = 2 * q * (n - 1) ** 2 * mpmath.mpf(4) ** mpmath.mpf(sigma)
            assert math.comb(2 * m, m) >= needed
            assert m == 1 or math.comb(2 * m - 2, m - 1) < needed
    anyone = share_count(sigma, q, form="any_n")
    assert all(share_count(sigma, q, n, form="any_n") <= anyone for n in (1, 2, 3, 17, 18, 19, 20, 1000))
    assert share_count(sigma, q, form="printed") == max(
        8 + 5 * math.ceil(math.log(q)) + math.ceil(sigma),
        1 + math.ceil((4 * sigma + 2 * math.log2(q)) / 5),
    )


def test_few_shares_hide_two_inputs_with_the_same_total():
    q, m, n = 2, 4, 2  # all tables of shares: q^(n (m - 1)) of them
    counts = {}
    for inputs in ((0, 0), (1, 1)):
        tally = np.zeros(n * m + 1)
        one = [
            [sum(1 for x in range(2**m) if x.bit_count() == k and k % q == v) for k in range(m + 1)]
            for v in (0, 1)
        ]
        tally += np.convolve(one[inputs[0]], one[inputs[1]])
        counts[inputs] = tally / tally.sum()
    distance = 0.5 * np.abs(counts[0, 0] - counts[1, 1]).sum()
    assert distance <= math.sqrt(2 * q / math.comb(2 * m, m))


def test_group_order_collapses_in_print():
    plan = multi_expected_plan(ADULT[0.01], 0.001, D, order="printed", accounting="printed")
    assert (plan.precision, plan.group_order) == (23, 23)
    assert math.sqrt(plan.noise_variance(489)) == pytest.approx(1.1e5, rel=0.05)
    safe = multi_expected_plan(ADULT[0.01], 0.001, D, accounting="printed")
    assert safe.group_order > 12 * 1.1e5


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_printed_group_order_by_hand(law):
    window = law.window()
    n = window.support + 1
    for tau in (0.3, 2.0, 8.0, 1e3):
        x = next(x for x in range(1, 10**4) if np.sum((n**2 * window.pmf)[n >= x]) <= tau**2)
        assert group_order(law, 4, tau, form="printed") == 4 * x
    with pytest.raises(Infeasible):
        group_order(SubGaussian(10, 1), 4, 1.0, form="safe")


@pytest.mark.parametrize(("shape", "eps"), [(0.3, 1.0), (1.0, 0.1), (7.5, 0.2)])
def test_polya_noise_stays_within_its_reach(shape, eps):
    size = math.ceil(60 / eps) + 100
    pmf = noise(shape, eps, size)
    reach = polya_reach(shape, math.exp(-eps), 1e-6)
    outside = np.abs(np.arange(-size + 1, size)) > reach
    assert 1e-10 < pmf[outside].sum() <= 1e-6
    assert pmf @ np.arange(-size + 1, size) ** 2.0 == pytest.approx(
        2 * shape * math.exp(-eps) / (1 - math.exp(-eps)) ** 2
    )


def test_plans():
    law = ADULT[0.05]
    union = [multi_union_plan(law, 0.1, D, accounting=a) for a in ("printed", "corrected", "exact")]
    assert [plan.n1 for plan in union] == [2270, 2198, 2233]
    exact = multi_exact_plan(law, 0.1, D)
    assert exact.n1 > 2270
    assert exact.ratio == math.exp(-0.1)
    assert exact.shape == 1 / exact.n1
    assert exact.noise_variance(exact.n1) == pytest.approx(2 * exact.ratio / (1 - exact.ratio) ** 2)
    assert exact.share_count < union[0].share_count
    assert multi_expected_plan(law, 0.5, D, accounting="printed").precision == 50
    assert multi_union_plan(law, 0.1, D, precision=10, accounting="printed").ratio == math.exp(-0.01)
    assert (1 + math.exp(0.1)) * 2**-exact.security_bits == pytest.approx(D / 2)


def test_union_wastes_little_in_the_experiments():
    waste = [(law.mean + 1) / multi_union_plan(law, 0.1, D, accounting="printed").n1 for law in PAPER]
    assert (round(min(waste), 2), round(max(waste), 2)) == (1.02, 1.24)


@pytest.mark.parametrize(
    ("eps", "union", "expected"),
    [(0.001, 0.858, 3.232), (0.01, 0.0856, 0.3232), (0.1, 0.00853, 0.0324), (0.5, 0.00165, 0.00653)],
)
def test_expected_errors_of_the_specification(eps, union, expected):
    law = ADULT[0.05]
    n = law.window().support + 1.0
    factor = 2 * math.sqrt(2 / math.pi)
    plan = multi_expected_plan(law, eps, D, accounting="printed")
    deviations = np.sqrt(plan.noise_variance(n)) / (plan.precision * n)
    assert factor * (law.window().pmf @ deviations) == pytest.approx(expected, rel=2e-3)
    # The noise of MULTI-UNION is not normal: E|Z| of the law itself at the mean number of users.
    plan = multi_union_plan(law, eps, D, accounting="printed")
    users = law.mean + 1
    size = math.ceil(45 / eps)
    if size <= 5000:
        mean_error = noise(users / plan.n1, eps, size) @ np.abs(np.arange(-size + 1, size))
        assert 2 * mean_error / users == pytest.approx(union, rel=2e-2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: population_lower_bound(Fixed(3), 1.0, form="printed"),
            r"delta must be in \(0, 1\), got 1.0",
        ),
        (lambda: population_lower_bound(Fixed(3), 0.1, form="best"), "form must be one of printed"),
        (lambda: negative_binomial_delta(-1, 0.1), "shape must be a finite number >= 0, got -1"),
        (lambda: negative_binomial_delta(0.5, 0), "eps must be a positive finite number, got 0"),
        (lambda: share_count(20, 1, form="printed"), "group_order must be an integer >= 2, got 1"),
        (lambda: share_count(20, 100, 18, form="balle"), "n must be at least 19 for form 'balle', got 18"),
        (lambda: share_count(20, 100, 0, form="printed"), r"n must be an integer in \[1, 2\^53\], got 0"),
        (lambda: group_order(Fixed(3), 0, 1.0, form="printed"), "precision must be an integer in"),
        (
            lambda: multi_expected_scale(Poisson(3), 0.1, D, 2, accounting="corrected"),
            "accounting must be one",
        ),
        (lambda: security_bits(0.1, 0), "delta must be in"),
    ],
)
def test_errors_name_value_and_range(call, message):
    with pytest.raises(ValueError, match=message):
        call()
