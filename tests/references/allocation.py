"""References for random allocation in pure and in Gaussian steps, in each direction and on both sides."""

from __future__ import annotations

import math
from functools import partial

import mpmath

from references.claims import Number, claims_of, linear, log, off, off_by_root, one_of, whole
from shuffledp import accounting as a

mpf = mpmath.mpf


def pure(eps: Number, steps: int, eps_local: float, direction: str) -> Number:
    """Return delta of randomized response in every step, by sums over the number of likelier outcomes."""
    e, factor = mpmath.exp(mpf(eps_local)), mpmath.exp(eps)
    p, terms = 1 / (e + 1), []
    for ones in range(steps + 1):
        ratio = (ones * e + (steps - ones) / e) / steps  # present over absent
        gain = ratio - factor if direction == "remove" else 1 - factor * ratio
        terms.append(math.comb(steps, ones) * p**ones * (1 - p) ** (steps - ones) * max(gain, mpf(0)))
    return mpmath.fsum(terms)


def gaussian(eps: Number, steps: int, sigma: float, direction: str) -> Number:
    """Return delta of one step in closed form, or of two steps by an integral of a normal tail over the first."""
    s, factor, removed = mpf(sigma), mpmath.exp(eps), direction == "remove"

    # L(y) = e^((2 y - 1) / (2 s^2)); absent y is N(0, s^2), and with the weight L it is N(1, s^2).
    def inverse(ratio: Number) -> Number:
        return s**2 * mpmath.log(ratio) + mpf(1) / 2

    def value(least: Number, constant: Number, slope: Number) -> Number:
        """Return the mean of ``constant + slope L`` where L exceeds `least`, or stays below it for a negative slope."""
        if least <= 0:
            return constant + slope if slope > 0 else mpf(0)
        sign = 1 if slope > 0 else -1
        absent = mpmath.ncdf(-sign * inverse(least) / s)
        return constant * absent + slope * mpmath.ncdf(sign * (1 - inverse(least)) / s)

    if steps == 1:
        return value(factor, -factor, mpf(1)) if removed else value(1 / factor, mpf(1), -factor)

    def given(y: Number) -> Number:
        first = mpmath.exp((2 * y - 1) / (2 * s**2))
        if removed:  # ((first + L) / 2 - factor)^+
            found = value(2 * factor - first, first / 2 - factor, mpf(1) / 2)
        else:  # (1 - factor (first + L) / 2)^+
            found = value(2 / factor - first, 1 - factor * first / 2, -factor / 2)
        return found * mpmath.npdf(y, 0, s)

    kink = inverse(2 * factor if removed else 2 / factor)
    # Smooth on either side of the kink; behind 24 deviations there is less than 10^-120.
    points = sorted({kink, *(s * k for k in range(-24, 26, 3) if abs(s * k - kink) > s / 10)})
    points = [x for x in points if -24 * s <= x and (removed or x <= kink)]
    return mpmath.quad(given, points, method="gauss-legendre", maxdegree=5)


def _epsilon(kind: str, bound: str, steps: int, noise: float, delta: float, direction: str) -> Number:
    found = a.allocation_epsilon(delta, steps, **{kind: noise}, direction=direction, bound=bound)
    reference = pure if kind == "eps_local" else gaussian
    most = noise if kind == "eps_local" else 300.0
    if bound == "lower" and found == 0:
        return mpf(0)
    return off_by_root(
        found, lambda eps: reference(eps, steps, noise, direction), delta, least=1.01e-9, most=most
    )


def _delta(kind: str, bound: str, steps: int, noise: float, part: float, direction: str) -> Number:
    eps = part * (noise if kind == "eps_local" else 1 / noise)
    found = a.allocation_delta(eps, steps, **{kind: noise}, direction=direction, bound=bound)
    reference = pure if kind == "eps_local" else gaussian
    true = reference(mpf(eps), steps, noise, direction)
    error = off(found, true)
    beside = reference(mpf(eps) * (1 - mpf("1e-6")), steps, noise, direction)
    # Next to a kink, the last digit of eps counts.
    return mpf(0) if kind == "eps_local" and beside > 1.5 * true and abs(error) < 1 else error


stated = claims_of(
    {
        "delta": log(1e-15, 1e-2),
        "part": linear(0.02, 0.95),
        "direction": one_of("remove", "add"),
    }
)
CLAIMS = [
    stated(
        f"{name} ({'pure' if kind == 'eps_local' else 'Gaussian'} steps, {bound} bound)",
        partial(measure, kind, bound),
        *((0, limit) if bound == "upper" else (limit, 0)),
        count=12,
        steps=whole(1, 400) if kind == "eps_local" else whole(1, 2),
        noise=log(0.01, 12) if kind == "eps_local" else log(0.3, 4),
    )
    for bound in ("upper", "lower")
    for name, measure, kind, limit in (
        ("allocation_epsilon", _epsilon, "eps_local", 1e-5),
        ("allocation_epsilon", _epsilon, "sigma", 1e-3),
        ("allocation_delta", _delta, "eps_local", 1e-8),
        ("allocation_delta", _delta, "sigma", 0.1),
    )
]
