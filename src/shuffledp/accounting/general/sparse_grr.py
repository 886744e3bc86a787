r"""Delta of randomized response with few other reports of two given values, by a sum over their counts.

Contour integrals are slow for these reports, because the number of matching reports is a lattice without smoothing. Two
sides:

- The upper bound is the delta of the blanket, from a table over the numbers of uniform reports and of their matches
  (:mod:`shuffledp.accounting.general.dummy_blanket`).
- The lower bounds are for data sets in which all other users hold one value: a third value, user 1's value, or the
  value that replaces it. With the n reports of such a data set, ``delta = E (G_1 + .. + G_n)^+ / n`` as in
  :mod:`shuffledp.accounting.general.comparisons`, where G has few values.

Let m be the number of reports with one of user 1's two values; if the other users hold one of these values, m is for
the second value only. Let d be the number of reports with any other value that no user holds, and ``x = e^eps``. The
sum of all G is linear in m and d. If the other users hold a third value, the sum also depends on b ~ Bin(m, 1/2), the
number of the m reports with the value that replaces user 1's:

.. math:: \sum G = (E - x) m - (x - 1) \bigl(d + (n - m - d) / E\bigr) - (E - 1) (1 + x) b .

Consecutive numbers d count as their mean. As the positive part is convex, the result is a lower bound.

Conventions: eps in nats; replacement neighbors; E = e^eps_local. Derived for this project.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.accounting.general.dummy_blanket import blanket_rate, log_factorials, mixed_blanket_delta
from shuffledp.accounting.general.randomizers import GRR, BinaryRandomizedResponse, SubsetSelection
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.tails import log_binomial_pmf
from shuffledp.numerics.windows import binomial_window
from shuffledp.populations.base import Fixed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shuffledp.accounting.general.randomizers import Randomizer
    from shuffledp.populations.base import Law

#: Largest mean number of other users' reports with one of two values, and half of the squared window of the number of
#: uniform reports, for which the sum is over both numbers.
_MOST_MATCHES, _MOST_SPREAD = 40.0, 2.2e5
#: Mass that is left out, relative to the target, and at least.
_TABLE, _LEAST_TAIL = 1e-12, 1e-320
#: Groups that the numbers of other rare values are put into.
_GROUPS = 256
#: Rounding of thresholds and sums, relative.
_ROUNDING = 1e-13
_SUM_ROUNDING = 1e-11


def few_matches(randomizer: Randomizer, law: Law, target: float) -> int | None:
    """Return the number of values k if sums over message counts have few terms for this target, else None."""
    k = _values(randomizer)
    if k is None or not isinstance(law, Fixed):
        return None
    rate = blanket_rate(k, randomizer.eps_local)
    spread = -law.others * rate * (1 - rate) * math.log(target)
    few = 2 * law.others * rate / k <= _MOST_MATCHES and spread <= _MOST_SPREAD
    return k if few else None


def _values(randomizer: Randomizer) -> int | None:
    if isinstance(randomizer, BinaryRandomizedResponse):
        return 2
    if isinstance(randomizer, SubsetSelection) and randomizer.subset_size > 1:
        return None
    return randomizer.domain_size if isinstance(randomizer, (GRR, SubsetSelection)) else None


def tabulated_delta(k: int, others: int, eps: float, eps_local: float, target: float) -> float:
    """Return delta under the blanket for k values, too large by less than 1e-10 of the target."""
    tail = max(_TABLE * target, _LEAST_TAIL)
    window = binomial_window(others, blanket_rate(k, eps_local), tail)
    return mixed_blanket_delta(window, k, eps, eps_local, tail)


def data_set_deltas(
    k: int, users: int, eps_local: float, target: float
) -> tuple[Callable[[float], float], ...]:
    """Return functions from eps in [0, eps_local) to a lower bound on delta, one per value that all other users hold.
    They hold a third value (if k > 2), user 1's value, or the value that replaces it. Deltas below ``1e-9 target``
    are negligible.
    """
    tail = max(_TABLE * target, _LEAST_TAIL)

    def third(eps: float) -> float:
        return _third(k, users, eps_local, eps, tail)

    def own(eps: float) -> float:
        m, d, mass = _counts(k, users, eps_local, False, tail)
        x = math.exp(eps)
        heavy = np.float64(users * -math.expm1(eps - eps_local))
        return _positive(
            heavy, -2 * x * math.sinh(eps_local) * m, x * math.expm1(-eps_local) * d, mass, users
        )

    def other(eps: float) -> float:
        m, d, mass = _counts(k, users, eps_local, False, tail)
        heavy = np.float64(users * math.exp(eps) * math.expm1(-eps - eps_local))
        return _positive(heavy, 2 * math.sinh(eps_local) * m, -math.expm1(-eps_local) * d, mass, users)

    return (third, own, other) if k > 2 else (own, other)


def _third(k: int, users: int, eps_local: float, eps: float, tail: float) -> float:
    m, d, mass = _counts(k, users, eps_local, True, tail)
    most = int(m[-1, 0])
    below, short = _half_sums(most + 63 - most % 64)
    # By the reports b = m - a that show the other value: then a small sum is no difference of large ones. In units
    # of E, which may be huge.
    slope = -math.expm1(-eps_local) * (1 + math.exp(eps))
    gain = m * -math.expm1(eps - eps_local)
    loss = math.expm1(eps) * math.exp(-eps_local) * (d + math.exp(-eps_local) * (users - m - d))
    end = np.maximum(gain - loss - _ROUNDING * (gain + loss), 0.0) / slope
    last = np.floor(end)
    at = last.astype(np.int64), np.broadcast_to(m.astype(np.int64), last.shape)
    total = float(np.sum(mass * (short[at] + (end - last) * below[at])))
    return total * slope * (math.exp(eps_local) / users) * (1 - _SUM_ROUNDING)


def _positive(
    first: np.float64,
    second: NDArray[np.float64],
    third: NDArray[np.float64],
    mass: NDArray[np.float64],
    users: int,
) -> float:
    sums = first + second + third
    sums -= _ROUNDING * (abs(first) + np.abs(second) + np.abs(third))
    return float(np.sum(mass * np.maximum(sums, 0.0))) / users * (1 - _SUM_ROUNDING)


@remember(16)
def _half_sums(most: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ``Pr[Bin(m, 1/2) <= i]`` and ``E (i - Bin(m, 1/2))^+`` at [i, m], for i and m up to `most`."""
    pmf = np.zeros((most + 1, most + 1))
    pmf[0, 0] = 1.0
    for m in range(1, most + 1):
        pmf[:, m] = 0.5 * pmf[:, m - 1]
        pmf[1:, m] += 0.5 * pmf[:-1, m - 1]
    below = np.cumsum(pmf, axis=0)
    short = np.zeros_like(below)
    short[1:] = np.cumsum(below[:-1], axis=0)
    return below, short


@remember(32)
def _counts(
    k: int, users: int, eps_local: float, third: bool, tail: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return all numbers m, (w, 1), the means of groups of numbers d, (w, groups), and their masses, for n reports of
    one input.
    """
    decay = math.exp(-eps_local)
    share = decay / (1 + (k - 1) * decay)
    matching, rare = (2, k - 3) if third else (1, k - 2)
    m_law = binomial_window(users, min(matching * share, 1.0), tail)
    d_law = binomial_window(users, min(rare * share, 1.0), tail)
    m, d = m_law.support, d_law.support
    # the multinomial law about its mode, where everything is small
    m_at = min(max(math.floor(users * matching * share), int(m[0])), int(m[-1]))
    d_at = min(max(math.floor(users * rare * share), int(d[0])), int(d[-1]), users - m_at)
    c = np.arange(users - int(m[-1]) - int(d[-1]), users - int(m[0]) - int(d[0]) + 1)
    c_at = users - m_at - d_at
    log_first = float(log_binomial_pmf(m_at, users, min(matching * share, 1.0)))
    if d_at or rare:
        log_first += float(
            log_binomial_pmf(d_at, users - m_at, min(rare * share / (1 - matching * share), 1.0))
        )
    log_m = _log_part(m, m_at, users * matching * share)
    log_d = _log_part(d, d_at, users * rare * share)
    log_c = _log_part(c, c_at, users * share / decay)
    places = (c.size - 1) - np.add.outer(np.arange(m.size), np.arange(d.size))
    with np.errstate(under="ignore"):
        pmf = np.exp(log_first + log_m[:, None] + log_d[None, :] + log_c[places])
    cuts = np.unique(np.linspace(0, d.size, min(d.size, _GROUPS) + 1).astype(np.int64))[:-1]
    mass = np.add.reduceat(pmf, cuts, axis=1)
    sums = np.add.reduceat(pmf * (d - d_at), cuts, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(mass > 0, sums / mass, 0.0)
    return m[:, None].astype(np.float64), d_at + mean, mass


def _log_part(x: NDArray[np.int64], anchor: int, mean: float) -> NDArray[np.float64]:
    """Return the log of ``mean^x / x!`` relative to its value at `anchor`, for consecutive x; -inf below 0."""
    if mean == 0:
        return np.where(x == 0, 0.0, -math.inf)
    return (x - anchor) * math.log(mean / max(anchor, 1)) - log_factorials(x, anchor)
