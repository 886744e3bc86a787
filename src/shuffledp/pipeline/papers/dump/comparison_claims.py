"""Comparisons of protocols in error and messages for claims of DUMP, and the selection of results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import cast

import numpy as np
import pandas as pd

from shuffledp.accounting.baselines.correlated_counts import correlated_noise
from shuffledp.accounting.errors import Infeasible
from shuffledp.pipeline.claims import outcomes
from shuffledp.pipeline.claims.case import Case
from shuffledp.pipeline.claims.general_rules import available
from shuffledp.pipeline.claims.outcomes import (
    ByPoint,
    Names,
    Outcome,
    Untestable,
    Verdict,
    compared,
    ordering,
    span,
    tally,
)
from shuffledp.pipeline.claims.stated_claims import catalogue
from shuffledp.pipeline.papers.dump.computed_tables import PROTOCOLS

claim = catalogue("dump")

DUMP = ("pure_dump", "mix_dump")
RIVALS = ("grr_blanket", "solh", "truncation", "truncation_plain", "private_coin", "public_coin")
"""All other protocols except correlated noise."""
PLOTTED = ("synthetic", "ipums", "ratings")
"""Experiments with all protocols."""
LARGE_DOMAIN = 5000
"""Third domain size of Figure 3; rivals are computed here, because no figure has them at this size."""
Reader = Callable[[Case, str, str], ByPoint]


def extra_messages(case: Case, experiment: str, method: str) -> ByPoint:
    """Return the messages per user without the user's report."""
    return case.cells(experiment, method)["extra_messages"]


def all_messages(case: Case, experiment: str, method: str) -> ByPoint:
    """Return the messages per user, including the user's report."""
    return case.cells(experiment, method)["messages_per_user"]


def errors(case: Case, experiment: str, method: str) -> ByPoint:
    """Return expected errors of a method."""
    return case.closed_forms(experiment, method)


QUANTITIES: Mapping[str, Reader] = {
    "error": errors,
    "extra messages": extra_messages,
    "messages": all_messages,
}


def available_in(case: Case, experiment: str, methods: Names, read: Reader = errors) -> dict[str, ByPoint]:
    """Return the numbers of `available` for an experiment."""
    what = f"in {case.claim.paper}.{experiment} with {case.accounting} accounting"
    return available(methods, lambda method: read(case, experiment, method), what)


def at(values: ByPoint, **point: float) -> float:
    """Return the value at a grid point."""
    for name, wanted in point.items():
        levels = values.index.get_level_values(name)
        values = values[[math.isclose(level, wanted) for level in levels]]
    if len(values) != 1:
        raise Untestable(
            f"needs the papers' grid: there is no {', '.join(f'{k} = {v:g}' for k, v in point.items())}"
        )
    return float(values.iloc[0])


def slices(values: ByPoint, along: str) -> list[tuple[str, ByPoint]]:
    """Return, for every combination of the other variables, its name and the series along one variable."""
    others = [name for name in values.index.names if name != along]
    if not others:
        return [("", values.sort_index())]
    parts = []
    for key, part in values.groupby(level=others):
        values_of = cast("tuple[float, ...]", key if isinstance(key, tuple) else (key,))
        name = ", ".join(f"{other} = {value:g}" for other, value in zip(others, values_of, strict=True))
        parts.append((name, part.droplevel(others).sort_index()))
    return parts


# -- ours against the best of the rivals ------------------------------------------------------------------------------


def _other_shares(case: Case, experiment: str, shares: Sequence[float]) -> list[ByPoint]:
    cells = case.cells(experiment, "correlated_noise").reset_index()
    points = [
        (float(c["eps"]), float(c["delta"]), c["domain_size"] / c["users_expected"])
        for c in cells.to_dict("records")
    ]
    index = case.cells(experiment, "correlated_noise").index
    return [
        pd.Series(
            [
                correlated_noise(eps, delta, accounting=case.accounting, share=share).messages * counters
                for eps, delta, counters in points
            ],
            index,
        )
        for share in shares
    ]


_BY_FUNCTION = {
    "grr_blanket": "privacy-amplification",
    "solh": "SOLH",
    "private_coin": "private-coin",
    "truncation_plain": "truncation-based",
}
"""Rivals whose errors are computed at settings of no experiment."""


def error_by_function(method: str, n: int, k: int, eps: float, accounting: str) -> float:
    """Return the error of a competing protocol at a setting of no experiment; nan if it is infeasible."""
    try:
        return PROTOCOLS[_BY_FUNCTION[method]](n, k, eps, accounting).mse
    except Infeasible:
        return math.nan


def _at_large_domain(case: Case, of: Names, rivals: Names) -> pd.DataFrame:
    """Return both sides at Figure 3's largest domain, with computed rivals; empty if the grid lacks this domain."""
    cells = pd.concat([case.cells("domains", method).reset_index() for method in of])
    large = cells[cells["k"] == LARGE_DOMAIN]
    rows = []
    for eps, found in large.groupby("eps"):
        setting = (int(found["users_expected"].iloc[0]), LARGE_DOMAIN, cast("float", eps), case.accounting)
        best = np.nanmin([math.inf, *(error_by_function(m, *setting) for m in rivals)])
        rows.append((found["closed_form"].max(), best))
    return pd.DataFrame(rows, columns=["ours", "best"]).replace(math.inf, math.nan)


def sides(
    case: Case,
    experiments: Names,
    of: Names,
    rivals: Names,
    read: Reader,
    shares: Sequence[float] = (),
) -> pd.DataFrame:
    """Return, by point, the largest value of ``of`` and the least value of the feasible rivals."""
    parts = []
    for experiment in experiments:
        ours = pd.concat(available_in(case, experiment, of, read).values(), axis=1).max(axis=1)
        found = [*available_in(case, experiment, rivals, read).values()]
        if shares:
            found += _other_shares(case, experiment, shares)
        best = pd.concat([values.reindex(ours.index) for values in found], axis=1).min(axis=1)
        parts.append(pd.DataFrame({"ours": ours, "best": best}).dropna())
    return pd.concat(parts)


def _leads(pairs: pd.DataFrame) -> str:
    positive = pairs[pairs["ours"] > 0]
    if positive.empty:
        return "infinitely many"
    return span(positive["best"] / positive["ours"])


@claim("DU-02", of="pure_dump", rivals=["grr_blanket"], large_domain=True)
@claim("DU-03", of="pure_dump", rivals=RIVALS)
@claim("DU-04", of="mix_dump", rivals=RIVALS, large_domain=True)
@claim(
    "DU-06",
    of=DUMP,
    rivals=["truncation", "private_coin", "public_coin", "correlated_noise"],
    quantity="extra messages",
    shares=[0.01, 0.5],
)
@claim("DU-07", of="mix_dump", rivals=["pure_dump"], quantity="extra messages")
@claim(
    "DU-26",
    of="pure_dump",
    rivals=["mix_dump"],
    experiments=["domains", "users", "synthetic", "ipums", "ratings"],
)
@claim(
    "DU-29",
    of=["pure_dump", "mix_dump", "truncation", "correlated_noise"],
    rivals=["private_coin", "public_coin"],
    quantity="extra messages",
)
@claim("DU-42", of=DUMP, rivals=["grr_blanket", "solh"], experiments=["ratings"])
def lowest(
    case: Case,
    of: str | Names,
    rivals: Names,
    experiments: Names = PLOTTED,
    quantity: str = "error",
    large_domain: bool = False,
    shares: Sequence[float] = (),
) -> Verdict:
    """Check that all methods in ``of`` are below every feasible rival at all points."""
    ours = [of] if isinstance(of, str) else of
    pairs = sides(case, experiments, ours, rivals, QUANTITIES[quantity], shares)
    said = f"the best rival has {_leads(pairs)} times the {quantity}"
    if large_domain:
        large = _at_large_domain(case, ours, [m for m in rivals if m not in ("truncation", "public_coin")])
        if len(large):
            said += f"; with {LARGE_DOMAIN} values {_leads(large)} times"
            pairs = pd.concat([pairs, large])
    if pairs.empty:
        raise Untestable("no rival is feasible at any point")
    losses, wins, ties = compared(pairs["best"], pairs["ours"])
    rest = [f"{how} at {count}" for how, count in (("tied", ties), ("not lowest", losses)) if count]
    return Verdict(", ".join([f"lowest at {wins} of {len(pairs)} points", *rest]), (wins, losses), said)


@claim("O-14", chain=[["correlated_noise"], ["pure_dump"], ["mix_dump"]])
@claim(
    "O-15",
    chain=[
        ["pure_dump"],
        RIVALS,
    ],
)
@claim(
    "O-16",
    chain=[
        ["mix_dump"],
        RIVALS,
    ],
)
@claim("O-17", chain=[["mix_dump"], ["pure_dump"]], quantity="extra messages")
@claim(
    "O-18",
    chain=[DUMP, ["truncation", "private_coin", "public_coin", "correlated_noise"]],
    quantity="extra messages",
    shares=[0.01, 0.5],
)
def never_above(
    case: Case,
    chain: Sequence[Names],
    quantity: str = "error",
    shares: Sequence[float] = (),
) -> Verdict:
    """Check that no entry of the chain exceeds the next entry; an entry may be a group of rivals."""
    said, above_all, points = [], 0, 0
    for lower, upper in pairwise(chain):
        pairs = sides(case, PLOTTED, lower, upper, QUANTITIES[quantity], shares)
        below, above, ties = compared(pairs["ours"], pairs["best"])
        above_all, points = above_all + above, points + len(pairs)
        said.append(
            f"{' and '.join(lower)} below at {below}, above at {above} and tied at {ties} of {len(pairs)} points, "
            f"the other error or number is {_leads(pairs)} times as large"
        )
    return Verdict(
        f"above at {above_all} of {points} points", outcomes.never_above(above_all, points), "; ".join(said)
    )


@claim(
    "DU-05",
    of=["mix_dump"],
    most=1.5,
    experiments=["domains", "synthetic", "ipums", "ratings"],
    somewhere=True,
)
@claim("DU-32", of=["truncation", "truncation_plain"], most=2)
def ratio_below(
    case: Case,
    of: Names,
    most: float,
    experiments: Names = PLOTTED,
    somewhere: bool = False,
) -> Verdict:
    """Check at every point that the least error of ``of`` is below ``most`` times pureDUMP's error.

    The claim holds in part if this inequality is true at half of the points or, with ``somewhere``, at any point.
    """
    found = []
    for experiment in experiments:
        least = pd.concat(available_in(case, experiment, of).values(), axis=1).min(axis=1)
        found.append((least / errors(case, experiment, "pure_dump")).dropna())
    ratios = pd.concat(found)
    within = tally(ratios < most)
    verdict: Outcome = ordering(*within)
    if verdict == "fails" and somewhere and within.for_it:
        verdict = "in part"
    return Verdict(f"{span(ratios)} times the error", verdict, f"less than {most:g} times at {within} points")


@claim("DU-33")
def at_least(case: Case) -> Verdict:
    """Check at every point that the truncation-based protocol has at least ten times as many messages as DUMP."""
    pairs = sides(case, PLOTTED, DUMP, ("truncation",), all_messages)
    ratios = pairs["best"] / pairs["ours"]
    enough = tally(ratios >= 10)
    return Verdict(f"{span(ratios)} times the messages", enough, f"at least 10 times at {enough} points")
