r"""Delta of two counts of randomized bits, for every data set of the other users.

Every user flips each of k bits, one per value, with probability p, and all ones are shuffled: the analyzer sees one
count per value. A bit that is flipped with probability p is replaced by a fair coin with probability 2p. Let the
adversary know the bits of all other users, and which of these bits were replaced. Then the other users add M fair coins
to a count, ``M ~ Bin(others, 2p)``, independently of the other counts and of their values. This gives a bound for all
data sets.

With ``N = M + 1``, ``kappa = 1 - 2p`` and ``z = (2a - N) / N``, a count a has the law ``h(a) (1 + kappa z)`` if
user 1's bit is one and ``h(a) (1 - kappa z)`` if it is zero, with h the law Bin(N, 1/2). If user 1's value changes, two
bits change in opposite directions. Reflecting the second count, ``a -> N - a``, gives

.. math:: \delta = E\bigl[ (1 + \kappa z)(1 + \kappa z') - e^\epsilon (1 - \kappa z)(1 - \kappa z') \bigr]^+

with z and z' independent, each the mean of N fair signs. Both directions have the same delta, and a change of a single
bit has a smaller delta. For given z' the bracket is linear in z, so that delta is the mean of a convex function of z.
Delta grows with every spread of z that keeps the mean. Hence fewer coins increase delta, and so does moving the mass of
z to adjacent points of a grid. Replacement neighbors. Derived for this project.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.bit_tails import half_tails
from shuffledp.accounting.general.count_pairs import MovingCount, pair_delta
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.tails import log_half_pmf
from shuffledp.numerics.windows import binomial_window

_Law = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]

#: Steps of the grid from 0 to the largest z: a step is below 1/200 of a standard deviation, adding 1e-5 to the variance
#: of z at most, and far less as a rule.
_STEPS = 2**13
#: Cells of the table over (N, a); beyond it numbers of coins are put into blocks.
_CELLS = 400_000
#: Factor by which a rough law has fewer steps; its cells are fewer by the square of the factor.
_ROUGHLY = 4
#: Coins from which on tails are contour integrals at places with about this distance, and cells of their table.
_MANY_COINS, _PER_DEVIATION, _GROUPED_CELLS = 10_000, 300.0, 200_000


@dataclass(frozen=True, eq=False)
class _Signs:
    """Law of the mean z of N independent fair signs, +1 or -1: grid points, their masses, and the omitted mass."""

    z: NDArray[np.float64]
    mass: NDArray[np.float64]
    omitted: float


def told_bits_delta(
    others: int, flip_probability: float, eps: float, omitted: float, *, rough: bool = False
) -> float:
    """Return a bound on delta of two counts of randomized bits, for every data set of the other users. The law of each
    count omits at most ``4 omitted``, which is added to delta. The bound exceeds the module's delta by at most about
    1e-3 relative for many coins, and by 1e-4 otherwise. A rough bound is larger and a few times faster. The rounding
    error is about 1e-12 relative.
    """
    signs = _signs(others, flip_probability, omitted, rough)
    weights = (
        1 + signs.z
    ) - 2 * flip_probability * signs.z  # 1 + kappa z, exact where p is tiny and z is -1 or 1
    count = MovingCount(signs.mass * weights, signs.mass * weights[::-1], signs.omitted)
    return pair_delta(count, count, eps)


@remember(16)
def _signs(others: int, flip_probability: float, omitted: float, rough: bool = False) -> _Signs:
    window = binomial_window(others, 2 * flip_probability, omitted)
    # Hoeffding: |2 a - N| exceeds `reach` with probability at most `omitted`; the victim's bit at most doubles that.
    log_inverse = math.log(2 / omitted)
    widest = min(math.sqrt(2 * window.stop * log_inverse), window.stop)
    has_many_coins = window.start >= _MANY_COINS
    steps, fewer = (_STEPS // _ROUGHLY, _ROUGHLY**2) if rough else (_STEPS, 1)
    spread = math.sqrt(window.stop) / 2
    step = max(1, math.floor(spread * (_ROUGHLY if rough else 1) / _PER_DEVIATION)) if has_many_coins else 1
    rows = max(
        1, math.floor((_GROUPED_CELLS if has_many_coins else _CELLS) / fewer * step / (widest / 2 + 1))
    )
    block = math.ceil(window.pmf.size / rows)
    weights = np.add.reduceat(window.pmf, np.arange(0, window.pmf.size, block))
    number = window.start + block * np.arange(weights.size, dtype=np.float64) + 1  # the fewest of each block
    reach = np.minimum(np.sqrt(2 * number * log_inverse), number)
    largest = float(np.max(reach / number))
    law = _grouped(number, omitted, step, widest / 2) if has_many_coins else _every(number, widest, reach)
    mass, z = law[0] * weights[law[1]], law[2]
    place = z * (steps / largest)
    cell = np.minimum(np.floor(place), steps - 1).astype(np.int64)
    upper = np.minimum(place - cell, 1.0)
    half = np.bincount(cell, mass * (1 - upper), steps + 1) + np.bincount(cell + 1, mass * upper, steps + 1)
    grid = largest * np.arange(steps + 1) / steps
    z = np.concatenate((-grid[:0:-1], grid))
    both = np.concatenate((half[:0:-1], [2 * half[0]], half[1:]))
    return _Signs(z, both, window.omitted + 2 * omitted)


def _every(number: NDArray[np.float64], widest: float, reach: NDArray[np.float64]) -> _Law:
    """Return the masses of all z >= 0, the row of each mass in `number`, and its z. The mass at z = 0 is halved."""
    parity = np.mod(number, 2)
    difference = parity[:, None] + 2 * np.arange(math.floor(widest / 2) + 1)  # 2 a - N >= 0
    inside = difference <= reach[:, None]
    n = number[:, None]
    mass = np.empty(difference.shape)
    mass[:, 0] = np.exp(log_half_pmf((number + parity) / 2, number))
    mass[parity == 0, 0] /= 2  # half of it for each side of the grid
    # Pr[2 a - N = d + 2] / Pr[2 a - N = d]: products of some hundred of them keep 13 digits
    ratio = np.maximum(n - difference[:, :-1], 0.0) / (n + difference[:, :-1] + 2)
    ratio[parity == 0, :1] *= 2
    with np.errstate(under="ignore"):
        mass[:, 1:] = mass[:, :1] * np.cumprod(ratio, axis=1)
    row = np.broadcast_to(np.arange(number.size)[:, None], difference.shape)[inside]
    return mass[inside], row, (difference / n)[inside]


def _grouped(number: NDArray[np.float64], omitted: float, step: int, reach: float) -> _Law:
    """Return the law with the mass of every group of consecutive numbers of heads moved to both ends of the group. Each
    group keeps its mean. The means follow from ``sum over a >= j of (2 a - N) Pr[a] = j Pr[j]``.
    """
    tail, point = half_tails(number, omitted, step, reach)
    parity = np.mod(number, 2)[:, None]
    first = parity + 2 * step * np.arange(tail.shape[1])  # 2 a - N of the first of each group
    n = number[:, None]
    tail[:, 0] = 0.5  # half of the mass at 0
    moment = (n + first) / 2 * point
    mass = np.maximum(tail[:, :-1] - tail[:, 1:], 0.0)
    low, width = first[:, :-1], 2.0 * (step - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(mass > 0, (moment[:, :-1] - moment[:, 1:]) / mass, low)
    upper = np.clip((mean - low) / width, 0.0, 1.0) if width else np.zeros_like(mean)
    row = np.broadcast_to(np.arange(number.size)[:, None], mass.shape)
    masses = np.concatenate(((mass * (1 - upper)).ravel(), (mass * upper).ravel()))
    z = np.concatenate(((low / n).ravel(), ((low + width) / n).ravel()))
    return masses, np.concatenate((row.ravel(), row.ravel())), z
