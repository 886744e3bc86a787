"""Claims of Wang et al. 2024 on figures: errors, and the number of messages with the least error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from shuffledp.accounting.segmented.set_errors import segmented_error_bound
from shuffledp.pipeline.claims.case import POINTS, SLOPE, Case, Verdict
from shuffledp.pipeline.claims.general_rules import counts, in_order
from shuffledp.pipeline.formatters import finite, number, percent, percents, span, times
from shuffledp.pipeline.papers.segmented.panel_errors import (
    NAMES,
    OURS,
    RIVALS,
    SPLITS,
    available_errors,
    errors,
    panels,
)
from shuffledp.pipeline.query import (
    TIE,
    Array,
    Names,
    Points,
    compare,
    grade,
    least,
    lines,
    mapped,
    near,
    select,
    share,
    slope,
    total,
)

FIRST_SPLIT = next(iter(SPLITS))
#: Excess over the least error up to which a number of messages is as good as the best number.
FLAT = 0.05
#: Excess over the least error from which a number of messages hurts.
EDGE = 0.1


def _gains(case: Case, methods: Names) -> dict[str, Array]:
    """Return the reductions of the rivals' errors at the first split."""
    ours = errors(case, OURS, split=FIRST_SPLIT)
    theirs = available_errors(case, methods, split=FIRST_SPLIT)
    return {method: 1 - ours / error for method, error in theirs.items()}


def _without(case: Case, methods: Names, available: Mapping[str, Any]) -> str:
    missing = ", ".join(NAMES[method] for method in methods if method not in available)
    return f"; {missing}: no result with {case.accounting} accounting" if missing else ""


def gain(case: Case) -> Verdict:
    """Check that the best rival's error is reduced by about the stated mean, and in no panel by little."""
    by_rival = _gains(case, [*RIVALS])
    gains = finite(least(by_rival.values()))
    outcome = near(gains.mean(), 0.5, POINTS)
    if outcome == "holds":
        outcome = grade(strict=gains.min() >= 0.3, weak=True)
    return Verdict(
        percent(gains.mean()),
        outcome,
        f"{percent(gains.min())} to {percent(gains.max())} below the best rival in {gains.size} panels"
        f"{_without(case, [*RIVALS], by_rival)}",
    )


def gain_of_each(case: Case, rivals: Names) -> Verdict:
    """Check in every panel that each rival's error is reduced by more than a given share."""
    paper_share, ours = 0.5, errors(case, OURS, split=FIRST_SPLIT)
    gains = {method: finite(1 - ours / errors(case, method, split=FIRST_SPLIT)) for method in rivals}
    larger = share(finite(gains.values()) > paper_share)
    return Verdict(
        "; ".join(f"{NAMES[method]} {percents(values)}" for method, values in gains.items()),
        larger,
        f"more than {percent(paper_share)} at {larger}",
    )


def mean_gain(case: Case) -> Verdict:
    """Judge the mean reduction of errors over all rivals and panels."""
    by_rival = _gains(case, [*RIVALS])
    means = {method: finite(values).mean() for method, values in by_rival.items()}
    mean = float(np.mean(list(means.values())))
    each = ", ".join(f"{RIVALS[method]} {percent(value)}" for method, value in means.items())
    best = finite(least(by_rival.values())).mean()
    return Verdict(
        percent(mean),
        near(mean, 0.7, POINTS),
        f"mean over the rivals ({each}); over the best of them in each panel {percent(best)}"
        f"{_without(case, [*RIVALS], by_rival)}",
    )


def best_at(case: Case, data: str, n: int, m: float) -> Verdict:
    """Check at the first split that a number of blanket messages is as good as the best number."""
    panel = {"data": data, "s": 4, "n": n, "split": FIRST_SPLIT}
    excess = float(errors(case, "segmented", **panel, m=m) / errors(case, OURS, **panel) - 1)
    return Verdict(
        number(panels(case, "parameters.blankets", OURS, **panel)),
        excess <= FLAT,
        f"at m = {m:g} the error is {percent(excess)} above its minimum; up to {percent(FLAT)} is accepted",
    )


def too_small_and_too_large(case: Case) -> Verdict:
    """Check that the error at both ends of the axis exceeds the minimum in between."""
    ends, hurt = (0.1, 10.0), {}
    for panel, curve in lines(errors(case, "segmented", split=FIRST_SPLIT), "m"):
        minimum = curve.sel(m=slice(*ends)).min()
        excess = min(float(select(curve, m=end) / minimum - 1) for end in ends)
        hurt[f"{panel}, where the least error is at {float(curve.idxmin()):g}"] = excess > EDGE
    points = share(hurt.values())
    exceptions = [f"not for {panel}" for panel, hurts in hurt.items() if not hurts]
    return Verdict(
        points.of("panels"),
        points,
        "; ".join(
            [f"more than {percent(EDGE)} above the minimum at m = {ends[0]:g} and {ends[1]:g}", *exceptions]
        ),
    )


def moves(
    case: Case,
    low: Mapping[str, Any],
    high: Mapping[str, Any],
    rising: bool,
    method: str = OURS,
    quantity: str = "parameters.blankets",
) -> Verdict:
    """Check that numbers are lower at one value of a variable than at another one.

    ``rising`` says whether the axis has the lower side first.
    """
    below, above = (
        errors(case, method, **at) if quantity == "error" else panels(case, quantity, method, **at)
        for at in (low, high)
    )
    points = compare(below, above)
    return Verdict(
        times(above / below),
        points,
        f"{'rises' if rising else 'falls'} in {points.pro} of {points.total} panels, the other way in {points.con}, "
        f"tied within {percent(TIE, 1)} in {points.tied}",
    )


def total_messages(case: Case) -> Verdict:
    """Check that n m_1 hardly depends on n."""
    users = (5000, 50_000)
    blankets = panels(case, "parameters.blankets", "balls_into_bins", split=FIRST_SPLIT)
    small_totals, large_totals = (finite(select(blankets, n=n) * n) for n in users)
    totals = [*zip(small_totals, large_totals, strict=True)]
    slopes = [slope(users, both) for both in totals]
    return Verdict(
        f"exponents {span(slopes)}",
        all(near(exponent, 0, SLOPE) == "holds" for exponent in slopes),
        f"n m_1 at {users[0]:,} and {users[1]:,} users: "
        + "; ".join(f"{low:,.0f} and {high:,.0f}" for low, high in totals)
        + f"; within {SLOPE} of 0 is accepted",
    )


def error_ratio(case: Case, low: float, high: float, at: Mapping[str, Any]) -> Verdict:
    """Check that the ratio of the least errors of the smaller and the larger group lies in a range."""
    values = errors(case, OURS, **at)
    ratios = finite(select(values, n=5000) / select(values, n=50_000))
    inside = share((ratios >= low) & (ratios <= high))
    return Verdict(
        " to ".join(dict.fromkeys(f"1/{number(ratio)}" for ratio in (ratios.max(), ratios.min()))),
        grade(strict=inside.every, weak=bool((ratios > 1).all())),
        f"1/{high:g} to 1/{low:g} is accepted: {inside.of('panels')}",
    )


def lead_widens(case: Case, rivals: Names, data: str, difference: bool) -> Verdict:
    """Check that the lead over the best rival grows from S2 to S3, relatively and, with `difference`, absolutely."""
    rival_errors = available_errors(case, rivals, data=data)
    sides = [errors(case, OURS, data=data), least(rival_errors.values())]
    before, after = ([select(values, split=split) for values in sides] for split in ("50-25-25", "25-25-50"))
    relative = [1 - ours / best for ours, best in (before, after)]
    wider = relative[1] > relative[0]
    if difference:
        wider &= after[1] - after[0] > before[1] - before[0]
    points = share(wider, *relative)
    steps = zip(*(finite(values) for values in relative), strict=True)
    return Verdict(
        "; ".join(f"{percent(first)} to {percent(second)}" for first, second in steps),
        points,
        f"wider in {points.of('panels')}{', as a difference too' if difference else ''}"
        f"{_without(case, rivals, rival_errors)}",
    )


def below(case: Case, pairs: Sequence[Names], at: Mapping[str, Any] = MappingProxyType({})) -> Verdict:
    """Check in every panel that the first of each pair has less error; ties count against the claim."""
    sides = [[errors(case, method, **at) for method in pair] for pair in pairs]
    points = total(compare(low, high) for low, high in sides)
    return Verdict(
        times(high / low for low, high in sides),
        Points(points.pro, points.con + points.tied),
        f"{counts(points)}; measured is the other error over this error",
    )


def ordered(case: Case, pairs: Sequence[Names]) -> Verdict:
    """Check that the first of each pair never exceeds the second."""
    return in_order(
        {tuple(NAMES[name] for name in pair): [errors(case, name) for name in pair] for pair in pairs}
    )


def few_messages(case: Case) -> Verdict:
    """Check that the best number of blanket messages is often below four."""
    best = finite(panels(case, "parameters.blankets", OURS))
    small = share(best < 4.0)
    by_data = "; ".join(
        f"{panel}: {span(sent)}" for panel, sent in lines(panels(case, "messages_per_user", OURS), "split")
    )
    return Verdict(
        small.of("cases"), small, f"best m is {span(best)}; messages per user, items included: {by_data}"
    )


def bound_on_error(case: Case) -> Verdict:
    """Compare the printed bound with the exact expected error at every number of messages."""
    exact = errors(case, "segmented", split=FIRST_SPLIT)
    shares = [float(part) / 100 for part in FIRST_SPLIT.split("-")]
    reports = sum(
        part * exact["n"] * panels(case, f"parameters.rate_{level}", "segmented", split=FIRST_SPLIT)
        for level, part in enumerate(shares, start=1)
    )
    bound = mapped(
        lambda m, s, sent: segmented_error_bound(m, int(s), sent),
        exact["n"] * exact["m"],
        exact["s"],
        reports,
    )
    ratios = finite(bound / exact)
    above = share(ratios >= 1 - 1e-9)
    return Verdict(times(ratios), above.every, f"at or above the error at {above}")
