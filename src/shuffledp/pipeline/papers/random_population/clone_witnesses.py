"""Witnesses for the errata and reading notes of Wang et al. 2023 (TPDS), random population: the number of clones.

Notation: E = e^eps_local, L4 = log(4 / delta), L2 = log(2 / delta), C the number of clones, Omega a number of clones
with ``Pr[C < Omega] <= delta / 2``.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from shuffledp.accounting.general.clones import OtherReports, unamplified_delta
from shuffledp.accounting.random_population.amplification import amplified_epsilon, clone_delta
from shuffledp.accounting.random_population.closed_forms import (
    corrected_omega,
    printed_omega,
)
from shuffledp.numerics.windows import binomial_window, convolve
from shuffledp.pipeline.claims.witness import Witness
from shuffledp.pipeline.papers.random_population.settings import DELTA
from shuffledp.populations.base import Fixed, Law
from shuffledp.populations.bounds import MomentBounded, SubExponential, SubGaussian
from shuffledp.populations.laws import Binomial, Poisson


def below_omega(clones: Law, omega: float) -> float:
    """Return ``Pr[C < omega]`` by summation of probabilities."""
    window = clones.window()
    return float(np.sum(window.pmf[window.support < omega])) + window.omitted


def mean_counts_user_1() -> Witness:
    """Return the witness of RP-N2: the expected number of clones is for n' - 1 users; the bound stays valid."""
    users, rate, eps_local = 101, 0.5, 0.5
    clones = Binomial(users - 1, rate).thinned(math.exp(-eps_local))
    window = clones.window()
    printed, correct = users * rate * math.exp(-eps_local), float(window.pmf @ window.support)
    worst, checked = 0.0, 0
    for n in (20, 60, 200, 1000):
        for a in (0.3, 0.6, 1.0):
            for eps in (0.05, 0.5, 1.0):
                for delta in (0.9, 0.1, 1e-3, 1e-5):
                    omega = printed_omega(OtherReports(Binomial(n - 1, a)), delta, math.exp(-eps))
                    if omega > 2 * math.log(4 / delta):
                        tail = below_omega(Binomial(n - 1, a).thinned(math.exp(-eps)), omega)
                        worst, checked = max(worst, tail / (delta / 2)), checked + 1
    return Witness(
        "expected number of clones, n' = 101, participation 0.5, eps_l 0.5",
        printed,
        correct,
        checked > 0 and worst <= 1,
        f"Pr[C < Omega] with the printed Omega is at most {worst:.2g} times delta / 2 in {checked} settings.",
    )


def growth_condition() -> Witness:
    """Return the witness of RP-E7: Omega increases with the participation rate only above a larger rate than stated."""
    from scipy.optimize import minimize_scalar  # slow to import, and only needed here

    users, eps_local = 10_001, 0.5
    e, log4, log2 = math.exp(eps_local), math.log(4 / DELTA), math.log(2 / DELTA)

    def omega(rate: float) -> float:
        return printed_omega(OtherReports(Binomial(users - 1, rate)), DELTA, 1 / e)

    def omega_poisson(mean: float) -> float:
        return printed_omega(OtherReports(Poisson(mean)), DELTA, 1 / e)

    printed = e / users * math.sqrt(3 * log2 / 4)
    formula = e / users * 3 * log4 / 4
    correct = float(
        minimize_scalar(omega, bounds=(printed / 10, 0.1), method="bounded", options={"xatol": 1e-12}).x
    )
    poisson = float(
        minimize_scalar(omega_poisson, bounds=(0.01, 1000.0), method="bounded", options={"xatol": 1e-9}).x
    )
    printed_poisson, formula_poisson = e * math.sqrt(log2 / 2), e * log2 / 2
    return Witness(
        "participation rate at which the printed Omega is smallest, n' = 10001, eps_l 0.5, delta 1e-5",
        printed,
        correct,
        abs(correct / formula - 1) < 1e-4
        and abs(poisson / formula_poisson - 1) < 1e-4
        and omega(1.5 * printed) < omega(printed)
        and omega_poisson(1.2 * printed_poisson) < omega_poisson(printed_poisson),
        f"Found by minimizing; the corrected formula gives {formula:.4g}. Poisson mean: stated "
        f"{printed_poisson:.4g}, found "
        f"{poisson:.4g}, corrected formula {formula_poisson:.4g}.",
    )


def clone_count_in_proof() -> Witness:
    """Return the witness of RP-E8: the factorization in the proof of Theorem 1 does not sum to 1."""
    c_max = 8
    prior = binomial_window(c_max, 0.5, 1e-300).pmf

    def split(x: int, c: int) -> float:
        return math.comb(c, x) / 2**c if 0 <= x <= c else 0.0

    true: dict[tuple[int, int], float] = {}  # P' = (A + 1, C - A)
    for c in range(c_max + 1):
        for x in range(c + 1):
            true[x + 1, c - x] = float(prior[c]) * split(x, c)

    def factored(a: int, b: int, shift: int) -> float:
        c = a + b + shift
        return float(prior[c]) * split(a - 1, c) if 0 <= c <= c_max else 0.0

    outcomes = [(a, b) for a in range(1, c_max + 2) for b in range(c_max + 2)]
    printed, correct = (math.fsum(factored(a, b, s) for a, b in outcomes) for s in (1, -1))
    exact = all(abs(factored(a, b, -1) - true.get((a, b), 0.0)) < 1e-13 for a, b in outcomes)
    return Witness(
        "total probability of P' by the factorization in the proof, C from Bin(8, 1/2)",
        printed,
        correct,
        exact and abs(correct - 1) < 1e-12,
        "With C = a + b - 1 every outcome has its enumerated probability.",
    )


def poisson_dummies_constant() -> Witness:
    """Return the witness of RP-N9: Theorem 4b at k = 0 is weaker than Theorem 2; 2 (lambda + k) suffices for all k."""
    mean, eps_local = 1000.0, 0.5
    e, log2 = math.exp(eps_local), math.log(2 / DELTA)
    printed = mean / e - math.sqrt(4 * mean / e * log2)
    correct = printed_omega(OtherReports(Poisson(mean)), DELTA, 1 / e)
    # Beside that, the theorem as it is used with dummies, and the exact tail of the smaller constant.
    worst = 0.0
    looser = True
    for k in (0, 100, 1000, 5000):
        reports = OtherReports(Poisson(mean), k)
        omega = corrected_omega(reports, DELTA, 1 / e)
        window = convolve(Poisson(mean / e).window(), binomial_window(k, 1 / e, 1e-30))
        tail = float(np.sum(window.pmf[window.support < omega])) + window.omitted
        worst = max(worst, tail / (DELTA / 2))
        looser = looser and (k == 0 or printed_omega(reports, DELTA, 1 / e) < omega)
    return Witness(
        "Omega (clones) without dummies, Poisson mean 1000, eps_l 0.5, delta 1e-5: Theorem 4b and Theorem 2",
        printed,
        correct,
        worst <= 1 and looser,
        f"With 2 (lambda + k), Pr[C < Omega] is at most {worst:.2g} times delta / 2 for k = 0, 100, 1000, 5000.",
    )


def sub_gaussian_definition() -> Witness:
    """Return the witness of RP-N10: with tau^2 as the variance proxy in Theorem 4c, a population exceeds delta."""
    mean, scale, eps_local = 20_000.0, 5400.0, 1.0
    eps = amplified_epsilon(SubGaussian(mean, scale), eps_local, DELTA, accounting="printed")
    # N - 1 is Normal(mean, scale^2), rounded up and clamped at 0. Its own mean and lower tail, to make sure that
    # it is covered by the usual definition:
    n = np.arange(0, round(mean + 12 * scale))
    below = ndtr((n - mean) / scale)  # Pr[N - 1 <= n]
    own_mean = float(np.sum(1 - below))
    distance = np.maximum(own_mean - n, 0)
    covered = bool(np.all(below[distance > 0] <= np.exp(-(distance[distance > 0] ** 2) / (2 * scale**2))))
    # delta_n falls with n: groups of populations are counted at their upper end, those above 4000 not at all.
    atom = float(below[0]) * unamplified_delta(eps_local, eps)
    ends = np.concatenate(([0], np.arange(20, 4001, 20)))
    mass = np.diff(np.concatenate(([0.0], below[ends])))
    lower = math.fsum(
        float(w) * clone_delta(Fixed(int(end)), eps_local, eps) for w, end in zip(mass, ends, strict=True)
    )
    return Witness(
        "delta at the eps_c of Theorem 4c; N - 1 Normal(20000, 5400^2) clamped at 0, tau = 5400, eps_l 1, k = 0 "
        "(second value: lower bound on the truth)",
        DELTA,
        lower,
        covered and atom > DELTA and lower >= atom,
        f"eps_c is {eps:.4f}. The event without other participants, of probability {below[0]:.3g}, "
        f"alone contributes {atom:.2e}.",
    )


def missing_division() -> Witness:
    """Return the witness of RP-N11: literally read, Theorem 4d has far too many clones."""
    others, eps_local, a, b = 5000, 1.0, 1.0, 10.0
    e, log2 = math.exp(eps_local), math.log(2 / DELTA)
    # A fixed population obeys every exponential lower tail with a >= 1.
    shortfall = math.log(4 * a / DELTA) / b
    m = others - shortfall
    omega = m / e - math.sqrt(others - shortfall * 0.5 * e * log2)
    clones = Fixed(others).thinned(1 / e)
    literal = below_omega(clones, omega)
    read = m / e - math.sqrt(m / (0.5 * e) * log2)
    used = printed_omega(OtherReports(SubExponential(float(others), a, b)), DELTA, 1 / e)
    tail = below_omega(clones, read)
    return Witness(
        "Pr[C < Omega] for 5000 others for certain, eps_l 1, delta 1e-5, a = 1, b = 10: stated and exact",
        DELTA / 2,
        literal,
        abs(used - read) < 1e-9 * read and tail <= DELTA / 2,
        f"The literal Omega is {omega:.1f}; with the division it is {read:.1f}, and then the exact probability is "
        f"{tail:.2g}.",
    )


def variance_symbol() -> Witness:
    """Return the witness of RP-E12: the square of the mean is not the variance; the next formula is correct."""
    law, eps_local = Binomial(2000, 0.5), 0.5
    e = math.exp(eps_local)
    window = law.thinned(1 / e).window()
    x = window.support
    mean = float(window.pmf @ x)
    correct = float(window.pmf @ (x - mean) ** 2)
    formula = (law.mean * (e - 1) + law.variance) / e**2
    delta = 1e-2
    reports = OtherReports(MomentBounded(law.mean, law.variance))
    chebyshev, cantelli = (omega(reports, delta, 1 / e) for omega in (printed_omega, corrected_omega))
    tail = below_omega(law.thinned(1 / e), cantelli)
    return Witness(
        "variance of the number of clones, N - 1 Bin(2000, 0.5), eps_l 0.5, from its probabilities",
        mean**2,
        correct,
        abs(correct / formula - 1) < 1e-9 and chebyshev < cantelli and tail <= delta / 2,
        f"The formula of Theorem 3 gives {formula:.6g}. At delta 0.01 Omega is {chebyshev:.2f} by Chebyshev's "
        f"inequality and {cantelli:.2f} by Cantelli's, which is one-sided.",
    )
