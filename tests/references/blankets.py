"""References for reports among uniform messages, blankets of local randomizers, and deployments."""

from __future__ import annotations

import math
from itertools import permutations

import mpmath

from references.claims import (
    Claim,
    Number,
    claims_of,
    linear,
    log,
    off,
    off_by_count,
    off_by_inverse,
    off_by_root,
    one_of,
    whole,
    worst,
)
from references.clones import clones_delta
from references.laws import Law, binomial, labels
from shuffledp import accountant, accounting as a
from shuffledp.populations import Fixed

mpf = mpmath.mpf


def uniform(eps_local: Number | float, k: int) -> Number:
    """Return the probability of a uniform report in generalized randomized response."""
    return k / (mpmath.exp(mpf(eps_local)) + k - 1)


def among(messages: int, k: int, eps: Number, eps_local: Number | None = None) -> Number:
    """Return delta of a report, randomized or not, among uniform messages."""
    rate = uniform(eps_local, k) if eps_local is not None else mpf(0)
    return labels(1 - rate + rate / k, rate / k, binomial(messages, mpf(2) / k), eps)


def averaged(numbers: Law, k: int, eps: Number, eps_local: Number | None) -> Number:
    """Return delta averaged over the number of uniform messages, which the adversary knows."""
    return mpmath.fsum(mass * among(m, k, eps, eps_local) for m, mass in numbers.items())


def reports(n: int, k: int, eps: Number, eps_local: Number, dummies: int = 0) -> Number:
    """Return delta of n reports of generalized randomized response among dummies."""
    others = binomial(n - 1, uniform(eps_local, k))
    return averaged({m + dummies: mass for m, mass in others.items()}, k, eps, eps_local)


def _dummy(domain_size: int, dummies: int, eps: float) -> Number:
    return off(a.dummy_delta(domain_size, dummies, eps), among(dummies, domain_size, mpf(eps)))


def _blanket(uniform_messages: int, domain_size: int, eps_local: float, part: float) -> Number:
    eps = part * eps_local
    true = among(uniform_messages, domain_size, mpf(eps), mpf(eps_local))
    return off(a.blanket_delta(eps, uniform_messages, domain_size, eps_local), true)


def _grr(n: int, domain_size: int, eps_local: float, part: float, dummies: int) -> Number:
    eps = part * eps_local
    true = reports(n, domain_size, mpf(eps), mpf(eps_local), dummies - 1)
    return off(a.grr_blanket_delta(eps, n, domain_size, eps_local, dummies=dummies - 1), true)


def _flexible(n: int, domain_size: int, dummies: int, rate: float, eps: float, report: str) -> Number:
    eps_local = None if report == "as it is" else mpf(3)
    others = binomial(n - 1, uniform(3, domain_size)) if eps_local else {0: mpf(1)}
    numbers: Law = {}
    for sending, p in binomial(n, rate).items():
        for m, q in others.items():
            key = dummies * sending + m
            numbers[key] = numbers.get(key, mpf(0)) + p * q
    true = averaged(numbers, domain_size, mpf(eps), eps_local)
    options = {} if eps_local is None else {"eps_local": 3.0}
    return off(a.flexible_dummy_delta(eps, n, domain_size, dummies, rate, **options), true)


def _dummy_eps(domain_size: int, dummies: int, delta: float) -> Number:
    forward = lambda eps: among(dummies, domain_size, eps)  # noqa: E731
    found = [
        a.dummy_epsilon(domain_size, dummies, delta),
        a.pure_shuffler_epsilon(domain_size, dummies, delta),
    ]
    return worst([off_by_root(f, forward, delta) for f in found])


def _own_dummies(domain_size: int, dummies: int, delta: float, eps_local: float) -> Number:
    found = a.mix_shuffler_epsilon(domain_size, dummies, delta, eps_local)
    return off_by_root(
        found, lambda eps: among(dummies, domain_size, eps, mpf(eps_local)), delta, most=eps_local
    )


def _theorem(domain_size: int, dummies: int, delta: float) -> Number:
    """Return ``sqrt(14 k ln(2/delta) / (S - 1))``: Theorem 5.2 of DUMP and Corollary 5.3."""
    true = mpmath.sqrt(14 * domain_size * mpmath.log(2 / mpf(delta)) / (dummies - 1))
    found = [a.dummy_epsilon(domain_size, dummies, delta, accounting="printed")]
    found.append(a.pure_shuffler_epsilon(domain_size, dummies, delta, accounting="printed"))
    return worst([off(f, true) for f in found])


def _count(domain_size: int, eps: float, delta: float) -> Number:
    found = a.dummy_count(domain_size, eps, delta)
    return off_by_count(found, lambda m: among(m, domain_size, mpf(eps)) <= delta)


def _count_printed(domain_size: int, eps: float, delta: float) -> Number:
    true = mpmath.ceil(14 * domain_size * mpmath.log(2 / mpf(delta)) / mpf(eps) ** 2 + 1)
    return off(a.dummy_count(domain_size, eps, delta, accounting="printed"), true)


def _mix_count(n: int, domain_size: int, eps: float, delta: float, eps_local: float) -> Number:
    found = a.mix_dummy_count(n, domain_size, eps, delta, eps_local)
    return off_by_count(
        found, lambda m: eps_local <= eps or reports(n, domain_size, mpf(eps), mpf(eps_local), m) <= delta
    )


def _flexible_count(n: int, domain_size: int, eps: float, delta: float, rate: float) -> Number:
    found = a.flexible_dummies(n, domain_size, eps, delta, rate)

    def enough(each: int) -> bool:
        numbers = {each * sending: p for sending, p in binomial(n, rate).items()}
        return averaged(numbers, domain_size, mpf(eps), None) <= delta

    return off_by_count(found, enough)


def _flexible_printed(n: int, domain_size: int, eps: float, delta: float, rate: float) -> Number:
    left = mpf(delta) - (1 - mpf(rate)) ** n
    total = 14 * domain_size * mpmath.log(2 / left) / mpf(eps) ** 2 + 1
    return off(a.flexible_dummies_needed(n, domain_size, eps, delta, rate), total / (mpf(rate) * n))


def _grr_eps(n: int, domain_size: int, delta: float, eps_local: float) -> Number:
    found = a.grr_blanket_epsilon(n, domain_size, delta, eps_local)
    return off_by_root(found, lambda eps: reports(n, domain_size, eps, mpf(eps_local)), delta, most=eps_local)


def _grr_budget(n: int, domain_size: int, eps: float, delta: float) -> Number:
    found = a.blanket_local_budget(n, domain_size, eps, delta)
    error = off_by_inverse(found, lambda x: reports(n, domain_size, mpf(eps), x), delta)
    return error * found / max(found, 1)  # absolute below 1


def _grr_printed(n: int, domain_size: int, delta: float, eps_local: float) -> Number:
    """Return the error of eps for Balle et al. (2019), Theorem 3.1."""
    spread = 14 * mpmath.log(2 / mpf(delta)) * (mpmath.exp(mpf(eps_local)) + domain_size - 1) / (n - 1)
    true = min(mpmath.sqrt(spread), mpf(eps_local)) if spread <= 1 else mpf(eps_local)
    return off(a.grr_blanket_epsilon(n, domain_size, delta, eps_local, accounting="printed"), true)


def _grr_budget_printed(n: int, domain_size: int, eps: float, delta: float) -> Number:
    m = mpf(eps) ** 2 * (n - 1) / (14 * mpmath.log(2 / mpf(delta)))
    inner = m - domain_size + 1
    true = max(mpf(eps), mpmath.log(inner)) if inner > 1 else mpf(eps)
    return off(a.blanket_local_budget(n, domain_size, eps, delta, accounting="printed"), true)


# Any randomizer with finitely many outputs: the mean of the positive part of a sum, term by term.

#: Outputs, each with its probability under one input, under the other input, and in the common part of all other
#: reports.
Rows = list[tuple[Number, Number, Number]]


def divergence(rows: Rows, users: int, eps: Number | float) -> Number:
    """Return ``E (G_1 + .. + G_n)^+ / n`` with ``G = (own - e^eps other) / blanket``."""
    factor = mpmath.exp(mpf(eps))
    gains = [((own - factor * other) / blanket, blanket) for own, other, blanket in rows if blanket > 0]
    rest = 1 - mpmath.fsum(mass for _, mass in gains)
    if rest > mpf(10) ** -40:
        gains.append((mpf(0), rest))
    found = [(0, mpf(0), mpf(1))]  # reports so far, their sum, probability over a multinomial coefficient
    for place, (gain, mass) in enumerate(gains):
        further = []
        for done, total, weight in found:
            left = users - done
            for c in range(left if place == len(gains) - 1 else 0, left + 1):
                further.append((done + c, total + c * gain, weight * math.comb(left, c) * mass**c))
        found = further
    return mpmath.fsum(weight * total for _, total, weight in found if total > 0) / users


def response(eps_local: Number | float, k: int) -> list[list[Number]]:
    """Return the rows of generalized randomized response; values after the first three are merged."""
    e = mpmath.exp(mpf(eps_local))
    total = e + k - 1
    inputs = min(k, 3)
    rest = [[(k - 3) / total]] * inputs if k > 3 else [[]] * inputs
    return [[(e if x == y else mpf(1)) / total for y in range(inputs)] + rest[x] for x in range(inputs)]


def subsets(eps_local: Number | float, k: int, d: int) -> list[list[Number]]:
    """Return the rows of subset selection; subsets with the same inputs among 0, 1 and 2 are merged."""
    e = mpmath.exp(mpf(eps_local))
    weight = e * math.comb(k - 1, d - 1) + math.comb(k - 1, d)
    inputs = min(k, 3)
    found: list[list[Number]] = [[] for _ in range(inputs)]
    for held in range(2**inputs):
        size = bin(held).count("1")
        if size > d or d - size > k - inputs:
            continue
        ways = math.comb(k - inputs, d - size)
        for x in range(inputs):
            found[x].append(ways * (e if held >> x & 1 else mpf(1)) / weight)
    return found


def design(eps_local: Number | float, share: float, overlap: Number) -> Rows:
    """Return the rows of points that are favored by both inputs, by one of them, and by none."""
    e, r = mpmath.exp(mpf(eps_local)), mpf(share)
    rate = 1 / (1 + r * (e - 1))
    masses = [overlap, r - overlap, r - overlap, 1 - 2 * r + overlap]
    odds = [(e, e), (e, mpf(1)), (mpf(1), e), (mpf(1), mpf(1))]
    return [(rate * m * x, rate * m * y, rate * m) for m, (x, y) in zip(masses, odds, strict=True)]


def _design(users: int, eps_local: float, share: float, both: float, part: float) -> Number:
    overlap, eps = both * share, part * eps_local
    true = divergence(design(eps_local, share, mpf(overlap)), users, eps)
    return off(a.design_delta(users, eps_local, share, overlap, eps), true)


def _design_budget(users: int, eps: float, delta: float, share: float, both: float) -> Number:
    overlap = both * share
    found = a.design_local_budget(users, eps, delta, share, overlap)
    return off_by_inverse(found, lambda x: divergence(design(x, share, mpf(overlap)), users, eps), delta)


def matrix(seed: int) -> list[list[Number]]:
    """Return the rows of a randomizer with three inputs and three outputs, in 64ths; a seed determines them."""
    first, second = 1 + seed % 30, 1 + (seed // 30) % 30
    rows = [(first, second, 64 - first - second), (20, 30, 14), (second, 64 - second - 7, 7)]
    return [[mpf(x) / 64 for x in row] for row in rows]


def upper(
    table: list[list[Number]], users: int, eps: Number | float, floor: list[Number] | None = None
) -> Number:
    """Return the largest divergence over ordered pairs of inputs, against the common part of all reports."""
    blanket = floor or [min(column) for column in zip(*table, strict=True)]
    pairs = permutations(table, 2)
    return max(divergence(list(zip(x, y, blanket, strict=True)), users, eps) for x, y in pairs)


def lower(table: list[list[Number]], users: int, eps: Number | float) -> Number:
    """Return the largest divergence over ordered pairs of inputs if all other users hold one value."""
    return max(
        divergence(list(zip(x, y, others, strict=True)), users, eps)
        for x, y in permutations(table, 2)
        for others in table
    )


def floor(randomizer: str, eps_local: float, size: int, table: list[list[Number]]) -> list[Number] | None:
    """Return the blanket of subset selection over all inputs, as the table has only three; None for other tables."""
    if randomizer != "SubsetSelection" or size <= 3:
        return None
    top = [max(column) for column in zip(*table, strict=True)]
    low = [min(column) for column in zip(*table, strict=True)]
    return [
        x if x < y else y * mpmath.exp(-mpf(eps_local)) if held else x
        for x, y, held in zip(low, top, _held(size), strict=True)
    ]


def _held(k: int) -> list[bool]:
    """Return, for each class of subsets, whether it contains all of the first three inputs."""
    d = max(1, k // 3)
    sets = [held for held in range(8) if bin(held).count("1") <= d and d - bin(held).count("1") <= k - 3]
    return [held == 7 for held in sets]


def asked(randomizer: str, eps_local: float, size: int) -> tuple[a.Randomizer, list[list[Number]]]:
    """Return a randomizer and its table."""
    if randomizer == "FiniteRandomizer":
        table = matrix(size * 37 + int(1000 * eps_local))
        return a.FiniteRandomizer([[float(x) for x in row] for row in table]), table
    if randomizer == "GRR":
        return a.GRR(eps_local, size), response(eps_local, size)
    if randomizer == "SubsetSelection":
        d = max(1, size // 3)
        return a.SubsetSelection(eps_local, size, d), subsets(eps_local, size, d)
    return a.BinaryRandomizedResponse(eps_local), response(eps_local, 2)


def _bounded(side: str, randomizer: str):  # type: ignore[no-untyped-def]
    def measure(users: int, eps_local: float, size: int, part: float) -> Number:
        given, table = asked(randomizer, eps_local, size)
        eps = part * given.eps_local
        true = (
            upper(table, users, eps, floor(randomizer, eps_local, size, table))
            if side == "upper"
            else lower(table, users, eps)
        )
        found = [a.blanket_randomizer_delta(given, users, eps, side)]
        if side == "upper":
            found.append(a.BlanketProfile(given, Fixed(users - 1)).delta([eps])[0])
        return worst([off(f, true) for f in found])

    return measure


def _epsilon(side: str):  # type: ignore[no-untyped-def]
    def measure(randomizer: str, users: int, eps_local: float, size: int, delta: float) -> Number:
        given, table = asked(randomizer, eps_local, size)
        found = a.blanket_epsilon(given, users, delta, side)
        least = floor(randomizer, eps_local, size, table)

        def forward(eps: Number) -> Number:
            return upper(table, users, eps, least) if side == "upper" else lower(table, users, eps)

        if side == "lower" and found == 0:
            return mpf(0) if forward(mpf("1e-8")) <= delta else -mpmath.inf
        return off_by_root(found, forward, delta, least=1.01e-9, most=given.eps_local)

    return measure


def _laplace(eps_local: float, part: float) -> Number:
    """Return the error for one Laplace report, against the divergence of its two densities."""
    eps = part * eps_local
    true = -mpmath.expm1((mpf(eps) - mpf(eps_local)) / 2)
    return off(a.blanket_randomizer_delta(a.LaplaceRandomizer(eps_local), 1, eps), true)


def _density(eps_local: float, part: float) -> Number:
    """Return the same error for a randomizer defined by densities and masses of intervals."""
    import numpy as np

    def log_density(x: float, y: np.ndarray) -> np.ndarray:
        return -eps_local * np.abs(y - x)

    def mass(x: float, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        def below(y: np.ndarray) -> np.ndarray:
            t = eps_local * (y - x)
            return np.where(t < 0, 0.5 * np.exp(np.minimum(t, 0)), 1 - 0.5 * np.exp(-np.maximum(t, 0)))

        return below(high) - below(low)

    eps = part * eps_local
    reach = 60 / eps_local
    randomizer = a.DensityRandomizer(
        log_density, mass, (0.0, 1.0), (-reach, *(i / 400 for i in range(401)), 1.0 + reach), eps_local
    )
    true = -mpmath.expm1((mpf(eps) - mpf(eps_local)) / 2)
    return off(a.blanket_randomizer_delta(randomizer, 1, eps), true)


def _gaussian(sigma: float, eps: float) -> Number:
    from references.curves import gaussian_delta

    return off(
        a.blanket_randomizer_delta(a.GaussianRandomizer(sigma), 1, eps), gaussian_delta(1 / mpf(sigma), eps)
    )


# What a deployment asks.


def central(randomizer: str, users: int, eps_local: Number, eps: Number) -> Number:
    """Return delta of the best reduction."""
    if randomizer == "grr":
        return reports(users, 10, eps, eps_local)
    reduction = "clones" if randomizer == "any" else "randomized_response"
    return clones_delta("fixed", users - 1, eps_local, eps, reduction)


def _options(randomizer: str) -> dict[str, object]:
    return {"randomizer": randomizer, **({"domain_size": 10} if randomizer == "grr" else {})}


def _answer(randomizer: str, users: int, eps_local: float, delta: float) -> Number:
    found = accountant.amplification(eps_local, users, delta, **_options(randomizer)).eps
    forward = lambda eps: central(randomizer, users, mpf(eps_local), eps)  # noqa: E731
    return off_by_root(found, forward, delta, least=1.01e-9, most=eps_local)


def _certain(randomizer: str, users: int, eps_local: float, delta: float) -> Number:
    """Return the error of the lower bound on eps, which is the largest loss of data sets with one other value."""
    found = accountant.amplification(eps_local, users, delta, **_options(randomizer)).eps_lower
    table = response(eps_local, {"any": 3, "binary": 2, "grr": 10}[randomizer])
    forward = lambda eps: lower(table, users, eps)  # noqa: E731
    return off_by_root(found, forward, delta, least=1.01e-9, most=eps_local) if found else mpf(0)


def _spent(randomizer: str, users: int, eps: float, delta: float) -> Number:
    found = accountant.budget(eps, users, delta, **_options(randomizer)).eps_local
    if found >= 100:
        return mpf(0)
    if found <= eps:  # a budget of eps itself always holds
        return mpf(found) / mpf(eps) - 1
    return off_by_inverse(found, lambda x: central(randomizer, users, x, mpf(eps)), delta)


def _batch(randomizer: str, eps_local: float, part: float, delta: float) -> Number:
    eps = part * eps_local
    n = int(accountant.smallest_batch(eps_local, eps, delta, **_options(randomizer)).users)
    here = central(randomizer, n, mpf(eps_local), mpf(eps))
    if here > delta:
        return -mpmath.inf
    if n == 1:
        return mpf(0)
    before = central(randomizer, n - 1, mpf(eps_local), mpf(eps))
    if before > delta:
        return mpf(0)
    return mpmath.log(mpf(delta) / before) / mpmath.log(before / here) / n


RANDOMIZERS = ("GRR", "BinaryRandomizedResponse", "FiniteRandomizer", "SubsetSelection")
SMALL = {"users": whole(1, 6), "eps_local": log(0.05, 10), "size": whole(3, 40), "part": linear(0, 0.95)}
DESIGN = {"users": whole(1, 6), "share": linear(0.01, 0.5), "both": linear(0, 0.95)}
ASKED = one_of("any", "binary", "grr")
DELTA = log(1e-12, 0.05)


def _possible(n: int, domain_size: int, eps: float, delta: float) -> bool:
    return delta <= 0.29


def _theorem_holds(domain_size: int, dummies: int, delta: float) -> bool:
    return 14 * domain_size * math.log(2 / delta) < dummies - 1


stated = claims_of(
    {
        "randomizer": ASKED,
        "eps_local": log(0.01, 50),
        "delta": DELTA,
        "eps": log(0.1, 2),
        "part": linear(0, 0.95),
        "domain_size": whole(2, 1000),
        "n": whole(2, 10**9),
    }
)
CLAIMS = [
    stated("amplification", _answer, 0, 5e-05, count=16, users=whole(1, 200), eps_local=log(0.02, 10)),
    stated(
        "amplification (lower bound)",
        _certain,
        5e-5,
        0,
        count=12,
        users=whole(1, 20),
        eps_local=log(0.01, 12),
        delta=log(1e-15, 0.01),
    ),
    stated("budget", _spent, 0.0001, 0, count=10, users=whole(2, 150), eps=log(0.02, 3)),
    stated(
        "smallest_batch",
        _batch,
        0,
        0.0002,
        count=9,
        eps_local=log(0.2, 4),
        part=linear(0.3, 0.95),
        delta=log(1e-6, 0.05),
    ),
    Claim(
        "design_delta", _design, 0, 1e-6, {**DESIGN, "part": linear(0, 0.95), "eps_local": log(0.05, 10)}, 16
    ),
    Claim(
        "design_local_budget",
        _design_budget,
        1e-6,
        0,
        {**DESIGN, "both": linear(0, 0.5), "eps": log(0.05, 2), "delta": log(1e-9, 1e-3)},
        8,
    ),
    Claim("blanket_randomizer_delta (GRR, upper)", _bounded("upper", "GRR"), 0, 0.001, SMALL, 16),
    *[Claim(name, _bounded("upper", name), 0, 0.001, SMALL, 8) for name in RANDOMIZERS],
    *[Claim(f"{name} (lower bound)", _bounded("lower", name), 0.001, 0, SMALL, 8) for name in RANDOMIZERS],
    Claim("BlanketProfile", _bounded("upper", "GRR"), 0, 0.001, SMALL, 6),
    Claim(
        "blanket_epsilon",
        _epsilon("upper"),
        0,
        0.001,
        {
            "randomizer": one_of(*RANDOMIZERS),
            **{k: v for k, v in SMALL.items() if k != "part"},
            "delta": log(1e-9, 0.1),
        },
        12,
    ),
    Claim(
        "blanket_epsilon (lower bound)",
        _epsilon("lower"),
        0.01,
        0,
        {
            "randomizer": one_of(*RANDOMIZERS),
            **{k: v for k, v in SMALL.items() if k != "part"},
            "delta": log(1e-9, 0.1),
        },
        12,
    ),
    stated("LaplaceRandomizer (one user)", _laplace, 0, 0.005, count=12),
    stated("DensityRandomizer (one user)", _density, 0, 0.002, count=12),
    stated(
        "GaussianRandomizer (one user)",
        _gaussian,
        0,
        math.inf,
        count=12,
        keep=lambda sigma, eps: eps * sigma < 3,
        sigma=log(0.5, 100),
        eps=log(0.001, 2),
    ),
    stated(
        "dummy_delta",
        _dummy,
        0,
        1e-10,
        count=24,
        domain_size=whole(2, 10**4),
        dummies=whole(1, 10**6),
        eps=log(0.01, 5),
    ),
    stated(
        "blanket_delta",
        _blanket,
        0,
        1e-10,
        count=24,
        uniform_messages=whole(1, 10**6),
        domain_size=whole(2, 10**4),
        eps_local=log(0.01, 12),
    ),
    stated(
        "grr_blanket_delta",
        _grr,
        0,
        1e-10,
        count=20,
        n=whole(1, 300),
        domain_size=whole(2, 200),
        eps_local=log(0.01, 10),
        dummies=whole(1, 100),
    ),
    stated(
        "flexible_dummy_delta",
        _flexible,
        0,
        1e-10,
        count=8,
        n=whole(1, 25),
        domain_size=whole(2, 30),
        dummies=whole(1, 10),
        rate=log(0.05, 1),
        eps=log(0.02, 2),
        report=one_of("as it is", "randomized response"),
    ),
    stated(
        "dummy_epsilon",
        _dummy_eps,
        0,
        1e-11,
        count=8,
        domain_size=whole(2, 2000),
        dummies=whole(1000, 2 * 10**4),
        delta=log(1e-12, 0.1),
    ),
    stated(
        "dummy_epsilon (printed)",
        _theorem,
        count=30,
        keep=_theorem_holds,
        domain_size=whole(2, 2000),
        dummies=whole(1000, 10**9),
        delta=log(1e-30, 0.2),
    ),
    stated(
        "pure_shuffler_epsilon",
        _dummy_eps,
        0,
        1e-11,
        count=4,
        domain_size=whole(2, 50),
        dummies=whole(500, 10**4),
        delta=log(1e-5, 0.1),
    ),
    stated(
        "mix_shuffler_epsilon",
        _own_dummies,
        0,
        1e-10,
        count=16,
        domain_size=whole(2, 200),
        dummies=whole(1, 10**4),
        eps_local=log(0.1, 10),
    ),
    stated("dummy_count", _count, 0, 0, count=10, eps=log(0.2, 3), delta=log(1e-12, 0.1)),
    stated(
        "dummy_count (printed)",
        _count_printed,
        count=30,
        domain_size=whole(2, 10**6),
        eps=log(0.001, 1),
        delta=log(1e-30, 0.2),
    ),
    stated(
        "mix_dummy_count",
        _mix_count,
        0,
        0,
        count=10,
        n=whole(1, 100),
        domain_size=whole(2, 30),
        delta=log(1e-6, 0.05),
        eps_local=log(0.3, 6),
    ),
    stated(
        "flexible_dummies",
        _flexible_count,
        0,
        0,
        count=10,
        n=whole(2, 60),
        domain_size=whole(2, 30),
        delta=log(0.001, 0.2),
        rate=log(0.2, 1),
    ),
    stated(
        "flexible_dummies_needed",
        _flexible_printed,
        count=24,
        keep=lambda n, rate, delta, **_: (1 - rate) ** n < delta / 10,
        n=whole(100, 10**6),
        eps=log(0.01, 1),
        delta=log(1e-9, 0.1),
        rate=log(0.3, 1),
    ),
    stated(
        "grr_blanket_epsilon",
        _grr_eps,
        0,
        1e-10,
        count=14,
        n=whole(1, 200),
        domain_size=whole(2, 100),
        eps_local=log(0.1, 8),
    ),
    stated(
        "grr_blanket_epsilon (printed)", _grr_printed, count=12, delta=log(1e-15, 0.2), eps_local=log(0.1, 8)
    ),
    stated(
        "blanket_local_budget",
        _grr_budget,
        1e-10,
        0,
        count=12,
        n=whole(2, 200),
        domain_size=whole(2, 100),
        eps=log(0.05, 2),
    ),
    stated(
        "blanket_local_budget (printed)",
        _grr_budget_printed,
        keep=_possible,
        eps=log(0.01, 1),
        delta=log(1e-15, 0.2),
    ),
]
