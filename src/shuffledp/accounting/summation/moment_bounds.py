r"""Upper bound on the delta of correlated noise by exponential moments, for any number of levels.

The loss of inputs x and y is a sum of independent parts (:mod:`shuffledp.accounting.summation.joint_noise`). Here the
parts are not convolved. With ``c = t^t / (1 + t)^(1 + t)`` the function ``(1 - e^(eps - L))^+`` is at most
``c e^(t (L - eps))`` for every t > 0, so that

.. math:: \delta \le \sum_s \Pr[z_s < b_s] + c\, e^{-t \varepsilon}\, E e^{t L_0} \prod_s E [1\{z_s \ge b_s\}
    e^{t L_s}],

where ``L_0`` is the loss of the sum and the noise of atom 1. Numbers of atoms below ``b_s``, where losses are large or
infinite, count as if they revealed the input. All terms are positive, so the relative precision does not depend on
delta. A pair of inputs takes a few additions.

The negative binomial law P of shape r >= 1 is log-concave, which implies bounds on each side:

* The loss ``log P(y) / P(y - k)`` decreases in y for k > 0 and increases for k < 0. Blocks combine several numbers y;
  each has its length times its largest probability as mass, and its largest loss.
* The loss is convex in k for every y, and so is the logarithm of its exponential moment. Moments for the many shifts of
  atom 1 are interpolated between a few of them, along chords, which are upper bounds.
* Beyond an end of a window probabilities decrease faster than geometrically.

The bound treats the geometric part of the noise of atom 1 as published, which can only increase delta.

Derived for this project, from no paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammainccinv, gammaincinv, gammaln

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.loss_cells import UNIT
from shuffledp.accounting.summation.noise_atoms import atom_indices, input_changes
from shuffledp.numerics.argument_ranges import check_nonnegative
from shuffledp.numerics.logs import log1mexp
from shuffledp.numerics.memoize import remember

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shuffledp.accounting.summation.noise_design import NoiseDesign

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: Exponents t, in units of ``log(1 / delta) / eps``.
_TILTS = np.geomspace(0.3, 30.0, 24)
#: Part of delta for too small numbers of atoms, which count as revealed; the part is for all atoms together.
_REVEALED = 0.1
#: Blocks of the numbers of an atom, and shifts of atom 1 whose moments are computed on either side.
_BLOCKS, _NODES = 1024, 32
#: Mass beyond the last block. Any mass gives a bound.
_BEYOND = 1e-30
#: Numbers from which on logarithms of gamma functions are taken from a series.
_LARGE = 1e4
#: Relative rounding of a sum of logarithms and gamma functions, and absolute rounding of sums of log moments.
_ROUNDING, _SUMS = 32 * UNIT, 1e-9
#: Number of pairs that give a first value for the largest bound, and the least first value relative to the revealed
#: mass.
_PROBES, _NEGLIGIBLE = 2000, 1e-3


@dataclass(frozen=True, eq=False)
class AtomMoves:
    """Shifts of the atoms by each input, (D + 1,) arrays.

    `first` is the shift of atom 1. `single` is the index of the atom that only this input shifts, by one, or 0 if there
    is no atom of this kind. `shared` has the shifts of every other atom, by its index.
    """

    first: Ints
    single: Ints
    shared: dict[int, Ints]


@remember(4)
def atom_moves(max_value: int, atoms: str, hubs: tuple[int, ...]) -> AtomMoves:
    """Return the shifts of all atoms by the inputs ``{0, .., D}``."""
    changes = input_changes(max_value, atoms=atoms, hubs=hubs or None)
    single, shared, first = np.zeros(max_value + 1, np.int64), {}, changes[0]
    for index, row in zip(atom_indices(max_value, atoms=atoms, hubs=hubs or None), changes, strict=True):
        inputs = np.flatnonzero(row)
        if index == 1:
            first = row
        elif len(inputs) == 1 and row[inputs[0]] == 1 and not single[inputs[0]]:
            single[inputs[0]] = index
        elif len(inputs):
            shared[index] = row
    return AtomMoves(first, single, shared)


def moment_delta(design: NoiseDesign, eps: float) -> float:
    """Return an upper bound on the delta of a noise design, over all ordered pairs of inputs.

    The bound is in [0, 1], includes rounding, and is mostly 4 to 20 times the exact delta. It takes about a second for
    D = 1000. Raises Infeasible unless the design has one negative binomial noise of shape >= 1 per atom.
    """
    return _worst(_Moments.from_design(design), check_nonnegative("eps", eps))


@dataclass(frozen=True, eq=False)
class _Moments:
    """Logarithms of the exponential moments of a design's losses, for every exponent t.

    `own_before` and `own_after`, (t, D + 1), are for the atom that only x or only y shifts. `shared` is for the other
    atoms, indexed by the shift plus the largest shift. `first` is for atom 1, indexed by the shift minus the least
    shift.
    """

    size: int
    unit: float
    tilts: Floats
    revealed: float
    errors: Floats
    moves: AtomMoves
    own_before: Floats
    own_after: Floats
    shared: dict[int, Floats]
    first: Floats
    least: int

    @classmethod
    def from_design(cls, design: NoiseDesign) -> _Moments:
        noise = dict(zip(design.indices, zip(design.shapes, design.ratios, strict=True), strict=True))
        single = len(noise) == len(design.indices)
        if design.law != "negative_binomial" or not single or min(design.shapes) < 1:
            raise Infeasible("Moments bound one negative binomial noise per atom, of a shape of at least 1.")
        moves = atom_moves(design.max_value, design.atoms, design.hubs)
        size, tilts = design.max_value, _TILTS * math.log(1 / design.delta) / design.eps
        parts = len(moves.shared) + 3
        tail = _REVEALED * design.delta / parts
        low, high = (int(v) for v in (moves.first.min(), moves.first.max()))
        shifts = np.arange(low - high - size, high - low + size + 1)
        nodes = np.unique(np.concatenate([np.rint(np.linspace(0, end, _NODES)) for end in shifts[[0, -1]]]))
        nodes = np.unique(np.concatenate((nodes, np.arange(-8, 9)))).astype(np.int64)
        nodes = nodes[(nodes >= shifts[0]) & (nodes <= shifts[-1])]
        revealed, first, error = _moments(*noise[1], nodes, tilts, tail)
        chords = np.stack([np.interp(shifts, nodes, row) for row in first])
        before, after = np.zeros((2, len(tilts), size + 1))
        kinds: dict[tuple[float, float], list[int]] = {}
        for x in np.flatnonzero(moves.single).tolist():
            kinds.setdefault(noise[int(moves.single[x])], []).append(x)
        most = 0.0
        for law, inputs in kinds.items():
            mass, log_moments, rounding = _moments(*law, np.array([-1, 1]), tilts, tail)
            before[:, inputs], after[:, inputs] = log_moments[:, :1], log_moments[:, 1:]
            most, error = max(most, mass), np.maximum(error, rounding)
        revealed += 2 * most
        shared = {}
        for index, row in moves.shared.items():
            width = int(row.max() - row.min())
            mass, shared[index], rounding = _moments(*noise[index], np.arange(-width, width + 1), tilts, tail)
            revealed, error = revealed + mass, np.maximum(error, rounding)
        errors = parts * error + _SUMS
        unit = design.eps_star / size
        return cls(size, unit, tilts, revealed, errors, moves, before, after, shared, chords, int(shifts[0]))

    def central(self, place: int) -> Floats:
        """Return the log moments of the sum and atom 1. The indices are ``y > x``, m minus its least value, and ``|x -
        y|``.
        """
        t, a = float(self.tilts[place]), math.exp(-self.unit)
        low, high = int(self.moves.first.min()), int(self.moves.first.max())
        m, steps = np.arange(low - high, high - low + 1)[:, None], np.arange(self.size + 1)
        fall = -self.unit - 2 * t * self.unit  # log of the ratio of two terms, without the moments
        up, down = (self.first[place][m + sign * steps - self.least] for sign in (1, -1))
        log_moments = []
        # With G the moment of atom 1: sum over j <= kappa of e^(fall j) G(m + kappa - j), or of e^(fall j) G(m - j).
        for total, start, end in (
            (np.logaddexp.accumulate(up - fall * steps, axis=1) + fall * steps, up, up[:, :1]),
            (np.logaddexp.accumulate(down + fall * steps, axis=1), down[:, :1], down),
        ):
            both = np.logaddexp(math.log1p(-a) + total, start - self.unit)
            log_moments.append(np.logaddexp(both, fall * steps + end - self.unit) + t * self.unit * steps)
        return np.stack(log_moments[::-1]) - math.log1p(a)


def _worst(moments: _Moments, eps: float) -> float:
    """Return the largest bound of all pairs, each at its best exponent."""
    x, y = (v.ravel() for v in np.indices((moments.size + 1, moments.size + 1)))
    x, y = x[x != y], y[x != y]
    low = int(moments.moves.first.min() - moments.moves.first.max())
    tilts = moments.tilts
    constants = tilts * np.log(tilts) - (1 + tilts) * np.log1p(tilts) - tilts * eps + moments.errors
    central: dict[int, Floats] = {}

    def logs(place: int, x: Ints, y: Ints) -> Floats:
        if place not in central:
            central[place] = moments.central(place)
        first = moments.moves.first
        exponents = central[place][(y > x).astype(np.int64), first[y] - first[x] - low, np.abs(x - y)]
        exponents += moments.own_before[place][x]
        exponents += moments.own_after[place][y]
        for index, row in moments.moves.shared.items():
            table = moments.shared[index][place]
            exponents += table[row[y] - row[x] + len(table) // 2]
        return np.asarray(exponents + constants[place])

    # A few pairs give a bound that the others need only stay below, most of them by the first exponents.
    order = np.argsort(np.abs(np.arange(len(tilts)) - len(tilts) // 2), kind="stable")
    probe = np.unique(np.linspace(0, len(x) - 1, min(len(x), _PROBES)).astype(np.int64))
    best = np.min([logs(place, x[probe], y[probe]) for place in range(len(tilts))], axis=0)
    reached = max(float(np.max(best)), math.log(_NEGLIGIBLE * moments.revealed))
    bounds = np.full(len(x), math.inf)
    for place in order.tolist():
        bounds = np.minimum(bounds, logs(place, x, y))
        exceeding = bounds > reached
        if not np.any(exceeding):
            break
        x, y, bounds = x[exceeding], y[exceeding], bounds[exceeding]
    reached = max(reached, float(np.max(bounds)))
    return min(math.exp(min(reached, 0.0)) + moments.revealed, 1.0)


def _moments(
    shape: float, ratio: float, shifts: Ints, tilts: Floats, tail: float
) -> tuple[float, Floats, Floats]:
    """Return the probability of small numbers, log moments over larger numbers, (t, shifts), and rounding errors, (t,).

    Losses compare a negative binomial noise with its shifted law; `tail` approximates the probability of small
    numbers.
    """
    # From the ratio itself, as other forms of it lose digits that large numbers multiply.
    scale, stop, go = ratio / (1 - ratio), math.log1p(-ratio), math.log(ratio)

    def log_law(y: Floats | Ints) -> Floats:
        at = np.asarray(y, np.float64)
        return np.asarray(_log_growth(at, shape) - math.lgamma(shape) + shape * stop + at * go)

    least = max(int(scale * gammaincinv(shape, tail)), int(shifts.max()), 1)
    mass = _below(log_law, least)
    while mass > tail and least > max(int(shifts.max()), 1):
        least = max(int(0.97 * least), int(shifts.max()), 1)
        mass = _below(log_law, least)
    last = max(int(scale * gammainccinv(shape, _BEYOND)), least) + 64
    starts = np.unique(np.rint(np.geomspace(least, last, _BLOCKS)).astype(np.int64))
    if last - least <= _BLOCKS:
        starts = np.arange(least, last + 1)
    ends = np.append(starts[1:] - 1, starts[-1] + 1)
    at_start, at_end = log_law(starts), log_law(ends)
    highest = np.maximum(at_start, at_end)
    mode = max(math.floor((shape - 1) * scale), 0)
    highest[(starts <= mode) & (mode <= ends)] = float(np.max(log_law(np.arange(mode, mode + 2))))
    log_mass = highest + np.log(ends - starts + 1.0)
    # The last block has no end: its probabilities fall faster than from its first number to its second.
    log_mass[-1] = at_start[-1] - log1mexp(max(at_start[-1] - at_end[-1], 1e-12))
    loss = np.zeros((len(shifts), len(starts)))
    for place, shift in enumerate(shifts.tolist()):
        if shift > 0:
            loss[place] = at_start - log_law(starts - shift)
        elif shift < 0:
            loss[place, :-1] = at_end[:-1] - log_law(ends[:-1] - shift)
            loss[place, -1] = shift * go
    log_moments = np.empty((len(tilts), len(shifts)))
    for place, t in enumerate(tilts.tolist()):
        terms = log_mass + t * loss
        most = np.max(terms, axis=1)
        log_moments[place] = most + np.log(np.sum(np.exp(terms - most[:, None]), axis=1))
    largest = float(
        2 * gammaln(_LARGE + shape) + shape * math.log(last + shape) + last * abs(math.log(ratio))
    )
    error = _ROUNDING * (largest + 2 * math.lgamma(shape) + shape * math.log1p(scale) + 1)
    return mass * math.exp(error), log_moments, (1 + 2 * tilts) * error


def _log_growth(y: Floats, shape: float) -> Floats:
    """Return ``log Gamma(y + shape) / Gamma(y + 1)``; for large y by Stirling's series, where no terms cancel.

    The remainder of the series, below ``1 / (180 y^3)``, is less than the rounding that the bound includes.
    """
    large = y > _LARGE
    small = np.where(large, 0.0, y)
    far, step = np.where(large, y, _LARGE) + 1, shape - 1
    series = step * np.log(far) - step + (far + step - 0.5) * np.log1p(step / far)
    series += (1 / (far + step) - 1 / far) / 12
    return np.asarray(np.where(large, series, gammaln(small + shape) - gammaln(small + 1)))


def _below(log_law: Callable[[Ints], Floats], least: int) -> float:
    """Return an upper bound on the probability of numbers below `least`, by a geometric series."""
    log_mass, log_before = (float(v) for v in log_law(np.array([least - 1, max(least - 2, 0)])))
    if least == 1:
        return math.exp(log_mass)
    return math.exp(log_mass) / -math.expm1(log_before - log_mass) if log_before < log_mass else 1.0
