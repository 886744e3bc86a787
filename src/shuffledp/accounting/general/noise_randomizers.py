r"""Local randomizers that add noise or have densities, with the conventions of :mod:`randomizers
<shuffledp.accounting.general.randomizers>`.

**Laplace noise: the inputs 0 and 1 are the worst.** For inputs in [0, 1], W = min(R(0), R(1)) and any numbers e > 0 and
t, let ``F(a, b) = \int (R(a) - e R(b) - t W)^+``. Then F(a, b) <= F(0, 1) for a <= b. Hence G of (a, b) is below G of
(0, 1) in the convex order, and delta is not larger for any n. For a > b the same holds with all inputs reflected.

Proof. As ``(f)^+ = f + (-f)^+`` and the integral of f does not depend on a and b, t < 0 is the case of ``1/e`` and
``|t|/e`` with inputs reflected; let t >= 0. F changes with a by ``eps_local (R(a)(A, y > a) - R(a)(A, y < a))``, where
A is the set with a positive integrand, and with b by ``e eps_local (R(b)(A, y < b) - R(b)(A, y > b))``. ``R(a) / R(b)``
never increases. ``R(a) / W`` is constant up to min(a, 1/2), falls from a to 1/2 if a < 1/2, rises from 1/2 to a if a >
1/2, and is constant afterwards. For a <= 1/2, or if A reaches to the left end, A is a half-line. Then F does not fall
with b and does not rise with a, so that b may move up to 1 and a down to 0. Otherwise A lies in y > 1/2. With R(b) >=
W, F is at most ``H(1 - a)``, ``H(z) = \int_{y < 1/2} (R(z) - (e + t) W)^+``, by reflection. H does not rise with z up
to 1/2 by the same argument, and ``H(0)`` is at most F(0, 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.comparisons import Cells, Comparison, normal_mass
from shuffledp.accounting.general.randomizers import checked_budget
from shuffledp.accounting.user_functions import call_function, numbers_of
from shuffledp.guarantees import UPPER, Standing
from shuffledp.numerics.argument_ranges import check_fields, check_open_unit, check_positive, checked
from shuffledp.numerics.sum_excess import Side

if TYPE_CHECKING:
    pass


#: Largest excess over 1 of the total probability of intervals, from rounding.
MOST_EXCESS = 1e-9
#: Largest number of inputs, which limits the number of pairs.
MOST_INPUTS = 64
#: Cells of a density on either side of 1/2.
_CELLS = 150


def _cells(
    edges: NDArray[np.float64],
    mass: Callable[[float, NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
    log_density: Callable[[float, NDArray[np.float64]], NDArray[np.float64]],
    pair: tuple[float, float],
    blanket: tuple[float, ...],
    lost: float,
) -> Cells:
    """Return the cells between the edges. The blanket of a cell is the least of the masses that the given inputs have
    there.
    """
    low, high = edges[:-1], edges[1:]
    own_mass, other_mass = mass(pair[0], low, high), mass(pair[1], low, high)
    least = np.min([mass(x, low, high) for x in blanket], axis=0)
    at = np.min([log_density(x, edges) for x in blanket], axis=0)
    return Cells(
        log_density(pair[0], edges) - at, log_density(pair[1], edges) - at, own_mass, other_mass, least, lost
    )


def _with_rest(cells: Cells, own_mass: float, other_mass: float, blanket_mass: float) -> Cells:
    """Return the cells of a lower bound. All outputs outside of the edges form one more cell, in
    which G has its mean.
    """
    return Cells(
        np.append(cells.log_own, cells.log_own[-1]),
        np.append(cells.log_other, cells.log_other[-1]),
        np.append(cells.own, own_mass),
        np.append(cells.other, other_mass),
        np.append(cells.blanket, blanket_mass),
    )


@dataclass(frozen=True)
class LaplaceRandomizer:
    """Laplace noise of scale ``1 / eps_local``, added to a number in [0, 1].

    Source: Dwork, McSherry, Nissim and Smith (2006). The module's description proves that the inputs 0 and 1 are the
    worst pair. Outputs outside of [0, 1] have the likelihood ratios of 0 and 1, so that clipping to [0, 1] does not
    change delta.

    Parameters
    ----------
    eps_local : float
        Nats, in (0, 300].
    """

    eps_local: float

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "eps_local", checked_budget("LaplaceRandomizer", self.eps_local))

    @property
    def standing(self) -> Standing:
        """Label ``upper`` of the guarantee, for an adversary who learns which reports come from the blanket."""
        return UPPER

    @checked
    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return comparisons of the inputs 0 and 1: with the blanket (upper), or with other users who all hold 0, 1/2
        or 1.
        """
        if side == "upper":
            return (self._against((0.0, 1.0)),)
        return tuple(self._against((others_value,)) for others_value in (0.5, 0.0, 1.0))

    def _against(self, blanket: tuple[float, ...]) -> Cells:
        # Edges by the quantiles of e^(-eps_local y) on [0, 1/2], reflected: that is about best for cells of G.
        shares = np.linspace(0, 1, _CELLS + 1)[:-1]
        half = np.append(-np.log1p(shares * math.expm1(-self.eps_local / 2)) / self.eps_local, 0.5)
        edges = np.concatenate((half, 1 - half[-2::-1]))
        inner = _cells(edges, self._mass, self._log_density, (0.0, 1.0), blanket, 0.0)
        # Below 0 and above 1 both ratios are constant: cells without width.
        ends = {x: self._tails(x) for x in {0.0, 1.0, *blanket}}
        least = np.min([ends[x] for x in blanket], axis=0)
        return Cells(
            inner.log_own[[0, *range(edges.size), -1]],
            inner.log_other[[0, *range(edges.size), -1]],
            np.concatenate((ends[0.0][:1], inner.own, ends[0.0][1:])),
            np.concatenate((ends[1.0][:1], inner.other, ends[1.0][1:])),
            np.concatenate((least[:1], inner.blanket, least[1:])),
        )

    def _tails(self, x: float) -> NDArray[np.float64]:
        return 0.5 * np.exp(-self.eps_local * np.array([x, 1 - x]))

    def _log_density(self, x: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return -self.eps_local * np.abs(y - x)  # up to a constant

    def _mass(self, x: float, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        near = np.where(low >= x, low - x, x - high)  # no edge interval has x inside
        return np.asarray(-0.5 * np.exp(-self.eps_local * near) * np.expm1(-self.eps_local * (high - low)))


#: Guarantee of Gaussian noise, with the unproven statement.
_ENDS = Standing(
    "unproven", "the ends of the interval are not proven to be the worst inputs under Gaussian noise"
)


@dataclass(frozen=True)
class GaussianRandomizer:
    """Normal noise, added to a number in an interval of length 1.

    Parameters
    ----------
    sigma : float
        Standard deviation per length of the interval, in [0.2, 1e6].

    Notes
    -----
    No local budget holds with delta 0. Outputs far outside of the interval are cut off: their mass under user 1's input
    is added to delta, only once for all users, since ``(a + b)^+ <= a^+ + b^+``. The two ends of the interval are
    compared. It is not proven that they are the worst pair. A sufficient inequality for single reports held for all of
    several thousand random inputs and thresholds.
    """

    sigma: float

    def __post_init__(self) -> None:
        check_fields(self)
        sigma = check_positive("GaussianRandomizer: sigma", self.sigma)
        if not 0.2 <= sigma <= 1e6:
            raise ValueError(f"GaussianRandomizer: sigma must be in [0.2, 1e6], got {self.sigma!r}.")
        object.__setattr__(self, "sigma", sigma)

    @property
    def eps_local(self) -> float:
        """Infinite local budget."""
        return math.inf

    @property
    def standing(self) -> Standing:
        """Label ``unproven`` of the guarantee: the ends of the interval may not be the worst pair of inputs."""
        return _ENDS

    @checked
    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return comparisons of the two ends of the interval: with the blanket (upper), or with other users who all
        hold an end or the middle.
        """
        tail = check_open_unit("GaussianRandomizer: tail", tail)
        if side == "upper":
            return (self._against((0.0, 1.0), tail),)
        return tuple(self._against((others_value,), tail) for others_value in (0.5, 0.0, 1.0))

    def _against(self, blanket: tuple[float, ...], tail: float) -> Cells:
        # Quantiles of a normal law with mean -1 and deviation sqrt(3) sigma below 1/2, as far as R(0) has mass
        # `tail`.
        reach = self.sigma * float(ndtri(tail))
        scale = math.sqrt(3) * self.sigma
        ends = ndtr((np.array([min(reach, 0.49), 0.5]) + 1) / scale)
        half = ndtri(np.linspace(ends[0], ends[1], _CELLS + 1)) * scale - 1
        half[0], half[-1] = min(reach, 0.49), 0.5
        edges = np.concatenate((half, 1 - half[-2::-1]))
        lost = float(ndtr(edges[0] / self.sigma))  # above the last edge R(0) - e^eps R(1) is negative
        cells = _cells(edges, self._mass, self._log_density, (0.0, 1.0), blanket, lost)
        if len(blanket) > 1:
            return cells
        return _with_rest(cells, *(self._outside(x, edges) for x in (0.0, 1.0, blanket[0])))

    def _outside(self, x: float, edges: NDArray[np.float64]) -> float:
        return float(ndtr((edges[0] - x) / self.sigma) + ndtr((x - edges[-1]) / self.sigma))

    def _log_density(self, x: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return -0.5 * ((y - x) / self.sigma) ** 2

    def _mass(self, x: float, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        return normal_mass((low - x) / self.sigma, (high - x) / self.sigma)


@dataclass(frozen=True)
class DensityRandomizer:
    """Local randomizer with real outputs, given by its densities.

    An edge is added where the least density changes from one input to another.

    Parameters
    ----------
    log_density : callable
        (input, (m,) outputs) -> (m,) natural logs of densities, up to one constant for all inputs.
    mass : callable
        (input, (m,) low, (m,) high) -> (m,) probabilities of the intervals (low, high). Errors of these probabilities
        are not part of the bounds.
    inputs : tuple of float
        At least 2. The worst pair is among these inputs, and every other input's density is nowhere below the least of
        their densities. All ordered pairs are compared.
    edges : tuple of float
        At least 2, increasing. Between two consecutive edges, the ratio of any two densities is monotone. More edges
        give tighter bounds. Mass outside of the edges is added to delta.
    eps_local : float
        Nats; ``inf`` if no local budget holds with delta 0.

    Raises
    ------
    ValueError
        If there are too few or too many inputs or edges. At the first use, if a function raises an error or returns
        another shape, nan, a negative probability or probabilities with a sum above 1.
    """

    log_density: Callable[[float, NDArray[np.float64]], ArrayLike]
    mass: Callable[[float, NDArray[np.float64], NDArray[np.float64]], ArrayLike]
    inputs: tuple[float, ...]
    edges: tuple[float, ...]
    eps_local: float = math.inf

    def __post_init__(self) -> None:
        check_fields(self)
        inputs, edges = tuple(map(float, self.inputs)), tuple(map(float, self.edges))
        if not 2 <= len(inputs) <= MOST_INPUTS or len(set(inputs)) < len(inputs):
            raise ValueError(
                f"DensityRandomizer: inputs must be 2 to {MOST_INPUTS} different numbers, got {self.inputs!r}."
            )
        if len(edges) < 2 or not (np.all(np.isfinite(edges)) and np.all(np.diff(edges) > 0)):
            raise ValueError("DensityRandomizer: edges must be at least 2 increasing finite numbers.")
        if self.eps_local != math.inf:
            object.__setattr__(self, "eps_local", checked_budget("DensityRandomizer", self.eps_local))
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "edges", edges)

    @property
    def standing(self) -> Standing:
        """Label ``upper`` of the guarantee, if the inputs and the edges meet the conditions of the class."""
        return UPPER

    @checked
    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return comparisons of all ordered pairs of inputs: with the least density (upper), or with other users who
        all hold one input.
        """
        edges = self._edges()
        pairs = permutations(self.inputs, 2)
        if side == "upper":
            return tuple(
                _cells(edges, self._mass, self._log, pair, self.inputs, self._lost(pair[0], edges))
                for pair in pairs
            )
        lost = {x: self._lost(x, edges) for x in self.inputs}
        return tuple(
            _with_rest(
                _cells(edges, self._mass, self._log, pair, (others_value,), 0.0),
                *(lost[x] for x in (*pair, others_value)),
            )
            for pair in pairs
            for others_value in self.inputs
        )

    def _log(self, x: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        name = "DensityRandomizer: log_density"
        return numbers_of(name, call_function(name, self.log_density, x, y), y.shape)

    def _mass(self, x: float, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        name = "DensityRandomizer: mass"
        masses = numbers_of(name, call_function(name, self.mass, x, low, high), low.shape, 0.0, 1.0)
        if masses.sum() > 1 + MOST_EXCESS:
            raise ValueError(f"{name} must return probabilities of intervals, got {masses.sum():.9g} in all.")
        return masses

    def _lost(self, x: float, edges: NDArray[np.float64]) -> float:
        return max(1 - float(np.sum(self._mass(x, edges[:-1], edges[1:]))), 0.0)

    def _edges(self) -> NDArray[np.float64]:
        """Return the edges, and the points between them at which the densities of two inputs are equal."""
        edges = np.array(self.edges)
        logs = np.array([self._log(x, edges) for x in self.inputs])
        if not np.all(np.isfinite(logs)):
            raise Infeasible("A density is 0 or not finite at an edge; there is no blanket there.")
        crossings: set[float] = set()
        for first in range(len(self.inputs)):
            for second in range(first):
                gap = logs[first] - logs[second]
                for i in np.flatnonzero(gap[:-1] * gap[1:] < 0):
                    crossings.add(self._crossing(first, second, float(edges[i]), float(edges[i + 1])))
        return np.unique(np.concatenate((edges, sorted(crossings))))

    def _crossing(self, first: int, second: int, low: float, high: float) -> float:
        def gap(y: float) -> float:
            at = np.array([y])
            return float((self._log(self.inputs[first], at) - self._log(self.inputs[second], at))[0])

        rising = gap(high) > 0
        for _ in range(200):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            low, high = (low, middle) if (gap(middle) > 0) == rising else (middle, high)
        return 0.5 * (low + high)
