"""Bounds by exponential moments, against enumeration and the law of all losses; designs for many levels."""

import math
from dataclasses import replace

import pytest

from enumerated_sums import design_of, enumerated
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.design_files import shipped_design
from shuffledp.accounting.summation.moment_bounds import moment_delta
from shuffledp.accounting.summation.wide_designs import wide_design


@pytest.mark.parametrize(
    "design, eps, lost",
    [
        (design_of(2, 1.0, {1: (9.0, 0.6), 2: (9.0, 0.5)}, delta=0.01), 1.5, 1e-9),
        (design_of(2, 1.0, {1: (9.0, 0.6), 2: (9.0, 0.5)}, delta=0.01), 4.0, 1e-9),
        (design_of(2, 1.5, {1: (15.0, 0.5), 2: (12.0, 0.4)}, eps=2.0, delta=1e-3), 3.0, 1e-9),
        (
            design_of(
                3, 3.0, {1: (12.0, 0.4), 2: (8.0, 0.25), 3: (8.0, 0.25)}, atoms="star", eps=3.0, delta=0.03
            ),
            5.0,
            1e-6,
        ),
    ],
)
def test_bound_holds_against_enumeration(design, eps, lost):
    want = max(enumerated(design, eps, lost).values()) - 2 * (len(design.indices) + 2) * lost * math.exp(eps)
    assert want > 1e-3
    assert want <= moment_delta(design, eps) < min(0.7, 12 * want)


def test_every_pair_counts():
    """One number of many has less noise, and no pair with this number is among the pairs compared first."""
    design = wide_design(70, 1.0, 1e-6, 0.9)
    weak = design.indices.index(45)
    ratios = [p if i != weak else p / 2 for i, p in enumerate(design.ratios)]
    assert moment_delta(replace(design, ratios=tuple(ratios)), 1.0) > 1e-4


@pytest.mark.parametrize(
    "size, eps, delta",
    [
        *(
            (1, 4.0, 1e-12),
            (7, 0.1, 1e-12),
            (30, 2.0, 1e-4),
        ),
        (200, 1.0, 1e-12),
    ],
)
def test_wide_design_meets_its_budget(size, eps, delta):
    design = wide_design(size, eps, delta, 0.9 * eps)
    assert 0.05 * delta < moment_delta(design, eps) <= delta
    assert design.max_value == size and design.eps_star == 0.9 * eps
    if size < 1000:
        assert moment_delta(design, 0.97 * eps) > moment_delta(design, eps) > moment_delta(design, 1.03 * eps)


def test_designs_without_moment_bound_are_refused():
    for design in (
        design_of(1, 0.5, {1: (0.9, 0.5)}),
        replace(shipped_design(1, 1.0, 1e-6, 0.9, law="jumps").design),
        replace(design_of(1, 0.5, {1: (2.0, 0.5)}), indices=(1, 1), shapes=(2.0, 2.0), ratios=(0.5, 0.5)),
    ):
        with pytest.raises(Infeasible, match="Moments bound one negative binomial noise per atom"):
            moment_delta(design, 1.0)
    with pytest.raises(Infeasible, match="must be below eps"):
        wide_design(30, 1.0, 1e-6, 1.0)
