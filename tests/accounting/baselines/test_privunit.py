"""PrivUnit under the blanket: reference errors, and the pair of opposite caps by enumeration of two-level densities."""

from __future__ import annotations

import math
from itertools import product

import pytest

from shuffledp.accounting.baselines.privunit import (
    CAP_MASSES,
    best_cap,
    cap_probability,
    privunit_local_budget,
)
from shuffledp.accounting.expected_errors.unit_vectors import unit_vector_error
from shuffledp.accounting.general.dummy_blanket import blanket_rate
from shuffledp.accounting.general.grr_blanket import favored_blanket_delta, grr_blanket_delta


@pytest.mark.parametrize(
    ("d", "c", "p", "error", "half", "central"),
    [
        (3, 0.02, 0.97149, 1.0458e-6, 3.01e-5, 33),
        (10, 0.01, 0.94572, 1.0056e-5, 1.40e-4, 96),
        (100, 0.004, 0.88285, 1.4094e-4, 1.56e-3, 135),
        (1000, 0.004, 0.88285, 1.4586e-3, 1.57e-2, 140),
    ],
)
def test_reference_errors(d, c, p, error, half, central):
    n = 10**5
    cap, eps_local = best_cap(n, d, 1.0, 1e-8)
    assert cap == c
    assert cap_probability(cap, eps_local) == pytest.approx(p, abs=5e-6)
    found = unit_vector_error(n, d, cap, cap_probability(cap, eps_local))
    assert found == pytest.approx(error, rel=1e-4)
    widest = privunit_local_budget(n, 0.5, 1.0, 1e-8)
    assert unit_vector_error(n, d, 0.5, cap_probability(0.5, widest)) == pytest.approx(half, rel=4e-3)
    assert found / (1.04e-8 * d) == pytest.approx(central, rel=0.02)


@pytest.mark.parametrize(("n", "eps", "delta"), [(10**4, 3.0, 1e-8), (50, 0.5, 1e-3), (10**5, 1.0, 1e-6)])
def test_no_other_cap_has_less_error(n, eps, delta):
    def error(c, eps_local):
        return unit_vector_error(n, 100, c, cap_probability(c, eps_local))

    least = min(error(c, privunit_local_budget(n, c, eps, delta)) for c in CAP_MASSES)
    assert error(*best_cap(n, 100, eps, delta)) == pytest.approx(least, rel=1e-9)


def two_level_delta(eps, n, c, eps_local, overlap):
    """Delta of two directions whose caps share a mass, the others told which of them are uniform.

    Every message falls into one of four regions: both caps, the first, the second, neither.
    """
    rate = blanket_rate(1 / c, eps_local)
    masses = (overlap, c - overlap, c - overlap, 1 - 2 * c + overlap)
    first, second = (1, 1, 0, 0), (1, 0, 1, 0)
    total = 0.0
    for uniform in range(n):
        chance = math.comb(n - 1, uniform) * rate**uniform * (1 - rate) ** (n - 1 - uniform)
        for regions in product(range(4), repeat=uniform + 1):
            mass = math.prod(masses[r] for r in regions)
            # The victim's message is any one of them.
            p, q = (
                mass * sum(rate + (1 - rate) * cap[r] / c for r in regions) / (uniform + 1)
                for cap in (first, second)
            )
            total += chance * max(p - math.exp(eps) * q, 0.0)
    return total


@pytest.mark.parametrize(
    ("n", "c", "eps_local", "eps"), [(3, 0.3, 2.0, 0.5), (5, 0.11, 3.0, 0.8), (4, 0.5, 1.5, 0.3)]
)
def test_opposite_directions_are_the_pair_of_a_real_number_of_values(n, c, eps_local, eps):
    found = favored_blanket_delta(eps, n, 1 / c, eps_local)
    assert found == pytest.approx(two_level_delta(eps, n, c, eps_local, 0.0), rel=1e-11)
    for part in (0.25, 0.9):
        assert two_level_delta(eps, n, c, eps_local, part * c) < found


def test_a_whole_number_of_values_is_randomized_response():
    assert favored_blanket_delta(0.4, 200, 5, 2.5) == grr_blanket_delta(0.4, 200, 5, 2.5)
    assert favored_blanket_delta(0.4, 200, 5 + 1e-9, 2.5) == pytest.approx(
        grr_blanket_delta(0.4, 200, 5, 2.5), rel=1e-7
    )
