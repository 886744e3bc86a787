"""One negative binomial noise that hides a shift: its exact delta, and the noise of smallest mean for a budget.

Conventions: ``NB(r, p)`` has probabilities ``C(k + r - 1, k) (1 - p)^r p^k`` and mean ``r p / (1 - p)``; eps in nats.
Source: the negative binomial mechanism of Ghazi et al. 2021, arXiv 2106.04247; its exact delta is derived for this
project.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betainc, betaincc

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.argument_ranges import (
    Count,
    EpsAt,
    OpenUnit,
    Positive,
    check_count,
    check_open_unit,
    check_positive,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.roots import root_below

#: Shapes among which the search for the smallest mean chooses.
_SHAPES = (1.0, 150.0)
#: Largest value in the search for a given likelihood ratio.
_FARTHEST = 2**60
_REMEMBERED = 4096


def negative_binomial_shift_delta(shape: Positive, p: OpenUnit, shift: Count, eps: EpsAt) -> float:
    """Return the exact delta of one negative binomial noise that hides a shift.

    Parameters
    ----------
    shape, p : float
        Shape r >= 1, and ratio p in (0, 1); the mean is ``r p / (1 - p)``. Shapes below 1 raise Infeasible: the
        likelihood ratio is not monotone, and the noise provides little privacy.
    shift : int
        At least 0.
    eps : float
        Nats, >= 0.

    Returns
    -------
    float
        In [0, 1]: the larger of the two hockey-stick divergences between the noise and the noise plus `shift`. The
        relative error is about 1e-9, from the cancellation of two tails.

    Notes
    -----
    For r >= 1 the ratio ``NB(y) / NB(y - shift)`` decreases in y, so each divergence is a difference of tails at the y
    where the ratio crosses ``e^eps`` or ``e^-eps``.

    Derived for this project; Ghazi et al. 2021, arXiv 2106.04247, Theorem 13, is an upper bound in closed form.

    Examples
    --------
    The published noise (Theorem 13) for eps 0.5 and delta 1e-6 has a far smaller delta:

    >>> import math
    >>> from shuffledp.accounting import negative_binomial_shift_delta
    >>> shape, p = 3 * (1 + math.log(1e6)), math.exp(-0.2 * 0.5)
    >>> print(f"{negative_binomial_shift_delta(shape, p, shift=1, eps=0.5):.1e}")
    3.3e-22
    """
    if shape < 1:
        raise Infeasible(f"The shape must be at least 1 for a monotone likelihood ratio, got {shape!r}.")
    if shift == 0:
        return 0.0
    return _shift_delta(shape, p, shift, eps)


def _shift_delta(shape: float, p: float, shift: int, eps: float) -> float:
    base = shift * math.log(p)
    ahead = _last_above(shape, base, shift, eps)
    forward = _cdf(ahead, shape, p)
    if ahead >= shift:
        forward -= math.exp(eps) * _cdf(ahead - shift, shape, p)
    backward = 0.0
    if base < -eps:
        behind = _last_above(shape, base, shift, -eps)  # the ratio is at least e^-eps up to here
        backward = _tail(behind - shift, shape, p) - math.exp(eps) * _tail(behind, shape, p)
    return min(max(forward, backward, 0.0), 1.0)


def _cdf(x: int, shape: float, p: float) -> float:
    return float(betaincc(x + 1.0, shape, p)) if x >= 0 else 0.0


def _tail(x: int, shape: float, p: float) -> float:
    """Return ``Pr[NB > x]``."""
    return float(betainc(x + 1.0, shape, p)) if x >= 0 else 1.0


def _last_above(shape: float, base: float, shift: int, level: float) -> int:
    """Return the last y >= shift with a log ratio above `level`, or ``shift - 1`` if there is none."""

    def ratio(y: int) -> float:
        """Return the log ratio at y, which decreases in y. Sums of log1p avoid the cancellation of gamma functions."""
        return base + _log_rising(y, shape, shift)

    if ratio(shift) <= level:
        return shift - 1
    # Were all terms like the one in the middle, the ratio would cross here; it does within a few places.
    growth = math.expm1(min((level - base) / shift, 700.0))
    crossing = (shape - 1) / max(growth, 1e-300) + (shift - 1) / 2
    low, high = shift, int(min(max(crossing, shift), _FARTHEST)) + 1
    width = 1
    while ratio(high) > level:
        low, high, width = high, high + width, 2 * width
        if high > _FARTHEST:
            raise Infeasible(f"The likelihood ratio stays above e^{level!r} beyond 2^60.")
    width = 1
    while high - width > low:
        if ratio(high - width) > level:
            low = high - width
            break
        high, width = high - width, 2 * width
    while high - low > 1:
        middle = (low + high) // 2
        if ratio(middle) > level:
            low = middle
        else:
            high = middle
    return low


def _log_rising(y: int, shape: float, shift: int) -> float:
    """Return ``sum over j < shift of log((y - j + shape - 1) / (y - j))``."""
    if shift <= 32:
        return math.fsum(math.log1p((shape - 1) / (y - j)) for j in range(shift))
    return float(np.sum(np.log1p((shape - 1) / (y - np.arange(shift, dtype=np.float64)))))


@remember(_REMEMBERED)
def smallest_noise(
    shift: int, eps: float, delta: float, most_shape: float = _SHAPES[1]
) -> tuple[float, float]:
    """Return the shape and the scale ``p / (1 - p)`` of the noise of smallest mean that hides a shift >= 1.

    The scale is rounded up, so that :func:`negative_binomial_shift_delta` is at most `delta`. The mean is within about
    0.1% of the smallest for shapes in [1, most_shape], by golden section search over the logarithm of the shape;
    ``most_shape >= 3``.
    """
    shift = check_count("shift", shift, 1)
    eps = check_positive("eps", eps)
    delta = check_open_unit("delta", delta)
    most_shape = check_positive("most_shape", most_shape)

    def log_scale(log_shape: float) -> float:
        shape = math.exp(log_shape)

        def excess(minus: float) -> float:  # increasing in minus the log of the scale
            scale = math.exp(-minus)
            value = _shift_delta(shape, scale / (1 + scale), shift, eps)
            return math.log(value / delta) if value > 0 else -math.inf

        guess = -math.log(25 * shift * 0.1 / eps)
        return -root_below(excess, guess, -math.log(1e12), math.log(1e6), xtol=1e-7)

    low, high = 0.0, math.log(most_shape)
    golden = (math.sqrt(5) - 1) / 2
    a, b = high - golden * (high - low), low + golden * (high - low)
    at_a, at_b = a + log_scale(a), b + log_scale(b)
    while high - low > 0.02:
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - golden * (high - low)
            at_a = a + log_scale(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + golden * (high - low)
            at_b = b + log_scale(b)
    best, value = min(((a, at_a), (b, at_b)), key=lambda pair: pair[1])
    return math.exp(best), math.exp(value - best)
