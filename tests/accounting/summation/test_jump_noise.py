"""Noise with jumps: its law, its tails and its saving."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import (
    NoiseDesign,
    jump_sizes,
    mean_jump,
)
from shuffledp.accounting.summation.jump_noise import (
    jump_law,
    last_noise,
)


def with_jumps(size, atoms, centers, rates, eps_star=0.9):
    ratios = tuple(m / (1 + m) for m in centers)
    return NoiseDesign(
        size, eps_star, atoms, (), tuple(range(1, size + 1)), tuple(rates), ratios, 1.0, 1e-6, "jumps"
    )


@pytest.mark.parametrize("rate, center", [(0.3, 0.5), (4.0, 1.0), (17.0, 14.4), (20.0, 81.4)])
def test_law_is_of_random_jump_numbers(rate, center):
    """The laws agree up to an absolute error, because the transform has no relative precision."""
    length = last_noise(rate, center, 1e-15) + 1
    law, error = jump_law(rate, center, length)
    wide = 1 << (2 * length).bit_length()
    measure = np.zeros(wide)
    sizes = jump_sizes(center)
    measure[1 : sizes.size + 1] = rate * sizes
    want = np.fft.irfft(np.exp(np.fft.rfft(measure) - rate))
    assert_allclose(law, want[:length], rtol=0, atol=1e-15)
    assert 1 - 2e-15 - length * 1e-15 < law.sum() < 1 + 1e-12
    assert law @ np.arange(length) == pytest.approx(rate * mean_jump(center), rel=1e-10)
    assert error < 1e-9


def test_law_tail_has_relative_precision():
    """The reference is the sum over the number of jumps, in exact powers."""
    rate, center = 6.0, 2.0
    sizes = jump_sizes(center)
    law, error = jump_law(rate, center, 120)
    want, power, weight = np.zeros(120), np.zeros(120), math.exp(-rate)
    power[0] = 1.0
    for jumps in range(1, 121):
        want += weight * power
        power = np.convolve(np.concatenate(([0.0], sizes)), power)[:120]
        weight *= rate / jumps
    want += weight * power
    assert law[-1] < 1e-25
    assert_allclose(law, want, rtol=max(error, 1e-12))


def test_designs_with_jumps_state_their_law():
    design = with_jumps(1, "star", (14.37,), (17.14,))
    assert NoiseDesign.from_dict(design.to_dict()) == design
    old = {key: value for key, value in design.to_dict().items() if key != "law"}
    assert NoiseDesign.from_dict(old).law == "negative_binomial"
    assert design.messages == pytest.approx(2 / math.expm1(0.9) + 2 * 17.14 * mean_jump(14.37))
    with pytest.raises(ValueError, match="distinct"):
        NoiseDesign(1, 0.9, "star", (), (1, 1), (1.0, 1.0), (0.6, 0.6), 1.0, 1e-6, "jumps")
    with pytest.raises(ValueError, match="law must be one of"):
        NoiseDesign(1, 0.9, "star", (), (1,), (1.0,), (0.6,), 1.0, 1e-6, "poisson")
