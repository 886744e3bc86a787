"""Search for noise designs with few messages, by the exact accountant.

:func:`family_design`
    One parameter: every atom gets the noise of smallest mean that hides its hardest shift at a common multiple of the
    budget that is left for it, and the multiple is the largest that the joint delta allows.
:func:`search_design`
    Over the shapes and scales of all noises, in two stages. Sequential linear programming: cost and log delta of all
    ordered pairs of inputs are linearised in logarithms, within a trust region. Then sequential quadratic programming
    (SLSQP) in a box around the best design. After every step the scales are made feasible again by a common factor.
:func:`certified_design`
    Scales a design up or down until the certified upper bound just meets delta.

Everything is deterministic. The state of a search is a dict of JSON values, so that it can be kept and resumed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.joint_noise import (
    LossGrid,
    PairTable,
    loss_grid,
    pair_deltas,
    pair_gradients,
    pair_table,
)
from shuffledp.accounting.summation.noise_atoms import (
    atom_indices,
    atom_messages,
    check_atoms,
    input_changes,
    used_atoms,
)
from shuffledp.accounting.summation.noise_design import NoiseDesign, smallest_noise
from shuffledp.numerics.checks import check_count, check_open_unit, check_positive
from shuffledp.numerics.roots import root_below

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Largest step in the logarithms of shapes and deviations, at first and at all; where linear steps end; and how many
#: times larger steps of the quadratic stage may be, which takes so many steps at once.
_TRUST = 0.3
_LINEAR_TRUST = 0.03
_BOX = 3.0
_INNER = 20
#: Shapes outside of this range are not tried.
_SHAPES = (1.0, 300.0)
#: Pairs with a delta below this part of the target do not bind within a trust region.
_ACTIVE = 1e-3
_XTOL = 1e-5


def family_design(
    max_value: int,
    eps: float,
    delta: float,
    eps_star: float,
    *,
    atoms: str = "star",
    hubs: Sequence[int] | None = None,
) -> NoiseDesign:
    """Return the best design of a one-parameter family, by estimates of delta.

    Parameters
    ----------
    max_value : int
        Largest input D, >= 1.
    eps : float
        Nats, above `eps_star`.
    delta : float
        In (0, 1).
    eps_star : float
        Nats, > 0.
    atoms, hubs
        As in :func:`~shuffledp.accounting.summation.noise_atoms.atom_indices`.

    Returns
    -------
    NoiseDesign
        Only atoms that inputs can change carry noise. A few percent above the best; its delta is met by an
        *estimate*, see :func:`certified_design`.

    Raises
    ------
    Infeasible
        If ``eps_star >= eps``, or the calculation does not fit into memory.
    """
    goal = _Goal.checked(max_value, eps, delta, eps_star, atoms, hubs)
    hardest = goal.hardest_shifts()

    def design(log_omega: float) -> NoiseDesign:
        found = [
            smallest_noise(shift, math.exp(log_omega) * budget, 0.3 * goal.delta, 60.0)
            for shift, budget in hardest
        ]
        return goal.design([shape for shape, _ in found], [scale for _, scale in found])

    table, grid = goal.table(), goal.grid()

    def excess(log_omega: float) -> float:
        value = float(np.max(pair_deltas(design(log_omega), goal.eps, table, bound="estimate", grid=grid)))
        return math.log(value / goal.delta) if value > 0 else -math.inf

    return design(root_below(excess, -0.1, -3.0, 2.0, xtol=2e-3))


def search_design(
    max_value: int,
    eps: float,
    delta: float,
    eps_star: float,
    *,
    atoms: str = "star",
    hubs: Sequence[int] | None = None,
    state: Mapping[str, Any] | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
    finest: float = 3e-4,
    iterations: int = 100,
) -> NoiseDesign:
    """Return the best design that sequential linear and quadratic programming find, by estimates of delta.

    Parameters
    ----------
    max_value, eps, delta, eps_star, atoms, hubs
        As in :func:`family_design`.
    state : mapping, optional
        What an earlier search for the same arguments gave to `progress`, or ``{"design": ..}`` to start from a
        design; otherwise the search starts from :func:`family_design`.
    progress : callable, optional
        Called after every iteration with the state: ``design`` (a dict), ``stage`` (``linear``, ``quadratic`` or
        ``done``), ``trust``, ``iteration``, ``messages``.
    finest : float
        The search ends when an iteration saves a smaller part of the messages than this.
    iterations : int
        Most iterations, counted over all resumptions.

    Returns
    -------
    NoiseDesign
        Only atoms that inputs can change carry noise. Its delta is met by an estimate, see :func:`certified_design`.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the state belongs to other arguments.
    Infeasible
        As in :func:`family_design`.
    """
    goal = _Goal.checked(max_value, eps, delta, eps_star, atoms, hubs)
    finest = check_positive("finest", finest)
    iterations = check_count("iterations", iterations)
    table, grid = goal.table(), goal.grid()
    if state is None:
        start = family_design(max_value, eps, delta, eps_star, atoms=atoms, hubs=hubs)
        current, trust, done = _feasible(goal, start, table, grid), _TRUST, 0
    else:
        current, example = NoiseDesign.from_dict(state["design"]), goal.unit()
        if replace(current, shapes=example.shapes, ratios=example.ratios) != example:
            raise ValueError("state must belong to the same arguments, but its design differs from them.")
        if "trust" not in state:  # a design from elsewhere
            current = _feasible(goal, current, table, grid)
        trust, done = float(state.get("trust", _TRUST)), int(state.get("iteration", 0))
    stage = "linear" if state is None else str(state.get("stage", "linear"))
    while stage != "done" and done < iterations:
        cost = current.messages
        if stage == "linear":
            trial, promised = _linear_step(goal, current, trust, table, grid)
        else:
            trial, promised = _quadratic_step(goal, current, trust, table, grid)
        trial = _feasible(goal, trial, table, grid)
        gain = cost - trial.messages
        current = trial if gain > 0 else current
        if gain < 0.25 * promised:
            trust /= 2
        elif gain > 0.75 * promised:
            trust = min(1.5 * trust, _TRUST)
        if stage == "linear" and (trust < _LINEAR_TRUST or promised < finest * cost):
            stage, trust = "quadratic", _TRUST
        elif (
            stage == "quadratic"
            and gain < finest * cost
            and (promised < 4 * finest * cost or trust < _TRUST / 4)
        ):
            stage = "done"
        done += 1
        if progress is not None:
            progress(
                {
                    "design": current.to_dict(),
                    "stage": stage,
                    "trust": trust,
                    "iteration": done,
                    "messages": current.messages,
                }
            )
    return current


def certified_design(design: NoiseDesign) -> tuple[NoiseDesign, float]:
    """Scale a design until its certified delta just meets its budget.

    Parameters
    ----------
    design : NoiseDesign
        Near feasibility for its own ``eps`` and ``delta``.

    Returns
    -------
    design : NoiseDesign
        All scales times one number, within 1e-5 of the smallest that will do.
    delta : float
        Certified upper bound, at most ``design.delta``.

    Raises
    ------
    Infeasible
        If no factor between 1/8 and 8 is enough, or the calculation does not fit into memory.
    """
    table = pair_table(design.max_value, design.atoms, design.hubs)
    values = pair_deltas(design, design.eps, table, bound="upper")
    # Pairs far below the worst stay there; all are checked at the end.
    binding = table.only(np.flatnonzero(values >= 0.3 * np.max(values)))

    def excess(minus: float) -> float:
        scaled = design.moved(scale=-minus)
        value = float(np.max(pair_deltas(scaled, design.eps, binding, bound="upper")))
        return math.log(value / design.delta) if value > 0 else -math.inf

    reach = math.log(8)
    minus = root_below(excess, 0.0, -reach, reach, xtol=_XTOL, slope=25.0)
    for _ in range(20):
        scaled = design.moved(scale=-minus)
        delta = float(np.max(pair_deltas(scaled, design.eps, table, bound="upper")))
        if delta <= design.delta:
            return scaled, delta
        minus -= 10 * _XTOL
    raise Infeasible(f"No scale up to 8 times that of the given noise has a delta of {design.delta!r}.")


@dataclass(frozen=True)
class _Goal:
    """The arguments of a search, checked."""

    max_value: int
    eps: float
    delta: float
    eps_star: float
    atoms: str
    hubs: tuple[int, ...]

    @classmethod
    def checked(
        cls, max_value: int, eps: float, delta: float, eps_star: float, atoms: str, hubs: Sequence[int] | None
    ) -> _Goal:
        size, kind, coins = check_atoms(max_value, atoms, hubs)
        eps = check_positive("eps", eps)
        delta = check_open_unit("delta", delta)
        eps_star = check_positive("eps_star", eps_star)
        if eps_star >= eps:
            raise Infeasible(
                f"eps_star must be below eps = {eps!r} to leave something for the noises, got {eps_star!r}."
            )
        return cls(size, eps, delta, eps_star, kind, coins)

    @property
    def indices(self) -> tuple[int, ...]:
        return used_atoms(self.max_value, atoms=self.atoms, hubs=self.hubs or None)

    def design(self, shapes: Sequence[float], scales: Sequence[float]) -> NoiseDesign:
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
        )

    def unit(self) -> NoiseDesign:
        """Return a design with the right atoms and meaningless noises."""
        ones = [1.0] * len(self.indices)
        return self.design(ones, ones)

    def table(self) -> PairTable:
        return pair_table(self.max_value, self.atoms, self.hubs)

    def grid(self) -> LossGrid:
        return loss_grid(self.unit(), self.eps, "estimate")

    def weights(self) -> Floats:
        """Number of messages of every atom."""
        hubs = self.hubs or None
        return np.array(
            [
                sum(atom_messages(i, self.max_value, atoms=self.atoms, hubs=hubs).values())
                for i in self.indices
            ],
            np.float64,
        )

    def hardest_shifts(self) -> list[tuple[int, float]]:
        """Return for every atom the shift that is largest in relation to what the sum leaves of eps, and that budget.

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
        found = []
        for index in self.indices:
            change = changes[rows.index(index)]
            if index == 1:
                t = inputs[:, None]
                shift = np.where(y > x, change[y] - change[x] + kappa - t, change[y] - change[x] - t)
                budget = np.where(t <= kappa, self.eps - unit * (kappa - 2 * t), math.inf)
            else:
                shift, budget = change[y] - change[x], self.eps - unit * kappa
            at = np.unravel_index(np.argmax(np.abs(shift) / budget), np.shape(shift))
            found.append((int(abs(shift[at])), float(budget[at])))
        return found


def _feasible(goal: _Goal, design: NoiseDesign, table: PairTable, grid: LossGrid) -> NoiseDesign:
    """Return the design with all scales times the smallest number that makes the estimate of delta meet its goal."""
    values = pair_deltas(design, goal.eps, table, bound="estimate", grid=grid)
    binding = table.only(np.flatnonzero(values >= _ACTIVE * np.max(values)))

    def excess(minus: float) -> float:
        scaled = design.moved(scale=-minus)
        value = float(np.max(pair_deltas(scaled, goal.eps, binding, bound="estimate", grid=grid)))
        return math.log(value / goal.delta) if value > 0 else -math.inf

    reach = math.log(64)
    return design.moved(scale=-root_below(excess, 0.0, -reach, reach, xtol=_XTOL, slope=25.0))


def _slopes(goal: _Goal, design: NoiseDesign, active: PairTable, grid: LossGrid) -> tuple[Floats, Floats]:
    """Return log delta of all pairs and its derivatives in :func:`_coordinates`."""
    deltas, by_shape, by_scale = pair_gradients(design, goal.eps, active, grid)
    slopes = np.hstack((by_shape - by_scale / 2, by_scale)) / deltas[:, None]
    return np.log(deltas), slopes


def _coordinates(design: NoiseDesign) -> Floats:
    """Return the logarithms of all r and of all ``sqrt(r) p / (1 - p)``, nearly the standard deviations.

    Delta depends on the second half first of all, so the two halves hardly disturb one another.
    """
    roots = np.log(design.shapes) / 2
    return np.concatenate((2 * roots, roots + np.log(design.scales)))


def _at(design: NoiseDesign, coordinates: Floats) -> NoiseDesign:
    shapes, deviations = np.split(coordinates, 2)
    return design.with_noise(np.exp(shapes).tolist(), np.exp(deviations - shapes / 2).tolist())


def _box(design: NoiseDesign, radius: float) -> list[tuple[float, float]]:
    """Return bounds of the coordinates around a design; those of the shapes within what is tried at all."""
    here = _coordinates(design)
    half = here.size // 2
    low, high = here - radius, here + radius
    low[:half] = np.minimum(np.maximum(low[:half], math.log(_SHAPES[0])), here[:half])
    high[:half] = np.maximum(np.minimum(high[:half], math.log(_SHAPES[1])), here[:half])
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _costs(goal: _Goal, coordinates: Floats) -> Floats:
    """Return the expected messages of every noise, ``|s| r p / (1 - p)``."""
    shapes, deviations = np.split(coordinates, 2)
    return np.asarray(goal.weights() * np.exp(shapes / 2 + deviations))


def _linear_step(
    goal: _Goal, design: NoiseDesign, trust: float, table: PairTable, grid: LossGrid
) -> tuple[NoiseDesign, float]:
    """Return the solution of the linear program around a design, and the decrease of messages it promises."""
    from scipy.optimize import linprog  # slow to import, and seldom needed

    here = _coordinates(design)
    logs, slopes = _slopes(goal, design, _active(goal, design, table, grid), grid)
    costs = _costs(goal, here)
    objective = np.concatenate((costs / 2, costs))
    found = linprog(
        objective / costs.sum(),
        A_ub=slopes,
        b_ub=math.log(goal.delta) - logs,
        bounds=[(low - x, high - x) for x, (low, high) in zip(here, _box(design, trust), strict=True)],
        method="highs",
    )
    if found.x is None:
        raise Infeasible(f"The linear program of the search has no solution: {found.message}")
    moves = np.asarray(found.x, np.float64)
    return _at(design, here + moves), max(-float(objective @ moves), 0.0)


def _quadratic_step(
    goal: _Goal, design: NoiseDesign, trust: float, table: PairTable, grid: LossGrid
) -> tuple[NoiseDesign, float]:
    """Return the design after some steps of SLSQP within a box, and the decrease of messages it promises."""
    from scipy.optimize import NonlinearConstraint, minimize  # slow to import, and seldom needed

    active = _active(goal, design, table, grid)
    known: dict[bytes, tuple[Floats, Floats]] = {}

    def constraints(x: Floats) -> tuple[Floats, Floats]:
        key = x.tobytes()
        if key not in known:
            known.clear()
            known[key] = _slopes(goal, _at(design, x), active, grid)
        return known[key]

    def log_cost(x: Floats) -> float:
        return math.log(float(_costs(goal, x).sum()))

    def cost_slopes(x: Floats) -> Floats:
        costs = _costs(goal, x)
        return np.concatenate((costs / 2, costs)) / float(costs.sum())

    found = minimize(
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
    trial = _at(design, np.asarray(found.x, np.float64))
    return trial, max(design.messages - trial.messages, 0.0)


def _active(goal: _Goal, design: NoiseDesign, table: PairTable, grid: LossGrid) -> PairTable:
    values = pair_deltas(design, goal.eps, table, bound="estimate", grid=grid)
    return table.only(np.flatnonzero(values >= _ACTIVE * goal.delta))
