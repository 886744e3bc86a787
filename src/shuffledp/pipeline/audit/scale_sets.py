"""Deltas of the protocols for sets at any scale, from the items of two sets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from shuffledp.pipeline.audit import pairs
from shuffledp.pipeline.audit.finite_laws import Bounds, binomial_counts, largest, poisson_counts
from shuffledp.pipeline.audit.measured import (
    SPLIT,
    Measured,
    MissingProfileError,
    Profile,
    Side,
    alone,
    gains_of,
    number_of,
)
from shuffledp.populations.base import Law

if TYPE_CHECKING:
    from shuffledp.protocols.sets._separate import SeparateLevels
    from shuffledp.protocols.sets._subset import SubsetReports
    from shuffledp.protocols.sets.balls_into_bins import BallsIntoBins
    from shuffledp.protocols.sets.segmented import Segmented


def _items(plan: Any, rate: float, eps: float) -> Measured:
    """Return delta of the counts of the items in exactly one of two sets; the other users' set has none of them.

    The two sets differ in one item, or in as many items as leave a third set for the other users.
    """
    d, s = plan.domain_size, plan.set_size
    apart = min(s, (d - s) // 2)
    if apart < 1:
        raise MissingProfileError("too few items for a third set")
    bounds = []
    for items in sorted({1, apart}):
        if plan.blanket_law == "poisson":
            bounds.append(_of_poisson(2 * items * plan.n * plan.blankets / d, items, rate, eps))
        else:
            law = (plan.n * plan.slots.count, 2 * items * plan.slots.rate / d)
            bounds.append(_of_binomial(*law, items, rate, eps))
    side: Side = "exact" if s == 1 and rate == 1 else "lower"
    return Measured(largest(bounds), side, "messages of the items of two sets, added up for each")


# Of how users are spread over levels these know nothing: several such splits of one experiment share them.
@cache
def _of_poisson(mean: float, items: int, rate: float, eps: float) -> Bounds:
    return pairs.of_split(poisson_counts(mean), pairs.binomial_gains(items, rate), eps)


@cache
def _of_binomial(slots: int, share: float, items: int, rate: float, eps: float) -> Bounds:
    return pairs.of_split(binomial_counts(slots, share), pairs.binomial_gains(items, rate), eps)


def balls_into_bins(protocol: BallsIntoBins, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the counts of two sets' items, which are sent without noise."""
    return _items(replace(protocol.plan, level_sizes=(number_of(population),)), 1.0, eps)


def segmented(protocol: Segmented, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the counts of the items in one of two sets, which are sent at the level's rate."""
    number_of(population)
    if protocol.announcing is not None:
        raise MissingProfileError("the data round depends on the private first round")
    return _items(protocol.plan, protocol.plan.rates[level], eps)


def separate(protocol: SeparateLevels, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the messages with the level's label, which only users of this level send."""
    number_of(population)
    if protocol.level_sizes[level] == 0:
        return Measured(Bounds(0.0, 0.0), "exact", "a level without users")
    place = sum(1 for size in protocol.level_sizes[:level] if size > 0)
    return _items(protocol.plan.groups[place], 1.0, eps)


def subsets(protocol: SubsetReports, population: Law, level: int, eps: float) -> Measured:
    """Return delta of the counts of subsets that meet one of two sets; the other users' set is disjoint from both."""
    of = protocol.mechanism
    d, s, k, faint = of.domain_size, of.set_size, of.subset_size, math.exp(-of.eps_local)
    if 2 * s > d:
        raise MissingProfileError("no two disjoint sets")
    free = math.comb(d - s, k)  # subsets that avoid one set, of all of them; of two; of three
    avoid_two = math.comb(d - 2 * s, k)
    weight = math.comb(d, k) - free + faint * free
    mine, theirs = (free - avoid_two) / weight, faint * (free - avoid_two) / weight
    if protocol.trust == "local":
        return alone(mine, theirs, eps)
    if 3 * s > d:
        raise MissingProfileError("no three disjoint sets")
    clear = avoid_two - math.comb(d - 3 * s, k)
    stray = (free - avoid_two - clear + faint * clear) / weight
    total = binomial_counts(number_of(population) - 1, 2 * stray)
    return Measured(pairs.of_split(total, gains_of(mine, theirs), eps), "lower", SPLIT)


PROFILES: Mapping[str, Profile] = {
    "sets.balls_into_bins.BallsIntoBins": balls_into_bins,
    "sets.segmented.Segmented": segmented,
    "sets._separate.SeparateLevels": separate,
    "sets._subset.SubsetReports": subsets,
}
