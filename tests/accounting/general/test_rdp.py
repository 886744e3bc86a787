import warnings

import numpy as np
import pytest

from shuffledp.accounting.general.rdp import (
    LastOrderWarning,
    best_epsilon,
    compose_rdp,
    rdp_to_epsilon,
)
from shuffledp.accounting.shuffle_gaussian.all_users import (
    shuffle_gaussian_rdp,
)

N = 60_000
TO_30 = np.arange(2, 31)


# Conversion and composition


def test_composition_adds_per_order():
    rdps = np.array([[1.0, 2.0], [0.5, 3.0]])
    assert compose_rdp(rdps, [3, 2]).tolist() == [4.0, 12.0]
    for wrong, message in ((rdps[:1], r"\(m, k\)"), (-rdps, "rdps must be >= 0")):
        with pytest.raises(ValueError, match=message):
            compose_rdp(wrong, [3, 2])


def test_the_last_order_is_reported():
    rdp = shuffle_gaussian_rdp(TO_30, N, 9.48)
    with pytest.warns(LastOrderWarning, match=r"last one, 30; .* 0\.2282"):
        eps, order = rdp_to_epsilon(TO_30, rdp, 1 / N)
    assert (eps, order) == best_epsilon(TO_30, rdp, 1 / N)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rdp_to_epsilon([2, 3, 30], [0.0, 0.0, 0.0], 0.99)  # no order could do better than 0
        rdp_to_epsilon(TO_30, shuffle_gaussian_rdp(TO_30, N, 1.0), 1e-5)


# How many orders: section 2.4, and both tables of the paper's own row
