r"""Comparisons of two inputs of a randomizer with a blanket, a measure that all other reports contain.

In two neighboring data sets, user 1 holds the input 0 or 1. The randomizer's output y has the density R0 or R1, and w
is a measure that every other user's report contains: the *blanket*. For n shuffled reports, delta is the mean of a
positive part ([balle2019]_, Theorem 4.2 and Lemma 5.3; [su2025]_):

.. math:: G = \frac{R_0(y) - e^\epsilon R_1(y)}{w(y)} \text{ with y from w,} \quad G = 0 \text{ with the probability
that w misses,}
          \qquad \delta = \frac{1}{n} E (G_1 + \dots + G_n)^+ .

``x^+`` is convex. Hence a law of G that is larger in the convex order gives an upper bound on delta, and a smaller law
a lower bound. Moving the values of a cell to the two ends of their range, with the same mean, gives a larger law.
Moving them to their mean gives a smaller law. Outputs that w does not contain add their mass ``(R0 - e^eps R1)^+`` to
delta, because such an output identifies user 1's report.

.. [balle2019] Balle, Bell, Gascon and Nissim, "The privacy blanket of the shuffle model", CRYPTO 2019.
.. [su2025] Su, Cheng and Wang, arXiv 2504.07414: the same with a Fourier transform on a grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from scipy.special import log_ndtr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp.numerics.sum_excess import Side

_Law = tuple["NDArray[np.float64]", "NDArray[np.float64]"]


@runtime_checkable
class Comparison(Protocol):
    """Two inputs of a randomizer, compared with a blanket."""

    def law(self, eps: float, side: Side) -> _Law:
        """Return values and masses, (m,) each, of a law above (upper) or below (lower) G in the convex order."""

    def uncovered(self, eps: float, side: Side) -> float:
        """Return a bound on the contribution to delta of outputs that the blanket does not contain."""

    @property
    def spread(self) -> float:
        """Variance of ``(R0 - R1) / w``, for first guesses only."""


def differences(
    log_own: NDArray[np.float64], log_other: NDArray[np.float64], eps: float
) -> NDArray[np.float64]:
    """Return ``e^log_own - e^(eps + log_other)``, without cancellation for close terms."""
    with np.errstate(invalid="ignore", over="ignore"):
        near = -np.exp(log_own) * np.expm1(eps + log_other - log_own)
        return np.where(np.isneginf(log_own), -np.exp(eps + log_other), near)


def normal_mass(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard normal mass between two points, elementwise, with full relative accuracy."""
    turned = low + high > 0
    a, b = np.where(turned, -high, low), np.where(turned, -low, high)
    upper, lower = log_ndtr(b), log_ndtr(a)
    with np.errstate(invalid="ignore"):  # -inf - -inf: far below everything
        gap = np.where(np.isneginf(upper), 0.0, lower - upper)
    return np.asarray(np.exp(upper) * -np.expm1(np.minimum(gap, 0.0)))


@dataclass(frozen=True, eq=False)
class Outputs:
    """Finitely many kinds of outputs with the logs of ``R0 / w`` and ``R1 / w`` and the masses of w, (m,) each. A log
    is ``-inf`` for an output that the input never gives. `outside`, (k, 2), has the masses under R0 and R1 of the
    outputs that w does not contain.
    """

    log_own: NDArray[np.float64]
    log_other: NDArray[np.float64]
    masses: NDArray[np.float64]
    outside: NDArray[np.float64]

    def law(self, eps: float, side: Side) -> _Law:
        """Return the law of G itself, for both sides."""
        return differences(self.log_own, self.log_other, eps), self.masses

    def uncovered(self, eps: float, side: Side) -> float:
        """Return the hockey-stick divergence on the outputs that w does not contain."""
        own_mass, other = self.outside.T
        with np.errstate(divide="ignore", over="ignore"):  # where the other mass is 0, and at a huge eps
            return float(np.sum(np.maximum(own_mass - np.exp(eps + np.log(other)), 0.0)))

    @property
    def spread(self) -> float:
        """Variance of ``(R0 - R1) / w``."""
        return float(self.masses @ (np.exp(self.log_own) - np.exp(self.log_other)) ** 2)


@dataclass(frozen=True, eq=False)
class Cells:
    """Outputs on a line, cut into m cells in which ``R0 / w`` and ``R1 / w`` are monotone. `log_own` and `log_other`
    are the logs of ``R0 / w`` and ``R1 / w`` at the m + 1 edges; `own`, `other` and `blanket` are the masses of R0, R1
    and w in the cells. `lost` is the mass of R0 outside of all cells, which is added to an upper bound. With
    `exact_excess`, it is the exact contribution to delta, and is added to a lower bound too.
    """

    log_own: NDArray[np.float64]
    log_other: NDArray[np.float64]
    own: NDArray[np.float64]
    other: NDArray[np.float64]
    blanket: NDArray[np.float64]
    lost: float = 0.0
    exact_excess: bool = False

    def law(self, eps: float, side: Side) -> _Law:
        """Return the cells' means (lower), or both ends of their ranges with masses that keep the means (upper)."""
        keep = self.blanket > 0
        masses = self.blanket[keep]
        with np.errstate(divide="ignore"):  # no sum of other values makes up for one of -e^600
            raised = np.exp(np.minimum(eps + np.log(self.other[keep]), 600.0))
        means = (self.own[keep] - raised) / masses
        if side == "lower":
            return means, masses
        own_range, other = self._range(self.log_own), self._range(self.log_other)
        # G rises with R0 / w and falls with R1 / w; mostly they move in opposite directions, then this is its range.
        low = differences(own_range[0][keep], other[1][keep], eps)
        high = differences(own_range[1][keep], other[0][keep], eps)
        width = high - low
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(width > 0, np.clip((means - low) / width, 0.0, 1.0), 1.0)
        values, masses = np.concatenate((low, high)), np.concatenate((masses * (1 - share), masses * share))
        ends, index = np.unique(values, return_inverse=True)  # neighboring cells have an end in common
        return ends, np.bincount(index, masses, ends.size).astype(np.float64)

    @staticmethod
    def _range(logs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.minimum(logs[:-1], logs[1:]), np.maximum(logs[:-1], logs[1:])

    def uncovered(self, eps: float, side: Side) -> float:
        """Return the mass of R0 outside of all cells; 0 for a lower bound unless this mass is an exact contribution."""
        return self.lost if side == "upper" or self.exact_excess else 0.0

    @property
    def spread(self) -> float:
        """Variance of ``(R0 - R1) / w``, with its mean in each cell."""
        keep = self.blanket > 0
        return float(np.sum((self.own - self.other)[keep] ** 2 / self.blanket[keep]))
