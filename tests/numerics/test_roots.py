import math

import pytest

from shuffledp.numerics import root_below, walk_to_minimum


@pytest.mark.parametrize("guess", [-30.0, 0.0, 1.9, 2.1, 40.0])
@pytest.mark.parametrize("upper", [50.0, math.inf])
def test_root_is_found_from_below(guess, upper):
    root = root_below(lambda x: math.expm1(x - 2), guess, -40.0, upper, xtol=1e-12)
    assert 2 - 2e-12 <= root <= 2


def test_infinite_values_and_jumps_are_bracketed():
    def step(x):
        return -math.inf if x < 1 else math.inf

    root = root_below(step, 0.3, 0.0, 10.0, xtol=1e-9)
    assert 1 - 1e-9 <= root < 1


def test_flat_negative_part_and_infinite_ends():
    root = root_below(lambda x: -1.0 if x < -5 else x + 5.5, 3.0, -math.inf, math.inf, xtol=1e-10)
    assert -5 - 1e-9 < root <= -5


@pytest.mark.parametrize("start", [-3.0, 0.2, 4.0])
def test_flat_minimum_needs_few_evaluations(start):
    found = {}

    def function(x):
        found.setdefault(x, 1 + (x - 1.13) ** 2 if x < 5 else math.inf)
        return found[x]

    walk_to_minimum(function, start, -4.0, 6.0, step=0.5, gain=1e-3)
    assert min(found, key=found.get) == pytest.approx(1.13)
    assert len(found) <= 14


def test_a_walk_ends_at_its_ends():
    found = {}

    def function(x):
        found[x] = math.exp(x)
        return found[x]

    walk_to_minimum(function, 1.0, 0.0, 2.0, step=0.5, gain=1e-3)
    assert min(found) == -0.5
