"""Witnesses for the errata and reading notes of the DUMP paper (arXiv 2009.13738).

Settings are from the paper's experiments: 500,000 users with 50 or 500 values, IPUMS (70,187 users, 900 values),
Ratings (494,352 users, 2,000 values), delta 1e-6, local budget 8 of mixDUMP.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from shuffledp.accounting.baselines.correlated_counts import correlated_noise
from shuffledp.accounting.baselines.public_coin import public_coin_rate, public_coin_rows, rows_delta
from shuffledp.accounting.baselines.truncation import truncation_miss_rate
from shuffledp.accounting.dump.dummies import dummy_count, dummy_delta, mix_dummy_count
from shuffledp.accounting.dump.errors import printed_flexible_mse
from shuffledp.accounting.dump.flexible import flexible_dummies, flexible_dummies_needed, flexible_dummy_delta
from shuffledp.accounting.general.grr_blanket import blanket_local_budget
from shuffledp.numerics.tails import log_binomial_pmf
from shuffledp.numerics.windows import binomial_window
from shuffledp.pipeline.claims.witness import Witness
from shuffledp.pipeline.papers.dump.computed_tables import (
    COLUMNS,
    DELTA,
    EPS,
    EPS_LOCAL,
    PRINTED_MIX,
    SETTINGS,
    USERS,
)


def _theorem_dummies(k: int, eps: float, delta: float = DELTA) -> float:
    return 14 * k * math.log(2 / delta) / eps**2 + 1


def independence_not_needed() -> Witness:
    """Return the witness of DUMP-1: for two values the counts are fully dependent, and the theorem still holds."""
    dummies = math.ceil(_theorem_dummies(2, 1.0))
    worst = max(
        dummy_delta(k, math.ceil(_theorem_dummies(k, eps)), eps) for k in (2, 3, 10, 500) for eps in EPS
    )
    return Witness(
        f"delta at eps = 1 of a value among {dummies} dummies over two values, whose counts determine each other",
        DELTA,
        dummy_delta(2, dummies, 1.0),
        worst <= DELTA,
        f"Over k = 2, 3, 10, 500 and eps = .4 to 1 the exact delta at the theorem's S is at most {worst:.1e}.",
    )


def one_dummy_less() -> Witness:
    """Return the witness of DUMP-N2: S dummies have the theorem's guarantee for S - 1 dummies."""
    printed = dummy_count(50, 1.0, DELTA, accounting="printed")
    enough = math.ceil(_theorem_dummies(50, 1.0) - 1)
    two = math.ceil(_theorem_dummies(2, 1.0) - 1)
    return Witness(
        "dummies over 50 values for eps = 1, delta = 1e-6",
        float(printed),
        float(enough),
        dummy_delta(50, enough, 1.0) <= DELTA and dummy_delta(2, two, 1.0) <= DELTA,
        f"The exact delta of {enough} dummies is {dummy_delta(50, enough, 1.0):.1e}.",
    )


def _true_flexible_mse(n: int, k: int, dummies: int, rate: float) -> float:
    """Return the variance, over n^2, of a count of dummies from a binomial number of senders with s dummies each."""
    mean, spread = dummies / k, dummies * (1 / k) * (1 - 1 / k)
    return (rate * spread + rate * (1 - rate) * mean**2) / n


def flexible_error() -> Witness:
    """Return the witness of DUMP-N3: the error of flexible pureDUMP in a cell of Table 3."""
    k, rate, dummies = 500, 0.001, 1270
    printed, true = printed_flexible_mse(USERS, k, dummies, rate), _true_flexible_mse(USERS, k, dummies, rate)
    single = printed_flexible_mse(USERS, k, 1, rate)
    observed = rate * dummies / (USERS * k) * (1 - 1 / k)
    return Witness(
        f"mean squared error of flexible pureDUMP, k = {k}, gamma = {rate}, s = {dummies}, n = 500,000",
        printed,
        true,
        math.isclose(single, _true_flexible_mse(USERS, k, 1, rate), rel_tol=1e-9)
        and observed < printed * 1.001,
        f"The error is {true / printed:.1f} times the error as read. Subtracting the observed number of dummies in "
        f"place of the "
        f"expected number gives {observed:.3g}.",
    )


#: Users, values, eps, delta and rate at which far fewer users than expected send dummies with a probability near delta.
_NOBODY_SENDS = (3000, 2, 1.0, 3e-81, 0.06)


def _excess_of_printed_dummies() -> float:
    """Return the exact delta over the delta of Theorem 5.11, as read, for delta near (1 - rate)^n."""
    n, k, eps, delta, rate = _NOBODY_SENDS
    printed = flexible_dummies(n, k, eps, delta, rate, accounting="printed")
    return flexible_dummy_delta(eps, n, k, printed, rate) / delta


def random_senders() -> Witness:
    """Return the witness of DUMP-N4: dummies per sender in Table 3's last cell, and a setting with too few dummies."""
    setting = (USERS, 500, 1.0, DELTA, 0.001)
    printed = flexible_dummies(*setting, accounting="printed")
    proven = flexible_dummies(*setting, accounting="corrected")
    deltas = [
        flexible_dummy_delta(
            eps, USERS, k, flexible_dummies(USERS, k, eps, DELTA, rate, accounting="printed"), rate
        )
        for eps in EPS
        for k, rate in COLUMNS
    ]
    n, k, eps, delta, rate = _NOBODY_SENDS
    excess = _excess_of_printed_dummies()
    return Witness(
        "dummies per sending user, k = 500, gamma = 0.001, eps = 1, delta = 1e-6",
        float(printed),
        float(proven),
        max(deltas) <= DELTA and excess > 1,
        f"In the 16 settings of Table 3 the exact delta of its numbers is at most {max(deltas):.1e}. They are too few "
        f"if delta is near (1 - gamma)^n, the probability that no user sends dummies. For {n} users, {k} values, "
        f"gamma = {rate:g}, eps = {eps:g} and delta = {delta:g}, with this probability "
        f"{math.exp(n * math.log1p(-rate)):.1e}, the exact delta is {excess:.1f} times the stated delta.",
    )


def _crossing(n: int, k: int) -> float:
    """Return the eps above which mixDUMP's theorem needs fewer dummies than pureDUMP's theorem."""
    uniform = (n - 1) * k / (math.exp(EPS_LOCAL) + k - 1)
    sure = uniform - math.sqrt(2 * uniform * math.log(2 / DELTA))
    return math.sqrt(14 * k * math.log(2) / sure)


def mix_needs_more() -> Witness:
    """Return the witness of DUMP-N5: dummies of both protocols on IPUMS."""
    n, k = SETTINGS["IPUMS"]
    eps = 0.5
    pure = dummy_count(k, eps, DELTA, accounting="printed")
    mix = mix_dummy_count(n, k, eps, DELTA, EPS_LOCAL, accounting="printed")
    crossings = {name: _crossing(*setting) for name, setting in SETTINGS.items()}
    agree = all(
        (
            mix_dummy_count(*setting, e, DELTA, EPS_LOCAL, accounting="printed")
            < dummy_count(setting[1], e, DELTA, accounting="printed")
        )
        == (e > crossings[name])
        for name, setting in SETTINGS.items()
        for e in (0.98 * crossings[name], 1.02 * crossings[name])
    )
    return Witness(
        "dummies of mixDUMP over dummies of pureDUMP on IPUMS, eps = 0.5 (as read: fewer, so at most 1)",
        1.0,
        mix / pure,
        agree,
        "mixDUMP needs more below eps = "
        + ", ".join(f"{e:.3g} ({name})" for name, e in crossings.items())
        + ".",
    )


def _mix_mse(n: int, k: int, dummies: int) -> float:
    e = math.exp(EPS_LOCAL)
    response = (e + k - 2) / (n * (e - 1) ** 2) + (k - 2) / (k * n * (e - 1))
    return response + dummies * (k - 1) / (n * k) ** 2 * ((e + k - 1) / (e - 1)) ** 2


def decade_of_users() -> Witness:
    """Return the witness of DUMP-6: the error of mixDUMP for 100,000 and for a million users."""

    def ratio(eps: float, few: int) -> float:
        errors = [
            _mix_mse(n, 50, mix_dummy_count(n, 50, eps, DELTA, EPS_LOCAL, accounting="printed"))
            for n in (few, 10 * few)
        ]
        return errors[0] / errors[1]

    others = {(eps, few): ratio(eps, few) for eps in (0.2, 0.5, 1.0) for few in (10_000, 100_000)}
    return Witness(
        "ratio of the errors of mixDUMP with 100,000 and with a million users, 50 values, eps = 1",
        100.0,
        others[1.0, 100_000],
        all(value < 100 for value in others.values()),
        "From 10,000 to 100,000 and on to a million users: "
        + "; ".join(
            f"{others[eps, 10_000]:.0f} and {others[eps, 100_000]:.0f} at eps = {eps}"
            for eps in (0.2, 0.5, 1.0)
        )
        + ".",
    )


def table_4_cell() -> Witness:
    """Return the witness of DUMP-N7: the one entry that is not the theorem's number rounded up."""
    needed = flexible_dummies_needed(USERS, 500, 1.0, DELTA, 0.001, eps_local=EPS_LOCAL)
    ours = [
        [
            flexible_dummies(USERS, k, eps, DELTA, rate, accounting="printed", eps_local=EPS_LOCAL)
            for k, rate in COLUMNS
        ]
        for eps in EPS
    ]
    differ = [(i, j) for i in range(4) for j in range(4) if ours[i][j] != PRINTED_MIX[i][j]]
    return Witness(
        "dummies per sending user of flexible mixDUMP, eps = 1, k = 500, gamma = 0.001",
        float(PRINTED_MIX[3][3]),
        float(ours[3][3]),
        differ == [(3, 3)],
        f"The theorem gives {needed:.3f} before rounding; the 15 other entries agree.",
    )


def public_coin_range() -> Witness:
    """Return the witness of DUMP-N8: the noise rate of public-coin at eps = 0.6 and 50 values."""
    rows = public_coin_rows(50)

    def rate(eps: float) -> float:
        return public_coin_rate(USERS, rows, eps, DELTA, accounting="printed", beyond_proof=True)

    noise = rate(0.6)
    exact = rows_delta(0.6, USERS, noise, rows)
    return Witness(
        "largest gamma that the proof covers, against gamma in the figure at eps = 0.6, 50 values, 500,000 users",
        0.5,
        noise,
        rate(0.7) > 0.5 > rate(0.8),
        f"gamma falls below 1/2 at eps = {0.6 * math.sqrt(noise / 0.5):.2f}. Privacy holds at these points: the exact "
        f"delta at gamma = {noise:.2f} is {exact:.1e}.",
    )


def truncation_error() -> Witness:
    """Return the witness of DUMP-N9: the error of the truncation-based protocol for 50 equally frequent values."""
    k, eps = 50, 0.4
    true_count = USERS // k
    miss = truncation_miss_rate(USERS, eps, DELTA, accounting="printed")
    lost = binomial_window(USERS, miss, 1e-30)
    is_untruncated = lost.support < true_count
    error = np.where(is_untruncated, USERS * miss - lost.support, true_count) / USERS
    truncated = float(lost.pmf @ error**2)
    plain = miss * (1 - miss) / USERS
    pure = math.ceil(_theorem_dummies(k, eps)) * (k - 1) / (USERS * k) ** 2
    return Witness(
        "ratio of the mean squared error to pureDUMP, 50 equally frequent values, eps = 0.4 (as read: similar)",
        1.0,
        truncated / pure,
        plain > 10 * pure,
        f"Values need {USERS * miss:.0f} users and have {true_count}: some estimate is not 0 with probability "
        f"{k * float(lost.pmf @ is_untruncated) + 1e-30:.0e} at most. Without truncation the error is "
        f"{plain / pure:.0f} times "
        f"the error of pureDUMP.",
    )


def real_shape_sampled() -> Witness:
    """Return the witness of DUMP-N10: one user's share of the noise, drawn in two steps."""
    from scipy.integrate import quad_vec  # slow to import, and only needed here
    from scipy.stats import nbinom

    n, _ = SETTINGS["Ratings"]
    noise = correlated_noise(1.0, DELTA, accounting="printed")
    shape, p = noise.shape / n, math.exp(-noise.decay)
    scale = p / (1 - p)
    counts = np.arange(1, 200)

    def joint(log_mean: float) -> NDArray[np.float64]:
        """Return Poisson probabilities times the gamma density of the mean, per unit of the log mean."""
        mean = math.exp(log_mean)
        log_gamma = shape * (log_mean - math.log(scale)) - mean / scale - math.lgamma(shape)
        return np.asarray(np.exp(counts * log_mean - mean - gammaln(counts + 1.0) + log_gamma))

    mixture, _ = quad_vec(joint, -40.0, math.log(60 * scale), epsabs=0, epsrel=1e-10, norm="max")
    worst = float(np.max(np.abs(mixture / nbinom.pmf(counts, shape, 1 - p) - 1)))
    return Witness(
        "largest relative difference between the probabilities of a Poisson number with gamma-distributed mean and of "
        f"one user's noise, shape {shape:.3g} (as read: no sampler)",
        1.0,
        worst,
        worst < 1e-6,
        "Numbers 1 to 199 were compared; the probability of 0 agrees because both laws sum to 1.",
    )


def range_of_eps() -> Witness:
    """Return the witness of DUMP-N11: delta at large eps by Theorem 5.2's reconstructed formula."""
    k, eps = 500, 10.0
    dummies = math.ceil(_theorem_dummies(k, eps))
    none = math.exp(log_binomial_pmf(0, dummies, 1 / k))
    at_one = dummy_delta(k, math.ceil(_theorem_dummies(k, 1.0)), 1.0)
    return Witness(
        f"delta at eps = 10 with the {dummies} dummies over {k} values of the formula",
        DELTA,
        dummy_delta(k, dummies, eps),
        at_one <= DELTA,
        f"No dummy equals a given value with probability {none:.2g}; at eps = 1 "
        f"the formula is safe, with an exact delta of {at_one:.1e}.",
    )


def ratings_amplified() -> Witness:
    """Return the witness of DUMP-N12: the local budget of GRR on Ratings at eps = 1."""
    n, k = SETTINGS["Ratings"]
    printed = blanket_local_budget(n, k, 1.0, DELTA, accounting="printed")
    exact = blanket_local_budget(n, k, 0.4, DELTA, accounting="exact")
    threshold = math.sqrt(14 * k * math.log(2 / DELTA) / (n - 1))
    least = 2 * math.exp(-(n - 1) / (14 * k))
    below = blanket_local_budget(n, k, 0.9, DELTA, accounting="printed")
    return Witness(
        "local budget of GRR on Ratings for eps = 1, delta = 1e-6 (as read: not amplified, so 1)",
        1.0,
        printed,
        below == 0.9 and exact > 1,
        f"Amplified from eps = {threshold:.3f} on; the remark is right for delta < {least:.1e}. With exact accounting "
        f"the local budget is {exact:.2f} already at eps = 0.4.",
    )
