"""Two counts that the victim moves between: comparison with exact fractions, and the smallest sufficient noise."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest

from shuffledp.accounting.general.count_pairs import (
    MovingCount,
    added_message,
    pair_delta,
    settled_count_delta,
    single_delta,
    worst_pair_delta,
)
from shuffledp.accounting.general.profiles import Profile
from shuffledp.numerics.windows import Window, binomial_window, poisson_window

FACTORS = (1, Fraction(3, 2), 4)


def _fraction_law(size: int, salt: int) -> list[Fraction]:
    weights = [Fraction((7 * i * i + 3 * salt * i + salt) % 11 + 1) for i in range(size)]
    weights[(salt * 2) % size] = Fraction(0)  # some outcomes are impossible under one of the laws
    return [w / sum(weights) for w in weights]


def _count(size: int, salt: int) -> tuple[list[Fraction], list[Fraction], MovingCount]:
    held, absent = _fraction_law(size, salt), _fraction_law(size, salt + 4)
    return held, absent, MovingCount(np.array(held, float), np.array(absent, float))


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("salts", [(1, 1), (1, 2), (5, 3)])
def test_pair_equals_the_double_sum_of_fractions(factor: Fraction | int, salts: tuple[int, int]) -> None:
    held, absent, first = _count(6, salts[0])
    other_held, other_absent, second = _count(5, salts[1])

    def brute(
        one: tuple[list[Fraction], list[Fraction]], two: tuple[list[Fraction], list[Fraction]]
    ) -> float:
        pairs = product(range(len(one[0])), range(len(two[0])))
        return float(
            sum(max(one[0][a] * two[1][b] - factor * one[1][a] * two[0][b], Fraction(0)) for a, b in pairs)
        )

    eps = math.log(factor)
    there = brute((held, absent), (other_held, other_absent))
    back = brute((other_held, other_absent), (held, absent))
    assert pair_delta(first, second, eps) == pytest.approx(there, rel=1e-12, abs=1e-16)
    assert worst_pair_delta(first, second, eps) == pytest.approx(max(there, back), rel=1e-12, abs=1e-16)
    single = max(
        sum(max(h - factor * a, Fraction(0)) for h, a in zip(held, absent, strict=True)),
        sum(max(a - factor * h, Fraction(0)) for h, a in zip(held, absent, strict=True)),
    )
    assert single_delta(first, eps) == pytest.approx(float(single), rel=1e-12, abs=1e-16)


def test_omitted_mass_counts_as_lost() -> None:
    noise = binomial_window(40, 0.5, 1e-30)
    kept = pair_delta(added_message(noise), added_message(noise), 0.7)
    cut = Window(noise.start, noise.pmf, 1e-6)
    assert pair_delta(added_message(cut), added_message(cut), 0.7) == pytest.approx(kept + 2e-6, rel=1e-12)
    assert single_delta(added_message(cut), 0.7) == pytest.approx(
        single_delta(added_message(noise), 0.7) + 1e-6, rel=1e-12
    )


def test_profile_answers_arrays_and_both_relations() -> None:
    def count(tail: float) -> MovingCount:
        return added_message(poisson_window(20.0, tail))

    pair = Profile(partial(settled_count_delta, count), "a test")
    single = Profile(partial(settled_count_delta, count, neighbours="add_remove"), "a test")
    eps = np.array([[0.0, 0.5], [1.0, 800.0]])
    assert pair.delta(eps).shape == eps.shape
    assert np.all(single.delta(eps) <= pair.delta(eps) * (1 + 1e-12))
    assert pair.delta(np.array(0.5)) == pytest.approx(settled_count_delta(count, 0.5), rel=0)
    # Poisson noise of mean m that is 0 shows that the victim is not there.
    assert single.delta(np.array(800.0)) == pytest.approx(math.exp(-20), rel=1e-12)
    with pytest.raises(ValueError, match="neighbours"):
        settled_count_delta(count, 0.5, "other")
