"""Calibrations and errors of what the segmented protocol is compared with.

Subset exponential mechanism
    A user sends a random subset of k items, ``e^eps`` times more likely if it shares an item with the user's own set.
    Local, or as one shuffled message with a larger local budget. Source: PrivSet (Wang et al. 2018).
Balls-into-bins (MM)
    All items as they are, and uniform blanket messages: the segmented protocol with one level and rate 1. Source: Luo,
    Wang and Yi 2022, for one item.
Separate balls-into-bins (SepMM)
    One protocol per privacy level, among the users of that level; the estimates are averaged.

Conventions: eps in nats; replacement neighbors; errors are sums over the d items of squared errors of relative
frequencies, ``spread = sum_j w_j (1 - w_j)`` for true frequencies w. Source of the comparison: arXiv 2407.19639,
Section 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from scipy.special import gammainc

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.sets import TRUTHS, checked_spread, inclusion_sse, sampling_sse
from shuffledp.accounting.general.labeled_counts import Labels, binomial_blanket, pair_delta
from shuffledp.accounting.public_functions import check_fields, guarded_methods
from shuffledp.accounting.segmented.items import item_delta
from shuffledp.accounting.segmented.plans import (
    SEGMENTED_ACCOUNTINGS,
    SegmentedPlan,
    blanket_law_of,
    full_reporting,
)
from shuffledp.numerics.argument_ranges import (
    Count,
    Delta,
    Eps,
    FromOne,
    FromTwo,
    check_budget,
    check_choice,
    check_count,
    check_nonnegative,
    check_positive,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import poisson_window

if TYPE_CHECKING:
    from collections.abc import Sequence

Calibration = Literal["variation_ratio", "numeric", "analytic"]
CALIBRATIONS: tuple[str, ...] = get_args(Calibration)
GroupWeights = Literal["equal", "printed", "inverse_variance"]
GROUP_WEIGHTS: tuple[str, ...] = get_args(GroupWeights)
Selection = Literal["error", "published_code"]
SELECTIONS: tuple[str, ...] = get_args(Selection)

_REMEMBERED = 1024
_XTOL = 1e-10
#: Largest local budget that is searched.
_MOST_LOCAL = 50.0
#: Relative rounding error of an expected error, far from below.
_ROUNDING = 1e-6


@guarded_methods
@dataclass(frozen=True)
class SubsetExponential:
    """Subset exponential mechanism.

    Parameters
    ----------
    domain_size, set_size : int
        Items d, and items per user s, ``1 <= s < d``.
    subset_size : int
        Items per message k, in [1, d - s].
    eps_local : float
        Local budget, nats.

    Notes
    -----
    Wang et al. 2018 (PrivSet). All properties are exact.
    """

    domain_size: int
    set_size: int
    subset_size: int
    eps_local: float

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("domain_size", "set_size", "subset_size"):
            check_count(name, getattr(self, name), 1)
        check_nonnegative("eps_local", self.eps_local)

    @property
    def miss(self) -> float:
        """Share of the subsets that have no item in common with a given set."""
        return math.exp(_log_miss(self.domain_size, self.subset_size, range(self.set_size)))

    @property
    def _total(self) -> float:
        """Sum of all weights, in units of ``e^eps_local`` times the number of subsets."""
        miss = _log_miss(self.domain_size, self.subset_size, range(self.set_size))
        return -math.expm1(miss) + math.exp(miss - self.eps_local)

    @property
    def own_rate(self) -> float:
        """Probability that the message holds a given item of the user's."""
        return self.subset_size / self.domain_size / self._total

    @property
    def other_rate(self) -> float:
        """Probability that the message holds a given item that the user does not have."""
        d, k = self.domain_size, self.subset_size
        without = _log_miss(d - 1, k - 1, range(self.set_size))  # given that it holds the item
        return k / d * (-math.expm1(without) + math.exp(without - self.eps_local)) / self._total

    @property
    def distance(self) -> float:
        """Largest total variation between the messages of two sets, beta of the variation-ratio reduction."""
        d, s, k = self.domain_size, self.set_size, self.subset_size
        only_one = -math.expm1(
            _log_miss(d, k, range(s, min(2 * s, d)))
        )  # meets the other set, given this is missed
        return -math.expm1(-self.eps_local) * only_one * self.miss / self._total

    def expected_sse(self, n: int, spread: float | None = None, *, truth: str = "empirical") -> float:
        """Return the exact expected error of n users; parameters as in :meth:`SegmentedPlan.expected_sse`.

        Against the frequencies of the n users it does not depend on `spread`.
        """
        n = check_count("n", n, 1)
        spread = checked_spread(spread, self.domain_size, self.set_size)
        check_choice("truth", truth, TRUTHS)
        population = spread if truth == "population" else 0.0
        others = self.domain_size - self.set_size
        return (inclusion_sse(self.own_rate, self.other_rate, self.set_size, others) + population) / n


def _log_miss(domain_size: int, subset_size: int, items: range) -> float:
    """Log of the probability that a uniform subset misses these of the items in a row, having missed those before.

    ``prod (d - k - i) / (d - i)``: ratios of binomial coefficients, which themselves need not fit into floats.
    """
    if subset_size > domain_size - items.stop:
        return -math.inf
    return math.fsum(math.log1p(-subset_size / (domain_size - i)) for i in items)


def local_subset_exponential(
    domain_size: int, set_size: int, eps_local: float, *, selection: str = "error"
) -> SubsetExponential:
    """Return the subset exponential mechanism with the best number of items per message.

    Parameters
    ----------
    domain_size, set_size : int
        Items d >= 2, and items per user s in [1, d - 1].
    eps_local : float
        Local budget, nats, > 0.
    selection : {"error", "published_code"}
        ``error``: smallest expected error. ``published_code``: the rule of the authors' code, which counts one item
        of the user instead of s; the error differs by little.

    Returns
    -------
    SubsetExponential
        Exact: all numbers of items are tried.

    Notes
    -----
    Wang et al. 2018 (PrivSet).
    """
    domain_size, set_size = _check_sets(domain_size, set_size)
    eps_local = check_positive("eps_local", eps_local)
    check_choice("selection", selection, SELECTIONS)
    members = set_size if selection == "error" else 1

    def error(mechanism: SubsetExponential) -> float:
        return inclusion_sse(mechanism.own_rate, mechanism.other_rate, members, domain_size - members)

    sizes = range(1, domain_size - set_size + 1)
    return min((SubsetExponential(domain_size, set_size, k, eps_local) for k in sizes), key=error)


def shuffled_subset_exponential(
    n: int, domain_size: int, set_size: int, eps: float, delta: float, *, sound: bool
) -> SubsetExponential:
    """Return the subset exponential mechanism whose n shuffled messages are (eps, delta)-private.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    domain_size, set_size : int
        Items d >= 2, and items per user s in [1, d - 1].
    eps : float
        Nats, > 0. One message carries the whole set, so that nothing is composed.
    delta : float
        In (0, 1).
    sound : bool
        False: the variation-ratio theorem as the paper uses it, which is not valid in general here. True: what
        replaces it. See :mod:`shuffledp.accounting.general.variation_ratio`; there is no default.

    Returns
    -------
    SubsetExponential
        With the number of items per message whose expected error is smallest and, for that, the largest local budget
        (rounded down by 1e-10 relative, at most 50). Meets its budget if `sound`.

    Notes
    -----
    Wang et al. 2024, arXiv 2407.19639, Theorem 1 and Section 6; the sound form is derived for this project.
    """
    n = check_count("n", n, 1)
    domain_size, set_size = _check_sets(domain_size, set_size)
    eps, delta = check_budget(eps, delta)
    return _shuffled(n, domain_size, set_size, eps, delta, bool(sound))


@remember(_REMEMBERED)
def _shuffled(
    n: int, domain_size: int, set_size: int, eps: float, delta: float, sound: bool
) -> SubsetExponential:
    best: SubsetExponential | None = None
    guess = eps
    for k in range(1, domain_size - set_size + 1):
        # A smaller budget is this one mixed with uniform subsets: the error is not less than that of the largest one.
        least = SubsetExponential(domain_size, set_size, k, max(_MOST_LOCAL, 2 * eps)).expected_sse(n)
        if best is not None and least * (1 - _ROUNDING) > best.expected_sse(n):
            continue
        guess = _largest_local(n, domain_size, set_size, k, eps, delta, sound, guess)
        found = SubsetExponential(domain_size, set_size, k, guess)
        if best is None or found.expected_sse(n) < best.expected_sse(n):
            best = found
    assert best is not None
    return best


def _largest_local(
    n: int, domain_size: int, set_size: int, k: int, eps: float, delta: float, sound: bool, guess: float
) -> float:
    def excess(log_local: float) -> float:
        mechanism = SubsetExponential(domain_size, set_size, k, math.exp(log_local))
        labels, rate, factor = reduced_pair(mechanism, sound)
        return log_ratio(factor * pair_delta(binomial_blanket(n - 1, rate, tail), labels, eps), delta)

    tail = negligible(delta)

    # A local budget of eps needs no amplification.
    low, high = math.log(eps), math.log(max(_MOST_LOCAL, 2 * eps))
    if excess(high) <= 0:
        return math.exp(high)
    return math.exp(root_below(excess, max(math.log(guess), low + 0.1), low, high, xtol=_XTOL))


def reduced_pair(mechanism: SubsetExponential, sound: bool) -> tuple[Labels, float, float]:
    """Return the labels of the variation-ratio pair, with which probability another message hides each, and a factor.

    ``p = q = e^eps_local``. If `sound`, the pair is that of a victim without residual component, and its delta is to be
    multiplied by the factor; else the factor is 1. See :mod:`shuffledp.accounting.general.variation_ratio`.

    Returns
    -------
    tuple
        The delta of the pair times the factor is an upper bound if `sound`, an estimate otherwise.

    Notes
    -----
    Wang et al. 2024, arXiv 2407.19639, Theorem 1; the sound form is derived for this project.
    """
    decay, beta = math.exp(-mechanism.eps_local), mechanism.distance
    larger, most = -1 / math.expm1(-mechanism.eps_local), math.tanh(mechanism.eps_local / 2)
    own = beta * larger
    if sound:
        return Labels(1 / (1 + decay), decay / (1 + decay), 0.0), own * decay, beta / most
    return Labels(own, own * decay, max(1 - beta / most, 0.0)), own * decay, 1.0


def has_residual(mechanism: SubsetExponential) -> bool:
    """Whether a message may come from a component that depends on neither of two inputs, beyond rounding.

    Returns
    -------
    bool
        Exact up to rounding.

    Notes
    -----
    Derived for this project.
    """
    return reduced_pair(mechanism, sound=False)[0].silent > 1e-12


def mm_plan(
    n: FromOne,
    domain_size: FromTwo,
    set_size: FromOne,
    eps: Eps,
    delta: Delta,
    *,
    accounting: str = "exact",
    calibration: str = "variation_ratio",
) -> SegmentedPlan:
    """Return the parameters of balls-into-bins with one budget for all.

    Parameters
    ----------
    n, domain_size, set_size, eps, delta, accounting
        As in :func:`shuffledp.accounting.segmented.plans.full_reporting`; eps in nats.
    calibration : {"variation_ratio", "numeric", "analytic"}
        ``variation_ratio``: m_k of the segmented protocol, the strongest version of this competitor. The others are
        the published ones, for one item at ``eps / s`` and the delta of group composition, with mu blanket messages
        per item: ``numeric`` is the smallest mu with ``Pr[X + 1 >= e^eps Y] <= delta`` for X, Y ~ Poisson(mu),
        ``analytic`` is ``mu = 32 ln(2 / delta) / eps^2``. They need 1.5 to 1.7 and 15 to 17 times as many in the
        settings of the paper.

    Returns
    -------
    SegmentedPlan
        With one level and rate 1. For ``variation_ratio`` the number of blanket messages is rounded up; the published
        ones are estimates.

    Raises
    ------
    Infeasible
        If more than 1e9 blanket messages per user would be needed, a sum does not fit into memory, or a published
        calibration is asked for with accounting ``exact``, which does not compose by groups.

    Notes
    -----
    Luo, Wang and Yi 2022, for one item; Wang et al. 2024, arXiv 2407.19639, Section 6 and Lemma 1.
    """
    check_choice("accounting", accounting, SEGMENTED_ACCOUNTINGS)
    check_choice("calibration", calibration, CALIBRATIONS)
    if calibration == "variation_ratio":
        blankets = full_reporting(n, domain_size, set_size, eps, delta, accounting=accounting)
    elif accounting == "exact":
        raise Infeasible(f"The {calibration} calibration is for one item and is composed by groups.")
    else:
        item = item_delta(eps, delta, set_size)
        published = _analytic_mean if calibration == "analytic" else _numeric_mean
        blankets = published(eps / set_size, item) * domain_size / n
    law = blanket_law_of(accounting)
    return SegmentedPlan((n,), (eps,), delta, (1.0,), blankets, domain_size, set_size, accounting, law)


def _analytic_mean(eps: float, delta: float) -> float:
    return 32 * math.log(2 / delta) / eps**2


@remember(_REMEMBERED)
def _numeric_mean(eps: float, delta: float) -> float:
    def excess(minus_log_mean: float) -> float:
        mean = math.exp(-minus_log_mean)
        window = poisson_window(mean, negligible(delta))
        least = np.ceil(math.exp(eps) * window.support - 1)
        tail = np.where(least > 0, gammainc(np.maximum(least, 1.0), mean), 1.0)  # Pr[X >= least]
        return log_ratio(float(window.pmf @ tail), delta)

    guess = -2 * math.log(math.sqrt(-2 * math.log(delta)) / eps)
    return math.exp(-root_below(excess, guess, -math.inf, math.inf, xtol=_XTOL))


@guarded_methods
@dataclass(frozen=True)
class SeparatePlan:
    """Parameters of separate balls-into-bins protocols whose estimates are averaged.

    Parameters
    ----------
    groups : tuple of SegmentedPlan
        One per privacy level, each with one level.
    weights : tuple of float
        Weights of their estimates, positive, adding up to 1.

    Notes
    -----
    Wang et al. 2024, arXiv 2407.19639, Section 6; `expected_sse` is exact.
    """

    groups: tuple[SegmentedPlan, ...]
    weights: tuple[float, ...]

    @property
    def n(self) -> int:
        """All users."""
        return sum(group.n for group in self.groups)

    def expected_sse(self, spread: float | None = None, *, truth: str = "empirical") -> float:
        """Return the expected error; parameters as in :meth:`SegmentedPlan.expected_sse`."""
        spread = checked_spread(spread, self.groups[0].domain_size, self.groups[0].set_size)
        check_choice("truth", truth, TRUTHS)
        pairs = list(zip(self.groups, self.weights, strict=True))
        blanket = sum(weight**2 * group.blanket_sse() for group, weight in pairs)
        squares = sum(weight**2 / group.n for group, weight in pairs)
        return blanket + sampling_sse(squares, self.n, spread, truth)


def sep_mm_plan(
    level_sizes: Sequence[Count],
    eps: Sequence[Eps],
    delta: Delta,
    domain_size: FromTwo,
    set_size: FromOne,
    *,
    weights: str = "equal",
    accounting: str = "exact",
    calibration: str = "variation_ratio",
    spread: float | None = None,
) -> SeparatePlan:
    """Return the parameters of one balls-into-bins protocol per privacy level.

    Parameters
    ----------
    level_sizes : sequence of int
        Users n_k of each level, >= 0, at least one user in all. Levels without users have no group.
    eps : sequence of float
        Budgets of the levels, nats, > 0.
    delta : float
        Of every user, in (0, 1).
    domain_size, set_size, accounting, calibration
        As in :func:`mm_plan`.
    weights : {"equal", "printed", "inverse_variance"}
        ``equal``: SepMM. ``printed``: Weighted SepMM, ``1 / sqrt(d s^2 ln(1/delta) / (n_k eps_k)^2 + s / n_k)``; the
        paper writes n, which may mean n_k (reading note SEG-N6.4.7). These are inverse standard deviations.
        ``inverse_variance``: the best ones, ``1 / (V_k + spread / n_k)`` with the variance V_k of the blanket messages.
    spread : float, optional
        ``sum_j w_j (1 - w_j)`` for the inverse variances; the largest possible, ``s (1 - s / d)``, if left out.

    Returns
    -------
    SeparatePlan
        Numbers of blanket messages are rounded up.

    Raises
    ------
    Infeasible
        As :func:`mm_plan`.

    Notes
    -----
    Wang et al. 2024, arXiv 2407.19639, Section 6.
    """
    check_choice("weights", weights, GROUP_WEIGHTS)
    spread = checked_spread(spread, domain_size, set_size)
    if len(level_sizes) != len(eps) or sum(level_sizes) == 0:
        raise ValueError(
            f"level_sizes and eps must have the same length and hold at least one user, got {level_sizes!r} and "
            f"{eps!r}."
        )
    groups = tuple(
        mm_plan(n, domain_size, set_size, e, delta, accounting=accounting, calibration=calibration)
        for n, e in zip(level_sizes, eps, strict=True)
        if n > 0
    )
    if weights == "equal":
        raw = [1.0] * len(groups)
    elif weights == "printed":
        raw = [_printed_weight(group) for group in groups]
    else:
        errors = [group.blanket_sse() + spread / group.n for group in groups]
        # Where everybody holds all items, there is no error whatever the weights.
        raw = [1 / error for error in errors] if min(errors) > 0 else [float(error == 0) for error in errors]
    return SeparatePlan(groups, tuple(w / sum(raw) for w in raw))


def _printed_weight(group: SegmentedPlan) -> float:
    noise = group.domain_size * group.set_size**2 * -math.log(group.delta) / (group.n * group.eps[0]) ** 2
    return 1 / math.sqrt(noise + group.set_size / group.n)


def _check_sets(domain_size: int, set_size: int) -> tuple[int, int]:
    """Both as whole numbers."""
    domain_size, set_size = check_count("domain_size", domain_size, 2), check_count("set_size", set_size, 1)
    if set_size >= domain_size:
        raise ValueError(f"set_size must be below domain_size = {domain_size}, got {set_size}.")
    return domain_size, set_size
