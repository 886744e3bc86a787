"""Exact accounting of summation by correlated noise: all pairs of inputs, all noises at once.

The analyzer's view is in bijection with the sum of all messages and one number per atom: the inverse of the atoms'
matrix (:mod:`shuffledp.accounting.summation.noise_atoms`) is an integer matrix. Given the error k of the sum, the
number of central messages -1 is ``max(0, -k)`` plus a geometric variable that does not depend on k. For inputs x and y
let ``kappa = |x - y|``, ``a = e^(-eps_star / D)``, ``m = (c_y - c_x)_1``, and let G be the noise of atom 1 plus that
geometric variable. The loss of x against y is therefore the loss of a mixture over ``t = 0 .. kappa``:

* weights ``1 / (1 + a)`` for t = 0, ``a^kappa / (1 + a)`` for t = kappa, ``a^t (1 - a) / (1 + a)`` between;
* ``(eps_star / D) (kappa - 2 t)`` from the sum;
* G against G shifted by ``m + kappa - t`` if y > x, by ``m - t`` if y < x;
* every other atom's noise against itself shifted by ``(c_y - c_x)_s``.

Given t, these losses are independent and are added. Each is put on a grid that contains the losses of the sum, and
Fourier transforms convolve them. There are three ways to put a loss between two grid points:

``upper``
    Split so that the totals of P and Q are preserved. The hockey-stick divergence is convex in the likelihood ratio
    Q/P, so the split can only increase the divergence, for compositions too; the excess is of second order in the step.
``lower``
    Rounded down: of first order.
``estimate``
    Split over four grid points so that the means of powers of the loss up to the third are preserved. Shares may be
    negative.

``upper`` and ``lower`` are certified: the bound includes mass outside of windows, losses that wrap around the grid
(Chernoff bounds), and the rounding of transforms, sums and logarithms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, get_args

import numpy as np
from scipy.fft import rfft

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.loss_cells import (
    Bound,
    LossCells,
    LossGrid,
    add_cells,
    atom_noise,
    cells_of,
    central_noise,
    clipped_cells,
)
from shuffledp.accounting.summation.loss_sums import chunks, log_kept, summed_losses, test_spectrum
from shuffledp.accounting.summation.noise_atoms import atom_indices
from shuffledp.accounting.summation.noise_design import NoiseDesign
from shuffledp.accounting.summation.pair_table import PairTable, pair_table
from shuffledp.numerics.argument_ranges import EpsAt, check_choice, check_nonnegative

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

BOUNDS: tuple[str, ...] = get_args(Bound)

#: Grid steps within ``eps - eps_star``, the budget of the noises at the largest loss of the sum.
_STEPS = {"upper": 400, "lower": 2000, "estimate": 25}
#: Largest grid.
_MOST_CELLS = 2**20
#: Steps of finite differences in the logs of shape and scale.
_DIFFERENCE = 1e-4


def correlated_noise_delta(design: NoiseDesign, eps: EpsAt, *, bound: Bound = "upper") -> float:
    """Return the delta of a noise design, the largest over all ordered pairs of inputs.

    Derived for this project, see the module's description; Ghazi et al. 2021 (ICML), Theorem 8, composes the parts.

    Parameters
    ----------
    design : NoiseDesign
        Replacement neighbors: one input of ``{0, .., D}`` becomes another.
    eps : float
        Nats, >= 0.
    bound : {"upper", "lower", "estimate"}
        Side of a certified bound, or an estimate on a coarse grid; see the module's description.

    Returns
    -------
    float
        In [0, 1]. For delta from 1e-9 on, ``upper`` is at most 0.2% above the exact value, ``lower`` at most 0.5% below
        it, and ``estimate`` within 2%. This requires that ``eps - eps_star`` is at least a hundredth of eps. The
        allowance for rounding is absolute, about 1e-12.

    Raises
    ------
    Infeasible
        If the calculation does not fit into memory, for wide noise or large losses.

    Examples
    --------
    Lower and upper bound on the delta of a shipped design for inputs 0..3, as multiples of its budget:

    >>> from shuffledp.accounting import correlated_noise_delta, shipped_design
    >>> design = shipped_design(3, 1.0, 1e-6, 0.9).design
    >>> for bound in ("lower", "upper"):
    ...     print(f"{correlated_noise_delta(design, 1.0, bound=bound) / design.delta:.3f}")
    0.997
    1.000
    """
    table = pair_table(design.max_value, design.atoms, design.hubs)
    return float(np.max(pair_deltas(design, eps, table, bound=bound)))


def pair_deltas(
    design: NoiseDesign, eps: float, table: PairTable, *, bound: Bound = "upper", grid: LossGrid | None = None
) -> Floats:
    """Return the delta of every pair of a table, (P,): bounds in [0, 1] or estimates, by `bound`.

    The default grid is :func:`loss_grid`, extended until little mass wraps around. Raises Infeasible as
    :func:`correlated_noise_delta`.
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


def loss_grid(design: NoiseDesign, eps: float, bound: Bound, *, finer: int = 1) -> LossGrid:
    """Return a grid that resolves ``eps - eps_star``, contains the losses of the sum, and exceeds all relevant losses.

    Of the design only D and eps_star matter. Bounds have finer steps than estimates, and `finer` divides the step.
    Raises Infeasible if the grid would not fit into memory.
    """
    remaining_eps = max(eps - design.eps_star, 0.01 * max(eps, design.eps_star))
    unit = design.eps_star / design.max_value
    stride = math.ceil(unit * finer * _STEPS[bound] / remaining_eps * (1 - 1e-12))
    step = unit / stride
    span = 2 * (1.2 * max(eps, design.eps_star) + 6 * remaining_eps)
    size = 1 << max(8, math.ceil(math.log2(span / step)))
    if size > _MOST_CELLS:
        raise Infeasible(
            f"eps_star / D = {unit:.4g} and eps - eps_star = {remaining_eps:.4g} need a grid of more than "
            f"{_MOST_CELLS} losses."
        )
    return LossGrid(step, size, stride)


def pair_gradients(
    design: NoiseDesign, eps: float, table: PairTable, grid: LossGrid
) -> tuple[Floats, Floats, Floats]:
    """Return estimates of delta, (P,), and their derivatives in the logs of shapes and scales ``p / (1 - p)``.

    The design has one noise per atom. The derivatives, (P, number of noises), are finite differences in the order of
    ``design.indices``.
    """
    base = DesignLosses(design, table, "estimate", grid)
    weight = test_spectrum(eps, grid)
    shifted = [
        DesignLosses(design.moved(**{name: _DIFFERENCE}), table, "estimate", grid)
        for name in ("shape", "scale")
    ]
    place = {index: i for i, index in enumerate(design.indices)}
    rows = atom_indices(design.max_value, atoms=design.atoms, hubs=design.hubs or None)
    deltas = np.zeros(len(table.pairs))
    slopes = [np.zeros((len(table.pairs), len(design.indices))) for _ in shifted]
    spectra = [rfft(losses.dense(), axis=-1) for losses in (base, *shifted)]
    order = np.argsort(table.key_of, kind="stable")
    for chunk in chunks(table.key_of[order]):
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
            log_both = log_kept(base.infinite[members], mixed[0][1][key])
            deltas[p] = finite - math.expm1(log_both)
            finite_mass = math.exp(log_both)
            for j in (0, 1):
                change = float(np.sum((products[-1] * (tests[j + 1][key] - test)).real))
                change += finite_mass * (mixed[j + 1][1][key] - mixed[0][1][key])
                slopes[j][p, place[1]] += change
            right = test
            for i in range(len(members) - 1, -1, -1):
                c = members[i]
                rest = products[i] * right
                for j in (0, 1):
                    change = float(np.sum((rest * (spectra[j + 1][c] - spectra[0][c])).real))
                    change += finite_mass * (shifted[j].infinite[c] - base.infinite[c])
                    slopes[j][p, place[rows[table.parts[c][0]]]] += change
                right = right * spectra[0][c]
    return deltas, slopes[0] / _DIFFERENCE, slopes[1] / _DIFFERENCE


class DesignLosses:
    """Losses of one design on a grid, for the pairs of a table: upper or lower bounds, or estimates."""

    def __init__(self, design: NoiseDesign, table: PairTable, bound: Bound, grid: LossGrid) -> None:
        self.table, self.bound, self.grid = table, bound, grid
        self.ratio = math.exp(-design.eps_star / design.max_value)
        rows = atom_indices(design.max_value, atoms=design.atoms, hubs=design.hubs or None)
        shifts_of: dict[int, set[int]] = {}
        for row, shift in table.parts:
            shifts_of.setdefault(row, set()).add(shift)
        shifts_of_key = {key: self._shifts(*key) for key in table.keys}
        # Atom 1 has the widest window: a design that is refused for it is refused at once.
        central = {shift for shifts in shifts_of_key.values() for shift in shifts}
        noise = central_noise(design, _most(central), bound)
        self.central_error = noise.error
        self.central = {shift: cells_of(noise, shift, bound, grid) for shift in sorted(central)}
        cells: dict[tuple[int, int], LossCells] = {}
        self.errors: dict[int, float] = {}
        for row, shifts in shifts_of.items():
            noise = atom_noise(design, rows[row], _most(shifts), bound, central=False)
            self.errors[row] = noise.error
            for shift in shifts:
                cells[row, shift] = cells_of(noise, shift, bound, grid)
        self.parts = [cells[part] for part in table.parts]
        self.infinite = np.array([c.infinite for c in self.parts])
        self.clipped = max((c.clipped for c in self.parts), default=0.0)

    @staticmethod
    def _shifts(kappa: int, change: int, up: bool) -> list[int]:
        return [change + kappa - t if up else change - t for t in range(kappa + 1)]

    @property
    def members(self) -> tuple[NDArray[np.int64], ...]:
        """Indices of the parts of each pair."""
        return self.table.members

    @property
    def key_of(self) -> NDArray[np.int64]:
        """Index of the key of each pair."""
        return self.table.key_of

    def dense(self) -> Floats:
        """Return the finite losses of all parts, (parts, size)."""
        out = np.zeros((len(self.parts), self.grid.size))
        for row, cells in zip(out, self.parts, strict=True):
            add_cells(row, cells.start, cells.mass)
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
                clipped_part = clipped_cells(
                    cells.start + grid.stride * (kappa - 2 * t), cells.mass, self.bound, grid
                )
                add_cells(out[i], clipped_part.start, weight * clipped_part.mass)
                infinite[i] += weight * (cells.infinite + clipped_part.infinite)
                clipped += weight * (cells.clipped + clipped_part.clipped)
            self.clipped = max(self.clipped, clipped)
        return out, infinite

    def log_error(self, members: NDArray[np.int64]) -> float:
        """Return a bound on the total error of the logarithms of a pair's losses."""
        return self.central_error + sum(self.errors[self.table.parts[c][0]] for c in members)


def _most(shifts: set[int]) -> int:
    return max(abs(s) for s in shifts)


def _evaluate(
    design: NoiseDesign, eps: float, table: PairTable, bound: Bound, grid: LossGrid
) -> tuple[Floats, float]:
    """Return the deltas of all pairs, and the largest mass that may have wrapped around or that was clipped."""
    losses = summed_losses(DesignLosses(design, table, bound, grid), eps, bound, grid)
    return losses.deltas, losses.wrapped
