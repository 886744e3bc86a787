"""Mean absolute value of Polya noise: the error of secure sums with negative binomial shares is far from normal."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.numerics.checks import check_positive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_NODES = 200


@cache
def _nodes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points and weights of Gauss and Legendre on (0, pi / 2)."""
    x, w = np.polynomial.legendre.leggauss(_NODES)
    return (x + 1) * math.pi / 4, w * math.pi / 4


def polya_mean_absolute(shape: ArrayLike, eps: float) -> NDArray[np.float64]:
    """Return ``E|X - Y|`` for independent negative binomial X, Y.

    Parameters
    ----------
    shape : scalar or (m,) array_like
        Positive: the number of users over the number that the noise is meant for. 1 gives the two-sided geometric
        distribution, for which the result is ``1 / sinh(eps)``.
    eps : float
        Nats, > 0; the ratio of the geometric law is ``e^-eps``.

    Returns
    -------
    ndarray
        Shape of `shape`; exact up to about 1e-10 relative for shapes from 0.1 on.

    Notes
    -----
    ``E|Z| = (1 / pi) integral of (1 - f(t)) / (1 - cos t)`` over (0, pi) for integer Z with characteristic function
    f, here with ``tan(t / 2) = sinh(eps / 2) tan(x)``. Derived here.
    """
    eps = check_positive("eps", eps)
    shapes = np.asarray(shape, np.float64)
    if not np.all(shapes > 0):
        raise ValueError(f"shape must be positive, got {float(np.min(shapes))!r}.")
    c = math.sinh(eps / 2)
    x, weights = _nodes()
    w = np.tan(x)
    log_f = np.log1p(w**2 / (1 + (c * w) ** 2))
    integrand = -np.expm1(-shapes[..., None] * log_f) / np.sin(x) ** 2
    return np.asarray(integrand @ weights / (math.pi * c))
