"""Designs of correlated noise: deltas of shifts, splits of delta, closed forms and counts of messages."""

import math

import pytest

from enumerated_sums import design_of
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation import shift_noise
from shuffledp.accounting.summation.closed_designs import best_modular_design, modular_design
from shuffledp.accounting.summation.design_search import family_design
from shuffledp.accounting.summation.joint_noise import (
    correlated_noise_delta,
)
from shuffledp.accounting.summation.noise_atoms import used_atoms
from shuffledp.accounting.summation.shift_noise import negative_binomial_shift_delta


@pytest.mark.parametrize("level", [-3.0, 1e-4, 1.0])
@pytest.mark.parametrize("p", [0.01, 0.5, 0.9999])
@pytest.mark.parametrize("shape", [1.0, 1.001, 150.0])
@pytest.mark.parametrize("shift", [1, 2, 50])
def test_likelihood_ratio_crossing_is_found(shape, p, shift, level):
    base = shift * math.log(p)
    if level <= base:  # the ratio never falls so far
        return
    y = shift
    step = 1 << 40
    if base + shift_noise._log_rising(y, shape, shift) <= level:
        assert shift_noise._last_above(shape, base, shift, level) == shift - 1
        return
    while step:
        if base + shift_noise._log_rising(y + step, shape, shift) > level:
            y += step
        step //= 2
    assert shift_noise._last_above(shape, base, shift, level) == y


def test_unfalling_likelihood_ratio_is_infeasible():
    with pytest.raises(Infeasible, match=r"beyond 2\^60"):
        shift_noise._last_above(150.0, math.log1p(-1e-16), 1, 1e-18)


@pytest.mark.parametrize("size, step", [(1, 0.4), (4, 0.2), (4, 0.1), (9, 0.05)])
def test_best_split_is_best_of_all(size, step):
    places = range(1, math.ceil(1 / step))
    every = [modular_design(size, 1.0, 1e-6, 0.9, split=i / math.ceil(1 / step)) for i in places]
    best = min(range(len(every)), key=lambda i: every[i].messages)
    found, split = best_modular_design(size, 1.0, 1e-6, 0.9, step=step)
    assert found == every[best]
    assert split == (best + 1) / math.ceil(1 / step)


@pytest.mark.parametrize("atoms", ["star", "hub"])
def test_modular_designs_hold_their_budget(atoms):
    hubs = (3,) if atoms == "hub" else None
    design = modular_design(5, 1.0, 1e-6, 0.9, split=0.2, atoms=atoms, hubs=hubs)
    assert correlated_noise_delta(design, 1.0, bound="estimate") <= 1e-6
    assert set(design.indices) <= set(used_atoms(5, atoms=atoms, hubs=hubs))


def test_symbols_are_of_all_atoms():
    assert design_of(3, 0.9, {1: (2.0, 0.5), 2: (1.0, 0.75), 3: (4.0, 0.2)}, atoms="star").symbols == 4
    assert family_design(5, 1.0, 1e-6, 0.9, atoms="halving").symbols == 5 + 3


def test_no_shift_needs_no_noise():
    assert negative_binomial_shift_delta(1.0, 0.5, 0, 0.0) == 0.0
