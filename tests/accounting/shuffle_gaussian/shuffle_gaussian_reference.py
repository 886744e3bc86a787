"""Other ways to the same numbers: partitions, power series, quadrature, and plain sums over participants."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import mpmath as mp
import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom


def partitions(total: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """All ways to write `total` as a sum of positive integers, in falling order."""
    if total == 0:
        yield ()
        return
    for part in range(min(total, largest or total), 0, -1):
        for rest in partitions(total - part, part):
            yield (part, *rest)


def partition_moment(order: int, n: int, sigma: float) -> mp.mpf:
    """Equation (4): the moment of the given order, by partitions, with zeros counted among the repetitions."""
    total = mp.mpf(0)
    for parts in partitions(order):
        if len(parts) > n:
            continue
        arrangements = mp.mpf(math.perm(n, len(parts)))
        for repeats in Counter(parts).values():
            arrangements /= math.factorial(repeats)
        ways = mp.mpf(math.factorial(order))
        for part in parts:
            ways /= math.factorial(part)
        square = sum(part * part for part in parts)
        total += arrangements * ways * mp.exp(mp.mpf(square - order) / (2 * mp.mpf(sigma) ** 2))
    return total / mp.mpf(n) ** order


def precise_rdps(last: int, n: int, sigma: float, digits: int = 80) -> list[float]:
    """Divergences of the orders 2 .. `last`, from the n-th power of the series ``sum q^(k(k-1)/2) x^k / k!``."""
    with mp.workdps(digits):
        q = mp.exp(1 / mp.mpf(sigma) ** 2)
        a = [q ** (k * (k - 1) // 2) / mp.factorial(k) for k in range(last + 1)]
        power = [mp.mpf(1)]  # Miller's recurrence
        for m in range(1, last + 1):
            power.append(mp.fsum((k * (n + 1) - m) * a[k] * power[m - k] for k in range(1, m + 1)) / m)
        return [
            float(mp.log(mp.factorial(order) * power[order] / mp.mpf(n) ** order) / (order - 1))
            for order in range(2, last + 1)
        ]


def precise_means(last: int, n: int, sigma: float, rate: float) -> list[mp.mpf]:
    """``E (1 + rate (mean - 1))^l`` for l = 0 .. `last`, by expanding around 0: cancels, hence many digits."""
    moments = [mp.mpf(1), mp.mpf(1)]
    with mp.workdps(120):
        moments += [mp.exp((k - 1) * mp.mpf(r)) for k, r in _precise(last, n, sigma)]
        g = mp.mpf(rate)
        return [
            mp.fsum(
                mp.binomial(order, j) * g**j * (1 - g) ** (order - j) * moments[j] for j in range(order + 1)
            )
            for order in range(last + 1)
        ]


def _precise(last: int, n: int, sigma: float) -> list[tuple[int, mp.mpf]]:
    return [(order, mp.log(partition_moment(order, n, sigma)) / (order - 1)) for order in range(2, last + 1)]


def printed_excess(order: int, rate: float, moments: list[mp.mpf]) -> mp.mpf:
    """Equation (10) term by term, without the 1; `moments` of the orders 0 .. `order`."""
    g = mp.mpf(rate)
    total = g**2 * math.comb(order, 2) * min(4 * (moments[2] - 1), 2 * moments[2])
    return total + mp.fsum(2 * g**j * math.comb(order, j) * moments[j] for j in range(3, order + 1))


def all_participants(n: int, rate: float, excesses: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of ``excesses[k - 1]`` over k = 1 .. n participants, shape of a row of `excesses`."""
    return binom.pmf(np.arange(1, n + 1), n, rate) @ excesses


def log_normal_transform(t: NDArray[np.float64], spread: float) -> NDArray[np.float64]:
    """``E exp(-t e^(spread g - spread^2 / 2))`` for standard normal g, by the trapezoidal rule."""
    g = np.linspace(-13, 13, 2601)
    weights = np.exp(-(g**2) / 2) / np.sum(np.exp(-(g**2) / 2))
    return np.exp(-np.multiply.outer(t, np.exp(spread * g - spread**2 / 2))) @ weights


def reverse_rdp(order: int, n: int, sigma: float) -> float:
    """The divergence in the other direction: ``E mean^(1 - order)`` as an integral of the Laplace transform."""
    u = np.linspace(-40, 12, 2081)
    t = np.exp(u)
    terms = (order - 1) * u + n * np.log(np.maximum(log_normal_transform(t, 1 / sigma), 1e-300))
    log_integral = math.log(float(np.sum(np.exp(terms - terms.max()))) * (u[1] - u[0])) + float(terms.max())
    return (log_integral + (order - 1) * math.log(n) - math.lgamma(order - 1)) / (order - 1)
