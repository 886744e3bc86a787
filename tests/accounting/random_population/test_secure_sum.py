import math

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


@pytest.mark.parametrize(("sigma", "order"), [(0.0, 2), (3.5, 11), (40.0, 2**32), (61.0, 10**9)])
def test_the_fewest_shares_by_search(sigma, order):
    for n in (2, 18):
        shares = share_count(sigma, order, n)
        needed = 2 * order * (n - 1) ** 2 * 2 ** int(2 * sigma)
        assert math.comb(2 * shares, shares) >= needed
        assert shares == 1 or math.comb(2 * shares - 2, shares - 1) < needed
    for n in (19, 2**20):
        shares = (2 * sigma + math.log2(order)) / math.log2(n / math.e) + 1
        assert (
            share_count(sigma, order, n)
            == share_count(sigma, order, n, form="balle")
            == max(3, math.ceil(shares))
        )
    assert share_count(sigma, order) == max(share_count(sigma, order, n) for n in (18, 19))
    assert share_count(sigma, order, 1) == 1
    assert share_count(sigma, order, form="printed") == 8 + 5 * math.ceil(math.log(order)) + math.ceil(sigma)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_printed_group_order_by_hand(law):
    window = law.window()
    n = window.support + 1
    for tau in (0.3, 2.0, 8.0, 1e3):
        x = next(x for x in range(1, 10**4) if np.sum((n**2 * window.pmf)[n >= x]) <= tau**2)
        assert group_order(law, 4, tau, form="printed") == 4 * x
    with pytest.raises(Infeasible):
        group_order(SubGaussian(10, 1), 4, 1.0, form="safe")
