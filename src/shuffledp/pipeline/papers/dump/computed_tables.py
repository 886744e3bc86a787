"""Tables 2, 3 and 4 of the DUMP paper (arXiv 2009.13738), checked against formulas and exact accounting."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from shuffledp.accounting.baselines.correlated_counts import correlated_noise
from shuffledp.accounting.baselines.private_coin import default_entries, private_coin_mse, private_coin_tuples
from shuffledp.accounting.baselines.public_coin import public_coin_rate, public_coin_rows
from shuffledp.accounting.baselines.solh import solh_mse, solh_report
from shuffledp.accounting.baselines.truncation import truncation_miss_rate
from shuffledp.accounting.dump.dummies import dummy_count, mix_dummy_count
from shuffledp.accounting.dump.flexible import flexible_dummies, flexible_dummies_needed, flexible_dummy_delta
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.grr_blanket import blanket_local_budget
from shuffledp.numerics.windows import binomial_window

USERS = 500_000
DELTA = 1e-6
EPS_LOCAL = 8.0
EPS = (0.4, 0.6, 0.8, 1.0)
#: Columns of Tables 3 and 4: number of values, probability of sending dummies.
COLUMNS = ((50, 0.01), (50, 0.001), (500, 0.01), (500, 0.001))
#: Printed entries, a row per eps.
PRINTED_PURE = ((13, 127, 127, 1270), (6, 57, 57, 565), (4, 32, 32, 318), (3, 21, 21, 204))
PRINTED_MIX = ((12, 118, 119, 1190), (5, 44, 46, 451), (2, 18, 20, 192), (1, 6, 8, 72))


def table_three() -> pd.DataFrame:
    """Return the dummies per sending user of flexible pureDUMP, one row per cell of Table 3."""
    return flexible_table(PRINTED_PURE, math.inf)


def table_four() -> pd.DataFrame:
    """Return the dummies per sending user of flexible mixDUMP, one row per cell of Table 4."""
    return flexible_table(PRINTED_MIX, EPS_LOCAL)


def flexible_table(entries: tuple[tuple[int, ...], ...], eps_local: float) -> pd.DataFrame:
    """Return a checked table of dummies per sending user."""
    rows = []
    for (row, eps), (column, (k, rate)) in product(enumerate(EPS), enumerate(COLUMNS)):
        setting = (USERS, k, eps, DELTA, rate)
        needed = flexible_dummies_needed(*setting, eps_local=eps_local)
        ours, corrected, exact = (
            flexible_dummies(*setting, accounting=accounting, eps_local=eps_local)
            for accounting in ("printed", "corrected", "exact")
        )
        paper = entries[row][column]
        rows.append(
            {
                "eps": eps,
                "delta": DELTA,
                "k": k,
                "rate": rate,
                "paper": paper,
                "formula": needed,
                "ours": ours,
                "corrected": corrected,
                "exact": exact,
                "delta of the paper's entry": flexible_dummy_delta(
                    eps, USERS, k, paper, rate, eps_local=eps_local
                ),
                "verdict": "agrees" if paper == ours else f"formula rounds up to {ours}",
            }
        )
    return pd.DataFrame(rows)


# -- Table 2 -------------------------------------------------------------------------------------------------------

#: Settings of the experiments: number of users and of values.
SETTINGS = {
    "50 values": (500_000, 50),
    "500 values": (500_000, 500),
    "IPUMS": (70_187, 900),
    "Ratings": (494_352, 2_000),
}
_TABLE_EPS = 1.0
_SEED_BITS = 32
_ACCOUNTINGS = ("printed", "exact")


@dataclass(frozen=True)
class Row:
    """Protocol in one setting, with numbers for the formulas in :data:`FORMULAS`."""

    messages: float
    bits: float
    mse: float


#: Messages per user, bits per message, mean squared error of a frequency, and condition of the published theorem.
FORMULAS = {
    "privacy-amplification": (
        "1",
        "ceil(log2 k)",
        "[q (1 - q) + (1 - p - q) (p - q) / k] / (n (p - q)^2), p = E q, q = 1 / (E + k - 1)",
        "sqrt(14 k ln(2/delta) / (n - 1)) < eps <= 1",
    ),
    "SOLH": (
        "1",
        "32 + ceil(log2 d')",
        "[q (1 - q) + (1 - p - q) (p - q) / k] / (n (p - q)^2), p = E / (E + d' - 1), q = 1 / d'",
        "eps <= 1, d' >= 2",
    ),
    "truncation-based": (
        "1 + k p",
        "ceil(log2 k)",
        "p (1 - p) / n, not truncated",
        "sqrt(400 ln(4/delta) / n) <= eps <= 2",
    ),
    "private-coin": ("1 + rho", "tau log2(2 B)", "(rho + 1 - 1/k) h / ((1 - h) n), h = 2^-tau", "eps <= 1"),
    "public-coin": (
        "tau (1 + 2 n gamma)",
        "ceil(log2 tau) + ceil(log2 2 n)",
        "E[(max(x + min of tau Bin(n, gamma) - n gamma, 0) - x)^2] / n^2, x = n / k",
        "eps <= 1, gamma <= 1/2",
    ),
    "correlated noise": (
        "1 + k (2 q / (1 - q) + 2 E[Z3]) / n",
        "ceil(log2 k) + 1",
        "2 q / (1 - q)^2 / n^2, q = e^-eps_1",
        "none",
    ),
    "pureDUMP": ("1 + S / n", "ceil(log2 k)", "S (k - 1) / (n k)^2", "eps <= 1, delta <= 0.2907"),
    "mixDUMP": (
        "1 + S / n",
        "ceil(log2 k)",
        "(E + k - 2) / (n (E - 1)^2) + (k - 2) / (k n (E - 1)) + S (k - 1) / (n k)^2 ((E + k - 1) / (E - 1))^2",
        "eps <= 1, delta <= 0.5814",
    ),
}


def table_two() -> pd.DataFrame:
    """Return Table 2 with values of formulas instead of orders of magnitude, at eps 1 and delta 1e-6."""
    rows = []
    for (name, (n, k)), protocol, accounting in product(SETTINGS.items(), FORMULAS, _ACCOUNTINGS):
        messages, bits, mse, condition = FORMULAS[protocol]
        numbers = Row(math.nan, math.nan, math.nan)
        condition_text = condition if accounting == "printed" else ""
        try:
            numbers = PROTOCOLS[protocol](n, k, _TABLE_EPS, accounting)
        except Infeasible as error:
            condition_text = f"not met: {error.reason}"
        rows.append(
            {
                "setting": name,
                "protocol": protocol,
                "accounting": accounting,
                "delta": DELTA,
                "messages": numbers.messages,
                "messages formula": messages,
                "bits": numbers.bits,
                "bits formula": bits,
                "mse": numbers.mse,
                "mse formula": mse,
                "condition": condition_text,
            }
        )
    return pd.DataFrame(rows)


def _bits(k: int) -> float:
    return math.ceil(math.log2(k))


def _response_mse(n: int, k: int, eps_local: float) -> float:
    decay, gain = math.exp(-eps_local), -math.expm1(-eps_local)
    return decay * (1 + (k - 2) * decay) / (n * gain**2) + (k - 2) * decay / (k * n * gain)


def _amplification(n: int, k: int, eps: float, accounting: str) -> Row:
    budget = blanket_local_budget(n, k, eps, DELTA, accounting=accounting)
    return Row(1.0, _bits(k), _response_mse(n, k, budget))


def _solh(n: int, k: int, eps: float, accounting: str) -> Row:
    report = solh_report(n, k, eps, DELTA, accounting=accounting)
    mse = solh_mse(n, k, report.cells, report.eps_local)
    return Row(1.0, _SEED_BITS + _bits(report.cells), mse)


def _truncation(n: int, k: int, eps: float, accounting: str) -> Row:
    miss = truncation_miss_rate(n, eps, DELTA, accounting=accounting)
    return Row(1 + k * (1 - miss), _bits(k), miss * (1 - miss) / n)


def _private_coin(n: int, k: int, eps: float, accounting: str) -> Row:
    tau = default_entries(n)
    tuples = private_coin_tuples(n, eps, DELTA, accounting=accounting)
    return Row(1.0 + tuples, tau * (1 + _bits(k)), private_coin_mse(n, k, tuples, 2.0**-tau))


def _public_coin(n: int, k: int, eps: float, accounting: str) -> Row:
    tau = public_coin_rows(k)
    rate = public_coin_rate(n, tau, eps, DELTA, accounting=accounting)
    noise = binomial_window(n, rate, 1e-30)
    at_least = np.append(np.cumsum(noise.pmf[::-1])[::-1], 0.0) ** tau
    least = at_least[:-1] - at_least[1:]
    true_count = n / k
    error = np.maximum(true_count + noise.support - n * rate, 0) - true_count
    return Row(tau * (1 + 2 * n * rate), _bits(tau) + _bits(2 * n), float(least @ error**2) / n**2)


def _correlated(n: int, k: int, eps: float, accounting: str) -> Row:
    noise = correlated_noise(eps, DELTA, accounting=accounting)
    return Row(1 + k * noise.messages / n, _bits(k) + 1, noise.variance / n**2)


def _pure(n: int, k: int, eps: float, accounting: str) -> Row:
    dummies = dummy_count(k, eps, DELTA, accounting=accounting)
    return Row(1 + dummies / n, _bits(k), dummies * (k - 1) / (n * k) ** 2)


def _mix(n: int, k: int, eps: float, accounting: str) -> Row:
    dummies = mix_dummy_count(n, k, eps, DELTA, EPS_LOCAL, accounting=accounting)
    scale = (1 + (k - 1) * math.exp(-EPS_LOCAL)) / -math.expm1(-EPS_LOCAL)
    mse = _response_mse(n, k, EPS_LOCAL) + dummies * (k - 1) / (n * k) ** 2 * scale**2
    return Row(1 + dummies / n, _bits(k), mse)


#: Numbers of each protocol by users, values, eps and accounting, at delta 1e-6; raises `Infeasible`.
PROTOCOLS: Mapping[str, Callable[[int, int, float, str], Row]] = {
    "privacy-amplification": _amplification,
    "SOLH": _solh,
    "truncation-based": _truncation,
    "private-coin": _private_coin,
    "public-coin": _public_coin,
    "correlated noise": _correlated,
    "pureDUMP": _pure,
    "mixDUMP": _mix,
}


#: Tables by the name in the configuration.
TABLES = {"table2": table_two, "table3": table_three, "table4": table_four}
