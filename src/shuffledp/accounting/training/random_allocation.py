r"""Random allocation: every user takes part in one of t steps, chosen uniformly, and the adversary sees all outputs.

If the output of one step has the law P with the user and Q without, the t outputs have the laws
``(1/t) sum_i Q^(i-1) P Q^(t-i)`` and Q^t (Feldman and Shenfeld, arXiv 2502.08202; also balls and bins). With L = P / Q
and independent y_i from Q,

.. math:: \delta_{remove} = E \Bigl( \frac1t \sum_i L(y_i) - e^\epsilon \Bigr)^+ , \qquad
          \delta_{add} = E \Bigl( 1 - \frac{e^\epsilon}{t} \sum_i L(y_i) \Bigr)^+ .

For eps_local-DP steps, the laws P and Q of binary randomized response dominate all others. Then L has two values, and
the mean is a sum over the number of steps with the larger value. Gaussian steps have the same sums as t shuffled
reports if all other users hold the same value. These sums are evaluated as in
:mod:`shuffledp.accounting.general.blanket`, with L cut into cells in the convex order; so are the sums of too many
eps_local-DP steps. If a single L exceeds t e^eps, the sum is positive for all other values. In the direction "remove",
cells up to this value are therefore sufficient: L beyond the last cell adds ``E (L - last)^+``, which has a closed
form. The cost hence does not grow as sigma falls.

Unlike amplification by shuffling, the guarantee does not use the noise of other users: it holds even if all of them
collude. Neighbors differ by one user who is added or removed. For replacement, both directions compose to (2 eps, (1 +
e^eps) delta). Poisson sampling of each step at rate 1/t is **not** an upper bound: ten steps of 1 nat each have a
larger delta at 0.3 nats.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, cast

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from shuffledp.accounting.general.blanket import compared_delta
from shuffledp.accounting.general.comparisons import Cells, Comparison, Outputs, normal_mass
from shuffledp.accounting.general.epsilon_search import COARSE, LEAST, limit_epsilon, search_epsilon
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.numerics.argument_ranges import Delta, Eps, EpsAt, FromOne, check_between
from shuffledp.numerics.expected_excess import chernoff_excess, expected_excesses
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.sum_excess import Summands
from shuffledp.numerics.windows import binomial_window
from shuffledp.populations.base import Fixed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shuffledp.numerics.sum_excess import Side
    from shuffledp.numerics.windows import Window

Direction = Literal["remove", "add", "both"]
Way = Literal["remove", "add"]

_CELLS = 300
MOST_EPS = 350.0
#: Part of a target; a smaller delta is a bound on its side, without stated accuracy.
_FLOOR = 1e-9
#: Least sigma and number of steps for which the law of a sum is so smooth that one tilt serves for many distant eps.
_SMOOTH_SIGMA, _SMOOTH_STEPS = 2.0, 100
#: Largest number of neighboring eps that share a law if the cells depend on eps, and their largest distance.
_GROUP, _GROUP_SPAN = 24, 1.0
#: Mass that is cut off relative to delta, the first cut, and the least one.
_CUT, _FIRST_CUT, _LEAST_CUT = 1e-4, 1e-9, 1e-150
#: Largest number of eps_local-DP steps over which delta is a sum.
_MOST_STEPS = 10**8
#: Mass that windows leave out, relative to delta, at first and from one attempt to the next, and the least.
_OMITTED, _FIRST_OMITTED, _LEAST_OMITTED = 1e-10, 1e-20, 1e-300
#: Relative error of sums and closed forms, and of a single term that is a difference.
_ROUNDING, _ULPS = 4e-9, 1e-15


def allocation_delta(
    eps: EpsAt,
    steps: FromOne,
    *,
    eps_local: Eps | None = None,
    sigma: Sigma | None = None,
    direction: Direction = "both",
    bound: Literal["upper", "lower"] = "upper",
) -> float:
    """Return delta of a user who takes part in one of several steps, chosen uniformly.

    Source: Feldman and Shenfeld (arXiv 2502.08202) for the two laws; their evaluation is derived for this project.
    Neighbors: one user added or removed.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    steps : int
        t, >= 1.
    eps_local : float, optional
        Every step is eps_local-DP; nats, in (0, 300]. Give either `eps_local` or `sigma`.
    sigma : float, optional
        Every step adds normal noise of this standard deviation per unit of sensitivity; in [0.1, 1e6].
    direction : {"both", "remove", "add"}
        ``remove``: laws with the user against laws without; ``add``: the reverse; ``both``: the larger delta.
    bound : {"upper", "lower"}
        Side of the exact delta on which the result lies.

    Returns
    -------
    float
        In [0, 1]; an upper or a lower bound, by `bound`. For eps_local-DP steps, the result is within 1e-8 relative of
        delta for binary randomized response. Exceptions are eps within 1e-6 relative of a kink of delta (1e-5 for more
        than 10^8 steps). For several Gaussian steps, a delta of 1e-4 is within about 1e-3 relative, a delta of 1e-15
        within a tenth, and smaller deltas have larger errors.

    Examples
    --------
    >>> from shuffledp.accounting import allocation_delta
    >>> f"{allocation_delta(0.5, 100, sigma=1.0, direction='remove'):.2e}"
    '4.42e-05'
    """
    eps = min(eps, MOST_EPS)
    step = checked_step(eps_local, sigma)
    sides = directions(direction)
    side = bound
    return max(_delta(step, steps, eps, way, side) for way in sides)


def allocation_epsilon(
    delta: Delta,
    steps: FromOne,
    *,
    eps_local: Eps | None = None,
    sigma: Sigma | None = None,
    direction: Direction = "both",
    bound: Literal["upper", "lower"] = "upper",
) -> float:
    """Return the central eps of a user who takes part in one of several steps, chosen uniformly.

    Source and side as in :func:`allocation_delta`.

    Parameters
    ----------
    delta : float
        In (0, 1).
    steps, eps_local, sigma, direction, bound
        As in :func:`allocation_delta`.

    Returns
    -------
    float
        Nats; at most `eps_local`. Rounded up for the upper bound, down for the lower bound. The rounding is at most
        1e-5 relative for eps_local-DP steps, and 1e-3 for Gaussian steps if delta is at least 1e-15.

    Examples
    --------
    >>> from shuffledp.accounting import allocation_epsilon
    >>> [round(allocation_epsilon(1e-6, 1000, eps_local=1.0, direction=way), 4) for way in ("remove", "add")]
    [0.1161, 0.1266]
    """
    step = checked_step(eps_local, sigma)
    side = bound
    return max(_epsilon(step, steps, delta, way, side) for way in directions(direction))


def allocation_deltas_within(
    eps: NDArray[np.float64], steps: int, step: Step, target: float
) -> NDArray[np.float64]:
    """Return upper bounds on the larger delta of the two directions at rising eps (nats, >= 0), for adding or removing
    a user. The bounds are about 1e-3 relative above the exact values, except for exact values far below the target
    (Feldman and Shenfeld, arXiv 2502.08202).
    """
    eps = np.minimum(eps, MOST_EPS)
    kind, sigma = step
    if kind != "gaussian" or steps == 1:
        return np.array([max(_singly(step, steps, e, way, target) for way in ("remove", "add")) for e in eps])
    if shares_ratios(steps, step, target):
        both = np.maximum(*(_gaussian_deltas(sigma, steps, eps, way, target) for way in ("remove", "add")))
    else:
        removed = _grouped_deltas(sigma, steps, eps, "remove", target)
        # Adding a user mostly reveals far less.
        adding = _most_added(sigma, steps, eps, target)
        some = adding > removed
        adding[some] = _grouped_deltas(sigma, steps, eps[some], "add", target)
        both = np.maximum(removed, adding)
    alone = np.array([_alone(sigma, float(e)) for e in eps]) * (1 + _ROUNDING)
    return np.asarray(np.minimum(both, alone), np.float64)


def shares_ratios(steps: int, step: Step, target: float) -> bool:
    """Return whether one law of L is sufficient for all eps. This holds for many Gaussian steps of which none dominates
    the sum.
    """
    kind, sigma = step
    is_smooth = kind == "gaussian" and sigma >= _SMOOTH_SIGMA and steps >= _SMOOTH_STEPS
    return is_smooth and not _ratios(sigma, steps, 0.0, "remove", target).exact_excess


def allocation_end(steps: int, sigma: float, target: float) -> float:
    """Return an eps (nats, at most 350) at which delta of Gaussian steps is about `target`, rounded up by some percent.
    If many small ratios dominate the sum, the result uses Chernoff's bound for both directions. Otherwise it uses delta
    of the direction "remove", as delta of the direction "add" is much smaller (Feldman and Shenfeld, arXiv 2502.08202).
    """
    together = shares_ratios(steps, ("gaussian", sigma), target)

    def excess(minus_log_eps: float) -> float:
        eps = math.exp(-minus_log_eps)
        if not together:
            delta = _delta(("gaussian", sigma), steps, eps, "remove", "upper", gap=COARSE, target=target)
            return log_ratio(delta, target)
        bound = _alone(sigma, eps)
        both = max(_chernoff(sigma, steps, eps, way, target) for way in ("remove", "add"))
        return log_ratio(min(bound, both), target)

    guess = limit_epsilon(1 / (sigma * math.sqrt(steps)), target)[0]
    if not together:
        guess = 0.5 * (guess + limit_epsilon(1 / sigma, target)[0])
    last = -math.log(MOST_EPS)
    return math.exp(-root_below(excess, -guess, last, -math.log(LEAST), xtol=0.02, ytol=0.3))


#: Noise that the accounting resolves.
Sigma = Annotated[float, partial(check_between, least=0.1, most=1e6)]
#: ``pure`` with eps_local, or ``gaussian`` with sigma.
Step = tuple[str, float]


def checked_step(eps_local: float | None, sigma: float | None) -> Step:
    """Return the kind of a step and its parameter; raise ValueError unless exactly one is given."""
    if (eps_local is None) == (sigma is None):
        raise ValueError(f"Give either eps_local or sigma, got eps_local={eps_local!r}, sigma={sigma!r}.")
    if eps_local is None:
        return "gaussian", cast("float", sigma)
    if eps_local > 300:
        raise ValueError(f"eps_local must be at most 300, got {eps_local!r}.")
    return "pure", eps_local


def directions(direction: Direction) -> tuple[Way, ...]:
    """Return the directions that the argument "both", "remove" or "add" names."""
    return ("remove", "add") if direction == "both" else (direction,)


@remember(256)
def _epsilon(step: Step, steps: int, delta: float, way: Way, side: Side) -> float:
    kind, size = step
    mu = size if kind == "gaussian" else 1 / (2 * math.sinh(min(size, 50.0) / 2))

    def excess(gap: float) -> Callable[[float], float]:
        def log_excess(log_eps: float) -> float:
            value = _delta(step, steps, math.exp(log_eps), way, side, gap=gap, target=delta)
            return log_ratio(value, delta)

        return log_excess

    most = size if kind == "pure" else MOST_EPS
    limit = 1 / (max(mu, 1e-3) * math.sqrt(steps))
    return search_epsilon(excess, most, min(limit, 30.0), delta, side, sometimes_shown=kind == "gaussian")


def _delta(
    step: Step,
    steps: int,
    eps: float,
    way: Way,
    side: Side,
    *,
    gap: float = 3e-6,
    target: float | None = None,
) -> float:
    kind, size = step
    others = Fixed(steps - 1)
    if kind == "pure":
        if eps >= size:
            return 0.0
        if steps <= _MOST_STEPS:
            return _summed(size, steps, eps, way, side, target)
        return compared_delta(_pure(size, way), others, eps, side, gap)
    alone = _alone(size, eps)
    if steps == 1:
        return alone * (1 + _ROUNDING if side == "upper" else 1 - _ROUNDING)
    enough = math.log(2 * steps) + eps
    if target is not None:
        step_ = _gaussian(size, way, side, _CUT * target, enough)
        value = compared_delta(step_, others, eps, side, gap, _FLOOR * target)
    else:
        cut = _FIRST_CUT
        while True:
            value = compared_delta(_gaussian(size, way, side, cut, enough), others, eps, side, gap)
            if cut <= max(_CUT * value, _LEAST_CUT):
                break
            cut = max(min(_CUT * value, 1e-4 * cut), _LEAST_CUT)
    # One step alone has at least the delta of the whole, which is a mean of it.
    return value if side == "lower" else min(value, alone)


def _alone(sigma: float, eps: float) -> float:
    return math.exp(log_gaussian_delta(1 / sigma, eps))


def _gaussian_deltas(
    sigma: float, steps: int, eps: NDArray[np.float64], way: Way, target: float
) -> NDArray[np.float64]:
    """Return upper bounds for one direction, at many eps by few laws of L. For two eps the values ``G = L - e^eps``
    differ by a constant, and ``1 - e^eps L`` is a multiple of such a G. One law of L is therefore sufficient for all
    eps whose sums need about the same cells and the same tilt.
    """
    deltas = np.zeros(eps.size)
    first = 0
    while first < eps.size:
        first_deltas = _found_together(sigma, steps, eps[first:], way, target)
        deltas[first : first + first_deltas.size] = first_deltas
        first += first_deltas.size
    return np.minimum(deltas, 1.0)


def _grouped_deltas(
    sigma: float, steps: int, eps: NDArray[np.float64], way: Way, target: float
) -> NDArray[np.float64]:
    """Return the upper bounds of :func:`_gaussian_deltas` if the last cell depends on eps. One law of L is used for
    several consecutive eps. If a law is sufficient for a single eps only, the next eps are evaluated one by one;
    their number doubles every time.
    """
    deltas = np.zeros(eps.size)
    first, one_by_one, next_time = 0, 0, 1
    while first < eps.size:
        some = eps[first : first + _GROUP]
        some = some[some <= some[0] + _GROUP_SPAN]
        if one_by_one > 0 or some.size == 1:
            one_by_one -= 1
            first_deltas = np.array([_singly(("gaussian", sigma), steps, float(some[0]), way, target)])
        else:
            first_deltas = _found_together(sigma, steps, some, way, target)
            if first_deltas.size == 1:
                one_by_one, next_time = next_time, 2 * next_time
        deltas[first : first + first_deltas.size] = first_deltas
        first += first_deltas.size
    return np.minimum(deltas, 1.0)


def _singly(step: Step, steps: int, eps: float, way: Way, target: float) -> float:
    return _delta(step, steps, float(eps), way, "upper", gap=COARSE, target=target)


def _found_together(
    sigma: float, steps: int, eps: NDArray[np.float64], way: Way, target: float
) -> NDArray[np.float64]:
    """Return upper bounds for the first eps and for all next eps that the same contour resolves. All use the cells of
    the last eps.
    """
    cells = _ratios(sigma, steps, float(eps[-1]), way, target)
    start, apart = float(eps[0]), eps - eps[0]
    if way == "remove":
        factor, thresholds = np.ones(eps.size), math.exp(start) * np.expm1(apart)
    else:
        factor, thresholds = np.exp(apart), -np.expm1(-apart)
    summands = Summands(*cells.law(start, "upper"), steps)
    excesses = expected_excesses(summands, steps * thresholds, gap=COARSE, floor=_FLOOR * target * steps)
    resolved = int(np.argmax(np.append(np.isnan(excesses), True)))
    return np.asarray((factor * excesses / steps)[:resolved] + cells.uncovered(start, "upper"), np.float64)


def _most_added(sigma: float, steps: int, eps: NDArray[np.float64], target: float) -> NDArray[np.float64]:
    """Return Chernoff's bound on delta of the direction "add" for each eps, with the same moments for all eps.
    ``E (sum (1 - e^eps L))^+ <= e^(theta t) (E e^(-theta e^eps L))^t / (e theta)``.
    """
    cells = _ratios(sigma, steps, 0.0, "add", target)
    values, masses = cells.law(0.0, "upper")
    slopes = np.exp(np.arange(-math.log(steps) - 2, math.log(1e6), 0.25))
    with np.errstate(under="ignore"):
        moments = np.exp(np.outer(slopes, np.minimum(values - 1, 0.0))) @ masses
    with np.errstate(divide="ignore"):
        logs = steps * np.log(np.minimum(moments * (1 + _ROUNDING), 1.0))
    theta = np.outer(np.exp(-eps), slopes)
    least = np.min(steps * theta + logs - 1 - np.log(theta * steps), axis=1)
    return np.asarray(np.exp(np.clip(least, -600.0, 0.0)) + cells.uncovered(0.0, "upper"), np.float64)


def _chernoff(sigma: float, steps: int, eps: float, way: Way, target: float) -> float:
    cells = _ratios(sigma, steps, eps, way, target)
    return chernoff_excess(Summands(*cells.law(eps, "upper"), steps)) / steps + cells.uncovered(eps, "upper")


def _ratios(sigma: float, steps: int, eps: float, way: Way, target: float) -> Cells:
    return _gaussian(sigma, way, "upper", _CUT * target, math.log(2 * steps) + eps)


def _summed(
    eps_local: float, steps: int, eps: float, way: Way, side: Side, target: float | None = None
) -> float:
    """Return delta of eps_local-DP steps, summed over the number of steps with the larger L. A delta far below the
    target is a bound on its side, without stated accuracy.
    """
    factor, most = math.exp(eps), math.exp(eps_local)
    largest = most if way == "remove" else 1.0  # of the bracket

    def bounds(omitted: float) -> tuple[float, float]:
        window = _likelier(steps, eps_local, omitted)
        larger = window.support.astype(np.float64) / steps
        ratio = larger * most + (1 - larger) / most
        gain = ratio - factor if way == "remove" else 1 - factor * ratio
        positive = gain > 0
        mass = window.pmf[positive]
        rounding = _ULPS * float(
            mass @ (factor + ratio[positive] if way == "remove" else 1 + factor * ratio[positive])
        )
        value = float(mass @ gain[positive])
        if side == "lower":
            return max(value * (1 - _ROUNDING) - rounding, 0.0), value
        return min(value * (1 + _ROUNDING) + rounding + window.omitted * largest, 1.0), value

    omitted = _FIRST_OMITTED if target is None else _OMITTED * target / largest
    while True:
        bound, value = bounds(max(omitted, _LEAST_OMITTED))
        if target is not None or omitted <= max(_OMITTED * value / largest, _LEAST_OMITTED):
            return bound
        omitted *= _FIRST_OMITTED


@remember(16)
def _likelier(steps: int, eps_local: float, omitted: float) -> Window:
    """Return the law of the number of steps with the larger likelihood ratio if the user is absent."""
    return binomial_window(steps, math.exp(-eps_local) / (1 + math.exp(-eps_local)), omitted)


def _pure(eps_local: float, way: Way) -> Comparison:
    decay = math.exp(-eps_local)
    ratios = np.array([eps_local, -eps_local])
    masses = np.array([decay, 1.0]) / (1 + decay)
    nothing = np.zeros((0, 2))
    if way == "remove":
        return Outputs(ratios, np.zeros(2), masses, nothing)
    return Outputs(np.zeros(2), ratios, masses, nothing)


def _gaussian(sigma: float, way: Way, side: Side, cut: float, enough: float) -> Cells:
    """Return cells in units of the sensitivity: Q has mean 0, P mean 1; `enough` is the log of ``2 t e^eps``."""
    last = 1 - sigma * float(ndtri(min(cut, 0.1)))
    decided = sigma**2 * enough + 0.5
    alone = way == "remove" and decided < last
    if alone:  # a single L above t e^eps decides about the sign of the sum
        last = decided
    # What "add" loses lies where L is small: cells that far; "remove" has a mean of L there, which is nearly 0.
    first = sigma * float(ndtri(cut)) if way == "add" and cut < 1e-13 else -6 * sigma
    return gaussian_cells(sigma, way, _edges(sigma, min(first, last - 6 * sigma), last), exact_excess=alone)


def gaussian_cells(sigma: float, way: Way, edges: NDArray[np.float64], *, exact_excess: bool) -> Cells:
    """Return the outputs of a Gaussian step in cells, in units of the sensitivity: Q has mean 0, P mean 1.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise, > 0.
    way : {"remove", "add"}
    edges : (m,) ndarray
        Increasing edges of the cells.
    exact_excess : bool
        See :class:`shuffledp.accounting.general.comparisons.Cells`.

    Notes
    -----
    Feldman and Shenfeld (arXiv 2502.08202). The law of the cells gives an upper or a lower bound on delta, depending on
    the side.
    """
    low, high = np.append(-math.inf, edges), np.append(edges, math.inf)
    present, absent = (normal_mass((low - mean) / sigma, (high - mean) / sigma) for mean in (1.0, 0.0))
    # Below the first edge L lies between 0 and its value there. Above the last one L counts as its value there: too
    # small a loss for the direction "add", and for "remove" its mean excess is added.
    last = float(edges[-1])
    at_last = (2 * last - 1) / (2 * sigma**2)
    ratios = np.concatenate(([-math.inf], (2 * edges - 1) / (2 * sigma**2), [at_last]))
    if way == "add":
        return Cells(np.zeros(ratios.size), ratios, absent, present, absent)
    excess = float(present[-1]) - math.exp(at_last + float(log_ndtr(-last / sigma)))
    present[-1] = math.exp(at_last) * absent[-1]
    return Cells(
        ratios, np.zeros(ratios.size), present, absent, absent, max(excess, 0.0), exact_excess=exact_excess
    )


def _edges(sigma: float, first: float, last: float) -> NDArray[np.float64]:
    """Return edges at equal steps, and at quantiles of Normal(2, 3 sigma^2), which are about optimal for cells of L."""
    scale = math.sqrt(3) * sigma
    ends = ndtr((np.array([first, last]) - 2) / scale)
    quantiles = ndtri(np.linspace(ends[0], ends[1], _CELLS + 1)[1:-1]) * scale + 2
    inner = quantiles[(quantiles > first) & (quantiles < last)]
    return np.unique(np.concatenate((np.linspace(first, last, _CELLS + 1), inner)))
