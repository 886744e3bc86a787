"""Noise of counters: deltas that need no pairs, and noise that is too wide."""

import math

import pytest

from shuffledp.accounting.errors import Infeasible
from shuffledp.protocols import calibrations
from shuffledp.protocols.frequency.correlated_noise import CorrelatedNoise, correlated_pair_noise
from shuffledp.protocols.frequency.one_sided_noise import one_sided_noise


def test_sufficient_delta_needs_no_pairs():
    least = -math.expm1(-0.45)
    assert correlated_pair_noise(1.0, least * (1 + 1e-9)).shape == 0
    assert correlated_pair_noise(1.0, least * (1 - 1e-3)).shape > 0
    assert CorrelatedNoise(1, 2, 0.45, 0.0, 1.0).profile_for(1).delta(1.0) == pytest.approx(least, rel=1e-10)


def test_too_wide_noise_is_refused():
    with pytest.raises(Infeasible, match=r"too wide: with 1e-05 of eps = 0\.01"):
        correlated_pair_noise(0.01, 1e-9, share=1e-5)
    with pytest.raises(Infeasible, match="too wide"):
        one_sided_noise(1.0, 1e-6, shape=0.05)
    with pytest.raises(ValueError, match="shape"):
        calibrations.one_sided_noise(1.0, 1e-6, shape=0.0)
