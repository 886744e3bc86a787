"""Polya noise, and its delta if fewer users add noise than planned.

Every user adds the difference of two negative binomial variables of shape ``1 / n1`` and ratio ``alpha = e^-eps``. The
total noise of n users is the same difference with shape ``r = n / n1``. For r = 1 it is a two-sided geometric variable,
with which a sum of bits is eps-DP; for r > 1 the noise is larger. For r < 1, delta is positive and grows slowly as r
falls (:func:`negative_binomial_delta`). Source: Wang et al. 2023 (TPDS), Theorem 5; the exact value is derived for this
project.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, log_expit

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    NonNegative,
    Positive,
    check_open_unit,
    check_positive,
)
from shuffledp.numerics.logs import log1mexp
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.roots import root_below
from shuffledp.populations.base import Law, Population

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Distance of the nodes of the trapezoidal rule; its relative error is of the order exp(-pi^2 / _STEP) < 1e-21.
_STEP = 0.2
#: Beyond this eps, e^-eps is below the rounding error of 1 - shape, the limit.
_MOST_EPS = 40.0
#: Numbers of users per pass.
_CHUNK = 2048
_REMEMBERED = 1024
#: Below this eps the factors of a product leave the range of floats, though the product does not.
_LEAST_EPS = 1e-100


def negative_binomial_delta(shape: NonNegative, eps: Eps) -> float:
    """Return the delta of a sum of bits with noise, the difference of two negative binomial variables.

    Parameters
    ----------
    shape : float
        r, finite, at least 0: number of users over the planned number.
    eps : float
        Nats, > 0. The ratio of the variables is ``e^-eps``: ``Pr[j] = C(j + r - 1, j) e^(-j eps) (1 - e^-eps)^r``.

    Returns
    -------
    float
        Hockey-stick divergence at `eps` of the noise and the noise plus 1, in [0, 1], equal in both directions; 0 for
        ``shape >= 1``, 1 for ``shape = 0``. Relative error below 1e-12.

    Notes
    -----
    With ``c_j = C(j + r - 1, j)`` the noise has ``P(z) ~ alpha^|z| sum_j c_j c_(j+|z|) alpha^(2j)``. For r < 1 the c_j
    fall, hence the sum falls in abs(z), and ``P(z) <= alpha P(z - 1)`` for every z >= 1. The hockey-stick divergence is
    the sum over z >= 1, ``delta = ((1 + e^eps) P(0) - (e^eps - 1)) / 2``. As ``P(0)`` is a hypergeometric function, two
    of its transformations give ``delta = (e^eps - 1) / 2 * (F(1 - r, 1/2; 1; sech(eps/2)^2) - 1)``. It is evaluated as
    an integral of a positive function, without cancellation, by a trapezoidal rule that converges geometrically.

    Derived for this project; Wang et al. 2023, Theorem 5, needs the case r = 1. Exact up to rounding. Replacement of
    one bit.

    Examples
    --------
    >>> from shuffledp.accounting import negative_binomial_delta
    >>> [round(negative_binomial_delta(shape, 1.0), 6) for shape in (0.5, 0.9, 1.0)]
    [0.359166, 0.056841, 0.0]
    """
    return float(_deltas(np.array([shape]), eps)[0])


def _deltas(shapes: NDArray[np.float64], eps: float) -> NDArray[np.float64]:
    missing = np.maximum(1 - shapes, 0.0)
    if eps > _MOST_EPS:
        return missing
    if eps < _LEAST_EPS:
        return _deltas_of_little_eps(missing, eps)
    tanh = math.tanh(eps / 2)
    # The angle of the integral over (1 - m sin^2)^(-s) is written as arctan(e^v).
    v = np.arange(-14.0, 40.0 - math.log(tanh), _STEP)
    odds = np.exp(2 * v)
    logs = np.log1p(odds / (math.cosh(eps / 2) ** 2 * (1 + tanh**2 * odds)))
    weights = _STEP * 2 * np.exp(-v) * expit(2 * v) / math.pi
    weights *= 0.5 * math.expm1(eps)
    result = np.empty_like(missing)
    for first in range(0, missing.size, _CHUNK):
        part = slice(first, first + _CHUNK)
        result[part] = np.expm1(missing[part, None] * logs) @ weights
    return np.minimum(result, 1.0)


def _deltas_of_little_eps(missing: NDArray[np.float64], eps: float) -> NDArray[np.float64]:
    """Return :func:`_deltas` in logs for small eps, where ``tanh(eps / 2)`` and ``expm1(eps) / 2`` are ``eps / 2``."""
    half = math.log(eps) - math.log(2)
    v = np.arange(-14.0, 40.0 - half, _STEP)
    logs = np.logaddexp(0.0, -np.logaddexp(-2 * v, 2 * half))
    log_weights = math.log(_STEP * 2 / math.pi) - v + log_expit(2 * v) + half
    powers = missing[:, None] * logs
    with np.errstate(divide="ignore"):  # nothing is missing
        sums = np.sum(np.exp(powers + np.log(-np.expm1(-powers)) + log_weights), axis=1)
    return np.asarray(np.minimum(sums, 1.0))


def expected_polya_delta(population: Population, n1: Positive, eps: Eps) -> float:
    """Return the delta of Polya noise that is planned for n1 users, averaged over the number of users.

    Derived from :func:`negative_binomial_delta` for this project; mean over N: Wang et al. 2023, Section VI-A.

    Parameters
    ----------
    population : Law
        Number of *other* users; N includes user 1. Populations without a law raise `Infeasible`.
    n1 : float
        Number of users whose total noise is sufficient, > 0, an integer or not.
    eps : float
        Nats, > 0.

    Returns
    -------
    float
        ``E[delta_(N / n1)]``, exact because the analyzer sees N; rounded up by less than 1e-29.
    """
    law = as_law(population, "the expected delta")
    return _expected(law, n1, eps)


def _expected(law: Law, n1: float, eps: float) -> float:
    window = law.window()
    short = int(np.clip(math.ceil(n1) - 1 - window.start, 0, window.pmf.size))  # entries with N < n1
    if short == 0:
        return min(window.omitted, 1.0)
    shapes = (window.start + 1.0 + np.arange(short, dtype=np.float64)) / n1
    return min(float(window.pmf[:short] @ _deltas(shapes, eps)) + window.omitted, 1.0)


def best_polya_shape(population: Population, eps: Eps, delta: Delta) -> int:
    """Return the largest number of users n1 for which the Polya noise meets half of delta.

    Derived for this project. Rounded down, so that the noise is never too small.

    Parameters
    ----------
    population : Law
        Number of *other* users. Populations without a law raise `Infeasible`.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1); half of it is for the secure summation.

    Returns
    -------
    int
        The largest n1 with ``E[delta_(N / n1)] <= delta / 2``, at least 1. Each user adds noise of shape ``1 / n1``.
    """
    law = as_law(population, "the expected delta")
    return _best_shape(law, eps, delta)


@remember(_REMEMBERED)
def _best_shape(law: Law, eps: float, delta: float) -> int:
    def excess(n1: float) -> float:
        value = _expected(law, n1, eps)
        return math.log(2 * value / delta) if value > 0 else -math.inf

    guess = law.mean + 1 - 3 * math.sqrt(law.variance)
    n1 = math.floor(root_below(excess, guess, 1.0, math.inf, xtol=0.25))
    return n1 + 1 if excess(n1 + 1) <= 0 else n1


def polya_reach(shape: float, ratio: float, failure: float) -> int:
    """Return a distance that the absolute noise exceeds with probability at most `failure`, rounded up. `shape` is the
    shape of both negative binomial variables, `ratio` their alpha. The distance is the best of many Chernoff bounds
    ``E[e^(sZ)] e^(-st)``; it holds for smaller shapes as well.
    """
    shape = check_positive("shape", shape)
    decay = -math.log(check_open_unit("ratio", ratio))
    failure = check_open_unit("failure", failure)
    s = np.geomspace(1e-5, 0.9999, 400)
    log_moment = 2 * log1mexp(decay) - log1mexp(decay * (1 - s)) - log1mexp(decay * (1 + s))
    return math.ceil(float(np.min((shape * log_moment + math.log(2 / failure)) / (s * decay))))


def as_law(population: Population, what: str) -> Law:
    """Return `population` if it is a law, else raise Infeasible."""
    if isinstance(population, Law):
        return population
    name = type(population).__name__
    raise Infeasible(f"{name} is not a law, and {what} needs the full distribution of the number of users.")
