r"""Comparisons of a report under two inputs with a measure that the reports of others contain.

Two neighboring data sets give the reporter the input 0 or 1. The output y of the randomizer has the density R0 or R1,
and w is a measure that the report of every other user contains: its *blanket*. The quantity that decides about n
shuffled reports ([balle2019]_, Theorem 4.2 and Lemma 5.3; [su2025]_) is

.. math:: G = \frac{R_0(y) - e^\epsilon R_1(y)}{w(y)} \text{ with y from w,} \quad G = 0 \text{ with the probability
that w misses,}
          \qquad \delta = \frac{1}{n} E (G_1 + \dots + G_n)^+ .

``x^+`` is convex. Hence a law of G that is larger in the convex order bounds delta from above, and a smaller one from
below: each value of a cell may be moved to the two ends of its range, the mean kept, or to its mean. Outputs that w
does not contain increase delta by their mass ``(R0 - e^eps R1)^+``: the first of them identifies the report.

.. [balle2019] Balle, Bell, Gascon and Nissim, "The privacy blanket of the shuffle model", CRYPTO 2019.
.. [su2025] Su, Cheng and Wang, arXiv 2504.07414: the same with a Fourier transform on a grid, values rounded up or
down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.special import log_ndtr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp.numerics.sum_excess import Side

_Law = tuple["NDArray[np.float64]", "NDArray[np.float64]"]


class Comparison(Protocol):
    """Two inputs of a randomizer against a blanket."""

    def law(self, eps: float, side: Side) -> _Law:
        """Return values and masses, (m,) each, of a law that is not below (upper) or not above (lower) the law of G."""

    def uncovered(self, eps: float, side: Side) -> float:
        """Return the contribution to delta of outputs outside of the blanket, or a bound on the given side."""

    @property
    def spread(self) -> float:
        """Variance of ``(R0 - R1) / w``: for first guesses only."""


def differences(
    log_own: NDArray[np.float64], log_other: NDArray[np.float64], eps: float
) -> NDArray[np.float64]:
    """Return ``e^log_own - e^(eps + log_other)`` without cancellation where the two are close, shape of the
    arguments."""
    with np.errstate(invalid="ignore", over="ignore"):
        near = -np.exp(log_own) * np.expm1(eps + log_other - log_own)
    return np.where(np.isneginf(log_own), -np.exp(eps + log_other), near)


def normal_mass(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mass of a standard normal law between two points, (m,) each, small masses too."""
    turned = low + high > 0
    a, b = np.where(turned, -high, low), np.where(turned, -low, high)
    upper, lower = log_ndtr(b), log_ndtr(a)
    with np.errstate(invalid="ignore"):  # -inf - -inf: far below everything
        gap = np.where(np.isneginf(upper), 0.0, lower - upper)
    return np.asarray(np.exp(upper) * -np.expm1(np.minimum(gap, 0.0)))


@dataclass(frozen=True, eq=False)
class Outputs:
    """Finitely many kinds of outputs.

    Parameters
    ----------
    log_own, log_other : (m,) ndarray
        Logs of ``R0 / w`` and ``R1 / w``; ``-inf`` where the input never yields the output.
    masses : (m,) ndarray
        Of w; the sum is at most 1.
    outside : (k, 2) ndarray
        Masses under R0 and R1 of the outputs that w does not contain.
    """

    log_own: NDArray[np.float64]
    log_other: NDArray[np.float64]
    masses: NDArray[np.float64]
    outside: NDArray[np.float64]

    def law(self, eps: float, side: Side) -> _Law:
        """Return the law of G itself, for both sides."""
        return differences(self.log_own, self.log_other, eps), self.masses

    def uncovered(self, eps: float, side: Side) -> float:
        """Return the hockey stick on the outputs that w does not contain."""
        return float(np.sum(np.maximum(self.outside[:, 0] - math.exp(eps) * self.outside[:, 1], 0.0)))

    @property
    def spread(self) -> float:
        """Variance of ``(R0 - R1) / w``."""
        return float(self.masses @ (np.exp(self.log_own) - np.exp(self.log_other)) ** 2)


@dataclass(frozen=True, eq=False)
class Cells:
    """Outputs on a line, cut into cells in which ``R0 / w`` and ``R1 / w`` are monotone.

    Parameters
    ----------
    log_own, log_other : (m + 1,) ndarray
        Logs of ``R0 / w`` and ``R1 / w`` at the edges.
    own, other, blanket : (m,) ndarray
        Masses of R0, R1 and w in the cells.
    lost : float
        Mass of R0 outside of all cells, which counts as lost for an upper bound.
    exact_excess : bool
        If True, `lost` is the exact contribution to delta beyond the cells, for the lower bound too.
    """

    log_own: NDArray[np.float64]
    log_other: NDArray[np.float64]
    own: NDArray[np.float64]
    other: NDArray[np.float64]
    blanket: NDArray[np.float64]
    lost: float = 0.0
    exact_excess: bool = False

    def law(self, eps: float, side: Side) -> _Law:
        """Return means of cells (lower), or values at both ends of their ranges with masses that keep the mean."""
        keep = self.blanket > 0
        masses = self.blanket[keep]
        means = (self.own[keep] - math.exp(eps) * self.other[keep]) / masses
        if side == "lower":
            return means, masses
        own, other = self._range(self.log_own), self._range(self.log_other)
        # G rises with R0 / w and falls with R1 / w; mostly they move in opposite directions, then this is its range.
        low = differences(own[0][keep], other[1][keep], eps)
        high = differences(own[1][keep], other[0][keep], eps)
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
        """Return the mass of R0 outside of all cells, or for a lower bound 0 unless this mass is exact."""
        return self.lost if side == "upper" or self.exact_excess else 0.0

    @property
    def spread(self) -> float:
        """Variance of ``(R0 - R1) / w``, cell by cell."""
        keep = self.blanket > 0
        return float(np.sum((self.own - self.other)[keep] ** 2 / self.blanket[keep]))
