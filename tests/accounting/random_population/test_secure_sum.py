import math

import mpmath
import numpy as np
import pytest

from shuffledp.accounting import (
    Infeasible,
    group_order,
    multi_expected_plan,
    population_lower_bound,
    security_bits,
    share_count,
)
from shuffledp.populations import (
    Binomial,
    Empirical,
    Fixed,
    Poisson,
    SubGaussian,
)

D = 1e-5
ADULT = {a: Binomial(48841, a) for a in (0.01, 0.05, 0.1, 0.2, 0.4, 0.5)}
PAPER = [*ADULT.values(), *(Poisson(x) for x in (1000, 5000, 25000, 125000))]
LAWS = [Fixed(20), Binomial(60, 0.3), Poisson(30), Empirical((0.2, 0.3, 0.5), 4)]


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
