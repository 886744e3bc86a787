"""Witnesses for the errata and reading notes of Liew and Takahashi (2022), the shuffle Gaussian mechanism.

Notation: d is the distance between the replaced and the new record, C the clipping norm, g the sampling rate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import gammaln

from shuffledp.accounting.baselines.gaussian_clones import (
    clones_apply,
    gaussian_clones_epsilon,
    gaussian_local_epsilon,
)
from shuffledp.accounting.general.rdp import best_epsilon, conversion_term, gaussian_rdp
from shuffledp.accounting.shuffle_gaussian.all_users import shuffle_gaussian_epsilons, shuffle_gaussian_rdp
from shuffledp.accounting.shuffle_gaussian.checkin import (
    checkin_shuffle_gaussian_epsilon,
    checkin_shuffle_gaussian_rdp,
)
from shuffledp.accounting.shuffle_gaussian.subsampled import (
    subsampled_shuffle_gaussian_epsilon,
    subsampled_shuffle_gaussian_rdp,
)
from shuffledp.numerics.tails import log_binomial_pmf
from shuffledp.pipeline.claims.witness import Witness

if TYPE_CHECKING:
    from numpy.typing import NDArray

_N = 60_000
_TABLE_SIGMA = 9.48
_COLUMNS = range(1, 8)
#: Setting of Figure 1b.
_RATE, _SIGMA, _ROUNDS, _DELTA = 0.1, 5.0, 5540, 1e-5


def log_normal_transform(t: NDArray[np.float64], spread: float) -> NDArray[np.float64]:
    """Return ``E exp(-t e^(spread g - spread^2 / 2))`` for a standard normal g and each t, shape of `t`.

    The error of the trapezoidal rule decays faster than any power of the step, and is below 1e-12 for ``spread <= 4``.
    """
    g = np.linspace(-12, 12, 961)
    density = np.exp(-(g**2) / 2)
    return np.asarray(
        np.exp(-np.multiply.outer(t, np.exp(spread * g - spread**2 / 2))) @ (density / density.sum())
    )


def common_place_rdp(n: int, sigma: float, *, changed: float, original: float, product: float) -> float:
    """Return the exact order-2 divergence if all other users hold one record, at any place.

    With A and B the likelihood ratios of one report at the new and at the replaced record against the common one, the
    second moment is ``E[(sum A)^2 / sum B] / n``, where ``1 / s`` is the integral of ``e^(-t s)``.
    """
    variance = sigma**2
    spread = math.sqrt(original / variance)
    u = np.linspace(-40, 40, 1601)
    t = np.exp(u)
    shift = math.exp(product / variance)
    base = log_normal_transform(t, spread)
    squares = math.exp(changed / variance) * log_normal_transform(t * shift**2, spread) * base ** (n - 1)
    products = (n - 1) * log_normal_transform(t * shift, spread) ** 2 * base ** (n - 2)
    return math.log(float(np.sum((squares + products) * t)) * float(u[1] - u[0]))


def order_limit() -> Witness:
    """Return the witness of SG-N1: for orders up to 30, the conversion and not the mechanism determines Table 1."""
    delta = 1 / _N
    short = shuffle_gaussian_epsilons(_N, _TABLE_SIGMA, _COLUMNS, delta, most_order=30)
    long = shuffle_gaussian_epsilons(_N, _TABLE_SIGMA, _COLUMNS, delta)
    orders = np.arange(2, 31)
    rdp = shuffle_gaussian_rdp(orders, _N, _TABLE_SIGMA)
    best = {best_epsilon(orders, t * rdp, delta)[1] for t in _COLUMNS}
    share = float(conversion_term(np.array([30.0]), delta)[0]) / short[-1]
    clones = gaussian_clones_epsilon(n=_N, sigma=_TABLE_SIGMA, rounds=1, delta=delta)
    return Witness(
        "eps of one round, n 60000, sigma 9.48, delta 1/n; with orders up to 30, and with enough orders",
        float(short[0]),
        float(long[0]),
        best == {30.0} and share > 0.999 and long[0] < clones < short[0],
        f"Order 30 is the best in all seven columns, and its conversion alone accounts for {100 * share:.2f}% of the "
        f"last. "
        f"After 7 rounds eps is {long[-1]:.5f}. The clones bound at the same sensitivity gives {clones:.4f} for one.",
    )


def two_sensitivities() -> Witness:
    """Return the witness of SG-N2: Table 1 uses sensitivity 2 for the clones and 1 for the paper's method."""
    delta = 1 / _N
    printed = gaussian_clones_epsilon(
        n=_N, sigma=9.476, rounds=1, delta=delta, sensitivity=2, search="printed"
    )
    correct = gaussian_clones_epsilon(n=_N, sigma=9.476, rounds=1, delta=delta, search="printed")
    seven = gaussian_clones_epsilon(n=_N, sigma=9.476, rounds=7, delta=delta, sensitivity=2, search="printed")
    paper_eps = float(shuffle_gaussian_epsilons(_N, _TABLE_SIGMA / 2, [1], delta)[0])
    return Witness(
        "eps of one round by clones, n 60000, sigma 9.476; with sensitivity 2, and with sensitivity 1",
        printed,
        correct,
        abs(printed - 0.18623) < 5e-6 and abs(seven - 1.43138) < 5e-6,
        f"The first and the last entry of the row, {printed:.5f} and {seven:.5f}, follow from sensitivity 2. "
        f"At that distance the paper's own method gives {paper_eps:.5f} for one round.",
    )


def local_budget_of_table() -> Witness:
    """Return the witness of SG-3: sigma 9.48 gives a local budget of 1 at sensitivity 2."""
    correct = gaussian_local_epsilon(_TABLE_SIGMA, 1 / _N, calibration="classical")
    double = gaussian_local_epsilon(_TABLE_SIGMA, 1 / _N, sensitivity=2, calibration="classical")
    return Witness(
        "local eps of sigma 9.48 at delta 1/60000 by the classical calibration, sensitivity 1",
        1.0,
        correct,
        abs(double - 1) < 5e-4,
        f"With sensitivity 2 it is {double:.4f}; 2 sqrt(2 ln(1.25 n)) = {2 * math.sqrt(2 * math.log(1.25 * _N)):.4f}.",
    )


def triangle() -> Witness:
    """Return the witness of SG-4: three records at distances of 1 from each other exceed Theorem 1."""
    n, sigma = _N, 0.5
    settings = ((2, 1.0), (100, 0.5), (1000, 1.0), (n, 2.0), (n, sigma))
    pairs = [
        (
            float(shuffle_gaussian_rdp([2], m, s)[0]),
            common_place_rdp(m, s, changed=1, original=1, product=0.5),
        )
        for m, s in settings
    ]
    far_pair = common_place_rdp(2, 1.0, changed=1, original=0, product=0)
    printed, correct = pairs[-1]
    return Witness(
        "divergence of order 2, n 60000, sigma 0.5: one record moves along a side of an equilateral triangle of side "
        "1, all others are at the third corner",
        printed,
        correct,
        all(a < b for a, b in pairs) and abs(far_pair / pairs[0][0] - 1) < 1e-9,
        f"The divergence is larger by a factor of {correct / printed:.3f}. With n 2 and sigma 1 it is "
        f"{pairs[0][1]:.4f} against {pairs[0][0]:.4f}, "
        f"with n 1000 and sigma 1 {pairs[2][1]:.6f} against {pairs[2][0]:.6f}.",
    )


def others_elsewhere() -> Witness:
    """Return the witness of SG-N5: a record moves from 0 to 1 while the other is at -1; amplification is negligible."""
    n, sigma = 2, 0.5
    printed = float(shuffle_gaussian_rdp([2], n, sigma)[0])
    correct = common_place_rdp(n, sigma, changed=4, original=1, product=2)
    alone = float(gaussian_rdp([2], sigma)[0])
    return Witness(
        "divergence of order 2, n 2, sigma 0.5, a record moves from 0 to 1 and the other is at -1",
        printed,
        correct,
        alone > correct > 0.999 * alone,
        f"One report without shuffling has {alone:.5f}.",
    )


def clipped_distance() -> Witness:
    """Return the witness of SG-N6: two clipped gradients are up to 2 C apart under replacement."""
    multiplier, rounds = 0.86, 10_000

    def epsilon(sigma: float) -> float:
        return subsampled_shuffle_gaussian_epsilon(
            n=_N, m=60, sigma=sigma, rounds=rounds, delta=_DELTA, most_order=64, form="printed"
        )

    printed, correct = epsilon(multiplier), epsilon(multiplier / 2)
    local = gaussian_local_epsilon(multiplier, _DELTA, sensitivity=2)
    return Witness(
        "eps of Figure 1a after 10 epochs; with the noise multiplier 0.86 as sigma (d = C), and with half "
        "of it (d = 2 C)",
        printed,
        correct,
        abs(local - 12) < 0.1,
        f"The paper's local budget of 12 belongs to sensitivity 2 C ({local:.2f}).",
    )


def subsampling_floor() -> Witness:
    """Return the witness of SG-N7: Theorem 2's bound has a positive limit for large noise."""

    def epsilon(form: Literal["printed", "convex"], sigma: float) -> float:
        return checkin_shuffle_gaussian_epsilon(
            n=_N,
            rate=_RATE,
            sigma=sigma,
            rounds=_ROUNDS,
            delta=_DELTA,
            form=form,
            most_order=128,
        )

    printed, correct = epsilon("printed", _SIGMA), epsilon("convex", _SIGMA)
    quiet = epsilon("printed", 1000.0)
    orders = np.arange(2, 129)
    whole = best_epsilon(orders, _ROUNDS * shuffle_gaussian_rdp(orders, 6000, _SIGMA), _DELTA)[0]
    bound = float(subsampled_shuffle_gaussian_rdp([3], _N, 6000, 1000.0, form="printed")[0])
    return Witness(
        "eps of Figure 1b after 5540 rounds, sigma 5; by Theorem 2, and by convexity",
        printed,
        correct,
        correct < whole < printed and quiet > 10 and bound >= math.log1p(2 * _RATE**3) / 2,
        f"With sigma 1000 the bound of Theorem 2 still gives {quiet:.3f}. Without any use of the subsampling eps is "
        f"{whole:.3f}.",
    )


def nobody_takes_part() -> Witness:
    """Return the witness of SG-8: the sum over the number of participants lacks the term of zero participants."""
    n, rate, sigma, order = 5, 0.1, 5.0, 2
    k = np.arange(1, n + 1)
    weights = np.exp([log_binomial_pmf(int(x), n, rate) for x in k])
    excess = np.array([4 * rate**2 * math.expm1(1 / sigma**2) / x for x in k])
    printed = math.log(float(weights @ (1 + excess)))
    correct = float(checkin_shuffle_gaussian_rdp([order], n, rate, sigma, form="printed")[0])
    whole = math.log1p(float(weights @ excess))
    return Witness(
        "divergence of order 2 by equation (11), n 5, rate 0.1, sigma 5",
        printed,
        correct,
        printed < 0 and abs(whole / correct - 1) < 1e-9,
        f"The missing weight is {(1 - rate) ** n:.4f}.",
    )


def participation_rate() -> Witness:
    """Return the witness of SG-9: given k participants, a user takes part with probability k / n, not the mean rate."""
    printed = float(checkin_shuffle_gaussian_rdp([3], _N, _RATE, _SIGMA, form="printed")[0])
    correct = float(checkin_shuffle_gaussian_rdp([3], _N, _RATE, _SIGMA, form="conditional")[0])
    mean = _N * _RATE
    # E[k (k-1) (k-2)] = n (n-1) (n-2) rate^3
    third = (_N * (_N - 1) * (_N - 2) * _RATE**3 + 3 * _N * (_N - 1) * _RATE**2 + mean) / _N**3
    return Witness(
        "divergence of order 3 in Figure 1b; printed at rate 0.1 for every number of participants, correct at k / n",
        printed,
        correct,
        third > _RATE**3 and abs(correct / printed - third / _RATE**3) < 1e-4,
        f"E[(k/n)^3] is {third / _RATE**3:.5f} times 0.1^3.",
    )


def algorithm_returns_sum() -> Witness:
    """Return the witness of SG-10: Algorithm 1 ends before the logarithm, and its exponential lacks 1 / (2 sigma^2)."""
    order = 2

    def moment(scale: float) -> float:  # the partitions 2 and 1 + 1
        both = _N * math.exp(4 * scale) + _N * (_N - 1) * math.exp(2 * scale)
        return math.exp(-order / (2 * _TABLE_SIGMA**2)) / math.pow(_N, order) * both

    correct = float(shuffle_gaussian_rdp([order], _N, _TABLE_SIGMA)[0])
    repaired = math.log(moment(1 / (2 * _TABLE_SIGMA**2)))
    return Witness(
        "output of Algorithm 1 at order 2, n 60000, sigma 9.48",
        moment(1.0),
        correct,
        abs(repaired - correct) < 1e-12,
        f"With both corrections, in float arithmetic, it returns {repaired:.4g}.",
    )


def zeros_of_a_partition() -> Witness:
    """Return the witness of SG-N11: the k_i that are 0 are also repetitions, as the paper counts them."""
    n, sigma, order = 10, 1.0, 2
    scale = 1 / (2 * sigma**2)

    def rdp(single: float, double: float) -> float:
        """Return the divergence for given numbers of arrangements of the partitions 2 and 1 + 1."""
        both = single * math.exp(4 * scale) + double * 2 * math.exp(2 * scale)
        return math.log(math.exp(-order * scale) / n**order * both)

    printed = rdp(math.factorial(n), math.factorial(n) / 2)
    correct = float(shuffle_gaussian_rdp([order], n, sigma)[0])
    repaired = rdp(n, math.exp(gammaln(n + 1) - gammaln(n - 1)) / 2)
    return Witness(
        "divergence of order 2, n 10, sigma 1, by partitions without and with their zeros",
        printed,
        correct,
        abs(repaired / correct - 1) < 1e-9,
        "Without the zeros the factor is n! for the one part 2, instead of n.",
    )


def clones_condition() -> Witness:
    """Return the witness of SG-N12: the clones theorem's condition has log(2 delta), negative for small delta."""
    delta = 1e-5
    printed, correct = 16 * math.log(2 * delta), 16 * math.log(2 / delta)
    most = math.log(_N / correct)
    return Witness(
        "16 log(2 / delta), by which n is divided in the condition on eps_0, at delta 1e-5",
        printed,
        correct,
        printed < 0
        and clones_apply(most * (1 - 1e-12), _N, delta)
        and not clones_apply(most + 1e-9, _N, delta),
        f"n / (16 log(2 delta)) is negative and has no logarithm; with the bar eps_0 may be up to {most:.3f}.",
    )


def range_of_delta() -> Witness:
    """Return the witness of SG-13: no delta is above 1 and below 0."""
    orders = np.arange(2, 31)
    rdp = gaussian_rdp(orders, 5.0)
    eps = [best_epsilon(orders, rdp, delta)[0] for delta in (1e-9, 1e-5, 0.5)]
    return Witness(
        "length of the interval of delta in Lemma 2",
        0.0 - 1.0,
        1.0 - 0.0,
        eps == sorted(eps, reverse=True),
        f"For one report with sigma 5 Lemma 2 gives {eps[0]:.3f} at delta 1e-9 and {eps[1]:.3f} at 1e-5.",
    )
