"""Mean absolute value of Polya noise; the error of secure sums with negative binomial shares is far from normal."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.argument_ranges import Eps, RealArray

#: Distance of the nodes of the trapezoidal rule; its relative error is of the order exp(-pi^2 / (2 _STEP)) < 1e-16.
_STEP = 0.125
#: Distance of the nodes beyond the maximum of the integrand; terms there fall by a factor of e per unit.
_REACH = 40.0
#: Largest shape. Up to this shape, the squares of the nodes do not overflow.
_MOST_SHAPE = 1e100
#: Beyond this eps the noise is 1 or -1 with probability shape e^-eps each, and 0 else, up to rounding.
_MOST_EPS = 350.0


def polya_mean_absolute(shape: RealArray, eps: Eps) -> NDArray[np.float64]:
    """Return ``E|X - Y|`` for independent negative binomial X, Y.

    ``E|Z| = (1 / pi) integral of (1 - f(t)) / (1 - cos t)`` over (0, pi) for integer Z with characteristic function f.
    With ``tan(t / 2) = sinh(eps / 2) e^v`` the integrand is analytic and falls exponentially on both sides, so that the
    trapezoidal rule converges geometrically for every shape. Derived for this project.

    Parameters
    ----------
    shape : scalar or (m,) array_like
        In (0, 1e100]: number of users over the planned number. Shape 1 is the two-sided geometric distribution, with
        the result ``1 / sinh(eps)``.
    eps : float
        Nats, > 0; the ratio of the geometric law is ``e^-eps``.

    Returns
    -------
    ndarray
        Shape of `shape`; exact up to about 1e-13 relative.
    """
    shapes = np.asarray(shape, np.float64)
    if not np.all((shapes > 0) & (shapes <= _MOST_SHAPE)):
        raise ValueError(f"shape must be positive and at most {_MOST_SHAPE:g}, got {shape!r}.")
    if eps > _MOST_EPS:
        return np.asarray(2 * shapes * math.exp(-eps))
    c = math.sinh(eps / 2)
    # The hump is where shape times the logarithm is about 1, at the latest at 1 / c.
    first = -_REACH - math.log1p(c) - 0.5 * math.log(max(1.0, float(np.max(shapes, initial=1.0))))
    w = np.exp(np.arange(first, _REACH, _STEP))
    log_f = np.log1p(1 / (w**-2 + c**2))
    values = -np.expm1(-shapes[..., None] * log_f) @ (_STEP / w) / math.pi
    if float(np.max(values, initial=0.0)) > min(c, 1.0) * np.finfo(np.float64).max:
        raise ValueError(f"eps must be large enough for a finite mean, got {eps!r}.")
    return np.asarray(values / c)
