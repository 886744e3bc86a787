"""PrivUnit: caps against quadrature, reference errors, and opposite caps by enumeration of two-level densities."""

import math
from itertools import product

import pytest
from scipy.integrate import quad

from shuffledp.accounting.general.dummy_blanket import blanket_rate
from shuffledp.accounting.general.grr_blanket import (
    favored_blanket_delta,
)
from shuffledp.protocols.vectors.privunit import CapReport


def two_level_delta(eps, n, c, eps_local, overlap):
    """Return delta of two directions whose caps share a mass, if the uniform reports of others are known.

    Every message is in one of four regions: both caps, the first cap, the second cap, or neither.
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
    "n, c, eps_local, eps", [(3, 0.3, 2.0, 0.5), (5, 0.11, 3.0, 0.8), (4, 0.5, 1.5, 0.3)]
)
def test_opposite_directions_are_the_pair(n, c, eps_local, eps):
    found = favored_blanket_delta(eps, n, 1 / c, eps_local)
    assert found == pytest.approx(two_level_delta(eps, n, c, eps_local, 0.0), rel=1e-11)
    for part in (0.25, 0.9):
        assert two_level_delta(eps, n, c, eps_local, part * c) < found


def moments(d, c, p):
    """Return mean and mean square of the inner product, from its density ``(1 - t^2)^((d - 3) / 2)``."""
    gamma = CapReport(d, c, p).height

    def integral(power, low, high):
        # t = sin(angle), as the density is infinite at the ends for d = 2.
        found = quad(
            lambda a: math.sin(a) ** power * math.cos(a) ** (d - 2), math.asin(low), math.asin(high), epsabs=0
        )
        return found[0]

    whole = integral(0, -1, 1)
    assert integral(0, gamma, 1) / whole == pytest.approx(c, rel=1e-10)
    return tuple(
        (p / c * integral(k, gamma, 1) + (1 - p) / (1 - c) * integral(k, -1, gamma)) / whole for k in (1, 2)
    )


@pytest.mark.parametrize("d, c, p", [(5, 0.1, 0.7), (2, 0.3, 0.9), (3, 0.5, 0.8), (40, 0.01, 0.5)])
def test_moments_of_a_report(d, c, p):
    mean, square = moments(d, c, p)
    assert CapReport(d, c, p).mean == pytest.approx(mean, rel=1e-10)
    assert CapReport(d, c, p).square == pytest.approx(square, rel=1e-10)
    assert CapReport(d, c, p).error(7) == pytest.approx((mean**-2 - 1) / 7, rel=1e-9)
