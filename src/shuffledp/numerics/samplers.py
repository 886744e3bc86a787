"""Samplers of integer noise: two-sided geometric, discrete Gaussian, negative binomial and Poisson differences.

All samplers draw integers by rejection or as differences of integers. They do not round continuous variables, which
would change the variance by 1/12 and the privacy of the tails. They are exact up to the 53 bits of a uniform float64.
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
    """Draw integers with probabilities proportional to ``exp(-|y| / scale)``, for each `scale` in (0, 1e9]. The
    variance is ``2 r / (1 - r)^2`` with ``r = exp(-1 / scale)``. The shape is `size`, to which `scale` must broadcast,
    by default the shape of `scale`.
    """
    scales = _positive("two_sided_geometric: scale", scale, size, LARGEST_SCALE)
    return _geometric_difference(scales, rng)


def _geometric_difference(scales: NDArray[np.float64], rng: np.random.Generator) -> Ints:
    stop = -np.expm1(-1 / scales)
    return np.asarray(rng.geometric(stop) - rng.geometric(stop), np.int64)


def discrete_gaussian(sigma: ArrayLike, rng: np.random.Generator, size: Size = None) -> Ints:
    """Draw integers with probabilities proportional to ``exp(-y^2 / (2 sigma^2))``.

    Source: Canonne, Kamath and Steinke 2020. A two-sided geometric variable Y of scale ``t = floor(sigma) + 1`` is
    accepted with probability ``exp(-(|Y| - sigma^2 / t)^2 / (2 sigma^2))``.

    Parameters
    ----------
    sigma : array_like
        In (0, 1e9]; one value per draw, or one for all draws.
    rng : numpy.random.Generator
    size : int or tuple of int, optional
        Shape of the result, to which `sigma` must broadcast; by default the shape of `sigma`.

    Returns
    -------
    ndarray of int64
        The variance is ``sigma^2`` up to rounding for sigma >= 2.
    """
    sigmas = _positive("discrete_gaussian: sigma", sigma, size, LARGEST_SCALE)
    flat = sigmas.ravel()
    numbers = np.empty(flat.shape, np.int64)
    open_places = np.arange(flat.size)
    while open_places.size:
        s = flat[open_places]
        t = np.floor(s) + 1
        proposed = _geometric_difference(t, rng)
        # |Y| / sigma rather than squares of sigma, which underflow for tiny ones.
        excess = (np.abs(proposed) - s * (s / t)) / s
        accepted = rng.random(s.size) < np.exp(-np.minimum(excess**2, 1500.0) / 2)
        numbers[open_places[accepted]] = proposed[accepted]
        open_places = open_places[~accepted]
    return numbers.reshape(sigmas.shape)


def discrete_gaussian_pmf(sigma: float) -> NDArray[np.float64]:
    """Return the probabilities of -K..K, (2K+1,), for a discrete Gaussian; beyond ``K = ceil(39 sigma)`` they
    underflow.
    """
    sigma = check_positive("discrete_gaussian_pmf: sigma", sigma)
    most = math.ceil(39 * sigma)
    weights = np.exp(-np.minimum((np.arange(-most, most + 1) / sigma) ** 2 / 2, 800.0))
    return np.asarray(weights / weights.sum())


def discrete_gaussian_variance(sigma: float) -> float:
    """Return the variance of a discrete Gaussian; for sigma >= 3 it is ``sigma^2`` to the last digit. It is below
    ``sigma^2``, by a relative ``8 pi^2 sigma^2 exp(-2 pi^2 sigma^2)`` to first order.
    """
    sigma = check_positive("discrete_gaussian_variance: sigma", sigma)
    if sigma >= 3:
        return sigma**2
    pmf = discrete_gaussian_pmf(sigma)
    most = pmf.size // 2
    return float(pmf @ np.arange(-most, most + 1.0) ** 2)


def polya_difference(shape: ArrayLike, scale: float, rng: np.random.Generator, size: Size = None) -> Ints:
    """Draw differences of two independent Polya (negative binomial) variables of each positive `shape` s, any real.
    Each variable is j with probability ``C(j + s - 1, j) r^j (1 - r)^s``, ``r = exp(-1 / scale)``, for a `scale` in (0,
    1e9]. The variance is ``2 s r / (1 - r)^2``. Differences whose shapes add up to 1 have a `two_sided_geometric` sum
    of this scale. The array shape is `size`, to which `shape` must broadcast, by default the array shape of `shape`.
    """
    shapes = _positive("polya_difference: shape", shape, size)
    stop = -math.expm1(-1 / float(_positive("polya_difference: scale", scale, (), LARGEST_SCALE)))
    differences = rng.negative_binomial(shapes, stop) - rng.negative_binomial(shapes, stop)
    return np.asarray(differences, np.int64)


def skellam(variance: ArrayLike, rng: np.random.Generator, size: Size = None) -> Ints:
    """Draw differences of two independent Poisson variables with mean ``variance / 2`` each, for each `variance` in (0,
    1e9]. The sum of such differences has the same law, and variances add up. The shape is `size`, to which `variance`
    must broadcast, by default the shape of `variance`.
    """
    half = _positive("skellam: variance", variance, size, LARGEST_SCALE) / 2
    return np.asarray(rng.poisson(half) - rng.poisson(half), np.int64)


def without_replacement(counts: NDArray[np.int64], size: int, rng: np.random.Generator) -> Ints:
    """Draw the number of items of each kind, (k,), in a sample of `size` items without replacement (multivariate
    hypergeometric).

    `counts` has the items of each kind, up to 2^62 in total. NumPy draws the numbers for fewer than 10^9 items.
    Otherwise each item is first chosen by a coin, which gives a uniform sample of random size. The difference in size,
    about the square root of the total, is then drawn item by item. Raises ValueError for a `size` above the total.
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
    corrections = np.bincount(np.searchsorted(ends, places, side="right"), minlength=table.size)
    return np.asarray(chosen + np.sign(missing) * corrections, np.int64)


def _positive(name: str, value: ArrayLike, size: Size, most: float = math.inf) -> NDArray[np.float64]:
    """Return the argument as an array of the wanted shape; raise ValueError unless it is finite and in (0, most]."""
    numbers = np.asarray(value)
    # Its extremes, not all of it: this is called for a few numbers at a time, thousands of times.
    fits = numbers.dtype.kind in "iuf" and (
        not numbers.size or (numbers.min() > 0 and numbers.max() <= most and numbers.max() < math.inf)
    )
    if not fits:
        allowed = "positive and finite" if most == math.inf else f"in (0, {most:g}]"
        raise ValueError(f"{name} must be {allowed}, got {value!r}.")
    if size is None:
        return numbers.astype(np.float64)
    return np.array(np.broadcast_to(numbers.astype(np.float64), np.broadcast_shapes(size)))
