"""Times of the shuffle Gaussian mechanism: all orders at once, against one order by enumeration of partitions."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from random_population import Row, best_of

from shuffledp.accounting.shuffle_gaussian.all_users import shuffle_gaussian_rdp
from shuffledp.accounting.shuffle_gaussian.checkin import checkin_shuffle_gaussian_rdp

N, SIGMA = 60_000, 9.48
ORDER = 60


def partitions(total: int) -> Iterator[list[int]]:
    """Yield all partitions of `total` into positive integers, ascending (Kelleher and O'Sullivan, 2009)."""
    parts, last, rest = [0] * (total + 1), 1, total - 1
    while last:
        smallest = parts[last - 1] + 1
        last -= 1
        while 2 * smallest <= rest:
            parts[last] = smallest
            rest -= smallest
            last += 1
        while smallest <= rest:
            parts[last], parts[last + 1] = smallest, rest
            yield parts[: last + 2]
            smallest += 1
            rest -= 1
        parts[last] = smallest + rest
        rest += smallest - 1
        yield parts[: last + 1]


def plain_rdp(order: int, n: int, sigma: float) -> float:
    """Return Theorem 1 term by term, with log-gamma functions.

    The log-gamma functions of n have an error of about 1e-16 n log n in the logarithm, which explains most of the
    table's difference.
    """
    log_factorial = [math.lgamma(k + 1) for k in range(order + 1)]
    log_n, scale = math.lgamma(n + 1), 1 / (2 * sigma**2)
    log_terms = []
    for parts in partitions(order):
        value = log_n - math.lgamma(n - len(parts) + 1)
        square, repeats, before = 0, 0, 0
        for part in parts:
            square += part * part
            value -= log_factorial[part]
            repeats = repeats + 1 if part == before else 1
            before = part
            value -= math.log(repeats)
        log_terms.append(value + square * scale)
    top = max(log_terms)
    total = top + math.log(math.fsum(math.exp(t - top) for t in log_terms))
    return (total + log_factorial[order] - order * (scale + math.log(n))) / (order - 1)


def rows() -> list[Row]:
    """Return all rows of the table, in about ten seconds, most of them for the partitions."""
    all_orders = np.arange(2, 1001)
    seconds, _ = best_of(lambda: float(shuffle_gaussian_rdp(all_orders, N, SIGMA)[-1]), 5)
    value = float(shuffle_gaussian_rdp([ORDER], N, SIGMA)[0])
    reference, plain = best_of(partial(plain_rdp, ORDER, N, SIGMA), 1)
    result = [
        Row(
            f"shuffle Gaussian, orders 2..1000, n = {N}, against order {ORDER} alone by partitions",
            seconds,
            reference,
            abs(value / plain - 1),
        )
    ]
    for form in ("printed", "convex", "pair"):
        call = partial(checkin_shuffle_gaussian_rdp, np.arange(2, 129), N, 0.1, 5.0, form=form)
        result.append(
            Row(
                f"shuffled check-in, {form}, orders 2..128, n = {N}, rate 0.1",
                best_of(lambda call=call: float(call()[-1]), 3)[0],
            )
        )
    return result
