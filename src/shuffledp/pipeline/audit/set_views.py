"""Views of the protocols for sets, from the definitions of their messages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, islice, product
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.segmented.plans import SegmentedPlan
from shuffledp.pipeline.audit.finite_laws import (
    MOST_CELLS,
    Block,
    Own,
    multinomial_counts,
    point,
    poisson_counts,
)
from shuffledp.pipeline.audit.views import Held, ProductView, SumView, View, ViewCase
from shuffledp.protocols.base import ProtocolBase
from shuffledp.tasks import Public, even_sizes

if TYPE_CHECKING:
    from shuffledp.protocols.sets._separate import SeparateLevels
    from shuffledp.protocols.sets._subset import SubsetReports
    from shuffledp.protocols.sets.balls_into_bins import BallsIntoBins
    from shuffledp.protocols.sets.segmented import Segmented

#: Number of possible inputs of the others up to which all are enumerated; beyond it, evenly spaced inputs are selected.
_MOST_OTHERS = 60
#: Number of users up to which every number is enumerated, if more users than planned take part.
_MOST_USERS = 6
#: Number of cells of the laws of blanket messages of all items; beyond it only two items are counted.
_CELLS = 150_000


def _spread(others: Iterator[Held]) -> tuple[Held, ...]:
    choices = list(islice(others, 20_000))
    step = max(1, math.ceil(len(choices) / _MOST_OTHERS))
    return tuple(dict.fromkeys([*choices[::step], choices[-1]]))


def level_cases(
    sets: int,
    sizes: Sequence[int],
    eps: Sequence[float],
    pairs: Sequence[tuple[int, int]],
    *,
    shifts: bool,
) -> Iterator[ViewCase]:
    """Yield the cases for each level of user 1; the other inputs fill the remaining places of the levels."""
    for level, size in enumerate(sizes):
        if size == 0:
            continue
        other_sizes = [n - (i == level) for i, n in enumerate(sizes)]
        choices = [
            [
                tuple(i * sets + x for x in sets_of_level)
                for sets_of_level in combinations_with_replacement(range(sets), n)
            ]
            for i, n in enumerate(other_sizes)
        ]
        crowds = (tuple(x for part in parts for x in part) for parts in product(*choices))
        others = (next(crowds),) if shifts else _spread(crowds)
        for a, b in pairs:
            first, second = level * sets + a, level * sets + b
            yield ViewCase(eps[level], first, second, others)
            yield ViewCase(eps[level], second, first, others)


def _blankets(plan: SegmentedPlan, items: Sequence[int]) -> tuple[Block, ...]:
    """Return the laws of all users' blanket messages: one Poisson law per item, or one joint multinomial law."""
    if plan.blanket_law == "poisson":
        return (poisson_counts(plan.n * plan.blankets / plan.domain_size),) * len(items)
    slots, chance = plan.n * plan.slots.count, plan.slots.rate / plan.domain_size
    return (multinomial_counts(slots, [chance] * len(items)),)


def _reported(
    plan: SegmentedPlan, items: Sequence[int], user_set: Sequence[int], rate: float
) -> tuple[Own, ...]:
    """Return the laws of a user's messages for some items; the user sends each own item with probability `rate`."""
    if plan.blanket_law == "poisson":
        return tuple(_coin(rate if item in user_set else 0.0) for item in items)
    mine = [i for i, item in enumerate(items) if item in user_set]
    law: dict[tuple[int, ...], float] = {}
    for sent in product((0, 1), repeat=len(mine)):
        chance = math.prod(rate if s else 1 - rate for s in sent)
        place = [0] * len(items)
        for i, s in zip(mine, sent, strict=True):
            place[i] = s
        if chance > 0:
            law[tuple(place)] = chance
    return (law,)


def _coin(rate: float) -> Own:
    return {(s,): chance for s, chance in ((0, 1 - rate), (1, rate)) if chance > 0}


def _counted_items(plans: Sequence[SegmentedPlan]) -> tuple[int, ...]:
    """Return the counted items: all, or two if slots make the joint law of all counts too large."""
    d = plans[0].domain_size
    for plan in plans:
        if plan.blanket_law == "binomial":
            trials, rate = plan.n * plan.slots.count, plan.slots.rate / d
            width = min(trials + 1, int(18 * math.sqrt(trials * rate * (1 - rate))) + 20)
            if width**d > min(_CELLS, MOST_CELLS):
                return tuple(range(min(d, 2)))
    return tuple(range(d))


def _set_view(
    plans: Sequence[SegmentedPlan],
    rates: Sequence[float],
    sizes: Sequence[int],
    eps: Sequence[float],
    *,
    labeled: bool,
) -> View:
    """Return the view of items sent at the level's rate among blanket messages, with or without labels of levels.

    `plans` has the plans of every level with users if messages are labeled, otherwise of all users. For every level,
    `rates` has the probability of sending an item, `sizes` the number of users, and `eps` the claimed eps.
    """
    d, s = plans[0].domain_size, plans[0].set_size
    items = _counted_items(plans)
    sets = list(combinations(range(d), s))
    groups = [level for level, n in enumerate(sizes) if n > 0] if labeled else [0]
    pairs = [
        (a, b)
        for a, b in combinations(range(len(sets)), 2)
        if len(items) == d or set(sets[a]) ^ set(sets[b]) == set(items)
    ]
    inputs = [(level, user_set) for level in range(len(sizes)) for user_set in sets]

    def noise(n: int) -> tuple[Block, ...]:
        return tuple(block for plan in plans for block in _blankets(plan, items))

    def own(level: int, user_set: Sequence[int]) -> tuple[Own, ...]:
        parts: list[Own] = []
        for group, plan in zip(groups, plans, strict=True):
            mine = user_set if not labeled or group == level else ()
            parts += _reported(plan, items, mine, rates[level])
        return tuple(parts)

    def counts(payload: NDArray[Any]) -> list[tuple[int, ...]]:
        table = np.bincount(np.asarray(payload, np.int64), minlength=d * len(sizes)).reshape(-1, d)
        tallies: list[tuple[int, ...]] = []
        for group, plan in zip(groups, plans, strict=True):
            row = tuple(int(table[group, item]) for item in items)
            tallies += [(x,) for x in row] if plan.blanket_law == "poisson" else [row]
        return tallies

    whole = all(rates[level] == 1 for level, n in enumerate(sizes) if n > 0)
    is_cut = math.prod(math.comb(n + len(sets) - 1, n) for n in sizes) > _MOST_OTHERS
    left_out = ["two items counted"] if len(items) < d else []
    if is_cut and not whole:
        left_out.append("some data sets of the other users")
    return ProductView(
        inputs=tuple(inputs),
        eps=eps[0],
        note="; ".join(left_out),
        most=max(plans[0].n, _MOST_USERS),
        with_levels=True,
        listed=lambda n: level_cases(len(sets), sizes, eps, pairs, shifts=whole),
        noise=noise,
        own=tuple(own(level, user_set) for level, user_set in inputs),
        counts=counts,
        shifts=whole,
    )


def balls_into_bins(protocol: BallsIntoBins, eps: float, levels: Sequence[float]) -> View:
    """Return the view of items that are sent without noise."""

    def among(n: int) -> View:
        return _set_view([replace(protocol.plan, level_sizes=(n,))], [1.0], [n], [eps], labeled=False)

    return replace(among(protocol.plan.n), by_number=among)


def segmented(protocol: Segmented, eps: float, levels: Sequence[float]) -> View | str:
    """Return the view of items sent at the level's rate; the numbers of users per level are known."""
    if protocol.announcing is not None:
        return "the first round is a separate protocol, and the data round depends on its result"

    def among(n: int) -> View:
        plan = _announced(protocol, n, len(levels)).plan
        return _set_view([plan], plan.rates, plan.level_sizes, levels, labeled=False)

    return replace(among(protocol.plan.n), by_number=among)


def separate(protocol: SeparateLevels, eps: float, levels: Sequence[float]) -> View:
    """Return the view of one balls-into-bins protocol per level; each message has its level."""

    def among(n: int) -> View:
        announced = _announced(protocol, n, len(levels))
        return _set_view(
            announced.plan.groups, [1.0] * len(levels), announced.level_sizes, levels, labeled=True
        )

    return replace(among(protocol.plan.n), by_number=among)


S = TypeVar("S", bound=ProtocolBase)


def _announced(protocol: S, n: int, levels: int) -> S:
    return protocol.refine(Public(np.array([n]), np.array([even_sizes(n, levels)], float)))


def subsets(protocol: SubsetReports, eps: float, levels: Sequence[float]) -> View:
    """Return the view of one k-subset per user; subsets that meet the user's set weigh ``e^eps_local``, others 1."""
    mechanism = protocol.mechanism
    d, s, k = mechanism.domain_size, mechanism.set_size, mechanism.subset_size
    messages = list(combinations(range(d), k))
    inputs = list(combinations(range(d), s))
    axes = len(messages) - 1

    def own(user_set: Sequence[int]) -> Own:
        weights = [1.0 if set(m) & set(user_set) else math.exp(-mechanism.eps_local) for m in messages]
        return {tuple(int(j == i) for j in range(axes)): w / sum(weights) for i, w in enumerate(weights)}

    code = {message: i for i, message in enumerate(messages)}

    def kinds(payload: NDArray[Any]) -> NDArray[np.int64]:
        return np.array([code[tuple(row)] for row in payload.tolist()], np.int64)

    return SumView(
        inputs=tuple(inputs),
        eps=eps,
        alone=protocol.trust == "local",
        noise=lambda n: point(axes),
        own=tuple(own(user_set) for user_set in inputs),
        kinds=kinds,
    )


VIEWS: Mapping[str, Callable[..., View | str]] = {
    "sets.balls_into_bins.BallsIntoBins": balls_into_bins,
    "sets.segmented.Segmented": segmented,
    "sets._separate.SeparateLevels": separate,
    "sets._subset.SubsetReports": subsets,
}
