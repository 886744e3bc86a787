"""Search for coarse designs with few messages, by the exact accountant.

:func:`coarse_start`
    A rule for all centers, for the start of the search.
:func:`scaled_design`
    All centers times the smallest factor with which the bound meets delta.
:func:`search_coarse`
    Sequential linear programming: messages and log delta of all pairs that may bind are linearized in the logarithms of
    rates and centers, within a trust region. Finally the centers are scaled until the design meets delta.
:func:`polished_design`
    The same search over the atoms that are independent of the sum, with one certified joint law. It serves large D,
    where the joint law takes long.

Everything is deterministic. The state of a search is a dict of JSON values, so that a search can be resumed. Bounds
at the precision of a search are certified, but a few percent too high. :func:`finished_design` scales a design by finer
bounds at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import rfft

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.jump_noise import BEST_JUMP, MOST_RATE
from shuffledp.accounting.summation.loss_sums import test_spectrum
from shuffledp.designs.coarse_design import CoarseDesign
from shuffledp.designs.coarse_losses import (
    COARSE,
    FINE,
    JointLosses,
    Pair,
    Precision,
    joint_losses,
    loss_grid,
)
from shuffledp.designs.coarse_noise import (
    CoarseCertificate,
    PairLosses,
    all_pairs,
    bounds,
    certificate_of,
    certify,
)
from shuffledp.numerics.argument_ranges import Count, Delta, Eps, FromOne, Positive
from shuffledp.numerics.roots import root_below

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

#: Rate of the jumps at the start, divided by ``2 - log(delta)``. Searches for delta = 1e-6 end near this value. The
#: probability of no jump must be below delta.
_RATE = 1.1
#: Pairs with a delta below this part of the target do not bind within a trust region.
_ACTIVE = 3e-2
#: Largest step in the logarithms at first and at the end of a search, and the step of finite differences.
_TRUST = 0.1
_LEAST_TRUST = 0.004
_DIFFERENCE = 2e-3
#: Step of finite differences for atoms 1 and D. Their estimates, from some of the cells, have errors up to a percent.
_JOINT_DIFFERENCE = 2e-2
_XTOL = 2e-4
#: Largest step of the last corrections of a scale, in its logarithm. Twenty steps stay close to the scale.
_STEP = 0.01


def coarse_start(max_value: FromOne, eps: Eps, delta: Delta, eps_star: Eps) -> CoarseDesign:
    """Return a design by a rule of thumb, with a delta of the order of the budget's.

    Parameters
    ----------
    max_value : int
        Largest input D, in [1, 128].
    eps, delta, eps_star : float
        ``0 < eps_star < eps``, both in nats, and delta in (0, 1). Raises Infeasible for ``eps_star >= eps``.

    Returns
    -------
    CoarseDesign
        An estimate, without a bound on its delta.

    Notes
    -----
    Derived for this project. Atom D hides a shift by 1 at ``eps - eps_star``. Atom 1 hides the number of messages 1 of
    the central noise. Any other atom j hides a shift by 1 at the eps that remains for the largest distance of its
    pairs.
    """
    size = max_value
    if eps_star >= eps:
        raise Infeasible(
            f"eps_star must be below eps = {eps!r} to leave something for the noises, got {eps_star!r}."
        )
    rate = min(_RATE * (2 - math.log(delta)), MOST_RATE)
    remaining_eps = eps - eps_star
    centers = [BEST_JUMP / (eps - eps_star * max(j, size - j) / size) for j in range(1, size + 1)]
    if size > 1:
        centers[0] = 0.3 * BEST_JUMP * size**0.4 / remaining_eps
    centers[-1] = 0.95 * BEST_JUMP / remaining_eps
    return CoarseDesign(size, eps_star, (rate,) * size, tuple(max(m, 1.0) for m in centers), eps, delta)


def worst_delta(
    design: CoarseDesign,
    pairs: Sequence[Pair],
    precision: Precision,
    *,
    estimate: bool = True,
    every: int = 1,
) -> Floats:
    """Return the delta of every pair at the budget's eps.

    With `estimate` the result has no margin for omitted cells and rounding; otherwise it is a certified upper bound.
    With `every` above 1 only every `every`-th cell is evaluated, and the result is no bound.
    """
    deltas, margins = deltas_and_margins(design, pairs, precision, every)
    return deltas - margins if estimate else deltas


def deltas_and_margins(
    design: CoarseDesign, pairs: Sequence[Pair], precision: Precision, every: int = 1
) -> tuple[Floats, Floats]:
    """Return upper bounds on the delta of pairs, and their margins for rounding; see :func:`worst_delta`."""
    grid = loss_grid(design, design.eps, precision)
    return bounds(design, joint_losses(design, pairs, precision, grid, every), design.eps, pairs)


def scaled_design(
    design: CoarseDesign,
    pairs: Sequence[Pair],
    precision: Precision,
    *,
    estimate: bool = True,
    xtol: float = _XTOL,
    every: int = 1,
) -> CoarseDesign:
    """Return the design with all centers times the smallest factor with which the pairs meet delta.

    `estimate` and `every` are as in :func:`worst_delta`; `xtol` is the tolerance of the factor's logarithm. Raises
    Infeasible if no factor up to 64 suffices.
    """

    def excess(minus: float) -> float:
        deltas = worst_delta(design.moved(center=-minus), pairs, precision, estimate=estimate, every=every)
        value = float(np.max(deltas))
        return math.log(value / design.delta) if value > 0 else -math.inf

    reach = math.log(64)
    minus = root_below(excess, 0.0, -reach, reach, xtol=xtol, slope=2 * _exponent(design.delta))
    return design.moved(center=-minus)


def finished_design(design: CoarseDesign, *, xtol: Positive = 1e-4) -> tuple[CoarseDesign, CoarseCertificate]:
    """Scale a design until its certified delta just meets its budget.

    Derived for this project.

    Parameters
    ----------
    design : CoarseDesign
        Start of the scaling.
    xtol : float
        Tolerance of the logarithm of the scale, > 0.

    Returns
    -------
    design : CoarseDesign
        Design with all centers times one factor.
    certificate : CoarseCertificate
        An upper bound for all ordered pairs, at most ``design.delta``.

    Raises
    ------
    Infeasible
        If no scale suffices.
    """
    pairs = all_pairs(design.max_value)
    deltas = worst_delta(design, pairs, COARSE)
    # Pairs far below the worst stay there; all are checked at the end.
    binding = [pair for pair, value in zip(pairs, deltas, strict=True) if value >= 0.5 * np.max(deltas)]
    scaled = scaled_design(design, binding, FINE, estimate=False, xtol=xtol)
    for _ in range(20):
        certificate = certify(scaled, scaled.eps)
        if certificate.delta <= scaled.delta:
            return scaled, certificate
        scaled = scaled.moved(center=min(xtol, _STEP))
    raise Infeasible(f"No scale of this design has a delta of {design.delta!r}.")


def search_coarse(
    start: CoarseDesign,
    *,
    state: Mapping[str, Any] | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
    iterations: Count = 40,
    every: FromOne = 1,
    period: FromOne = 1,
) -> CoarseDesign:
    """Return the best design that sequential linear programming finds, by estimates of delta.

    Derived for this project.

    Parameters
    ----------
    start : CoarseDesign
        Setting and start of the search.
    state : mapping, optional
        Last state that an earlier search passed to `progress`.
    progress : callable, optional
        Called after every step with the state: ``design`` (a dict), ``trust``, ``iteration``, ``messages``, ``done``.
    iterations : int
        Largest number of steps, counted over all resumptions.
    every : int
        Only every `every`-th cell of the joint law is evaluated, see
        :func:`~shuffledp.designs.coarse_losses.joint_losses`.
    period : int
        Atoms 1 and D, whose derivatives take long, change in the first step and in every `period`-th step after it.

    Returns
    -------
    CoarseDesign
        Meets its delta by an estimate, see :func:`finished_design`.

    Raises
    ------
    ValueError
        If the state belongs to another setting.
    Infeasible
        If no scale up to 64 suffices, or the calculation does not fit into memory.
    """
    if state is None:
        current, trust, iteration = start, _TRUST, 0
    else:
        current = CoarseDesign.from_dict(state["design"])
        trust = float(state["trust"])
        iteration = int(state["iteration"])
        if current.with_noise(start.rates, start.centers) != start:
            raise ValueError("state must belong to the same setting, but its design differs.")
    pairs = all_pairs(start.max_value)
    look = _looked_at(current, pairs, every)
    while trust >= _LEAST_TRUST and iteration < iterations:
        trial = _step(look, pairs, trust, every, free=iteration % period == 0)
        iteration += 1
        gained = 1 - trial.messages / look.messages
        if gained > 1e-4:
            look = trial
        if gained <= 0.1 * trust:
            trust /= 2
        if progress is not None:
            progress(
                {
                    "design": look.design.to_dict(),
                    "trust": trust,
                    "iteration": iteration,
                    "messages": look.messages,
                    "done": trust < _LEAST_TRUST,
                }
            )
    return scaled_design(look.design, look.binding(pairs, 0.2), COARSE, every=every)


def polished_design(
    design: CoarseDesign, joint: JointLosses, *, iterations: int = 30
) -> tuple[CoarseDesign, CoarseCertificate]:
    """Return the best design with the same atoms 1 and D, and its certificate for all ordered pairs.

    The joint law is not computed again. `joint` has certified losses for all pairs, of a design with these atoms 1 and
    D; its hubs may differ. The search uses estimates; finally the atoms 2..D-1 are scaled until the bounds meet delta.
    Raises Infeasible if a pair that no other atom hides has a larger delta.
    """
    pairs, trust = all_pairs(design.max_value), _TRUST
    look = _looked_at(design, pairs, 1, joint)
    for _ in range(iterations):
        if trust < _LEAST_TRUST:
            break
        trial = _step(look, pairs, trust, 1, free=False)
        gained = 1 - trial.messages / look.messages
        if gained > 1e-4:
            look = trial
        if gained <= 0.1 * trust:
            trust /= 2

    def scaled(minus: float) -> CoarseDesign:
        # to the last digit those of the joint law
        rates = np.array(design.rates)
        centers = np.array(design.centers)
        centers[1:-1] = np.array(look.design.centers)[1:-1] * math.exp(-minus)
        # Larger centers do not help if the probability of no draw of an atom is too large.
        rates[1:-1] = np.minimum(np.array(look.design.rates)[1:-1] * math.exp(-minus / 4), MOST_RATE)
        return design.with_noise(rates.tolist(), centers.tolist())

    def excess(minus: float) -> float:
        delta = certificate_of(scaled(minus), joint, design.eps, pairs).delta
        return math.log(max(delta, 1e-300) / design.delta)

    slope = 2 * _exponent(design.delta)
    minus = root_below(excess, 0.0, -math.log(8), math.log(8), xtol=_XTOL, slope=slope)
    for step in range(20):  # laws of small jumps are not quite monotone in their center
        best = scaled(minus - step * _XTOL)
        certificate = certificate_of(best, joint, design.eps, pairs)
        if certificate.delta <= design.delta:
            return best, certificate
    raise Infeasible(
        f"With these atoms 1 and D the pair {certificate.worst} has a delta of {certificate.delta:.4g} > "
        f"{design.delta:.4g}, for all choices of the other atoms."
    )


@dataclass(frozen=True, eq=False)
class _Look:
    """Design with estimates of the delta of every pair."""

    design: CoarseDesign
    joint: JointLosses
    deltas: Floats

    @property
    def messages(self) -> float:
        excess = math.log(max(float(np.max(self.deltas)) / self.design.delta, 1.0))
        return self.design.messages * math.exp(excess / _exponent(self.design.delta))

    def binding(self, pairs: Sequence[Pair], part: float) -> list[Pair]:
        """Return the pairs whose delta is at least `part` times the largest delta, or times the design's delta if it is
        larger.
        """
        least = part * max(float(np.max(self.deltas)), self.design.delta)
        worst_pairs = [pair for pair, value in zip(pairs, self.deltas, strict=True) if value >= least]
        return worst_pairs or list(pairs)


def _exponent(delta: float) -> float:
    """Return the exponent of an approximate power law by which delta decreases as the centers grow, for the pair with
    the slowest decrease.

    The delta of the pair 0 and D decreases slowest: the probability of no draw of an atom does not depend on centers.
    """
    return 0.3 * math.log(2 / delta)


def _looked_at(
    design: CoarseDesign, pairs: Sequence[Pair], every: int, joint: JointLosses | None = None
) -> _Look:
    grid = loss_grid(design, design.eps, COARSE)
    joint = joint or joint_losses(design, pairs, COARSE, grid, every)
    deltas, margins = bounds(design, joint, design.eps, pairs)
    return _Look(design, joint, deltas - margins)


def _step(look: _Look, pairs: Sequence[Pair], trust: float, every: int, *, free: bool) -> _Look:
    """Return the solution of the linear program around a design."""
    from scipy.optimize import linprog  # slow to import, and seldom needed

    design, size = look.design, look.design.max_value
    active = look.binding(pairs, _ACTIVE)
    logs, slopes = part_slopes(design, look.joint, active)
    ends = [*{0, size - 1, size, 2 * size - 1}]  # rates and centers of the atoms 1 and D
    if free:
        for place in ends:
            changed = _with_number(design, place, _JOINT_DIFFERENCE)
            joint = joint_losses(changed, active, COARSE, look.joint.grid, every)
            deltas, margins = bounds(changed, joint, design.eps, active)
            slopes[:, place] = (np.log(np.maximum(deltas - margins, 1e-300)) - logs) / _JOINT_DIFFERENCE
    costs = np.array(design.atom_sizes) * np.array(design.means)
    reach = np.full(2 * size, trust)
    if not free:
        reach[ends] = 0.0
    # One more variable: by how much the log of delta is exceeded, at more than its price in messages.
    solution = linprog(
        [*np.tile(costs / design.messages, 2), 2 / _exponent(design.delta)],
        A_ub=np.column_stack((slopes, np.full(len(active), -1.0))),
        b_ub=math.log(design.delta) - logs,
        bounds=[*zip(-reach, reach, strict=True), (0, None)],
        method="highs",
    )
    if solution.x is None:
        raise Infeasible(f"The linear program of the search has no solution: {solution.message}")
    rates, centers = np.split(np.exp(np.log([*design.rates, *design.centers]) + solution.x[:-1]), 2)
    changed = design.with_noise(np.minimum(rates, MOST_RATE).tolist(), centers.tolist())
    return _looked_at(changed, pairs, every, None if free else look.joint)


def _with_number(design: CoarseDesign, place: int, step: float) -> CoarseDesign:
    """Return the design with one parameter times ``e^step``. `place` is its index in the list of all rates, then all
    centers.
    """
    numbers = np.array([*design.rates, *design.centers])
    numbers[place] *= math.exp(step)
    rates, centers = np.split(numbers, 2)
    return design.with_noise(rates.tolist(), centers.tolist())


def part_slopes(design: CoarseDesign, joint: JointLosses, pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
    """Return log delta of every pair, and its derivatives in the logs of rates and centers, (pairs, 2 D), rates first.

    The derivatives are 0 for the atoms 1 and D. The other derivatives are estimates: each spectrum is replaced by the
    spectrum after a small step.
    """
    size, grid = design.max_value, joint.grid
    losses = [
        PairLosses(variant, joint, pairs)
        for variant in (design, design.moved(rate=_DIFFERENCE), design.moved(center=_DIFFERENCE))
    ]
    spectra = [rfft(variant_losses.dense(), axis=-1) for variant_losses in losses]
    weight = test_spectrum(design.eps, grid)
    mixed: dict[int, Complexes] = {}
    values, slopes = np.zeros(len(pairs)), np.zeros((len(pairs), 2 * size))
    losses_of_design = losses[0]
    for row, (members, key) in enumerate(
        zip(losses_of_design.members, losses_of_design.key_of.tolist(), strict=True)
    ):
        if key not in mixed:
            mixed[key] = weight * rfft(joint.finite[key])
        finite_mass = 1 - joint.infinite[key]
        others = [mixed[key]]  # products of what comes before each part
        for c in members:
            others.append(others[-1] * spectra[0][c])
        all_kept = finite_mass * math.prod(1 - losses_of_design.infinite[c] for c in members)
        values[row] = value = float(np.sum(others[-1].real)) + 1 - all_kept
        after: Complexes | None = None
        for at in range(len(members) - 1, -1, -1):
            c = members[at]
            rest = others[at] if after is None else others[at] * after
            for which in (1, 2):
                change = float(np.sum((rest * (spectra[which][c] - spectra[0][c])).real))
                infinite = losses[which].infinite[c] - losses_of_design.infinite[c]
                change += all_kept / (1 - losses_of_design.infinite[c]) * infinite
                place = losses_of_design.parts[c][0] - 1 + (which - 1) * size
                slopes[row, place] += change / (_DIFFERENCE * max(value, 1e-300))
            after = spectra[0][c] if after is None else after * spectra[0][c]
    return np.log(np.maximum(values, 1e-300)), slopes
