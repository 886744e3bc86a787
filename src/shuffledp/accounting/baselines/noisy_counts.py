"""Counts with integer noise of a trusted curator or of a secure sum: discrete Laplace, discrete Gaussian, Skellam.

They are baselines of shuffle protocols. A change of one user's input changes one count, or two, by at most `shift`; the
noise is independent. For one count, delta is the hockey-stick divergence of the noise and the shifted noise. For two
counts it is the delta of :mod:`shuffledp.accounting.general.count_pairs`, as one count increases and one decreases.

A histogram has two counts that change by 1 under replacement, and one count that changes by 1 under add or remove. A
sum of integers 0..D has one count that changes by D under either relation.

Skellam noise of variance mu is the difference of two Poisson variables with mean mu / 2 each. Its shares for n users
are Skellam variables of variance ``mu / n``, for any n. A *discrete Gaussian* has no such shares: with ``sigma^2 / n``
per user and many users almost every share is 0, ``Pr[share is not 0] = 2 exp(-n / (2 sigma^2))``, so that the sum has
no noise. Inputs must first be scaled up until ``sigma^2 / n`` is about 1/4.

For discrete Laplace noise, a loss of ``rate * shift`` per count has a large probability. A delta > 0 therefore does not
reduce the noise: rate is eps divided by the total shift of all counts.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ive

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.count_pairs import MovingCount, pair_delta, single_delta
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.accounting.general.profiles import Profile
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, settled
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import Window

CountNoise = Literal["gaussian", "skellam"]

#: Terms that a window may have.
_MOST_TERMS = 2e6
#: Larger exponents overflow, and make every distance a delta of 1.
_MOST_EXPONENT = 700.0
#: Tolerance of the log of the scale.
_XTOL = 1e-9


def discrete_gaussian_window(sigma: float, tail: float) -> Window:
    """Return the law of discrete Gaussian noise on a window that omits at most `tail` on either side. The noise is
    sub-Gaussian with sigma (Canonne, Kamath and Steinke 2020), which bounds the tails.
    """
    reach = math.ceil(sigma * math.sqrt(-2 * math.log(tail)))
    _check_reach(reach)
    half = np.exp(-np.square(np.arange(1, reach + 1) / sigma) / 2)
    pmf = np.concatenate((half[::-1], [1.0], half)) / (1 + 2 * half.sum())
    return Window(-reach, pmf, 2 * tail)


def skellam_window(variance: float, tail: float) -> Window:
    """Return the law of Skellam noise on a window that omits at most `tail` on either side. Bernstein's inequality
    bounds the tails, as the noise is a sum of a Poisson number of signs.
    """
    log_inverse = -math.log(tail)
    reach = math.ceil(log_inverse / 3 + math.sqrt(log_inverse**2 / 9 + 2 * variance * log_inverse))
    _check_reach(reach)
    half = np.asarray(ive(np.arange(reach + 1.0), variance), np.float64)  # e^-variance I_y(variance)
    return Window(-reach, np.concatenate((half[:0:-1], half)), 2 * tail)


def _check_reach(reach: int) -> None:
    if 2 * reach > _MOST_TERMS:
        raise Infeasible(f"Noise up to {reach} steps is too wide for an exact sum: take fewer levels.")


def shifted_count(noise: Window, shift: int) -> MovingCount:
    """Return the laws of the noise, and of the noise plus `shift`, on common values."""
    nothing = np.zeros(shift)
    return MovingCount(
        np.concatenate((nothing, noise.pmf)), np.concatenate((noise.pmf, nothing)), noise.omitted
    )


def noisy_count_delta(
    eps: float, noise: CountNoise, variance: float, *, shift: int = 1, counts: int = 2
) -> float:
    """Return delta of one or two counts that change by `shift` under independent noise; too large by at most 1e-12. For
    a discrete Gaussian, `variance` is sigma^2, nearly the variance of the noise except for tiny sigma. For Skellam
    noise, it is mu. Raises `Infeasible` if the noise is too wide for a sum.
    """
    return settled(lambda tail: _delta(eps, noise, variance, shift, counts, tail))


def _delta(eps: float, noise: CountNoise, variance: float, shift: int, counts: int, tail: float) -> float:
    law = (
        discrete_gaussian_window(math.sqrt(variance), tail)
        if noise == "gaussian"
        else skellam_window(variance, tail)
    )
    count = shifted_count(law, shift)
    return pair_delta(count, count, eps) if counts == 2 else single_delta(count, eps)


@remember(1024)
def noisy_count_variance(
    eps: float, delta: float, noise: CountNoise, *, shift: int = 1, counts: int = 2
) -> float:
    """Return the smallest variance for which one or two counts that change by `shift` are (eps, delta)-private.

    Rounded up by at most 2e-9 relative; sigma^2 for a discrete Gaussian. Raises `Infeasible` if the noise is too wide
    for a sum. Derived for this project from the definition; the noise is from Canonne, Kamath and Steinke (2020) and
    Agarwal, Kairouz and Liu (2021).

    Examples
    --------
    >>> from shuffledp.accounting.baselines.noisy_counts import noisy_count_variance
    >>> round(noisy_count_variance(1.0, 1e-6, "gaussian"), 3), round(noisy_count_variance(1.0, 1e-6, "skellam"), 3)
    (35.72, 33.721)
    """
    tail = max(1e-13 * delta, 1e-300)

    def excess(minus_log_scale: float) -> float:  # grows with less noise
        variance = math.exp(-2 * minus_log_scale)
        return log_ratio(_delta(eps, noise, variance, shift, counts, tail), delta)

    guess = -math.log(shift * math.sqrt(counts) / gaussian_ratio(eps, delta))
    rise = excess(guess + 1e-3) - excess(guess)
    slope = rise / 1e-3 if math.isfinite(rise) and rise > 0 else None
    return math.exp(-2 * root_below(excess, guess, -math.inf, math.inf, xtol=_XTOL, slope=slope))


@remember(1024)
def gaussian_ratio(eps: float, delta: float) -> float:
    """Return the largest mu, sensitivity over standard deviation, for which Gaussian noise is (eps, delta)-private.
    Rounded down by at most 1e-10 relative. Balle and Wang (2018), Theorem 8, the analytic Gaussian mechanism.
    """

    def excess(log_mu: float) -> float:
        return log_gaussian_delta(math.exp(log_mu), eps) - math.log(delta)

    return math.exp(root_below(excess, 0.0, -40.0, 40.0, xtol=1e-10))


def noisy_counts_profile(
    noise: CountNoise, variance: float, shift: int, counts: int, neighbours: str = "replace_one"
) -> Profile:
    """Return the privacy profile of one or two counts that change under noise, see :func:`noisy_count_delta`."""
    return Profile(
        lambda eps: noisy_count_delta(eps, noise, variance, shift=shift, counts=counts),
        "hockey stick of noisy counts and themselves shifted",
        "exact",
        neighbours,
    )


def laplace_profile(
    rate: float, shift: int, touched: int = 1, *, distance: float = 0.0, neighbours: str = "replace_one"
) -> Profile:
    """Return the privacy profile of one or two counts with discrete Laplace noise of ratio ``e^-rate``. The counts
    change by at most `shift` each. `distance` is the total variation distance between the view and a view of the noisy
    counts only.
    """

    def delta(eps: float) -> float:
        mass, loss = _losses(rate, shift, touched)
        stick = float(mass @ -np.expm1(np.minimum(eps - loss, 0.0)))
        if distance == 0:
            return min(stick, 1.0)
        # Beyond the largest loss the noise hides everything, and delta cannot grow.
        return min(stick + (1 + math.exp(min(eps, float(np.max(loss)), _MOST_EXPONENT))) * distance, 1.0)

    source = "hockey stick of a discrete Laplace law and itself shifted"
    return Profile(delta, source, "exact" if distance == 0 else "upper", neighbours)


@remember(8)
def _losses(rate: float, shift: int, touched: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return probabilities and losses. Noise y, clipped to [0, shift], has the loss ``rate * (shift - 2 y)``."""
    a, y = math.exp(-rate), np.arange(shift + 1)
    mass = np.asarray((1 - a) / (1 + a) * np.exp(-rate * y), np.float64)
    mass[0] = 1 / (1 + a)
    mass[-1] = math.exp(-rate * shift) / (1 + a)
    loss = np.asarray(rate * (shift - 2 * y), np.float64)
    return (mass, loss) if touched == 1 else (np.outer(mass, mass).ravel(), np.add.outer(loss, loss).ravel())
