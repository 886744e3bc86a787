"""Search for noise designs with few messages, by the exact accountant.

:func:`family_design`
    One parameter, a multiple: every atom has the noise of smallest mean that hides its hardest shift at this multiple
    of the eps that remains for the shift. The multiple is the largest with which the joint delta meets the budget.
:func:`search_design`
    A search over the shapes and scales of all noises, in two stages. Sequential linear programming: cost and log delta
    of all ordered pairs of inputs are linearized in logarithms, within a trust region. Then sequential quadratic
    programming (SLSQP) in a box around the best design. After every step the scales are multiplied by the factor that
    makes them feasible.
:func:`certified_design`
    Scales a design until the certified upper bound just meets delta.

Everything is deterministic. The state of a search is a dict of JSON values, so that a search can be resumed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.joint_noise import pair_deltas
from shuffledp.accounting.summation.jump_noise import BEST_JUMP
from shuffledp.accounting.summation.noise_design import NoiseDesign
from shuffledp.accounting.summation.pair_table import pair_table
from shuffledp.accounting.summation.search_steps import XTOL, Goal, feasible, linear_step, quadratic_step
from shuffledp.accounting.summation.shift_noise import smallest_noise
from shuffledp.numerics.argument_ranges import Count, Delta, Eps, FromOne, Positive
from shuffledp.numerics.roots import root_below

#: Largest step in the logarithms of shapes and deviations, at first and at all; and where linear steps end.
_TRUST = 0.3
_LINEAR_TRUST = 0.03
#: Rate of the jumps in the family, over ``2 - log(delta)``: where the searches for delta = 1e-6 end.
_RATE = 1.1


def family_design(
    max_value: FromOne,
    eps: Eps,
    delta: Delta,
    eps_star: Eps,
    *,
    atoms: str = "star",
    hubs: Sequence[int] | None = None,
    law: str = "negative_binomial",
) -> NoiseDesign:
    """Return the best design of a one-parameter family, by estimates of delta.

    Derived for this project.

    Parameters
    ----------
    max_value : int
        Largest input D, >= 1.
    eps, delta, eps_star : float
        ``0 < eps_star < eps``, both in nats, and delta in (0, 1).
    atoms, hubs
        As in :func:`~shuffledp.accounting.summation.noise_atoms.atom_indices`.
    law : {"negative_binomial", "jumps"}
        Law of the noises, see :class:`~shuffledp.accounting.summation.noise_design.NoiseDesign`. With ``jumps`` all
        rates are equal, and a center is proportional to the hardest shift over the eps that remains for it.

    Returns
    -------
    NoiseDesign
        Only atoms that inputs can change have noise. It needs a few percent more messages than the best design, and
        meets its delta by an *estimate*, see :func:`certified_design`.

    Raises
    ------
    Infeasible
        If ``eps_star >= eps``, or the calculation does not fit into memory.
    """
    goal = Goal.checked(max_value, eps, delta, eps_star, atoms, hubs, law)
    hardest = goal.hardest_shifts()

    def design(log_omega: float) -> NoiseDesign:
        if law == "jumps":
            centers = [max(BEST_JUMP * shift / (math.exp(log_omega) * part), 1.0) for shift, part in hardest]
            return goal.design([_RATE * (2 - math.log(goal.delta))] * len(centers), centers)
        noises = [
            smallest_noise(shift, math.exp(log_omega) * budget, 0.3 * goal.delta, 60.0)
            for shift, budget in hardest
        ]
        return goal.design([shape for shape, _ in noises], [scale for _, scale in noises])

    table, grid = goal.table(), goal.grid()

    def excess(log_omega: float) -> float:
        value = float(np.max(pair_deltas(design(log_omega), goal.eps, table, bound="estimate", grid=grid)))
        return math.log(value / goal.delta) if value > 0 else -math.inf

    return design(root_below(excess, -0.1, -3.0, 2.0, xtol=2e-3))


def search_design(
    max_value: FromOne,
    eps: Eps,
    delta: Delta,
    eps_star: Eps,
    *,
    atoms: str = "star",
    hubs: Sequence[int] | None = None,
    law: str = "negative_binomial",
    state: Mapping[str, Any] | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
    finest: Positive = 3e-4,
    iterations: Count = 100,
) -> NoiseDesign:
    """Return the best design that sequential linear and quadratic programming find, by estimates of delta.

    Derived for this project; Ghazi et al. 2021 (ICML), Section 5, refers to a numeric search in its supplement.

    Parameters
    ----------
    max_value, eps, delta, eps_star, atoms, hubs, law
        As in :func:`family_design`, which raises the same errors.
    state : mapping, optional
        Last state that an earlier search with the same arguments passed to `progress`, or ``{"design": ..}`` to start
        from a design. By default, the search starts from :func:`family_design`.
    progress : callable, optional
        Called after every iteration with the state: ``design`` (a dict), ``stage`` (``linear``, ``quadratic`` or
        ``done``), ``trust``, ``iteration``, ``messages``.
    finest : float
        The search ends when an iteration saves less than this share of the messages.
    iterations : int
        Largest number of iterations, counted over all resumptions.

    Returns
    -------
    NoiseDesign
        Only atoms that inputs can change have noise. It meets its delta by an estimate, see :func:`certified_design`.

    Raises
    ------
    ValueError
        If the state belongs to other arguments.
    """
    goal = Goal.checked(max_value, eps, delta, eps_star, atoms, hubs, law)
    table, grid = goal.table(), goal.grid()
    if state is None:
        start = family_design(max_value, eps, delta, eps_star, atoms=atoms, hubs=hubs, law=law)
        current, trust, iteration = feasible(goal, start, table, grid), _TRUST, 0
    else:
        current, example = NoiseDesign.from_dict(state["design"]), goal.unit()
        if replace(current, shapes=example.shapes, ratios=example.ratios) != example:
            raise ValueError("state must belong to the same arguments, but its design differs from them.")
        if "trust" not in state:  # the state is only a design
            current = feasible(goal, current, table, grid)
        trust, iteration = float(state.get("trust", _TRUST)), int(state.get("iteration", 0))
    stage = "linear" if state is None else str(state.get("stage", "linear"))
    while stage != "done" and iteration < iterations:
        cost = current.messages
        if stage == "linear":
            trial, promised = linear_step(goal, current, trust, table, grid)
        else:
            trial, promised = quadratic_step(goal, current, trust, table, grid)
        trial = feasible(goal, trial, table, grid)
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
        iteration += 1
        if progress is not None:
            progress(
                {
                    "design": current.to_dict(),
                    "stage": stage,
                    "trust": trust,
                    "iteration": iteration,
                    "messages": current.messages,
                }
            )
    return current


def certified_design(design: NoiseDesign) -> tuple[NoiseDesign, float]:
    """Scale a design until its certified delta just meets its budget.

    Derived for this project.

    Parameters
    ----------
    design : NoiseDesign
        Nearly feasible for its ``eps`` and ``delta``.

    Returns
    -------
    design : NoiseDesign
        Design with all scales times one factor, which is within 1e-5 of the smallest sufficient factor.
    delta : float
        Certified upper bound, at most ``design.delta``.

    Raises
    ------
    Infeasible
        If no factor between 1/8 and 8 suffices, or the calculation does not fit into memory.
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
    minus = root_below(excess, 0.0, -reach, reach, xtol=XTOL, slope=25.0)
    for _ in range(20):
        scaled = design.moved(scale=-minus)
        delta = float(np.max(pair_deltas(scaled, design.eps, table, bound="upper")))
        if delta <= design.delta:
            return scaled, delta
        minus -= 10 * XTOL
    raise Infeasible(f"No scale up to 8 times the scale of the given noise has a delta of {design.delta!r}.")
