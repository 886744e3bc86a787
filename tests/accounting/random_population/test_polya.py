import math

import numpy as np
import pytest

from enumerated_sums import polya_difference
from shuffledp.accounting import (
    negative_binomial_delta,
)


@pytest.mark.parametrize("shape", [1e-3, 0.3, 0.5, 0.97, 1.0, 1.2])
@pytest.mark.parametrize("eps", [0.05, 0.7, 4.0])
def test_polya_delta_by_enumeration_in_both_directions(shape, eps):
    pmf = polya_difference(shape, eps, math.ceil(45 / eps) + 50)
    forward = np.sum(np.maximum(pmf[:-1] - math.exp(eps) * pmf[1:], 0))
    backward = np.sum(np.maximum(pmf[1:] - math.exp(eps) * pmf[:-1], 0))
    for direct in (forward, backward):
        assert negative_binomial_delta(shape, eps) == pytest.approx(direct, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("shape", [0.3, 0.97, 1.2])
def test_beyond_the_integral_only_the_mass_that_the_shape_misses_is_left(shape):
    below, beyond = negative_binomial_delta(shape, 40.0), negative_binomial_delta(shape, 40.1)
    assert beyond == max(1 - shape, 0.0) == pytest.approx(below, abs=1e-13)
