r"""Local randomizers as data: what a report reveals, for the accountant of shuffled reports.

A randomizer says its local budget and gives :mod:`comparisons <shuffledp.accounting.general.comparisons>`: for an
upper bound against its *blanket*, ``w(y) = min_x R(x)(y)``, which every report contains whatever its user holds; for
a lower bound against ``w = R(x)``, the data set in which all others hold x.

Conventions: eps in nats; replacement of one user's input; E = e^eps_local.

**Laplace noise: the inputs 0 and 1 are the worst.** For inputs in [0, 1], W = min(R(0), R(1)) and any numbers e > 0
and t, let ``F(a, b) = \int (R(a) - e R(b) - t W)^+``. Then F(a, b) <= F(0, 1) for a <= b, which says that G of (a, b)
is below G of (0, 1) in the convex order, and with it delta for every n; for a > b the same holds with all inputs
reflected. Proof. As ``(f)^+ = f + (-f)^+`` and the integral of f does not depend on a and b, t < 0 is the case of
``1/e`` and ``|t|/e`` with inputs reflected; let t >= 0. F changes with a by ``eps_local (R(a)(A, y > a) - R(a)(A, y <
a))`` where A is the set with a positive integrand, and with b by ``e eps_local (R(b)(A, y < b) - R(b)(A, y > b))``.
``R(a) / R(b)`` never rises; ``R(a) / W`` is constant up to min(a, 1/2), falls from a to 1/2 if a is below, rises from
1/2 to a if it is above, and is constant behind. For a <= 1/2, or if A reaches to the left end, A is a half-line, so
that F does not fall with b and does not rise with a: go to b = 1, and down with a. Otherwise A lies in y > 1/2, and
with R(b) >= W F is at most ``H(1 - a)``, ``H(z) = \int_{y < 1/2} (R(z) - (e + t) W)^+`` by reflection, which does not
rise with z up to 1/2 by the same argument; ``H(0)`` is at most F(0, 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from scipy.special import ndtr, ndtri

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.comparisons import Cells, Comparison, Outputs, normal_mass
from shuffledp.accounting.standing import UPPER, Standing
from shuffledp.numerics.checks import check_count, check_positive

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from shuffledp.numerics.sums import Side

#: Cells of a density on either side of 1/2.
_CELLS = 150
#: More inputs make more pairs than are worth looking at.
_MOST_INPUTS = 64
MOST_EPS_LOCAL = 300.0
_NONE = np.zeros((0, 2))


@runtime_checkable
class Randomizer(Protocol):
    """What the accountant has to know of a local randomizer."""

    @property
    def eps_local(self) -> float:
        """Its local budget for replacement, nats; ``inf`` if it has none with delta 0."""

    @property
    def standing(self) -> Standing:
        """What stands behind an upper bound that is found from the comparisons."""

    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Pairs of inputs against blankets: the largest delta of them counts.

        Parameters
        ----------
        side : {"upper", "lower"}
            Against the blanket of the randomizer, or against the reports of others who all hold one input.
        tail : float
            Mass that may be cut off where outputs are unbounded.
        """


def _checked_budget(name: str, eps_local: float) -> float:
    number = check_positive(f"{name}: eps_local", eps_local)
    if number > MOST_EPS_LOCAL:
        raise ValueError(f"{name}: eps_local must be at most {MOST_EPS_LOCAL:g}, got {eps_local!r}.")
    return number


def outputs_of(rows: list[tuple[float, float, float]]) -> Outputs:
    """From (log_own, log_other, mass) per kind of output, those without mass left out."""
    kept = np.array([row for row in rows if row[2] > 0], np.float64).reshape(-1, 3)
    return Outputs(kept[:, 0], kept[:, 1], kept[:, 2], _NONE)


@dataclass(frozen=True)
class SubsetSelection:
    """A random subset of given size that contains the input with larger probability.

    Subsets with the input are E times as likely as subsets without it.

    Parameters
    ----------
    eps_local : float
        Nats, in (0, 300].
    domain_size : int
        Number of values k, >= 2.
    subset_size : int
        d, in [1, k - 1]; 1 is generalized randomized response.

    Notes
    -----
    Ye and Barg (2018). All pairs of inputs are alike, so that the upper bound is that of the blanket itself.
    """

    eps_local: float
    domain_size: int
    subset_size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps_local", _checked_budget("SubsetSelection", self.eps_local))
        object.__setattr__(
            self, "domain_size", check_count("SubsetSelection: domain_size", self.domain_size, 2)
        )
        size = check_count("SubsetSelection: subset_size", self.subset_size, 1)
        if size >= self.domain_size:
            raise ValueError(
                f"SubsetSelection: subset_size must be in [1, {self.domain_size - 1}], got {self.subset_size!r}."
            )
        object.__setattr__(self, "subset_size", size)

    @property
    def standing(self) -> Standing:
        """An upper bound: the adversary is told which reports come from the blanket."""
        return UPPER

    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return one pair of inputs against the blanket, or against others on a third, the first or the second
        input."""
        if side == "upper":
            return (self._against_blanket(),)
        third = (self._against_third(),) if self.domain_size > 2 else ()
        return (*third, self._against_one(0), self._against_one(1))

    def _share(self) -> float:
        """Probability of a subset without the input over that of the uniform law on subsets."""
        k, d = self.domain_size, self.subset_size
        decay = math.exp(-self.eps_local)
        return k * decay / (d + (k - d) * decay)

    def _both(self) -> tuple[float, float, float]:
        """Probability that a uniform subset has both of two values, a given one only, none of them."""
        k, d = self.domain_size, self.subset_size
        pairs = k * (k - 1)
        return d * (d - 1) / pairs, d * (k - d) / pairs, (k - d) * (k - d - 1) / pairs

    def _against_blanket(self) -> Outputs:
        e, share = self.eps_local, self._share()
        both, one, none = self._both()
        return outputs_of(
            [(e, e, share * both), (e, 0, share * one), (0, e, share * one), (0, 0, share * none)]
        )

    def _against_one(self, held: int) -> Outputs:
        """All others hold the reporter's own input, or the one that it is replaced by."""
        e, share = self.eps_local, self._share()
        both, one, none = self._both()
        heavy = share * math.exp(e)
        if held == 0:
            rows = [(0.0, -e, heavy * one), (0.0, e, share * one)]
        else:
            rows = [(e, 0.0, share * one), (-e, 0.0, heavy * one)]
        return outputs_of([(0.0, 0.0, heavy * both), *rows, (0.0, 0.0, share * none)])

    def _against_third(self) -> Outputs:
        k, d, e = self.domain_size, self.subset_size, self.eps_local
        light = self._share()
        heavy = light * math.exp(e)
        triples = k * (k - 1) * (k - 2)
        rows = []
        for a in (0, 1):
            for b in (0, 1):
                for held in (0, 1):
                    inside, outside = a + b + held, 3 - a - b - held
                    count = math.prod(d - i for i in range(inside)) * math.prod(
                        k - d - i for i in range(outside)
                    )
                    weight = heavy if held else light
                    rows.append(((a - held) * e, (b - held) * e, weight * max(count, 0) / triples))
        return outputs_of(rows)


@dataclass(frozen=True)
class GRR:
    """Generalized (k-ary) randomized response: the input with probability ``E / (E + k - 1)``, else another value.

    Parameters
    ----------
    eps_local : float
        Nats, in (0, 300].
    domain_size : int
        Number of values k, >= 2.

    Notes
    -----
    Kairouz, Bonawitz and Ramage (2016). All pairs of values are alike.
    """

    eps_local: float
    domain_size: int

    def __post_init__(self) -> None:
        same = SubsetSelection(self.eps_local, check_count("GRR: domain_size", self.domain_size, 2), 1)
        object.__setattr__(self, "eps_local", same.eps_local)
        object.__setattr__(self, "domain_size", same.domain_size)

    @property
    def standing(self) -> Standing:
        """An upper bound: the adversary is told which reports come from the blanket."""
        return UPPER

    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return those of subsets of size 1."""
        return SubsetSelection(self.eps_local, self.domain_size, 1).comparisons(side, tail)


@dataclass(frozen=True)
class BinaryRandomizedResponse:
    """A bit that is told with probability ``E / (E + 1)`` and turned over otherwise.

    Parameters
    ----------
    eps_local : float
        Nats, in (0, 300].

    Notes
    -----
    Warner (1965).
    """

    eps_local: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps_local", _checked_budget("BinaryRandomizedResponse", self.eps_local))

    @property
    def standing(self) -> Standing:
        """An upper bound: the adversary is told which reports come from the blanket."""
        return UPPER

    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return those of generalized randomized response over two values."""
        return SubsetSelection(self.eps_local, 2, 1).comparisons(side, tail)


@dataclass(frozen=True)
class FiniteRandomizer:
    """Any randomizer with finitely many inputs and outputs.

    Parameters
    ----------
    table : (inputs, outputs) sequence of sequences, or array
        Row x has the probabilities of the outputs for the input x; each sums to 1 within 1e-9 and is then normalized.
        From 2 to 64 inputs.

    Raises
    ------
    ValueError
        If the table is no such table.

    Notes
    -----
    All ordered pairs of inputs are compared; the largest delta counts. Exact up to rounding of the entries: only
    ratios that the table itself has can be told apart.

    Examples
    --------
    >>> from shuffledp.accounting import FiniteRandomizer
    >>> round(FiniteRandomizer([[0.75, 0.25], [0.25, 0.75]]).eps_local, 6)
    1.098612
    """

    table: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        try:
            rows = np.array(self.table, np.float64)
        except (TypeError, ValueError):
            raise ValueError("FiniteRandomizer: table must have rows of numbers of equal length.") from None
        if rows.ndim != 2 or not 2 <= rows.shape[0] <= _MOST_INPUTS or rows.shape[1] == 0:
            raise ValueError(
                f"FiniteRandomizer: table must be (inputs, outputs) with 2 to {_MOST_INPUTS} inputs, "
                f"got shape {rows.shape}."
            )
        if not (np.all(rows >= 0) and np.all(np.abs(np.sum(rows, axis=1) - 1) <= 1e-9)):
            raise ValueError("FiniteRandomizer: every row of table must hold probabilities that sum to 1.")
        rows = rows / np.sum(rows, axis=1, keepdims=True)
        object.__setattr__(self, "table", tuple(tuple(row) for row in rows.tolist()))

    @property
    def _rows(self) -> NDArray[np.float64]:
        rows = np.array(self.table)
        return rows[:, np.max(rows, axis=0) > 0]

    @property
    def eps_local(self) -> float:
        """The largest log ratio of two entries of a column; ``inf`` if one of them is 0."""
        rows = self._rows
        least, most = np.min(rows, axis=0), np.max(rows, axis=0)
        return math.inf if np.any(least == 0) else float(np.max(np.log(most) - np.log(least)))

    @property
    def standing(self) -> Standing:
        """An upper bound: the adversary is told which reports come from the blanket."""
        return UPPER

    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return all ordered pairs of inputs, each kind once, against the blanket or against every input."""
        rows = self._rows
        blankets = [np.min(rows, axis=0)] if side == "upper" else list(rows)
        found: dict[bytes, Outputs] = {}
        for first, second in permutations(range(rows.shape[0]), 2):
            for blanket in blankets:
                made = _finite(rows[first], rows[second], blanket)
                found.setdefault(_kind(made), made)
        return tuple(found.values())


def _finite(own: NDArray[np.float64], other: NDArray[np.float64], blanket: NDArray[np.float64]) -> Outputs:
    covered = blanket > 0
    with np.errstate(divide="ignore"):
        log_own, log_other = (np.log(row[covered]) - np.log(blanket[covered]) for row in (own, other))
    kinds, index = np.unique(np.round(np.column_stack((log_own, log_other)), 12), axis=0, return_inverse=True)
    if len(kinds) < log_own.size:  # outputs of one kind are one
        masses = np.bincount(index.ravel(), blanket[covered], len(kinds)).astype(np.float64)
        first = np.array([int(np.argmax(index.ravel() == i)) for i in range(len(kinds))])
        log_own, log_other = log_own[first], log_other[first]
    else:
        masses = blanket[covered]
    outside = np.column_stack((own[~covered], other[~covered]))
    return Outputs(log_own, log_other, masses, outside)


def _kind(outputs: Outputs) -> bytes:
    """The same for comparisons that differ in the order of outputs only."""
    rows = np.column_stack((outputs.log_own, outputs.log_other, outputs.masses))
    return b"|".join(_sorted(part) for part in (rows, outputs.outside))


def _sorted(rows: NDArray[np.float64]) -> bytes:
    rounded = np.asarray(np.round(rows, 10) + 0.0, np.float64)  # without -0
    return rounded[np.lexsort(rounded.T)].tobytes() if rounded.size else b""


def _cells(
    edges: NDArray[np.float64],
    mass: Callable[[float, NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
    log_density: Callable[[float, NDArray[np.float64]], NDArray[np.float64]],
    pair: tuple[float, float],
    blanket: tuple[float, ...],
    lost: float,
) -> Cells:
    """Cells between edges; in each of them the blanket is the density of one input, that with the least mass
    there."""
    low, high = edges[:-1], edges[1:]
    own, other = mass(pair[0], low, high), mass(pair[1], low, high)
    least = np.min([mass(x, low, high) for x in blanket], axis=0)
    at = np.min([log_density(x, edges) for x in blanket], axis=0)
    return Cells(log_density(pair[0], edges) - at, log_density(pair[1], edges) - at, own, other, least, lost)


def _with_rest(cells: Cells, own: float, other: float, blanket: float) -> Cells:
    """Cells for a lower bound: all outputs outside of the edges are one more cell, which counts with its mean."""
    return Cells(
        np.append(cells.log_own, cells.log_own[-1]),
        np.append(cells.log_other, cells.log_other[-1]),
        np.append(cells.own, own),
        np.append(cells.other, other),
        np.append(cells.blanket, blanket),
    )


@dataclass(frozen=True)
class LaplaceRandomizer:
    """A number in [0, 1] plus Laplace noise of scale ``1 / eps_local``.

    Parameters
    ----------
    eps_local : float
        Nats, in (0, 300].

    Notes
    -----
    Dwork, McSherry, Nissim and Smith (2006). That the inputs 0 and 1 are the worst is proven in the module's
    description. Outputs below 0 and above 1 tell what 0 and 1 tell, so that the noisy number may as well be clipped.
    """

    eps_local: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps_local", _checked_budget("LaplaceRandomizer", self.eps_local))

    @property
    def standing(self) -> Standing:
        """An upper bound: the adversary is told which reports come from the blanket."""
        return UPPER

    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return the inputs 0 and 1, against the blanket, or against 0, 1/2 and 1."""
        if side == "upper":
            return (self._against((0.0, 1.0)),)
        return tuple(self._against((held,)) for held in (0.5, 0.0, 1.0))

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


#: What is not proven of Gaussian noise.
_ENDS = Standing(
    "unproven", "that the ends of the interval are the worst inputs under Gaussian noise is not proven"
)


@dataclass(frozen=True)
class GaussianRandomizer:
    """A number in an interval of length 1 plus normal noise.

    Parameters
    ----------
    sigma : float
        Standard deviation per length of the interval, in [0.2, 1e6].

    Notes
    -----
    There is no local budget with delta 0. Outputs far outside are cut off: their mass under the reporter's input is
    added to delta, once and not once per user, since ``(a + b)^+ <= a^+ + b^+``. The inputs compared are the two
    ends. That these are the worst is not proven; the comparison of single reports that would imply it held for all of
    some thousand random inputs and thresholds.
    """

    sigma: float

    def __post_init__(self) -> None:
        sigma = check_positive("GaussianRandomizer: sigma", self.sigma)
        if not 0.2 <= sigma <= 1e6:
            raise ValueError(f"GaussianRandomizer: sigma must be in [0.2, 1e6], got {self.sigma!r}.")
        object.__setattr__(self, "sigma", sigma)

    @property
    def eps_local(self) -> float:
        """Infinite."""
        return math.inf

    @property
    def standing(self) -> Standing:
        """Unproven: the pair of inputs."""
        return _ENDS

    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return the ends of the interval, against the blanket, or against the ends and the middle."""
        if side == "upper":
            return (self._against((0.0, 1.0), tail),)
        return tuple(self._against((held,), tail) for held in (0.5, 0.0, 1.0))

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
    """A randomizer whose outputs are real numbers, by its densities.

    Parameters
    ----------
    log_density : callable
        (input, (m,) outputs) -> (m,) natural logs of densities, up to one constant for all inputs.
    mass : callable
        (input, (m,) low, (m,) high) -> (m,) probabilities of the intervals (low, high), as exact as floats allow:
        bounds hold up to the errors of these.
    inputs : tuple of float
        At least 2. Every input has a density that is nowhere below the least of theirs, and among them is the worst
        pair: all ordered pairs are compared.
    edges : tuple of float
        At least 2, increasing. Between two neighbors the ratio of any two densities is monotone; the more edges, the
        tighter. What lies outside counts as lost.
    eps_local : float
        Nats; ``inf`` if there is no local budget with delta 0.

    Notes
    -----
    Where the least density changes from one input to another between two edges, an edge is put there.
    """

    log_density: Callable[[float, NDArray[np.float64]], ArrayLike]
    mass: Callable[[float, NDArray[np.float64], NDArray[np.float64]], ArrayLike]
    inputs: tuple[float, ...]
    edges: tuple[float, ...]
    eps_local: float = math.inf

    def __post_init__(self) -> None:
        inputs, edges = tuple(map(float, self.inputs)), tuple(map(float, self.edges))
        if not 2 <= len(inputs) <= _MOST_INPUTS or len(set(inputs)) < len(inputs):
            raise ValueError(
                f"DensityRandomizer: inputs must be 2 to {_MOST_INPUTS} different numbers, got {self.inputs!r}."
            )
        if len(edges) < 2 or not (np.all(np.isfinite(edges)) and np.all(np.diff(edges) > 0)):
            raise ValueError("DensityRandomizer: edges must be at least 2 increasing finite numbers.")
        if self.eps_local != math.inf:
            object.__setattr__(self, "eps_local", _checked_budget("DensityRandomizer", self.eps_local))
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "edges", edges)

    @property
    def standing(self) -> Standing:
        """An upper bound, if the inputs and the edges are what they have to be."""
        return UPPER

    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return all ordered pairs of inputs, against the least density or against every input."""
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
                _cells(edges, self._mass, self._log, pair, (held,), 0.0), *(lost[x] for x in (*pair, held))
            )
            for pair in pairs
            for held in self.inputs
        )

    def _log(self, x: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.log_density(x, y), np.float64)

    def _mass(self, x: float, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.mass(x, low, high), np.float64)

    def _lost(self, x: float, edges: NDArray[np.float64]) -> float:
        return max(1 - float(np.sum(self._mass(x, edges[:-1], edges[1:]))), 0.0)

    def _edges(self) -> NDArray[np.float64]:
        """The edges, and the points between them where the least density passes from one input to another."""
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
