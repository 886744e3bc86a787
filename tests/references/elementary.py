"""References in closed form: errors, messages, levels and splits of a budget."""

from __future__ import annotations

import math

import mpmath

from references.claims import (
    Number,
    claims_of,
    linear,
    log,
    off,
    off_by_count,
    one_of,
    whole,
    worst,
)
from references.laws import binomial, poisson
from shuffledp import accounting as a
from shuffledp.populations import Binomial, Empirical, Fixed, Poisson

mpf = mpmath.mpf


def _half(eps: float) -> Number:
    """Return ``1 / (2 sinh(eps / 2)^2)``."""
    return 1 / (2 * mpmath.sinh(mpf(eps) / 2) ** 2)


def _levels(n: int, eps: float, zeta: float) -> Number:
    e, z = mpf(eps), mpf(zeta)
    least = 2 / ((1 - z) * e) ** 2 - 2 / ((1 - z / 2) * e) ** 2
    return off_by_count(
        a.real_summation_levels(n, eps, zeta), lambda d: mpf(n) / (4 * mpf(d) ** 2) <= least, least=1
    )


def _sparse(n: int, dimension: int, eps: float, zeta: float) -> Number:
    e, z = mpf(eps), mpf(zeta)
    least = 8 * dimension / ((1 - z) * e) ** 2 - 8 * dimension / ((1 - z / 2) * e) ** 2
    found = a.sparse_vector_levels(n, dimension, eps, zeta)
    return off_by_count(found, lambda d: mpf(n) / (4 * mpf(d) ** 2) <= least, least=1)


def _wraps(n: int, max_value: int, eps: float, failure: float) -> Number:
    true = mpf(n) * max_value + 1 + 2 * mpmath.ceil(max_value / mpf(eps) * mpmath.log(2 / mpf(failure)))
    return off(a.ikos_group_order(n, max_value, eps, failure), true)


def _variance(eps_local: float, objective: str) -> Number:
    e = mpmath.exp(eps_local)
    true = 1 / mpf(eps_local) ** 2 if objective == "laplace" else e / (e - 1) ** 2
    return off(a.report_variance(eps_local, objective), true)


#: Population and its law, by its size.
LAWS = {
    "Fixed": lambda m: (Fixed(m), {m: mpf(1)}),
    "Binomial": lambda m: (Binomial(2 * m, 0.3), binomial(2 * m, 0.3)),
    "Poisson": lambda m: (Poisson(float(m)), poisson(m)),
    "Empirical": lambda m: (
        Empirical((0.25, 0.5, 0.25), m),
        {m: mpf(0.25), m + 1: mpf(0.5), m + 2: mpf(0.25)},
    ),
}


def _inverse_moments(law: str, others: int) -> Number:
    population, masses = LAWS[law](others)
    found = a.inverse_moments(population)
    return worst(
        [
            off(f, mpmath.fsum(m / mpf(k + 1) ** p for k, m in masses.items()))
            for f, p in zip(found, (1, 2), strict=True)
        ]
    )


def _error_factor(law: str, others: int, dummies: int, form: str) -> Number:
    population, masses = LAWS[law](others)
    terms = []
    for k, m in masses.items():
        n = mpf(k + 1)
        if form == "fixed":
            terms.append(m * (n + dummies) / n**2)
        else:
            more = max(dummies - n, mpf(0)) / n**2
            terms.append(m * (1 / n + (dummies if form == "stray" else 1) * more))
    found = a.error_factor(population, dummies, adaptive=form != "fixed", stray_factor=form == "stray")
    return off(found, mpmath.fsum(terms))


def _slots(blankets: float) -> Number:
    found = a.blanket_slots(blankets)
    if found.count < 1 or not mpf(blankets) <= found.count * (1 + mpf(10) ** -12) < mpf(blankets) + 1:
        return mpmath.inf
    return off(found.count * found.rate, mpf(blankets))


def _item(eps: float, delta: float, set_size: int, composition: str) -> Number:
    e, s = mpf(eps), set_size
    true = mpf(delta) / (s * mpmath.exp(e))
    if composition == "tight":
        true = mpf(delta) * mpmath.expm1(e / s) / mpmath.expm1(e)
    return off(a.item_delta(eps, delta, s, composition=composition), true)


def _polya_mean(shape: float, eps: float) -> Number:
    """Return ``2 sum_(z >= 1) z P(z)``, from ``P(z) ~ alpha^z sum_j c_j c_(j + z) alpha^(2 j)``."""
    r, q = mpf(shape), mpmath.exp(-mpf(eps))
    zero = (1 - q) ** (2 * r)
    total, z = mpf(0), 1
    coefficient = r * q  # C(z + r - 1, z) q^z
    while True:
        term = 2 * z * zero * coefficient * mpmath.hyp2f1(r, r + z, z + 1, q**2)
        total += term
        if z > r * q / (1 - q) and term < total * mpf(10) ** -25:
            return off(float(a.polya_mean_absolute(shape, eps)), total)
        coefficient *= q * (z + r) / (z + 1)
        z += 1


def _secure(eps: float, delta: float) -> Number:
    return off(a.security_bits(eps, delta), mpmath.log((1 + mpmath.exp(eps)) / mpf(delta), 2))


def _shares(security_bits: float, log_order: int, n: int, form: str) -> Number:
    q, sigma = 2**log_order + 1, mpf(security_bits)
    found = a.share_count(security_bits, q, n, form=form)
    bits = mpmath.log(q, 2)
    if form == "printed":
        true = max(
            8 + 5 * mpmath.ceil(mpmath.log(q)) + mpmath.ceil(sigma),
            1 + mpmath.ceil((4 * sigma + 2 * bits) / 5),
        )
    elif n >= 19:
        true = max(3, mpmath.ceil((2 * sigma + bits) / (mpmath.log(n, 2) - 1 / mpmath.log(2)) + 1))
    else:
        return off_by_count(
            found, lambda m: mpmath.binomial(2 * m, m) >= 2 * mpf(q) * (n - 1) ** 2 * 4**sigma, least=1
        )
    return off(found, true)


def _least_mean(eps: float, delta: float) -> Number:
    """Return the error of the least mean, from the largest F with ``F(y) <= delta + e^eps F(y - 1)``."""
    factor, f, total = mpmath.exp(mpf(eps)), mpf(0), mpf(0)
    while True:
        f = min(mpf(1), mpf(delta) + factor * f)
        if f >= 1:
            return off(a.least_mean(eps, delta), total)
        total += 1 - f


def _jumps(center: float) -> Number:
    m = mpf(center)
    last = max(3, math.floor(2.125 * center) + 2) - 1
    weights = [
        mpmath.exp(-(((j - m) / (mpf("0.225") * m)) ** 2) / 2) + (mpf("0.136") if j <= m else 0)
        for j in range(1, last + 1)
    ]
    total = mpmath.fsum(weights)
    found = a.jump_sizes(center)
    if len(found) != last:
        return mpmath.inf
    errors = [off(f, w / total) for f, w in zip(found, weights, strict=True)]
    mean = mpmath.fsum(j * w for j, w in enumerate(weights, 1)) / total
    return worst([*errors, off(a.mean_jump(center), mean)])


def _lattice_gap(n: int, tau: float) -> Number:
    true = mpmath.fsum(mpmath.exp(-2 * mpmath.pi**2 * mpf(tau) ** 2 * k / (k + 1)) for k in range(1, n))
    return off(float(a.discrete_gaussian_gap(n, tau)), true)


FLIP = log(1e-9, 0.499)

stated = claims_of(
    {
        "max_value": whole(1, 10**6),
        "eps": log(0.0001, 50),
        "eps_local": log(1e-6, 30),
        "n": whole(1, 10**9),
        "domain_size": whole(2, 10**6),
        "flip_probability": FLIP,
        "zeta": log(0.0001, 0.99),
        "law": one_of(*LAWS),
    }
)
CLAIMS = [
    stated(
        "discrete_laplace_variance",
        lambda rate: off(a.discrete_laplace_variance(rate), _half(rate)),
        rate=log(1e-9, 500),
    ),
    stated(
        "central_laplace_mse",
        lambda max_value, eps: off(a.central_laplace_mse(max_value, eps), _half(mpf(eps) / max_value)),
        eps=log(1e-6, 100),
    ),
    stated(
        "report_variance",
        _variance,
        eps_local=log(1e-9, 300),
        objective=one_of("randomized_response", "laplace"),
    ),
    stated("real_summation_levels", _levels, 0, 0),
    stated("sparse_vector_levels", _sparse, 0, 0, dimension=whole(1, 10**6)),
    stated(
        "ikos_group_order",
        _wraps,
        0,
        0,
        n=whole(1, 10**6),
        max_value=whole(1, 10**4),
        eps=log(0.001, 50),
        failure=log(1e-30, 0.9),
    ),
    stated("inverse_moments", _inverse_moments, count=12, others=whole(1, 10**5)),
    stated(
        "error_factor",
        _error_factor,
        count=20,
        others=whole(1, 10**4),
        dummies=whole(1, 3 * 10**4),
        form=one_of("fixed", "adaptive", "stray"),
    ),
    stated(
        "polya_mean_absolute", _polya_mean, 1e-12, 1e-12, count=12, shape=log(1e-6, 1000), eps=log(0.05, 300)
    ),
    stated("blanket_slots", _slots, blankets=log(1e-9, 1e9)),
    stated(
        "item_delta",
        _item,
        eps=log(1e-9, 300),
        delta=log(1e-30, 0.99),
        set_size=whole(1, 10**4),
        composition=one_of("printed", "tight"),
    ),
    stated("security_bits", _secure, eps=log(1e-9, 600), delta=log(1e-200, 0.99)),
    stated(
        "share_count",
        _shares,
        0,
        0,
        keep=lambda form, n, **_: form != "balle" or n >= 19,
        security_bits=linear(0.5, 300),
        log_order=whole(1, 4000),
        n=whole(1, 10**6),
        form=one_of("printed", "any_n", "balle"),
    ),
    stated("least_mean", _least_mean, count=20, eps=log(0.01, 20), delta=log(1e-15, 0.5)),
    stated("jump_sizes", _jumps, count=16, center=log(0.5, 3000)),
    stated("discrete_gaussian_gap", _lattice_gap, count=20, n=whole(1, 500), tau=log(0.05, 5)),
]
