"""Witnesses for the errata and reading notes of Ghazi et al. 2021 (ICML), summation by correlated noise.

Notation: D the largest input, NB(r, p) with mean ``r p / (1 - p)``, m shares modulo q. Values of Figure 1 were
read off the vector drawing; its settings are eps = 1, delta = 1e-6, eps* = 0.9.
"""

from __future__ import annotations

import math

import numpy as np

from shuffledp.accounting.baselines.fragmented_rappor import rappor_delta, rappor_flip_probability
from shuffledp.accounting.baselines.split_and_mix import ikos_shares
from shuffledp.accounting.expected_errors.sums import rappor_count_variance, rappor_mse
from shuffledp.accounting.summation.closed_designs import best_modular_design
from shuffledp.accounting.summation.noise_atoms import atom_indices, atom_inverse, dominating_vector
from shuffledp.numerics.windows import binomial_window
from shuffledp.pipeline.claims.witness import Witness

_EPS, _DELTA, _EPS_STAR = 1.0, 1e-6, 0.9
_USERS = (10**4, 10**5, 10**6, 10**7)
#: Points read off Figure 1: bits per user of IKOS, panel (b); error of RAPPOR, panel (a); noise messages, panel (c).
_IKOS_BITS = (96, 95, 92, 104)
_RAPPOR_ERRORS = {2: 13.1, 3: 20.6, 5: 38.8, 10: 96.9, 15: 169.8}
_NOISE_MESSAGES = {5: 2.20e5, 10: 2.00e6, 15: 9.78e6}


def _ikos_bits(n: int, max_value: int) -> int:
    shares = ikos_shares(n, max_value, _EPS, _DELTA, form="figure")
    return shares * math.ceil(math.log2(n * max_value))


def figure_1b_title() -> Witness:
    """Return the witness of SUM-N1: panel (b) shows D = 5, not 10."""
    titled = [_ikos_bits(n, 10) for n in _USERS]
    bits_of_panel = [_ikos_bits(n, 5) for n in _USERS]
    return Witness(
        "bits per user of IKOS at n = 10^4: for the D of the title and as drawn",
        titled[0],
        _IKOS_BITS[0],
        tuple(bits_of_panel) == _IKOS_BITS and all(t != b for t, b in zip(titled, _IKOS_BITS, strict=True)),
        f"For n = 10^4 to 10^7 the figure shows {_listed(_IKOS_BITS)}, which is D = 5; D = 10 has {_listed(titled)}.",
    )


def ikos_security() -> Witness:
    """Return the witness of SUM-N2: neither the number of shares read off nor one share more has proven security."""
    n, order, shares = 10**4, 2, 3
    # An input 0 sends an even number of ones, an input 1 an odd one: 2 Bin(n, 3/4) against n + 2 Bin(n, 1/4).
    zeros, ones = np.zeros(3 * n + 1), np.zeros(3 * n + 1)
    for law, rate, offset in ((zeros, 0.75, 0), (ones, 0.25, n)):
        window = binomial_window(n, rate, 1e-20)
        law[offset + 2 * window.support] = window.pmf
    exact = float(np.abs(zeros - ones).sum()) / 2
    per_share = math.log2(n) - math.log2(math.e)
    promised = [2 ** -(((shares - extra) * per_share - math.log2(order)) / 2) for extra in (0, 1, 2)]
    forms = [[ikos_shares(k, 5, _EPS, _DELTA, form=f) for k in _USERS] for f in ("figure", "worst_case")]
    return Witness(
        "total variation distance of all zeros and all ones, q = 2, m = 3, n = 10^4",
        promised[0],
        exact,
        promised[0] < promised[1] < exact <= promised[2],
        f"The bound with one share more is {promised[1]:.2g}, with two more {promised[2]:.2g}, which holds. The "
        f"figure has "
        f"{_listed(forms[0])} shares, the proven formula {_listed(forms[1])}.",
    )


def rappor_curve() -> Witness:
    """Return the witness of SUM-N3: RAPPOR's drawn error is sqrt(2) times the centered estimator's error."""
    n = 10**6
    p = rappor_flip_probability(n, _EPS, _DELTA, calibration="optimistic")
    centred = {d: math.sqrt(rappor_mse(n, d, p, estimator="centred")) for d in _RAPPOR_ERRORS}
    ratios = [error / centred[d] for d, error in _RAPPOR_ERRORS.items()]
    return Witness(
        "root mean squared error of RAPPOR, D = 5, n = 10^6: as drawn, and of the centered estimator",
        _RAPPOR_ERRORS[5],
        centred[5],
        all(abs(r / math.sqrt(2) - 1) < 0.006 for r in ratios),
        f"The ratios are {min(ratios):.3f} to {max(ratios):.3f} for D from 2 to 15.",
    )


def rappor_calibration() -> Witness:
    """Return the witness of SUM-N4: other users with one of the two values are worse than users of a third value."""
    n = 10**4
    p = rappor_flip_probability(n, _EPS, _DELTA, calibration="optimistic")
    true = rappor_delta(n, p, _EPS, calibration="worst_case")
    needed = rappor_flip_probability(n, _EPS, _DELTA, calibration="worst_case")
    return Witness(
        "delta of RAPPOR at its calibrated p, n = 10^4, all other users with one of the two values",
        _DELTA,
        true,
        true > 4.5 * _DELTA and rappor_delta(n, p, _EPS, calibration="optimistic") <= _DELTA,
        f"lambda is {rappor_count_variance(n, p):.2f}; this data set needs {rappor_count_variance(n, needed):.2f}.",
    )


def base_of_the_logarithm() -> Witness:
    """Return the witness of SUM-N5: with the natural logarithm, the rebuilt vector of Theorem 12 does not dominate."""

    def load(size: int, logarithm: float) -> float:
        gamma = size * (math.ceil(logarithm) + 1)
        bounds = np.array([math.ceil(gamma / abs(i)) for i in atom_indices(size)], np.float64)
        return float(np.max(np.abs(atom_inverse(size)).T @ (1 / bounds)))

    fails = [d for d in range(2, 65) if load(d, math.log(d)) > 1 + 1e-12]
    right = max(float(np.max(np.abs(atom_inverse(d)).T @ (1 / dominating_vector(d)))) for d in range(2, 65))
    return Witness(
        "largest sum |c| / t over columns, D = 13, t with the natural logarithm; domination allows 1",
        1.0,
        load(13, math.log(13)),
        right <= 1 + 1e-12 and fails[:3] == [6, 7, 11],
        f"The largest sum is above 1 for {len(fails)} of the D up to 64; with base 2 it is {right:.4f}.",
    )


def conditioning_of_lemma_9() -> Witness:
    """Return the witness of SUM-7: the matching must condition on the difference of the two variables, not the sum."""
    a, kappa, total, most = math.exp(-_EPS_STAR / 5), 2, 3, 200
    law = (1 - a) * a ** np.arange(most)
    joint = np.outer(law, law)  # rows: number of +1
    # Difference 3 and j against difference 1 and j + 2.
    by_difference = [joint[total + j, j] / joint[total + j, j + kappa] for j in range(50)]
    # Given the sum, the number of -1 is uniform on 0..sum.
    lone = sum(joint[total - j, j] for j in range(total + 1) if not kappa <= j <= total)
    lone /= sum(joint[total - j, j] for j in range(total + 1))
    return Witness(
        "mass of z- given z+ + z- = 3 without a counterpart given z+ + z- = 1 and a shift by 2",
        0.0,
        float(lone),
        all(abs(r * a**kappa - 1) < 1e-9 for r in by_difference),
        "Given the difference, all mass has a counterpart, with the constant factor that the lemma needs.",
    )


def parameter_search() -> Witness:
    """Return the witness of SUM-N8: for D >= 10 the messages read off far exceed Theorem 8's values."""
    best = {d: best_modular_design(d, _EPS, _DELTA, _EPS_STAR)[0].messages for d in (5, 10, 15)}
    printed_growth, smallest_growth = (v[15] / v[5] / 3 for v in (_NOISE_MESSAGES, best))
    return Witness(
        "expected noise messages, D = 15: as drawn, and of the smallest noises under Theorem 8",
        _NOISE_MESSAGES[15],
        best[15],
        _NOISE_MESSAGES[10] > 3 * best[10] and printed_growth > 10 and smallest_growth < 3,
        f"D = 5: {_NOISE_MESSAGES[5]:.3g} and {best[5]:.3g}. From D = 5 to 15, messages per D grow "
        f"{printed_growth:.1f} times "
        f"in the figure, and {smallest_growth:.2f} times with the smallest noises.",
    )


def _listed(values: tuple[int, ...] | list[int]) -> str:
    return ", ".join(str(v) for v in values)
