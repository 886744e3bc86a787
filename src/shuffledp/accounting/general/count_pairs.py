r"""Hockey stick of two independent counts, of which one has the victim's message and the other has not.

A user's value x, in place of x', changes two counts only. Let ``held`` be the law of a count with the user's message
and ``absent`` the law of a count without it, each with all messages of others. Replacing x by x' is then

.. math:: P = held \otimes absent' \quad\text{against}\quad Q = absent \otimes held',

.. math:: \delta = \sum_{a, b} \bigl( held(a)\, absent'(b) - e^\epsilon\, absent(a)\, held'(b) \bigr)^+ ,

where the prime marks the second count. The bracket is positive where the ratio ``held / absent`` at a exceeds ``e^eps``
times the ratio of the second count at b: with the a sorted by their ratio there are two tail sums for every b,
O(N log N) operations in all. If both counts have the same laws, exchanging them exchanges P and Q, so that both
directions agree.

A user more or less moves one count: *held* against *absent* alone, in both directions.

Both are exact if the rest of the view has the same law under both inputs and is independent of the two counts.
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
    """Two laws of one count.

    Parameters
    ----------
    held, absent : (m,) ndarray
        Masses of the same m values, with the victim's value on this count and without; accurate in the relative sense.
    omitted : float
        Upper bound on the mass that either law omits.
    """

    held: NDArray[np.float64]
    absent: NDArray[np.float64]
    omitted: float = 0.0

    @property
    def log_ratio(self) -> NDArray[np.float64]:
        """``log(held / absent)`` of every value, (m,): inf and -inf where one of them is impossible, nan if both."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(self.held) - np.log(self.absent)

    @cached_property
    def sorted(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Log ratios in ascending order, and the masses of `held` and `absent` from each of them on, a 0 behind."""
        ratio = self.log_ratio
        order = np.argsort(ratio, kind="stable")
        order = order[~np.isnan(ratio[order])]
        return ratio[order], from_top(self.held[order]), from_top(self.absent[order])


def from_top(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of all values from each place on, and a 0 behind them, (m + 1,)."""
    return np.concatenate((np.cumsum(values[::-1])[::-1], [0.0]))


def added_message(noise: Window, held: float = 1.0, absent: float = 0.0) -> MovingCount:
    """Return the laws of noise plus the victim's message.

    Parameters
    ----------
    noise : Window
        Law of everything else on this count.
    held, absent : float
        Probability that the victim's message is on this count, with the value there and without; in [0, 1].
    """

    def with_message(rate: float) -> NDArray[np.float64]:
        law = np.zeros(noise.pmf.size + 1)
        law[:-1] = (1 - rate) * noise.pmf
        law[1:] += rate * noise.pmf
        return law

    return MovingCount(with_message(held), with_message(absent), noise.omitted)


def pair_delta(first: MovingCount, second: MovingCount, eps: float) -> float:
    """Return delta of the victim moving from the first count to the second, in one direction.

    Parameters
    ----------
    first, second : MovingCount
        Independent.
    eps : float
        Nats, >= 0.

    Returns
    -------
    float
        In [0, 1], of ``held x absent'`` against ``absent x held'``. Mass that laws omit counts as lost privacy;
        apart from that, rounding error about 1e-12 relative for up to 1e5 values.

    Notes
    -----
    Derived for this project, see the module's description. Replacement neighbors.
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
    """Return the larger delta of both directions, in [0, 1]; arguments and accuracy as in :func:`pair_delta`."""
    return max(pair_delta(first, second, eps), pair_delta(second, first, eps))


def single_delta(count: MovingCount, eps: float) -> float:
    """Return delta of one count with and without the victim, the worse of both directions.

    Parameters
    ----------
    count : MovingCount
    eps : float
        Nats, >= 0.

    Returns
    -------
    float
        In [0, 1]. Mass that laws omit counts as lost privacy; rounding error about 1e-12 relative.

    Notes
    -----
    The definition. One user more or less, or one bit replaced.
    """
    factor = math.exp(min(eps, _MOST_EPS))
    more = float(np.sum(np.maximum(count.held - factor * count.absent, 0.0)))
    less = float(np.sum(np.maximum(count.absent - factor * count.held, 0.0)))
    return raised(max(more, less) + count.omitted)


def settled_count_delta(
    count_at: Callable[[float], MovingCount], eps: float, neighbours: str = "replace_one"
) -> float:
    """Return delta of counts that all have the same laws, with negligible mass omitted by windows.

    Parameters
    ----------
    count_at : callable
        Mass that the windows may omit -> the laws of a count.
    eps : float
        Nats, >= 0.
    neighbours : {"replace_one", "add_remove"}
        Replacement: the victim moves from one count to another. Add or remove: the victim is on one count or absent.

    Returns
    -------
    float
        In [0, 1]; exact, too large by at most 1e-12 relative, except below 1e-300, where floats end.
    """
    eps = check_nonnegative("eps", eps)
    check_choice("neighbours", neighbours, NEIGHBOURS)

    def delta(tail: float) -> float:
        count = count_at(tail)
        return pair_delta(count, count, eps) if neighbours == "replace_one" else single_delta(count, eps)

    return settled(delta)
