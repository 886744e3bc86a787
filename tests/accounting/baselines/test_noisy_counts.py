"""Reference lines: the table of variances, windows against mpmath, and deltas against sums over all outcomes."""

import math

import mpmath
import numpy as np
import pytest

from shuffledp.accounting.baselines.noisy_counts import (
    discrete_gaussian_window,
    noisy_count_delta,
    noisy_count_variance,
    skellam_window,
)
from shuffledp.accounting.errors import Infeasible


@pytest.mark.parametrize("variance", [0.01, 3.0, 719.42])
def test_windows_hold_the_laws(variance):
    with mpmath.workdps(40):
        sigma = mpmath.sqrt(variance)
        total = mpmath.nsum(lambda y: mpmath.exp(-(y**2) / (2 * variance)), [-mpmath.inf, mpmath.inf])
        for window, exact in (
            (
                discrete_gaussian_window(float(sigma), 1e-30),
                lambda y: mpmath.exp(-(mpmath.mpf(y) ** 2) / (2 * variance)) / total,
            ),
            (
                skellam_window(variance, 1e-30),
                lambda y: mpmath.exp(-variance) * mpmath.besseli(abs(y), variance),
            ),
        ):
            law = dict(zip(window.support.tolist(), window.pmf.tolist(), strict=True))
            for y in (0, 1, -2, round(5 * float(sigma)), window.stop - 1):
                if exact(y) > 1e-290:
                    assert law[y] == pytest.approx(float(exact(y)), rel=3e-13)
            assert 1 - window.pmf.sum() < 1e-13


@pytest.mark.parametrize("noise", ["gaussian", "skellam"])
@pytest.mark.parametrize("shift, eps, variance", [(1, 0.3, 2.0), (1, 1.5, 0.4), (3, 0.5, 12.0)])
def test_deltas_are_sums_over_all_outcomes(noise, shift, eps, variance):
    reach = 60 + shift
    y = np.arange(-reach, reach + 1)
    window = (
        discrete_gaussian_window(math.sqrt(variance), 1e-60)
        if noise == "gaussian"
        else skellam_window(variance, 1e-60)
    )
    law = dict(zip(window.support.tolist(), window.pmf.tolist(), strict=True))
    absent = np.array([law.get(int(c), 0.0) for c in y])
    held = np.array([law.get(int(c) - shift, 0.0) for c in y])
    one = np.maximum(held - math.exp(eps) * absent, 0).sum()
    two = np.maximum(np.outer(held, absent) - math.exp(eps) * np.outer(absent, held), 0).sum()
    assert noisy_count_delta(eps, noise, variance, shift=shift, counts=1) == pytest.approx(one, rel=1e-11)
    assert noisy_count_delta(eps, noise, variance, shift=shift) == pytest.approx(two, rel=1e-11)


def test_too_wide_noise_is_refused():
    with pytest.raises(Infeasible, match="too wide"):
        noisy_count_variance(0.01, 1e-6, "gaussian", shift=10**5)
