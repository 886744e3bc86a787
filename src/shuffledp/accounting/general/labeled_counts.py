r"""Hockey-stick divergence of the pair of counts of the variation-ratio reduction.

A random number C of messages has one of two labels, 0 or 1 with probability 1/2 each. User 1 adds a message with
user 1's label with probability `own`, with the other label with probability `other`, and no message with probability
``silent = 1 - own - other``. P is the law of the two counts (a, b) if user 1's label is 0, Q if it is 1. For C ~ Bin(N,
2 r), ``t = a + b`` and ``g(t) = r / (1 - 2 r) (N - t + 1)``, the likelihoods are in the ratio

.. math:: P : Q = (own\, a + other\, b + silent\, g(t)) : (other\, a + own\, b + silent\, g(t))

so that P exceeds ``e^eps Q`` where a exceeds a threshold that is linear in t. For C ~ Poisson(2 mu), ``g(t) = mu``.
With K(t) the threshold rounded down and ``X ~ Bin(c, 1/2)``, the divergence is

.. math:: \sum_c \Pr[C = c] \bigl( (own - e^\epsilon other) \Pr[X = K(c + 1)]
          - (e^\epsilon - 1) ((own + other) \Pr[X > K(c + 1)] + silent \Pr[X > K(c)]) \bigr).

Exchanging the labels exchanges a and b, so that both directions have the same divergence. Derived from the reduction of
Wang et al. 2024 (VLDB, "Privacy amplification via shuffling: unified, simplified, and tightened"), Theorem 1 of
arXiv 2407.19639.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import raised
from shuffledp.numerics.tails import binomial_upper_tail, log_binomial_pmf, log_half_pmf
from shuffledp.numerics.windows import Window, binomial_window, poisson_window

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Terms that a window may have; beyond this the arrays no longer fit.
_MOST_TERMS = 1e7
#: Mass that may be left out, relative to the answer; the first attempt; and the least positive mass.
_OMITTED = 1e-13
_FIRST_TAIL = 1e-30
_FLOOR = 1e-320
#: Beyond this e^eps overflows; the divergence no longer changes.
_MOST_EPS = 700.0
_STEEP = 15.0
#: Number of terms from which on, below this eps, tails are summed along the path of thresholds.
_LONG = 64
_SUMMED_EPS = 3.0


@dataclass(frozen=True)
class Labels:
    """Law of user 1's message: probabilities of user 1's label, of the other label, and of no message."""

    own: float
    other: float
    silent: float

    @property
    def distance(self) -> float:
        """Total variation of user 1's message, ``own - other``; no divergence is larger."""
        return self.own - self.other


@dataclass(frozen=True, eq=False)
class Blanket:
    """Law of C, the number of the other users' messages with one of the two labels. `odds` is ``r / (1 - 2 r)``, or the
    mean mu of each count for a Poisson variable, or ``inf`` for a constant C. `candidates` is N, or ``inf`` for a
    Poisson variable.
    """

    window: Window
    odds: float
    candidates: float

    def silence(self, total: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return g(t), the likelihood of no message from user 1 relative to one message; 0 for a constant C."""
        if math.isinf(self.odds):
            return np.zeros_like(total)
        if math.isinf(self.candidates):
            return np.full_like(total, self.odds)
        return self.odds * (self.candidates - total + 1)


def check_size(variance: float, tail: float) -> None:
    """Raise Infeasible if the window of a sum with this variance does not fit into memory."""
    if 2 * math.sqrt(-2 * variance * math.log(tail)) > _MOST_TERMS:
        raise Infeasible(
            f"Counts with a standard deviation of {math.sqrt(variance):.3g} are too many for an exact sum."
        )


@remember(32)
def binomial_blanket(candidates: int, rate: float, tail: float) -> Blanket:
    """Return the law of ``Bin(candidates, 2 rate)``, 0 < rate <= 1/2, which omits at most `tail` on either side. Raises
    `Infeasible` if the window is too long for a sum.
    """
    both = min(2 * rate, 1.0)
    check_size(candidates * both * (1 - both), tail)
    odds = rate / (1 - both) if both < 1 else math.inf
    return Blanket(binomial_window(candidates, both, tail), odds, candidates)


@remember(32)
def poisson_blanket(mean: float, tail: float) -> Blanket:
    """Return the law of Poisson(2 mean), which omits at most `tail` on either side. Raises `Infeasible` if the window
    is too long for a sum.
    """
    check_size(2 * mean, tail)
    return Blanket(poisson_window(2 * mean, tail), mean, math.inf)


def settled_delta(blanket_at: Callable[[float], Blanket], labels: Labels, eps: float) -> float:
    """Return :func:`pair_delta` with negligible omitted mass; `blanket_at` maps the omitted mass to the law of C."""
    tail = _FIRST_TAIL
    value = pair_delta(blanket_at(tail), labels, eps)
    while tail > _FLOOR and 2 * tail * labels.distance > _OMITTED * value:
        tail = max(tail * 1e-40, _FLOOR)
        value = pair_delta(blanket_at(tail), labels, eps)
    return value


def pair_delta(blanket: Blanket, labels: Labels, eps: float) -> float:
    """Return the hockey-stick divergence of the two laws of the counts. It is at most `labels.distance`, and equal in
    both directions. Omitted mass is added to the divergence. The rounding error is about 1e-11 relative for divergences
    down to 1e-30, and 1e-9 at 1e-100.
    """
    eps = min(eps, _MOST_EPS)
    decay = math.exp(-eps)
    if labels.own * decay <= labels.other:  # no ratio exceeds e^eps
        return 0.0
    window = blanket.window
    total = np.arange(window.start, window.stop + 1, dtype=np.float64)
    # Rounding may put the threshold on the wrong side of an integer, but there the affected outcome adds nothing.
    scale = 1 / (labels.distance * (1 + decay))
    threshold = (labels.own - labels.other * decay) * scale * total
    silence = -math.expm1(-eps) * labels.silent * blanket.silence(total) if labels.silent > 0 else 0.0
    k = np.minimum(np.floor(threshold + scale * silence), total)
    if (
        eps > _STEEP
    ):  # b = 0 is decided by itself, as the distance of the threshold from a = t is lost in rounding
        alone = (labels.own * decay - labels.other) * total - silence > 0
        k = np.where(alone, np.minimum(k, total - 1), k)
    c = total[:-1]
    speaks = labels.own - math.exp(eps) * labels.other
    loss = math.expm1(eps)
    certain = math.isinf(blanket.odds)  # then the total reveals whether user 1 sent none
    if c.size > _LONG and eps < _SUMMED_EPS and not certain and _is_path(k, c):
        point, tail, silent_tail = _along_path(k, c)
    else:
        point, tail, silent_tail = _separately(k, c)
    lost = (labels.own + labels.other) * tail
    if not certain:
        lost += labels.silent * silent_tail
    value = float(window.pmf @ (speaks * point - loss * lost))
    return min(raised(max(value, 0.0) + window.omitted * labels.distance), labels.distance)


_Tails = tuple["NDArray[np.float64]", "NDArray[np.float64]", "NDArray[np.float64]"]


def _is_path(k: NDArray[np.float64], c: NDArray[np.float64]) -> bool:
    """Return whether K(c + 1) is a possible value of Bin(c, 1/2) for every c and grows by at most one."""
    up = np.diff(k)
    return bool(k[1] <= c[0] and np.all((up == 0) | (up == 1)))


def _along_path(k: NDArray[np.float64], c: NDArray[np.float64]) -> _Tails:
    """Return the result of :func:`_separately`, with tails as sums of their changes from c to c + 1."""
    at = k[1:]
    up = np.diff(k)
    step = up[1:]
    # Pr[Bin(c, 1/2) = K] from ratios, anchored in the middle, where the mass is.
    log_ratios = np.log(0.5 * (c[:-1] + 1) / np.where(step > 0, at[1:], c[:-1] + 1 - at[:-1]))
    log_point = np.concatenate(([0.0], np.cumsum(log_ratios)))
    middle = c.size // 2
    log_point += log_binomial_pmf(int(at[middle]), int(c[middle]), 0.5) - log_point[middle]
    point = np.exp(log_point)
    # From both ends, so that sums grow and keep their digits: of a tail that rises and then falls again they are lost
    # where it has fallen, but not if it is summed up from there.
    ends = binomial_upper_tail(at[[0, -1]] + 1, c[[0, -1]], 0.5)
    change = 0.5 * point[:-1] - step * point[1:]
    onward = ends[0] + np.concatenate(([0.0], np.cumsum(change)))
    back = ends[1] - np.concatenate((np.cumsum(change[::-1])[::-1], [0.0]))
    onward_is_better = np.maximum.accumulate(onward) <= np.maximum.accumulate(back[::-1])[::-1]
    tail = np.maximum(np.where(onward_is_better, onward, back), 0.0)
    return point, tail, tail + up * point


def _separately(k: NDArray[np.float64], c: NDArray[np.float64]) -> _Tails:
    """Return ``Pr[X = K(c + 1)]``, ``Pr[X > K(c + 1)]`` and ``Pr[X > K(c)]`` for X ~ Bin(c, 1/2)."""
    at = k[1:]
    tail = binomial_upper_tail(at + 1, c, 0.5)
    return _half_pmf(at, c), tail, binomial_upper_tail(k[:-1] + 1, c, 0.5)


def _half_pmf(x: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``Pr[Bin(c, 1/2) = x]``, elementwise for integers x >= 0; 0 for x > c."""
    inside = x <= c
    return np.where(inside, np.exp(log_half_pmf(np.where(inside, x, 0.0), c)), 0.0)
