import itertools
import math

import numpy as np
import pytest

from shuffledp.accounting import (
    best_polya_shape,
    negative_binomial_delta,
    population_lower_bound,
)
from shuffledp.populations import (
    Binomial,
    Empirical,
    Fixed,
    Poisson,
)

LAWS = [Fixed(20), Binomial(60, 0.3), Poisson(30), Empirical((0.2, 0.3, 0.5), 4)]


def noise(shape, eps, size):
    """Law of the difference of two negative binomial variables, on -(size - 1), .., size - 1."""
    j = np.arange(size - 1)
    ratios = (j + shape) / (j + 1) * math.exp(-eps)
    pmf = np.concatenate(([1.0], np.cumprod(ratios))) * (-math.expm1(-eps)) ** shape
    return np.convolve(pmf, pmf[::-1])


@pytest.mark.parametrize("shape", [1e-3, 0.3, 0.5, 0.97, 1.0, 1.2])
@pytest.mark.parametrize("eps", [0.05, 0.7, 4.0])
def test_polya_delta_by_enumeration_in_both_directions(shape, eps):
    pmf = noise(shape, eps, math.ceil(45 / eps) + 50)
    forward = np.sum(np.maximum(pmf[:-1] - math.exp(eps) * pmf[1:], 0))
    backward = np.sum(np.maximum(pmf[1:] - math.exp(eps) * pmf[:-1], 0))
    for direct in (forward, backward):
        assert negative_binomial_delta(shape, eps) == pytest.approx(direct, rel=1e-10, abs=1e-12)


def test_polya_delta_falls_with_the_shape():
    values = [negative_binomial_delta(r, 0.2) for r in np.linspace(0, 1.2, 60)]
    assert all(b <= a for a, b in itertools.pairwise(values))
    assert values[0] == pytest.approx(1)
    assert values[-1] == 0


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_best_polya_shape_is_the_largest(law):
    for eps, delta in ((0.1, 1e-3), (1.0, 1e-5), (5.0, 0.5)):
        n1 = best_polya_shape(law, eps, delta)
        window = law.window()

        def expected(users, eps=eps, window=window):
            return sum(
                p * negative_binomial_delta(n / users, eps)
                for n, p in enumerate(window.pmf, window.start + 1)
            )

        assert expected(n1) <= delta / 2 < expected(n1 + 1)
        assert n1 >= population_lower_bound(law, delta / 2, form="exact")
