"""Witnesses for findings about the released code of compared protocols; each entry names the version of the code.

Notation: n users; mu the mean number of dummies of a bin; h = ((u x + v) mod q) mod b the hash of a tuple (u, v).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from shuffledp.accounting.baselines.bit_sums import bit_sum_rate
from shuffledp.accounting.general.blanket import blanket_epsilon
from shuffledp.accounting.general.count_pairs import (
    MovingCount,
    added_message,
    pair_delta,
    settled_count_delta,
)
from shuffledp.accounting.general.dummy_blanket import blanket_rate
from shuffledp.accounting.general.epsilon_search import limit_epsilon
from shuffledp.accounting.general.grr_blanket import blanket_local_budget, grr_blanket_delta
from shuffledp.accounting.general.randomizers import FiniteRandomizer
from shuffledp.accounting.general.variation_ratio import variation_ratio_epsilon
from shuffledp.numerics.windows import binomial_window
from shuffledp.pipeline.claims.witness import Witness

#: Largest mu in the search of the code for frequencies, and the mass at which the table of dummies ends.
_MOST_MU, _TABLE = 1000.0, 0.9999999


def _bins_delta(n: int, mu: float, eps: float) -> float:
    """Return the exact delta of balls into bins, direct form: two counts with Bin(n, mu / n) dummies each."""
    return settled_count_delta(lambda tail: added_message(binomial_window(n, mu / n, tail)), eps)


def _criterion(n: int, mu: float, eps: float) -> float:
    """Return the code's criterion for delta, ``Pr[X1 >= e^eps X2 - 1]`` with both variables Bin(n, mu / n)."""
    window = binomial_window(n, mu / n, 1e-40)
    first = np.maximum(np.ceil(math.exp(eps) * window.support - 1), 0)
    return float(window.pmf @ binom.sf(first - 1, n, mu / n))


def _searched(n: int, eps: float, delta: float, most: float) -> float:
    """Return, to a tenth, the mu at which the code's search would end if its sums were exact."""
    low, high = 0.0, most
    while low + 0.1 < high:
        middle = (low + high) / 2
        low, high = (low, middle) if _criterion(n, middle, eps) <= delta else (middle, high)
    return high


def search_without_a_check() -> Witness:
    """Return the witness of CMP-E1: the search returns 1,000 if no mu below 1,000 passes the test."""
    eps, users = 0.2, (10**4, 10**5, 10**6)
    none_passes = all(_criterion(n, _MOST_MU, eps) > n**-2.0 for n in users)
    true = [_bins_delta(n, _MOST_MU, eps) for n in users]
    return Witness(
        "delta at mu = 1,000, n = 100,000, eps = 0.2: target n^-2, and true",
        users[1] ** -2.0,
        true[1],
        none_passes and all(t > 10 * n**-2.0 for t, n in zip(true, users, strict=True)),
        f"For n = 10,000 and 1,000,000 delta is {true[0]:.2g} and {true[2]:.2g} in place of 1e-08 and 1e-12.",
    )


def search_criterion() -> Witness:
    """Return the witness of CMP-E2: the code's likelihood ratio of counts is wrong unless mu / n is small."""
    n, eps, delta = 1000, 0.5, 1e-8
    mu = _searched(n, eps, delta, _MOST_MU)
    larger = _searched(5000, 0.2, delta, 2500.0)
    true, other = _bins_delta(n, mu, eps), _bins_delta(5000, larger, 0.2)
    return Witness(
        "delta at the mu found, n = 1,000, eps = 0.5: target and true",
        delta,
        true,
        other > delta,
        f"The mu found is {mu:.1f}. For n = 5,000 and eps = 0.2 mu is {larger:,.0f}, and delta {other:.2g}.",
    )


def _hash_sizes(n: int, values: int, power: int) -> tuple[int, int]:
    """Return the code's number of cells b and its prime q."""
    cells = int(n / math.log(n) ** power)
    prime = max(values, cells) + 1
    while any(prime % f == 0 for f in range(2, math.isqrt(prime) + 1)):
        prime += 1
    return cells, prime


def _collision(cells: int, prime: int) -> float:
    whole = prime // cells
    return whole * (prime % cells + prime - cells) / (prime * (prime - 1))


def cells_beyond_the_prime() -> Witness:
    """Return the witness of CMP-E3: the fast analyzer counts ``floor(q / b) + 1`` residues, also those >= q."""
    n, values, mu = 10**5, 5000, 42.664
    cells, prime = _hash_sizes(n, values, 1)
    collision = _collision(cells, prime)
    each = prime // cells
    # Of a value without users: dummies, and messages of users, each less its subtracted mean.
    dummies = mu * cells * ((each + 1) / prime - 1 / cells)
    users = n * (each / (prime - 1) - collision)
    bias = (dummies + users) / (1 - collision)
    # The same for small numbers, by running through all tuples.
    b, q = 3, 11
    matches = sum(
        (u * 5 + v) % q in {(w + j * b) % q for j in range(q // b + 1)}
        for u in range(1, q)
        for v in range(1, q + 1)
        for w in range(b)
    )
    enumerated = matches / (b * q * (q - 1))
    return Witness(
        "mean of the estimated number of users with a value that no user holds, n = 100,000, k = 5,000, c = 1",
        0.0,
        bias,
        math.isclose(enumerated, (q // b + 1) / q),
        f"Here b = {cells:,} and q = {prime:,}.",
    )


def dropped_fraction() -> Witness:
    """Return the witness of CMP-E4: the vector-sum variant has no dummies if each user needs less than one dummy."""
    n, eps, delta = 10**7, 1.0, 1e-14
    mu = _searched(n, eps / 2, delta / 2, 32 * math.log(4 / delta) / (eps / 2) ** 2)
    cells, _ = _hash_sizes(n, 2, 3)
    called_for = mu * cells / n
    # All others hold one value; a message that fits x and not theirs points to x. The prime is far above b here.
    collision = 1 / cells
    least = (1 - collision) - math.exp(eps) * collision
    return Witness(
        "delta of one report, n = 10,000,000, eps = 1, c = 3: target, and lower bound of the true delta",
        delta,
        least,
        math.floor(called_for) == 0 and called_for > 0,
        f"About {called_for:.2f} dummies per user are required, and none is sent.",
    )


def table_of_dummies() -> Witness:
    """Return the witness of CMP-E5: the law of the dummies ends at a cumulative probability of 0.9999999."""
    delta, deltas = 1e-12, []
    for eps in (0.1, 0.5, 1.0, 2.0, 5.0):
        half = math.exp(-eps / 2)
        left_ratio, right_ratio = half, 1 / math.exp(eps / 2)  # with sampling rate 1
        factor = 2 - (2 - delta) * left_ratio
        middle = math.ceil(
            math.log(delta * (1 - left_ratio * right_ratio) / ((1 - right_ratio) * factor))
            / math.log(left_ratio)
        )
        kappa = left_ratio * (1 - left_ratio**middle) / (1 - left_ratio) + 1 / (1 - right_ratio)
        size = math.ceil(
            middle
            - 1
            + math.log(
                (1 + left_ratio ** (1 + middle) * (right_ratio - 1) - left_ratio * right_ratio)
                * (_TABLE - 1)
                / (left_ratio - 1)
            )
            / math.log(right_ratio)
        )
        y = np.arange(size)
        law = (
            np.where(
                y < middle,
                left_ratio ** (middle - y.astype(float)),
                right_ratio ** np.maximum(y - middle, 0.0),
            )
            / kappa
        )
        law = np.append(law, 1 - law.sum())  # the remaining mass is at the next number
        count = MovingCount(np.append(0.0, law), np.append(law, 0.0))
        deltas.append(pair_delta(count, count, eps))
    return Witness(
        "delta of SAGeo-Shuffle with sampling rate 1, eps = 1: target, and delta with the table",
        delta,
        deltas[2],
        min(deltas) > 1e4 * delta,
        f"For eps from 0.1 to 5 delta is {min(deltas):.1e} to {max(deltas):.1e}.",
    )


def benchmark_rate() -> Witness:
    """Return the witness of CMP-N1: the rate for bit sums in benchmark code, and the rate that is necessary."""
    n, eps, delta = 10**5, 1.0, 1e-8
    used = math.log(1 / delta) / (eps * eps * n)
    needed = blanket_rate(2, blanket_local_budget(n, 2, eps, delta))
    true = grr_blanket_delta(eps, n, 2, math.log(2 / used - 1))
    return Witness(
        "probability of a fair coin, n = 100,000, eps = 1, delta = 1e-08",
        used,
        needed,
        bit_sum_rate(n, eps, delta) > needed,
        f"The blanket has delta {true:.1e} at the first, which bounds the true delta from above; the published rate is "
        f"{bit_sum_rate(n, eps, delta):.3g}.",
    )


def last_level_of_a_range() -> Witness:
    """Return the witness of CMP-E6: eps with the last level's beta, and the loss of the first level."""
    n, levels, delta = 10**4, 6, 1e-6
    eps_pairs = []
    for eps_local in (1.0, 3.0):
        odds = math.exp(eps_local)
        used = (odds - 1) / (odds + 2**levels - 1) / levels
        keep = odds / (odds + 1) / levels
        other = 1 / levels - keep
        first = FiniteRandomizer(((keep, other, 1 - 1 / levels), (other, keep, 1 - 1 / levels)))
        eps_pairs.append(
            (
                variation_ratio_epsilon(delta, odds, used, odds, n - 1, sound=False),
                blanket_epsilon(first, n, delta, "lower"),
            )
        )
    (code, true), (code_3, true_3) = eps_pairs
    return Witness(
        "eps of a range query over 64 values, n = 10,000, eps_local = 1, delta = 1e-06: by the code, and attained",
        code,
        true,
        true > code and true_3 > code_3,
        f"For eps_local = 3 the code computes {code_3:.4g}, and {true_3:.4g} is attained.",
    )


def _count_gap(groups: list[tuple[int, float]], victim: float, k: int, eps: float) -> float:
    """Return delta of the difference of two counts of randomized response.

    `groups` has the other users as pairs (others, eps_local); all of them hold a third value, or the second of two.
    """
    points = 1 << 15
    turn = np.exp(2j * np.pi * np.fft.fftfreq(points))

    def transform(eps_local: float, up: int) -> NDArray[np.complex128]:
        odds = math.exp(eps_local)
        sent = [1.0, 1.0, float(k - 2)]
        if up < 2:
            sent[up] = odds
        elif k > 2:
            sent[2] += odds - 1
        law: NDArray[np.complex128] = (sent[0] * turn + sent[1] / turn + sent[2]) / (odds + k - 1)
        return law

    others_value = 2 if k > 2 else 1
    others = sum((n * np.log(transform(each, others_value)) for n, each in groups), np.zeros(points, complex))
    first, second = (
        np.fft.fft(np.exp(others) * transform(victim, victim_value)).real.clip(0) / points
        for victim_value in (0, 1)
    )
    return float(np.sum(np.maximum(first - math.exp(eps) * second, 0)))


def budgets_without_randomizers() -> Witness:
    """Return the witness of CMP-N2: the formula's eps, and the delta of randomized response at this eps."""
    delta, others = 1e-8, [(500_000, 0.5), (499_999, 4.0)]
    weights = sum(n / (1 + math.exp(eps)) for n, eps in others)
    mu = math.sqrt(2 / (weights + 1 / (1 + math.exp(4.0)) - 1 / (1 + math.exp(0.5))))
    eps, half = (math.exp(limit_epsilon(each, delta)[0]) for each in (mu, mu / math.sqrt(2)))
    attained = _count_gap(others, 4.0, 10, eps)
    code = _count_gap(others, 4.0, 2, half)
    return Witness(
        f"delta at eps = {eps:.5f} for a user with eps_local = 4, 10 values, n = 1,000,000, half with eps_local = "
        "0.5: target, and attained",
        delta,
        attained,
        attained > delta,
        f"The code of arXiv 2407.18157 halves mu^2, so that eps = {half:.5f}; two values attain delta {code:.2g}.",
    )


def stored_personalized_results() -> Witness:
    """Return the witness of CMP-N3: the stored eps, and the delta of binary randomized response at this eps."""
    delta, stored = 1e-5, 0.08566
    others = [(27, 0.05 + 0.95 * (j + 0.5) / 37) for j in range(37)]
    attained = _count_gap(others, 1.0, 2, stored)
    return Witness(
        f"delta at eps = {stored} of a user with eps_local = 1 among 1,000: target, and attained",
        delta,
        attained,
        attained > delta,
        "The others' budgets are at the middles of 37 equal parts of [0.05, 1], 27 users each.",
    )
