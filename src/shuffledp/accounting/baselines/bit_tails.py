r"""Divergence curves of one sum of randomized bits, for many data sets of the other users at once.

Let S be a sum of independent bits, ones and zeros that are each flipped with probability p. Its tails are contour
integrals: with K(s) the log of the mean of ``e^(s (S - mean))`` and any tilt lambda > 0

.. math:: \Pr[S \ge j] = \frac{1}{2 \pi} \int_{-\pi}^{\pi} \frac{e^{K(s) - s (j - mean)}}{1 - e^{-s}} d\theta, \qquad
    s = \lambda + i \theta .

The probabilities have the same integral without the denominator. The trapezoidal rule with M points adds the tails at
``j + M, j - M, ..`` times ``e^(lambda M), e^(-lambda M), ..``. At a tilt of about four standard deviations, thirty
points are sufficient for any number of bits, and small tails keep their digits. All data sets have the same points and
the same distances of j from the mean, so that one product of matrices computes all tails.

With user 1's bit, S has the laws P and Q. The ratio ``tau_j = P(j) / Q(j) - 1`` grows with j, and at ``t = 1 + tau_j``
the divergence is ``D_t = (1 - 2p - p tau_j) Pr[S = j - 1] - tau_j Pr[S >= j]``. The curve is convex, so that chords
between these t are upper bounds. Derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.roots import root_below
from shuffledp.numerics.sum_excess import expm1

#: K at twice the tilt: of a normal law, a tilt of four standard deviations.
_LOG_AT_TWICE = 32.0
#: Points of the contour at which the transform is below this are left out: a logarithm.
_LOG_LEAST = -44.0
#: Rounding, in units of the sum of the sizes of all terms.
_ROUNDING = 1e-13
#: Terms of products of matrices that one thread computes, and columns of them.
_ONE_THREAD, _COLUMNS = 2**18, 256
#: Cells of a table over data sets and places that is worked on at a time.
_AT_A_TIME = 2**16
#: Relative rounding error from which on a sum counts as lost in rounding.
_LOST = 0.1


@dataclass(frozen=True, eq=False)
class _Contour:
    """Points ``tilt + i theta`` of the trapezoidal rule, with their weights."""

    tilt: float
    theta: NDArray[np.float64]
    weight: NDArray[np.float64]


def excess_divergences(
    data_sets: Sequence[tuple[int, int]],
    flip_probability: float,
    tau: NDArray[np.float64],
    omitted: float,
    per_deviation: int,
) -> NDArray[np.float64]:
    """Return upper bounds on the largest ``D_(1 + tau)`` of one sum over several data sets of the other users, shape of
    `tau`. `data_sets` has pairs: the number of other users with bit one and the number with bit zero. All pairs have
    about the same total, with at least nine expected flips. `tau` increases from 0 to at most ``(1 - p) / p - 1``. The
    mass `omitted` is added to the divergences; there are about `per_deviation` chords per standard deviation.
    """
    p, q = flip_probability, 1 - flip_probability
    ones, zeros = (np.array(column, np.float64) for column in zip(*data_sets, strict=True))
    variance = float(np.max(ones + zeros)) * p * q
    log_inverse = -math.log(omitted)
    contour = _contour(p, ones, zeros, log_inverse)
    # Bernstein: beyond the last place is less than what is omitted.
    reach = log_inverse / 3 + math.sqrt(log_inverse**2 / 9 + 2 * variance * log_inverse)
    step = max(1, round(math.sqrt(variance) / per_deviation))
    places = step * np.arange(math.ceil(reach / step) + 2)

    before = np.array(
        [_before_mean(int(o), int(z), p) for o, z in data_sets]
    )  # the first place less the mean, below -1
    laws = _Laws(contour, p, tau, places, _waves(contour.theta, places))
    # Some data sets at a time: their tables stay in the cache of the processor.
    rows = max(1, _AT_A_TIME // places.size)
    bounds = np.zeros(tau.size)
    for begin in range(0, ones.size, rows):
        some = slice(begin, begin + rows)
        _raise_to(bounds, laws, ones[some], zeros[some], before[some])
    return bounds + omitted * (2 + tau)


@dataclass(frozen=True, eq=False)
class _Laws:
    """Quantities common to the sums of all data sets, for divergences at `tau`."""

    contour: _Contour
    flip_probability: float
    tau: NDArray[np.float64]
    places: NDArray[np.int64]
    waves: Sequence[NDArray[np.float64]]


def _raise_to(
    bounds: NDArray[np.float64],
    laws: _Laws,
    ones: NDArray[np.float64],
    zeros: NDArray[np.float64],
    before: NDArray[np.float64],
) -> None:
    """Increase the `bounds` in place so that they also hold for further data sets."""
    contour, p, places = laws.contour, laws.flip_probability, laws.places
    q = 1 - p
    logs, shift, at_tilt = _transforms(contour, p, ones, zeros)
    transform = np.exp(logs + 1j * contour.theta * (shift - before)[:, None]) * contour.weight
    s = np.asarray(contour.tilt + 1j * contour.theta, np.complex128)
    factors = np.exp(s), expm1(s), -1 / expm1(-s)  # of Pr[S = j - 1], its fall to Pr[S = j], and Pr[S >= j]
    terms = [np.asarray(transform * factor, np.complex128) for factor in factors]
    size, tail_size = (np.sum(np.abs(term), axis=1)[:, None] for term in terms[::2])
    decay = np.exp(-contour.tilt * places)
    if places[1] == 1:  # the others are sums of falls, from the top
        (fall,) = _sums(terms[1:2], laws.waves)
        last_point, last_tail = _sums(terms[::2], _waves(contour.theta, places[-1:]))
        point = _from_top(fall * decay, (last_point - fall[:, -1:]) * decay[-1])
        behind = last_tail * decay[-1]
        tail = np.concatenate((_from_top(point[:, 1:], behind), behind), axis=1)
        point /= decay
        tail /= decay
    else:
        point, fall, tail = _sums(terms, laws.waves)

    least = _ROUNDING / _LOST * size
    good = (point > least) & (point - fall > least)
    with np.errstate(divide="ignore", invalid="ignore"):
        y = (q - p) * fall / (2 * point - fall)
        ratio = 2 * y / (1 - y)  # tau_j
    worth = (q - p - p * ratio) * point - ratio * tail
    worth += _ROUNDING * ((q - p) * size + np.abs(ratio) * tail_size)
    with np.errstate(over="ignore", invalid="ignore"):
        value = worth * decay * np.exp(at_tilt - contour.tilt * before)[:, None]
    good &= np.isfinite(value)
    good[:, 1:] &= np.diff(ratio) > 0
    counts = np.where(good.all(axis=1), places.size, np.argmin(good, axis=1))
    # Right of the last place above rounding errors, a chord to the end, where the curve is 0.
    at, height = (np.concatenate((part, np.zeros((ones.size, 1))), axis=1) for part in (ratio, value))
    for i, count in enumerate(counts.tolist()):
        at[i, count], height[i, count] = q / p - 1, 0.0
        bound = np.interp(laws.tau, at[i, : count + 1], height[i, : count + 1], left=1.0)
        np.maximum(bounds, bound, out=bounds)


def half_tails(
    numbers: NDArray[np.float64], omitted: float, step: int, reach: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ``Pr[heads >= j]`` and ``Pr[heads = j]`` of fair coins, (B, K) each. The number j grows in steps of
    `step`, starting at half of the coins. The B `numbers` of coins are at least 1,000, are of similar size and share a
    tilt. `omitted` is the largest error of the trapezoidal rule. `reach` is about the distance of the last j from half
    of the coins. Rounding errors are about 1e-12 relative.
    """
    none = np.zeros_like(numbers)
    contour = _contour(0.5, none, numbers, -math.log(omitted))
    logs, shift, at_tilt = _transforms(contour, 0.5, none, numbers)
    places = step * np.arange(math.ceil(reach / step) + 1)
    beyond = np.mod(numbers, 2) / 2  # the first place less the mean
    turned = logs + 1j * contour.theta * (shift - beyond)[:, None]
    transform = np.asarray(np.exp(turned) * contour.weight, np.complex128)
    s = np.asarray(contour.tilt + 1j * contour.theta, np.complex128)
    tail, point = _sums([transform * (-1 / expm1(-s)), transform], _waves(contour.theta, places))
    scale = np.exp(at_tilt[:, None] - contour.tilt * (places + beyond[:, None]))
    return np.maximum(tail * scale, 0.0), np.maximum(point * scale, 0.0)


def _contour(p: float, ones: NDArray[np.float64], zeros: NDArray[np.float64], log_inverse: float) -> _Contour:
    """Return a contour that all data sets share. Its factor ``e^(-tilt M)`` is so small that the error of the
    trapezoidal rule is below the omitted mass on either side. For every j from just below the mean upward, this follows
    from Chernoff's bound at twice the tilt.
    """

    def most(tilt: float) -> float:
        return float(np.max(zeros * _log_mean(p, tilt) + ones * _log_mean(p, -tilt)))

    deviation = math.sqrt(float(np.min(ones + zeros)) * p * (1 - p))
    tilt = 0.5 * root_below(
        lambda x: most(x) - _LOG_AT_TWICE,
        2 * math.sqrt(_LOG_AT_TWICE / 2) / deviation,
        0.0,
        40.0,
        xtol=1e-3 / deviation,
    )
    points = math.ceil((_LOG_AT_TWICE + log_inverse + 8 + 4 * tilt) / tilt) | 1  # odd: none at pi
    up, down = _tilted(p, tilt), _tilted(p, -tilt)
    variance = float(np.min(zeros * up * (1 - up) + ones * down * (1 - down)))
    # |e^(i theta) q + p| ^ 2 = 1 - 2 p q (1 - cos theta), and -log(1 - x) >= x
    cosine = 1 + _LOG_LEAST / variance
    reach = math.acos(cosine) if cosine > -1 else math.pi
    theta = 2 * math.pi / points * np.arange(min(points // 2, math.ceil(reach * points / (2 * math.pi))) + 1)
    weight = np.full(theta.size, 2 / points)
    weight[0] = 1 / points
    return _Contour(tilt, np.asarray(theta, np.float64), weight)


def _tilted(p: float, tilt: float) -> float:
    """Return the probability of a one under the tilted law of a bit."""
    return p / (p + (1 - p) * math.exp(-tilt))


def _log_mean(p: float, tilt: float) -> float:
    """Return the log of the mean of ``e^(tilt (bit - p))``, exact for small tilts."""
    q = 1 - p
    return math.log1p(q * _expm1_rest(-p * tilt) + p * _expm1_rest(q * tilt))


def _expm1_rest(x: float) -> float:
    if abs(x) > 0.1:
        return math.expm1(x) - x
    return (
        x
        * x
        * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * (1 / 720 + x * (1 / 5040 + x / 40320))))))
    )


def _sine_rest(x: NDArray[np.float64]) -> NDArray[np.float64]:
    square = x * x
    series = (
        x
        * square
        * (-1 / 6 + square * (1 / 120 + square * (-1 / 5040 + square * (1 / 362880 - square / 39916800))))
    )
    return np.where(np.abs(x) < 0.3, series, np.sin(x) - x)


def _transforms(
    contour: _Contour, p: float, ones: NDArray[np.float64], zeros: NDArray[np.float64]
) -> tuple[NDArray[np.complex128], NDArray[np.float64], NDArray[np.float64]]:
    """Return the logs of the transforms of the centered tilted laws, (B, L), with shifts and normalizations, (B,) each.
    The logs are relative to the value at the tilt. A shift is the mean of the tilted law minus the mean of the law. A
    normalization is the log of the transform at the tilt.
    """
    up, down = _tilted(p, contour.tilt), _tilted(p, -contour.tilt)
    at_zero, at_one = _log_centered(up, contour.theta), np.conj(_log_centered(down, contour.theta))
    logs = np.outer(zeros, at_zero) + np.outer(ones, at_one)
    rise = math.expm1(contour.tilt)
    # the rise of the probability is p q (e^tilt - 1) / (q + p e^tilt), and alike for the other tilt
    shift_zero = p * (1 - p) * rise / (1 + p * rise)
    fall = math.expm1(-contour.tilt)
    shift_one = p * (1 - p) * fall / (1 + p * fall)
    shift = zeros * shift_zero - ones * shift_one
    at_tilt = zeros * _log_mean(p, contour.tilt) + ones * _log_mean(p, -contour.tilt)
    return logs, shift, at_tilt


def _log_centered(rate: float, theta: NDArray[np.float64]) -> NDArray[np.complex128]:
    """Return the log of the mean of ``e^(i theta (bit - rate))``; its imaginary part is exact for small angles."""
    other = 1 - rate
    deficit = -2 * (other * np.sin(rate * theta / 2) ** 2 + rate * np.sin(other * theta / 2) ** 2)
    imaginary = rate * _sine_rest(other * theta) - other * _sine_rest(rate * theta)
    with np.errstate(divide="ignore"):
        size = 0.5 * np.log1p(np.maximum(2 * deficit + deficit**2 + imaginary**2, -1.0))
    return np.asarray(size + 1j * np.arctan2(imaginary, 1 + deficit), np.complex128)


def _before_mean(ones: int, zeros: int, p: float) -> float:
    """Return ``floor(mean) - 1 - mean`` for the mean of the sum, accurate even for a mean of a billion."""
    top, bottom = p.as_integer_ratio()
    return -1 - ((zeros * top + ones * (bottom - top)) % bottom) / bottom


def _from_top(parts: NDArray[np.float64], behind: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for each column, the sum of this column, all later columns and the rest `behind`."""
    return np.asarray(np.cumsum(parts[:, ::-1], axis=1)[:, ::-1] + behind)


def _waves(theta: NDArray[np.float64], places: NDArray[np.int64]) -> Sequence[NDArray[np.float64]]:
    """Return the cosines, then the sines, of ``-theta place``, as blocks of columns of a (2 L, K) matrix. The places
    are equally spaced.
    """
    # a product of few angles, as sines cost more than products
    width = math.ceil(math.sqrt(places.size))
    fine = np.exp(-1j * np.outer(theta, places[:width] - places[0]))
    coarse = np.exp(-1j * np.outer(theta, places[::width]))
    waves = (coarse[:, :, None] * fine[:, None, :]).reshape(theta.size, -1)[:, : places.size]
    parts = (waves[:, begin : begin + _COLUMNS] for begin in range(0, places.size, _COLUMNS))
    return [np.concatenate((part.real, part.imag)) for part in parts]


def _sums(
    terms: Sequence[NDArray[np.complex128]], waves: Sequence[NDArray[np.float64]]
) -> Sequence[NDArray[np.float64]]:
    """Return the real parts of sums over theta, (B, K) each, by matrix products. The summands are the terms, (B, L),
    times ``e^(-i theta place)``.
    """
    coefficients = np.concatenate([np.concatenate((term.real, -term.imag), axis=1) for term in terms])
    return np.split(_product(coefficients, waves), len(terms))


def _product(matrix: NDArray[np.float64], right: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the product of matrices, computed in parts that are too small for several threads."""
    product = np.empty((matrix.shape[0], sum(part.shape[1] for part in right)))
    begin = 0
    for part in right:
        columns = slice(begin, begin + part.shape[1])
        rows = max(1, _ONE_THREAD // part.size)
        for first in range(0, matrix.shape[0], rows):
            product[first : first + rows, columns] = matrix[first : first + rows] @ part
        begin = columns.stop
    return product
