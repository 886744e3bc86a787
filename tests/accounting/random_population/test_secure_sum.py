import math

import numpy as np
import pytest

from shuffledp.accounting import (
    Infeasible,
    group_order,
)
from shuffledp.populations import (
    Binomial,
    Empirical,
    Fixed,
    Poisson,
    SubGaussian,
)

LAWS = [Fixed(20), Binomial(60, 0.3), Poisson(30), Empirical((0.2, 0.3, 0.5), 4)]


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
