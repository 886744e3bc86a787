import itertools
import math

import mpmath
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


@pytest.mark.parametrize("eps", [1e-6, 1e-3, 0.1, 1.0, 20.0, 39.0, 50.0, 900.0])
@pytest.mark.parametrize("shape", [0.0, 1e-9, 0.4, 0.5, 0.9, 0.999, 1 - 2.0**-40])
def test_polya_delta_agrees_with_50_digits(shape, eps):
    with mpmath.workdps(50 + int(eps)):  # P(0) cancels about eps / log(10) digits
        s, e = 1 - mpmath.mpf(shape), mpmath.mpf(eps)
        want = mpmath.expm1(e) / 2 * (mpmath.hyp2f1(s, 0.5, 1, mpmath.sech(e / 2) ** 2) - 1)
        if 0.1 <= eps <= 1 and shape > 0:  # the definition: probability of 0 as a sum
            x = mpmath.exp(-2 * e)
            zero = (1 - mpmath.exp(-e)) ** (2 * shape) * mpmath.hyp2f1(shape, shape, 1, x)
            definition = ((1 + mpmath.exp(e)) * zero - mpmath.expm1(e)) / 2
            assert abs(definition / want - 1) < 1e-25
    assert negative_binomial_delta(shape, eps) == pytest.approx(float(want), rel=2e-13, abs=0)


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
