"""Search for coarse designs with few messages, by the exact accountant.

:func:`coarse_start`
    A rule for all centers, from which the search starts.
:func:`scaled_design`
    All centers times the smallest number that makes the bound meet delta.
:func:`search_coarse`
    Sequential linear programming: messages and log delta of all pairs that may bind are linearized in the logarithms of
    rates and centers, within a trust region; after every step the centers are scaled until delta is met again.

Everything is deterministic. The state of a search is a dict of JSON values, so that it can be kept and resumed. Bounds
at the precision of a search are certified too, but some percent above the truth: :func:`finished_design` scales by fine
ones at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.coarse_design import CoarseDesign, atom_content
from shuffledp.accounting.summation.coarse_noise import (
    COARSE,
    FINE,
    CoarseCertificate,
    Pair,
    Precision,
    all_pairs,
    bounds,
    certify,
    joint_losses,
    loss_grid,
)
from shuffledp.accounting.summation.jump_noise import BEST_JUMP, MOST_RATE
from shuffledp.numerics.checks import check_count, check_open_unit, check_positive
from shuffledp.numerics.roots import root_below

Floats = NDArray[np.float64]

#: Rate of the jumps at the start, over ``2 - log(delta)``: where searches for delta = 1e-6 end. No jump at all must
#: be less likely than delta.
_RATE = 1.1
#: Pairs with a delta below this part of the target do not bind within a trust region.
_ACTIVE = 3e-2
#: Largest step in the logarithms, at first; where a search ends; and the steps of finite differences.
_TRUST = 0.1
_LEAST_TRUST = 0.004
_DIFFERENCE = 2e-3
_XTOL = 2e-4


def coarse_start(max_value: int, eps: float, delta: float, eps_star: float) -> CoarseDesign:
    """Return a design by a rule of thumb; its delta is of the right order, an estimate.

    Parameters
    ----------
    max_value : int
        Largest input D, in [1, 128].
    eps : float
        Nats, above `eps_star`.
    delta : float
        In (0, 1).
    eps_star : float
        Nats, > 0.

    Returns
    -------
    CoarseDesign

    Raises
    ------
    Infeasible
        If ``eps_star >= eps``.

    Notes
    -----
    Derived for this project. Atom D hides a shift by 1 at ``eps - eps_star``; atom 1 the number of messages 1 of the
    central noise; atom j a shift by 1 at what the largest distance that it takes part in leaves.
    """
    size = check_count("max_value", max_value, 1)
    eps, eps_star = check_positive("eps", eps), check_positive("eps_star", eps_star)
    delta = check_open_unit("delta", delta)
    if eps_star >= eps:
        raise Infeasible(
            f"eps_star must be below eps = {eps!r} to leave something for the noises, got {eps_star!r}."
        )
    rate = min(_RATE * (2 - math.log(delta)), MOST_RATE)
    left = eps - eps_star
    centers = [BEST_JUMP / (eps - eps_star * max(j, size - j) / size) for j in range(1, size + 1)]
    if size > 1:
        centers[0] = 0.3 * BEST_JUMP * size**0.4 / left
    centers[-1] = 0.95 * BEST_JUMP / left
    return CoarseDesign(size, eps_star, (rate,) * size, tuple(max(m, 1.0) for m in centers), eps, delta)


def worst_delta(
    design: CoarseDesign, pairs: Sequence[Pair], precision: Precision, *, estimate: bool = True
) -> Floats:
    """Return the delta of pairs at the budget's eps.

    Parameters
    ----------
    design : CoarseDesign
    pairs : sequence of (int, int)
    precision : Precision
    estimate : bool
        Without what is counted for cells that were left out and for rounding; otherwise a certified upper bound.

    Returns
    -------
    (pairs,) ndarray

    Raises
    ------
    Infeasible
        If the calculation does not fit into memory.

    Notes
    -----
    Derived for this project.
    """
    grid = loss_grid(design, design.eps, precision)
    deltas, margins = bounds(design, joint_losses(design, pairs, precision, grid), design.eps, pairs)
    return deltas - margins if estimate else deltas


def scaled_design(
    design: CoarseDesign,
    pairs: Sequence[Pair],
    precision: Precision,
    *,
    estimate: bool = True,
    xtol: float = _XTOL,
) -> CoarseDesign:
    """Return the design with all centers times the smallest number for which delta is met.

    Parameters
    ----------
    design : CoarseDesign
    pairs : sequence of (int, int)
        For these pairs.
    precision : Precision
    estimate : bool
        As in :func:`worst_delta`.
    xtol : float
        Of the logarithm of the number.

    Returns
    -------
    CoarseDesign
        Meets delta for these pairs, as an upper bound or an estimate.

    Raises
    ------
    Infeasible
        If no number up to 64 will do.

    Notes
    -----
    Derived for this project.
    """

    def excess(minus: float) -> float:
        found = worst_delta(design.moved(center=-minus), pairs, precision, estimate=estimate)
        value = float(np.max(found))
        return math.log(value / design.delta) if value > 0 else -math.inf

    reach = math.log(64)
    minus = root_below(excess, 0.0, -reach, reach, xtol=xtol, slope=1.2 * math.log(2 / design.delta))
    return design.moved(center=-minus)


def finished_design(design: CoarseDesign, *, xtol: float = 1e-4) -> tuple[CoarseDesign, CoarseCertificate]:
    """Scale a design until its certified delta just meets its budget.

    Parameters
    ----------
    design : CoarseDesign
    xtol : float
        Of the logarithm of the scale, > 0.

    Returns
    -------
    design : CoarseDesign
    certificate : CoarseCertificate
        An upper bound for all ordered pairs, at most ``design.delta``.

    Raises
    ------
    Infeasible
        If no scale will do.

    Notes
    -----
    Derived for this project.
    """
    xtol = check_positive("xtol", xtol)
    pairs = all_pairs(design.max_value)
    deltas = worst_delta(design, pairs, COARSE)
    # Pairs far below the worst stay there; all are checked at the end.
    binding = [pair for pair, value in zip(pairs, deltas, strict=True) if value >= 0.5 * np.max(deltas)]
    found = scaled_design(design, binding, FINE, estimate=False, xtol=xtol)
    for _ in range(20):
        certificate = certify(found, found.eps)
        if certificate.delta <= found.delta:
            return found, certificate
        found = found.moved(center=xtol)
    raise Infeasible(f"No scale of this design has a delta of {design.delta!r}.")


def search_coarse(
    start: CoarseDesign,
    *,
    state: Mapping[str, Any] | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
    iterations: int = 40,
) -> CoarseDesign:
    """Return the best design that sequential linear programming finds, by estimates of delta.

    Parameters
    ----------
    start : CoarseDesign
        For the setting, and where to start.
    state : mapping, optional
        What an earlier search gave to `progress`.
    progress : callable, optional
        Called after every step with the state: ``design`` (a dict), ``trust``, ``iteration``, ``messages``, ``done``.
    iterations : int
        Most steps, counted over all resumptions.

    Returns
    -------
    CoarseDesign
        Its delta is met by an estimate, see :func:`finished_design`.

    Raises
    ------
    ValueError
        If the state belongs to another setting.
    Infeasible
        As :func:`scaled_design`.

    Notes
    -----
    Derived for this project.
    """
    pairs = all_pairs(start.max_value)
    if state is None:
        current, trust, done = scaled_design(start, pairs, COARSE, xtol=2e-3), _TRUST, 0
    else:
        current, trust, done = (
            CoarseDesign.from_dict(state["design"]),
            float(state["trust"]),
            int(state["iteration"]),
        )
        if current.with_noise(start.rates, start.centers) != start:
            raise ValueError("state must belong to the same setting, but its design differs.")
    while trust >= _LEAST_TRUST and done < iterations:
        trial = _step(current, pairs, trust)
        done += 1
        if trial.messages < current.messages * (1 - 1e-4):
            gained = 1 - trial.messages / current.messages
            current = trial
            trust = trust if gained > 0.1 * trust else trust / 2
        else:
            trust /= 2
        if progress is not None:
            progress(
                {
                    "design": current.to_dict(),
                    "trust": trust,
                    "iteration": done,
                    "messages": current.messages,
                    "done": trust < _LEAST_TRUST,
                }
            )
    return current


def _step(design: CoarseDesign, pairs: Sequence[Pair], trust: float) -> CoarseDesign:
    """Return the solution of the linear program around a design, made feasible."""
    from scipy.optimize import linprog  # slow to import, and seldom needed

    deltas = worst_delta(design, pairs, COARSE)
    active = [pair for pair, value in zip(pairs, deltas, strict=True) if value >= _ACTIVE * design.delta]
    logs, slopes = _slopes(design, active)
    size = design.max_value
    here = np.log([*design.rates, *design.centers])
    sizes = [sum(atom_content(j, size).values()) for j in range(1, size + 1)]
    costs = np.array(sizes) * np.array(design.means)
    objective = np.concatenate((costs, costs)) / design.messages
    found = linprog(
        objective,
        A_ub=slopes,
        b_ub=math.log(design.delta) - logs,
        bounds=[(-trust, trust)] * here.size,
        method="highs",
    )
    if found.x is None:
        raise Infeasible(f"The linear program of the search has no solution: {found.message}")
    rates, centers = np.split(np.exp(here + found.x), 2)
    moved = design.with_noise(np.minimum(rates, MOST_RATE).tolist(), centers.tolist())
    return scaled_design(moved, active, COARSE)


def _slopes(design: CoarseDesign, pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
    """Return log delta of pairs and its derivatives in the logs of rates and centers.

    The joint law does not depend on the atoms 2..D-1, so that its losses are made once for all of those.
    """
    size = design.max_value
    grid = loss_grid(design, design.eps, COARSE)
    joint = joint_losses(design, pairs, COARSE, grid)

    def logs(moved: CoarseDesign, again: bool) -> Floats:
        losses = joint_losses(moved, pairs, COARSE, grid) if again else joint
        deltas, margins = bounds(moved, losses, moved.eps, pairs)
        return np.asarray(np.log(np.maximum(deltas - margins, 1e-300)))

    base = logs(design, again=False)
    slopes = np.zeros((len(pairs), 2 * size))
    for place in range(2 * size):
        numbers = np.array([*design.rates, *design.centers])
        numbers[place] *= math.exp(_DIFFERENCE)
        rates, centers = np.split(numbers, 2)
        moved = design.with_noise(rates.tolist(), centers.tolist())
        slopes[:, place] = (logs(moved, again=place % size in (0, size - 1)) - base) / _DIFFERENCE
    return base, slopes
