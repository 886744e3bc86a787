"""Random allocation: enumeration, recorded numbers, and other bounds, which must not be smaller."""

import numpy as np
import pytest

from enumerated_reports import both_sides
from shuffledp.accounting import (
    AllocationProfile,
    allocation_delta,
    allocation_epsilon,
)
from shuffledp.accounting.general.blanket import compared_delta
from shuffledp.accounting.training import random_allocation
from shuffledp.populations import Fixed


@pytest.mark.parametrize("steps, eps_local, delta", [(10, 12.0, 1e-4), (60, 12.0, 1e-15), (400, 2.0, 1e-9)])
def test_pure_steps_near_a_kink(steps, eps_local, delta):
    """If hardly any number of steps counts, delta falls to zero within 1e-4 of eps."""
    removed = {"eps_local": eps_local, "direction": "remove"}
    low, high = (allocation_epsilon(delta, steps, **removed, bound=b) for b in ("lower", "upper"))
    assert low <= high <= low * (1 + 5e-6)
    found = [allocation_delta(high, steps, **removed, bound=b) for b in ("lower", "upper")]
    assert found[0] <= found[1] <= found[0] * (1 + 2e-8)


def test_sums_and_contours_agree():
    for way in ("remove", "add"):
        for steps, eps_local, eps in ((10**6, 1.0, 0.005), (10**4, 6.0, 1.0), (50, 250.0, 240.0)):
            low, high = both_sides(random_allocation._summed, eps_local, steps, eps, way)
            pair = random_allocation._pure(eps_local, way)
            below, above = both_sides(compared_delta, pair, Fixed(steps - 1), eps)
            assert below <= high
            assert low <= above


def test_two_steps_cost_at_least_one():
    for sigma, steps in ((3.0, 400), (0.8, 40)):
        one = AllocationProfile(steps // 2, sigma=sigma)
        two = AllocationProfile(steps, sigma=sigma, participations=2)
        for eps in (0.05, 0.2):
            assert one.delta(eps) <= two.delta(eps) <= 1


@pytest.mark.parametrize(
    "options, message",
    [
        ({"participations": 1}, "Give either eps_local or sigma"),
        ({"eps_local": 1.0, "sigma": 1.0}, "Give either eps_local or sigma"),
        ({"sigma": 0.01}, r"sigma must be in \[0.1, 1e6\]"),
        ({"eps_local": 301.0}, "eps_local must be at most 300"),
        ({"sigma": 1.0, "participations": 11}, r"participations must be in \[1, 10\], got 11"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        AllocationProfile(10, **options)
    with pytest.raises(ValueError, match="Give either eps_local or sigma"):
        allocation_delta(0.5, 10)


@pytest.mark.parametrize(
    "sigma, steps, last", [(1.0, 200, 1.2), (0.3, 200, 12.0), (0.6, 2000, 4.0), (3.0, 400, 0.08)]
)
def test_close_eps_share_an_upper_law(sigma, steps, last):
    eps = np.linspace(0.0, last, 13)
    found = random_allocation.allocation_deltas_within(eps, steps, ("gaussian", sigma), 1e-9)
    for one, delta in zip(eps, found, strict=True):
        assert delta >= allocation_delta(float(one), steps, sigma=sigma, bound="lower")
        assert delta <= allocation_delta(float(one), steps, sigma=sigma) * 1.02
