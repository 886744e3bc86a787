"""Samplers of integer noise: two-sided geometric, discrete Gaussian, negative binomial and Poisson differences.

All of them draw integers by rejection or as differences of integers; no continuous variable is rounded, which would
change the variance by 1/12 and the privacy of the tails. They are exact up to the 53 bits of a uniform float64.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.numerics.argument_ranges import check_positive

Ints = NDArray[np.int64]
Size = int | tuple[int, ...] | None

#: Limit of numpy's hypergeometric numbers.
_MOST_HYPERGEOMETRIC = 10**9
#: Largest scale: sums of such noise over 10^6 users still fit into an int64.
LARGEST_SCALE = 1e9


def two_sided_geometric(scale: ArrayLike, rng: np.random.Generator, size: Size = None) -> Ints:
    """Draw integers with probabilities proportional to ``exp(-|y| / scale)``.

    Parameters
    ----------
    scale : array_like
        Positive, at most 1e9; one value per draw, or one for all.
    rng : numpy.random.Generator
    size : int or tuple of int, optional
        Shape of the result; `scale` must broadcast to it. The shape of `scale` when left out.

    Returns
    -------
    ndarray of int64
        The variance is ``2 r / (1 - r)^2`` with ``r = exp(-1 / scale)``.
    """
    scales = _positive("two_sided_geometric: scale", scale, size, LARGEST_SCALE)
    return _geometric_difference(scales, rng)


def _geometric_difference(scales: NDArray[np.float64], rng: np.random.Generator) -> Ints:
    stop = -np.expm1(-1 / scales)
    return np.asarray(rng.geometric(stop) - rng.geometric(stop), np.int64)


def discrete_gaussian(sigma: ArrayLike, rng: np.random.Generator, size: Size = None) -> Ints:
    """Draw integers with probabilities proportional to ``exp(-y^2 / (2 sigma^2))``.

    Parameters
    ----------
    sigma : array_like
        Positive, at most 1e9; one value per draw, or one for all.
    rng : numpy.random.Generator
    size : int or tuple of int, optional
        Shape of the result; `sigma` must broadcast to it. The shape of `sigma` when left out.

    Returns
    -------
    ndarray of int64
        The variance is `discrete_gaussian_variance`, which is ``sigma^2`` up to rounding from sigma = 2 on.

    Notes
    -----
    Canonne, Kamath and Steinke 2020: a two-sided geometric variable Y of scale ``t = floor(sigma) + 1`` is accepted
    with probability ``exp(-(|Y| - sigma^2 / t)^2 / (2 sigma^2))``.
    """
    sigmas = _positive("discrete_gaussian: sigma", sigma, size, LARGEST_SCALE)
    flat = sigmas.ravel()
    drawn = np.empty(flat.shape, np.int64)
    open_places = np.arange(flat.size)
    while open_places.size:
        s = flat[open_places]
        t = np.floor(s) + 1
        proposed = _geometric_difference(t, rng)
        # |Y| / sigma rather than squares of sigma, which underflow for tiny ones.
        excess = (np.abs(proposed) - s * (s / t)) / s
        accepted = rng.random(s.size) < np.exp(-np.minimum(excess**2, 1500.0) / 2)
        drawn[open_places[accepted]] = proposed[accepted]
        open_places = open_places[~accepted]
    return drawn.reshape(sigmas.shape)


def discrete_gaussian_pmf(sigma: float) -> NDArray[np.float64]:
    """Return the probabilities of -K..K, (2K+1,), for a discrete Gaussian.

    Parameters
    ----------
    sigma : float
        Positive. K is 39 sigma rounded up: larger integers underflow.
    """
    sigma = check_positive("discrete_gaussian_pmf: sigma", sigma)
    most = math.ceil(39 * sigma)
    weights = np.exp(-np.minimum((np.arange(-most, most + 1) / sigma) ** 2 / 2, 800.0))
    return np.asarray(weights / weights.sum())


def discrete_gaussian_variance(sigma: float) -> float:
    """Return the variance of a discrete Gaussian; from sigma = 3 on it is ``sigma^2`` to the last digit.

    Notes
    -----
    It is below ``sigma^2``, by a relative ``8 pi^2 sigma^2 exp(-2 pi^2 sigma^2)`` to first order.
    """
    sigma = check_positive("discrete_gaussian_variance: sigma", sigma)
    if sigma >= 3:
        return sigma**2
    pmf = discrete_gaussian_pmf(sigma)
    most = pmf.size // 2
    return float(pmf @ np.arange(-most, most + 1.0) ** 2)


def polya_difference(shape: ArrayLike, scale: float, rng: np.random.Generator, size: Size = None) -> Ints:
    """Draw differences of two independent Polya (negative binomial) variables.

    Parameters
    ----------
    shape : array_like
        Positive, any real: the parameter s of each variable, one per draw, or one for all.
    scale : float
        Positive, at most 1e9. Each variable is j with probability ``C(j + s - 1, j) r^j (1 - r)^s``,
        ``r = exp(-1 / scale)``.
    rng : numpy.random.Generator
    size : int or tuple of int, optional
        Shape of the result; `shape` must broadcast to it. The shape of `shape` when left out.

    Returns
    -------
    ndarray of int64
        Differences whose shapes add up to 1 sum to a `two_sided_geometric` variable of this scale.
        The variance is ``2 s r / (1 - r)^2``.
    """
    shapes = _positive("polya_difference: shape", shape, size)
    stop = -math.expm1(-1 / float(_positive("polya_difference: scale", scale, (), LARGEST_SCALE)))
    drawn = rng.negative_binomial(shapes, stop) - rng.negative_binomial(shapes, stop)
    return np.asarray(drawn, np.int64)


def skellam(variance: ArrayLike, rng: np.random.Generator, size: Size = None) -> Ints:
    """Draw differences of two independent Poisson variables with mean ``variance / 2`` each.

    Parameters
    ----------
    variance : array_like
        Positive, at most 1e9; one value per draw, or one for all.
    rng : numpy.random.Generator
    size : int or tuple of int, optional
        Shape of the result; `variance` must broadcast to it. The shape of `variance` when left out.

    Returns
    -------
    ndarray of int64
        Sums are such differences again, and variances add up.
    """
    half = _positive("skellam: variance", variance, size, LARGEST_SCALE) / 2
    return np.asarray(rng.poisson(half) - rng.poisson(half), np.int64)


def without_replacement(counts: NDArray[np.int64], size: int, rng: np.random.Generator) -> Ints:
    """Draw the number of items of each kind in a sample without replacement from a large population.

    Parameters
    ----------
    counts : (k,) ndarray of int
        Items of each kind in the population; their sum N may be up to 2^62.
    size : int
        Size of the sample, in 0..N.
    rng : numpy.random.Generator

    Returns
    -------
    (k,) ndarray of int64
        The multivariate hypergeometric law. numpy draws it below 10^9 in all. Beyond, each item is first chosen by a
        coin, which gives a uniform sample of a random size. The difference in size, of the order of the root of N, is
        then drawn item by item from the chosen or from the other ones.

    Raises
    ------
    ValueError
        If `size` is outside of 0..N.
    """
    table = np.asarray(counts, np.int64)
    total = int(table.sum())
    if not 0 <= size <= total:
        raise ValueError(f"without_replacement: size must be in 0..{total}, got {size!r}.")
    if total < _MOST_HYPERGEOMETRIC:
        return np.asarray(rng.multivariate_hypergeometric(table, size, method="marginals"), np.int64)
    if size in (0, total):
        return table.copy() if size else np.zeros_like(table)
    chosen = np.asarray(rng.binomial(table, size / total), np.int64)
    missing = size - int(chosen.sum())
    if missing == 0:
        return chosen
    pool = table - chosen if missing > 0 else chosen
    ends = np.cumsum(pool)
    places = rng.choice(int(ends[-1]), abs(missing), replace=False, shuffle=False)
    moved = np.bincount(np.searchsorted(ends, places, side="right"), minlength=table.size)
    return np.asarray(chosen + np.sign(missing) * moved, np.int64)


def _positive(name: str, value: ArrayLike, size: Size, most: float = math.inf) -> NDArray[np.float64]:
    """Return the argument as an array of the wanted shape; raise ValueError unless it is in (0, most] and finite."""
    given = np.asarray(value)
    # Its extremes, not all of it: this is called for a few numbers at a time, thousands of times.
    fits = given.dtype.kind in "iuf" and (
        not given.size or (given.min() > 0 and given.max() <= most and given.max() < math.inf)
    )
    if not fits:
        allowed = "positive and finite" if most == math.inf else f"in (0, {most:g}]"
        raise ValueError(f"{name} must be {allowed}, got {value!r}.")
    if size is None:
        return given.astype(np.float64)
    return np.array(np.broadcast_to(given.astype(np.float64), np.broadcast_shapes(size)))
