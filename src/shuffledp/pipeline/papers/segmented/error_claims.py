"""Claims of Wang et al. 2024 on figures: errors, and the number of messages with the least error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from shuffledp.accounting.segmented.set_errors import segmented_error_bound
from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.outcomes import (
    SLOPE,
    TIE,
    ByPoint,
    Names,
    Outcome,
    Untestable,
    Verdict,
    about,
    compared,
    exponent,
    never_above,
    percent,
    percents,
    scaling,
    span,
    tally,
)
from shuffledp.pipeline.claims.stated_claims import catalogue
from shuffledp.pipeline.papers.segmented.panel_errors import (
    NAMES,
    OURS,
    RIVALS,
    SPLITS,
    Panel,
    across,
    available_errors,
    by_panel,
    errors,
    parameter,
    parameters,
    select_panels,
    table,
)

claim = catalogue("segmented")

FLAT = 0.05
"""Excess over the least error up to which a number of messages is as good as the best number."""
EDGE = 0.1
"""Excess over the least error from which a number of messages hurts."""


def _gains(case: Case, split: str) -> tuple[dict[str, ByPoint], str]:
    ours = errors(case, OURS)
    found = {
        m: select_panels(1 - ours / theirs, split=split).dropna()
        for m, theirs in available_errors(case, list(RIVALS)).items()
    }
    absent = [RIVALS[method] for method in RIVALS if method not in found]
    without = f"; {', '.join(absent)}: no result with {case.accounting} accounting" if absent else ""
    return found, without


@claim("SE-01")
def gain(case: Case) -> Verdict:
    """Check that the best rival's error is reduced by about the stated mean, and in no panel by little."""
    found, without = _gains(case, "25-50-25")
    gains = pd.concat(found.values(), axis=1).min(axis=1)
    outcome = about(float(gains.mean()), 0.5)
    if outcome == "holds" and gains.min() < 0.3:
        outcome = "in part"
    return Verdict(
        percent(gains.mean()),
        outcome,
        f"{percent(gains.min())} to {percent(gains.max())} below the best rival in {len(gains)} "
        f"panels{without}",
    )


@claim("SE-02", rivals=["balls_into_bins"])
@claim("SE-03", rivals=["subset_local", "subset_shuffled"])
def gain_of_each(case: Case, rivals: Names) -> Verdict:
    """Check in every panel that each rival's error is reduced by more than a given share."""
    least = 0.5
    ours, shares = errors(case, OURS), {}
    for method in rivals:
        shares[method] = select_panels(1 - ours / errors(case, method), split="25-50-25").dropna()
    every = np.concatenate([values.to_numpy() for values in shares.values()])
    more = tally(every > least)
    return Verdict(
        "; ".join(f"{NAMES[m]} {percents(values)}" for m, values in shares.items()),
        more,
        f"more than {percent(least)} at {more} points",
    )


@claim("SE-04")
def mean_gain(case: Case) -> Verdict:
    """Judge the mean reduction of errors over all rivals and panels."""
    found, without = _gains(case, "25-50-25")
    means = {method: float(values.mean()) for method, values in found.items()}
    best = float(pd.concat(found.values(), axis=1).min(axis=1).mean())
    mean = float(np.mean(list(means.values())))
    each = ", ".join(f"{RIVALS[method]} {percent(value)}" for method, value in means.items())
    return Verdict(
        percent(mean),
        about(mean, 0.7),
        f"mean over the rivals ({each}); over the best of them in each panel {percent(best)}{without}",
    )


def _curves(case: Case, split: str) -> dict[Panel, ByPoint]:
    return by_panel(select_panels(errors(case, "segmented"), split=split))


@claim("SE-05", data="msnbc", n=5000, m=2.0)
@claim("SE-06", data="msnbc", n=50_000, m=0.3)
@claim("SE-07", data="uniform", n=5000, m=4.0)
@claim("SE-08", data="uniform", n=50_000, m=1.0)
def best_at(case: Case, data: str, n: int, m: float) -> Verdict:
    """Check at the first split that a number of blanket messages is as good as the best number."""
    s = 4
    split = next(iter(SPLITS))
    panel = (data, s, n, split)
    least, best = errors(case, OURS), parameter(case, OURS, "blankets")
    curves = _curves(case, split)
    if panel not in least.index or panel not in curves or m not in curves[panel].index:
        raise Untestable(f"needs the papers' grid: {data}, {s} items per user, {n:,} users, m = {m:g}")
    excess = float(curves[panel][m] / least[panel] - 1)
    return Verdict(
        f"{best[panel]:.3g}",
        excess <= FLAT,
        f"at m = {m:g} the error is {percent(excess)} above its minimum; up to {percent(FLAT)} is accepted",
    )


@claim("SE-09")
def too_small_and_too_large(case: Case) -> Verdict:
    """Check that the error at both ends of the axis exceeds the minimum in between."""
    low, high = 0.1, 10.0
    hurt, said = [], []
    for (data, s, n, _), curve in _curves(case, "25-50-25").items():
        if not {low, high} <= set(curve.index):
            raise Untestable(f"needs the papers' grid: m = {low:g} and {high:g}")
        shown = curve[(curve.index >= low) & (curve.index <= high)]
        excess = [float(curve[end] / shown.min() - 1) for end in (low, high)]
        hurt.append(min(excess) > EDGE)
        if not hurt[-1]:
            said.append(
                f"not for {data}, {s} items per user and {n:,} users, where the least error is at {curve.idxmin():g}"
            )
    return Verdict(
        f"{sum(hurt)} of {len(hurt)} panels",
        (sum(hurt), len(hurt) - sum(hurt)),
        "; ".join([f"more than {percent(EDGE)} above the minimum at m = {low:g} and {high:g}", *said]),
    )


@claim("SE-10", along="data", first="msnbc", second="uniform", rising=True, s=4)
@claim("SE-11", along="s", first=4, second=8, rising=True)
@claim("SE-12", along="n", first=5000, second=50_000, rising=False)
def best_moves(
    case: Case, along: str, first: Any, second: Any, rising: bool, s: int | None = None
) -> Verdict:
    """Check that the best number of messages increases, or decreases, between two values of a level."""
    best = parameter(case, OURS, "blankets")
    if s is not None:
        best = best[best.index.get_level_values("s") == s]
    pairs = across(best, along, first, second)
    if not rising:
        pairs = pairs[["second", "first"]]
    right, wrong, ties = compared(*(pairs[c] for c in pairs))
    ratios = pairs.iloc[:, 1] / pairs.iloc[:, 0]
    return Verdict(
        f"{span(ratios)} times",
        (right, wrong),
        f"{'rises' if rising else 'falls'} in {right} of {len(pairs)} panels, the other way in {wrong}, tied in {ties}",
    )


@claim("SE-13")
def total_messages(case: Case) -> Verdict:
    """Check that n m_1 hardly depends on n."""
    users = (5000, 50_000)
    blankets = parameter(case, "balls_into_bins", "blankets")
    pairs = across(select_panels(blankets, split=next(iter(SPLITS))), "n", *users)
    totals = [
        (users[0] * float(a), users[1] * float(b))
        for a, b in zip(pairs["first"], pairs["second"], strict=True)
    ]
    slopes = [scaling(users, total) for total in totals]
    outcomes = {exponent(slope, 0) for slope in slopes}
    return Verdict(
        f"exponents {span(slopes)}",
        outcomes == {"holds"},
        f"n m_1 at {users[0]:,} and {users[1]:,} users: "
        + "; ".join(f"{a:,.0f} and {b:,.0f}" for a, b in totals)
        + f"; within {SLOPE} of 0 is accepted",
    )


@claim("SE-14", low=22, high=40, data="msnbc", split="25-50-25")
@claim("SE-15", low=10, high=100)
def error_ratio(
    case: Case,
    low: float,
    high: float,
    data: str | None = None,
    split: str | None = None,
) -> Verdict:
    """Check that the ratio of the least errors of the smaller and the larger group lies in a range."""
    pairs = across(select_panels(errors(case, OURS), data=data, split=split), "n", 5000, 50_000)
    ratios = pairs["first"] / pairs["second"]
    inside = int(((ratios >= low) & (ratios <= high)).sum())
    verdict: Outcome = (
        "holds" if inside == len(ratios) else "in part" if bool((ratios > 1).all()) else "fails"
    )
    return Verdict(
        f"1/{span(ratios)}" if len(ratios) == 1 else f"1/{ratios.max():.3g} to 1/{ratios.min():.3g}",
        verdict,
        f"1/{high:g} to 1/{low:g} is accepted: {inside} of {len(ratios)} panels",
    )


def _between(values: ByPoint) -> pd.DataFrame:
    return across(values, "split", *list(SPLITS)[1:])


@claim("SE-16", method="separate", rising=True)
@claim("SE-17", method="segmented_best", rising=False)
@claim("SE-18", method="separate_weighted", rising=False)
def with_liberal_users(case: Case, method: str, rising: bool) -> Verdict:
    """Check that a method's error increases, or decreases, from S2 to S3."""
    pairs = _between(errors(case, method))
    low, high = ("first", "second") if rising else ("second", "first")
    right, wrong, ties = compared(pairs[low], pairs[high])
    return Verdict(
        f"{span(pairs['second'] / pairs['first'])} times",
        (right, wrong),
        f"{'rises' if rising else 'falls'} in {right} of {len(pairs)} panels, the other way in {wrong}, tied within "
        f"{percent(TIE)} in {ties}",
    )


@claim("SE-19", rivals=["separate_weighted"], data="msnbc", difference=True)
@claim(
    "SE-20",
    rivals=["balls_into_bins", "subset_shuffled", "subset_local", "separate", "separate_weighted"],
    data="uniform",
    difference=False,
)
def lead_widens(case: Case, rivals: Names, data: str, difference: bool) -> Verdict:
    """Check that the lead over the best rival grows from S2 to S3, relatively and, with `difference`, absolutely."""
    ours = errors(case, OURS)
    found = available_errors(case, rivals)
    best = pd.concat(found.values(), axis=1).min(axis=1)
    shares = _between(select_panels(1 - ours / best, data=data))
    steps = [shares["second"] - shares["first"]]
    if difference:
        absolute = _between(select_panels(best - ours, data=data))
        steps.append(absolute["second"] - absolute["first"])
    wider = np.all([step > 0 for step in steps], axis=0)
    pairs = "; ".join(
        f"{percent(a)} to {percent(b)}" for a, b in zip(shares["first"], shares["second"], strict=True)
    )
    missing = [NAMES[m] for m in rivals if m not in found]
    return Verdict(
        pairs,
        tally(wider),
        f"wider in {tally(wider)} panels{', as a difference too' if difference else ''}"
        + (f"; {', '.join(missing)}: no result with {case.accounting} accounting" if missing else ""),
    )


@claim("SE-21", pairs=[["segmented_best", "balls_into_bins"]], splits=list(SPLITS))
@claim(
    "SE-22",
    pairs=[["segmented_best", "separate"], ["segmented_best", "separate_weighted"]],
    splits=list(SPLITS),
)
@claim("SE-25", pairs=[["balls_into_bins", "subset_shuffled"]], splits=["25-50-25"])
@claim(
    "SE-26",
    pairs=[
        ["segmented_best", "subset_local"],
        ["balls_into_bins", "subset_local"],
        ["subset_shuffled", "subset_local"],
        ["separate", "subset_local"],
        ["separate_weighted", "subset_local"],
    ],
    splits=list(SPLITS),
)
def below(case: Case, pairs: Sequence[Names], splits: Names) -> Verdict:
    """Check in every panel that the first of each pair has less error; ties count against the claim."""
    right = wrong = ties = 0
    leads = list[float]()
    for lower, upper in pairs:
        both = pd.DataFrame({"low": errors(case, lower), "high": errors(case, upper)}).dropna()
        both = both[both.index.get_level_values("split").isin(splits)]
        counts = compared(both["low"], both["high"])
        right, wrong, ties = right + counts[0], wrong + counts[1], ties + counts[2]
        leads += list(both["high"] / both["low"])
    if not leads:
        raise Untestable("no panel has results of both sides")
    return Verdict(
        f"{span(leads)} times",
        (right, wrong + ties),
        f"below at {right}, above at {wrong} and tied (within {percent(TIE)}) at {ties} of {len(leads)} points; "
        "measured is the other error over this error",
    )


@claim(
    "O-23",
    pairs=[
        ["segmented_best", "separate_weighted"],
        ["separate_weighted", "separate"],
        ["separate_inverse_variance", "separate_weighted"],
    ],
)
@claim("O-24", pairs=[["segmented_best", "balls_into_bins"]])
@claim("O-25", pairs=[["balls_into_bins", "subset_shuffled"], ["subset_shuffled", "subset_local"]])
def in_order(case: Case, pairs: Sequence[Names]) -> Verdict:
    """Check that the first of each pair never exceeds the second."""
    said, wrong, points = [], 0, 0
    for lower, upper in pairs:
        both = pd.DataFrame({"low": errors(case, lower), "high": errors(case, upper)}).dropna()
        under, over, ties = compared(both["low"], both["high"])
        wrong, points = wrong + over, points + len(both)
        said.append(f"{NAMES[lower]} below {NAMES[upper]} at {under}, above at {over}, tied at {ties}")
    return Verdict(f"above at {wrong} of {points} points", never_above(wrong, points), "; ".join(said))


@claim("SE-24")
def few_messages(case: Case) -> Verdict:
    """Check that the best number of blanket messages is often below `most`."""
    best = parameter(case, OURS, "blankets")
    small = tally(best < 4.0)
    sent = table(case, OURS)["messages_per_user"].astype(float)
    by_data = "; ".join(
        f"{data}, {s} items, {n:,} users: {span(sent.loc[data, s, n])}"
        for data, s, n in dict.fromkeys(key[:3] for key in sent.index.to_list())
    )
    return Verdict(
        f"{small} cases",
        small,
        f"best m is {span(best)}; messages per user, items included: {by_data}",
    )


@claim("SE-35")
def bound_on_error(case: Case) -> Verdict:
    """Compare the printed bound with the exact expected error at every number of messages."""
    split = "25-50-25"
    cells, exact = table(case, "segmented"), errors(case, "segmented")
    ratios = []
    for (_, s, n, shares, m), known, error in zip(
        cells.index.to_list(), parameters(cells), exact, strict=True
    ):
        if shares == split:
            sizes = [float(share) * n / 100 for share in str(shares).split("-")]
            reports = sum(size * known[f"rate_{k}"] for k, size in enumerate(sizes, start=1))
            ratios.append(segmented_error_bound(n * m, int(s), reports) / float(error))
    if not ratios:
        raise Untestable(f"needs the papers' grid: nothing at split {split}")
    above = sum(ratio >= 1 - 1e-9 for ratio in ratios)
    return Verdict(
        f"{span(ratios)} times",
        above == len(ratios),
        f"at or above the error at {above} of {len(ratios)} points",
    )
