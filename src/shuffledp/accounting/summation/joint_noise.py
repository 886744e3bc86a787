r"""Exact accounting of summation by correlated noise: all pairs of inputs, all noises at once.

What the analyzer sees is in bijection with the sum of all messages and one number per atom, because the inverse of
the atoms' matrix (:mod:`shuffledp.accounting.summation.noise_atoms`) is an integer matrix. Given the error k of the
sum, the number of central messages -1 is ``max(0, -k)`` plus a geometric variable that does not depend on k. With
inputs x and y, ``kappa = |x - y|``, ``a = e^(-eps_star / D)``, ``m = (c_y - c_x)_1`` and G the noise of atom 1 plus
that geometric variable, the loss of x against y is therefore that of a mixture over ``t = 0 .. kappa``:

* weights ``1 / (1 + a)`` for t = 0, ``a^kappa / (1 + a)`` for t = kappa, ``a^t (1 - a) / (1 + a)`` between;
* ``(eps_star / D) (kappa - 2 t)`` from the sum;
* G against G shifted by ``m + kappa - t`` if y > x, by ``m - t`` if y < x;
* every other atom's noise against itself shifted by ``(c_y - c_x)_s``.

The parts add up and are independent given t. Each is put on a grid of losses that contains the losses of the sum, and
they are convolved by Fourier transforms. Three ways to put a loss between two grid points:

``upper``
    Split so that the total of P and the total of Q are kept. The hockey stick is convex in the likelihood ratio Q/P,
    so this can only raise it, for compositions too; the excess is of second order in the step.
``lower``
    Rounded down: of first order.
``estimate``
    Split over four grid points so that powers of the loss up to the third keep their means. Shares may be negative.

``upper`` and ``lower`` are certified: mass outside of windows, losses that wrap around the grid (Chernoff bounds), and
the rounding of transforms, sums and logarithms are all counted against the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from scipy.fft import rfft
from scipy.special import betainc, gammainccinv

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.noise_atoms import atom_indices, input_changes
from shuffledp.numerics.checks import check_choice, check_nonnegative
from shuffledp.numerics.remember import remember

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shuffledp.accounting.summation.noise_design import NoiseDesign

    Floats = NDArray[np.float64]
    Complexes = NDArray[np.complex128]

Bound = Literal["upper", "lower", "estimate"]
BOUNDS: tuple[str, ...] = get_args(Bound)

_UNIT = 2.0**-53
#: Mass that a window may leave out: of a certified bound, and of an estimate.
_OMITTED = {"upper": 1e-17, "lower": 1e-17, "estimate": 1e-13}
#: Grid steps within ``eps - eps_star``, what is left for the noises when the sum has lost most.
_STEPS = {"upper": 400, "lower": 2000, "estimate": 25}
#: Probabilities below this are left out at the lower end of a window; denormal numbers are slow.
_TINY = 1e-290
#: Largest grid and largest window of a noise.
_MOST_CELLS = 2**20
_MOST_WINDOW = 2**24
#: Rounding error of a transform of N numbers in the l2 norm, relative to its result, is at most this times log2 N
#: units: twice the bound of Higham (2002), Theorem 24.2, for twiddle factors right to one unit.
_TRANSFORM = 16
#: Rounding of grid points, in nats.
_GRID_ERROR = 1e-12
#: Keys (mixtures) that are transformed at once.
_CHUNK = 64
#: Steps of finite differences in the logs of shape and scale.
_DIFFERENCE = 1e-4


@dataclass(frozen=True)
class LossGrid:
    """Grid points ``j step``, ``-size / 2 <= j < size / 2``, stored at place j modulo `size`.

    Parameters
    ----------
    step : float
        Nats.
    size : int
        A power of two.
    stride : int
        Grid steps in ``eps_star / D``.
    """

    step: float
    size: int
    stride: int

    @property
    def first(self) -> int:
        """Index of the lowest grid point."""
        return -self.size // 2

    @property
    def last(self) -> int:
        """Index of the highest grid point."""
        return self.size // 2 - 1


@dataclass(frozen=True, eq=False)
class _Cells:
    """Finite losses on consecutive grid points from `start`, and the mass of infinite loss.

    `clipped` is the finite part of that mass, or what a lower bound rounded down, for lying above the grid.
    """

    start: int
    mass: Floats
    infinite: float
    clipped: float = 0.0


@dataclass(frozen=True, eq=False)
class _Noise:
    """The law of one atom's noise: probabilities of 0.. and logarithms of ratios by differences.

    `log_law` holds ``log P(y)`` up to a constant, with an absolute error of at most `error`; `mass` the
    probabilities that count, 0 elsewhere; `omitted` bounds the rest.
    """

    log_law: Floats
    mass: Floats
    first: int
    omitted: float
    error: float


@dataclass(frozen=True, eq=False)
class PairTable:
    """Which losses each ordered pair of inputs consists of; depends on the atoms only.

    Parameters
    ----------
    pairs : (P, 2) ndarray of int
        Ordered pairs (x, y).
    parts : tuple of (int, int)
        Distinct (row of the atom, shift) of atoms other than 1, shift not 0.
    members : tuple of ndarray of int
        For each pair, the places in `parts` of what it consists of.
    keys : tuple of (int, int, bool)
        Distinct (kappa, m, y > x).
    key_of : (P,) ndarray of int
        For each pair, the place of its key.
    """

    pairs: NDArray[np.int64]
    parts: tuple[tuple[int, int], ...]
    members: tuple[NDArray[np.int64], ...]
    keys: tuple[tuple[int, int, bool], ...]
    key_of: NDArray[np.int64]

    def only(self, chosen: Sequence[int] | NDArray[np.int64]) -> PairTable:
        """Return the table of some of the pairs, in the given order."""
        old_parts = sorted({int(c) for p in chosen for c in self.members[p]})
        old_keys = sorted({int(self.key_of[p]) for p in chosen})
        part_at = {c: i for i, c in enumerate(old_parts)}
        key_at = {c: i for i, c in enumerate(old_keys)}
        return PairTable(
            self.pairs[np.asarray(chosen, np.int64)],
            tuple(self.parts[c] for c in old_parts),
            tuple(np.array([part_at[int(c)] for c in self.members[p]], np.int64) for p in chosen),
            tuple(self.keys[c] for c in old_keys),
            np.array([key_at[int(self.key_of[p])] for p in chosen], np.int64),
        )


def correlated_noise_delta(design: NoiseDesign, eps: float, *, bound: str = "upper") -> float:
    """Return the delta of a noise design, the largest over all ordered pairs of inputs.

    Parameters
    ----------
    design : NoiseDesign
        Replacement neighbours: one input of ``{0, .., D}`` becomes another.
    eps : float
        Nats, >= 0.
    bound : {"upper", "lower", "estimate"}
        Certified from above or below, or an estimate on a coarse grid; see the module's description.

    Returns
    -------
    float
        In [0, 1]. For delta from 1e-9 on, ``upper`` is at most 0.2% above the exact value, ``lower`` 0.5% below it,
        and ``estimate`` within 2%, as long as ``eps - eps_star`` is not below a hundredth of eps. The allowance for
        rounding is absolute, about 1e-12.

    Raises
    ------
    Infeasible
        If the noise is so wide, or its losses so large, that the calculation does not fit into memory.
    """
    table = pair_table(design.max_value, design.atoms, design.hubs)
    return float(np.max(pair_deltas(design, eps, table, bound=bound)))


def pair_table(max_value: int, atoms: str, hubs: tuple[int, ...]) -> PairTable:
    """Return the table of all ordered pairs of different inputs of ``{0, .., D}``."""
    return _pair_table(max_value, atoms, tuple(hubs))


def pair_deltas(
    design: NoiseDesign, eps: float, table: PairTable, *, bound: str = "upper", grid: LossGrid | None = None
) -> Floats:
    """Return the delta of every pair of a table.

    Parameters
    ----------
    design : NoiseDesign
        For the same atoms as the table.
    eps : float
        Nats, >= 0.
    table : PairTable
        From :func:`pair_table`.
    bound : {"upper", "lower", "estimate"}
        See :func:`correlated_noise_delta`.
    grid : LossGrid, optional
        Default: :func:`loss_grid`, made longer until little wraps around.

    Returns
    -------
    (P,) ndarray
        In [0, 1].

    Raises
    ------
    ValueError, Infeasible
        As :func:`correlated_noise_delta`.
    """
    eps = check_nonnegative("eps", eps)
    check_choice("bound", bound, BOUNDS)
    if grid is not None:
        return _evaluate(design, eps, table, bound, grid)[0]
    grid = loss_grid(design, eps, bound)
    while True:
        values, wrapped = _evaluate(design, eps, table, bound, grid)
        if wrapped <= 1e-3 * float(np.max(values)) or wrapped < 1e-16:
            return values
        if 4 * grid.size <= _MOST_CELLS:
            grid = LossGrid(grid.step, 2 * grid.size, grid.stride)
        elif grid.stride > 1:  # such losses do not need so fine a step
            stride = grid.stride // 2
            grid = LossGrid(grid.step * grid.stride / stride, grid.size, stride)
        else:
            reach = grid.last * grid.step
            raise Infeasible(f"Losses reach beyond {reach:.4g} nats, more than the grid can hold.")


def loss_grid(design: NoiseDesign, eps: float, bound: str, *, finer: int = 1) -> LossGrid:
    """Return a grid that resolves ``eps - eps_star`` and reaches beyond the losses that matter.

    Parameters
    ----------
    design : NoiseDesign
        Only D and eps_star matter.
    eps : float
        Nats, >= 0.
    bound : {"upper", "lower", "estimate"}
        Bounds have finer steps than estimates.
    finer : int
        Divides the step.

    Raises
    ------
    Infeasible
        If the grid would not fit into memory.
    """
    left = max(eps - design.eps_star, 0.01 * max(eps, design.eps_star))
    unit = design.eps_star / design.max_value
    stride = math.ceil(unit * finer * _STEPS[bound] / left * (1 - 1e-12))
    step = unit / stride
    span = 2 * (1.2 * max(eps, design.eps_star) + 6 * left)
    size = 1 << max(8, math.ceil(math.log2(span / step)))
    if size > _MOST_CELLS:
        raise Infeasible(
            f"eps_star / D = {unit:.4g} and eps - eps_star = {left:.4g} need a grid of more than {_MOST_CELLS} losses."
        )
    return LossGrid(step, size, stride)


def pair_gradients(
    design: NoiseDesign, eps: float, table: PairTable, grid: LossGrid
) -> tuple[Floats, Floats, Floats]:
    """Return estimates of delta and their derivatives in the logs of shapes and of scales ``p / (1 - p)``.

    Parameters
    ----------
    design : NoiseDesign
        With one noise per atom.
    eps : float
        Nats, >= 0.
    table : PairTable
    grid : LossGrid

    Returns
    -------
    deltas : (P,) ndarray
    by_shape, by_scale : (P, number of noises) ndarray
        Derivatives of delta, by finite differences, in the order of ``design.indices``.
    """
    base = _Losses(design, table, "estimate", grid)
    weight = _test_spectrum(eps, grid)
    shifted = [
        _Losses(design.moved(**{name: _DIFFERENCE}), table, "estimate", grid) for name in ("shape", "scale")
    ]
    place = {index: i for i, index in enumerate(design.indices)}
    rows = atom_indices(design.max_value, atoms=design.atoms, hubs=design.hubs or None)
    deltas = np.zeros(len(table.pairs))
    slopes = [np.zeros((len(table.pairs), len(design.indices))) for _ in shifted]
    spectra = [rfft(losses.dense(), axis=-1) for losses in (base, *shifted)]
    order = np.argsort(table.key_of, kind="stable")
    for chunk in _chunks(table.key_of[order]):
        chosen = order[chunk]
        keys = np.unique(table.key_of[chosen])
        mixed = [losses.mixtures(keys) for losses in (base, *shifted)]
        tests = [weight * rfft(dense, axis=-1) for dense, _ in mixed]
        at = {int(k): i for i, k in enumerate(keys)}
        for p in chosen:
            members, key = table.members[p], at[int(table.key_of[p])]
            test = tests[0][key]
            products = [np.ones_like(test)]
            for c in members:
                products.append(products[-1] * spectra[0][c])
            finite = float(np.sum((products[-1] * test).real))
            log_kept = _log_kept(base.infinite[members], mixed[0][1][key])
            deltas[p] = finite - math.expm1(log_kept)
            kept = math.exp(log_kept)
            for j in (0, 1):
                change = float(np.sum((products[-1] * (tests[j + 1][key] - test)).real))
                change += kept * (mixed[j + 1][1][key] - mixed[0][1][key])
                slopes[j][p, place[1]] += change
            right = test
            for i in range(len(members) - 1, -1, -1):
                c = members[i]
                rest = products[i] * right
                for j in (0, 1):
                    change = float(np.sum((rest * (spectra[j + 1][c] - spectra[0][c])).real))
                    change += kept * (shifted[j].infinite[c] - base.infinite[c])
                    slopes[j][p, place[rows[table.parts[c][0]]]] += change
                right = right * spectra[0][c]
    return deltas, slopes[0] / _DIFFERENCE, slopes[1] / _DIFFERENCE


@remember(16)
def _pair_table(max_value: int, atoms: str, hubs: tuple[int, ...]) -> PairTable:
    changes = input_changes(max_value, atoms=atoms, hubs=hubs or None)
    first = atom_indices(max_value, atoms=atoms, hubs=hubs or None).index(1)
    part_at: dict[tuple[int, int], int] = {}
    key_at: dict[tuple[int, int, bool], int] = {}
    pairs, members, key_of = [], [], []
    for x in range(max_value + 1):
        for y in range(max_value + 1):
            if x == y:
                continue
            difference = changes[:, y] - changes[:, x]
            mine = [
                part_at.setdefault((int(row), int(difference[row])), len(part_at))
                for row in np.flatnonzero(difference)
                if row != first
            ]
            key = (abs(x - y), int(difference[first]), y > x)
            pairs.append((x, y))
            members.append(np.array(mine, np.int64))
            key_of.append(key_at.setdefault(key, len(key_at)))
    return PairTable(
        np.array(pairs, np.int64), tuple(part_at), tuple(members), tuple(key_at), np.array(key_of, np.int64)
    )


class _Losses:
    """The losses of one design, as a table needs them, on a grid."""

    def __init__(self, design: NoiseDesign, table: PairTable, bound: str, grid: LossGrid) -> None:
        self.table, self.bound, self.grid = table, bound, grid
        self.ratio = math.exp(-design.eps_star / design.max_value)
        rows = atom_indices(design.max_value, atoms=design.atoms, hubs=design.hubs or None)
        shifts_of: dict[int, set[int]] = {}
        for row, shift in table.parts:
            shifts_of.setdefault(row, set()).add(shift)
        own = {key: self._shifts(*key) for key in table.keys}
        found: dict[tuple[int, int], _Cells] = {}
        self.errors: dict[int, float] = {}
        for row, shifts in shifts_of.items():
            noise = _atom_noise(design, rows[row], _most(shifts), bound, central=False)
            self.errors[row] = noise.error
            for shift in shifts:
                found[row, shift] = _cells(noise, shift, bound, grid)
        self.parts = [found[part] for part in table.parts]
        self.infinite = np.array([c.infinite for c in self.parts])
        self.clipped = max((c.clipped for c in self.parts), default=0.0)
        central = {shift for shifts in own.values() for shift in shifts}
        noise = _atom_noise(design, 1, _most(central), bound, central=True)
        self.central_error = noise.error
        self.central = {shift: _cells(noise, shift, bound, grid) for shift in sorted(central)}

    @staticmethod
    def _shifts(kappa: int, change: int, up: bool) -> list[int]:
        return [change + kappa - t if up else change - t for t in range(kappa + 1)]

    def dense(self) -> Floats:
        """Return the finite losses of all parts, (parts, size)."""
        out = np.zeros((len(self.parts), self.grid.size))
        for row, cells in zip(out, self.parts, strict=True):
            _add(row, cells.start, cells.mass)
        return out

    def mixtures(self, keys: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the joint losses of the sum and of atom 1 for some keys: finite, (keys, size), and infinite."""
        grid, a = self.grid, self.ratio
        out, infinite = np.zeros((len(keys), grid.size)), np.zeros(len(keys))
        for i, key in enumerate(keys):
            clipped = 0.0
            kappa, change, up = self.table.keys[key]
            for t, shift in enumerate(self._shifts(kappa, change, up)):
                weight = a**t / (1 + a) * (1.0 if t in (0, kappa) else 1 - a)
                cells = self.central[shift]
                moved = _clipped(cells.start + grid.stride * (kappa - 2 * t), cells.mass, self.bound, grid)
                _add(out[i], moved.start, weight * moved.mass)
                infinite[i] += weight * (cells.infinite + moved.infinite)
                clipped += weight * (cells.clipped + moved.clipped)
            self.clipped = max(self.clipped, clipped)
        return out, infinite

    def log_error(self, members: NDArray[np.int64]) -> float:
        """Bound on the error of all logarithms of probabilities of a pair."""
        return self.central_error + sum(self.errors[self.table.parts[c][0]] for c in members)


def _most(shifts: set[int]) -> int:
    return max(abs(s) for s in shifts)


def _add(row: Floats, start: int, mass: Floats) -> None:
    """Add cells to a row whose place j modulo the size holds grid point j; at most one turn."""
    split = -start
    if 0 < split < mass.size:
        row[start:] += mass[:split]
        row[: mass.size - split] += mass[split:]
        return
    begin = start % row.size
    row[begin : begin + mass.size] += mass


def _clipped(start: int, mass: Floats, bound: str, grid: LossGrid) -> _Cells:
    """Return cells within the grid: what lies above it becomes infinite, or is rounded down, by `bound`."""
    stop = start + mass.size
    if start >= grid.first and stop - 1 <= grid.last:
        return _Cells(start, mass, 0.0)
    low, high = max(grid.first - start, 0), max(stop - 1 - grid.last, 0)
    below, above = float(np.sum(mass[:low])), float(np.sum(mass[max(mass.size - high, 0) :]))
    kept = mass[low : mass.size - high].copy()
    if kept.size == 0:
        kept = np.zeros(1)
        start, low = (grid.first, 0) if below > 0 else (grid.last, 0)
    if bound == "lower":  # a loss of minus infinity counts nothing
        kept[-1] += above
        return _Cells(start + low, kept, 0.0, above)
    kept[0] += below
    return _Cells(start + low, kept, above, above)


def _atom_noise(design: NoiseDesign, index: int, most_shift: int, bound: str, *, central: bool) -> _Noise:
    """Return the law of the noise on one atom; with the geometric part of the central noise if asked for."""
    laws = [
        (r, p) for i, r, p in zip(design.indices, design.shapes, design.ratios, strict=True) if i == index
    ]
    shape, ratio = laws[0]
    tail = _OMITTED[bound]
    others = []  # geometric factors; a sum of noises is as private as any of its summands at least
    for r, p in laws[1:]:
        whole = math.ceil(r) if bound == "lower" else math.floor(r)
        others += [p] * whole
    if central:
        others.append(math.exp(-2 * design.eps_star / design.max_value))
    last = _upper_end(shape, ratio, tail)
    beyond = tail
    for p in sorted(set(others)):
        count = others.count(p)
        last += _upper_end(float(count), p, tail)
        beyond += tail
    if last + most_shift > _MOST_WINDOW:
        raise Infeasible(f"The noise of atom {index} has a window of more than {_MOST_WINDOW} values.")
    y = np.arange(1.0, last + most_shift + 1)
    steps = np.log1p((shape - 1) / y)
    growth = np.concatenate(([0.0], np.cumsum(steps)))
    log_ratio = math.log(ratio)
    log_law = growth + log_ratio * np.arange(growth.size)
    start = shape * math.log1p(-ratio)
    largest = float(np.max(np.abs(growth)) + np.max(np.abs(log_law + start)))
    error = 4 * _UNIT * growth.size * largest if bound != "estimate" else 0.0
    with np.errstate(under="ignore"):
        law = np.exp(log_law + start)
    law[law < _TINY] = 0.0
    if not others:
        return _windowed(log_law, law, last, beyond, error)
    with np.errstate(under="ignore", divide="ignore"):
        for p in others:
            law = _with_geometric(law, p)
            error += 8 * _UNIT * law.size.bit_length() if bound != "estimate" else 0.0
        law[law < _TINY] = 0.0
        return _windowed(np.log(law), law, last, beyond, error)


def _with_geometric(law: Floats, ratio: float) -> Floats:
    """Return the law of a sum with a geometric variable, ``Pr[j] = (1 - ratio) ratio^j``.

    Sums of powers are doubled in length at every step: positive terms only, and few roundings.
    """
    total, length = law * (1 - ratio), 1
    while length < law.size:
        power = ratio**length
        if power < _TINY:
            break
        longer = total.copy()
        longer[length:] += power * total[:-length]
        total, length = longer, 2 * length
    return total


def _windowed(log_law: Floats, law: Floats, last: int, beyond: float, error: float) -> _Noise:
    mass = law[: last + 1]
    first = int(np.argmax(mass > 1e-40))
    return _Noise(log_law, mass, first, beyond + first * 1e-40, error)


def _upper_end(shape: float, ratio: float, tail: float) -> int:
    """Return a value that a negative binomial variable exceeds with probability at most `tail`."""
    scale = 1 / (1 / ratio - 1)
    last = math.ceil(scale * float(gammainccinv(shape, tail))) + 1
    while float(betainc(last + 1, shape, ratio)) > tail:
        last = math.ceil(1.05 * last) + 1
    return last


def _cells(noise: _Noise, shift: int, bound: str, grid: LossGrid) -> _Cells:
    """Return the losses of a noise against itself shifted, on the grid."""
    omitted = noise.omitted if bound == "upper" else 0.0
    if shift == 0:
        return _Cells(0, np.ones(1), 0.0)
    stop = noise.mass.size
    first = max(noise.first, shift)
    infinite = float(np.sum(noise.mass[:first])) if shift > 0 else 0.0
    first = min(first, stop)
    mass = noise.mass[first:stop]
    with np.errstate(invalid="ignore"):
        loss = (noise.log_law[first:stop] - noise.log_law[first - shift : stop - shift]) / grid.step
    known = np.isfinite(loss)
    if not np.all(known):  # the other law underflows; not counted from below
        infinite += 0.0 if bound == "lower" else float(np.sum(mass[~known]))
        mass, loss = mass[known], loss[known]
    outside = loss > grid.last
    clipped = 0.0
    if np.any(outside):
        clipped = float(np.sum(mass[outside]))
        if bound == "lower":
            loss = np.minimum(loss, grid.last)
        else:
            infinite += clipped
            mass, loss = mass[~outside], loss[~outside]
    if bound == "lower":
        inside = loss >= grid.first
        mass, loss = mass[inside], loss[inside]
    else:
        loss = np.maximum(loss, grid.first)
    if mass.size == 0:
        return _Cells(0, np.zeros(1), infinite + omitted, clipped)
    floor = np.floor(loss)
    place = floor.astype(np.int64)
    start = int(place.min())
    place -= start
    size = int(place.max()) + 2
    if bound == "lower":
        return _Cells(start, np.bincount(place, mass, size)[:-1].astype(np.float64), infinite, clipped)
    part = loss - floor
    if bound == "estimate":
        cells = np.zeros(size + 2)
        for j, weights in enumerate(_cubic(part)):
            cells[j : j + size - 1] += np.bincount(place, mass * weights, size - 1)
        return _trimmed(start - 1, cells, infinite, clipped, bound, grid)
    raised = mass * (np.expm1(-grid.step * part) / math.expm1(-grid.step))
    cells = np.zeros(size)
    cells += np.bincount(place, mass - raised, size)
    cells[1:] += np.bincount(place, raised, size)[:-1]
    return _trimmed(start, cells, infinite + omitted, clipped, bound, grid)


def _cubic(part: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the shares of the grid points -1, 0, 1, 2 in a loss between 0 and 1: powers up to 3 are kept."""
    below, above, beyond = part + 1, part - 1, part - 2
    outer, inner = part * above / 6, below * beyond / 2
    return -outer * beyond, inner * above, -inner * part, outer * below


def _trimmed(
    start: int, cells: Floats, infinite: float, clipped: float, bound: str, grid: LossGrid
) -> _Cells:
    if cells[-1] == 0:
        cells = cells[:-1]
    kept = _clipped(start, cells, bound, grid)
    return _Cells(kept.start, kept.mass, infinite + kept.infinite, clipped + kept.clipped)


def _test_function(eps: float, grid: LossGrid) -> Floats:
    """Return ``max(1 - e^(eps - loss), 0)`` at the places of the grid."""
    j = np.arange(grid.size)
    j[j > grid.last] -= grid.size
    return np.asarray(np.maximum(-np.expm1(np.minimum(eps - grid.step * j, 1.0)), 0.0))


def _test_spectrum(eps: float, grid: LossGrid) -> Complexes:
    """Return the spectrum by which a sum over products of spectra becomes the expected test function."""
    spectrum = np.conj(rfft(_test_function(eps, grid))) * (2 / grid.size)
    spectrum[0] /= 2
    spectrum[-1] /= 2
    return np.asarray(spectrum, np.complex128)


def _log_kept(infinite: Floats, mixed_infinite: float) -> float:
    """Return the log of the probability that all losses are finite."""
    with np.errstate(divide="ignore"):
        return float(np.sum(np.log1p(-infinite)) + np.log1p(-mixed_infinite))


def _chunks(sorted_keys: NDArray[np.int64]) -> list[slice]:
    """Return slices of sorted keys with at most :data:`_CHUNK` different keys each, no key in two of them."""
    starts = np.flatnonzero(np.diff(sorted_keys, prepend=-1))
    ends = [*starts[_CHUNK::_CHUNK].tolist(), sorted_keys.size]
    return [slice(b, e) for b, e in zip([0, *ends[:-1]], ends, strict=True) if e > b]


def _evaluate(
    design: NoiseDesign, eps: float, table: PairTable, bound: str, grid: LossGrid
) -> tuple[Floats, float]:
    """Return the deltas of all pairs and the largest mass that may have wrapped around or was clipped."""
    losses = _Losses(design, table, bound, grid)
    certified = bound != "estimate"
    sign = 1.0 if bound == "upper" else -1.0
    dense = losses.dense()
    spectra = rfft(dense, axis=-1)
    norms = np.sqrt(np.sum(dense**2, axis=-1))
    # Chernoff bounds at a few exponents: up for an upper bound, down for a lower one.
    tilts = sign * 36 / (grid.last * grid.step) * np.array([1.0, 2.0, 4.0, 8.0])
    points = grid.step * np.where(
        np.arange(grid.size) > grid.last, np.arange(grid.size) - grid.size, np.arange(grid.size)
    )
    tilting = np.exp(np.outer(points, tilts)) if certified else np.zeros((grid.size, 1))
    edge = abs(points[grid.size // 2 - 1]) if bound == "upper" else abs(points[grid.size // 2])
    del points
    moments = np.log(dense @ tilting + 1e-300) if certified else np.zeros((len(dense), 1))
    del dense
    deltas, worst_wrapped = np.zeros(len(table.pairs)), 0.0
    # Errors of logarithms: of the losses, which act as a change of eps, and of the masses.
    error = _GRID_ERROR + max(losses.log_error(m) for m in table.members) if certified else 0.0
    weight = _test_spectrum(max(eps - sign * error, 0.0) if certified else eps, grid)
    reach = math.sqrt(max(grid.last - eps / grid.step, 0.0) + 2)
    transform = _TRANSFORM * _UNIT * math.log2(grid.size)
    order = np.argsort(table.key_of, kind="stable")
    for chunk in _chunks(table.key_of[order]):
        chosen = order[chunk]
        keys = np.unique(table.key_of[chosen])
        mixed, mixed_infinite = losses.mixtures(keys)
        tests = weight * rfft(mixed, axis=-1)
        mixed_norms = np.sqrt(np.sum(mixed**2, axis=-1))
        mixed_moments = np.log(mixed @ tilting + 1e-300) if certified else np.zeros((len(keys), 1))
        at = {int(k): i for i, k in enumerate(keys)}
        for p in chosen:
            members, key = table.members[p], at[int(table.key_of[p])]
            product = tests[key].copy()
            for c in members:
                product *= spectra[c]
            value = float(np.sum(product.real))
            value -= math.expm1(_log_kept(losses.infinite[members], mixed_infinite[key]))
            if certified:
                log_moments = mixed_moments[key] + np.sum(moments[members], axis=0) - np.abs(tilts) * edge
                wrapped = math.exp(min(float(np.min(log_moments)) + 1e-6, 0.0))
                parts = [*norms[members].tolist(), float(mixed_norms[key])]
                rounding = reach * (
                    (transform + 3 * _UNIT) * sum(parts) + (transform + 50 * _UNIT) * min(parts)
                )
                value = value * math.exp(sign * (error + 1e-13)) + sign * (wrapped + rounding)
                worst_wrapped = max(worst_wrapped, wrapped)
            deltas[p] = value
    return np.clip(deltas, 0.0, 1.0), worst_wrapped + losses.clipped
