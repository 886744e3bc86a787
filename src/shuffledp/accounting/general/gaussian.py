"""Hockey-stick divergence of two normal laws with the same variance (Balle and Wang 2018)."""

from __future__ import annotations

import math

from scipy.special import log_ndtr

from shuffledp.numerics.argument_ranges import Positive


def log_gaussian_delta(mu: Positive, eps: float) -> float:
    """Return the log of the hockey-stick divergence of Normal(mu, 1) and Normal(0, 1).

    Source: Balle and Wang (2018), Theorem 8. Exact up to rounding, less than 1e-10 relative for delta above 1e-300;
    both directions have the same divergence.

    Parameters
    ----------
    mu : float
        Sensitivity over standard deviation, positive.
    eps : float
        Nats.

    Returns
    -------
    float
        ``log(Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu))``; ``-inf`` if the log underflows too.
    """
    first = float(log_ndtr(mu / 2 - eps / mu))
    gap = eps + float(log_ndtr(-mu / 2 - eps / mu)) - first
    return first + math.log(-math.expm1(gap)) if gap < 0 else -math.inf
