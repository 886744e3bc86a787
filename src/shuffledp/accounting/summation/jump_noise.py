r"""Compound Poisson noise with jumps of similar sizes: fewer messages than negative binomials with the same privacy.

A noise with *rate* Lambda and *center* m is the sum of Poisson(Lambda) jumps, drawn independently of sizes 1, 2, ..
with probabilities in proportion to

.. math:: e^{-((j - m) / (0.225 m))^2 / 2} + 0.136 \, [j \le m], \qquad j < \max(3, \lfloor 2.125 m \rfloor + 2).

Like every compound Poisson law it can be divided into shares: each of n users adds Poisson(Lambda / n) jumps.

The reason for the choice: delta is the mass of the lower tail of the noise, where the likelihood ratio to the noise
shifted by 1 exceeds ``e^tau``. By large deviations this mass is ``e^-I`` with ``I = sum_j rate_j (1 - (1 + tau j)
e^(-tau j))``. Both I and the mean are linear in the rates of the jump sizes. For a given I, jumps of a single size,
:data:`BEST_JUMP` over tau, have the smallest mean; negative binomials need :data:`NEGATIVE_BINOMIAL_EXCESS` times this
mean. A single size would leave gaps, so the sizes are spread. The three numbers in the law are the result of a search
for D = 1. :func:`least_mean` is the least mean of noise that need not be divisible into shares.

Derived for this project, from no paper.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.argument_ranges import Delta, Eps, check_count, check_open_unit, check_positive

Floats = NDArray[np.float64]

#: Where ``(1 - (1 + u) e^-u) / u``, the exponent per unit of mean and tau, is largest: ``e^u = 1 + u + u^2``.
BEST_JUMP = 1.7932821329007607
#: Maximizer of ``c (log(1 + 1/c) - 1 / (c + 1))``, for jumps at rates ``e^(-c u) / u``: the negative binomial's.
_BEST_DECAY = 0.46241
_BEST_EXPONENT = -math.expm1(-BEST_JUMP) / BEST_JUMP - math.exp(-BEST_JUMP)
#: Smallest mean of a negative binomial over that of all infinitely divisible noises, as delta and then tau go to 0.
NEGATIVE_BINOMIAL_EXCESS = _BEST_EXPONENT / (
    _BEST_DECAY * (math.log1p(1 / _BEST_DECAY) - 1 / (1 + _BEST_DECAY))
)
_WIDTH, _FLOOR, _REACH = 0.225, 0.136, 2.125
#: Largest rate: the probability of no jump must be a normal number.
MOST_RATE = 600.0
#: Smallest center that is tried: below about 1 jumps are all of size 1.
LEAST_CENTER = 0.5
#: Largest center: sizes are enumerated.
MOST_CENTER = 2.0**16


def jump_sizes(center: float) -> Floats:
    """Return the law of the size of one jump.

    Derived for this project, see the module's description.

    Parameters
    ----------
    center : float
        m, in [1/2, 65536].

    Returns
    -------
    (J,) ndarray
        Probabilities of the sizes 1..J; exact.
    """
    center = check_center(center)
    j = np.arange(1.0, max(3, math.floor(_REACH * center) + 2))
    weights = np.exp(-0.5 * ((j - center) / (_WIDTH * center)) ** 2) + _FLOOR * (j <= center)
    return np.asarray(weights / weights.sum(), np.float64)


def check_center(center: float, name: str = "center") -> float:
    """Return the center of jumps, or raise ValueError with its name."""
    center = check_positive(name, center)
    if not LEAST_CENTER <= center <= MOST_CENTER:
        raise ValueError(f"{name} must be in [1/2, {MOST_CENTER:.0f}], got {center!r}.")
    return center


def mean_jump(center: float) -> float:
    """Return the expected size of one jump, exactly.

    The mean of the noise is the rate times this size. Derived for this project.

    Parameters
    ----------
    center : float
        m, in [1/2, 65536].

    Returns
    -------
    float

    Examples
    --------
    >>> from shuffledp.accounting import mean_jump
    >>> round(mean_jump(16.0), 2)
    14.54
    """
    sizes = jump_sizes(center)
    return float(sizes @ np.arange(1, sizes.size + 1))


def jump_law(rate: float, center: float, length: int) -> tuple[Floats, float]:
    """Return the probabilities of 0..length - 1 of a noise, and a bound on their relative error.

    The bound is relative to the jump sizes of :func:`jump_sizes`. Raises Infeasible for rates above 600.

    Panjer's recursion ``y P(y) = rate sum_j j q_j P(y - j)`` has positive terms only. P(y) is a sum of products of at
    most y factors, each rounded at most ``J + 5`` times (a sum of J terms, in any order, two products and a division).
    So the relative error is at most ``y (J + 5)`` units to first order. Derived for this project.
    """
    rate = check_positive("rate", rate)
    length = check_count("length", length, 1)
    if rate > MOST_RATE:
        raise Infeasible(f"The rate of jumps must be at most {MOST_RATE:.0f}, got {rate!r}.")
    sizes = jump_sizes(center)
    backwards = (rate * np.arange(1, sizes.size + 1) * sizes)[::-1].copy()
    law = np.zeros(length)
    law[0] = math.exp(-rate)
    reach = sizes.size
    for y in range(1, length):
        some = min(reach, y)
        law[y] = (backwards[reach - some :] @ law[y - some : y]) / y
    return law, 2.0**-52 * (length * (reach + 5) + rate + 4)


def last_noise(rate: float, center: float, tail: float) -> int:
    """Return a value that a noise exceeds with probability at most `tail`, by Chernoff's bound."""
    tail = check_open_unit("tail", tail)
    sizes = jump_sizes(center)
    j = np.arange(1.0, sizes.size + 1)
    # The best tilt solves mean - tail; a geometric grid of tilts is close enough, and any of them is a bound.
    tilts = np.geomspace(0.02, 3.0, 60) / center
    cumulants = rate * (np.expm1(np.outer(tilts, j)) @ sizes)
    return math.ceil(float(np.min((cumulants - math.log(tail)) / tilts)) * (1 + 1e-12))


def least_mean(eps: Eps, delta: Delta) -> float:
    """Return a lower bound on the mean of any noise on 0, 1, .. that hides a shift by 1 in one direction.

    With F the distribution function, ``F(y) <= delta + e^eps F(y - 1)``. So ``F(y)`` is at most 1 and at most
    ``delta (e^(eps (y + 1)) - 1) / (e^eps - 1)``; the mean is the sum of ``1 - F``. Derived for this project.

    Parameters
    ----------
    eps, delta : float
        Budget: eps in nats, > 0; delta in (0, 1).

    Returns
    -------
    float
        A lower bound that is attained: the smallest mean of a noise G for which the hockey-stick divergence of G
        against 1 + G at `eps` is at most `delta`, also among noises that users cannot share.

    Examples
    --------
    Two messages per unit of noise in a sum of bits, for eps = 1 less the 0.9 of the error:

    >>> from shuffledp.accounting import least_mean
    >>> round(2 * least_mean(0.1, 1e-6))
    210
    """
    # F reaches 1 where e^(eps (y + 1)) = 1 + (e^eps - 1) / delta.
    last = math.ceil(math.log1p(math.expm1(eps) / delta) / eps)
    y = np.arange(last)
    most = delta * np.expm1(eps * (y + 1)) / math.expm1(eps)
    return float(np.sum(np.maximum(1 - most, 0.0)))
