"""Rules on DUMP's theorems, which the accounting decides without result tables."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import chain, pairwise, product
from operator import add
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.correlated_counts import correlated_noise
from shuffledp.accounting.baselines.private_coin import default_entries, private_coin_tuples
from shuffledp.accounting.baselines.public_coin import public_coin_rate, public_coin_rows
from shuffledp.accounting.baselines.solh import solh_report
from shuffledp.accounting.baselines.truncation import truncation_miss_rate
from shuffledp.accounting.dump.against_shuffler import pure_shuffler_epsilon
from shuffledp.accounting.dump.dummies import dummy_count, dummy_delta, dummy_epsilon, mix_dummy_count
from shuffledp.accounting.dump.errors import dump_mse
from shuffledp.accounting.dump.flexible import flexible_dummies, flexible_dummies_needed, flexible_dummy_delta
from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.accounting.general.grr_blanket import blanket_local_budget, grr_blanket_delta
from shuffledp.numerics.windows import binomial_window
from shuffledp.pipeline.claims.case import SLOPE, Case, Verdict
from shuffledp.pipeline.claims.message_multisets import Law, hockey_stick, replaced, with_message
from shuffledp.pipeline.formatters import number, percent, series, times
from shuffledp.pipeline.papers.dump.computed_tables import (
    COLUMNS,
    DELTA,
    EPS,
    EPS_LOCAL,
    PRINTED_MIX,
    PRINTED_PURE,
    SETTINGS,
    USERS,
)
from shuffledp.pipeline.query import Points, grade, near, share, slope

Floats = NDArray[np.float64]
#: Relative difference up to which two numbers are equal.
EQUAL = 1e-9
DELTAS = (1e-6, 1e-9)
DOMAINS = (2, 10, 50, 500, 5000)
GRID = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
NUMBERS = (10_000, 100_000, 1_000_000)


def theorem_5_2(case: Case) -> Verdict:
    """Compare the eps of the theorem with the exact eps at the theorem's number of dummies."""
    shares, factors = [], []
    for k, eps, delta in product(DOMAINS, GRID, DELTAS):
        dummies = dummy_count(k, eps, delta, accounting="printed")
        shares.append(dummy_epsilon(k, dummies, delta, accounting=case.accounting) / eps)
        factors.append(dummies / dummy_count(k, eps, delta, accounting=case.accounting))
    above = sum(share > 1 + EQUAL for share in shares)
    last = dummy_epsilon(
        500, dummy_count(500, 1.0, DELTA, accounting="printed"), DELTA, accounting=case.accounting
    )
    return Verdict(
        f"eps {times(shares)} the promised one, {times(factors)} as many dummies as needed",
        not above,
        f"above the promised eps in {above} of {len(shares)} settings ({DOMAINS[0]} to {DOMAINS[-1]} values, eps "
        f"{GRID[0]} to {GRID[-1]}, two delta); {last:.3g} where 1 is promised, with 500 values and delta {DELTA:g}",
    )


def theorem_5_6(case: Case) -> Verdict:
    """Judge the exact delta of mixDUMP at the theorem's number of dummies."""
    eps_values = EPS[:: case.at_most(1, 3)]
    settings = list(SETTINGS.values())[: case.at_most(4, 1)]
    deltas = [
        grr_blanket_delta(
            eps, n, k, EPS_LOCAL, dummies=mix_dummy_count(n, k, eps, DELTA, EPS_LOCAL, accounting="printed")
        )
        for (n, k), eps in product(settings, eps_values)
    ]
    above = sum(delta > DELTA * (1 + EQUAL) for delta in deltas)
    return Verdict(
        f"delta {max(deltas):.2g} at most, where {DELTA:g} is promised",
        not above,
        f"above at {above} of {len(deltas)} settings of the experiments",
        f"{len(deltas)} settings; an adversary who knows which reports are uniform",
    )


def corollary_5_3(case: Case) -> Verdict:
    """Compare the exact local eps of a user's dummies with the eps of the corollary."""
    shares = []
    for k, eps, delta in product(DOMAINS, GRID, DELTAS):
        dummies = dummy_count(k, eps, delta, accounting="printed")
        printed, exact = (
            pure_shuffler_epsilon(k, dummies, delta, accounting=a) for a in ("printed", "exact")
        )
        shares.append(exact / printed)
    above = sum(share > 1 + EQUAL for share in shares)
    return Verdict(
        f"{times(shares)} the eps of the corollary",
        not above,
        f"above it in {above} of {len(shares)} settings: {DOMAINS[0]} to {DOMAINS[-1]} values, own dummies by "
        f"the corollary for eps {GRID[0]} to {GRID[-1]}, two delta",
    )


def any_eps(case: Case) -> Verdict:
    """Check that by the theorem finitely many dummies give any small eps."""
    eps_values = [10.0**-power for power in range(case.at_most(6, 4))]
    counts = [dummy_count(50, eps, DELTA, accounting="printed") for eps in eps_values]
    reached = share(
        dummy_epsilon(50, count, DELTA, accounting="printed") <= eps * (1 + EQUAL)
        for count, eps in zip(counts, eps_values, strict=True)
    )
    return Verdict(
        f"{counts[-1]:.3g} dummies for eps {eps_values[-1]:g}",
        reached,
        f"over 50 values, delta {DELTA:g}; slope {slope(eps_values, counts):.3g} of the number against eps",
    )


def _of_both(first: Law, second: Law) -> Law:
    """Return the law of the sums of independent counts."""
    sums: defaultdict[tuple[int, ...], float] = defaultdict(float)
    for (some, mass), (more, other) in product(first.items(), second.items()):
        sums[tuple(map(add, some, more))] += mass * other
    return sums


def enumerated_delta(users: int, dummies: int, values: int, eps: float) -> float:
    """Return delta of a value among the users' dummies, from the law of two counts, which is computed user by user."""
    nobody: Law = {(0, 0, 0): 1.0}
    dummy = (1 / values, 1 / values, 1 - 2 / values)
    of_user = reduce(with_message, [dummy] * dummies, nobody)
    law = reduce(_of_both, [of_user] * users, nobody)
    return hockey_stick(*replaced(law, np.eye(2, 3)), eps)


#: Number of dummies, which 1, 2, 3, 4, 6 or 12 users can divide.
TOTAL: Final = 12


def only_the_total(case: Case) -> Verdict:
    """Check, by the theorem and by enumeration, that delta depends only on the total number of dummies."""
    if case.accounting == "printed":
        totals = [
            n * flexible_dummies_needed(n, k, eps, DELTA, 1.0) / (14 * k * math.log(2 / DELTA) / eps**2 + 1)
            for n, k, eps in product(NUMBERS, DOMAINS, EPS)
        ]
        how = f"total number of dummies by Theorem 5.2 for {NUMBERS[0]} to {NUMBERS[-1]} users"
    else:
        totals = [
            enumerated_delta(users, TOTAL // users, k, eps) / dummy_delta(k, TOTAL, eps)
            for users, k, eps in product((1, 2, 3, 4, 6, 12), (2, 3, 5), (0.2, 1.0))
        ]
        how = f"enumerated delta of {TOTAL} dummies divided among 1 to {TOTAL} users, over delta of the total"
    apart = max(abs(total - 1) for total in totals)
    return Verdict(f"relative difference at most {apart:.1g}", apart < EQUAL, how, f"{len(totals)} settings")


def cheaper_with_users(case: Case) -> Verdict:
    """Judge the extra messages by the number of users; users share dummies, but not tuples or additions."""
    k, eps = 50, 1.0
    sent = {
        "pureDUMP": [dummy_count(k, eps, DELTA, accounting="printed") / n for n in NUMBERS],
        "private-coin": [float(private_coin_tuples(n, eps, DELTA, accounting="printed")) for n in NUMBERS],
        "truncation": [k * (1 - truncation_miss_rate(n, eps, DELTA, accounting="printed")) for n in NUMBERS],
    }
    falls = {name: all(late < early for early, late in pairwise(line)) for name, line in sent.items()}
    rivals = [name for name in sent if name != "pureDUMP"]
    right = sum(not falls[name] for name in rivals) if falls["pureDUMP"] else 0
    return Verdict(
        "; ".join(f"{name} {series(line)}" for name, line in sent.items()),
        Points(right, len(rivals) - right),
        f"extra messages with {', '.join(map(str, NUMBERS))} users, {k} values, eps {eps:g}",
    )


def every_eps(case: Case) -> Verdict:
    """Check both theorems for eps up to 1 and delta up to the largest value."""
    eps_values = (1.0, 0.5, 0.1, 0.01)[:: case.at_most(1, 2)]
    pure, mix = [], []
    for eps, delta in product(eps_values, (*DELTAS, 1e-3, 0.29)):
        pure.append(dummy_delta(50, dummy_count(50, eps, delta, accounting="printed"), eps) / delta)
    n, k = NUMBERS[0], 50
    for eps, delta in product(eps_values, (DELTA, 0.58)):
        dummies = mix_dummy_count(n, k, eps, delta, EPS_LOCAL, accounting="printed")
        mix.append(grr_blanket_delta(eps, n, k, EPS_LOCAL, dummies=dummies) / delta)
    above = sum(share > 1 + EQUAL for share in (*pure, *mix))
    return Verdict(
        f"exact delta at most {max(pure):.2g} (pureDUMP) and {max(mix):.2g} (mixDUMP) times the promised one",
        not above,
        f"eps {eps_values[-1]:g} to {eps_values[0]:g}, delta up to 0.29 and 0.58, {k} values; above at {above}",
        f"{len(pure) + len(mix)} settings",
    )


def printed_table(case: Case, table: str) -> Verdict:
    """Check Tables 3 and 4, entry by entry."""
    entries, eps_local = {"table3": (PRINTED_PURE, math.inf), "table4": (PRINTED_MIX, EPS_LOCAL)}[table]
    differ, settings = [], [*product(EPS, COLUMNS)]
    for entry, (eps, (k, rate)) in zip(chain(*entries), settings, strict=True):
        setting = (USERS, k, eps, DELTA, rate)
        if flexible_dummies(*setting, accounting="printed", eps_local=eps_local) != entry:
            needed = flexible_dummies_needed(*setting, eps_local=eps_local)
            differ.append(f"{entry} printed, {needed:.3f} before rounding up")
    agree = Points(len(settings) - len(differ), len(differ))
    return Verdict(
        f"{agree.pro} of {agree.total} entries",
        agree.anywhere,
        "; ".join(differ) or f"{USERS} users, delta {DELTA:g}",
    )


def random_senders(case: Case) -> Verdict:
    """Compare Table 3's dummies with a proof for a random number of senders, and with the exact delta."""
    cells = list(product(EPS, COLUMNS))
    if case.accounting == "printed":
        pairs = [
            tuple(
                flexible_dummies(USERS, k, eps, DELTA, rate, accounting=a) for a in ("printed", "corrected")
            )
            for eps, (k, rate) in cells
        ]
        short = sum(printed < proven for printed, proven in pairs)
        return Verdict(
            f"{pairs[-1][0]} dummies per sender, {pairs[-1][1]} by a proof",
            grade(strict=not short, weak=True),
            f"fewer than a rigorous closed form needs at {short} of {len(cells)} settings of Table 3; measured is "
            "the last of them",
        )
    deltas = [
        flexible_dummy_delta(
            eps, USERS, k, flexible_dummies(USERS, k, eps, DELTA, rate, accounting="printed"), rate
        )
        for eps, (k, rate) in cells[:: case.at_most(1, 4)]
    ]
    above = sum(delta > DELTA for delta in deltas)
    return Verdict(
        f"delta {max(deltas):.2g} at most, where {DELTA:g} is promised",
        not above,
        f"above at {above} of {len(deltas)} settings of Table 3, because Theorem 5.2 is loose",
    )


def logarithmic_error(case: Case) -> Verdict:
    """Judge how pureDUMP's error grows with 1/delta for tiny delta, and its ratio to the central error."""
    n, k, eps = USERS, 500, 1.0

    def error(power: int) -> float:
        return dump_mse(n, k, dummy_count(k, eps, 10.0**-power, accounting=case.accounting))

    def exponent(powers: Sequence[int]) -> float:
        return slope([math.log(2) + p * math.log(10) for p in powers], [error(p) for p in powers])

    far, usual = (30, 100, 300), (6, 9)
    central = discrete_laplace_variance(eps / 2) / n**2
    return Verdict(
        f"exponent {number(exponent(far))} of ln(2/delta), {number(exponent(usual))} from 1e-{usual[0]} to "
        f"1e-{usual[1]}; {times(error(usual[0]) / central)} the central error at 1e-{usual[0]}",
        near(exponent(far), 1, SLOPE),
        f"the law of the limit decides: delta 1e-{far[0]} to 1e-{far[-1]}, {n} users, {k} values, eps {eps:g}; central "
        "is geometric noise on every count, at eps / 2 because a replacement changes two",
    )


# -- data -------------------------------------------------------------------------------------------------------------


def histogram(k: int, *, skewed: bool) -> Floats:
    """Return the number of users per value, equal or in proportion to 1, 1/4, 1/9, ..."""
    weights = 1 / np.arange(1.0, k + 1) ** 2 if skewed else np.ones(k)
    holders: Floats = np.round(USERS * weights / weights.sum())
    holders[0] += USERS - holders.sum()
    return holders


def _favored(k: int, eps_local: float) -> tuple[float, float]:
    """Return the probabilities of a user's own value and of another value in k-ary randomized response."""
    other = 1 / (math.exp(eps_local) + k - 1)
    return math.exp(eps_local) * other, other


def reports(n: int, k: int, eps: float) -> Mapping[str, tuple[float, float, float]]:
    """Return the law of reports by protocol.

    A report supports the user's own value with the first probability, and another value with the second. The third
    number is the variance that is added to the support of a value.
    """

    def spread(dummies: int) -> float:
        return dummies / k * (1 - 1 / k)

    hashed = solh_report(n, k, eps, DELTA, accounting="printed")
    match = 2.0 ** -default_entries(n)
    tuples = private_coin_tuples(n, eps, DELTA, accounting="printed")
    mixed = mix_dummy_count(n, k, eps, DELTA, EPS_LOCAL, accounting="printed")
    return {
        "pureDUMP": (1, 0, spread(dummy_count(k, eps, DELTA, accounting="printed"))),
        "mixDUMP": (*_favored(k, EPS_LOCAL), spread(mixed)),
        "GRR": (*_favored(k, blanket_local_budget(n, k, eps, DELTA, accounting="printed")), 0),
        "SOLH": (_favored(hashed.cells, hashed.eps_local)[0], 1 / hashed.cells, 0),
        "private-coin": (1, match, n * tuples * match * (1 - match)),
        "correlated noise": (1, 0, correlated_noise(eps, DELTA, accounting="printed").variance),
    }


def _support_error(held: Floats, n: int, own: float, other: float, added: float) -> Floats:
    """Return the squared error per value of frequencies from supports, for the numbers of holders."""
    return (held * own * (1 - own) + (n - held) * other * (1 - other) + added) / (n * (own - other)) ** 2


def _truncation(held: Floats, n: int, eps: float) -> Floats:
    miss = truncation_miss_rate(n, eps, DELTA, accounting="printed")
    lost = binomial_window(n, miss, 1e-30)
    return np.array(
        [float(lost.pmf @ (np.where(lost.support < x, n * miss - lost.support, x) / n) ** 2) for x in held]
    )


def _public_coin(held: Floats, n: int, k: int, eps: float) -> Floats:
    """Return the error of public-coin without hash collisions, which are rare for few values."""
    rows = public_coin_rows(k)
    rate = public_coin_rate(n, rows, eps, DELTA, accounting="printed")
    noise = binomial_window(n, rate, 1e-30)
    reached = np.append(np.cumsum(noise.pmf[::-1])[::-1], 0.0) ** rows
    least = reached[:-1] - reached[1:]
    return np.array(
        [float(least @ (np.maximum(x + noise.support - n * rate, 0) - x) ** 2) / n**2 for x in held]
    )


def errors_by_value(held: Floats, n: int, k: int, eps: float) -> dict[str, Floats]:
    """Return the squared errors of frequencies by protocol, value by value, from the numbers of holders."""
    return {
        **{name: _support_error(held, n, *law) for name, law in reports(n, k, eps).items()},
        "truncation": _truncation(held, n, eps),
        "public-coin": _public_coin(held, n, k, eps),
    }


def any_data(case: Case) -> Verdict:
    """Compare the mean error over the values for skewed data and for equally frequent values."""
    within, k, eps = 0.02, 50, 1.0
    even, skewed = (errors_by_value(histogram(k, skewed=how), USERS, k, eps) for how in (False, True))
    changes = {name: float(errors.mean() / even[name].mean()) for name, errors in skewed.items()}
    same = share(abs(change - 1) <= within for change in changes.values())
    return Verdict(
        ", ".join(f"{name} {change:.3g}" for name, change in changes.items()) + " times",
        same,
        f"error on frequencies in proportion to 1, 1/4, 1/9, ... over that on equal ones ({k} values, {USERS} users, "
        f"eps {eps:g}); within {percent(within)} for {same.of('protocols')}",
    )
