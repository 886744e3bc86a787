"""Sums over few matching reports, against enumeration of histograms and contours."""

from itertools import product

import pytest

from enumerated_reports import histogram, responses, stick
from shuffledp.accounting.general.blanket import compared_delta
from shuffledp.accounting.general.randomizers import GRR, BinaryRandomizedResponse, SubsetSelection
from shuffledp.accounting.general.sparse_grr import data_set_deltas, few_matches, tabulated_delta
from shuffledp.populations import Fixed, Poisson


@pytest.mark.parametrize("k, users, eps_local", [(2, 5, 1.0), (3, 4, 2.0), (4, 4, 0.5), (5, 3, 6.0)])
def test_data_set_deltas_equal_enumeration(k, users, eps_local):
    table = responses(k, eps_local)
    held = ([2] if k > 2 else []) + [0, 1]
    found = data_set_deltas(k, users, eps_local, 1e-6)
    for share, (of, x) in product((0.02, 0.3, 0.9), zip(found, held, strict=True)):
        eps = share * eps_local
        exact = stick(*(histogram([table[own], *[table[x]] * (users - 1)]) for own in (0, 1)), eps)
        assert exact * (1 - 1e-8) - 1e-17 <= of(eps) <= exact * (1 + 1e-14)


@pytest.mark.parametrize(
    "k, users, eps_local",
    [(10, 10**9, 18.1), (2, 10**9, 18.1), (1000, 10**9, 19.2), (10**6, 10**5, 8.4)],
)
def test_sums_lie_between_contour_sides(k, users, eps_local):
    randomizer, law = GRR(eps_local, k), Fixed(users - 1)
    assert few_matches(randomizer, law, 1e-6) == k
    found = data_set_deltas(k, users, eps_local, 1e-15)
    for eps in (0.02 * eps_local, 0.2 * eps_local):
        for of, comparison in zip(found, randomizer.comparisons("lower", 1e-9), strict=True):
            low, high = (compared_delta(comparison, law, eps, side, 1e-4) for side in ("lower", "upper"))
            assert low * (1 - 1e-3) - 1e-15 <= of(eps) <= high
        [blanket] = randomizer.comparisons("upper", 1e-9)
        low, high = (compared_delta(blanket, law, eps, side, 1e-4) for side in ("lower", "upper"))
        assert low <= tabulated_delta(k, users - 1, eps, eps_local, 1e-15) <= high + 1e-15


def test_sums_need_response_with_few_matches():
    assert few_matches(BinaryRandomizedResponse(8.0), Fixed(100), 1e-6) == 2
    assert few_matches(SubsetSelection(8.0, 10, 1), Fixed(100), 1e-6) == 10
    assert few_matches(SubsetSelection(8.0, 10, 2), Fixed(100), 1e-6) is None
    assert few_matches(GRR(8.0, 10), Poisson(100.0), 1e-6) is None
    assert few_matches(GRR(1.0, 2), Fixed(10**6), 1e-6) is None
    assert few_matches(GRR(18.0, 1000), Fixed(10**9), 1e-15) is None
