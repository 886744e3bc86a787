"""Claims of Wang et al. 2024 that its figures decide: errors, and the number of messages at which they are least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from shuffledp.accounting.expected_errors.sets import segmented_error_bound
from shuffledp.pipeline.claims.case import Case, Rule
from shuffledp.pipeline.claims.outcomes import (
    CLOSED_FORM,
    POINTS,
    SLOPE,
    TIE,
    Outcome,
    Untestable,
    Verdict,
    about,
    compared,
    exponent,
    never_above,
    ordering,
    percent,
    percents,
    scaling,
    span,
)
from shuffledp.pipeline.papers.segmented.panel_errors import (
    NAMES,
    OURS,
    RIVALS,
    SPLITS,
    Panel,
    across,
    at,
    available,
    by_panel,
    errors,
    parameter,
    parameters,
    table,
)

FLAT = 0.05
"""Excess over the least error up to which a number of messages is as good as the best one."""
EDGE = 0.1
"""Excess over the least error from which a number of messages hurts."""


def _gains(case: Case, split: str) -> tuple[dict[str, pd.Series[float]], str]:
    """Shares of the error of each rival that are gone, by panel; and which rivals have no results."""
    ours = errors(case, OURS)
    found = {
        m: at(1 - ours / theirs, split=split).dropna() for m, theirs in available(case, list(RIVALS)).items()
    }
    absent = [RIVALS[method] for method in RIVALS if method not in found]
    without = f"; {', '.join(absent)}: no result with {case.accounting} accounting" if absent else ""
    return found, without


def gain(case: Case, split: str, stated: float, least: float) -> Verdict:
    """A share of the best rival's error is gone: about the stated one as a mean, and in no panel less than a least."""
    found, without = _gains(case, split)
    gains = pd.concat(found.values(), axis=1).min(axis=1)
    outcome = about(float(gains.mean()), stated)
    if outcome == "holds" and gains.min() < least:
        outcome = "in part"
    return Verdict(
        percent(float(gains.mean())),
        CLOSED_FORM,
        outcome,
        f"{percent(float(gains.min()))} to {percent(float(gains.max()))} below the best rival in {len(gains)} "
        f"panels{without}",
    )


def gain_of_each(case: Case, rivals: Sequence[str], split: str, least: float) -> Verdict:
    """More than a least share of the error of each of some rivals is gone, in every panel."""
    ours, shares = errors(case, OURS), {}
    for method in rivals:
        shares[method] = at(1 - ours / errors(case, method), split=split).dropna()
    every = np.concatenate([values.to_numpy() for values in shares.values()])
    more = int((every > least).sum())
    return Verdict(
        "; ".join(f"{NAMES[m]} {percents(values)}" for m, values in shares.items()),
        CLOSED_FORM,
        ordering(more, len(every) - more),
        f"more than {percent(least)} at {more} of {len(every)} points",
    )


def mean_gain(case: Case, split: str, stated: float) -> Verdict:
    """The mean over all rivals and panels of the share of the error that is gone."""
    found, without = _gains(case, split)
    means = {method: float(values.mean()) for method, values in found.items()}
    best = float(pd.concat(found.values(), axis=1).min(axis=1).mean())
    mean = float(np.mean(list(means.values())))
    each = ", ".join(f"{RIVALS[method]} {percent(value)}" for method, value in means.items())
    return Verdict(
        percent(mean),
        CLOSED_FORM,
        about(mean, stated),
        f"mean over the rivals ({each}); over the best of them in each panel {percent(best)}{without}",
    )


def _curves(case: Case, split: str) -> dict[Panel, pd.Series[float]]:
    """Errors over m by panel."""
    return by_panel(at(errors(case, "segmented"), split=split))


def best_at(case: Case, data: str, s: int, n: int, m: float) -> Verdict:
    """A number of blanket messages is as good as the best one, at the first split."""
    split = next(iter(SPLITS))
    panel = (data, s, n, split)
    least, best = errors(case, OURS), parameter(case, OURS, "blankets")
    curves = _curves(case, split)
    if panel not in least.index or panel not in curves or m not in curves[panel].index:
        raise Untestable(f"needs the papers' grid: {data}, {s} items per user, {n:,} users, m = {m:g}")
    excess = float(curves[panel][m] / least[panel] - 1)
    return Verdict(
        f"{best[panel]:.3g}",
        CLOSED_FORM,
        "holds" if excess <= FLAT else "fails",
        f"at m = {m:g} the error is {percent(excess)} above its minimum; up to {percent(FLAT)} counts",
    )


def too_small_and_too_large(case: Case, split: str, low: float, high: float) -> Verdict:
    """At both ends of the axis the error is above its minimum in between."""
    hurt, said = [], []
    for (data, s, n, _), curve in _curves(case, split).items():
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
        CLOSED_FORM,
        ordering(sum(hurt), len(hurt) - sum(hurt)),
        "; ".join([f"more than {percent(EDGE)} above the minimum at m = {low:g} and {high:g}", *said]),
    )


def best_moves(
    case: Case, along: str, first: Any, second: Any, rising: bool, s: int | None = None
) -> Verdict:
    """The best number of messages rises, or falls, from one value of a level to another."""
    best = parameter(case, OURS, "blankets")
    if s is not None:
        best = best[best.index.get_level_values("s") == s]
    pairs = across(best, along, first, second)
    if not rising:
        pairs = pairs[["second", "first"]]
    right, wrong, ties = compared(*(pairs[c].to_list() for c in pairs))
    ratios = pairs.iloc[:, 1] / pairs.iloc[:, 0]
    return Verdict(
        f"{span(ratios)} times",
        CLOSED_FORM,
        ordering(right, wrong),
        f"{'rises' if rising else 'falls'} in {right} of {len(pairs)} panels, the other way in {wrong}, tied in {ties}",
    )


def total_messages(case: Case, users: Sequence[int]) -> Verdict:
    """n m_1 hardly depends on n."""
    blankets = parameter(case, "balls_into_bins", "blankets")
    pairs = across(at(blankets, split=next(iter(SPLITS))), "n", *users)
    totals = [
        (users[0] * float(a), users[1] * float(b))
        for a, b in zip(pairs["first"], pairs["second"], strict=True)
    ]
    slopes = [scaling(users, total) for total in totals]
    outcomes = {exponent(slope, 0) for slope in slopes}
    return Verdict(
        f"exponents {span(slopes)}",
        CLOSED_FORM,
        "holds" if outcomes == {"holds"} else "fails",
        f"n m_1 at {users[0]:,} and {users[1]:,} users: "
        + "; ".join(f"{a:,.0f} and {b:,.0f}" for a, b in totals)
        + f"; within {SLOPE} of 0 counts",
    )


def error_ratio(
    case: Case,
    users: Sequence[int],
    low: float,
    high: float,
    data: str | None = None,
    split: str | None = None,
) -> Verdict:
    """The least error of the smaller group over that of the larger one lies in a range."""
    pairs = across(at(errors(case, OURS), data=data, split=split), "n", *users)
    ratios = pairs["first"] / pairs["second"]
    inside = int(((ratios >= low) & (ratios <= high)).sum())
    verdict: Outcome = (
        "holds" if inside == len(ratios) else "in part" if bool((ratios > 1).all()) else "fails"
    )
    return Verdict(
        f"1/{span(ratios)}" if len(ratios) == 1 else f"1/{ratios.max():.3g} to 1/{ratios.min():.3g}",
        CLOSED_FORM,
        verdict,
        f"1/{high:g} to 1/{low:g} counts: {inside} of {len(ratios)} panels",
    )


def _between(values: pd.Series[float]) -> pd.DataFrame:
    """Values at the second and at the third split."""
    return across(values, "split", *list(SPLITS)[1:])


def with_liberal_users(case: Case, method: str, rising: bool) -> Verdict:
    """From S2 to S3 the error of a method rises, or falls."""
    pairs = _between(errors(case, method))
    low, high = ("first", "second") if rising else ("second", "first")
    right, wrong, ties = compared(pairs[low].to_list(), pairs[high].to_list())
    return Verdict(
        f"{span(pairs['second'] / pairs['first'])} times",
        CLOSED_FORM,
        ordering(right, wrong),
        f"{'rises' if rising else 'falls'} in {right} of {len(pairs)} panels, the other way in {wrong}, tied within "
        f"{percent(TIE)} in {ties}",
    )


def lead_widens(case: Case, rivals: Sequence[str], data: str, difference: bool) -> Verdict:
    """From S2 to S3 the lead over the best of some rivals widens: as a share, and if asked for as a difference."""
    ours = errors(case, OURS)
    found = available(case, list(rivals))
    best = pd.concat(found.values(), axis=1).min(axis=1)
    shares = _between(at(1 - ours / best, data=data))
    steps = [shares["second"] - shares["first"]]
    if difference:
        absolute = _between(at(best - ours, data=data))
        steps.append(absolute["second"] - absolute["first"])
    wider = np.all([step > 0 for step in steps], axis=0)
    pairs = "; ".join(
        f"{percent(a)} to {percent(b)}" for a, b in zip(shares["first"], shares["second"], strict=True)
    )
    missing = [NAMES[m] for m in rivals if m not in found]
    return Verdict(
        pairs,
        CLOSED_FORM,
        ordering(int(wider.sum()), int((~wider).sum())),
        f"wider in {int(wider.sum())} of {len(wider)} panels{', as a difference too' if difference else ''}"
        + (f"; {', '.join(missing)}: no result with {case.accounting} accounting" if missing else ""),
    )


def below(case: Case, pairs: Sequence[Sequence[str]], splits: Sequence[str], strictly: bool) -> Verdict:
    """The first of each pair has less error than the second, in every panel.

    A tie is against it if `strictly`: where two protocols become the same, nothing is gained.
    """
    right = wrong = ties = 0
    leads = list[float]()
    for lower, upper in pairs:
        both = pd.DataFrame({"low": errors(case, lower), "high": errors(case, upper)}).dropna()
        both = both[both.index.get_level_values("split").isin(splits)]
        counts = compared(both["low"].to_list(), both["high"].to_list())
        right, wrong, ties = right + counts[0], wrong + counts[1], ties + counts[2]
        leads += list(both["high"] / both["low"])
    if not leads:
        raise Untestable("no panel has results of both sides")
    return Verdict(
        f"{span(leads)} times",
        CLOSED_FORM,
        ordering(right, wrong + ties if strictly else wrong),
        f"below at {right}, above at {wrong} and tied (within {percent(TIE)}) at {ties} of {len(leads)} points; "
        "measured is the other error over this one",
    )


def in_order(case: Case, pairs: Sequence[Sequence[str]]) -> Verdict:
    """The first of each pair is never above the second."""
    said, wrong, points = [], 0, 0
    for lower, upper in pairs:
        both = pd.DataFrame({"low": errors(case, lower), "high": errors(case, upper)}).dropna()
        under, over, ties = compared(both["low"].to_list(), both["high"].to_list())
        wrong, points = wrong + over, points + len(both)
        said.append(f"{NAMES[lower]} below {NAMES[upper]} at {under}, above at {over}, tied at {ties}")
    return Verdict(
        f"above at {wrong} of {points} points", CLOSED_FORM, never_above(wrong, points), "; ".join(said)
    )


def strong_rival(case: Case) -> Verdict:
    """The weights lower the error of SepMM, and better ones hardly lower it further."""
    plain, weighted, best = (
        errors(case, f"separate{which}") for which in ("", "_weighted", "_inverse_variance")
    )
    better = int((weighted < plain * (1 - TIE)).sum())
    further = (1 - best / weighted).dropna()
    verdict: Outcome = "fails"
    if 2 * better >= len(weighted):
        verdict = "holds" if better == len(weighted) and further.max() <= POINTS else "in part"
    return Verdict(
        f"below SepMM in {better} of {len(weighted)} cases",
        CLOSED_FORM,
        verdict,
        f"inverse variances as weights lower the error by a further {percent(float(further.min()))} to "
        f"{percent(float(further.max()))}; up to {percent(POINTS)} would count as strong",
    )


def few_messages(case: Case, most: float) -> Verdict:
    """The best number of blanket messages is often below `most`; measured with what a user sends in all."""
    best = parameter(case, OURS, "blankets")
    small = int((best < most).sum())
    sent = table(case, OURS)["messages_per_user"].astype(float)
    by_data = "; ".join(
        f"{data}, {s} items, {n:,} users: {span(sent.loc[data, s, n])}"
        for data, s, n in dict.fromkeys(key[:3] for key in sent.index.to_list())
    )
    return Verdict(
        f"{small} of {len(best)} cases",
        CLOSED_FORM,
        ordering(small, len(best) - small),
        f"best m is {span(best)}; messages per user with those of the items: {by_data}",
    )


def bound_on_error(case: Case, split: str) -> Verdict:
    """The printed bound over the exact expected error, at every number of messages."""
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
        CLOSED_FORM,
        "holds" if above == len(ratios) else "fails",
        f"at or above the error at {above} of {len(ratios)} points",
    )


RULES: Mapping[str, Rule] = {
    "gain": gain,
    "gain_of_each": gain_of_each,
    "mean_gain": mean_gain,
    "best_at": best_at,
    "too_small_and_too_large": too_small_and_too_large,
    "best_moves": best_moves,
    "total_messages": total_messages,
    "error_ratio": error_ratio,
    "with_liberal_users": with_liberal_users,
    "lead_widens": lead_widens,
    "below": below,
    "in_order": in_order,
    "strong_rival": strong_rival,
    "few_messages": few_messages,
    "bound_on_error": bound_on_error,
}
"""By the names that ``stated_claims.yaml`` uses."""
