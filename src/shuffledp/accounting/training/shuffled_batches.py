r"""Adaptive training on shuffled batches with Gaussian noise (DP-SGD), for zero-out neighbors.

In every epoch a fresh uniform permutation cuts the items into T batches of equal size. Step t releases the sum of a
function of norm at most 1 over its batch, plus normal noise of standard deviation sigma. The function may depend on all
earlier releases. Neighbors: one item becomes an inert zero that keeps its place in the permutation (zero-out). Batch
membership is not released. P is the law of all releases with the item, Q the law without it.

**Upper bound** (Mausberg, "Certified Accounting for Adaptive Shuffled Gaussian Training", 2026). All but one item of
every batch are known. For p in (0, 1) the law of a release has total variation at most

.. math:: \gamma(p) = p \Phi(-\sigma h + 1 / (2 \sigma)) - \Phi(-\sigma h - 1 / (2 \sigma)), \quad h = \ln(1 / p),

from a mixture of N(0, sigma^2), with weight p, and another law. So the item of another batch is a clone of a zero with
probability p. The differing item is then uniform among K = 1 + Bin(T - 1, p) places, and

.. math:: D_\epsilon(P, Q) \le E (L_K - e^\epsilon)^+ + (1 + e^\epsilon) (T - 1) \gamma(p), \qquad
          D_\epsilon(Q, P) \le E (1 - e^\epsilon L_K)^+ + (1 + e^\epsilon) (T - 1) \gamma(p),

where L_K is the mean of K likelihood ratios: random allocation to a binomial number of steps, evaluated as
:mod:`shuffledp.accounting.training.random_allocation`. The bound holds for every p, and p is chosen for each eps. The
Gaussian mechanism, whose permutation is known, is a bound too.

**Lower bound.** All other items add -1. The differing item adds +1, or 0 if it is a zero. The largest release is a
post-processing of all releases; its distribution function is ``Phi((c - theta) / sigma) Phi(c / sigma)^(T - 1)`` where
theta is 2 with the item and 1 without it.

**Epochs.** Permutations are fresh, so epochs compose as their pairs do. For an upper bound, chords between the points
of a grid of losses replace both divergences of an epoch. For a lower bound, tangents that meet at such points replace
them. The sums over epochs have positive terms only.

Not covered: a permutation that is kept for all epochs, replacement of an item, a dropped last batch, released batch
membership, floating-point noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, get_args

import numpy as np
from scipy.special import log_ndtr, ndtri

from shuffledp.accounting.general.blanket import compared_delta
from shuffledp.accounting.general.epsilon_search import COARSE, LEAST, limit_epsilon
from shuffledp.accounting.general.exports import convex_minorant
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.accounting.training.random_allocation import MOST_EPS, Sigma, Way, gaussian_cells
from shuffledp.numerics.argument_ranges import Delta, EpsAt, check_count
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, settled
from shuffledp.numerics.roots import golden_section, root_below
from shuffledp.numerics.sum_excess import Side
from shuffledp.numerics.windows import Window, convolve
from shuffledp.populations.laws import Binomial

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp.accounting.general.comparisons import Cells

    Floats = NDArray[np.float64]

WAYS: tuple[Way, ...] = get_args(Way)
#: Losses of one epoch up to its end, on either side of 0.
_LOSSES = 400
#: Cells of one release: for a single epoch, and on the grid of losses; and where p is chosen.
_CELLS, _GRID_CELLS, _CHOICE_CELLS = 1000, 300, 100
#: Points between which the choice of p is interpolated, and its tolerance in standard deviations.
_CHOICES, _CHOICE_TOL = 49, 0.05
#: Deviations of the number of clones that cells resolve.
_DEVIATIONS = 6.0
#: Mass relative to delta that grids and powers omit; releases are cut off at less.
_OMITTED, _CUT = 1e-5, 1e-4
#: Relative gap of a delta, and the relative rounding of all sums.
_GAP, _ROUNDING = 1e-4, 1e-8
#: Relative rounding of the masses of one epoch that a lower bound compares.
_ULPS = 1e-11
#: Width of the bins of the largest release, and the end of the bins, in standard deviations.
_BIN, _LAST = 0.01, 38.0
#: Tolerance of the log of eps, and its approximate distance from a first guess.
_XTOL, _NEAR = 1e-7, 0.1
#: First delta that is resolved where none is given, and the factor to the next; the least one.
_FIRST, _LEAST_TARGET = 1e-12, 1e-290


Steps = Annotated[int, partial(check_count, least=1, most=10**9)]
Epochs = Annotated[int, partial(check_count, least=1, most=10**4)]


def shuffled_batches_delta(
    steps: Steps, sigma: Sigma, eps: EpsAt, epochs: Epochs = 1, side: Side = "upper"
) -> float:
    """Return delta of one item in training on shuffled batches with Gaussian noise.

    Parameters
    ----------
    steps : int
        Number T of batches of an epoch, in [1, 10^9].
    sigma : float
        Standard deviation of the noise per unit of sensitivity to one item, in [0.1, 1e6].
    eps : float
        Nats, >= 0.
    epochs : int
        Number of epochs, each with a fresh permutation, in [1, 10^4].
    side : {"upper", "lower"}
        ``upper``: a bound for all adaptive queries. ``lower``: delta of one of these queries, a lower bound.

    Returns
    -------
    float
        In [0, 1], rounded up for an upper bound and down for a lower bound.

    Notes
    -----
    Zero-out neighbors: an item becomes a zero that keeps its place. Null clones (Mausberg (2026); proven, manuscript
    unreviewed) for the upper bound, the largest release (proven) for the lower one. See the module's description for
    what is not covered.

    Examples
    --------
    >>> from shuffledp.accounting import shuffled_batches_delta
    >>> [f"{shuffled_batches_delta(100, 2.0, 1.0, side=side):.1e}" for side in ("upper", "lower")]
    ['6.6e-06', '8.0e-08']
    """

    def compute_delta(target: float) -> float:
        return _delta(steps, sigma, eps, epochs, side, target)

    return settled(compute_delta, first=_FIRST, step=_FIRST, omitted=1.0, floor=_LEAST_TARGET)


def shuffled_batches_epsilon(
    steps: Steps, sigma: Sigma, delta: Delta, epochs: Epochs = 1, side: Side = "upper"
) -> float:
    """Return eps of one item in training on shuffled batches with Gaussian noise.

    Parameters
    ----------
    steps : int
        Number T of batches of an epoch, in [1, 10^9].
    sigma : float
        Standard deviation of the noise per unit of sensitivity to one item, in [0.1, 1e6].
    delta : float
        In (0, 1).
    epochs : int
        Number of epochs, each with a fresh permutation, in [1, 10^4].
    side : {"upper", "lower"}
        ``upper``: a bound for all adaptive queries. ``lower``: eps of one of these queries, a lower bound.

    Returns
    -------
    float
        Nats, >= 0, rounded up for an upper bound and down for a lower bound.

    Notes
    -----
    Null clones (Mausberg (2026); proven, manuscript unreviewed) for the upper bound, the largest release (proven) for
    the lower one; see :func:`shuffled_batches_delta`.

    Examples
    --------
    >>> from shuffledp.accounting import shuffled_batches_epsilon
    >>> [round(shuffled_batches_epsilon(100, 2.0, 1e-6, side=side), 2) for side in ("upper", "lower")]
    [1.46, 0.72]
    """

    def excess(log_eps: float) -> float:
        return log_ratio(_delta(steps, sigma, math.exp(log_eps), epochs, side, delta), delta)

    least = math.log(LEAST)
    most = max(limit_epsilon(math.sqrt(epochs) / sigma, delta)[0] + 0.01, least + 1)
    guess = most - _NEAR
    if side == "upper":
        return math.exp(-root_below(lambda x: excess(-x), -guess, -most, -least, xtol=_XTOL, near=_NEAR))
    root = root_below(lambda x: -excess(x), guess, least, most, xtol=_XTOL, near=_NEAR)
    return math.exp(root) if root > least else 0.0


def _delta(steps: int, sigma: float, eps: float, epochs: int, side: Side, target: float) -> float:
    """Return a bound on delta. The bound is close to delta where delta is about `target` or larger."""
    known_permutation = math.exp(log_gaussian_delta(math.sqrt(epochs) / sigma, eps)) * (1 + _ROUNDING)
    if side == "upper" and steps == 1:
        return known_permutation
    if epochs > 1:
        step, laws = _epochs(steps, sigma, epochs, side, _OMITTED * target / epochs)
        gains = [-np.expm1(np.minimum(eps - step * law.support, 0.0)) for law in laws]
        if side == "upper":
            value = max(float(law.pmf @ gain) + law.omitted for law, gain in zip(laws, gains, strict=True))
        else:
            value = max(
                float(law.pmf @ (gain - epochs * _ULPS * (gain > 0)))
                for law, gain in zip(laws, gains, strict=True)
            )
    elif side == "lower":
        masses, ratio = _largest(steps, sigma), math.exp(eps)
        value = max(
            float(np.sum(np.maximum(own_mass * (1 - _ULPS) - ratio * other, 0.0)))
            for own_mass, other in (masses, masses[::-1])
        )
    else:
        value = max(_Clones(steps, sigma, way, target).least(min(eps, MOST_EPS), _CELLS) for way in WAYS)
    if side == "upper":
        return min(value * (1 + _ROUNDING), known_permutation)
    return max(value, 0.0) * (1 - _ROUNDING)


# -- one epoch
# -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Clones:
    """Upper bound on delta in one direction, for one epoch of at least two steps. The bound is close to delta if delta
    is above the target.
    """

    steps: int
    sigma: float
    way: Way
    target: float

    def least(self, eps: float, cells: int) -> float:
        """Return the smaller of delta at about the best p and delta for a known permutation."""
        return self.bound_delta(eps, self.exponent(eps), cells)

    def bound_delta(self, eps: float, exponent: float, cells: int) -> float:
        """Return the smaller of delta at ``p = e^-exponent`` and delta for a known permutation."""
        delta = self._delta(eps, exponent, self._releases(eps, exponent, cells), _GAP)
        return min(delta, math.exp(self._log_known(eps)))

    def exponent(self, eps: float) -> float:
        """Return ``ln(1 / p)`` for about the best p. In the search, the term with ``gamma(p)`` falls from delta for a
        known permutation to a negligible part of the target.
        """
        values: dict[float, float] = {}

        def value(exponent: float) -> float:
            if exponent not in values:
                values[exponent] = self._delta(eps, exponent, releases, COARSE)
            return values[exponent]

        def apart(log: float, above: float) -> float:
            exponent_apart = root_below(
                lambda x: log - self._log_apart(eps, x), 1.0, 0.0, math.inf, xtol=1e-3 / self.sigma
            )
            return max(exponent_apart, above)

        low = apart(self._log_known(eps), 1e-300)
        high = apart(math.log(_CUT * self.target), low)
        releases = self._releases(
            eps, low, _CHOICE_CELLS
        )  # the same for all p, whose values are then comparable
        value(low)
        golden_section(value, low, high, _CHOICE_TOL / self.sigma)
        return min(values, key=values.__getitem__)

    def _log_known(self, eps: float) -> float:
        return log_gaussian_delta(1 / self.sigma, eps)

    def _log_apart(self, eps: float, exponent: float) -> float:
        """Return the log of ``(1 + e^eps) (T - 1) gamma(p)``."""
        return math.log((self.steps - 1) * (1 + math.exp(eps))) - exponent + self._log_known(exponent)

    def _releases(self, eps: float, exponent: float, cells: int) -> Cells:
        """Return cells of one release, up to a value that makes the sum positive for nearly all numbers of clones."""
        mean = (self.steps - 1) * math.exp(-exponent)
        most = 2 * (1 + mean + _DEVIATIONS * (math.sqrt(mean) + 1))
        enough = math.log(most) + (eps if self.way == "remove" else -eps)
        cut = self.sigma * float(ndtri(_CUT * self.target))
        last = min(self.sigma**2 * enough + 0.5, 1 - cut)
        first = min(cut if self.way == "add" else -6 * self.sigma, last - 6 * self.sigma)
        return gaussian_cells(self.sigma, self.way, np.linspace(first, last, cells), exact_excess=True)

    def _delta(self, eps: float, exponent: float, releases: Cells, gap: float) -> float:
        clones = Binomial(self.steps - 1, math.exp(-exponent))
        value = compared_delta(releases, clones, eps, "upper", gap, _CUT * self.target)
        return value + math.exp(min(self._log_apart(eps, exponent), 1.0))


@remember(16)
def _largest(steps: int, sigma: float) -> Floats:
    """Return the masses of bins of the largest release: (2, m), with the item and without it."""
    first = float(ndtri(1e-300 ** (1 / steps)))
    edges = np.arange(first, _LAST + 2 / sigma, _BIN)

    def masses(theta: float) -> Floats:
        logs = log_ndtr(edges - theta / sigma) + (steps - 1) * log_ndtr(edges)
        below = np.diff(np.exp(logs), prepend=0.0, append=1.0)
        above = np.diff(np.expm1(logs), prepend=-1.0, append=0.0)
        return np.asarray(np.where(np.append(logs, 0.0) < -0.5, below, above), np.float64)

    both = np.stack((masses(2.0), masses(1.0)))
    return np.asarray(both[:, np.all(both > 0, axis=0)], np.float64)


# -- several epochs
# -----------------------------------------------------------------------------------------


@remember(16)
def _epochs(
    steps: int, sigma: float, epochs: int, side: Side, negligible: float
) -> tuple[float, tuple[Window, ...]]:
    """Return the grid step of the losses, and the laws of their sums over all epochs in the two directions, in grid
    steps.
    """
    step, laws = (
        _from_chords(steps, sigma, negligible)
        if side == "upper"
        else _from_tangents(steps, sigma, negligible)
    )
    return step, tuple(_power(law, epochs, negligible) for law in laws)


def _from_chords(steps: int, sigma: float, negligible: float) -> tuple[float, list[Window]]:
    """Return the grid step and the laws of the losses of one epoch. Their divergences are chords of
    the upper bounds.
    """

    both = [_Clones(steps, sigma, way, negligible) for way in WAYS]

    def worst(minus_log_eps: float) -> float:
        eps = math.exp(-minus_log_eps)
        return log_ratio(max(clones.least(eps, _CHOICE_CELLS) for clones in both), negligible)

    most = limit_epsilon(1 / sigma, negligible)[0] + 0.01
    end = math.exp(-root_below(worst, _NEAR - most, -most, -math.log(LEAST), xtol=0.01, near=_NEAR))
    eps, places = np.linspace(0.0, end, _LOSSES + 1), np.linspace(0.0, end, _CHOICES)
    ratios, deltas = np.exp(eps), []
    for clones in both:
        exponents = np.interp(eps, places, [clones.exponent(e) for e in places.tolist()])
        bounds = [
            clones.bound_delta(e, p, _GRID_CELLS)
            for e, p in zip(eps.tolist(), exponents.tolist(), strict=True)
        ]
        deltas.append(convex_minorant(ratios, np.minimum.accumulate(bounds)))
    # At 0 both are the total variation.
    deltas[0][0] = deltas[1][0] = min(deltas[0][0], deltas[1][0])
    remove, add = (_kinks(ratios, convex_minorant(ratios, divergences)) for divergences in deltas)
    laws = []
    for (own_mass, infinite), (other_mass, _) in ((remove, add), (add, remove)):
        gained = ratios[1:] * own_mass
        middle = max(1 - float(np.sum(gained)) - infinite - float(np.sum(other_mass)), 0.0)
        masses = np.concatenate((other_mass[::-1], [middle], gained))
        laws.append(Window(-_LOSSES, masses, infinite))
    return end / _LOSSES, laws


def _kinks(ratios: Floats, deltas: Floats) -> tuple[Floats, float]:
    """Return the masses of Q at all ratios except the first, and the mass of P at an infinite ratio, from the
    divergences.
    """
    slopes = np.append(np.diff(deltas) / np.diff(ratios), 0.0)
    return np.maximum(np.diff(slopes), 0.0), float(deltas[-1])


def _from_tangents(steps: int, sigma: float, negligible: float) -> tuple[float, list[Window]]:
    """Return the grid step and the laws of losses. Their divergences are tangents of the divergences of the largest
    release.
    """
    masses = _largest(steps, sigma)
    curves = [_divergences(*pair) for pair in (masses, masses[::-1])]
    end = max(math.log(ratios[np.argmax(values <= negligible)]) for ratios, values in curves)
    step = end / _LOSSES
    return step, [_tangents(ratios, values, step, end) for ratios, values in curves]


def _divergences(own_law: Floats, other_law: Floats) -> tuple[Floats, Floats]:
    """Return the ratios of two laws, increasing from 0, and the divergence ``sum (own - ratio
    other)^+`` at each ratio.
    """
    order = np.argsort(own_law / other_law)
    ratios = np.append(0.0, (own_law / other_law)[order])
    above = np.cumsum(other_law[order][::-1])[::-1]
    values = np.append(np.cumsum((np.diff(ratios) * above)[::-1])[::-1], 0.0)
    return ratios, values


def _tangents(ratios: Floats, values: Floats, step: float, end: float) -> Window:
    """Return the losses of P whose divergence consists of tangents, which meet at multiples of a step.

    Each tangent reaches from its right end down to the first multiple at or below the point where it touches.
    """
    start = -math.ceil(end / step)
    masses = np.zeros(1 - 2 * start)
    place, value, slope = -start, 0.0, 0.0
    while place >= start:
        ratio = math.exp(place * step)
        below = int(np.searchsorted(ratios, ratio))
        rises = (values[:below] - value) / (ratio - ratios[:below])
        touched = int(np.argmin(rises))
        masses[place - start] = ratio * max(float(rises[touched]) - slope, 0.0)
        slope = float(rises[touched])
        if touched == 0:
            break
        then = min(math.floor(math.log(ratios[touched]) / step), place - 1)
        value += slope * (ratio - math.exp(then * step))
        place = then
    return Window(start, masses)


def _power(law: Window, epochs: int, negligible: float) -> Window:
    """Return the law of the sum of losses of all epochs; `omitted` is the mass of losses that are
    infinite or cut off.
    """
    total: Window | None = None
    while True:
        if epochs % 2:
            total = law if total is None else _cut(convolve(total, law), negligible)
        epochs //= 2
        if epochs == 0:
            return total  # type: ignore[return-value]
        law = _cut(convolve(law, law), negligible)


def _cut(law: Window, negligible: float) -> Window:
    sums, sums_down = np.cumsum(law.pmf), np.cumsum(law.pmf[::-1])
    first, last = int(np.searchsorted(sums, negligible)), int(np.searchsorted(sums_down, negligible))
    inner = law.pmf[first : law.pmf.size - last]
    return Window(law.start + first, inner, law.omitted + 2 * negligible)
