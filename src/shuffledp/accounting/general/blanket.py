"""Privacy blanket of any local randomizer: upper and lower bounds on delta of n shuffled reports.

For n users, ``delta = E (G_1 + .. + G_n)^+ / n`` with G as in :mod:`shuffledp.accounting.general.comparisons`. For a
random number of other users, delta is the mean over this number. Two laws need no sum over the numbers. For
``Bin(trials, rate)`` other users, ``delta = E (sum)^+ / (rate (trials + 1))``: the sum has ``trials + 1`` terms, and
each is a copy of G with probability `rate`, else 0. For a Poisson number, ``delta = E (sum)^+ / mean`` with a Poisson
number of copies. :mod:`shuffledp.numerics.sum_excess` computes these means.

Two sides:

``upper``
    Every report contains the blanket, for every input of its user, and the adversary learns which reports come from the
    blanket. No data set of the other users has a larger delta.
``lower``
    All other users hold the same input. This data set is possible, so that no smaller delta holds for the randomizer.

Conventions: eps in nats; replacement neighbors; the analyzer knows the inputs of all other users. Derived for this
project, from Balle, Bell, Gascon and Nissim (2019) and the evaluation by Su, Cheng and Wang (arXiv 2504.07414).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.general.comparisons import Cells
from shuffledp.accounting.general.epsilon_search import (
    COARSE,
    FINE,
    FROM_HINT,
    LEAST,
    ROUGH,
    limit_epsilon,
    search_epsilon,
)
from shuffledp.accounting.general.profiles import Exported, View, at_each
from shuffledp.accounting.general.randomizers import Randomizer, check_randomizer
from shuffledp.accounting.general.sparse_grr import data_set_deltas, few_matches, tabulated_delta
from shuffledp.accounting.user_functions import call_function, is_foreign, numbers_of
from shuffledp.numerics.argument_ranges import (
    Delta,
    EpsArray,
    EpsAt,
    FromOne,
    check_fields,
    checked,
    format_value,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio
from shuffledp.numerics.sum_excess import Summands, expected_positive_part
from shuffledp.populations.base import Fixed, Law
from shuffledp.populations.laws import Binomial, Poisson

if TYPE_CHECKING:
    from collections.abc import Callable

    from shuffledp.accounting.general.comparisons import Comparison
    from shuffledp.numerics.sum_excess import Side


#: Cells of a density are about 1e-3 wide: a tenth of that is enough.
_CELLS_GAP = 1e-4
#: Beyond this e^eps overflows in the products of likelihood ratios.
_MOST_EPS = 350.0
#: RealArray of others that a law without a closed form is cut into.
_GROUPS = 48
#: Mass of unbounded outputs that is cut off, relative to delta, and at first.
_CUT, _FIRST_CUT = 1e-4, 1e-9
#: Fraction of the target below which delta counts as 0 during a search for a root.
_FLOOR = 1e-9
_REMEMBERED = 4096


@runtime_checkable
class OwnDelta(Protocol):
    """Randomizer that defines its own delta, as the analyzer sees a statistic of the reports only."""

    def own_delta(
        self, others: int, eps: float, side: Side, target: float | None = None, gap: float = 0.0
    ) -> float | None:
        """Return a bound on delta for a number of other users, or None if the bound is the delta of the blanket. With a
        target, the result may differ by less than a millionth of the target. With a relative gap above 1e-3, the result
        is a bound on the given side without stated accuracy.
        """


def blanket_randomizer_delta(
    randomizer: Randomizer, users: FromOne, eps: EpsAt, bound: Literal["upper", "lower"] = "upper"
) -> float:
    """Return delta of the shuffled reports of a local randomizer.

    Source: Balle, Bell, Gascon and Nissim (2019) and the module's description. Replacement neighbors.

    Parameters
    ----------
    randomizer : Randomizer
        For example :class:`GRR` or :class:`LaplaceRandomizer`.
    users : int
        Number of users, user 1 included, in [1, 2^53].
    eps : float
        Nats, >= 0.
    bound : {"upper", "lower"}
        ``upper``: no data set of the other users has a larger delta, for the compared pairs of inputs.
        ``lower``: the largest delta of data sets in which all other users hold the same input.

    Returns
    -------
    float
        In [0, 1]; 0 for eps at and above the local budget. An upper or a lower bound, by `bound`. For finitely many
        outputs the result is within 1e-3 relative of the reduction's value, mostly within 1e-8; for densities, within
        about 1e-3. Gaussian noise has larger errors with few users, for small deltas and for the lower bound.

    Raises
    ------
    Infeasible
        If the randomizer has no blanket.

    Examples
    --------
    >>> from shuffledp.accounting import GRR, blanket_randomizer_delta
    >>> f"{blanket_randomizer_delta(GRR(1.0, domain_size=5), 2, 0.8):.6f}"
    '0.029675'
    """
    side = bound
    check_randomizer(randomizer)
    return population_delta(randomizer, Fixed(users - 1), eps, side)


def blanket_epsilon(
    randomizer: Randomizer, users: FromOne, delta: Delta, bound: Literal["upper", "lower"] = "upper"
) -> float:
    """Return the central eps of the shuffled reports of a local randomizer.

    Source: Balle, Bell, Gascon and Nissim (2019) and the module's description. Replacement neighbors.

    Parameters
    ----------
    randomizer, users, bound
        As in :func:`blanket_randomizer_delta`.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Nats, at most the local budget. ``upper``: rounded up; this eps holds for every data set of the other users.
        ``lower``: rounded down; no smaller eps is valid. For finitely many outputs the rounding is below 5e-5 relative.
        The rounding is larger where delta hardly changes with eps, and for laws that are nearly lattices. It is 1e-3
        for up to a million values and few users, and 1e-2 for a handful of users.

    Raises
    ------
    Infeasible
        If the randomizer has no blanket, or no finite eps has this delta.

    Examples
    --------
    >>> from shuffledp.accounting import GRR, LaplaceRandomizer, blanket_epsilon
    >>> round(blanket_epsilon(GRR(3.0, domain_size=10), 10_000, 1e-6), 4)
    0.1898
    >>> [round(blanket_epsilon(LaplaceRandomizer(1.0), 1_000, 1e-6, side), 3) for side in ("lower", "upper")]
    [0.11, 0.13]
    """
    side = bound
    check_randomizer(randomizer)
    return population_epsilon(randomizer, Fixed(users - 1), delta, side)


@dataclass(frozen=True)
class BlanketProfile(Exported):
    """Privacy profile of the shuffled reports of a local randomizer.

    Parameters
    ----------
    randomizer : Randomizer
    population : Law
        Number of other users.
    kind : {"upper", "lower"}
        As `bound` of :func:`blanket_randomizer_delta`.
    """

    randomizer: Randomizer
    population: Law
    kind: Literal["upper", "lower"] = "upper"
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "Balle, Bell, Gascon and Nissim 2019; evaluation derived"

    def __post_init__(self) -> None:
        check_fields(self)
        check_randomizer(self.randomizer)

    @checked
    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return the larger delta of the two directions for each eps (nats, >= 0), shape of `eps`."""
        return at_each(lambda e: population_delta(self.randomizer, self.population, e, self.kind), eps)


def population_delta(
    randomizer: Randomizer, law: Law, eps: float, side: Side, target: float | None = None
) -> float:
    """Return delta as :func:`blanket_randomizer_delta`, for any law of the number of other users. With a `target`, the
    result is a bound on the given side, within about 1e-3 relative. Far below the target, the result may be 0.
    """
    return _delta(randomizer, law, min(eps, _MOST_EPS), side, FINE if target is None else COARSE, target)


def population_epsilon(
    randomizer: Randomizer, law: Law, delta: float, side: Side, hint: float | None = None
) -> float:
    """Return eps as :func:`blanket_epsilon`, for any law of the number of other users; `hint` is an eps close to it."""
    return _epsilon(randomizer, law, delta, side, hint)


def population_excess(randomizer: Randomizer, law: Law, eps: float, delta: float, gap: float) -> float:
    """Return ``log(bound / delta)`` for an upper bound with the relative error `gap`; `delta` is the target. If the
    bound is far below the target, only the sign of the result is reliable.
    """
    return log_ratio(_delta(randomizer, law, min(eps, _MOST_EPS), "upper", gap, delta), delta)


@remember(_REMEMBERED)
def _epsilon(randomizer: Randomizer, law: Law, delta: float, side: Side, hint: float | None = None) -> float:
    cut = _CUT * delta if math.isinf(randomizer.eps_local) else _FIRST_CUT
    if side == "lower" and _own(randomizer) is None:
        return _largest_root(randomizer, _data_sets(randomizer, law, delta, cut), law, delta, hint)

    def delta_of(eps: float, gap: float) -> float:
        return _delta(randomizer, law, eps, side, gap, delta)

    return _root(randomizer, law, delta, side, delta_of, hint)


def _root(
    randomizer: Randomizer,
    law: Law,
    delta: float,
    side: Side,
    delta_of: Callable[[float, float], float],
    hint: float | None,
) -> float:
    def excess(gap: float) -> Callable[[float], float]:
        return lambda log_eps: log_ratio(delta_of(math.exp(log_eps), gap), delta)

    most = min(randomizer.eps_local, _MOST_EPS)
    sometimes_shown = math.isinf(randomizer.eps_local)
    mu = _distance(randomizer, law)
    return search_epsilon(excess, most, mu, delta, side, sometimes_shown=sometimes_shown, hint=hint)


def _data_sets(
    randomizer: Randomizer, law: Law, delta: float, cut: float
) -> list[Callable[[float, float], float]]:
    """Return lower bounds on delta, as functions of (eps, gap). Each bound is for a data set in which all other users
    hold one input.
    """
    few = few_matches(randomizer, law, delta)
    if few is not None and isinstance(law, Fixed):
        sets = data_set_deltas(few, law.others + 1, randomizer.eps_local, delta)
        return [lambda eps, gap, of=of: of(eps) for of in sets]  # type: ignore[misc]
    floor = _FLOOR * delta

    def against(comparison: Comparison) -> Callable[[float, float], float]:
        return lambda eps, gap: compared_delta(comparison, law, eps, "lower", gap, floor)

    return [against(comparison) for comparison in _comparisons(randomizer, "lower", cut)]


def _largest_root(
    randomizer: Randomizer,
    data_sets: list[Callable[[float, float], float]],
    law: Law,
    delta: float,
    hint: float | None,
) -> float:
    """Return the largest eps at which one of the bounds equals delta. A bound above delta at the root of another bound
    has a larger root.
    """
    best = 0.0
    if hint:
        at = hint * (1 - FROM_HINT)
    else:
        limit = limit_epsilon(_distance(randomizer, law), delta)[0]
        at = min(math.exp(limit), 0.5 * randomizer.eps_local, _MOST_EPS)
    remaining = list(data_sets)
    while remaining:
        glances = [of(at, COARSE) for of in remaining]
        chosen = int(np.argmax(glances))
        if best > 0 and glances[chosen] <= delta * (1 + FINE):
            break
        followed = remaining.pop(chosen)

        def delta_of(eps: float, gap: float, followed: Callable[[float, float], float] = followed) -> float:
            return 0.0 if eps >= randomizer.eps_local else followed(eps, gap)

        best = max(best, _root(randomizer, law, delta, "lower", delta_of, best or hint))
        at = max(best, LEAST)
    return best


def _distance(randomizer: Randomizer, law: Law) -> float:
    """Return the approximate distance of the two views, in standard deviations, for many users."""
    spread = max(c.spread for c in _comparisons(randomizer, "upper", _FIRST_CUT))
    return math.sqrt(min(spread, 1e12) / (law.mean + 1))


def _delta(
    randomizer: Randomizer, law: Law, eps: float, side: Side, gap: float, target: float | None = None
) -> float:
    if eps >= randomizer.eps_local:
        return 0.0
    own_delta = _own(randomizer)
    if own_delta is not None:
        return min(
            _averaged(lambda others: own_delta(others, eps, side, target, gap > COARSE) or 0.0, law, side),
            1.0,
        )
    if target is not None:
        few = few_matches(randomizer, law, target) if side == "upper" else None
        if few is not None and isinstance(law, Fixed):
            return tabulated_delta(few, law.others, eps, randomizer.eps_local, target)
        cut = _CUT * target if math.isinf(randomizer.eps_local) else _FIRST_CUT
        return _reduced(randomizer, law, eps, side, gap, cut, _FLOOR * target)
    if randomizer.eps_local < math.inf:
        return _reduced(randomizer, law, eps, side, gap, _FIRST_CUT)
    cut = _FIRST_CUT  # where outputs are unbounded, what is cut off has to be small beside the result
    while True:
        value = _reduced(randomizer, law, eps, side, gap, cut)
        if cut <= _CUT * value or cut <= 1e-150:
            return value
        cut = max(min(_CUT * value, 1e-4 * cut), 1e-150)


def _own(randomizer: Randomizer) -> Callable[[int, float, Side, float | None, bool], float | None] | None:
    """Return the function by which a randomizer defines delta of the analyzer's view, or None if the randomizer does
    not define delta.
    """
    if isinstance(randomizer, OwnDelta) and randomizer.own_delta(0, 0.0, "upper") is not None:
        return lambda others, eps, side, target, rough: _own_delta(
            randomizer, others, eps, side, target, rough
        )
    return None


@remember(256)
def _own_delta(
    randomizer: OwnDelta, others: int, eps: float, side: Side, target: float | None, rough: bool
) -> float | None:
    """Return `own_delta` of the randomizer from a cache. The gap is `ROUGH` for a rough evaluation, and 0 otherwise."""
    return randomizer.own_delta(others, eps, side, target, ROUGH if rough else 0.0)


@remember(64)
def _comparisons(randomizer: Randomizer, side: Side, cut: float) -> tuple[Comparison, ...]:
    return _foreign(randomizer, side, cut) if is_foreign(randomizer) else randomizer.comparisons(side, cut)


def _foreign(randomizer: Randomizer, side: Side, cut: float) -> tuple[Comparison, ...]:
    """Return the comparisons of a third-party randomizer; raise ValueError if they are not valid."""
    name = f"randomizer: {type(randomizer).__name__}.comparisons"
    comparisons = call_function(name, randomizer.comparisons, side, cut)
    members = ("law", "uncovered", "spread")
    if (
        not isinstance(comparisons, tuple)
        or not comparisons
        or not all(
            call_function(name, hasattr, comparison, member)
            for comparison in comparisons
            for member in members
        )
    ):
        raise ValueError(
            f"{name} must return a tuple of comparisons, at least one, got {format_value(comparisons)}."
        )
    for comparison in comparisons:
        values, masses = call_function(
            f"{name}: law", lambda comparison: map(np.asarray, comparison.law(0.0, side)), comparison
        )
        numbers_of(f"{name}: values of law", values, np.shape(masses))
        total = numbers_of(f"{name}: masses of law", masses, np.shape(values), 0.0, 1.0).sum()
        if total > 1 + 1e-9:
            raise ValueError(f"{name}: masses of law must be at most 1 in all, got {total:.9g}.")
        numbers_of(f"{name}: uncovered", comparison.uncovered(0.0, side), (), 0.0, 1.0)
    return cast("tuple[Comparison, ...]", comparisons)


def _reduced(
    randomizer: Randomizer, law: Law, eps: float, side: Side, gap: float, cut: float, floor: float = 0.0
) -> float:
    comparisons = _comparisons(randomizer, side, cut)
    if len(comparisons) == 1 or gap >= COARSE:
        return max(compared_delta(c, law, eps, side, gap, floor) for c in comparisons)
    # Evaluate all comparisons roughly on the same side, and then finely if a comparison may have the largest delta.
    glances = [compared_delta(c, law, eps, side, COARSE, floor) for c in comparisons]
    if side == "lower":  # any of them is one
        return compared_delta(comparisons[int(np.argmax(glances))], law, eps, side, gap, floor)
    enough = 0.98 * max(glances)
    return max(
        compared_delta(c, law, eps, side, gap, floor) if glance >= enough else glance
        for c, glance in zip(comparisons, glances, strict=True)
    )


def compared_delta(
    comparison: Comparison, law: Law, eps: float, side: Side, gap: float = FINE, floor: float = 0.0
) -> float:
    """Return a bound on delta of one comparison, on the given side and within about `gap` relative. The eps is in [0,
    350] nats. Below `floor`, the result is still a bound, but has no stated accuracy.
    """
    values, masses = comparison.law(eps, side)
    uncovered = comparison.uncovered(eps, side)

    if isinstance(comparison, Cells):
        gap = max(gap, _CELLS_GAP)

    def per_user(scale: float, masses: NDArray[np.float64], copies: float, poisson: bool = False) -> float:
        summands = Summands(values, masses, copies, poisson)
        return expected_positive_part(summands, side, gap=gap, floor=floor * scale) / scale

    def fixed(others: int) -> float:
        return per_user(others + 1, masses, others + 1)

    if isinstance(law, Binomial) and law.mean > 0:
        value = per_user(law.rate * (law.trials + 1), law.rate * masses, law.trials + 1)
    elif isinstance(law, Poisson) and law.mean > 0:
        value = per_user(law.mean, masses, law.mean, poisson=True)
    else:
        value = _averaged(fixed, law, side)
    return min(value + uncovered, 1.0)


def _averaged(delta_of: Callable[[int], float], law: Law, side: Side) -> float:
    """Return a bound on the mean of a delta that falls with the number of other users. Numbers are put into groups.
    Each group counts as its smallest number (upper) or its largest number (lower).
    """
    if isinstance(law, Fixed):
        return delta_of(law.others)
    window = law.window(1e-30)
    cuts = np.unique(np.linspace(0, window.pmf.size, _GROUPS + 1).astype(int))
    total = window.omitted * delta_of(0) if side == "upper" else 0.0
    for start, stop in pairwise(cuts.tolist()):
        at = window.start + (start if side == "upper" else stop - 1)
        total += float(np.sum(window.pmf[start:stop])) * delta_of(at)
    return total
