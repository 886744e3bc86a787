"""Claims of Wang et al. 2023 on multi-message protocols: errors in tables, noise, shares and Table II."""

from __future__ import annotations

import math
from itertools import pairwise

from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.accounting.random_population.multi_message import multi_expected_scale
from shuffledp.accounting.random_population.polya import expected_polya_delta
from shuffledp.accounting.random_population.population_bounds import population_lower_bound
from shuffledp.accounting.random_population.secure_sum import security_bits, share_count
from shuffledp.numerics.roots import root_below
from shuffledp.pipeline.claims.case import POINTS, Case, Verdict
from shuffledp.pipeline.claims.general_rules import without
from shuffledp.pipeline.formatters import finite, percent, percents, span, times
from shuffledp.pipeline.papers.random_population.error_claims import all_errors, ratio, reductions
from shuffledp.pipeline.papers.random_population.lower_bounds import OPEN, table_two
from shuffledp.pipeline.papers.random_population.settings import DELTA, EPS, POPULATIONS
from shuffledp.pipeline.query import (
    TIE,
    Array,
    at_any,
    compare,
    grade,
    near,
    select,
    share,
    total,
)
from shuffledp.populations.base import Fixed
from shuffledp.populations.laws import Poisson

#: Experiments with multi-message protocols.
EXPERIMENTS = ("adult", "poisson_even")
MULTI = {"MULTI-UNION": "multi_union", "MULTI-EXPECTED": "multi_expected"}
_SHARES_LISTED = (2, 5, 18, 19, 1000, 100_000)


def multi_against_single(case: Case) -> Verdict:
    """Judge the mean reduction of both multi-message protocols against AMPLIFIED."""
    means = {name: reductions(case, EXPERIMENTS, method, "amplified") for name, method in MULTI.items()}
    mean = float(finite(panels.values() for panels in means.values()).mean())
    parts = [
        f"{name} {percents([values.mean() for values in panels.values()])} ({', '.join(panels)})"
        for name, panels in means.items()
    ]
    return Verdict(percent(mean), near(mean, 0.6, POINTS), f"means over panels: {'; '.join(parts)}")


def _ratios(case: Case) -> list[Array]:
    """Return TVE(MULTI-EXPECTED) / TVE(MULTI-UNION) by panel and eps, for each experiment."""
    return [ratio(case, experiment, "multi_expected", "multi_union") for experiment in EXPERIMENTS]


def expected_against_union(case: Case) -> Verdict:
    """Judge the reduction by MULTI-EXPECTED against MULTI-UNION within a range of budgets."""
    paper_fraction, at = 0.4, (0.05, 0.1, 0.2, 0.3)
    inside = [at_any(values, "eps", at) for values in _ratios(case)]
    return Verdict(
        f"{times(inside)} the error",
        near(1 - float(finite(inside).mean()), paper_fraction, POINTS),
        (
            f"MULTI-EXPECTED over MULTI-UNION at eps_c {', '.join(f'{e:g}' for e in at)}, where "
            f"{1 - paper_fraction:g} is stated{without(inside[0], 'eps', at)}"
        ),
    )


def gap_narrows(case: Case) -> Verdict:
    """Check that the ratio of both multi-message errors is smaller at the larger budget."""
    early, late = 0.1, 0.5
    ratios = _ratios(case)
    before, after = ([select(values, eps=eps) for values in ratios] for eps in (early, late))
    points = total(map(compare, after, before))
    return Verdict(
        f"{span(before)} at {early:g}, {span(after)} at {late:g}",
        points,
        f"TVE(MULTI-EXPECTED) / TVE(MULTI-UNION): narrows in {points.pro} and widens in {points.con} of {points.total} "
        "panels",
    )


def expected_beats_union(case: Case) -> Verdict:
    """Compare Gaussian noise planned by the expected delta with Gaussian noise planned by a union bound."""
    ratios = []
    for law in POPULATIONS.values():
        precision = math.ceil(math.sqrt(law.mean + 1))
        users = math.floor(population_lower_bound(law, DELTA / 2, form="printed"))
        for eps in EPS:
            expected, union = (
                multi_expected_scale(population, eps, DELTA, precision, accounting="printed")
                for population in (law, Fixed(users - 1))
            )
            ratios.append(expected / union)
    points = compare(ratios, 1.0)
    return Verdict(
        f"{times(ratios)} the error",
        points,
        f"scale of the noise by expectation over the scale for n1 users, smaller in {points.of('settings')}; "
        "here the union bound reserves no part of delta for the failure of n1",
    )


def _log_mu(eps: float) -> float:
    """Return the log of sensitivity over standard deviation for exactly (eps, DELTA)-DP Gaussian noise."""
    return root_below(
        lambda x: log_gaussian_delta(math.exp(x), eps) - math.log(DELTA), -2.0, -12.0, 3.0, xtol=1e-10
    )


def geometric_against_gaussian(case: Case) -> Verdict:
    """Compare standard deviations of two-sided geometric, Gaussian and Laplace noise at sensitivity 1."""
    gaussian, laplace = [], []
    for eps in EPS:
        geometric = math.sqrt(2 * math.exp(-eps)) / -math.expm1(-eps)
        gaussian.append(
            geometric * math.exp(_log_mu(eps))
        )  # 1 / mu is the standard deviation of the Gaussian
        laplace.append(geometric * eps / math.sqrt(2))
    smaller = share(value < 1 - TIE for value in gaussian)
    falls = laplace[-1] < 1 - TIE and all(after < before for before, after in pairwise(laplace))
    return Verdict(
        f"{times(gaussian)} the standard deviation of Gaussian noise, {times(laplace)} the value of Laplace noise",
        smaller if falls else "fails",
        f"two-sided geometric and Laplace noise at (eps, 0), Gaussian noise at (eps, {DELTA:g}), exact; "
        f"smaller than Gaussian noise at {smaller.of('budgets')}; the lead over Laplace noise grows with the budget",
    )


def shares_suffice(case: Case) -> Verdict:
    """Check for every number of users that the stated number of shares is at least the proven number."""
    paper_shares, enough = [], []
    for eps in (EPS[0], EPS[-1]):
        for order in (2**14, 2**16, 2**20, 2**26):
            sigma = security_bits(eps, DELTA / 2)
            paper_shares.append(share_count(sigma, order, form="printed"))
            enough.append(max(share_count(sigma, order, n) for n in (*range(2, 64), *_SHARES_LISTED)))
    sufficient = all(a >= b for a, b in zip(paper_shares, enough, strict=True))
    return Verdict(
        f"{span(paper_shares)} stated, {span(enough)} enough",
        sufficient,
        "for groups of 14 to 26 bits, from two users on",
    )


def central_error(case: Case) -> Verdict:
    """Check that the squared error is a constant times the order of the central Gaussian mechanism's error."""
    law, precision = Poisson(1000.0), 32
    constants = [
        (law.mean + 1)
        * multi_expected_scale(law, eps, delta, precision, accounting="printed") ** 2
        * eps**2
        / (precision**2 * math.log(1 / delta))
        for eps in (0.01, 0.05, 0.1, 0.5)
        for delta in (1e-3, 1e-5, 1e-8)
    ]
    middle = (min(constants) + max(constants)) / 2
    return Verdict(
        span(constants),
        grade(strict=max(constants) <= 1.1 * middle, weak=True),
        f"n tau^2 eps^2 / (p^2 log(1/delta)) at {len(constants)} budgets, within "
        f"{percent(max(constants) / middle - 1)} of their middle",
    )


def lower_bounds(case: Case) -> Verdict:
    """Compare Table II's rows with exact tails, without the row whose law the available text does not define."""
    rows = table_two()
    rows = rows[rows["verdict"] != OPEN]
    unsafe, all_rows = rows[rows["verdict"] == "unsafe"], len(rows)
    return Verdict(
        f"{len(unsafe)} of {all_rows} bounds unsafe",
        grade(strict=unsafe.empty, weak=len(unsafe) < all_rows),
        "tails of the unsafe bounds: "
        + ", ".join(
            f"{tail:.2g} ({law})"
            for law, tail in zip(unsafe["law"], unsafe["tail at printed bound"], strict=True)
        )
        + "; the sub-Gaussian row is not counted: its tail is in a supplement that is not available (RP-N10)"
        if len(unsafe)
        else "all tails are within delta_a",
    )


def union_composition(case: Case) -> Verdict:
    """Judge the expected delta of Polya noise that is planned for the printed number n1 of users."""
    deltas = [
        expected_polya_delta(law, math.floor(population_lower_bound(law, DELTA / 2, form="printed")), eps)
        for law in POPULATIONS.values()
        for eps in (EPS[0], 0.05, EPS[-1])
    ]
    return Verdict(
        f"E[delta_n] {min(deltas):.2g} to {max(deltas):.2g}",
        max(deltas) <= DELTA / 2,
        f"at most {DELTA / 2:g} is allowed, also where the printed n1 is unsafe (RP-E16)",
    )


def tens_of_messages(case: Case) -> Verdict:
    """Judge the shares per user of both multi-message protocols at all points."""
    low, high = 10, 99
    shares = finite(
        case("parameters.shares", method, experiment=experiment)
        for experiment in EXPERIMENTS
        for method in MULTI.values()
    )
    inside = share((shares >= low) & (shares <= high))
    return Verdict(
        f"{span(shares)} messages per user",
        inside.anywhere,
        f"between {low} and {high} at {inside}",
    )


def both_below(case: Case) -> Verdict:
    """Check that both multi-message protocols have smaller errors than AMPLIFIED at every point."""
    sides = [
        [all_errors(case, experiment, name) for name in (method, "amplified")]
        for method in MULTI.values()
        for experiment in EXPERIMENTS
    ]
    points = total(compare(ours, theirs) for ours, theirs in sides)
    leads = [1 - ours / theirs for ours, theirs in sides]
    lost = [lead["eps"].where((lead < -TIE).any("panel")) for lead in leads]
    where = f"; not below up to eps_c {finite(lost).max():g}" if points.con else ""
    return Verdict(
        f"{percent(finite(leads).min())} to {percent(finite(leads).max())} below",
        points,
        f"below AMPLIFIED at {points.pro} and above it at {points.con} points{where}",
    )
