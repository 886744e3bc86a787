import math

import mpmath
import numpy as np
import pytest

from shuffledp.accounting import (
    Infeasible,
    group_order,
    share_count,
)
from shuffledp.populations import (
    Binomial,
    Empirical,
    Fixed,
    Poisson,
    SubGaussian,
)

LAWS = [Fixed(20), Binomial(60, 0.3), Poisson(30), Empirical((0.2, 0.3, 0.5), 4)]


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


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_printed_group_order_by_hand(law):
    window = law.window()
    n = window.support + 1
    for tau in (0.3, 2.0, 8.0, 1e3):
        x = next(x for x in range(1, 10**4) if np.sum((n**2 * window.pmf)[n >= x]) <= tau**2)
        assert group_order(law, 4, tau, form="printed") == 4 * x
    with pytest.raises(Infeasible):
        group_order(SubGaussian(10, 1), 4, 1.0, form="safe")
