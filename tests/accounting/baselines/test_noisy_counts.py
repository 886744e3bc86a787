"""Reference lines: deltas against sums over all outcomes."""

import math

import numpy as np
import pytest
from scipy.stats import skellam

from shuffledp.accounting.baselines.noisy_counts import (
    noisy_count_delta,
    noisy_count_variance,
)
from shuffledp.accounting.errors import Infeasible


@pytest.mark.parametrize("noise", ["gaussian", "skellam"])
@pytest.mark.parametrize("shift, eps, variance", [(1, 0.3, 2.0), (1, 1.5, 0.4), (3, 0.5, 12.0)])
def test_deltas_are_sums_over_all_outcomes(noise, shift, eps, variance):
    y = np.arange(-60, 61)
    law = (
        np.exp(-(y**2) / (2 * variance))
        if noise == "gaussian"
        else skellam.pmf(y, variance / 2, variance / 2)
    )
    absent, held = (np.pad(law / law.sum(), sides) for sides in ((0, shift), (shift, 0)))
    one = np.maximum(held - math.exp(eps) * absent, 0).sum()
    two = np.maximum(np.outer(held, absent) - math.exp(eps) * np.outer(absent, held), 0).sum()
    assert noisy_count_delta(eps, noise, variance, shift=shift, counts=1) == pytest.approx(one, rel=1e-11)
    assert noisy_count_delta(eps, noise, variance, shift=shift) == pytest.approx(two, rel=1e-11)


def test_too_wide_noise_is_refused():
    with pytest.raises(Infeasible, match="too wide"):
        noisy_count_variance(0.01, 1e-6, "gaussian", shift=10**5)
