"""Calibrations and errors of the baselines of the segmented protocol.

Balls-into-bins (MM)
    Users send all their items and uniform blanket messages: the segmented protocol with one level and rate 1. Source:
    Luo, Wang and Yi 2022, for one item.
Separate balls-into-bins (SepMM)
    One protocol per privacy level, for the users of the level; the estimates are averaged.

Conventions: eps in nats; replacement neighbors; errors are sums over the d items of squared errors of relative
frequencies, ``spread = sum_j w_j (1 - w_j)`` for true frequencies w. Source of the comparison: arXiv 2407.19639,
Section 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np
from scipy.special import gammainc

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.segmented.items import item_delta
from shuffledp.accounting.segmented.plans import (
    SEGMENTED_ACCOUNTINGS,
    SegmentedPlan,
    blanket_law_of,
    full_reporting,
)
from shuffledp.accounting.segmented.set_errors import Truth, checked_spread, sampling_sse
from shuffledp.numerics.argument_ranges import (
    Count,
    Delta,
    Eps,
    FromOne,
    FromTwo,
    checked,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import poisson_window

Calibration = Literal["variation_ratio", "numeric", "analytic"]
GroupWeights = Literal["equal", "printed", "inverse_variance"]
GROUP_WEIGHTS: tuple[str, ...] = get_args(GroupWeights)

_REMEMBERED = 1024
_XTOL = 1e-10


def mm_plan(
    n: FromOne,
    domain_size: FromTwo,
    set_size: FromOne,
    eps: Eps,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(SEGMENTED_ACCOUNTINGS)] = "exact",
    calibration: Calibration = "variation_ratio",
) -> SegmentedPlan:
    """Return the parameters of balls-into-bins with the same budget for all users.

    Source: Luo, Wang and Yi 2022, for one item; Wang et al. 2024, arXiv 2407.19639, Section 6 and Lemma 1.

    Parameters
    ----------
    n, domain_size, set_size, eps, delta, accounting
        As in :func:`shuffledp.accounting.segmented.plans.full_reporting`; eps in nats.
    calibration : {"variation_ratio", "numeric", "analytic"}
        ``variation_ratio``: m_k of the segmented protocol, with the fewest messages. The published calibrations are for
        one item at ``eps / s`` and the delta of group composition, with mu blanket messages per item. ``numeric`` is
        the smallest mu with ``Pr[X + 1 >= e^eps Y] <= delta`` for X, Y ~ Poisson(mu); ``analytic`` is ``mu = 32 ln(2 /
        delta) / eps^2``. In the paper's settings ``numeric`` has 1.5 to 1.7 times, and ``analytic`` 15 to 17 times, the
        messages of ``variation_ratio``.

    Returns
    -------
    SegmentedPlan
        With one level and rate 1. For ``variation_ratio`` the number of blanket messages is rounded up; for the
        published calibrations it is an estimate.

    Raises
    ------
    Infeasible
        If a user would need more than 1e9 blanket messages, if a sum does not fit into memory, or for a published
        calibration with accounting ``exact``, which does not compose by groups.
    """
    if calibration == "variation_ratio":
        blankets = full_reporting(n, domain_size, set_size, eps, delta, accounting=accounting)
    elif accounting == "exact":
        raise Infeasible(
            f"The {calibration} calibration has no exact accounting: it is for one item. Use 'variation_ratio'."
        )
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


@dataclass(frozen=True)
class SeparatePlan:
    """Parameters of separate balls-into-bins protocols whose estimates are averaged.

    Source: Wang et al. 2024, arXiv 2407.19639, Section 6; `expected_sse` is exact.

    Parameters
    ----------
    groups : tuple of SegmentedPlan
        One plan per privacy level. Each plan has a single level.
    weights : tuple of float
        Weights of the groups' estimates, positive, with the sum 1.
    """

    groups: tuple[SegmentedPlan, ...]
    weights: tuple[float, ...]

    @property
    def n(self) -> int:
        """Number of all users."""
        return sum(group.n for group in self.groups)

    @checked
    def expected_sse(self, spread: float | None = None, *, truth: Truth = "empirical") -> float:
        """Return the expected sum of squared errors; parameters as in :meth:`SegmentedPlan.expected_sse`."""
        spread = checked_spread(spread, self.groups[0].domain_size, self.groups[0].set_size)
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
    weights: Annotated[str, one_of(GROUP_WEIGHTS)] = "equal",
    accounting: Annotated[str, one_of(SEGMENTED_ACCOUNTINGS)] = "exact",
    calibration: Calibration = "variation_ratio",
    spread: float | None = None,
) -> SeparatePlan:
    """Return the parameters of one balls-into-bins protocol per privacy level.

    Source: Wang et al. 2024, arXiv 2407.19639, Section 6.

    Parameters
    ----------
    level_sizes : sequence of int
        Number n_k of users of each level, >= 0, at least one user in total. Levels without users have no group.
    eps : sequence of float
        Budgets of the levels, nats, > 0.
    delta : float
        Delta of every user, in (0, 1).
    domain_size, set_size, accounting, calibration
        As in :func:`mm_plan`.
    weights : {"equal", "printed", "inverse_variance"}
        ``equal``: SepMM. ``printed``: Weighted SepMM, the inverse standard deviations
        ``1 / sqrt(d s^2 ln(1/delta) / (n_k eps_k)^2 + s / n_k)``; the paper writes n, which may mean n_k (reading note
        SEG-N6.4.7).
        ``inverse_variance``: the best weights, ``1 / (V_k + spread / n_k)``, V_k the blanket messages' variance.
    spread : float, optional
        ``sum_j w_j (1 - w_j)`` for ``inverse_variance``; its largest value, ``s (1 - s / d)``, if not given.

    Returns
    -------
    SeparatePlan
        Numbers of blanket messages are rounded up. Raises `Infeasible` as :func:`mm_plan`.
    """
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
