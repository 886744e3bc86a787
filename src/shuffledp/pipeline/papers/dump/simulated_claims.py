"""Rules on DUMP that simulated errors decide, and rules on the flexible variants."""

from __future__ import annotations

import math

import numpy as np

from shuffledp.accounting.dump.errors import dump_mse, printed_dump_mse, printed_flexible_mse
from shuffledp.pipeline.claims.case import Case, Verdict
from shuffledp.pipeline.formatters import finite, number, percent, times
from shuffledp.pipeline.papers.dump.comparison_claims import DUMP, PLOTTED
from shuffledp.pipeline.papers.dump.computed_tables import EPS_LOCAL
from shuffledp.pipeline.query import Array, MissingResultsError, Query, compare, mapped, share

FLEXIBLE = ("flexible_pure_dump", "flexible_mix_dump")
#: Standard errors up to which a simulated and an expected error agree.
DEVIATIONS = 4.0
#: Least number of repeats: with fewer, the standard error is so uncertain that chance exceeds four of them too often.
FEWEST_REPEATS = 30


def deviations(query: Query, method: str) -> Array:
    """Return the simulated minus the expected error in standard errors."""
    if query("count", method).min() < FEWEST_REPEATS:
        raise MissingResultsError(
            f"{query.at['experiment']}.{method} has fewer than {FEWEST_REPEATS} repeats"
        )
    return (query("mean", method) - query("expected", method)) / query("standard_error", method)


def simulated_agrees(case: Case) -> Verdict:
    """Check that simulated and expected errors agree at every point."""
    apart, gaps, short = [], [], []
    for query in case.each("experiment", ("domains", "users")):
        for method in DUMP:
            apart.append(abs(deviations(query, method)))
            gaps.append(abs(query("mean", method) / query("expected", method) - 1))
        names = ("users_expected", "domain_size", "parameters.dummies")
        setting = (query(name, "mix_dump") for name in names)
        short.append(mapped(_short_form, *setting) / query("expected", "mix_dump"))
    agree = share(finite(apart) <= DEVIATIONS)
    return Verdict(
        f"{percent(finite(gaps).mean())} on average, {percent(finite(gaps).max())} at most",
        agree,
        f"more than {DEVIATIONS:g} standard errors apart at {agree.con} of {agree.total} points; the usual short form "
        f"of mixDUMP's error is {times(short)} the exact one",
        f"{number(finite(apart).max(), 2)} standard errors at most",
    )


def _short_form(users: float, size: float, dummies: float) -> float:
    return printed_dump_mse(int(users), int(size), dummies, eps_local=EPS_LOCAL)


def unbiased(case: Case) -> Verdict:
    """Check that squared errors do not exceed the estimators' variances, which a squared bias would increase."""
    over, most = [], {}
    for query, methods in zip(
        case.each("experiment", ("domains", "flexible")), (DUMP, FLEXIBLE), strict=True
    ):
        for method in methods:
            over.append(deviations(query, method))
            squared_bias = (over[-1] + DEVIATIONS) * query("standard_error", method)
            most[method] = math.sqrt(max(0.0, float(squared_bias.min())))
    within = share(finite(over) <= DEVIATIONS)
    return Verdict(
        f"squared error above the variance at {within.con} of {within.total} points",
        within,
        f"by more than {DEVIATIONS:g} standard errors; a bias of the frequencies is at most "
        + ", ".join(f"{number(bias, 1)} ({method})" for method, bias in most.items())
        + " at the point that shows it best",
        f"{number(finite(over).max(), 2)} standard errors at most",
    )


def simulated_all_the_same(case: Case) -> Verdict:
    """Compare a protocol's simulated and expected errors; the claim is about run time and therefore untestable."""
    queries = case.each("experiment", PLOTTED)
    apart = finite(abs(deviations(query, "private_coin")) for query in queries)
    users, sizes = (
        finite(query(name, "private_coin") for query in queries) for name in ("users_expected", "domain_size")
    )
    return Verdict(
        f"simulated at {apart.size} points with up to {users.max():.0f} users and {sizes.max():.0f} values",
        "untestable",
        "the paper's program needs these hours to match every message with codewords; our errors are drawn from the "
        f"law of the counts; they are more than {DEVIATIONS:g} standard errors from the expected error at "
        f"{np.sum(apart > DEVIATIONS)} points",
        f"{number(apart.max(), 2)} standard errors at most",
    )


def flexible_formula(case: Case) -> Verdict:
    """Compare the printed error of flexible variants with the simulated error when senders have several dummies."""
    query, ratios, apart = case.where(experiment="flexible"), [], []
    for method, eps_local in zip(FLEXIBLE, (math.inf, EPS_LOCAL), strict=True):
        deviations(query, method)  # raises if there are too few repeats
        dummies, mean = query("parameters.dummies_per_sender", method), query("mean", method)
        names = ("users_expected", "domain_size", "rate")
        setting = (*(query(name, method) for name in names), dummies.where(dummies > 1))
        printed = mapped(
            lambda n, k, rate, sent, eps=eps_local: printed_flexible_mse(
                int(n), int(k), int(sent), rate, eps_local=eps
            ),
            *setting,
        )
        ratios.append(mean / printed)
        apart.append(abs(mean - printed) / query("standard_error", method))
    agree = share(finite(apart) <= DEVIATIONS)
    return Verdict(
        f"{times(ratios)} the error of the formula as rebuilt",
        "untestable",
        f"the available text lacks the formula (DUMP-N3); simulations agree with the rebuilt formula at {agree.pro} of "
        f"{agree.total} points with several dummies per sender",
        f"{DEVIATIONS:g} standard errors count",
    )


def flexible_saves(case: Case) -> Verdict:
    """Check that flexible dummies have fewer messages and less error than a whole number of dummies per user."""
    query, method = case.where(experiment="flexible"), "flexible_pure_dump"
    users, sizes = (query(name, method) for name in ("users_expected", "domain_size"))
    sent = query("rate", method) * query("parameters.dummies_per_sender", method)
    whole = mapped(math.ceil, sent)
    fixed = mapped(lambda n, k, dummies: dump_mse(int(n), int(k), int(n * dummies)), users, sizes, whole)
    messages, errors = sent / whole, query("expected", method) / fixed
    points = compare(np.maximum(messages, errors), 1.0)
    return Verdict(
        f"{times(messages)} the dummies, {times(errors)} the error",
        points,
        f"both below at {points.pro}, not at {points.con}, tied at {points.tied} of {points.total} points, where every "
        "user sends a whole number of dummies, one at least",
    )
