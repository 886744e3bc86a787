"""Rules on DUMP's figures: how errors and messages depend on users, values and eps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import pandas as pd

from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.general_rules import monotone
from shuffledp.pipeline.claims.outcomes import (
    ByPoint,
    Outcome,
    Untestable,
    Verdict,
    exponent,
    percent,
    scaling,
    span,
    tally,
)
from shuffledp.pipeline.claims.stated_claims import catalogue
from shuffledp.pipeline.papers.dump.comparison_claims import (
    PLOTTED,
    all_messages,
    at,
    available_in,
    error_by_function,
    errors,
    extra_messages,
    sides,
    slices,
)
from shuffledp.pipeline.papers.dump.computed_tables import EPS_LOCAL

claim = catalogue("dump")

JUMP = 10.0
"""Factor from which a decrease of the error between consecutive eps counts as a jump."""


@claim("DU-01")
def domain_ratio(case: Case) -> Verdict:
    """Check that the errors for a large and a small domain differ by at most the fraction ``most``."""
    low, high, eps, most = 50, 5000, 0.5, 0.05
    values = errors(case, "domains", "pure_dump")
    ratio = at(values, k=high, eps=eps) / at(values, k=low, eps=eps)
    return Verdict(
        f"{ratio:.4g} times",
        abs(ratio - 1) <= most,
        f"error with {high} values over error with {low}, eps {eps:g}; within {percent(most)} of 1 is accepted",
    )


@claim("DU-21", experiment="domains", method="mix_dump", along="k", eps=[0.5], within=[7, 13])
@claim(
    "DU-22",
    experiment="users",
    method="pure_dump",
    along="n",
    eps=[0.2, 0.5, 1.0],
    within=[90, 110],
    falling=True,
)
@claim(
    "DU-23",
    experiment="users",
    method="mix_dump",
    along="n",
    eps=[0.2, 0.5, 1.0],
    within=[90, 110],
    falling=True,
)
def per_decade(
    case: Case,
    experiment: str,
    method: str,
    along: str,
    eps: Sequence[float],
    within: Sequence[float],
    falling: bool = False,
) -> Verdict:
    """Check that ratios of errors between consecutive decades lie in a range; in part if the direction is right."""
    values = errors(case, experiment, method)
    ratios, said = [], []
    for one in eps:
        line = [at(values, eps=one, **{along: v}) for v in sorted({*values.index.get_level_values(along)})]
        if len(line) < 3:
            raise Untestable(f"needs the papers' grid: {experiment} has {len(line)} values of {along}")
        found = [early / late if falling else late / early for early, late in pairwise(line)]
        ratios += found
        said.append(f"{', '.join(f'{r:.3g}' for r in found)} (eps {one:g})")
    low, high = within
    inside = sum(low <= ratio <= high for ratio in ratios)
    verdict: Outcome = "fails"
    if min(ratios) > 1:
        verdict = "holds" if inside == len(ratios) else "in part"
    return Verdict(
        f"{span(ratios)} times per decade", verdict, f"{'; '.join(said)}; {low:g} to {high:g} is accepted"
    )


@claim("DU-08")
def fall_with_users(case: Case) -> Verdict:
    """Judge the slope of the log of extra messages against the log of the number of users."""
    method, stated = "pure_dump", -1
    slopes = [scaling(part.index, part) for _, part in slices(extra_messages(case, "users", method), "n")]
    worst = max(slopes, key=lambda slope: abs(slope - stated))
    last = all_messages(case, "users", method)
    most = last.index.get_level_values("n").max()
    return Verdict(
        f"slope {worst:.4g}",
        exponent(worst, stated),
        f"the slope farthest from {stated:g} of {len(slopes)} values of eps; with {most} users "
        f"{span(last[last.index.get_level_values('n') == most])} messages",
    )


@claim("DU-13")
def not_amplified(case: Case) -> Verdict:
    """Check that the local budget of GRR is at most eps at every point."""
    experiments = ("ipums", "ratings")
    parts = [case.cells(experiment, "grr_blanket") for experiment in experiments]
    said, amplified, points = [], 0, 0
    for experiment, cells in zip(experiments, parts, strict=True):
        eps = cells.index.get_level_values("eps")
        more = cells["eps_local"] > eps * (1 + 1e-9)
        amplified, points = amplified + int(more.sum()), points + len(cells)
        reached = [
            f"from eps {min(e for e, yes in zip(eps, more, strict=True) if yes):g} on"
            if more.any()
            else "never"
        ]
        said.append(f"{experiment}: amplified at {int(more.sum())} of {len(cells)} points, {reached[0]}")
    return Verdict(
        f"not amplified at {points - amplified} of {points} points",
        (points - amplified, amplified),
        "; ".join(said),
    )


@claim("DU-27")
def poor_without_amplification(case: Case) -> Verdict:
    """Check that GRR is not amplified at the smallest eps on synthetic data, and has a much larger error there."""
    cells = case.cells("synthetic", "grr_blanket")
    local, found = cells["eps_local"], cells["closed_form"]
    jumps, starts = [], []
    for (_, budgets), (name, values) in zip(slices(local, "eps"), slices(found, "eps"), strict=True):
        flags = (budgets <= budgets.index.to_numpy(float) * (1 + 1e-9)).to_list()
        if not flags[0] or all(flags) or sorted(flags, reverse=True) != flags:
            continue
        first = flags.index(False)
        jumps.append(float(values.iloc[first - 1] / values.iloc[first]))
        starts.append(f"{name}: from eps {budgets.index[first]:g} on")
    curves = len(slices(local, "eps"))
    if not jumps:
        return Verdict("amplified at every eps", "fails", f"on {curves} curves")
    sharp = sum(jump > JUMP for jump in jumps)
    return Verdict(
        f"the error falls by {span(jumps)} times where amplification begins",
        (sharp, curves - sharp),
        f"amplified {'; '.join(starts)}; {curves} curves",
    )


@claim("DU-28")
def maximum_at_rate(case: Case) -> Verdict:
    """Check that public-coin's error is largest near the eps with noise rate ``rate``, to one grid point."""
    rate = 0.5
    cells = case.cells("synthetic", "public_coin_beyond")
    cells = cells[cells.index.get_level_values("k") == 50]
    rates = pd.Series([json.loads(p)["rate"] for p in cells["parameters"]], cells.index, dtype=float)
    found = []
    for (name, curve), (_, line) in zip(
        slices(cells["closed_form"], "eps"), slices(rates, "eps"), strict=True
    ):
        crossing = [i for i, (a, b) in enumerate(pairwise(line)) if a > rate >= b]
        if len(crossing) != 1:
            continue
        top = int(curve.to_numpy().argmax())
        rises = bool((curve.iloc[: top + 1].diff().dropna() > 0).all())
        found.append((top - crossing[0] in (0, 1) and rises, name, line.index[top], line.iloc[top]))
    if not found:
        raise Untestable(f"needs the papers' grid: no curve crosses a rate of {rate:g}")
    right = tally(one[0] for one in found)
    return Verdict(
        "; ".join(f"largest at eps {eps:g}, rate {r:.3g} ({name})" for _, name, eps, r in found),
        right,
        f"rises up to the crossing of rate {rate:g} on {right} curves; the proof does not cover larger rates",
        f"eps as precise as the grid; {len(found)} curves",
    )


@claim("DU-30")
def below_one_at_large_eps(case: Case) -> Verdict:
    """Check that there is less than one extra message per user at the largest eps, on synthetic data."""
    eps = 1
    right = wrong = 0
    said, largest = [], []
    for experiment in PLOTTED:
        for method in ("pure_dump", "mix_dump"):
            for name, line in slices(extra_messages(case, experiment, method), "eps"):
                few = line.index[line < 1]
                where = f"from eps {few.min():g}" if len(few) else "never"
                said.append(f"{method} on {experiment}{' ' if name else ''}{name}: {where}")
                if experiment == "synthetic":
                    largest.append(at(line, eps=eps))
                    right, wrong = right + (largest[-1] < 1), wrong + (largest[-1] >= 1)
    return Verdict(f"{span(largest)} extra messages at eps {eps:g}", (right, wrong), "; ".join(said))


@claim("DU-31")
def rising_messages(case: Case) -> Verdict:
    """Check that the number of messages of a protocol increases with eps."""
    steps = [
        monotone(extra_messages(case, experiment, "truncation"), "eps", rising=True) for experiment in PLOTTED
    ]
    right, wrong = sum(one for one, _ in steps), sum(one for _, one in steps)
    return Verdict(
        f"{right} of {right + wrong} steps rise",
        (right, wrong),
        "over all settings, from one eps of the grid to the next",
    )


@claim("DU-14")
def thousands(case: Case) -> Verdict:
    """Check that a protocol sends thousands of messages."""
    experiment, least = "ratings", 1000
    sent = all_messages(case, experiment, "truncation")
    enough = tally(sent >= least)
    return Verdict(
        f"{span(sent)} messages per user",
        enough,
        f"at least {least:g} at {enough} points of {experiment} where its theorem holds",
    )


@claim("DU-12")
def lost_messages(case: Case) -> Verdict:
    """Return this library's messages, because the available text lacks the numbers of the claim."""
    eps, delta = 1, 1e-06
    found = available_in(
        case,
        "ratings",
        ("pure_dump", "mix_dump", "truncation", "private_coin", "correlated_noise"),
        extra_messages,
    )
    ours = [f"{m} {at(v, eps=eps, delta=delta):.3g}" for m, v in found.items()]
    return Verdict(
        f"{', '.join(ours)} extra messages",
        "untestable",
        f"the available text lacks the paper's numbers, eps and delta; measured at eps {eps:g} and "
        f"delta {delta:g}",
    )


@claim("DU-34")
def nearly_optimal_but_expensive(case: Case) -> Verdict:
    """Check that correlated noise has less error than pureDUMP, near the central error, but far more messages."""
    most, least = 2, 10
    rivals = sides(case, PLOTTED, ["correlated_noise"], ["pure_dump"], errors)
    messages = sides(case, PLOTTED, ["pure_dump"], ["correlated_noise"], extra_messages)
    gains, costs = rivals["best"] / rivals["ours"], messages["best"] / messages["ours"]
    central = []
    for experiment in PLOTTED:
        cells = case.cells(experiment, "correlated_noise").reset_index()
        central += [
            row["closed_form"] * row["users_expected"] ** 2 / discrete_laplace_variance(row["eps"] / 2)
            for row in cells.to_dict("records")
        ]
    good = [g > 1 and c <= most for g, c in zip(gains, central, strict=True)]
    right = tally(g and c >= least for g, c in zip(good, costs, strict=True))
    return Verdict(
        f"error lower by a factor of {span(gains)}, {span(central)} times the central one, {span(costs)} "
        "times the extra messages",
        right,
        f"both at {right} points: below pureDUMP and at most {most:g} times the central error of "
        f"geometric noise, and at least {least:g} times its extra messages",
    )


@claim("DU-19")
def against_shuffler(case: Case) -> Verdict:
    """Check for every domain size that a user's dummies reduce the local eps to a share of eps_local."""
    dummies, share = 10_000, 0.5
    values = errors(case, "local_guarantee", "mix_dump")
    sizes = sorted({*values.index.get_level_values("k")})
    found = {k: at(values, k=k, s=dummies) for k in sizes}
    enough = tally(eps <= share * EPS_LOCAL for eps in found.values())
    return Verdict(
        "local eps " + ", ".join(f"{eps:.3g} ({k} values)" for k, eps in found.items()),
        enough,
        f"with {dummies} own dummies, instead of {EPS_LOCAL:g}: at most {share * EPS_LOCAL:g} for {enough} "
        "domain sizes",
    )


# -- orderings --------------------------------------------------------------------------------------------------------


@claim("O-19")
def decreasing(case: Case) -> Verdict:
    """Check that errors decrease with eps on all data, and with the number of users."""
    methods = ("pure_dump", "mix_dump", "solh", "private_coin")
    right = wrong = 0
    for experiment in PLOTTED:
        for method in methods:
            one, other = monotone(errors(case, experiment, method), "eps", rising=False)
            right, wrong = right + one, wrong + other
    along_eps = right + wrong
    for method in methods:
        in_results = method.endswith("_dump")
        values = (
            errors(case, "users", method)
            if in_results
            else _by_users(case, method, (10_000, 100_000, 1_000_000))
        )
        one, other = monotone(values, "n", rising=False)
        right, wrong = right + one, wrong + other
    return Verdict(
        f"{wrong} steps up in {right + wrong}",
        (right, wrong),
        f"{along_eps} steps in eps on all data, the rest in the number of users, with 50 values",
    )


def _by_users(case: Case, method: str, users: Sequence[int]) -> ByPoint:
    points = pd.MultiIndex.from_product([(0.2, 0.5, 1.0), users], names=["eps", "n"])
    found = [error_by_function(method, n, 50, eps, case.accounting) for eps, n in points]
    return pd.Series(found, points).dropna()
