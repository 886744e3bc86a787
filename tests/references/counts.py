"""References for two changing counts, labeled counts, and noise: dummies, items and sets, Polya and correlated."""

from __future__ import annotations

import math
from collections.abc import Callable

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
from references.curves import gaussian_delta
from references.elementary import LAWS
from references.laws import Law, binomial, hockey_stick, labels, moved, negative_binomial, poisson, two_counts
from shuffledp import accounting as a
from shuffledp.protocols import calibrations

mpf = mpmath.mpf


def shown(noise: Law, eps: Number | float, rate: Number | float = 1) -> Number:
    """Return delta of a message that is sent with a probability and counts in one of two counts with equal noise."""
    return two_counts(moved(noise, rate), noise, eps)


def _bins(eps: float, n: int, rate: float) -> Number:
    return off(a.two_bins_delta(eps, n, rate), shown(binomial(n, rate), eps))


def _miss(n: int, eps: float, delta: float) -> Number:
    found = [a.truncation_miss_rate(n, eps, delta), calibrations.bin_dummy_rate(n, eps, delta)]
    return worst([off_by_inverse(f, lambda p: shown(binomial(n, p), eps), delta) for f in found])


def _coins(eps: float, delta: float) -> Number:
    return off_by_count(calibrations.fair_coins(eps, delta), lambda m: shown(binomial(m, 0.5), eps) <= delta)


def _sbin(eps: float, delta: float, beta: float) -> Number:
    found = calibrations.sbin_dummies(10, 10, eps, delta, beta=beta).coins
    return off_by_count(found, lambda m: shown(binomial(m, 0.5), eps, beta) <= delta)


def asymmetric(half: Number, beta: Number, turn: int) -> Law:
    """Return the normalized weights ``q_l^(nu - z)`` below nu and ``q_r^(z - nu)`` from nu on."""
    low, high = (mpmath.exp(-half) - 1 + beta) / beta, beta / (mpmath.exp(half) - 1 + beta)
    above = int(mpmath.ceil(75 * mpmath.log(10) / -mpmath.log(high)))
    weights = {z: low ** (turn - z) if z < turn else high ** (z - turn) for z in range(turn + above)}
    total = mpmath.fsum(weights.values())
    return {z: w / total for z, w in weights.items() if w > 0}


def _sageo(eps: float, delta: float, share: float) -> Number:
    beta = 1 - math.exp(-eps / 2) * (1 - share)
    found = calibrations.sageo_dummies(10, 10, eps, delta, beta=beta)
    # The ratio of the laws is e^h, e^-h or 1 - beta: at eps itself whole outcomes are on the edge.
    enough = lambda nu: shown(asymmetric(mpf(eps) / 2, mpf(found.share), nu), eps, found.share) <= delta  # noqa: E731
    return off_by_count(found.turn, enough)


def _s1geo(eps: float) -> Number:
    found = calibrations.s1geo_dummies(eps)
    return off(found.share, -mpmath.expm1(-mpf(eps) / 2)) if found.turn == 0 else mpmath.inf


def _poisson(eps: float, delta: float) -> Number:
    return off_by_inverse(calibrations.poisson_dummies(eps, delta), lambda mu: shown(poisson(mu), eps), delta)


def _silent(eps: float, delta: float, rate: float) -> Number:
    found = calibrations.silent_report(10, 10, eps, delta, rate=rate).dummies
    return off_by_inverse(found, lambda mu: shown(poisson(mu), eps, rate), delta)


def _one_sided(eps: float, delta: float, shape: float) -> Number:
    found = calibrations.one_sided_noise(eps, delta, shape=shape)
    return off_by_inverse(found.decay, lambda x: shown(negative_binomial(shape, mpmath.exp(-x)), eps), delta)


def pairs(
    shape: Number | float, decay: Number | float, q: Number
) -> tuple[dict[int, Number], dict[int, Number]]:
    """Return a counter's laws with and without the user; an outcome is w pairs, or -1 for more +1."""
    noise = negative_binomial(shape, mpmath.exp(-mpf(decay)))
    last = max(noise)
    with_user, without = {-1: 1 / (1 + q)}, {-1: q / (1 + q)}
    k = before = mpf(0)
    for w in range(last + 2):
        before, k = k, noise.get(w, mpf(0)) + q**2 * k
        without[w], with_user[w] = (1 - q) * k, (1 - q) * q * before
    return with_user, without


def lone_counter(eps: Number | float, shape: Number | float, decay: Number | float, q: Number) -> Number:
    """Return delta of one counter with and without a user, at eps >= eps_1."""
    with_user, without = pairs(shape, decay, q)
    inside = [{w: m for w, m in law.items() if w >= 0} for law in (without, with_user)]
    return max(hockey_stick(inside[0], inside[1], eps), hockey_stick(inside[1], inside[0], eps))


def _counter(shape: float, decay: float, eps_geometric: float, more: float) -> Number:
    eps = eps_geometric * (1 + more)
    true = lone_counter(eps, shape, decay, mpmath.exp(-mpf(eps_geometric)))
    return off(a.counter_delta(eps, a.CounterNoise(eps_geometric, shape, decay)), true)


def _correlated(eps: float, delta: float) -> Number:
    found = a.correlated_noise(eps, delta)
    q = mpmath.exp(-mpf(found.eps_geometric))
    return off_by_inverse(found.shape, lambda r: lone_counter(mpf(eps) / 2, r, found.decay, q), delta / 2)


def _correlated_pair(eps: float, delta: float) -> Number:
    found = calibrations.correlated_pair_noise(eps, delta)
    q = mpmath.exp(-mpf(found.eps_geometric))
    return off_by_inverse(found.decay, lambda x: two_counts(*pairs(found.shape, x, q), eps), delta)


def matched(messages: int, rate: Number, eps: Number) -> Number:
    """Return delta of a report that always matches its value; other messages match both values independently."""
    held, absent = moved(binomial(messages, rate)), binomial(messages, rate)
    # The report itself matches the other value with the same rate.
    return two_counts(held, moved(absent, rate), eps)


def _tuples(n: int, entries: int, eps: float, delta: float) -> Number:
    found = a.private_coin_tuples(n, eps, delta, entries=entries)
    return off_by_count(found, lambda rho: matched(rho * n, mpf(2) ** -entries, mpf(eps)) <= delta)


def hashed(n: int, cells: int, eps_local: Number, eps: Number) -> Number:
    """Return delta of local hashing: the mean over M of ``(1 - lambda) / (r M) E (a - e^eps b - kappa M)^+``."""
    e, r = mpmath.exp(eps_local), 1 / mpf(cells)
    share = cells / (e + cells - 1)
    kappa, factor = mpmath.expm1(eps) / (e - 1), mpmath.exp(eps)
    total = mpf(0)
    for others, mass in binomial(n - 1, share).items():
        m = others + 1
        law = binomial(m, r)
        inner = mpmath.fsum(
            p * q * max(x - factor * y - kappa * m, mpf(0)) for x, p in law.items() for y, q in law.items()
        )
        total += mass * (1 - share) / (r * m) * inner
    return total


def _solh(n: int, cells: int, eps: float, delta: float) -> Number:
    found = a.solh_report(n, 100, eps, delta, cells=cells).eps_local
    return off_by_inverse(found, lambda x: hashed(n, cells, x, mpf(eps)), delta)


# Labels: items, sets, and the variation ratio.


def item(eps: Number, rate: Number | float, n: int, m: Number | float, d: int, law: str) -> Number:
    """Return delta of one item that is sent with a probability; slots are as in Algorithm 2 of arXiv 2407.19639."""
    if law == "poisson":
        counts = poisson(2 * n * mpf(m) / d)
    else:
        slots = max(1, int(mpmath.ceil(mpf(m) - mpf(10) ** -12)))
        counts = binomial(n * slots, 2 * mpf(m) / slots / d)
    return labels(mpf(rate), mpf(0), counts, eps)


def _item(eps: float, reporting_rate: float, n: int, blankets: float, domain_size: int, law: str) -> Number:
    found = a.segmented_delta(eps, reporting_rate, n, blankets, domain_size, blanket_law=law)
    return off(found, item(mpf(eps), reporting_rate, n, blankets, domain_size, law))


def _all(eps: float, reporting_rate: float, n: int, blankets: float, domain_size: int) -> Number:
    """Return the error for all counts; slots with other items are unavailable to both compared items."""
    slots = max(1, math.ceil(blankets - 1e-12))
    used = mpf(blankets) / slots
    elsewhere = used * (domain_size - 2) / domain_size
    rate = used / domain_size / (1 - elsewhere)
    true = mpmath.fsum(
        mass * labels(mpf(reporting_rate), mpf(0), binomial(n * slots - r, 2 * rate), mpf(eps))
        for r, mass in binomial(n * slots, elsewhere).items()
    )
    return off(a.all_counts_delta(eps, reporting_rate, n, blankets, domain_size), true)


def _item_rate(n: int, blankets: float, domain_size: int, eps: float, delta: float, law: str) -> Number:
    found = a.reporting_rate(n, blankets, domain_size, eps, delta, blanket_law=law)
    forward = lambda x: item(mpf(eps), x, n, blankets, domain_size, law)  # noqa: E731
    if found == 1:
        return mpf(0) if forward(mpf(1)) <= delta else mpmath.inf
    return off_by_inverse(found, forward, delta)


def _full(n: int, domain_size: int, set_size: int, eps: float, delta: float, law: str) -> Number:
    found = a.blankets_for_full_reporting(n, domain_size, set_size, eps, delta, blanket_law=law)
    share = mpf(delta) / (set_size * mpmath.exp(mpf(eps)))
    return off_by_inverse(found, lambda m: item(mpf(eps) / set_size, 1, n, m, domain_size, law), share)


def _user(eps: float, reporting_rate: float, n: int, blankets: float, domain_size: int) -> Number:
    found = a.user_level_delta(eps, reporting_rate, n, blankets, domain_size, 1)
    return off(found, item(mpf(eps), reporting_rate, n, blankets, domain_size, "poisson"))


def _two_items(eps: float, reporting_rate: float, mean: float) -> Number:
    """Return the error for both items of a user: four independent counts, term by term."""
    noise = {k: m for k, m in poisson(mean).items() if m > mpf(10) ** -20}
    sent = {k: m for k, m in moved(noise, reporting_rate).items() if m}
    zero, factor = mpf(0), mpmath.exp(mpf(eps))
    seen = sorted({*noise, *sent})
    get = lambda law, k: law.get(k, zero)  # noqa: E731
    first = [(get(sent, x) * get(noise, y), get(noise, x) * get(sent, y)) for x in seen for y in seen]
    true = mpmath.fsum(max(p * r - factor * q * s, zero) for p, q in first for r, s in first)
    n, d = 100, 10
    return off(a.user_level_delta(eps, reporting_rate, n, mean * d / n, d, 2), true)


def _user_rate(n: int, blankets: float, domain_size: int, eps: float, delta: float) -> Number:
    found = a.user_level_reporting_rate(n, blankets, domain_size, 1, eps, delta)
    forward = lambda x: item(mpf(eps), x, n, blankets, domain_size, "poisson")  # noqa: E731
    if found == 1:
        return mpf(0) if forward(mpf(1)) <= delta else mpmath.inf
    return off_by_inverse(found, forward, delta)


def _user_blankets(n: int, domain_size: int, eps: float, delta: float) -> Number:
    found = a.user_level_blankets(n, domain_size, 1, eps, delta)
    return off_by_inverse(found, lambda m: item(mpf(eps), 1, n, m, domain_size, "poisson"), delta)


def ratio(eps: Number, p: float, part: float, q: float, candidates: int, sound: bool) -> Number:
    """Return delta of the variation ratio's pair of counts, with a part of the largest possible distance."""
    p_ = mpf(p)
    top = (p_ - 1) / (p_ + 1)
    beta = mpf(float(mpf(part) * top))
    r = beta * p_ / ((p_ - 1) * mpf(q))
    if sound:
        return beta / top * labels(top * p_ / (p_ - 1), top / (p_ - 1), binomial(candidates, 2 * r), eps)
    return labels(beta * p_ / (p_ - 1), beta / (p_ - 1), binomial(candidates, 2 * r), eps)


def _variation(p: float, part: float, more: float, candidates: int, share: float, form: str) -> Number:
    eps, q = share * math.log(p), p * more
    beta = float(mpf(part) * (mpf(p) - 1) / (mpf(p) + 1))
    found = a.variation_ratio_delta(eps, p, beta, q, candidates, sound=form == "sound")
    return off(found, ratio(mpf(eps), p, part, q, candidates, form == "sound"))


def _variation_eps(p: float, part: float, more: float, candidates: int, delta: float, form: str) -> Number:
    q, beta = p * more, float(mpf(part) * (mpf(p) - 1) / (mpf(p) + 1))
    found = a.variation_ratio_epsilon(delta, p, beta, q, candidates, sound=form == "sound")
    forward: Callable[[Number], Number] = lambda eps: ratio(eps, p, part, q, candidates, form == "sound")  # noqa: E731
    return off_by_root(found, forward, delta)


# Polya and discrete Gaussian noise of a random number of users.


def polya(shape: Number | float, eps: Number | float) -> Number:
    """Return ``((1 + e^eps) P(0) - (e^eps - 1)) / 2`` for r < 1."""
    r, q = mpf(shape), mpmath.exp(-mpf(eps))
    if r >= 1:
        return mpf(0)
    none = (1 - q) ** (2 * r) * mpmath.hyp2f1(r, r, 1, q**2)
    return ((1 + 1 / q) * none - (1 / q - 1)) / 2


def _polya(shape: float, eps: float) -> Number:
    return off(a.negative_binomial_delta(shape, eps), polya(shape, eps))


def _expected(law: str, others: int, n1: float, eps: float) -> Number:
    population, masses = LAWS[law](others)
    true = mpmath.fsum(
        m * polya((k + 1) / mpf(n1 * others), eps) for k, m in masses.items() if k + 1 < n1 * others
    )
    return off(a.expected_polya_delta(population, n1 * others, eps), true)


def _most_users(law: str, others: int, eps: float, delta: float) -> Number:
    population, masses = LAWS[law](others)

    def lost(n1: int) -> Number:
        return mpmath.fsum(m * polya(mpf(k + 1) / n1, eps) for k, m in masses.items() if k + 1 < n1)

    found = a.best_polya_shape(population, eps, delta)
    if lost(found) > mpf(delta) / 2:
        return mpmath.inf
    return mpf(0) if lost(found + 1) > mpf(delta) / 2 else -mpmath.inf


def spread_of(tau: Number) -> Number:
    """Return the variance of the discrete Gaussian law with this scale."""
    weights = {
        k: mpmath.exp(-(mpf(k) ** 2) / (2 * tau**2)) for k in range(-int(20 * tau) - 20, int(20 * tau) + 21)
    }
    return mpmath.fsum(k**2 * w for k, w in weights.items()) / mpmath.fsum(weights.values())


def normal(law: str, others: int, tau: Number | float, eps: float, p: int, accounting: str) -> Number:
    """Return delta of a sum with noise of scale tau per user, averaged over N."""
    total = mpf(0)
    for k, mass in LAWS[law](others)[1].items():
        n, t = k + 1, mpf(tau)
        if accounting == "exact":
            total += mass * gaussian_delta(p / mpmath.sqrt(n * spread_of(t)), eps)
            continue
        gap = mpmath.fsum(mpmath.exp(-2 * mpmath.pi**2 * t**2 * j / (j + 1)) for j in range(1, n))
        z = (eps - p**2 / (2 * n * t**2) - mpf(5) / 2 * gap) / (p / (t * mpmath.sqrt(n)) + 10 * gap)
        total += mass * (mpmath.exp(-(z**2) / 2) if z > 0 else 1)
    return total


def on_integers(n: int, tau: float, eps: float, p: int) -> Number:
    """Return the exact delta of a sum of n discrete Gaussian variables, from the law of the sum."""
    reach = int(16 * tau) + 2
    weights = [mpmath.exp(-(mpf(x) ** 2) / (2 * mpf(tau) ** 2)) for x in range(-reach, reach + 1)]
    one = [w / mpmath.fsum(weights) for w in weights]
    total = one
    for _ in range(n - 1):
        longer = [mpf(0)] * (len(total) + len(one) - 1)
        for i, a_i in enumerate(total):
            for j, b_j in enumerate(one):
                longer[i + j] += a_i * b_j
        total = longer
    nothing = [mpf(0)] * p
    pairs = zip(total + nothing, nothing + total, strict=True)
    return mpmath.fsum(max(here - mpmath.exp(eps) * there, 0) for here, there in pairs)


def _estimated(n: int, tau: float, eps: float, p: int) -> Number:
    return off(a.multi_expected_delta(LAWS["Fixed"](n - 1)[0], tau, eps, p), on_integers(n, tau, eps, p))


def _normal(law: str, others: int, scale: float, eps: float, p: int, accounting: str) -> Number:
    tau = scale * p / math.sqrt(others)
    true = normal(law, others, tau, eps, p, accounting)
    return off(a.multi_expected_delta(LAWS[law](others)[0], tau, eps, p, accounting=accounting), true)


def _scale(law: str, others: int, eps: float, delta: float, p: int, accounting: str) -> Number:
    found = a.multi_expected_scale(LAWS[law](others)[0], eps, delta, p, accounting=accounting)
    return off_by_inverse(found, lambda tau: 2 * normal(law, others, tau, eps, p, accounting), delta)


def _shift(shape: float, p: float, shift: int, eps: float) -> Number:
    noise = negative_binomial(shape, p)
    other = {k + shift: m for k, m in noise.items()}
    true = max(hockey_stick(noise, other, eps), hockey_stick(other, noise, eps))
    return off(a.negative_binomial_shift_delta(shape, p, shift, eps), true)


DELTA = log(1e-12, 0.1)
ITEMS = {"n": whole(1, 3000), "blankets": log(0.1, 30), "domain_size": whole(2, 300)}
LAW = one_of("binomial", "poisson")
FORM = one_of("stated", "sound")
NUMBERS = one_of("Fixed", "Binomial", "Poisson")
NORMAL = one_of("exact", "printed")

stated = claims_of(
    {
        "eps": log(0.3, 3),
        "delta": DELTA,
        "domain_size": whole(2, 50),
        "law": NUMBERS,
        "p": whole(1, 20),
        "form": FORM,
        "others": whole(2, 60),
    }
)
CLAIMS = [
    stated(
        "two_bins_delta",
        _bins,
        0,
        1e-10,
        count=16,
        eps=log(0.001, 5),
        n=whole(1, 10**5),
        rate=log(0.001, 0.5),
    ),
    stated(
        "truncation_miss_rate",
        _miss,
        0,
        1e-11,
        count=8,
        n=whole(100, 10**6),
        eps=log(0.1, 3),
        delta=log(1e-8, 0.1),
    ),
    stated("bin_dummy_rate", _miss, 0, 1e-11, count=4, n=whole(100, 10**4), delta=log(1e-6, 0.1)),
    stated("fair_coins", _coins, 0, 0, count=10, eps=log(0.2, 5)),
    stated("sbin_dummies", _sbin, 0, 0, count=10, eps=log(0.2, 5), beta=log(0.05, 1)),
    stated("sageo_dummies", _sageo, 0, 0, count=10, eps=log(0.3, 5), share=linear(0.05, 1)),
    stated("s1geo_dummies", _s1geo, count=30, eps=log(1e-6, 100)),
    stated("poisson_dummies", _poisson, 0, 1e-11, count=8, eps=log(0.2, 5)),
    stated("silent_report", _silent, 0, 1e-11, count=8, eps=log(0.2, 3), rate=log(0.15, 1)),
    stated("one_sided_noise", _one_sided, 1e-11, 0, count=6, delta=log(1e-8, 0.1), shape=log(1, 30)),
    stated(
        "counter_delta",
        _counter,
        0,
        1e-10,
        count=16,
        shape=log(0.3, 30),
        decay=log(0.03, 1),
        eps_geometric=log(0.05, 3),
        more=log(0.01, 3),
    ),
    stated("correlated_noise", _correlated, 0, 1e-10, count=4, eps=log(0.5, 5), delta=log(1e-6, 0.05)),
    stated(
        "correlated_pair_noise", _correlated_pair, 1e-10, 0, count=4, eps=log(0.5, 5), delta=log(1e-6, 0.05)
    ),
    stated(
        "private_coin_tuples",
        _tuples,
        0,
        0,
        count=8,
        n=whole(1, 50),
        entries=whole(1, 5),
        delta=log(1e-6, 0.1),
    ),
    stated(
        "solh_report",
        _solh,
        0.001,
        0,
        count=5,
        n=whole(5, 40),
        cells=whole(2, 16),
        eps=log(0.2, 2),
        delta=log(0.0001, 0.1),
    ),
    Claim(
        "segmented_delta",
        _item,
        0,
        1e-10,
        {"eps": log(0.02, 5), "reporting_rate": log(0.01, 1), **ITEMS, "law": LAW},
        24,
    ),
    stated(
        "all_counts_delta",
        _all,
        0,
        1e-9,
        count=8,
        eps=log(0.05, 3),
        reporting_rate=log(0.01, 1),
        n=whole(1, 60),
        blankets=log(0.1, 4),
    ),
    Claim(
        "reporting_rate", _item_rate, 1e-10, 0, {**ITEMS, "eps": log(0.1, 3), "delta": DELTA, "law": LAW}, 14
    ),
    stated(
        "blankets_for_full_reporting",
        _full,
        0,
        1e-10,
        count=8,
        n=whole(10, 2000),
        domain_size=whole(2, 100),
        set_size=whole(1, 4),
        eps=log(0.5, 4),
        delta=log(1e-9, 0.05),
        law=LAW,
    ),
    Claim(
        "user_level_delta",
        _user,
        0,
        0.0001,
        {"eps": log(0.02, 3), "reporting_rate": log(0.05, 1), **ITEMS},
        10,
    ),
    stated(
        "user_level_delta (two items)",
        _two_items,
        0,
        0.0001,
        count=2,
        eps=log(0.1, 1.5),
        reporting_rate=log(0.1, 1),
        mean=log(0.2, 1.5),
    ),
    Claim(
        "user_level_reporting_rate",
        _user_rate,
        0.0001,
        0,
        {**ITEMS, "eps": log(0.1, 3), "delta": log(1e-9, 0.1)},
        6,
    ),
    stated(
        "user_level_blankets", _user_blankets, 0, 0.0001, count=5, n=whole(10, 1000), delta=log(1e-8, 0.05)
    ),
    stated(
        "variation_ratio_delta",
        _variation,
        0,
        1e-10,
        count=24,
        p=log(1.1, 300),
        part=linear(0.1, 1),
        more=log(1, 30),
        candidates=whole(1, 10**5),
        share=linear(0.02, 0.9),
    ),
    stated(
        "variation_ratio_epsilon",
        _variation_eps,
        0,
        1e-10,
        count=12,
        p=log(1.5, 100),
        part=linear(0.3, 1),
        more=log(1, 10),
        candidates=whole(10, 10**4),
        delta=log(1e-9, 0.1),
    ),
    stated("negative_binomial_delta", _polya, 1e-12, 1e-12, shape=log(1e-6, 0.999999), eps=log(0.001, 40)),
    stated("expected_polya_delta", _expected, 1e-11, 1e-11, count=8, n1=linear(0.5, 1.6), eps=log(0.05, 10)),
    stated("best_polya_shape", _most_users, 0, 0, count=8, eps=log(0.05, 5), delta=log(1e-6, 0.1)),
    stated(
        "multi_expected_delta",
        _normal,
        1e-10,
        1e-10,
        count=12,
        others=whole(2, 40),
        scale=log(0.3, 5),
        eps=log(0.2, 3),
        accounting=one_of("printed"),
    ),
    stated(
        "multi_expected_delta (exact, an estimate)",
        _estimated,
        0.15,
        0.15,
        count=12,
        n=whole(1, 5),
        tau=log(1, 4),
        eps=log(0.2, 3),
        p=whole(1, 5),
    ),
    stated(
        "multi_expected_scale",
        _scale,
        0,
        1e-11,
        count=6,
        others=whole(2, 30),
        eps=log(0.2, 3),
        delta=log(1e-9, 0.1),
        accounting=NORMAL,
    ),
    stated(
        "negative_binomial_shift_delta",
        _shift,
        1e-9,
        1e-9,
        count=20,
        shape=log(1, 60),
        p=linear(0.05, 0.98),
        shift=whole(1, 20),
        eps=log(0.01, 3),
    ),
]
