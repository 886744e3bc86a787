"""Rules on DUMP's figures: how errors and messages depend on users, values and eps, and simulated errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from shuffledp.accounting.dump.errors import dump_mse, printed_dump_mse, printed_flexible_mse
from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.pipeline.claims.case import SLOPE, Case, Verdict
from shuffledp.pipeline.formatters import SAME, finite, number, percent, series, span, times
from shuffledp.pipeline.papers.dump.comparison_claims import DUMP, PLOTTED, error_by_function
from shuffledp.pipeline.papers.dump.computed_tables import EPS_LOCAL
from shuffledp.pipeline.query import (
    Array,
    MissingResultsError,
    Points,
    Query,
    compare,
    grade,
    lines,
    mapped,
    monotone,
    near,
    share,
    slopes,
    steps,
    total,
)

#: Factor from which a decrease of the error between consecutive eps counts as a jump.
JUMP = 10.0
FLEXIBLE = ("flexible_pure_dump", "flexible_mix_dump")
#: Standard errors up to which a simulated and an expected error agree.
DEVIATIONS = 4.0
#: Least number of repeats: with fewer, the standard error is so uncertain that chance exceeds four of them too often.
FEWEST_REPEATS = 30


def domain_ratio(case: Case) -> Verdict:
    """Check that the errors for a large and a small domain differ by at most a fraction."""
    low, high, eps, most = 50, 5000, 0.5, 0.05
    large, small = (case("expected", "pure_dump", experiment="domains", k=k, eps=eps) for k in (high, low))
    ratio = float(large / small)
    return Verdict(
        times(ratio, 4),
        abs(ratio - 1) <= most,
        f"error with {high} values over error with {low}, eps {eps:g}; within {percent(most)} of 1 is accepted",
    )


def per_decade(
    case: Case, experiment: str, method: str, along: str, eps: Sequence[float], within: Sequence[float]
) -> Verdict:
    """Check that ratios of errors between consecutive decades lie in a range; in part if the direction is right.

    Errors grow with the number of values and fall with the number of users.
    """
    ratios = {}
    for budget in eps:
        line = case("expected", method, experiment=experiment, eps=budget)
        if line.size < 3:
            raise MissingResultsError(
                f"needs the papers' grid: {experiment} has {line.size} values of {along}"
            )
        ratios[budget] = finite(steps(line if along == "k" else 1 / line, along))
    every, (low, high) = finite(ratios.values()), within
    growing = bool(every.min() > 1)
    inside = share((every >= low) & (every <= high))
    return Verdict(
        f"{times(every)} per decade",
        grade(strict=growing and inside.every, weak=growing),
        f"{'; '.join(f'{series(some)} (eps {budget:g})' for budget, some in ratios.items())}; {low:g} to {high:g} is "
        "accepted",
    )


def fall_with_users(case: Case) -> Verdict:
    """Judge the slope of the log of extra messages against the log of the number of users."""
    query, stated = case.where(experiment="users"), -1
    exponents = slopes(query("extra_messages", "pure_dump"), "n")
    worst = max(exponents, key=lambda exponent: abs(exponent - stated))
    sent = query("messages_per_user", "pure_dump")
    most = int(sent["n"].max())
    return Verdict(
        f"slope {number(worst, 4)}",
        near(worst, stated, SLOPE),
        f"the slope farthest from {stated:g} of {len(exponents)} values of eps; with {most} users "
        f"{span(sent.sel(n=most))} messages",
    )


def not_amplified(case: Case) -> Verdict:
    """Check that the local budget of GRR is at most eps at every point."""
    reasons, points = [], Points(0, 0)
    for query in case.each("experiment", ("ipums", "ratings")):
        local, eps = query("eps_local", "grr_blanket"), query("eps", "grr_blanket")
        unamplified = share(local <= eps * (1 + SAME), local)
        points += unamplified
        first = eps.where(local > eps * (1 + SAME)).min()
        reasons.append(
            f"{query.at['experiment']}: amplified at {unamplified.con} of {unamplified.total} points, "
            + (f"from eps {float(first):g} on" if unamplified.con else "never")
        )
    return Verdict(f"not amplified at {points}", points, "; ".join(reasons))


def poor_without_amplification(case: Case) -> Verdict:
    """Check that GRR is not amplified at the smallest eps on synthetic data, and has a much larger error there."""
    query = case.where(experiment="synthetic")
    curves = [
        *zip(*(lines(query(name, "grr_blanket"), "eps") for name in ("eps_local", "expected")), strict=True)
    ]
    jumps = {}
    for (name, local), (_, errors) in curves:
        amplified = (local > local["eps"] * (1 + SAME)).to_numpy()
        first = int(np.argmax(amplified))
        if first and amplified[first:].all():
            jumps[f"{name}: from eps {float(local['eps'][first]):g} on"] = float(
                errors[first - 1] / errors[first]
            )
    if not jumps:
        return Verdict("amplified at every eps", "fails", f"on {len(curves)} curves")
    sharp = sum(jump > JUMP for jump in jumps.values())
    return Verdict(
        f"the error falls by {times(jumps.values())} where amplification begins",
        Points(sharp, len(curves) - sharp),
        f"amplified {'; '.join(jumps)}; {len(curves)} curves",
    )


def maximum_at_rate(case: Case) -> Verdict:
    """Check that public-coin's error is largest near the eps with a noise rate, to one grid point."""
    half, query = 0.5, case.where(experiment="synthetic", k=50)
    quantities = (
        lines(query(quantity, "public_coin_beyond"), "eps") for quantity in ("expected", "parameters.rate")
    )
    right, maxima = [], []
    for (name, errors), (_, rates) in zip(*quantities, strict=True):
        crossings = [place for place, (a, b) in enumerate(pairwise(rates.to_numpy())) if a > half >= b]
        if len(crossings) == 1:
            top = int(np.argmax(errors.to_numpy()))
            rises = bool((np.diff(errors.to_numpy()[: top + 1]) > 0).all())
            right.append(top - crossings[0] in (0, 1) and rises)
            maxima.append(f"largest at eps {float(errors['eps'][top]):g}, rate {number(rates[top])} ({name})")
    if not maxima:
        raise MissingResultsError(f"needs the papers' grid: no curve crosses a rate of {half:g}")
    points = share(right)
    return Verdict(
        "; ".join(maxima),
        points,
        f"rises up to the crossing of rate {half:g} on {points.of('curves')}; the proof does not cover larger rates",
        f"eps as precise as the grid; {len(maxima)} curves",
    )


def below_one_at_large_eps(case: Case) -> Verdict:
    """Check that there is less than one extra message per user at the largest eps, on synthetic data."""
    eps, thresholds = 1, []
    for query in case.each("experiment", PLOTTED):
        for method in DUMP:
            for name, line in lines(query("extra_messages", method), "eps"):
                enough = line["eps"].where(line < 1).min()
                where = f"from eps {float(enough):g}" if enough.notnull() else "never"
                thresholds.append(f"{method} on {query.at['experiment']}{' ' if name else ''}{name}: {where}")
    largest = finite(case("extra_messages", method, experiment="synthetic", eps=eps) for method in DUMP)
    return Verdict(
        f"{span(largest)} extra messages at eps {eps:g}", share(largest < 1), "; ".join(thresholds)
    )


def rising_messages(case: Case) -> Verdict:
    """Check that the number of messages of a protocol increases with eps."""
    points = total(
        monotone(query("extra_messages", "truncation"), "eps", rising=True)
        for query in case.each("experiment", PLOTTED)
    )
    return Verdict(
        f"{points.pro} of {points.decided} steps rise",
        points,
        "over all settings, from one eps of the grid to the next",
    )


def thousands(case: Case) -> Verdict:
    """Check that a protocol sends thousands of messages."""
    experiment, least = "ratings", 1000
    sent = finite(case("messages_per_user", "truncation", experiment=experiment))
    enough = share(sent >= least)
    return Verdict(
        f"{span(sent)} messages per user",
        enough,
        f"at least {least:g} at {enough} of {experiment} where its theorem holds",
    )


def nearly_optimal_but_expensive(case: Case) -> Verdict:
    """Check that correlated noise has less error than pureDUMP, near the central error, but far more messages."""
    most, least = 2, 10
    ratios = []
    for query in case.each("experiment", PLOTTED):
        error, users, sent = (
            query(name, "correlated_noise") for name in ("expected", "users_expected", "extra_messages")
        )
        central = mapped(lambda eps: discrete_laplace_variance(eps / 2), query("eps", "correlated_noise"))
        gain, cost = query("expected", "pure_dump") / error, sent / query("extra_messages", "pure_dump")
        ratios.append((gain, error * users**2 / central, cost))
    points = total(
        share((gain > 1) & (over <= most) & (cost >= least), gain, over, cost) for gain, over, cost in ratios
    )
    gains, excess, costs = zip(*ratios, strict=True)
    return Verdict(
        f"error lower by a factor of {span(gains)}, {span(excess)} times the central one, {span(costs)} times the "
        "extra messages",
        points,
        f"both at {points}: below pureDUMP and at most {most:g} times the central error of geometric noise, and at "
        f"least {least:g} times its extra messages",
    )


def against_shuffler(case: Case) -> Verdict:
    """Check for every domain size that a user's dummies reduce the local eps to a share of eps_local."""
    dummies, most = 10_000, 0.5 * EPS_LOCAL
    local = case("expected", "mix_dump", experiment="local_guarantee", s=dummies)
    enough = share(finite(local) <= most)
    return Verdict(
        "local eps " + ", ".join(f"{number(eps)} ({int(eps['k'])} values)" for eps in local),
        enough,
        f"with {dummies} own dummies, instead of {EPS_LOCAL:g}: at most {most:g} for {enough.of('domain sizes')}",
    )


# -- orderings --------------------------------------------------------------------------------------------------------


def decreasing(case: Case) -> Verdict:
    """Check that errors decrease with eps on all data, and with the number of users."""
    methods = (*DUMP, "solh", "private_coin")
    by_eps = total(
        monotone(query("expected", method), "eps", rising=False)
        for query in case.each("experiment", PLOTTED)
        for method in methods
    )
    points = by_eps + total(monotone(_by_users(case, method), "n", rising=False) for method in methods)
    return Verdict(
        f"{points.con} steps up in {points.decided}",
        points,
        f"{by_eps.decided} steps in eps on all data, the rest in the number of users, with 50 values",
    )


def _by_users(case: Case, method: str) -> Array:
    """Return errors by eps and number of users, from the run or else by the library's functions."""
    if method in DUMP:
        return case("expected", method, experiment="users")
    eps, users = (
        Array(values, {name: values}, [name])
        for name, values in (("eps", [0.2, 0.5, 1.0]), ("n", [10_000, 100_000, 1_000_000]))
    )
    return mapped(lambda budget, n: error_by_function(method, n, 50, budget, case.accounting), eps, users)


# -- simulated errors, and flexible variants ---------------------------------------------------------------------------


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
        usual = mapped(
            lambda n, k, dummies: printed_dump_mse(int(n), int(k), dummies, eps_local=EPS_LOCAL), *setting
        )
        short.append(usual / query("expected", "mix_dump"))
    agree = share(finite(apart) <= DEVIATIONS)
    return Verdict(
        f"{percent(finite(gaps).mean())} on average, {percent(finite(gaps).max())} at most",
        agree,
        f"more than {DEVIATIONS:g} standard errors apart at {agree.con} of {agree.total} points; the usual short form "
        f"of mixDUMP's error is {times(short)} the exact one",
        f"{number(finite(apart).max(), 2)} standard errors at most",
    )


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
