import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import (
    CountPair,
    amplified_epsilon,
    clone_delta,
    clone_rate,
    hockey_stick,
)
from shuffledp.populations import Binomial, Empirical, Fixed


def enumerated_pair(clones: dict[int, float], eps_local: float) -> CountPair:
    """Return the joint laws P and Q, outcome by outcome, by their definition."""
    truth = 1 / (1 + math.exp(-eps_local))
    p: dict[tuple[int, int], float] = {}
    q: dict[tuple[int, int], float] = {}
    for c, weight in clones.items():
        for a, (b, coin) in itertools.product(range(c + 1), ((1, truth), (0, 1 - truth))):
            mass = weight * math.comb(c, a) / 2**c * coin
            for law, outcome in ((p, (a + b, c - a + 1 - b)), (q, (a + 1 - b, c - a + b))):
                law[outcome] = law.get(outcome, 0.0) + mass
    outcomes = sorted(set(p) | set(q))
    with np.errstate(divide="ignore"):
        return CountPair(*(np.log([law.get(o, 0.0) for o in outcomes]) for law in (p, q)))


def binomial_pmf(n: int, p: float) -> dict[int, float]:
    return {x: math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)}


def mixture(parts: list[tuple[float, int]], p: float) -> dict[int, float]:
    law: dict[int, float] = {}
    for weight, n in parts:
        for x, mass in binomial_pmf(n, p).items():
            law[x] = law.get(x, 0.0) + weight * mass
    return law


PMF = (0.1, 0.0, 0.25, 0.3, 0.2, 0.15)


@pytest.mark.parametrize("reduction", ["clones", "randomized_response"])
@pytest.mark.parametrize("eps_local", [1e-3, 0.3, 1.0, 2.5, 6.0])
@pytest.mark.parametrize(
    ("population", "dummies", "adaptive", "others"),
    [
        (Fixed(9), 0, False, [(1.0, 9)]),
        (Fixed(4), 7, True, [(1.0, 7)]),
        (Fixed(9), 7, True, [(1.0, 9)]),
        (Binomial(8, 0.6), 0, False, [(w, n) for n, w in binomial_pmf(8, 0.6).items()]),
        (Binomial(8, 0.6), 5, False, [(w, n + 5) for n, w in binomial_pmf(8, 0.6).items()]),
        (Binomial(8, 0.6), 5, True, [(w, max(n, 5)) for n, w in binomial_pmf(8, 0.6).items()]),
        (Empirical(PMF, 2), 4, False, [(w, n + 4) for n, w in enumerate(PMF, 2)]),
        (Empirical(PMF, 2), 4, True, [(w, max(n, 4)) for n, w in enumerate(PMF, 2)]),
    ],
)
def test_delta_equals_full_enumeration_of_the_pair(
    population, dummies, adaptive, others, eps_local, reduction
):
    pair = enumerated_pair(mixture(others, clone_rate(eps_local, reduction)), eps_local)
    eps = np.array([0.0, 0.01, 0.3, 0.7, 0.95]) * eps_local
    got = [
        clone_delta(population, eps_local, e, dummies=dummies, adaptive=adaptive, reduction=reduction)
        for e in eps
    ]
    assert_allclose(got, pair.delta(eps), rtol=2e-10, atol=2e-15)
    # Mirror images: the other direction is the same number.
    assert_allclose(hockey_stick(pair.log_q, pair.log_p, eps), pair.delta(eps), rtol=1e-10, atol=1e-15)


def test_large_local_budgets_do_not_overflow():
    for eps_local in (50.0, 800.0, 1e5):
        delta = clone_delta(Binomial(10**6, 0.5), eps_local, 1.0)
        assert 0.99 < delta <= 1
        assert amplified_epsilon(Binomial(10**6, 0.5), eps_local, 1e-5, accounting="exact") == pytest.approx(
            eps_local, rel=1e-3
        )
