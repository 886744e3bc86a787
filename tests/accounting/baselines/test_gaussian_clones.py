import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting.baselines.gaussian_clones import (
    gaussian_clones_epsilon,
    optimal_composition,
)
from shuffledp.accounting.errors import Infeasible

N = 60_000


@pytest.mark.parametrize("rounds", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("eps, delta", [(0.3, 0.0), (1.0, 0.01), (0.05, 1e-4)])
def test_optimal_composition_agrees_with_enumeration_of_the_worst_pair(rounds, eps, delta):
    """The pair that dominates all (eps, delta)-private mechanisms has two revealing outcomes and two of ratio e^eps."""
    e = math.exp(eps)
    p = {"yes": delta, "up": (1 - delta) * e / (1 + e), "down": (1 - delta) / (1 + e), "no": 0.0}
    q = {"yes": 0.0, "up": (1 - delta) / (1 + e), "down": (1 - delta) * e / (1 + e), "no": delta}
    outcomes = list(itertools.product(p, repeat=rounds))
    left = np.array([math.prod(p[x] for x in o) for o in outcomes])
    right = np.array([math.prod(q[x] for x in o) for o in outcomes])
    for i in range(rounds // 2 + 1):
        total = (rounds - 2 * i) * eps
        needed = float(np.sum(np.maximum(left - math.exp(total) * right, 0)))
        if not 1e-15 < needed < 1:
            continue
        assert_allclose(optimal_composition(eps, delta, rounds, needed * (1 + 1e-9)), total, rtol=1e-12)
        if needed * (1 - 1e-9) > 1 - (1 - delta) ** rounds:
            assert optimal_composition(eps, delta, rounds, needed * (1 - 1e-9)) > total


def test_composition_of_many_rounds_and_its_limits():
    assert optimal_composition(0.1, 0.0, 5540, 1e-5) < 0.2 * 0.1 * 5540
    assert optimal_composition(0.0, 1e-9, 10, 1e-5) == 0.0
    assert optimal_composition(0.1, 1e-6, 10, 1.1e-5) <= 1.0
    with pytest.raises(Infeasible, match="exceed the target"):
        optimal_composition(0.1, 1e-6, 10, 9e-6)


def test_fine_search_is_never_worse_than_the_printed_one():
    for rounds in (1, 7, 30):
        both = [
            gaussian_clones_epsilon(n=N, sigma=5.0, rounds=rounds, delta=1e-6, search=search)
            for search in ("fine", "printed")
        ]
        assert both[0] <= both[1]


@pytest.mark.parametrize("search", ["fine", "printed"])
def test_noise_that_is_too_small_for_the_theorem(search):
    with pytest.raises(Infeasible, match="gives no bound"):
        gaussian_clones_epsilon(n=100, sigma=0.3, rounds=1, delta=1e-5, search=search)
