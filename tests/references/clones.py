"""References for the reductions to clones: delta, eps and budgets by population, closed forms, random check-in."""

from __future__ import annotations

import math
from functools import lru_cache

import mpmath

from references.claims import (
    Number,
    claims_of,
    linear,
    log,
    off,
    off_by_inverse,
    off_by_root,
    one_of,
    whole,
    worst,
)
from references.laws import Law, binomial, labels, poisson
from shuffledp import accounting as a
from shuffledp.populations import (
    Binomial,
    Empirical,
    Fixed,
    MomentBounded,
    Poisson,
    Population,
    SubExponential,
    SubGaussian,
)

mpf = mpmath.mpf


def population(kind: str, size: int) -> Population:
    """Return a population of about this size."""
    return {
        "fixed": lambda: Fixed(size),
        "binomial": lambda: Binomial(2 * size, 0.4),
        "poisson": lambda: Poisson(float(size)),
        "empirical": lambda: Empirical((0.25, 0.5, 0.25), size),
        "subgaussian": lambda: SubGaussian(float(size), math.sqrt(size)),
        "subexponential": lambda: SubExponential(float(size), 2.0, 0.5),
        "moments": lambda: MomentBounded(float(size), float(size)),
    }[kind]()


def clones(kind: str, size: int, rate: Number, dummies: int = 0) -> Law:
    """Return the law of the number of clones; each report is a clone with a fixed probability."""
    if kind == "poisson":
        law = poisson(size * rate)
        return _sum(law, binomial(dummies, rate)) if dummies else law
    if kind == "binomial":
        law = binomial(2 * size, mpf(0.4) * rate)
        return _sum(law, binomial(dummies, rate)) if dummies else law
    others = {size: mpf(1)} if kind == "fixed" else {size: mpf(0.25), size + 1: mpf(0.5), size + 2: mpf(0.25)}
    found: Law = {}
    for number, mass in others.items():
        for c, m in binomial(number + dummies, rate).items():
            found[c] = found.get(c, mpf(0)) + mass * m
    return found


def _sum(one: Law, other: Law) -> Law:
    found: Law = {}
    for x, p in one.items():
        for y, q in other.items():
            found[x + y] = found.get(x + y, mpf(0)) + p * q
    return found


def clone_probability(eps_local: Number, reduction: str) -> Number:
    """Return the probability that another report is a clone."""
    return mpmath.exp(-eps_local) if reduction == "clones" else 2 / (mpmath.exp(eps_local) + 1)


def clones_delta(
    kind: str, size: int, eps_local: Number, eps: Number, reduction: str = "clones", dummies: int = 0
) -> Number:
    """Return the divergence of the reduction."""
    e = mpmath.exp(mpf(eps_local))
    law = clones(kind, size, clone_probability(mpf(eps_local), reduction), dummies)
    return labels(e / (e + 1), 1 / (e + 1), law, eps)


def _rate(eps_local: float, reduction: str) -> Number:
    return off(a.clone_rate(eps_local, reduction), clone_probability(mpf(eps_local), reduction))


def _delta(law: str, users: int, eps_local: float, part: float, reduction: str, dummies: int) -> Number:
    eps = part * eps_local
    reports = {"dummies": dummies - 1, "reduction": reduction}
    found = a.clone_delta(population(law, users), eps_local, eps, **reports)
    true = clones_delta(law, users, eps_local, eps, reduction, dummies - 1)
    other = a.ClonesProfile(a.OtherReports(population(law, users), **reports), eps_local).delta([eps])[0]
    return worst([off(found, true), off(other, true)])


def _adaptive(users: int, dummies: int, eps_local: float, part: float) -> Number:
    """Return the error for a Poisson number of others, with dummies up to a fixed number of reports."""
    eps, rate = part * eps_local, mpmath.exp(-mpf(eps_local))
    law: Law = {}
    for others, mass in poisson(users).items():
        for c, m in binomial(max(others, dummies), rate).items():
            law[c] = law.get(c, mpf(0)) + mass * m
    e = mpmath.exp(mpf(eps_local))
    true = labels(e / (e + 1), 1 / (e + 1), law, eps)
    found = a.clone_delta(Poisson(float(users)), eps_local, eps, dummies=dummies, adaptive=True)
    return off(found, true)


def _eps(law: str, users: int, eps_local: float, delta: float, reduction: str) -> Number:
    found = a.amplified_epsilon(population(law, users), eps_local, delta, reduction=reduction)

    def forward(eps: Number) -> Number:
        return clones_delta(law, users, eps_local, eps, reduction)

    return off_by_root(found, forward, delta, least=1.01e-12 * eps_local)  # the least eps that differs from 0


def _budget(law: str, users: int, eps_central: float, delta: float, reduction: str) -> Number:
    found = a.local_budget(population(law, users), eps_central, delta, reduction=reduction)
    alone = mpf(eps_central)
    if clones_delta(law, users, found, alone, reduction) == 0:
        return mpmath.inf
    return off_by_inverse(found, lambda x: clones_delta(law, users, x, alone, reduction), delta)


def _omega(kind: str, law: str, users: int, dummies: int, rate: Number, delta: Number) -> Number:
    """Return the number of clones of Theorems 1 to 4, as printed and with one-sided textbook tails."""
    two, four = mpmath.log(2 / delta), mpmath.log(4 / delta)
    below = lambda mean, factor: mean - mpmath.sqrt(factor * mean)  # noqa: E731
    n, k = mpf(users), dummies
    if kind == "printed":
        if law in {"fixed", "binomial"}:
            potential = n + 1 if law == "fixed" else (2 * n + 1) * mpf(0.4)
            return below((potential + k) * rate, 3 * four)
        if law == "poisson":
            return (n + k) * rate - mpmath.sqrt(((4 if k else 2) * n + 2 * k) * rate * two)
        if law == "subgaussian":
            return below((k + n - mpf(math.sqrt(users)) * mpmath.sqrt(four)) * rate, 2 * two)
        if law == "subexponential":
            return below((k + n - mpmath.log(2 * 4 / delta) / mpf(0.5)) * rate, 2 * two)
    else:
        if law in {"fixed", "binomial", "poisson"}:
            return below((n * (2 * mpf(0.4) if law == "binomial" else 1) + k) * rate, 2 * two)
        if law == "subgaussian":
            variance = mpf(population(law, users).variance)
            return below((k + n - mpmath.sqrt(2 * variance * four)) * rate, 2 * four)
        if law == "subexponential":
            return below((k + min(n, n - mpmath.log(2 * 4 / delta) / mpf(0.5))) * rate, 2 * four)
    mean, variance = (n + 1, mpf(0.5)) if law == "empirical" else (n, n)
    spread = (mean + k) * rate * (1 - rate) + variance * rate**2
    return (mean + k) * rate - mpmath.sqrt(spread * (2 / delta if kind == "printed" else 2 / delta - 1))


def _closed(law: str, users: int, dummies: int, eps_local: float, delta: float, accounting: str) -> Number:
    k, d, local = dummies - 1, mpf(delta), mpf(eps_local)
    if accounting == "simplified" and law not in {"fixed", "binomial", "poisson"}:
        return mpf(0)
    found = a.amplified_epsilon(population(law, users), eps_local, delta, dummies=k, accounting=accounting)
    rate, tanh, four = mpmath.exp(-local), mpmath.tanh(local / 2), mpmath.log(4 / d)
    if accounting == "simplified":
        mean = {"fixed": mpf(users) + 1, "binomial": (2 * mpf(users) + 1) * mpf(0.4), "poisson": mpf(users)}[
            law
        ]
        c = (mean + k) * rate
        true = mpmath.log1p(tanh * (8 * mpmath.sqrt(four / c) + 8 / c)) if c >= 3 * four else mpmath.inf
        return off(found, min(true, local))
    omega = _omega(accounting, law, users, k, rate, d)
    term = four if accounting == "printed" else mpmath.log(2 / d)
    if not isinstance(omega, mpmath.mpf) or omega <= 2 * term:
        return off(found, local)
    s = mpmath.sqrt(omega / 2 * term)
    r = (2 * s + 1) / (omega / 2 - s)
    e = mpmath.exp(local)
    true = mpmath.log1p(tanh * r) if accounting == "printed" else mpmath.log(((1 + r) * e + 1) / (1 + r + e))
    return off(found, min(true, local))


def _feldman(eps_local: float, n: int, delta: float) -> Number:
    e, d = mpmath.exp(mpf(eps_local)), mpf(delta)
    if a.clones_apply(eps_local, n, delta) != bool(
        mpf(eps_local) <= mpmath.log(n / (16 * mpmath.log(2 / d)))
    ):
        return mpmath.inf
    spread = 8 * mpmath.sqrt(e * mpmath.log(4 / d) / n) + 8 * e / n
    true = mpmath.log1p(mpmath.tanh(mpf(eps_local) / 2) * spread)
    return off(a.closed_form_clones_epsilon(eps_local, n, delta), true)


def _approximate(eps: float, eps_local: float, delta_local: float, n: int, delta: float) -> Number:
    true = mpf(delta) + (mpmath.exp(eps) + 1) * (1 + mpmath.exp(-mpf(eps_local)) / 2) * n * mpf(delta_local)
    return off(a.approximate_clones_delta(eps, eps_local, delta_local, n, delta), true)


def _checkin_closed(slots: int, eps_local: Number, delta: float, rate: float) -> Number:
    e, p = mpmath.exp(mpf(eps_local)), mpf(rate)
    spread = mpmath.sqrt(2 * e * mpmath.log(1 / mpf(delta)) / slots)
    return p * (e - 1) * spread + p**2 * e * (e - 1) ** 2 / (2 * mpf(slots))


def _checkin(slots: int, eps_local: float, delta: float, rate: float) -> Number:
    true = min(_checkin_closed(slots, mpf(eps_local), delta, rate), mpf(eps_local))
    return off(a.checkin_epsilon(slots, eps_local, delta, rate=rate, accounting="printed"), true)


def _checkin_budget(slots: int, eps_central: float, delta: float, rate: float) -> Number:
    found = a.checkin_local_budget(slots, eps_central, delta, rate=rate, accounting="printed")
    if found == eps_central:
        return (
            mpf(0)
            if _checkin_closed(slots, mpf(found), delta, rate) >= eps_central * (1 - mpf(10) ** -12)
            else -mpmath.inf
        )
    return off_by_inverse(found, lambda x: _checkin_closed(slots, x, delta, rate), eps_central)


def _checkin_exact(slots: int, eps_local: float, delta: float) -> Number:
    found = a.checkin_epsilon(slots, eps_local, delta)
    forward = lambda eps: clones_delta("fixed", slots - 1, mpf(eps_local), eps)  # noqa: E731
    return off_by_root(found, forward, delta, least=1.01e-12 * eps_local)


def _checkin_exact_budget(slots: int, eps_central: float, delta: float) -> Number:
    found = a.checkin_local_budget(slots, eps_central, delta)
    return off_by_inverse(found, lambda x: clones_delta("fixed", slots - 1, x, mpf(eps_central)), delta)


@lru_cache(maxsize=64)
def _tail(law: str, users: int) -> tuple[tuple[int, Number], ...]:
    law_of = {
        "fixed": lambda: {users: mpf(1)},
        "binomial": lambda: binomial(2 * users, 0.4),
        "poisson": lambda: poisson(users),
    }
    return tuple(law_of[law]().items())


def _shortfall(law: str, users: int, part: float) -> Number:
    """Return the error of Pr[N < bound], where N counts user 1."""
    bound = math.floor(part * users)
    masses = _tail(law, users)
    return off(
        a.population_shortfall(population(law, users), float(bound)),
        mpmath.fsum(m for k, m in masses if k + 1 < bound),
    )


def _moments(users: int, part: float) -> Number:
    """Return the error against the least parabola that has integer zeros and bounds the indicator."""
    law = population("moments", users)
    bound = math.floor(part * users)
    k, mean, variance = bound - 2, mpf(users), mpf(users)
    best = mpf(1)
    if k < 0:
        return off(a.population_shortfall(law, float(bound)), mpf(0))
    for j in range(k + 1, 40 * users + 10):
        best = min(best, (variance + (mean - j) * (mean - j - 1)) / (mpf(j - k) * (j + 1 - k)))
    return off(a.population_shortfall(law, float(bound)), best)


def _lower_bound(law: str, users: int, delta: float) -> Number:
    masses = _tail(law, users)
    found = a.population_lower_bound(population(law, users), delta)
    few = lambda n1: mpmath.fsum(m for k, m in masses if k + 1 < n1)  # noqa: E731
    if few(found) > delta:
        return mpmath.inf
    return mpf(0) if law == "fixed" or few(found + 1) > delta else -mpmath.inf


def _lower_bound_closed(law: str, users: int, delta: float, form: str) -> Number:
    d = mpf(delta)
    big, n = mpmath.log(1 / d), mpf(users)
    p = population(law, users)
    if form == "printed":
        potential = (2 * n + 1) * mpf(0.4)
        true = {
            "fixed": n + 1,
            "binomial": potential - mpmath.sqrt(potential * big) + 1,
            "poisson": n - mpmath.sqrt(3 * n * big) + 1,
            "subgaussian": n - mpmath.sqrt(mpf(math.sqrt(users)) ** 2 * big) + 1,
            "subexponential": n - mpmath.log(2 / d) / mpf(0.5) + 1,
            "moments": n - mpmath.sqrt(n / d) + 1,
        }[law]
    else:
        mean = mpf(p.mean) if law != "binomial" else 2 * n * mpf(0.4)
        true = {
            "fixed": n + 1,
            "binomial": mean - mpmath.sqrt(2 * mean * big) + 1,
            "poisson": n - mpmath.sqrt(2 * n * big) + 1,
            "subgaussian": n - mpmath.sqrt(2 * mpf(p.variance) * big) + 1,
            "subexponential": n - mpmath.log(2 / d) / mpf(0.5) + 1,
            "moments": n - mpmath.sqrt(n * (1 / d - 1)) + 1,
        }[law]
        true = min(true, mean + 1)
    return off(float(a.population_lower_bound(p, delta, form=form)), max(true, mpf(1)))


EXACT = one_of("fixed", "binomial", "poisson", "empirical")
CLOSED = one_of("fixed", "binomial", "poisson", "empirical", "subgaussian", "subexponential", "moments")
REDUCTION = one_of("clones", "randomized_response")
DELTA = log(1e-15, 0.1)

stated = claims_of(
    {
        "eps_local": log(0.01, 20),
        "reduction": REDUCTION,
        "law": EXACT,
        "users": whole(1, 3 * 10**4),
        "part": linear(0, 0.95),
        "dummies": whole(1, 30),
        "delta": DELTA,
        "slots": whole(1, 10**9),
        "rate": log(0.001, 1),
    }
)
CLAIMS = [
    stated("clone_rate", _rate, eps_local=log(1e-9, 300)),
    stated("clone_delta", _delta, 0, 1e-10),
    stated("clone_delta (adaptive)", _adaptive, 0, 1e-10, count=16, users=whole(1, 40), dummies=whole(1, 60)),
    stated("ClonesProfile", _delta, 0, 1e-10, count=12, users=whole(1, 3 * 10**3)),
    stated("amplified_epsilon", _eps, 0, 1e-10, count=30),
    stated("local_budget", _budget, 1e-10, 0, count=24, users=whole(1, 10**4), eps_central=log(0.001, 10)),
    stated(
        "amplified_epsilon (closed forms)",
        _closed,
        count=60,
        law=CLOSED,
        users=whole(1, 10**9),
        dummies=whole(1, 10**6),
        accounting=one_of("printed", "simplified", "corrected"),
    ),
    stated(
        "closed_form_clones_epsilon",
        _feldman,
        keep=lambda eps_local, n, delta: eps_local < math.log(n / 16 / math.log(2 / delta)) - 1e-9,
        eps_local=log(0.001, 12),
        n=whole(10**3, 10**12),
        delta=log(1e-30, 0.5),
    ),
    stated(
        "approximate_clones_delta",
        _approximate,
        eps=log(1e-6, 10),
        eps_local=log(0.001, 12),
        delta_local=log(1e-40, 1e-20),
        n=whole(1, 10**9),
        delta=log(1e-30, 0.5),
    ),
    stated(
        "checkin_epsilon", _checkin_exact, 0, 1e-11, count=16, slots=whole(1, 10**4), eps_local=log(0.01, 15)
    ),
    stated("checkin_epsilon (printed)", _checkin, eps_local=log(0.001, 15)),
    stated(
        "checkin_local_budget",
        _checkin_exact_budget,
        1e-11,
        0,
        count=12,
        slots=whole(2, 10**4),
        eps_central=log(0.01, 5),
    ),
    stated("checkin_local_budget (printed)", _checkin_budget, 1e-11, 0, eps_central=log(0.001, 5)),
    stated(
        "population_shortfall",
        _shortfall,
        count=24,
        law=one_of("fixed", "binomial", "poisson"),
        users=whole(1, 10**5),
        part=linear(0.7, 1.0),
    ),
    stated("population_shortfall (moments)", _moments, count=16, users=whole(1, 300), part=linear(0.1, 1.0)),
    stated(
        "population_lower_bound",
        _lower_bound,
        0,
        0,
        count=24,
        law=one_of("fixed", "binomial", "poisson"),
        users=whole(1, 10**5),
    ),
    stated(
        "population_lower_bound (closed forms)",
        _lower_bound_closed,
        law=one_of("fixed", "binomial", "poisson", "subgaussian", "subexponential", "moments"),
        users=whole(1, 10**6),
        form=one_of("printed", "corrected"),
    ),
]
