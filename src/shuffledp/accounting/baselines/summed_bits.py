r"""Delta of two sums of randomized bits, for every data set of the other users.

Every user flips each of k bits, one per value, with probability p; the adversary sees one sum per value and nothing
else. If user 1's value changes, two bits change in opposite directions. Of the N other users, a hold the first value.
After the second sum is reflected, ``count -> N + 1 - count``, let c of its bits be ones. Then delta is the divergence
of a product,

.. math:: \delta(a, c) = D_{e^\epsilon}(P_a \times P_c \,\|\, Q_a \times Q_c), \qquad
    P_a = S_a * B(1 - p), \quad Q_a = S_a * B(p), \quad S_a = \mathrm{Bin}(a, 1 - p) * \mathrm{Bin}(N - a, p),

where B is the law of a single bit. Data sets are pairs with a <= c. The other direction of the divergence is the pair
``(N - c, N - a)``, and the factors may be exchanged. The worst delta is therefore the largest ``delta(a, c)`` over the
square ``0 <= a, c <= N``.

The bound for all data sets has three steps:

1. If ``h(t) >= D_t(P_a || Q_a)`` for all a and t, and h is the curve of a pair, then the square of this pair dominates
   every product, because products keep domination. The largest of several curves is convex in t, and so is the
   greatest convex function below bounds at the points of a grid, continued by chords; each is the curve of a pair.
2. For ``a1 <= a <= a2``, let the adversary know ``a2 - a1`` of the bits. The law of the rest,
   ``Bin(a1, 1 - p) * Bin(N - a2, p)``, is the same for all these a, and knowledge of bits only increases D. Blocks of
   one number reveal no bits.
3. S is log-concave, so that P / Q increases and D_t is a difference of two tails.

The blocks are smallest at the two ends, where the curves are largest: a curve near an end exceeds the next curve by
more than the effect of the known bits. The delta of the data set in which all other users hold one of the two values is
a lower bound. The gap of the two bounds in eps is at most 2.3e-4 for eps up to about 1 (1,000 users at 1 nat per bit,
10,000 at 3, 100,000 at 5 to 7). It is 1.3e-3 for 20,000 users at 7 nats per bit. Replacement neighbors. Derived for
this project.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.bit_tails import excess_divergences
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.windows import Window, binomial_window

#: Points of the grid of a curve, and its step in the middle in units of the standard deviation of a loss.
_POINTS, _STEP = 3001, 1 / 100
#: Largest and smallest number of blocks at each end, and the number of points of laws in all blocks together.
_MOST_BLOCKS, _LEAST_BLOCKS, _WORK = 400, 48, 1_000_000
#: Products of windows beyond which the Fourier transform is used, without and with a need for more digits; and its
#: largest error in a tail.
_DIRECT, _DIRECT_AT_MOST, _ROUNDING = 2**20, 2**26, 1e-13
_FEW_DIGITS = 1e-26
#: Standard deviation from which on tails are contour integrals, and places per deviation that they are found at.
_WIDE, _PER_DEVIATION = 3.0, 100
#: Distance from fair coins up to which revealed bits of the others are the better bound.
_NEARLY_FAIR = 0.05
#: The least scale of losses: closer to 1 the slopes of a curve have too few digits.
_LEAST_SCALE = 1e-6
#: Factor by which a rough curve has fewer blocks, points and places; and the factor by which blocks widen.
_ROUGHLY, _MORE = 4, 1.05
#: Probabilities below are left out, so that none underflows when it is multiplied with p.
_TINY = 1e-270
_MOST_EPS = 700.0


@dataclass(frozen=True, eq=False)
class Curve:
    """Curve ``t -> D_t`` of a pair, linear between given corners. It is 1 - t below the first corner and 0 above the
    last.
    """

    t: NDArray[np.float64]
    value: NDArray[np.float64]

    def squared(self, eps: float) -> float:
        """Return delta of two independent copies at eps (nats); never below the exact value except by rounding."""
        slopes = np.concatenate(([-1.0], np.diff(self.value) / np.diff(self.t), [0.0]))
        mass = np.diff(slopes)  # of the second law, at likelihood ratio t
        at = math.exp(min(eps, _MOST_EPS)) / self.t
        inside = np.interp(at, self.t, self.value, right=0.0)
        return float(np.sum(mass * self.t * np.where(at < self.t[0], 1 - at, inside)))


def summed_bits_delta(
    others: int, flip_probability: float, eps: float, omitted: float, *, rough: bool = False
) -> float:
    """Return a bound on delta of two sums of randomized bits, for every data set of the other users (`others` >= 1).
    Each law of a sum omits at most the mass `omitted`, which is added to delta. A rough bound is larger and faster.
    """
    # narrow laws have the same precision in both cases
    rough = rough and _is_wide(others, flip_probability, omitted)
    return min(max(worst_curve(others, flip_probability, omitted, rough).squared(eps), 0.0), 1.0)


def two_bits_delta(eps_bit: float, eps: float) -> float:
    """Return delta of one vector of randomized bits, two of which change with the input; 0 for ``eps >= 2 eps_bit``."""
    p = 1 / (1 + math.exp(eps_bit))
    gap = eps - 2 * eps_bit
    return (1 - p) ** 2 * -math.expm1(gap) if gap < 0 else 0.0


@remember(16)
def worst_curve(others: int, flip_probability: float, omitted: float, rough: bool = False) -> Curve:
    """Return an upper bound on the curves of one sum for all data sets; arguments as in `summed_bits_delta`."""
    p = flip_probability
    spread = _spread(others, p)
    most = math.log1p(-p) - math.log(p)
    scale = max((1 - 2 * p) / spread, _LEAST_SCALE) if spread > 1 / most else most
    if _is_wide(others, p, omitted):
        extremes = [(first, others - last) for first, last in blocks(others, p, _ROUGHLY if rough else 1)]
        losses = _grid(most, scale, _POINTS // _ROUGHLY if rough else _POINTS)
        losses = losses[losses.size // 2 :]
        tau = np.expm1(losses)
        tau[-1] = (1 - 2 * p) / p  # P / Q lies between p / (1 - p) and its inverse
        per_deviation = _PER_DEVIATION // _ROUGHLY if rough else _PER_DEVIATION
        right = excess_divergences(extremes, p, tau, omitted, per_deviation)
        right[-1] = 0.0
        # Turning all sums round exchanges P and Q, and D_t(Q, P) = 1 - t + t D_(1/t)(P, Q).
        t = np.concatenate((1 / (1 + tau[:0:-1]), 1 + tau))
        value = np.concatenate((-np.expm1(-losses[:0:-1]) + right[:0:-1] / (1 + tau[:0:-1]), right))
    else:
        t = np.exp(_grid(most, scale, _POINTS))
        value = np.zeros(t.size)
        for first, last in blocks(others, p):
            np.maximum(value, _divergences(first, others - last, p, t, omitted), out=value)
    value = np.maximum(np.minimum.accumulate(value), 1 - t)
    value[0], value[-1] = 1 - t[0], 0.0  # P / Q lies between p / (1 - p) and its inverse
    corners = _convex(t, value)
    return Curve(t[corners], value[corners])


def _spread(others: int, p: float) -> float:
    return math.sqrt(max(others * p * (1 - p), 1e-300))


def _is_wide(others: int, p: float, omitted: float) -> bool:
    """Return whether the law of the sum is wide enough to evaluate its tails as contour integrals."""
    return _spread(others, p) >= _WIDE and omitted >= _FEW_DIGITS


def _grid(most: float, scale: float, points: int) -> NDArray[np.float64]:
    """Return a grid of losses from -most to most, with fine steps up to losses of about `scale`."""
    width = scale * _STEP * (_POINTS - 1) / 8
    end = math.asinh(most / width)
    steps = width * np.sinh(np.linspace(-end, end, points))
    steps[0], steps[-1] = -most, most
    return steps


def blocks(others: int, flip_probability: float, fewer: int = 1) -> list[tuple[int, int]]:
    """Return the first and last numbers of blocks that cover ``0, .., others``, with short blocks at both ends."""
    spread = math.sqrt(others * flip_probability * (1 - flip_probability))
    # Near 1/2 revealed bits are the better bound anyway.
    work = _WORK if 1 - 2 * flip_probability > _NEARLY_FAIR else 0.4 * _WORK
    most = max(_LEAST_BLOCKS, min(_MOST_BLOCKS, round(work / (16 * spread + 16)))) // fewer
    # Revealed bits cost half their share of eps; the skewness of the sum is what eps falls by toward the middle.
    growth = fewer * 2 * (1 - 2 * flip_probability) / (spread + 1)
    share = 0.0 if others < 2 * most else max(_share(most, growth) / _MORE, 1e-7)
    while len(widths := _widths(others, share, growth, most)) > most:
        share = max(_MORE * share, 1e-7)
    edges = np.minimum(np.cumsum([0, *widths]), (others + 1) // 2)
    starts = sorted({*map(int, edges), *(others + 1 - int(x) for x in edges)})
    return [(first, after - 1) for first, after in pairwise(starts)]


def _share(count: int, growth: float) -> float:
    """Return the first block's width over the width of all numbers, for `count` growing blocks that
    reach the middle.
    """
    return growth / (2 * math.expm1(count * math.log1p(growth))) if growth > 1e-9 else 1 / (2 * count)


def _widths(others: int, share: float, growth: float, most: int) -> list[int]:
    """Return the widths of blocks from an end to the middle; ``most + 1`` widths mean that the
    middle is not reached.
    """
    if not share:
        return [1] * ((others + 2) // 2)
    widths: list[int] = []
    covered = 0
    while 2 * covered < others + 1 and len(widths) <= most:
        widths.append(max(1, math.floor(share * others + growth * covered)))
        covered += widths[-1]
    return widths


def _divergences(
    ones: int, zeros: int, p: float, t: NDArray[np.float64], omitted: float
) -> NDArray[np.float64]:
    """Return bounds on D_t of the pair for one data set: before the flips, the other bits are `ones` ones and `zeros`
    zeros.
    """
    window = _narrow_window if _spread(ones + zeros, p) < _WIDE else binomial_window
    up, down = window(zeros, p, omitted).pmf, window(ones, p, omitted).pmf[::-1]
    error = 2 * omitted + _TINY * (up.size + down.size)
    if up.size * down.size <= (_DIRECT if omitted >= _FEW_DIGITS else _DIRECT_AT_MOST):
        law = np.convolve(up, down)
    else:
        law = _convolved(up, down)
        error += _ROUNDING
    law = law[law > _TINY]
    same, apart = np.concatenate(([0.0], law)), np.concatenate((law, [0.0]))
    first, second = (1 - p) * same + p * apart, p * same + (1 - p) * apart
    # Ratios increase: between two of them the tails are the same. They are fewer than the points t.
    passed = np.maximum.accumulate(np.searchsorted(t, first / second))
    lengths = np.diff(passed, prepend=0, append=t.size)
    return np.repeat(_from_top(first), lengths) - t * np.repeat(_from_top(second), lengths) + error * (1 + t)


@remember(2048)
def _narrow_window(trials: int, p: float, omitted: float) -> Window:
    """Return the window of ``Bin(trials, p)``, cached for several blocks."""
    return binomial_window(trials, p, omitted)


def _convolved(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the convolution of two laws by Fourier transforms, with absolute rounding errors."""
    from scipy.fft import irfft, next_fast_len, rfft  # 20 ms, and only far out in the tails of very wide laws

    size = first.size + second.size - 1
    length = next_fast_len(size, real=True)
    law = irfft(rfft(first, length) * rfft(second, length), length)[:size]
    return np.maximum(np.asarray(law, dtype=np.float64), 0.0)


def _convex(t: NDArray[np.float64], value: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the indices of the corners of the greatest convex function below the values."""
    corners = np.arange(t.size)
    while True:
        slopes = np.diff(value[corners]) / np.diff(t[corners])
        corner = np.concatenate(([True], slopes[1:] > slopes[:-1], [True]))
        if corner.all():
            return corners
        corners = corners[corner]  # a point on the chord of its neighbors, or above it, is no corner


def _from_top(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate((np.cumsum(values[::-1])[::-1], [0.0]))
