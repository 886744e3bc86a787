"""Leaderboards: a row per method and a column per quantity, where each column selects its own cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from shuffledp.pipeline.experiments.bundle import CELL_TEXTS
from shuffledp.pipeline.experiments.results import IN_DOUBT
from shuffledp.pipeline.figures.drawing_jobs import Fields
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.selected_rows import by_cell, chosen

INFEASIBLE, ABSENT = "infeasible", "–"
WHY = "why not"
CONTROL = "control"
#: Rank of a text among the trust models: the last rank.
_LAST = len(TRUST)


def leaderboard(
    entry: Fields,
    cells: pd.DataFrame,
    summary: pd.DataFrame,
    names: Mapping[str, str],
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of a leaderboard, best first within each group, with infeasible methods last."""
    columns = {str(e["heading"]): _column(e, cells, summary, entry["methods"]) for e in entry["entries"]}
    first = _ordering(entry)
    reasons = _by_method(chosen(cells, first.get("where", {})), "reason")
    controls = entry.get("controls", ())
    rows = pd.DataFrame(
        {"method": [control_of(names[m]) if m in controls else names[m] for m in entry["methods"]], **columns}
    )
    if (rows[list(columns)] == INFEASIBLE).any(axis=None):
        why = (reasons.get(m) for m in entry["methods"])
        rows[WHY] = [reason if isinstance(reason, str) else "" for reason in why]  # none reads as nan
    ordering = str(first["heading"])
    places = sorted(
        range(len(rows)),
        key=lambda i: (
            rows[ordering].iloc[i] == INFEASIBLE,
            [_rank(rows[h].iloc[i], h, entry) for h in entry["order"]],
        ),
    )
    return rows.iloc[places].reset_index(drop=True), [
        str(e["heading"]) for e in entry["entries"] if e["value"] not in CELL_TEXTS
    ]


def ranked(entry: Fields, cells: pd.DataFrame, summary: pd.DataFrame, *trust: str) -> dict[str, float]:
    """Return the methods with one of these trusted parties, best first; controls and doubtful claims are omitted."""
    first = _ordering(entry)
    candidates = chosen(cells, first.get("where", {}))
    candidates = candidates[
        (candidates["status"] == "ok")
        & candidates["trust"].isin(trust)
        & ~candidates["guarantee"].isin(IN_DOUBT)
        & ~candidates["method"].isin(entry.get("controls", ()))
    ]
    number_of_cell = by_cell(candidates, summary, str(first["value"]), first.get("unit"))
    numbers = {
        str(m): float(number_of_cell[c])
        for m, c in zip(candidates["method"], candidates["cell"], strict=True)
        if c in number_of_cell
    }
    return dict(sorted(numbers.items(), key=lambda pair: pair[1]))


def _ordering(entry: Fields) -> Fields:
    """Return the first entry that orders the leaderboard and has numbers."""
    entry_of_numbers: Fields = next(
        e for e in entry["entries"] if e["heading"] in entry["order"] and e["value"] not in CELL_TEXTS
    )
    return entry_of_numbers


def _rank(value: Any, heading: str, entry: Fields) -> tuple[int, float, str]:
    """Return a sort key: missing numbers last, trust in the order of `TRUST`, other texts in alphabetical order."""
    kind = next(e["value"] for e in entry["entries"] if e["heading"] == heading)
    if kind == "trust":
        return (
            (0, float(list(TRUST.values()).index(value)), "") if value in TRUST.values() else (1, _LAST, "")
        )
    if kind in CELL_TEXTS:
        return 0, 0.0, str(value)
    return (1, 0.0, "") if isinstance(value, str) else (0, float(value), "")


def _column(entry: Fields, cells: pd.DataFrame, summary: pd.DataFrame, methods: Sequence[str]) -> list[Any]:
    where, quantity = entry.get("where", {}), str(entry["value"])
    selected = chosen(cells, where)
    if quantity in CELL_TEXTS:
        texts = _by_method(selected, quantity)
        return [_text(quantity, texts.get(m)) for m in methods]
    status = _by_method(selected, "status")
    number_of_cell = by_cell(selected, summary, quantity, entry.get("unit"))
    numbers = _by_method(selected.assign(number=selected["cell"].map(number_of_cell)), "number")
    unit = numbers.get(entry["over"], math.nan) if "over" in entry else 1.0
    return [_entry_of(status.get(m), numbers.get(m, math.nan) / unit) for m in methods]


def _entry_of(status: str | None, number: float) -> str | float:
    if status == "infeasible":
        return INFEASIBLE
    return ABSENT if math.isnan(number) else float(number)


def control_of(name: str) -> str:
    """Return the label of a control, a method that is only drawn for comparison."""
    return f"{name} ({CONTROL})"


def _by_method(rows: pd.DataFrame, column: str) -> dict[str, Any]:
    pairs = rows[["method", column]].drop_duplicates()
    several = pairs["method"][pairs["method"].duplicated()]
    if len(several):
        raise ValueError(
            f"{column!r} of {several.iloc[0]!r} has several values: add grid variables to `where`."
        )
    return dict(zip(pairs["method"], pairs[column], strict=True))


def _text(column: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        return ABSENT
    return TRUST[value] if column == "trust" else value
