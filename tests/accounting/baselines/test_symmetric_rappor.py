"""Symmetric RAPPOR: the printed table of a deployment, and enumeration."""

import itertools
import math

import numpy as np
import pytest

from shuffledp.accounting import (
    FiniteRandomizer,
    Infeasible,
    SymmetricRAPPOR,
    blanket_epsilon,
    blanket_randomizer_delta,
    rappor_delta,
)
from shuffledp.accounting.general.blanket import population_excess
from shuffledp.populations import Poisson


def table(k, eps_bit):
    p = 1 / (1 + math.exp(eps_bit))
    vectors = list(itertools.product((0, 1), repeat=k))
    return vectors, np.array(
        [
            [math.prod(1 - p if bit == (i == x) else p for i, bit in enumerate(v)) for v in vectors]
            for x in range(k)
        ]
    )


@pytest.mark.parametrize("k, users, eps", [(2, 3, 0.4), (3, 3, 0.4), (3, 2, 1.0)])
def test_bounds_enclose_all_sums(k, users, eps):
    randomizer = SymmetricRAPPOR(1.0, k)
    vectors, rows = table(k, 1.0)

    def sums(inputs):
        law: dict[tuple[int, ...], float] = {}
        for reports in itertools.product(range(len(vectors)), repeat=len(inputs)):
            key = tuple(sum(vectors[r][i] for r in reports) for i in range(k))
            law[key] = law.get(key, 0.0) + math.prod(rows[x, r] for x, r in zip(inputs, reports, strict=True))
        return law

    worst = 0.0
    for others in itertools.combinations_with_replacement(range(k), users - 1):
        for a, b in itertools.permutations(range(k), 2):
            p, q = sums((a, *others)), sums((b, *others))
            worst = max(worst, sum(max(p[s] - math.exp(eps) * q[s], 0.0) for s in p))
    low, high = (blanket_randomizer_delta(randomizer, users, eps, side) for side in ("lower", "upper"))
    assert low <= worst * (1 + 1e-6)
    assert worst * (1 - 1e-6) <= high


@pytest.mark.parametrize("k", [2, 3])
def test_whole_vectors_are_their_table(k):
    _, rows = table(k, 1.2)
    for side in ("upper", "lower"):
        own = blanket_randomizer_delta(SymmetricRAPPOR(1.2, k, "reports"), 20, 0.4, side)
        assert own == pytest.approx(blanket_randomizer_delta(FiniteRandomizer(rows), 20, 0.4, side), rel=1e-5)


def test_random_population_is_cut_into_groups():
    """For a random number of users, eps lies between the eps of 1,001 users and 1.2 times that eps."""
    randomizer, law, delta = SymmetricRAPPOR(2.0, 10), Poisson(1_000.0), 1e-6
    fixed = blanket_epsilon(randomizer, 1_001, delta)
    excess = [population_excess(randomizer, law, factor * fixed, delta, 1e-2) for factor in (1.0, 1.2)]
    assert excess[0] > 0 > excess[1]


@pytest.mark.parametrize("target", [None, 1e-6])
def test_revealed_bits_bound_is_better(target):
    """The bound by revealed bits is the better one where bits are nearly fair."""
    randomizer = SymmetricRAPPOR(0.0005, 10)
    eps, p = 2.928e-5, randomizer.flip_probability
    bound = randomizer.own_delta(999, eps, "upper", target)
    sound = rappor_delta(1000, p, eps, calibration="sound")
    assert bound <= sound + 1e-8 * (target or 0)
    assert sound < rappor_delta(1000, p, eps, calibration="proven")
    assert randomizer.own_delta(999, eps, "lower", target) < bound


@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("target", [None, 1e-6])
def test_laws_beyond_memory_are_refused(side, target):
    with pytest.raises(Infeasible, match=r"The law of 2.69e\+12 expected flips of a bit is too wide"):
        SymmetricRAPPOR(1.0, 10).own_delta(10**13, 0.01, side, target)
