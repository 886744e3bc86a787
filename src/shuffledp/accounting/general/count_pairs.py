r"""Hockey-stick divergence of two independent counts, of which one contains user 1's message.

Replacing user 1's value x by x' changes two counts only. Let ``held`` be the law of a count with user 1's message and
``absent`` the law of the count without it, each with all other messages. Then

.. math:: P = held \otimes absent' \quad\text{against}\quad Q = absent \otimes held',

.. math:: \delta = \sum_{a, b} \bigl( held(a)\, absent'(b) - e^\epsilon\, absent(a)\, held'(b) \bigr)^+ ,

where the prime marks the second count. The bracket is positive where the ratio ``held / absent`` at a exceeds ``e^eps``
times the ratio of the second count at b. With all a sorted by their ratio, every b needs two tail sums: O(N log N)
operations in all. If both counts have the same laws, exchanging them exchanges P and Q, so that both directions have
the same delta.

Adding or removing a user changes one count: *held* against *absent*, in both directions.

Both divergences are exact if the rest of the view has the same law under both inputs and is independent of the counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.numerics.argument_ranges import check_choice, check_nonnegative
from shuffledp.numerics.relative_sizes import raised, settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shuffledp.numerics.windows import Window

#: Beyond this e^eps overflows; the divergence no longer changes.
_MOST_EPS = 700.0

NEIGHBOURS = ("replace_one", "add_remove")


@dataclass(frozen=True, eq=False)
class MovingCount:
    """Two laws of one count, with user 1's value on this count (`held`) and without (`absent`). Both are masses of the
    same m values. `omitted` is an upper bound on the mass that either law omits. The masses have full relative
    accuracy.
    """

    held: NDArray[np.float64]
    absent: NDArray[np.float64]
    omitted: float = 0.0

    @property
    def log_ratio(self) -> NDArray[np.float64]:
        """``log(held / absent)`` of every value, (m,): inf or -inf if one mass is 0, nan if both are 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(self.held) - np.log(self.absent)

    @cached_property
    def sorted(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Ascending log ratios, (m,), and the masses of `held` and `absent` from each ratio on, (m + 1,)."""
        ratio = self.log_ratio
        order = np.argsort(ratio, kind="stable")
        order = order[~np.isnan(ratio[order])]
        return ratio[order], from_top(self.held[order]), from_top(self.absent[order])


def from_top(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for each index, the sum of all values from this index on, followed by a 0, (m + 1,)."""
    return np.concatenate((np.cumsum(values[::-1])[::-1], [0.0]))


def added_message(noise: Window, held: float = 1.0, absent: float = 0.0) -> MovingCount:
    """Return the laws of `noise` plus user 1's message. User 1's message is on this count with probability `held` if
    user 1 has the count's value, else with probability `absent`.
    """

    def with_message(rate: float) -> NDArray[np.float64]:
        law = np.zeros(noise.pmf.size + 1)
        law[:-1] = (1 - rate) * noise.pmf
        law[1:] += rate * noise.pmf
        return law

    return MovingCount(with_message(held), with_message(absent), noise.omitted)


def pair_delta(first: MovingCount, second: MovingCount, eps: float) -> float:
    """Return delta of ``held x absent'`` against ``absent x held'``, for independent counts and replacement neighbors.
    Omitted mass is added to delta. Otherwise the rounding error is about 1e-12 relative for up to 1e5 values.
    """
    ratio, held, absent = first.sorted
    eps = min(eps, _MOST_EPS)
    # Rounding may put a value on the wrong side of its threshold; there the bracket is zero.
    other = second.log_ratio
    possible = ~np.isnan(other)
    start = np.searchsorted(ratio, eps + other[possible], side="right")
    terms = second.absent[possible] * held[start] - math.exp(eps) * second.held[possible] * absent[start]
    total = float(np.sum(np.maximum(terms, 0.0)))
    return raised(total + first.omitted + second.omitted)


def worst_pair_delta(first: MovingCount, second: MovingCount, eps: float) -> float:
    """Return the larger delta of the two directions, as accurate as :func:`pair_delta`."""
    return max(pair_delta(first, second, eps), pair_delta(second, first, eps))


def single_delta(count: MovingCount, eps: float) -> float:
    """Return the larger delta of the two directions for one count with and without user 1's message. Neighbors: one
    user more or less, or one bit replaced. Omitted mass is added to delta. The rounding error is about 1e-12
    relative.
    """
    factor = math.exp(min(eps, _MOST_EPS))
    gaining = float(np.sum(np.maximum(count.held - factor * count.absent, 0.0)))
    losing = float(np.sum(np.maximum(count.absent - factor * count.held, 0.0)))
    return raised(max(gaining, losing) + count.omitted)


def settled_count_delta(
    count_at: Callable[[float], MovingCount], eps: float, neighbours: str = "replace_one"
) -> float:
    """Return delta of counts with the same laws; `count_at` maps the mass that may be omitted to these laws. With
    replacement neighbors, user 1 moves from one count to another; with ``add_remove``, user 1 is on one count or
    absent. The result is too large by at most 1e-12 relative, except below 1e-300.
    """
    eps = check_nonnegative("eps", eps)
    check_choice("neighbours", neighbours, NEIGHBOURS)

    def delta(tail: float) -> float:
        count = count_at(tail)
        return pair_delta(count, count, eps) if neighbours == "replace_one" else single_delta(count, eps)

    return settled(delta)
