"""Delta of two counts that user 1 changes, among any number of messages, by direct sums with error bounds.

Each function sums hockey-stick terms over outcomes. Post-processing of the view, such as reduction to two counts, can
only decrease delta. Lower bounds are therefore also lower bounds on the protocol's delta.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, reduce

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from shuffledp.pipeline.audit.finite_laws import (
    TAIL,
    WINDOW,
    Block,
    Bounds,
    Error,
    TooLargeError,
    added,
    around,
    binomial_counts,
    binomial_share,
    hockey_stick,
    mixed,
    move_law,
    outcomes,
    poisson_counts,
)
from shuffledp.populations.base import Fixed, Law
from shuffledp.populations.laws import Binomial, Poisson
from shuffledp.tasks import Floats

#: Law of user 1's contribution to the first and to the second count; the other input exchanges the counts.
Gains = Mapping[tuple[int, int], float]

#: Largest number of totals in a sum.
_MOST_TOTALS = 300_000


def total_of(law: Law, rate: float) -> Block:
    """Return the law of the number of other users who send one kind of report if each does so at the same rate."""
    thinned = law.thinned(rate)
    if isinstance(thinned, Binomial):
        return binomial_counts(thinned.trials, thinned.rate)
    if isinstance(thinned, Poisson):
        return poisson_counts(thinned.mean)
    window = thinned.window()
    return Block(np.asarray(window.pmf, float), (int(window.start),), Error(WINDOW, 0.0, window.omitted))


def ranges(law: Law, count: int = 16) -> list[tuple[int, float]]:
    """Return about `count` numbers of other users with weights; each number is the largest of a range.

    Delta does not grow with the number of other users, as further users with one fixed input are post-processing.
    """
    if isinstance(law, Fixed):
        return [(law.others, 1.0)]
    window = law.window()
    level = np.cumsum(window.pmf)
    last = np.unique(np.searchsorted(level / level[-1], np.arange(1, count) / count))
    last = np.unique(np.append(last, window.pmf.size - 1))
    mass = np.diff(np.append(0.0, level[last]))
    return [(int(window.start + i), float(w)) for i, w in zip(last, mass, strict=True)]


def spent(senders: Block, each: int, rate: float) -> Block:
    """Return the law of the number of counted dummies if each sender sends `each` dummies, counted at a rate."""
    size = senders.mass.size
    step = math.isqrt(size) + 1
    counted_dummies = [binomial_counts(number * each, rate) for number in range(step)]
    parts = (senders.mass[at : at + step].tolist() for at in range(0, size, step))
    runs = [mixed(list(zip(weights, counted_dummies, strict=False))) for weights in parts]
    whole = binomial_counts(step * each, rate)
    block = reduce(lambda later, run: mixed([(1.0, run), (1.0, added(later, whole))]), reversed(runs))
    block = added(block, binomial_counts(senders.start[0] * each, rate))
    return replace(block, error=block.error.and_of(senders.error))


def of_split(total: Block, gains: Gains, eps: float, alone: Block | None = None) -> Bounds:
    """Return bounds on delta of two counts if each other message falls on either count with probability 1/2.

    `total` is the law of the number of other messages, and `alone` that law if user 1 adds no message (by default the
    same law). `gains` is the law of user 1's messages under its first input; under the second input the counts are
    exchanged.

    The bounds are on ``sum (P - e^eps Q)`` over the outcomes where the two counts sum to t and the first is at least
    x(t). This sum is the hockey-stick divergence where the likelihood ratio increases in the first count, never more.

    A term ``mass(t) tail(x)`` has the relative errors of both factors. The absolute error of the mass counts with the
    tails, by the inequality of Cauchy and Schwarz, and omitted totals count in full.
    """
    shape = total.mass
    below, beyond = np.cumsum(shape), np.cumsum(shape[::-1])[::-1]
    inside = np.flatnonzero((below > TAIL) & (beyond > TAIL))
    omitted = float(shape[: inside[0]].sum() + shape[inside[-1] + 1 :].sum())
    if inside.size > _MOST_TOTALS:
        raise TooLargeError(f"{inside.size} likely totals")
    most = max(i + j for i, j in gains)
    t = np.arange(inside[0] + total.start[0], inside[-1] + total.start[0] + most + 1)
    laws = {gain: alone if alone is not None and sum(gain) == 0 else total for gain in gains}
    parts = [(i, j, chance, _masses(laws[i, j], t - i - j)) for (i, j), chance in gains.items() if chance > 0]
    ways = [np.maximum(number, 1.0) for number in _falling(t, most)]
    terms = [(i, j, chance * mass * 2.0 ** (i + j), ways[i + j]) for i, j, chance, mass in parts]

    low, high = t // 2, t + 1  # the first x at which P exceeds e^eps Q lies in (low, high]
    while np.any(high - low > 1):
        middle = (low + high) // 2
        above = _excess(terms, t, middle, eps) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    delta, size, fixed = np.zeros(t.size), 0.0, 0.0

    @lru_cache(4)  # gains and their mirror images share them
    def tail(total_gain: int, first_gain: int) -> Floats:
        return _fair_tail(t - total_gain, high - first_gain)

    for i, j, chance, mass in parts:
        first = chance * tail(i + j, i)
        second = math.exp(eps) * chance * tail(i + j, j)
        delta += mass * first - mass * second
        size += float(mass @ (first + second))
        fixed += laws[i, j].error.norm * float(np.linalg.norm(first + second))
    share = max(law.error.share for law in laws.values()) + binomial_share(int(t[-1]))
    omitted += sum(law.error.beyond for law in laws.values())
    error = 1.01 * (share * size + fixed + (1 + math.exp(eps)) * omitted)
    return around(float(np.sum(np.maximum(delta, 0.0))), error)


def _masses(law: Block, at: NDArray[np.int64]) -> Floats:
    place = at - law.start[0]
    inside = (place >= 0) & (place < law.mass.size)
    return np.where(inside, law.mass[np.clip(place, 0, law.mass.size - 1)], 0.0)


def _excess(
    terms: Sequence[tuple[int, int, Floats, Floats]], t: NDArray[np.int64], x: NDArray[np.int64], eps: float
) -> Floats:
    """Return ``P - e^eps Q`` at first counts x, divided by the probability of x among t fair messages.

    Among t - i - j fair messages the count x - i has this probability times ``2^(i + j)`` and the number of ordered
    choices of i of x and j of t - x, over the number of ordered choices of i + j of t. A term is (i, j, mass, ways):
    `mass` is the probability of user 1's counts (i, j) and of t - i - j other messages, times ``2^(i + j)``, and `ways`
    is the number of ordered choices of i + j of t.
    """
    most = max(i + j for i, j, *_ in terms)
    first, second = _falling(x, most), _falling(t - x, most)
    total = np.zeros(t.size)
    for i, j, mass, ways in terms:
        total += mass * (first[i] * second[j] - math.exp(eps) * first[j] * second[i]) / ways
    return total


def _falling(x: NDArray[np.int64], most: int) -> list[Floats]:
    """Return the falling factorials ``1, x, x (x - 1), ..``; negative factors become 0."""
    factorials = [np.ones(x.size)]
    for step in range(most):
        factorials.append(factorials[-1] * np.maximum(x - step, 0))
    return factorials


def _fair_tail(trials: NDArray[np.int64], x: NDArray[np.int64]) -> Floats:
    n, k = trials.astype(float), x.astype(float)
    inside = (k >= 1) & (k <= n)
    tail = betainc(np.where(inside, k, 1.0), np.where(inside, n - k + 1, 1.0), 0.5)
    return np.where(n < 0, 0.0, np.where(k <= 0, 1.0, np.where(inside, tail, 0.0)))


def of_one_count(noise: Block, first: float, second: float, eps: float) -> tuple[Bounds, Bounds]:
    """Return delta in both directions if user 1 adds 1 to a count with probability `first` or `second`."""
    laws = [with_coin(noise, rate) for rate in (first, second)]
    return (
        hockey_stick([outcomes(laws[0], laws[1])], eps),
        hockey_stick([outcomes(laws[1], laws[0])], eps),
    )


def of_two_counts(noise: Block, own_rate: float, other_rate: float, eps: float) -> Bounds:
    """Return delta of two counts with independent noise; user 1 adds 1 to them at two rates."""
    high, low = with_coin(noise, own_rate), with_coin(noise, other_rate)
    return hockey_stick([outcomes(high, low), outcomes(low, high)], eps)


def with_coin(noise: Block, rate: float) -> Block:
    """Return the law of a count to which 1 is added with probability `rate`."""
    if rate in (0.0, 1.0):
        return move_law(noise, (int(rate),))
    grown = np.append(noise.mass * (1 - rate), 0.0)
    grown[1:] += rate * noise.mass
    return Block(grown, noise.start, noise.error.rounded(4))


def binomial_gains(most: int, rate: float) -> Gains:
    """Return the law of a binomial number of user 1's messages, all in one count."""
    law = binomial_counts(most, rate)
    return {(law.start[0] + j, 0): float(mass) for j, mass in enumerate(law.mass)}
