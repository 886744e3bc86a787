"""Laws of counts in 50 digits: probabilities, windows around the mean, and tails of fair coins."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

import mpmath

from references.claims import Number

Law = dict[int, Number]
#: Digits below the largest probability at which windows end.
NEGLIGIBLE = 70


def log_binomial(k: int, n: int, rate: Number | float) -> Number:
    """Return the log of ``Pr[Bin(n, rate) = k]`` for a rate in (0, 1)."""
    ways = mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1)
    return ways + k * mpmath.log(mpmath.mpf(rate)) + (n - k) * mpmath.log1p(-mpmath.mpf(rate))


def log_poisson(k: int, mean: Number | float) -> Number:
    """Return the log of ``Pr[Poisson(mean) = k]`` for a positive mean."""
    return k * mpmath.log(mpmath.mpf(mean)) - mean - mpmath.loggamma(k + 1)


def log_negative_binomial(k: int, shape: Number | float, p: Number | float) -> Number:
    """Return the log of ``Pr[NB(shape, p) = k]``, ``C(k + r - 1, k) (1 - p)^r p^k``."""
    ways = mpmath.loggamma(k + mpmath.mpf(shape)) - mpmath.loggamma(shape) - mpmath.loggamma(k + 1)
    return ways + shape * mpmath.log1p(-mpmath.mpf(p)) + k * mpmath.log(mpmath.mpf(p))


def spread(
    start: int, low: int, high: int | None, first: Number, up: Callable[[int], Number], digits: float
) -> Law:
    """Return a unimodal law, outward from its mode; ``up(k)`` is the ratio of the probabilities at k + 1 and k."""
    least = first * mpmath.mpf(10) ** -digits
    law = {start: first}
    k, mass = start, first
    while mass > least and (high is None or k < high):
        mass *= up(k)
        k += 1
        law[k] = mass
    k, mass = start, first
    while mass > least and k > low:
        mass /= up(k - 1)
        k -= 1
        law[k] = mass
    return dict(sorted((k, m) for k, m in law.items() if m > 0))


def binomial(n: int, rate: Number | float, digits: float = NEGLIGIBLE) -> Law:
    """Return the law Bin(n, rate)."""
    p = mpmath.mpf(rate)
    if p <= 0 or n == 0:
        return {0: mpmath.mpf(1)}
    if p >= 1:
        return {n: mpmath.mpf(1)}
    mode = min(n, int(mpmath.floor((n + 1) * p)))
    odds = p / (1 - p)
    first = mpmath.exp(log_binomial(mode, n, p))
    return spread(mode, 0, n, first, lambda k: odds * (n - k) / (k + 1), digits)


def poisson(mean: Number | float, digits: float = NEGLIGIBLE) -> Law:
    """Return the law Poisson(mean)."""
    mu = mpmath.mpf(mean)
    if mu == 0:
        return {0: mpmath.mpf(1)}
    mode = int(mpmath.floor(mu))
    first = mpmath.exp(log_poisson(mode, mu))
    return spread(mode, 0, None, first, lambda k: mu / (k + 1), digits)


def negative_binomial(shape: Number | float, p: Number | float, digits: float = NEGLIGIBLE) -> Law:
    """Return the law NB(r, p) with probabilities ``C(k + r - 1, k) (1 - p)^r p^k``."""
    r, p = mpmath.mpf(shape), mpmath.mpf(p)
    mode = max(0, int(mpmath.floor((r - 1) * p / (1 - p)))) if r > 1 else 0
    first = mpmath.exp(log_negative_binomial(mode, r, p))
    return spread(mode, 0, None, first, lambda k: p * (k + r) / (k + 1), digits)


def moved(law: Law, rate: Number | float = 1) -> Law:
    """Return the law of a count after one more message, which is sent with a probability."""
    p = mpmath.mpf(rate)
    support = sorted({*law, *(k + 1 for k in law)})
    zero = mpmath.mpf(0)
    return {k: p * law.get(k - 1, zero) + (1 - p) * law.get(k, zero) for k in support}


def hockey_stick(p: Law, q: Law, eps: Number | float) -> Number:
    """Return ``sum (p - e^eps q)^+``."""
    factor, zero = mpmath.exp(mpmath.mpf(eps)), mpmath.mpf(0)
    return mpmath.fsum(m for k, mass in p.items() if (m := mass - factor * q.get(k, zero)) > 0)


def two_counts(held: Law, absent: Law, eps: Number | float) -> Number:
    """Return ``sum (held(a) absent(b) - e^eps absent(a) held(b))^+``, from ratios at a and two tails for every b."""
    factor, zero = mpmath.exp(mpmath.mpf(eps)), mpmath.mpf(0)
    support = sorted({*held, *absent})
    laws = [(held.get(k, zero), absent.get(k, zero)) for k in support]

    def ratio(pair: tuple[Number, Number]) -> Number:
        return pair[0] / pair[1] if pair[1] else mpmath.inf

    laws = sorted((pair for pair in laws if pair[0] or pair[1]), key=ratio, reverse=True)
    keys = [-ratio(pair) for pair in laws]
    held_above = [zero, *accumulate(pair[0] for pair in laws)]
    absent_above = [zero, *accumulate(pair[1] for pair in laws)]
    total = zero
    for with_it, without in laws:
        most = bisect_right(keys, -factor * with_it / without) if without else 0
        gain = without * held_above[most] - factor * with_it * absent_above[most]
        total += max(gain, zero)
    return total


class FairTails:
    """Probabilities ``Pr[Bin(c, 1/2) >= j]`` along a path of (c, j), by Pascal's rule with additional digits."""

    DIGITS = 170

    def __init__(self) -> None:
        self.c = self.j = -1
        self.tail = self.point = mpmath.mpf(0)

    def at(self, c: int, j: int) -> Number:
        """Return the tail at (c, j), which is fast near the previous place."""
        if j <= 0:
            return mpmath.mpf(1)
        if j > c:
            return mpmath.mpf(0)
        with mpmath.workdps(self.DIGITS):
            if self.c < 0 or abs(c - self.c) + abs(j - self.j) > 40:
                self._start(c, j)
            while self.c < c:
                self._wider()
            while self.c > c:
                self._start(c, j)
            while self.j < j:
                self._higher()
            while self.j > j:
                self._lower()
        return +self.tail

    def _start(self, c: int, j: int) -> None:
        self.c, self.j = c, j
        self.point = mpmath.binomial(c, j) * mpmath.mpf(2) ** -c
        upper = 2 * j > c
        total, k, mass = mpmath.mpf(0), (j if upper else j - 1), mpmath.mpf(0)
        mass = self.point if upper else self.point * j / (c - j + 1)
        while 0 <= k <= c and mass > total * mpmath.mpf(10) ** -(self.DIGITS - 5):
            total += mass
            mass *= mpmath.mpf(c - k) / (k + 1) if upper else mpmath.mpf(k) / (c - k + 1)
            k += 1 if upper else -1
        self.tail = total if upper else 1 - total

    def _wider(self) -> None:  # Pr[Bin(c + 1) >= j] = Pr[Bin(c) >= j] + Pr[Bin(c) = j - 1] / 2
        if self.j > self.c:
            self._start(self.c + 1, min(self.j, self.c + 1))
            return
        before = self.point * self.j / (self.c - self.j + 1)
        self.tail += before / 2
        self.point = (self.point + before) / 2
        self.c += 1

    def _higher(self) -> None:
        self.tail -= self.point
        self.point *= mpmath.mpf(self.c - self.j) / (self.j + 1)
        self.j += 1

    def _lower(self) -> None:
        self.point *= mpmath.mpf(self.j) / (self.c - self.j + 1)
        self.j -= 1
        self.tail += self.point


def labels(own: Number, other: Number, counts: Law, eps: Number | float) -> Number:
    """Return delta of two labels: C messages have one by a fair coin, and the victim its own, the other or none.

    With t labels in all, a of them the victim's own, P has ``own Pr[C = t - 1] B(t - 1, a - 1) + other Pr[C = t - 1]
    B(t - 1, a) + silent Pr[C = t] B(t, a)``, B being fair coins, and Q has own and other exchanged. For fixed t the
    ratio P / Q increases in a.
    """
    factor, zero = mpmath.exp(mpmath.mpf(eps)), mpmath.mpf(0)
    silent = 1 - own - other
    if silent < mpmath.mpf(10) ** -70:
        silent = zero
    tails, total = FairTails(), zero
    for t in sorted({*(c + 1 for c in counts), *(counts if silent else ())}):
        one, none = counts.get(t - 1, zero), counts.get(t, zero) * silent
        # Per outcome over B(t, a): 2 a/t (own - factor other) + 2 (t - a)/t (other - factor own) for one; the last
        # message without a label has (1 - factor) none.
        if t == 0:
            continue
        first, second = one * (own - factor * other), one * (other - factor * own)
        rest = none * (1 - factor)
        slope = 2 * (first - second) / t
        if slope <= 0:
            continue
        j = int(mpmath.floor(-(2 * second + rest) / slope)) + 1
        if j > t:
            continue
        j = max(j, 0)
        total += first * tails.at(t - 1, j - 1) + second * tails.at(t - 1, j) + rest * tails.at(t, j)
    return total
