"""Single steps of the search for noise designs: linear and quadratic programs around a design, by estimates of delta.

:mod:`shuffledp.accounting.summation.design_search` uses the steps in turn. Sources: sequential linear programming with
a trust region, and SLSQP (Kraft 1988) in SciPy's implementation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.joint_noise import loss_grid, pair_deltas, pair_gradients
from shuffledp.accounting.summation.noise_atoms import (
    atom_indices,
    atom_messages,
    check_atoms,
    input_changes,
    used_atoms,
)
from shuffledp.accounting.summation.noise_design import LAWS, NoiseDesign
from shuffledp.accounting.summation.pair_table import pair_table
from shuffledp.numerics.argument_ranges import check_choice, check_open_unit, check_positive
from shuffledp.numerics.roots import root_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shuffledp.accounting.summation.loss_cells import LossGrid
    from shuffledp.accounting.summation.pair_table import PairTable

    Floats = NDArray[np.float64]

#: Ratio of the box of the quadratic stage to the trust region; the stage takes several steps at once.
_BOX = 3.0
_INNER = 20
#: Shapes outside of this range are not tried.
_SHAPES = (1.0, 300.0)
#: Pairs with a delta below this part of the target do not bind within a trust region.
_ACTIVE = 1e-3
#: Precision of a common factor of all scales, in its logarithm.
XTOL = 1e-5


@dataclass(frozen=True)
class Goal:
    """Setting of a search, with checked arguments."""

    max_value: int
    eps: float
    delta: float
    eps_star: float
    atoms: str
    hubs: tuple[int, ...]
    law: str

    @classmethod
    def checked(
        cls,
        max_value: int,
        eps: float,
        delta: float,
        eps_star: float,
        atoms: str,
        hubs: Sequence[int] | None,
        law: str,
    ) -> Goal:
        """Check the arguments, and raise Infeasible if the error of the sum alone uses all of eps."""
        size, kind, coins = check_atoms(max_value, atoms, hubs)
        eps = check_positive("eps", eps)
        delta = check_open_unit("delta", delta)
        eps_star = check_positive("eps_star", eps_star)
        if eps_star >= eps:
            raise Infeasible(
                f"eps_star must be below eps = {eps!r} to leave something for the noises, got {eps_star!r}."
            )
        return cls(size, eps, delta, eps_star, kind, coins, check_choice("law", law, LAWS))

    @property
    def indices(self) -> tuple[int, ...]:
        """Indices of the atoms that inputs can change."""
        return used_atoms(self.max_value, atoms=self.atoms, hubs=self.hubs or None)

    def design(self, shapes: Sequence[float], scales: Sequence[float]) -> NoiseDesign:
        """Return the design with these shapes and scales ``p / (1 - p)``, in the order of `indices`."""
        ratios = tuple(float(s / (1 + s)) for s in scales)
        return NoiseDesign(
            self.max_value,
            self.eps_star,
            self.atoms,
            self.hubs,
            self.indices,
            tuple(float(r) for r in shapes),
            ratios,
            self.eps,
            self.delta,
            self.law,
        )

    def unit(self) -> NoiseDesign:
        """Return a design with the right atoms and arbitrary noises."""
        ones = [1.0] * len(self.indices)
        return self.design(ones, ones)

    def table(self) -> PairTable:
        """Return the table of all pairs of inputs."""
        return pair_table(self.max_value, self.atoms, self.hubs)

    def grid(self) -> LossGrid:
        """Return the grid of losses for estimates."""
        return loss_grid(self.unit(), self.eps, "estimate")

    def weights(self) -> Floats:
        """Return the number of messages of every atom."""
        hubs = self.hubs or None
        return np.array(
            [
                sum(atom_messages(i, self.max_value, atoms=self.atoms, hubs=hubs).values())
                for i in self.indices
            ],
            np.float64,
        )

    def hardest_shifts(self) -> list[tuple[int, float]]:
        """Return the hardest shift of each atom, which is the largest relative to the eps that the sum leaves for it,
        and this eps.

        For atom 1 the shift depends on the error of the sum, see :mod:`shuffledp.accounting.summation.joint_noise`.
        """
        hubs = self.hubs or None
        rows = atom_indices(self.max_value, atoms=self.atoms, hubs=hubs)
        changes = input_changes(self.max_value, atoms=self.atoms, hubs=hubs)
        unit = self.eps_star / self.max_value
        inputs = np.arange(self.max_value + 1)
        x, y = (v.ravel() for v in np.meshgrid(inputs, inputs, indexing="ij"))
        x, y = x[x != y], y[x != y]
        kappa = np.abs(x - y)
        shifts = []
        for index in self.indices:
            change = changes[rows.index(index)]
            if index == 1:
                t = inputs[:, None]
                shift = np.where(y > x, change[y] - change[x] + kappa - t, change[y] - change[x] - t)
                budget = np.where(t <= kappa, self.eps - unit * (kappa - 2 * t), math.inf)
            else:
                shift, budget = change[y] - change[x], self.eps - unit * kappa
            at = np.unravel_index(np.argmax(np.abs(shift) / budget), np.shape(shift))
            shifts.append((int(abs(shift[at])), float(budget[at])))
        return shifts


def feasible(goal: Goal, design: NoiseDesign, table: PairTable, grid: LossGrid) -> NoiseDesign:
    """Return the design with all scales times the smallest factor with which the estimate of delta meets its goal."""
    values = pair_deltas(design, goal.eps, table, bound="estimate", grid=grid)
    binding = table.only(np.flatnonzero(values >= _ACTIVE * np.max(values)))

    def excess(minus: float) -> float:
        scaled = design.moved(scale=-minus)
        value = float(np.max(pair_deltas(scaled, goal.eps, binding, bound="estimate", grid=grid)))
        return math.log(value / goal.delta) if value > 0 else -math.inf

    reach = math.log(64)
    return design.moved(scale=-root_below(excess, 0.0, -reach, reach, xtol=XTOL, slope=25.0))


def _slopes(goal: Goal, design: NoiseDesign, active: PairTable, grid: LossGrid) -> tuple[Floats, Floats]:
    """Return log delta of all pairs and its derivatives in the coordinates of :func:`_coordinates`."""
    deltas, by_shape, by_scale = pair_gradients(design, goal.eps, active, grid)
    slopes = np.hstack((by_shape - by_scale / 2, by_scale)) / deltas[:, None]
    return np.log(deltas), slopes


def _coordinates(design: NoiseDesign) -> Floats:
    """Return the logarithms of all r and of all ``sqrt(r) p / (1 - p)``, which are nearly the standard deviations.

    Delta depends mainly on the second half, so that the two halves are nearly independent.
    """
    roots = np.log(design.shapes) / 2
    return np.concatenate((2 * roots, roots + np.log(design.scales)))


def _at(design: NoiseDesign, coordinates: Floats) -> NoiseDesign:
    shapes, deviations = np.split(coordinates, 2)
    return design.with_noise(np.exp(shapes).tolist(), np.exp(deviations - shapes / 2).tolist())


def _box(design: NoiseDesign, radius: float) -> list[tuple[float, float]]:
    """Return bounds of the coordinates around a design; shapes stay within the range of the search."""
    center = _coordinates(design)
    half = center.size // 2
    low, high = center - radius, center + radius
    low[:half] = np.minimum(np.maximum(low[:half], math.log(_SHAPES[0])), center[:half])
    high[:half] = np.maximum(np.minimum(high[:half], math.log(_SHAPES[1])), center[:half])
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _costs(goal: Goal, coordinates: Floats) -> Floats:
    """Return the expected messages of every noise, ``|s| r p / (1 - p)``. For jumps, the result is nearly proportional
    to them.
    """
    shapes, deviations = np.split(coordinates, 2)
    return np.asarray(goal.weights() * np.exp(shapes / 2 + deviations))


def linear_step(
    goal: Goal, design: NoiseDesign, trust: float, table: PairTable, grid: LossGrid
) -> tuple[NoiseDesign, float]:
    """Return the solution of the linear program around a design, and the predicted decrease of messages."""
    from scipy.optimize import linprog  # slow to import, and seldom needed

    center = _coordinates(design)
    logs, slopes = _slopes(goal, design, _active(goal, design, table, grid), grid)
    costs = _costs(goal, center)
    objective = np.concatenate((costs / 2, costs))
    solution = linprog(
        objective / costs.sum(),
        A_ub=slopes,
        b_ub=math.log(goal.delta) - logs,
        bounds=[(low - x, high - x) for x, (low, high) in zip(center, _box(design, trust), strict=True)],
        method="highs",
    )
    if solution.x is None:
        raise Infeasible(f"The linear program of the search has no solution: {solution.message}")
    moves = np.asarray(solution.x, np.float64)
    return _at(design, center + moves), max(-float(objective @ moves), 0.0)


def quadratic_step(
    goal: Goal, design: NoiseDesign, trust: float, table: PairTable, grid: LossGrid
) -> tuple[NoiseDesign, float]:
    """Return the design after some steps of SLSQP within a box, and the predicted decrease of messages."""
    from scipy.optimize import NonlinearConstraint, minimize  # slow to import, and seldom needed

    active = _active(goal, design, table, grid)
    values_at: dict[bytes, tuple[Floats, Floats]] = {}

    def constraints(x: Floats) -> tuple[Floats, Floats]:
        key = x.tobytes()
        if key not in values_at:
            values_at.clear()
            values_at[key] = _slopes(goal, _at(design, x), active, grid)
        return values_at[key]

    def log_cost(x: Floats) -> float:
        return math.log(float(_costs(goal, x).sum()))

    def cost_slopes(x: Floats) -> Floats:
        costs = _costs(goal, x)
        return np.concatenate((costs / 2, costs)) / float(costs.sum())

    solution = minimize(
        log_cost,
        _coordinates(design),
        jac=cost_slopes,
        method="SLSQP",
        bounds=_box(design, _BOX * trust),
        constraints=NonlinearConstraint(
            lambda x: constraints(x)[0], -np.inf, math.log(goal.delta), jac=lambda x: constraints(x)[1]
        ),
        options={"maxiter": _INNER, "ftol": 1e-7},
    )
    trial = _at(design, np.asarray(solution.x, np.float64))
    return trial, max(design.messages - trial.messages, 0.0)


def _active(goal: Goal, design: NoiseDesign, table: PairTable, grid: LossGrid) -> PairTable:
    values = pair_deltas(design, goal.eps, table, bound="estimate", grid=grid)
    return table.only(np.flatnonzero(values >= _ACTIVE * goal.delta))
