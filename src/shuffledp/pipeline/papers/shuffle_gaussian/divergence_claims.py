"""Claims of Liew and Takahashi 2022 on divergences, which the accounting decides without result tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, localcontext
from functools import partial
from itertools import pairwise, product

import numpy as np
from scipy.special import gammaln, logsumexp

from shuffledp.accounting.baselines.gaussian_clones import closed_form_clones_epsilon, gaussian_local_epsilon
from shuffledp.accounting.shuffle_gaussian.all_users import shuffle_gaussian_rdp
from shuffledp.accounting.shuffle_gaussian.checkin import (
    checkin_shuffle_gaussian_epsilon,
    checkin_theorem3_epsilon,
)
from shuffledp.accounting.shuffle_gaussian.checkin_participants import first_blocks
from shuffledp.accounting.shuffle_gaussian.subsampled import subsampled_shuffle_gaussian_rdp
from shuffledp.pipeline.claims.case import Case, Verdict
from shuffledp.pipeline.formatters import percent, span, times
from shuffledp.pipeline.papers.shuffle_gaussian.computed_tables import (
    BATCH,
    CHECKIN_ORDER,
    CHECKIN_RATE,
    CHECKIN_ROUNDS,
    CHECKIN_SIGMA,
    FIGURE_DELTA,
    REPORT_NOISE,
    USERS,
    table_one,
)
from shuffledp.pipeline.papers.shuffle_gaussian.witnesses import log_normal_transform
from shuffledp.pipeline.query import Points, grade, share

_DIGITS = 60
#: Relative difference up to which two numbers are equal.
EQUAL = 1e-12
NUMBERS = (1, 2, 3, 5, 10)
NOISES = (0.5, 1.0, 3.0)
#: Number of terms that are summed in seconds.
AFFORDABLE = 1e9
#: Order up to which the partitions of Theorem 1 are enumerated.
MOST_PARTS = 12


def _partitions(total: int, most: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield partitions of a number into at most `parts` parts of at most `most`, the largest part first."""
    if total == 0:
        yield ()
        return
    if parts == 0:
        return
    for first in range(min(total, most), 0, -1):
        for rest in _partitions(total - first, first, parts - 1):
            yield (first, *rest)


def enumerated_rdp(order: int, n: int, sigma: float) -> float:
    """Return Theorem 1 as printed, a sum over partitions of the order into n parts, with 60 digits."""
    with localcontext() as context:
        context.prec = _DIGITS
        spread = 2 * Decimal(str(sigma)) ** 2
        total = Decimal(0)
        for parts in _partitions(order, order, n):
            ways = Decimal(math.factorial(order) * math.factorial(n))
            for size in parts:
                ways /= math.factorial(size)
            for repeats in (*Counter(parts).values(), n - len(parts)):
                ways /= math.factorial(repeats)
            total += ways * (Decimal(sum(size * size for size in parts)) / spread).exp()
        log_moment = total.ln() - order * Decimal(n).ln() - Decimal(order) / spread
        return float(log_moment / (order - 1))


def formula(case: Case) -> Verdict:
    """Compare Theorem 1 with its sum over partitions, with 60 digits."""
    orders = range(2, case.at_most(MOST_PARTS, 6) + 1)
    worst = max(
        abs(float(shuffle_gaussian_rdp([order], n, sigma)[0]) / enumerated_rdp(order, n, sigma) - 1)
        for order, n, sigma in product(orders, NUMBERS, NOISES)
    )
    return Verdict(
        f"relative difference at most {worst:.1g}",
        worst < EQUAL,
        f"for {NUMBERS[0]} to {NUMBERS[-1]} reports; the sum over partitions is the moment of the mean of log-normal "
        "ratios",
        f"{_DIGITS} digits, orders to {orders[-1]}",
    )


def _reverse_rdp(order: int, n: int, sigma: float) -> float:
    """Return the reverse divergence ``E mean^(1 - order)``, from the Laplace transform of the sum of ratios."""
    spread, power = 1 / sigma, order - 1
    u = np.linspace(-45, 12, 4001)
    t = np.exp(u)
    log_terms = power * u + n * np.log(np.maximum(log_normal_transform(t, spread), 1e-300)) - gammaln(power)
    log_integral = float(logsumexp(log_terms)) + math.log(float(u[1] - u[0]))
    return (log_integral + power * math.log(n)) / power


def one_direction(case: Case) -> Verdict:
    """Check that the reverse divergence never exceeds the computed divergence."""
    settings = list(product((2, 3, 4, 6, 8), (1, 2, 5, 20, 100), (0.5, 1.0, 2.0, 4.0)))
    settings = settings[:: 100 // case.at_most(100, 20)]
    ratios = [
        _reverse_rdp(order, n, sigma) / float(shuffle_gaussian_rdp([order], n, sigma)[0])
        for order, n, sigma in settings
    ]
    above = sum(ratio > 1 + 1e-6 for ratio in ratios)
    return Verdict(
        f"reverse over forward {span(ratios)}",
        not above,
        f"above 1 in {above} of {len(settings)} settings (orders 2 to 8, 1 to 100 reports, sigma 0.5 to 4); "
        "no proof is known",
        f"{len(settings)} settings, by quadrature",
    )


def below_unshuffled(case: Case) -> Verdict:
    """Check that the divergence is strictly below the divergence of a single Gaussian report."""
    orders = np.arange(2, case.at_most(1000, 100) + 1)
    above = points = 0
    shares: list[float] = []
    for n, sigma in product((2, 10, 1000, USERS), (0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)):
        ratios = shuffle_gaussian_rdp(orders, n, sigma) * 2 * sigma**2 / orders
        above += int((ratios >= 1).sum())
        points += ratios.size
        shares += [float(ratios.min()), float(ratios.max())]
    return Verdict(
        f"{span(shares)} of the unshuffled divergence",
        Points(points - above, above),
        f"not below at {above} of {points} combinations of 2 to {USERS} reports, sigma 0.3 to 20 and order",
        f"orders to {orders[-1]}",
    )


def exceeds_local(case: Case) -> Verdict:
    """Check that the closed clones form can exceed the local budget, at the fewest users that the form permits."""
    delta = 1e-5
    excesses = {}
    for eps_local in (0.01, 0.1, 0.5, 1.0, 2.0):
        users = math.ceil(16 * math.log(2 / delta) * math.exp(eps_local))
        excesses[eps_local] = closed_form_clones_epsilon(eps_local, users, delta) / eps_local
    return Verdict(
        f"{times(excesses.values())} the local budget",
        max(excesses.values()) > 1,
        f"closed form of clones at delta {delta:g} and local budgets {min(excesses):g} to {max(excesses):g}, with the "
        "fewest users that its condition allows",
    )


def _number_of_partitions(number: int) -> int:
    """Return the number of partitions of a number, by the largest part."""
    ways = [1, *[0] * number]
    for part in range(1, number + 1):
        for total in range(part, number + 1):
            ways[total] += ways[total - part]
    return ways[number]


def expensive(case: Case) -> Verdict:
    """Count the terms of the paper's sum over partitions and of a cheaper algorithm."""
    order = 200
    partitions, terms = _number_of_partitions(order), order * order
    return Verdict(
        f"{partitions:.2g} partitions at order {order}",
        partitions > AFFORDABLE,
        f"above {AFFORDABLE:g} terms count as expensive; the open question has an answer: cumulants follow from a "
        f"recurrence with {terms:.2g} terms for all orders to {order}",
        "a count, not a time",
    )


def printed_row(case: Case, row: str) -> Verdict:
    """Check a row of Table 1, entry by entry, to five digits."""
    table = table_one()
    table = table[table["row"] == row]
    agree = share(table["verdict"] == "agrees")
    return Verdict(
        agree.of("entries"),
        agree.anywhere,
        f"computed {', '.join(table['computed'])}, with the settings that reproduce the row",
    )


SUBSETS = ((1000, 10), (1000, 100), (1000, 900), (USERS, BATCH), (USERS, USERS // 10))


def sampled_is_valid(case: Case) -> Verdict:
    """Compare Theorem 2 with the exact value of its pair, which is not the worst pair (SG-4)."""
    orders = np.arange(2, case.at_most(64, 16) + 1)
    ratios: list[float] = []
    for (n, m), sigma in product(SUBSETS, (0.5, 1.0, 5.0)):
        bound, pair = (
            subsampled_shuffle_gaussian_rdp(orders, n, m, sigma, form=form) for form in ("printed", "pair")
        )
        ratios += (bound / pair).tolist()
    above = sum(ratio < 1 - EQUAL for ratio in ratios)
    return Verdict(
        f"{times(ratios)} the exact value",
        grade(strict=False, weak=not above),
        f"below the exact value of the pair at {above} of {len(ratios)} points; for other data sets only on "
        f"the assumption of Theorem 1, whose pair is not the worst (SG-4)",
    )


def falls_with_users(case: Case) -> Verdict:
    """Check that moments, and so expression (12), never increase with the number of reports."""
    orders = np.arange(2, 101)
    few = range(1, case.at_most(200, 40) + 1)
    rises = steps = 0
    for sigma in (0.5, 1.0, 5.0):
        rows = [shuffle_gaussian_rdp(orders, n, sigma) for n in (*few, *(10**p for p in range(3, 10)))]
        for before, after in pairwise(rows):
            rises += int((after > before * (1 + EQUAL)).sum())
            steps += orders.size
    return Verdict(
        f"{rises} rises in {steps} steps",
        not rises,
        "orders to 100, sigma 0.5 to 5; means of exchangeable variables are a reverse martingale, which proves it",
        f"1 to {few[-1]} reports one by one, then powers of ten to 1e9",
    )


SPLITS = (0.02, 0.05, 0.1, 0.3, 0.6, 0.9)


def theorem_3(case: Case) -> Verdict:
    """Compare Theorem 3 with the sum that it bounds, for several Delta."""
    direct = partial(checkin_shuffle_gaussian_epsilon, form="printed")
    bound = [partial(checkin_theorem3_epsilon, split=split) for split in SPLITS]
    sum_itself, *bounds = (
        evaluate(
            n=USERS,
            rate=CHECKIN_RATE,
            sigma=CHECKIN_SIGMA,
            rounds=CHECKIN_ROUNDS,
            delta=FIGURE_DELTA,
            most_order=case.at_most(CHECKIN_ORDER, 64),
        )
        for evaluate in (direct, *bound)
    )
    below = sum(eps < sum_itself * (1 - EQUAL) for eps in bounds)
    return Verdict(
        f"eps {min(bounds):.6g} to {max(bounds):.4g}, the sum itself {sum_itself:.6g}",
        not below,
        f"below the sum at {below} of {len(SPLITS)} values of Delta from {SPLITS[0]} to {SPLITS[-1]}, in the setting "
        "of Figure 1b",
    )


def cumbersome(case: Case) -> Verdict:
    """Count the terms of the printed sum (11), and the terms that matter."""
    first, _ = first_blocks(USERS, CHECKIN_RATE)
    return Verdict(
        f"{USERS} terms, {first.size} that count",
        grade(strict=first.size >= USERS / 4, weak=True),
        "the sum has n terms, as stated; the other numbers of participants have a probability that "
        "rounds to zero, and each term costs one divergence",
        "a count, not a time",
    )


def local_noise(case: Case) -> Verdict:
    """Judge the local budget of a noise multiplier, for both distances between clipped gradients."""
    within = 0.01
    budgets = [
        gaussian_local_epsilon(REPORT_NOISE, FIGURE_DELTA, sensitivity=s, calibration="analytic")
        for s in (2.0, 1.0)
    ]
    near = share(abs(value / 12 - 1) <= within for value in budgets)
    rounded = abs(REPORT_NOISE / 0.86 - 1) <= within
    return Verdict(
        f"local eps {budgets[0]:.4g} at sensitivity 2C, {budgets[1]:.4g} at C",
        near if rounded else "fails",
        f"of noise {REPORT_NOISE} at delta {FIGURE_DELTA:g}, by the exact curve of the Gaussian mechanism",
    )


def one_profile_per_number(case: Case) -> Verdict:
    """Count the profiles that the generic bound needs by definition, one per likely number of participants."""
    first, _ = first_blocks(USERS, CHECKIN_RATE)
    spread = math.sqrt(USERS * CHECKIN_RATE * (1 - CHECKIN_RATE))
    return Verdict(
        f"{first.size} profiles, {percent(first.size / USERS)} of n",
        grade(strict=first.size >= USERS, weak=first.size > 1),
        "one for every number of participants with a relevant probability (standard deviation "
        f"{spread:.3g}), so of order sqrt(n); the method needs its own divergences for the same numbers",
        "a count, not a time",
    )


def drawn_afresh(case: Case) -> Verdict:
    """Judge the fraction of records that no subsample of an epoch contains, which is 0 for shuffled batches."""
    left_out = math.exp(USERS / BATCH * math.log1p(-BATCH / USERS))
    return Verdict(
        f"{percent(left_out)} of the records are in no batch of an epoch",
        grade(strict=left_out <= 0, weak=True),
        "the theorem covers batches that are drawn anew in each round; slices of one permutation leave no record out "
        "and are another mechanism",
    )
