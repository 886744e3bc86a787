"""Guarantee of a shuffled batch for a population with a known lower tail only.

Delta is averaged over the smallest number of users that the population allows, see
:mod:`shuffledp.accounting.general.random_users`. For each number it is the delta of the randomizer's blanket, or of the
clones. Conventions: eps in nats; replacement neighbors; a population describes the *other* users. Derived for this
project; upper bounds.
"""

from __future__ import annotations

import math

from shuffledp.accounting.general.blanket import population_delta
from shuffledp.accounting.general.clones import OtherReports, exact_delta
from shuffledp.accounting.general.random_users import least_numbers, mixed_delta
from shuffledp.accounting.general.randomizers import Randomizer
from shuffledp.numerics.relative_sizes import log_ratio
from shuffledp.numerics.roots import root_below
from shuffledp.populations.base import Fixed, Population

#: Least eps that is searched, nats; relative tolerance of it.
_LEAST, _XTOL = 1e-9, 2e-5


def bounded_delta(
    report: Randomizer | str, population: Population, eps_local: float, eps: float, delta: float
) -> float:
    """Return an upper bound on delta that holds for every law that a population allows; 0 for ``eps >= eps_local``.

    `report` is a randomizer for its blanket, or the rate of the clones as in :func:`shuffledp.accounting.clone_rate`.
    Only the lower tail of `population`, the number of *other* users, is used. `delta` is the target: larger results are
    not resolved.
    """
    if eps >= eps_local:
        return 0.0

    def delta_of(others: int) -> float:
        if isinstance(report, Randomizer):
            return population_delta(report, Fixed(others), eps, "upper", delta)
        return exact_delta(OtherReports(Fixed(others), reduction=report), eps_local, eps)

    return mixed_delta(delta_of, least_numbers(population, delta), enough=2 * delta)


def bounded_epsilon(
    report: Randomizer | str, population: Population, eps_local: float, delta: float
) -> float:
    """Return the central eps, nats, for every law that a population allows; parameters as in :func:`bounded_delta`.

    It is at most `eps_local`, and rounded up by at most 2e-5 relative, in addition to the gap of the mean. Without
    local budget it is ``inf`` if no eps up to several hundred nats suffices.
    """
    most = min(eps_local, 300.0)

    def excess(minus_log_eps: float) -> float:  # increasing, as delta falls with eps
        return log_ratio(bounded_delta(report, population, eps_local, math.exp(-minus_log_eps), delta), delta)

    low, high = -math.log(most), -math.log(_LEAST)
    if math.isinf(eps_local) and excess(low) > 0:
        return math.inf
    return math.exp(-root_below(excess, low + 1.0, low, high, xtol=_XTOL))
