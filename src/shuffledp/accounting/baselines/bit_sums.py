r"""Sums of randomized bits: one bit per user as published, and r bits per user exactly.

A user of the r-bit protocol sends r one-bit messages, as many ones as the level of its number, and replaces each of
them by a fair coin with probability lambda. Tell the adversary which bits of the *other* users became coins: they add
M fair coins to the number of ones, ``M ~ Bin(r (n - 1), lambda)``, whatever they hold. With more ones in the victim's
input the likelihood ratio to any smaller level grows with the count, so that the best event is "the count is at least
t" (or at most), which gains most between the levels 0 and r. So delta is at most that of the count

.. math:: Bin(M, 1/2) + Bin(r, 1 - \lambda/2) \quad\text{against}\quad Bin(M, 1/2) + Bin(r, \lambda/2),

averaged over M. Counting bits from the other side exchanges the two laws, so both directions agree. Replacement
neighbors. Derived for this project.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.general.matched_blanket import pmf_rows
from shuffledp.guarantees import Standing
from shuffledp.numerics.argument_ranges import (
    check_budget,
    check_count,
    check_nonnegative,
    check_open_unit,
    check_positive,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, settled
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import Window, binomial_window

#: What stands behind the published rate of the one-bit protocol.
THIRD_PARTY = Standing(
    "unproven",
    "the formula was read in code of third parties alone, which leaves it commented out; the theorem itself was not "
    "available",
)

#: Numbers of coins are put into blocks of this part of their mean, which adds less than 1 % to delta.
_BLOCKS = 1200
#: Mass that windows may leave out on either side in the search, relative to delta, as which it counts.
_OMITTED = 1e-7
#: Beyond this e^eps overflows; the divergence no longer changes.
_MOST_EPS = 700.0
_XTOL = 1e-7


def bit_sum_rate(n: int, eps: float, delta: float) -> float:
    """Return the published probability with which a bit is replaced by a fair coin, one bit per user.

    Parameters
    ----------
    n : int
        Users, >= 1.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        lambda in (0, 1), rounded up to the least positive number. Replacement neighbors.

    Notes
    -----
    Cheu, Smith, Ullman, Zeber and Zhilyaev (2019), as quoted by code of third parties: ``64 ln(4/delta) / (eps^2 n)``
    from ``eps = sqrt(192 ln(4/delta) / n)`` on, below ``1 - eps sqrt(n / (432 ln(4/delta)))``. The text of the theorem
    was not available. Where the exact bound was compared, this rate is above the one that is needed.

    Examples
    --------
    >>> from shuffledp.accounting.baselines.bit_sums import bit_sum_rate
    >>> round(bit_sum_rate(100_000, 1.0, 1e-8), 6)
    0.012676
    """
    n = check_count("n", n, 1)
    eps = check_positive("eps", eps)
    weight = math.log(4 / check_open_unit("delta", delta))
    if eps * eps >= 192 * weight / n:
        return max(64 * weight / (eps * eps * n), math.ulp(0.0))
    return 1 - eps * math.sqrt(n / (432 * weight))


def unary_bits_delta(eps: float, n: int, bits: int, uniform_rate: float) -> float:
    """Return a bound on delta of one of n users who send so many randomized bits each.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    n : int
        Users, >= 1.
    bits : int
        r, messages of each user, >= 1.
    uniform_rate : float
        lambda in (0, 1), the probability that a bit is replaced by a fair coin.

    Returns
    -------
    float
        In [0, 1], for every data set. An upper bound: others are told which of their bits became coins, and numbers of
        coins are put into blocks, each taken at its smallest number, which adds less than 1 % to delta.

    Notes
    -----
    Derived for this project, see the module's description; the protocol is that of Cheu et al. (2019) for real numbers.
    """
    eps = check_nonnegative("eps", eps)
    n = check_count("n", n, 1)
    bits = check_count("bits", bits, 1)
    rate = check_open_unit("uniform_rate", uniform_rate)

    def delta(tail: float) -> float:
        coins = binomial_window(bits * (n - 1), rate, tail)
        return _mixed_delta(coins, bits, rate, eps, tail, _block(n, bits, rate))

    return settled(delta)


@remember(1024)
def unary_bits_rate(n: int, bits: int, eps: float, delta: float) -> float:
    """Return the smallest probability of replacing a bit by a coin with which n users are (eps, delta)-private.

    Parameters
    ----------
    n, bits : int
        As in :func:`unary_bits_delta`.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        In (0, 1), at most ``2 / (e^(eps/r) + 1)``, with which the bits of a user are private alone. Sound, above the
        smallest rate of the bound by at most 1e-7 relative.

    Notes
    -----
    Derived for this project, see :func:`unary_bits_delta`.
    """
    n = check_count("n", n, 1)
    bits = check_count("bits", bits, 1)
    eps, delta = check_budget(eps, delta)
    tail = max(_OMITTED * delta, 1e-300)

    def excess(minus_log_rate: float) -> float:
        rate = math.exp(-minus_log_rate)
        coins = binomial_window(bits * (n - 1), rate, tail)
        return log_ratio(_mixed_delta(coins, bits, rate, eps, tail, _block(n, bits, rate)), delta)

    def typical(minus_log_rate: float) -> float:
        rate = math.exp(-minus_log_rate)
        coins = Window(round(bits * (n - 1) * rate), np.ones(1))
        return log_ratio(_mixed_delta(coins, bits, rate, eps, tail), delta)

    alone = math.log1p(math.expm1(eps / bits) / 2)  # minus the log of the rate of local privacy
    guess = root_below(typical, alone + 1, alone, math.inf, xtol=1e-5)
    step = 1e-3
    rise = typical(guess + step) - typical(guess)
    slope = rise / step if math.isfinite(rise) else None
    return math.exp(-root_below(excess, guess, alone, math.inf, xtol=_XTOL, slope=slope))


def _block(n: int, bits: int, rate: float) -> int:
    return max(1, math.floor(bits * (n - 1) * rate / _BLOCKS))


def _mixed_delta(coins: Window, bits: int, rate: float, eps: float, tail: float, block: int = 1) -> float:
    """Return delta averaged over the number of coins of the others, which the adversary learns."""
    lowest_block = coins.start // block
    weights = np.bincount(coins.support // block - lowest_block, coins.pmf)
    number = block * (lowest_block + np.arange(weights.size))  # the fewest of each block
    lowest, highest = (binomial_window(int(m), 0.5, tail) for m in (number[0], number[-1]))
    # Only counts above the middle speak for the level `bits`.
    first, last = max(lowest.start, int(number[0]) // 2 - bits), highest.stop

    noise = pmf_rows(number, first, last - 1, 0.5)
    own = binomial_window(bits, rate / 2, tail)  # bits that are not as the level says
    held, absent = _with_own(noise, own, bits, turned=True), _with_own(noise, own, bits, turned=False)
    # The first places lack the noise below the table.
    excess = np.maximum(held - math.exp(min(eps, _MOST_EPS)) * absent, 0.0)[
        :, bits if first > lowest.start else 0 :
    ]
    omitted = coins.omitted + max(lowest.omitted, highest.omitted) + own.omitted
    return min(float(weights @ excess.sum(axis=1)) + omitted, 1.0)


def _with_own(noise: NDArray[np.float64], own: Window, bits: int, *, turned: bool) -> NDArray[np.float64]:
    """Return the laws (rows, w + bits) of noise plus the victim's ones, of which `own` is the law at level 0."""
    law = np.zeros((noise.shape[0], noise.shape[1] + bits))
    for ones, mass in zip(own.support.tolist(), own.pmf.tolist(), strict=True):
        place = bits - ones if turned else ones
        law[:, place : place + noise.shape[1]] += mass * noise
    return law
