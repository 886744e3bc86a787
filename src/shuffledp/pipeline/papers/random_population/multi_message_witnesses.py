"""Witnesses for the errata and reading notes of Wang et al. 2023 (TPDS), Section VI (multi-message) and Table II.

Notation: n participants, tau the scale of one user's discrete Gaussian noise, p the precision, q the order of the
group, ``S = sum over k < n of exp(-2 pi^2 tau^2 k / (k + 1))``. The sum of all noise has standard deviation
``tau sqrt(n)``, which in units of the sensitivity p is ``1 / mu``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from shuffledp.accounting.general.clones import OtherReports
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.accounting.general.profiles import hockey_stick
from shuffledp.accounting.random_population.closed_forms import printed_omega
from shuffledp.accounting.random_population.multi_message import multi_expected_delta, multi_expected_scale
from shuffledp.accounting.random_population.population_bounds import (
    population_lower_bound,
    population_shortfall,
)
from shuffledp.accounting.random_population.secure_sum import group_order, security_bits, share_count
from shuffledp.numerics.roots import root_below
from shuffledp.pipeline.claims.witness import Witness
from shuffledp.pipeline.papers.random_population.settings import DELTA, POPULATIONS
from shuffledp.populations.base import Law
from shuffledp.populations.laws import Binomial, Empirical, Poisson

#: Users of the Adult data set by sex, as Section VII-A states them.
_ADULT = (16_192, 32_650)


def _adult(rate: float) -> Binomial:
    """Return the law of Adult's other users for a participation rate in the experiments."""
    return Binomial(sum(_ADULT) - 1, rate)


def _gaussian_delta(mu: float, eps: float) -> float:
    """Return the exact delta of Gaussian noise with standard deviation 1 / mu times the sensitivity."""
    return math.exp(log_gaussian_delta(mu, eps))


def _leftover(n: int, tau: float) -> float:
    """Return S, in the distance between a sum of n discrete Gaussians and a discrete Gaussian."""
    k = np.arange(1, n)
    return float(np.sum(np.exp(-2 * (math.pi * tau) ** 2 * k / (k + 1))))


def _lemma_4(eps: float, n: int, tau: float, precision: int, *, power: int, divisor: float = 2.0) -> float:
    """Return delta of Lemma 4 without a clamp; the bracket contains ``-p^power / (divisor n tau^2)``."""
    leftover = _leftover(n, tau)
    bracket = eps - precision**power / (divisor * n * tau**2) - 2.5 * leftover
    return math.exp(-0.5 * (bracket / (precision / (tau * math.sqrt(n)) + 10 * leftover)) ** 2)


def _proposition_2(eps: float, n: int, tau: float, *, sign: int) -> float:
    """Return delta of Proposition 2 as printed, except that S has the given sign."""
    leftover = _leftover(n, tau)
    return 2 * math.exp(-0.5 * ((eps - 1 / tau**2 + sign * 2.5 * leftover) / (1 / tau + 10 * leftover)) ** 2)


def _noise_pmf(n: int, tau: float) -> NDArray[np.float64]:
    """Return the probabilities of a sum of n discrete Gaussians; each is cut at 13 standard deviations."""
    reach = math.ceil(13 * tau) + 1
    single_pmf = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * tau**2))
    single_pmf /= np.sum(single_pmf)
    total = single_pmf
    for _ in range(n - 1):
        total = np.convolve(total, single_pmf)
    return np.asarray(total)


def _sum_delta(n: int, tau: float, precision: int, eps: float) -> float:
    """Return the exact delta of a sum of n discrete Gaussians if one user changes the sum by the precision."""
    noise, pad = _noise_pmf(n, tau), np.zeros(precision)
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(np.concatenate((noise, pad))), np.log(np.concatenate((pad, noise)))
    return float(hockey_stick(log_p, log_q, eps))


def table_ii_binomial() -> Witness:
    """Return the witness of RP-E16: Table II's binomial row does not hold with the stated probability."""
    share = DELTA / 2
    tails, corrected, apart = {}, {}, 0.0
    for rate in (0.01, 0.05, 0.1, 0.2, 0.4):
        law, mean = _adult(rate), sum(_ADULT) * rate
        literal = mean - math.sqrt(mean * math.log(1 / share)) + 1  # with n' users, and no factor 2
        apart = max(apart, abs(population_lower_bound(law, share, form="printed") - literal))
        tails[rate] = population_shortfall(law, literal)
        corrected[rate] = population_shortfall(law, population_lower_bound(law, share, form="corrected"))
    listed = ", ".join(f"{tail:.2g} at rate {rate:g}" for rate, tail in tails.items())
    return Witness(
        "probability that fewer users of Adult take part than the printed bound, rate 0.01, delta_a 5e-6: stated and "
        "exact",
        share,
        tails[0.01],
        apart < 1e-6
        and all(tails[rate] > 5 * share for rate in (0.01, 0.05, 0.1, 0.2))
        and tails[0.4] <= share
        and max(corrected.values()) <= share,
        f"Exact: {listed}. With the factor 2 it is at most {max(corrected.values()):.2g}.",
    )


def swapped_roles() -> Witness:
    """Return the witness of RP-E17: a wrong reference, and a split of delta whose halves are swapped in the text."""
    eps_local = 0.5
    # Nobody but user 1 knows which of two crowds turns up: a known lower bound, and far from Poisson.
    pmf = np.zeros(1001)
    pmf[0] = pmf[-1] = 0.5
    law = Empirical(tuple(pmf), 500)
    omega = printed_omega(OtherReports(Poisson(law.mean)), DELTA, math.exp(-eps_local))
    clones = law.thinned(math.exp(-eps_local)).window()
    below = float(np.sum(clones.pmf[clones.support < omega]))
    protocol, population = 0.9 * DELTA, 0.1 * DELTA
    crowd = Poisson(125_000.0)
    right, named = (
        protocol + population_shortfall(crowd, population_lower_bound(crowd, part, form="exact"))
        for part in (population, protocol)
    )
    return Witness(
        "Pr[C < Omega] with Omega of Theorem 2, 500 or 1500 others with probability 1/2 each, eps_l 0.5, delta 1e-5: "
        "stated by Theorem 2, and exact",
        DELTA / 2,
        below,
        right <= DELTA < named,
        f"So Theorem 2 does not hold for every law with a known lower bound; Theorem 5 does. With delta_a = 9e-6 for "
        f"the protocol, as in the theorem, and also for the population, as in Table II, the sum is {named:.3g} "
        f"for Poisson mean 125000; with delta_b for the population it is {right:.3g}.",
    )


def violating_exponent() -> Witness:
    """Return the witness of RP-E18: more users than planned reduce delta instead of increasing it above 1."""
    eps, times = 0.5, 2.0
    planned = math.sqrt(2 * math.log(1.25 / DELTA)) / eps  # standard deviation of the sum for n1 users
    exact = _gaussian_delta(1 / (planned * math.sqrt(times)), eps)
    printed, corrected = DELTA**-times, DELTA**times
    return Witness(
        "delta with n = 2 n1 users and Gaussian noise planned for n1, eps 0.5, delta 1e-5: delta^(-n/n1), and exact",
        printed,
        exact,
        printed > 1 and exact <= corrected and _gaussian_delta(1 / planned, eps) <= DELTA,
        f"delta^(n/n1) is {corrected:.2g}, an upper bound.",
    )


def shifted_index() -> Witness:
    """Return the witness of RP-E19: N - 1 others make n = N participants."""
    eps, precision = 0.1, 32

    def both(law: Law, tau: float) -> tuple[float, float]:
        window = law.window()
        of_n = {
            n: _gaussian_delta(precision / (tau * math.sqrt(n)), eps)
            for n in range(1, window.support[-1] + 2)
        }
        pairs = list(zip(window.support.tolist(), window.pmf.tolist(), strict=True))
        return (
            math.fsum(w * of_n[others] for others, w in pairs if others >= 1),
            math.fsum(w * of_n[others + 1] for others, w in pairs),
        )

    law = Poisson(1000.0)
    tau = multi_expected_scale(law, eps, DELTA, precision, accounting="exact")
    printed, correct = both(law, tau)
    few_printed, few = both(Poisson(1.0), tau)
    return Witness(
        "expected delta, Poisson mean 1000, eps 0.1, p 32, exact Gaussian delta_n at the scale that gives 5e-6",
        printed,
        correct,
        correct <= DELTA / 2 < printed and few_printed < few,
        f"The sum also leaves out the case of no others: with mean 1 its weights add up to {1 - math.exp(-1):.4f}, and "
        f"it gives {few_printed:.4f} in place of {few:.4f}.",
    )


def interpretation_of_delta() -> Witness:
    """Return the witness of RP-E20: an (eps, delta) guarantee does not bound ``Pr[loss > eps]`` by delta."""
    eps = 0.5
    log_mu = root_below(
        lambda x: log_gaussian_delta(math.exp(x), eps) - math.log(DELTA), -2.0, -6.0, 2.0, xtol=1e-12
    )
    mu = math.exp(log_mu)
    exceeded = float(ndtr(mu / 2 - eps / mu))
    exact = _gaussian_delta(mu, eps)
    return Witness(
        "probability that the privacy loss exceeds eps 0.5 for Gaussian noise that is exactly (0.5, 1e-5)-DP: printed "
        "limit, and exact",
        DELTA,
        exceeded,
        abs(exact / DELTA - 1) < 1e-6,
        f"The ratio is {exceeded / exact:.1f}. The other direction holds: a loss above eps with probability at most "
        "delta implies (eps, delta)-DP.",
    )


def lemma_4_square() -> Witness:
    """Return the witness of RP-E21: without the square on p, delta of Lemma 4 is below the exact delta."""
    eps, n, tau, precision = 8.0, 16, 12.5, 100
    printed = _lemma_4(eps, n, tau, precision, power=1)
    corrected = _lemma_4(eps, n, tau, precision, power=2)
    later = _lemma_4(eps, n, tau, precision, power=2, divisor=1.0)
    exact = _sum_delta(n, tau, precision, eps)
    gaussian = _gaussian_delta(precision / (tau * math.sqrt(n)), eps)
    return Witness(
        "delta of Lemma 4 and exact delta of the sum, n 16, tau 12.5, p 100, eps 8",
        printed,
        exact,
        exact <= corrected <= later and abs(exact / gaussian - 1) < 0.02,
        f"With p^2 the bound is {corrected:.3g}, and {later:.3g} with the p^2/(n tau^2) of the later text, which is "
        f"safe. Exact by convolution; the exact Gaussian divergence is {gaussian:.3g}.",
    )


def missing_clamp() -> Witness:
    """Return the witness of RP-E22: if the bracket is negative, its square gives a delta that is too small."""
    eps, others, alone = 0.5, 40_000, 1e-3
    precision = math.ceil(math.sqrt((1 - alone) * others + 1))

    def expected(tau: float) -> float:  # literal, without clamp; the true expectation has the same form
        alone_delta, crowd_delta = (_lemma_4(eps, n, tau, precision, power=2) for n in (1, others + 1))
        return 2 * (alone * alone_delta + (1 - alone) * crowd_delta)

    tau = -root_below(lambda minus_tau: expected(-minus_tau) - DELTA, -12.0, -40.0, -5.0, xtol=1e-9)
    printed_alone = _lemma_4(eps, 1, tau, precision, power=2)
    exact_alone = _sum_delta(1, tau, precision, eps)
    pmf = np.zeros(others + 1)
    pmf[0], pmf[-1] = alone, 1 - alone
    law = Empirical(tuple(pmf))

    def clamped(minus_log_tau: float) -> float:
        return (
            2 * multi_expected_delta(law, math.exp(-minus_log_tau), eps, precision, accounting="printed")
            - DELTA
        )

    low, high = -math.log(100 * precision), -math.log(tau)
    needed = math.exp(-root_below(clamped, (low + high) / 2, low, high, xtol=1e-9))
    return Witness(
        f"total delta, nobody else with probability 0.001 and 40000 others otherwise, eps 0.5, p {precision}, smallest "
        "tau that the form without clamp allows (correct: lower bound on the truth)",
        expected(tau),
        alone * exact_alone,
        expected(tau) <= DELTA and exact_alone > 0.99 and needed > tau,
        f"For a single participant the form gives delta {printed_alone:.2g}, the truth is {exact_alone:.4f}. tau is "
        f"{tau:.2f}; with the clamp it must be {needed:.1f}.",
    )


def proposition_2_terms() -> Witness:
    """Return the witness of RP-E23: Proposition 2 replaces p / sqrt(n) by 1 and adds S instead of subtracting it."""
    eps, n, tau = 1.0, 2, 6.5
    precision = math.ceil(math.sqrt(n))
    printed = _proposition_2(eps, n, tau, sign=1)
    exact = _sum_delta(n, tau, precision, eps)
    corrected = 2 * _lemma_4(eps, n, tau, precision, power=2)
    plus, minus = (_proposition_2(4.0, 10, 0.9, sign=sign) for sign in (1, -1))
    # The sign by itself, with a precision rounded down: no positive bracket is known at which it undercuts the truth.
    undercut = []
    for few in (2, 5, 20):
        for scale in (0.4, 0.6, 0.8, 1.0):
            for e in (1.0, 4.0, 10.0):
                leftover = _leftover(few, scale)
                claim = _proposition_2(e, few, scale, sign=1)
                if (
                    e - 1 / scale**2 + 2.5 * leftover > 0
                    and _sum_delta(few, scale, math.isqrt(few), e) > claim
                ):
                    undercut.append((few, scale, e))
    return Witness(
        "delta of Proposition 2, n 2, p 2, tau 6.5, eps 1, and exact delta of the sum, which the messages reveal",
        printed,
        exact,
        exact <= corrected and plus < minus and not undercut,
        f"With p^2/(2 n tau^2) and p/(tau sqrt(n)) the bound is {corrected:.3g}. The sign: n 10, tau 0.9, eps 4 gives "
        f"{plus:.3g} with plus and {minus:.3g} with minus. By itself it was not found to undercut the exact delta "
        "where the bracket is positive.",
    )


def security_in_bits() -> Witness:
    """Return the witness of RP-E24: sigma counts bits, so that the term is 2^-sigma."""
    eps, share = 0.5, DELTA / 2
    sigma = security_bits(eps, share)
    printed, correct = (1 + math.exp(eps)) * sigma, (1 + math.exp(eps)) * 2**-sigma
    return Witness(
        f"what a {sigma:.1f}-secure sum adds to delta, eps 0.5",
        printed,
        correct,
        printed > 1 and abs(correct / share - 1) < 1e-9,
        "As printed, no secure sum gives any guarantee, and more security gives less. The text before Lemma 3 also "
        f"drops delta itself: with the sum (0.5, {share:g})-DP the messages are (0.5, {share + correct:g})-DP.",
    )


def natural_security() -> Witness:
    """Return the witness of RP-E25: sigma is in nats, but the definition counts bits."""
    eps, share = 0.5, DELTA / 2
    half_square = -math.log(share)  # z^2 / 2, so that the sum is (eps, share)-DP
    proof, statement = (math.log1p(math.exp(eps)) + factor * half_square for factor in (1, 2))
    needed = security_bits(eps, share)
    leak = 2**-proof
    stated_leak = (1 + math.exp(eps)) * 2**-statement
    order = group_order(POPULATIONS["Adult, rate 0.05"], 50, 10.0, form="safe")
    messages = [share_count(bits, order, form="printed") for bits in (statement, needed)]
    return Witness(
        "what the secure sum adds to delta with the sigma of the proof, eps 0.5, exp(-z^2/2) = 5e-6: claimed, and "
        "(1 + e^eps) 2^-sigma",
        share,
        (1 + math.exp(eps)) * leak,
        proof < needed < statement and leak > 2 * share and stated_leak < share,
        f"sigma is {proof:.2f} in the proof, {statement:.2f} in the statement, which has z^2 for z^2/2, and must be "
        f"{needed:.2f}. A protocol that is secure to {proof:.2f} bits may reveal all with probability {leak:.2g}, "
        f"more than the total of {DELTA:g}. The sigma of the statement adds {stated_leak:.2g}: safe, at {messages[0]} "
        f"messages where {messages[1]} are enough by Proposition 1.",
    )


def collapsed_group() -> Witness:
    """Return the witness of RP-N26: Theorem 6's group is too small for the noise and, at small eps, for the data."""
    law, eps = _adult(0.01), 0.001
    precision = math.ceil(math.sqrt(law.mean + 1))
    tau = multi_expected_scale(law, eps, DELTA, precision, accounting="printed")
    window = law.window()
    n = window.support + 1.0
    beyond = np.cumsum((n**2 * window.pmf)[::-1])[::-1]  # sum over n >= x of n^2 Pr[N = n]
    twice = 1 if beyond[0] <= tau**2 else int(n[int(np.argmax(beyond <= tau**2))])
    literal = twice * precision
    order = group_order(law, precision, tau, form="safe")
    scale = tau * np.sqrt(n)
    # A decoder is right at best when the noise falls into the q integers around 0.
    printed = float(window.pmf @ (2 * ndtr(literal / 2 / scale) - 1))
    correct = 1 - float(window.pmf @ (2 * ndtr(-(order - n * precision) / 2 / scale)))
    return Witness(
        f"probability that a decoder can recover the noisy sum, Adult rate 0.01, eps 0.001, p {precision}, tau "
        f"{tau:.0f}: group of Theorem 6, and one with room",
        printed,
        correct,
        group_order(law, precision, tau, form="printed") == literal
        and twice == 1
        and literal < law.mean * precision
        and correct > 1 - 1e-9,
        f"q is {literal}, so that every decoded sum is below {literal / precision:g}, with {law.mean + 1:.0f} users on "
        f"average; noise has standard deviation {float(np.sqrt(law.mean + 1) * tau):.3g}. With room q is {order}.",
    )


def overflow_tail() -> Witness:
    """Return the witness of RP-E26: the noise tail of Proposition 2 and Theorem 6 decays four times too fast."""
    n, precision, tau = 16, 4, 2.0
    pmf = _noise_pmf(n, tau)
    noise = np.arange(pmf.size) - pmf.size // 2
    values: dict[float, tuple[float, float, float, float]] = {}
    for x in (2.0, 4.0, 8.0):  # (q - n p) / (tau sqrt(n))
        order = n * precision + round(x * tau * math.sqrt(n))
        room = order - n * precision
        # All users hold 1. Above the last residue the sum wraps whatever the threshold is.
        least = float(np.sum(pmf[noise >= room]))
        halfway = float(np.sum(pmf[np.abs(noise) >= room / 2]))
        scaled = room**2 / (n * tau**2)
        values[x] = 2 * math.exp(-2 * scaled), least, halfway, 2 * math.exp(-scaled / 8)
    printed, least, halfway, corrected = values[4.0]
    return Witness(
        "probability that the noisy sum of 16 users who hold 1 wraps around, q = n p + 4 tau sqrt(n), p 4, tau 2: as "
        "printed, and the least over all thresholds",
        printed,
        least,
        all(p < a <= h <= c for p, a, h, c in values.values()),
        f"With the threshold halfway between n p and q it is {halfway:.3g}, and the corrected tail {corrected:.3g}.",
    )


def population_quantile() -> Witness:
    """Return the witness of RP-E27: the level 1 - exp(-tau) is not related to the number of participants."""
    law, eps = Poisson(1000.0), 5.0
    precision = math.ceil(math.sqrt(law.mean + 1))
    tau = multi_expected_scale(law, eps, DELTA, precision, accounting="exact")
    window = law.window()
    n = window.support + 1.0
    limit = law.quantile(-math.expm1(-tau)) + 1
    literal = limit * precision
    order = group_order(law, precision, tau, form="safe")
    scale = tau * np.sqrt(n)
    # All hold 1, the sum is n p. The threshold (Q p + q) / 2 equals q: nothing is ever corrected.
    right = ndtr((literal - 0.5 - n * precision) / scale) - ndtr((-0.5 - n * precision) / scale)
    wrong = float(window.pmf @ (1 - right))
    correct = float(window.pmf @ (2 * ndtr(-(order - n * precision) / 2 / scale)))
    excess_mass = float(np.sum(window.pmf[n > limit]))
    small = multi_expected_scale(law, 0.1, DELTA, precision, accounting="printed")
    return Witness(
        f"probability of wrong decoding if all users hold 1, Poisson mean 1000, eps 5, tau {tau:.2f}, q = "
        "Q_N[1 - exp(-tau)] p; correct with room for the noise and the midpoint (n p + q)/2",
        wrong,
        correct,
        excess_mass > 0.01 and correct < 1e-9 and 1 - math.exp(-small) == 1.0,
        f"With probability {excess_mass:.2g} more users take part than the quantile {limit}. At eps 0.1, tau "
        f"is {small:.1f} "
        "and the level is 1 in double precision: no finite quantile under Poisson.",
    )


def captions_and_symbols() -> Witness:
    """Return the witness of RP-E28: n' is the number of users of Adult, and a mean is not a rate."""
    caption = 48_841
    law = POPULATIONS["Adult, rate 0.5"]
    others = law.trials if isinstance(law, Binomial) else 0
    refused = False
    try:
        Binomial(others, 1000.0)
    except ValueError:
        refused = True
    # "P_{N+1}" is a law shifted by 2 against P_{N-1}.
    window = Poisson(1000.0).window()
    shift = float(window.pmf @ (window.support + 2)) - Poisson(1000.0).mean
    return Witness(
        "n' of Adult: in the captions of Figures 4 and 7, and females plus males",
        float(caption),
        float(sum(_ADULT)),
        others == caption and refused and abs(shift - 2) < 1e-6,
        f"The captions state the number of others, {others}. Figures 5 and 8 call the Poisson mean alpha, which is a "
        f"participation rate elsewhere. P_(N+1) for the law of N - 1 with dummies differs by {shift:.0f} in its "
        "argument.",
    )
