"""Search for the worst data set of RAPPOR, whose users send a randomized bit per value, over histograms of the others.

A victim's input changes from one value to another. Of the other users, `first` hold the one and `second` the other
value, and the rest hold a third value, if the domain has one. The worst data set is not known for any of the protocols.
The search compares three data sets: all others hold the one value, the other value, or a third value.

eps is in nats, neighboring data sets differ by replacement of one user's input, and p is the probability that a bit is
flipped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np

from shuffledp.accounting.baselines.fragmented_rappor import proven_bits_delta, rappor_delta
from shuffledp.accounting.general.count_pairs import MovingCount, pair_delta
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import binomial_window
from shuffledp.pipeline.claims.message_multisets import Floats, deltas_of_data_sets
from shuffledp.pipeline.claims.search_results import LEAST_DELTA, SHARES, Values

#: Largest distance of the log of the three data sets' largest delta below the log of its target.
_YTOL = 1e-6
#: Mass that windows of many bits omit, relative to delta.
_OMITTED = 1e-9
#: Largest number of users whose value differs from the most frequent value.
APART = 4


def sums_deltas(others: int, p: float, eps: float) -> Floats:
    """Return delta for every data set of the others if the analyzer sees sums of bits."""
    counts = [_count(ones, others - ones, p) for ones in range(others + 1)]
    deltas = np.full((others + 1, others + 1), np.nan)
    for first in range(others + 1):
        for second in range(others + 1 - first):
            deltas[first, second] = pair_delta(counts[first], counts[second], eps)
    return deltas


def _count(ones: int, zeros: int, p: float) -> MovingCount:
    law = np.ones(1)
    for bit in [True] * ones + [False] * zeros:
        law = _joined(law, p, bit=bit)
    return MovingCount(_joined(law, p, bit=True), _joined(law, p, bit=False))


def _joined(law: Floats, p: float, *, bit: bool) -> Floats:
    """Return the law of a count after another user's `bit` is flipped with probability p and added."""
    zero_sent, one_sent = (p, 1 - p) if bit else (1 - p, p)
    return np.concatenate((zero_sent * law, [0.0])) + np.concatenate(([0.0], one_sent * law))


def sums(numbers: Iterable[int], flips: Iterable[float], third: bool = True) -> Values:
    """Search all data sets of a few users if the analyzer sees sums of bits."""
    for others, p, share in product(numbers, flips, SHARES):
        eps = share * 2 * (math.log1p(-p) - math.log(p))
        table = sums_deltas(others, p, eps)
        if not third:
            table = np.where(np.add.outer(range(others + 1), range(others + 1)) == others, table, np.nan)
        largest_known = float(np.nanmax([table[others, 0], table[0, others], table[0, 0]]))
        if largest_known < LEAST_DELTA:
            continue
        first, second = np.unravel_index(int(np.nanargmax(table)), table.shape)
        words = (
            f"{others} others, p {p:g}, eps {eps:.3g}: {first} of them hold one of the two values and {second} the "
            f"other, delta {table[first, second]:.3g} against {largest_known:.3g}"
        )
        yield float(table[first, second]) / largest_known, words


def many(numbers: Iterable[int], bit_budgets: Iterable[float], targets: Iterable[float]) -> Values:
    """Compare the bound for every data set with the largest of three, for many users and sums of bits."""
    for n, p, eps, largest_known, words in _many_users(numbers, bit_budgets, targets):
        proven = proven_bits_delta(n, p, eps)
        yield proven / largest_known, f"{words}: delta {proven:.4g} proven, {largest_known:.4g} lost"


def beside(numbers: Iterable[int], bit_budgets: Iterable[float], targets: Iterable[float]) -> Values:
    """Search data sets near the three for many users and sums of bits, with the same parameters as `many`."""
    for n, p, eps, largest_known, words in _many_users(numbers, bit_budgets, targets):
        others = n - 1
        numbers_of_ones = sorted({*range(APART + 1), *range(others - APART, others + 1)})
        counts = {
            ones: _windowed_count(ones, others - ones, p, _OMITTED * largest_known)
            for ones in numbers_of_ones
        }
        deltas = {
            (first, second): pair_delta(counts[first], counts[second], eps)
            for first, second in product(numbers_of_ones, repeat=2)
            if first + second <= others and others - max(first, second, others - first - second) <= APART
        }
        worst = max(deltas, key=lambda pair: deltas[pair])
        # By the same sums: near twice the budget of a bit others differ in the fifth digit.
        three = max(deltas[others, 0], deltas[0, others], deltas[0, 0])
        words += f": {worst[0]} of the others hold one of the two values and {worst[1]} the other"
        yield deltas[worst] / three, f"{words}, delta {deltas[worst]:.6g} against {three:.6g}"


def _many_users(
    numbers: Iterable[int], bit_budgets: Iterable[float], targets: Iterable[float]
) -> Iterator[tuple[int, float, float, float, str]]:
    """Yield users, flip probability, eps, the three data sets' largest delta, and the setting as text."""
    for n, budget, target in product(numbers, bit_budgets, targets):
        p = 1 / (1 + math.exp(budget))

        def excess(minus_log_eps: float, n: int = n, p: float = p, target: float = target) -> float:
            largest_known = known_delta(n, p, math.exp(-minus_log_eps))
            return math.log(largest_known / target) if largest_known > 0 else -math.inf

        if known_delta(n, p, 1e-6) <= target:
            continue
        # Close to twice the budget of a bit delta falls to 0 within a billionth of eps.
        eps = math.exp(-root_below(excess, 0.0, -5.0, math.log(1e6), xtol=1e-14, ytol=_YTOL))
        yield n, p, eps, known_delta(n, p, eps), f"{n} users, {budget:g} nats per bit, eps {eps:.4g}"


def _windowed_count(ones: int, zeros: int, p: float, omitted: float) -> MovingCount:
    """Return the law of a count among many users if few bits are one or few are zero."""
    window = binomial_window(max(ones, zeros), p, omitted)
    law = window.pmf if zeros >= ones else window.pmf[::-1]
    for _ in range(min(ones, zeros)):
        law = _joined(law, p, bit=ones < zeros)
    return MovingCount(_joined(law, p, bit=True), _joined(law, p, bit=False), window.omitted)


def known_delta(n: int, p: float, eps: float) -> float:
    """Return the largest delta of the three data sets, in [0, 1], among n users."""
    return max(rappor_delta(n, p, eps, calibration=kind) for kind in ("worst_case", "optimistic"))


def vectors(numbers: Iterable[int], domains: Iterable[int], flips: Iterable[float]) -> Values:
    """Search all data sets of a few users if the analyzer sees whole vectors of bits in random order."""
    for others, k, p in product(numbers, domains, flips):
        on_one = [tuple(others * (v == i) for v in range(k)) for i in range(min(k, 3))]
        budget = 2 * (math.log1p(-p) - math.log(p))
        for eps, deltas in deltas_of_data_sets(vector_rows(k, p), others, budget):
            largest_known = max(deltas[data_set] for data_set in on_one)
            if largest_known < LEAST_DELTA:
                continue
            worst = max(deltas, key=lambda data_set: deltas[data_set])
            words = (
                f"{others} others, {k} values, p {p:g}, eps {eps:.3g}: {', '.join(map(str, worst))} of them hold each "
                f"value, delta {deltas[worst]:.3g} against {largest_known:.3g}"
            )
            yield deltas[worst] / largest_known, words


def vector_rows(k: int, p: float) -> Floats:
    """Return the law of the vector of k bits for each of the k values, (k, 2^k)."""
    bits = np.array(list(product((0, 1), repeat=k)))
    flipped = bits[None, :, :] != np.eye(k, dtype=int)[:, None, :]
    return np.asarray(np.prod(np.where(flipped, p, 1 - p), axis=2))
