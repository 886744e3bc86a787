"""References for Gaussian privacy, Renyi divergences, and conversions among delta, eps, Renyi orders and trade-offs."""

from __future__ import annotations

import math
import warnings

import mpmath
import numpy as np

from references.claims import (
    Number,
    claims_of,
    linear,
    log,
    off,
    off_by_inverse,
    one_of,
    whole,
    worst,
)
from references.laws import binomial
from shuffledp import accounting as a

mpf = mpmath.mpf


def gaussian_delta(mu: Number | float, eps: Number | float) -> Number:
    """Return ``Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)``: Balle and Wang (2018), Theorem 8."""
    m, e = mpf(mu), mpf(eps)
    # Both tails are nearly the same where delta is small: twice the digits.
    with mpmath.workdps(120):
        x, y = m / 2 - e / m, m / 2 + e / m
        upper = mpmath.erfc(-x / mpmath.sqrt(2)) / 2
        return upper - mpmath.exp(e) * mpmath.erfc(y / mpmath.sqrt(2)) / 2


def _log_delta(mu: float, eps: float) -> Number:
    true = mpmath.log(gaussian_delta(mu, eps))
    found = mpf(a.log_gaussian_delta(mu, eps))
    return (found - true) / max(abs(true), mpf(1))


def _profile(mu: float, eps: float) -> Number:
    return off(a.GaussianProfile(mu).delta([eps])[0], gaussian_delta(mu, eps))


def _local(sigma: float, delta: float, sensitivity: float, calibration: str) -> Number:
    mu = mpf(sensitivity) / mpf(sigma)
    found = a.gaussian_local_epsilon(sigma, delta, sensitivity=sensitivity, calibration=calibration)
    if calibration == "classical":
        return off(found, mu * mpmath.sqrt(2 * mpmath.log(mpf("1.25") / delta)))
    if found == 0:
        return mpf(0) if gaussian_delta(mu, 0) <= delta else -mpmath.inf
    return off_by_inverse(found, lambda eps: gaussian_delta(mu, eps), delta) * found  # absolute


def _laws(size: int, spread: float) -> tuple[list[Number], list[Number]]:
    """Return two laws that differ by a smooth factor."""
    weights = [mpmath.exp(-(mpf(k - size / 2) ** 2) / (2 * size)) for k in range(size)]
    moved = [w * mpmath.exp(spread * mpmath.sin(k)) for k, w in enumerate(weights)]
    return [w / mpmath.fsum(weights) for w in weights], [w / mpmath.fsum(moved) for w in moved]


def _floats(law: list[Number]) -> tuple[np.ndarray, list[Number]]:
    """Return the logarithms as floats, and the probabilities of these floats."""
    logs = np.array([float(mpmath.log(w)) for w in law])
    return logs, [mpmath.exp(mpf(x)) for x in logs]


def _sticks(size: int, spread: float, eps: float) -> Number:
    (log_p, p), (log_q, q) = (_floats(law) for law in _laws(size, spread))
    factor = mpmath.exp(mpf(eps))
    forward = mpmath.fsum(max(x - factor * y, mpf(0)) for x, y in zip(p, q, strict=True))
    backward = mpmath.fsum(max(y - factor * x, mpf(0)) for x, y in zip(p, q, strict=True))
    both = max(forward, backward)
    pair = a.CountPair(log_p, log_q)
    return worst(
        [
            off(float(a.hockey_stick(log_p, log_q, eps)), forward),
            off(pair.delta([eps])[0], both),
            off(a.WorstOf((pair, pair)).delta([eps])[0], both),
        ]
    )


def _rdp(sigma: float, order: int) -> Number:
    return off(a.gaussian_rdp([order], sigma)[0], order / (2 * mpf(sigma) ** 2))


def _composed(first: float, second: float, rounds: int) -> Number:
    found = a.compose_rdp([[first], [second]], [rounds, 3])[0]
    curve = rounds * a.RenyiCurve(np.array([2.0]), np.array([first])) + 3 * a.RenyiCurve(
        np.array([2.0]), np.array([second])
    )
    true = rounds * mpf(first) + 3 * mpf(second)
    return worst([off(found, true), off(curve.divergences[0], true)])


def converted(orders: range, rdp: list[Number], delta: float) -> Number:
    """Return the least ``rdp + ln((o - 1) / o) - (ln delta + ln o) / (o - 1)`` over o: Canonne et al. (2020)."""
    d = mpmath.log(mpf(delta))
    return max(
        mpf(0),
        min(
            r + mpmath.log(mpf(nth - 1) / nth) - (d + mpmath.log(nth)) / (nth - 1)
            for nth, r in zip(orders, rdp, strict=True)
        ),
    )


def _conversion(sigma: float, delta: float, last: int) -> Number:
    orders = range(2, last + 1)
    rdp = [nth / (2 * mpf(sigma) ** 2) for nth in orders]
    true = converted(orders, rdp, delta)
    floats = [float(r) for r in rdp]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", a.LastOrderWarning)
        found = [a.rdp_to_epsilon(orders, floats, delta)[0], a.best_epsilon(orders, floats, delta)[0]]
    scale = max(true, mpmath.log(1 / mpf(delta)) / last)  # what cancels
    return worst([(mpf(f) - true) / scale for f in found])


def _optimal(eps: float, delta: float, rounds: int, slack: float) -> Number:
    """Return the error of the composed eps, ``(k - 2 i) eps`` for the largest i with a delta of at most the target."""
    e, d, k = mpf(eps), mpf(delta), rounds
    target = 1 - (1 - d) ** k * (1 - mpf(slack))
    target = mpf(float(target))
    found = a.optimal_composition(eps, delta, k, float(target))
    best = 0
    for i in range(k // 2 + 1):
        terms = [
            mpmath.binomial(k, nth) * (mpmath.exp((k - nth) * e) - mpmath.exp((k - 2 * i + nth) * e))
            for nth in range(i)
        ]
        d_i = mpmath.fsum(terms) / (1 + mpmath.exp(e)) ** k
        if 1 - (1 - d) ** k * (1 - d_i) <= target:
            best = i
    return off(found, (k - 2 * best) * e)


# Renyi divergences of shuffled Gaussian reports: the nth-th moment of a mean of n log-normal variables.


def moments(last: int, n: int, sigma: float) -> list[Number]:
    """Return moments of orders 0 to `last`: the n-th power of ``sum q^(k (k - 1) / 2) x^k / k!`` (Miller)."""
    q = mpmath.exp(1 / mpf(sigma) ** 2)
    series = [q ** (k * (k - 1) // 2) / mpmath.factorial(k) for k in range(last + 1)]
    power = [mpf(1)]
    with mpmath.workdps(50 + 2 * last):
        for m in range(1, last + 1):
            power.append(
                mpmath.fsum((k * (n + 1) - m) * series[k] * power[m - k] for k in range(1, m + 1)) / m
            )
        return [mpmath.factorial(nth) * p / mpf(n) ** nth for nth, p in enumerate(power)]


def _shuffled(n: int, sigma: float, order: int) -> Number:
    with mpmath.workdps(50 + 4 * order):
        true = mpmath.log(moments(order, n, sigma)[order]) / (order - 1)
    return off(a.shuffle_gaussian_rdp([order], n, sigma)[0], true)


def excess(form: str, order: int, rate: Number, m: list[Number]) -> Number:
    """Return ``e^((order - 1) divergence) - 1`` for sampled reports whose moments are m."""
    g = mpf(rate)
    if form == "convex":
        return g * (m[order] - 1)
    if form == "pair":
        return (
            mpmath.fsum(
                mpmath.binomial(order, j) * g**j * (1 - g) ** (order - j) * m[j] for j in range(order + 1)
            )
            - 1
        )
    total = g**2 * math.comb(order, 2) * min(4 * (m[2] - 1), 2 * m[2])
    return total + mpmath.fsum(2 * g**j * math.comb(order, j) * m[j] for j in range(3, order + 1))


def _sampled(n: int, part: float, sigma: float, order: int, form: str) -> Number:
    m = max(1, round(part * n))
    with mpmath.workdps(100 + 6 * order):
        true = mpmath.log1p(excess(form, order, mpf(m) / n, moments(order, m, sigma))) / (order - 1)
    return off(a.subsampled_shuffle_gaussian_rdp([order], n, m, sigma, form=form)[0], true)


def _any_mechanism(sigma: float, rate: float, last: int) -> Number:
    rdp = [float(nth / (2 * mpf(sigma) ** 2)) for nth in range(2, last + 1)]
    found = a.subsampled_rdp(rdp, rate)
    m = [mpf(1), mpf(1), *(mpmath.exp((nth - 1) * mpf(r)) for nth, r in enumerate(rdp, 2))]
    return worst(
        [off(f, mpmath.log1p(excess("printed", nth, rate, m)) / (nth - 1)) for nth, f in enumerate(found, 2)]
    )


def _checked_in(n: int, rate: float, sigma: float, order: int, form: str) -> Number:
    """Return the error of the mean over the number of participants, term by term."""
    total = mpf(0)
    kind = "printed" if form in {"printed", "conditional"} else form
    with mpmath.workdps(100 + 6 * order):
        for k, mass in binomial(n, rate).items():
            if k:
                share = mpf(rate) if form == "printed" else mpf(k) / n
                total += mass * excess(kind, order, share, moments(order, k, sigma))
        true = mpmath.log1p(total) / (order - 1)
    return off(a.checkin_shuffle_gaussian_rdp([order], n, rate, sigma, form=form)[0], true)


def _theorem3(n: int, rate: float, sigma: float, order: int, split: float) -> Number:
    """Return the error of equation (13): one participant, with a Chernoff probability of few, or the next integer."""
    mean = n * mpf(rate)
    size = min(n, int(mpmath.floor(mpf((1 - split) * n * rate))) + 1)
    with mpmath.workdps(100 + 6 * order):
        first = 1 + excess("printed", order, mpf(rate), moments(order, 1, sigma))
        second = excess("printed", order, mpf(rate), moments(order, size, sigma))
        true = mpmath.log1p(mpmath.exp(-(mpf(split) ** 2) * mean / 2) * first + second) / (order - 1)
    return off(a.checkin_shuffle_gaussian_rdp_theorem3([order], n, rate, sigma, split)[0], true)


def _after_rounds(n: int, sigma: float, rounds: int, delta: float, last: int) -> Number:
    orders = range(2, last + 1)
    with mpmath.workdps(50 + 4 * last):
        m = moments(last, n, sigma)
        rdp = [rounds * mpmath.log(m[nth]) / (nth - 1) for nth in orders]
        true = converted(orders, rdp, delta)
    found = [
        a.shuffle_gaussian_epsilon(n=n, sigma=sigma, rounds=rounds, delta=delta, most_order=last),
        a.shuffle_gaussian_epsilons(n, sigma, [rounds], delta, last)[0],
    ]
    scale = max(true, mpmath.log(1 / mpf(delta)) / last)
    return worst([(mpf(f) - true) / scale for f in found])


# What a profile implies; the profile is the Gaussian one, of which everything is known in closed form.


def _divergence(mu: float, order: float) -> Number:
    return off(a.renyi_from_profile(a.GaussianProfile(mu), [order])[0], mpf(order) * mpf(mu) ** 2 / 2)


def _renyi_curve(mu: float, order: float) -> Number:
    return off(a.to_renyi(a.GaussianProfile(mu), [order]).divergences[0], mpf(order) * mpf(mu) ** 2 / 2)


def _missed(mu: float, false_positive_rate: float) -> Number:
    return mpmath.ncdf(mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpf(false_positive_rate)) - mu)


def _trade_off(mu: float, false_positive_rate: float) -> Number:
    found = a.trade_off(a.GaussianProfile(mu), false_positive_rate)
    return mpf(float(found)) - _missed(mu, false_positive_rate)  # absolute


def _attack(mu: float, false_positive_rate: float) -> Number:
    found = a.true_positive_rate(a.GaussianProfile(mu), false_positive_rate)
    return mpf(found) - (1 - _missed(mu, false_positive_rate))  # absolute


def _fit(mu: float) -> Number:
    return off(a.gaussian_fit(a.GaussianProfile(mu)).mu, mpf(mu))


def _told(mu: float, eps: float) -> bool:
    """Return whether delta is above 1e-300."""
    return eps / mu < 36


def _resolved(mu: float, order: float) -> bool:
    """Return whether the profile covers the range that this order needs; otherwise the library returns infinity."""
    return order * mu < 30


SIGMA, ORDER = log(0.5, 100), whole(2, 40)
FPR = log(1e-6, 0.9)

stated = claims_of(
    {
        "mu": log(0.001, 30),
        "eps": log(1e-9, 1),
        "sigma": SIGMA,
        "delta": log(1e-100, 0.5),
        "size": whole(2, 100),
        "spread": log(1e-6, 3),
        "order": whole(2, 16),
        "first": log(1e-12, 1e6),
        "second": log(1e-12, 1e6),
        "rounds": whole(1, 10**6),
        "last": whole(2, 30),
        "n": whole(1, 10**9),
        "rate": log(0.01, 1),
        "false_positive_rate": FPR,
    }
)
CLAIMS = [
    stated("log_gaussian_delta", _log_delta, 1e-10, 1e-10, keep=_told, eps=log(1e-6, 30)),
    stated("GaussianProfile", _profile, 1e-9, 1e-9, keep=_told, eps=log(1e-6, 30)),
    stated(
        "gaussian_local_epsilon",
        _local,
        1e-12,
        1e-12,
        sigma=log(0.1, 100),
        delta=log(1e-30, 0.5),
        sensitivity=log(0.1, 10),
        calibration=one_of("analytic", "classical"),
    ),
    stated("hockey_stick", _sticks, count=20, size=whole(2, 300)),
    stated("CountPair", _sticks, count=12),
    stated("WorstOf", _sticks, count=12),
    stated("gaussian_rdp", _rdp, sigma=log(1e-9, 1e9), order=whole(2, 4096)),
    stated("compose_rdp", _composed),
    stated("RenyiCurve", _composed, count=20),
    stated("rdp_to_epsilon", _conversion, count=30, sigma=log(0.1, 10000.0), last=whole(2, 1000)),
    stated("best_epsilon", _conversion, count=20, sigma=log(0.1, 10000.0), last=whole(2, 1000)),
    stated(
        "optimal_composition",
        _optimal,
        count=30,
        eps=log(0.0001, 3),
        delta=log(1e-12, 1e-6),
        rounds=whole(1, 60),
        slack=log(1e-9, 0.5),
    ),
    stated("shuffle_gaussian_rdp", _shuffled, 1e-12, 1e-12, count=30, order=ORDER),
    stated(
        "shuffle_gaussian_epsilon",
        _after_rounds,
        1e-12,
        1e-12,
        count=16,
        rounds=whole(1, 10**4),
        delta=log(1e-15, 0.1),
    ),
    stated(
        "shuffle_gaussian_epsilons",
        _after_rounds,
        1e-12,
        1e-12,
        count=8,
        rounds=whole(1, 10**4),
        delta=log(1e-15, 0.1),
    ),
    stated("subsampled_rdp", _any_mechanism, 1e-12, 1e-12, count=20, sigma=log(0.5, 1e3), rate=log(1e-6, 1)),
    stated(
        "subsampled_shuffle_gaussian_rdp",
        _sampled,
        1e-12,
        1e-12,
        count=30,
        n=whole(2, 10**8),
        part=log(0.0001, 1),
        order=whole(2, 30),
        form=one_of("printed", "convex", "pair"),
    ),
    stated(
        "checkin_shuffle_gaussian_rdp",
        _checked_in,
        1e-11,
        1e-11,
        count=24,
        n=whole(1, 40),
        form=one_of("printed", "conditional", "convex", "pair"),
    ),
    stated(
        "checkin_shuffle_gaussian_rdp_theorem3",
        _theorem3,
        1e-12,
        1e-12,
        count=24,
        n=whole(1, 10**4),
        split=linear(0, 1),
    ),
    stated(
        "renyi_from_profile",
        _divergence,
        0,
        0.01,
        count=20,
        keep=_resolved,
        mu=log(0.001, 5),
        order=log(1.1, 50),
    ),
    stated("to_renyi", _renyi_curve, 0, 0.01, count=8, keep=_resolved, mu=log(0.001, 5), order=log(1.1, 50)),
    stated("trade_off (absolute)", _trade_off, 0.001, 0, count=20, mu=log(0.001, 8)),
    stated("true_positive_rate (absolute)", _attack, 0, 0.001, count=20, mu=log(0.001, 8)),
    stated("gaussian_fit", _fit, 0, 0.002, count=8, mu=log(0.01, 8)),
]
