"""Searches for the best share of kept messages."""

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.protocols.frequency._count_shares import (
    sampled_count_variance,
)


@pytest.mark.parametrize(
    ("noise", "rate", "held"), [(0.0, 0.3, 7), (2.5, 1.0, 4), (1.7, 0.6, 0), (3.0, 0.1, 12)]
)
def test_variance_is_of_the_estimate(noise, rate, held):
    x = np.arange(held + 1)
    law = binom.pmf(x, held, rate)
    sampled = law @ (x / rate - held) ** 2  # the mean of x / rate is held
    assert sampled_count_variance(noise, rate, held) == pytest.approx(sampled + noise / rate**2, rel=1e-12)
    assert sampled_count_variance([noise, noise], rate, [[held], [0]]).shape == (2, 2)
