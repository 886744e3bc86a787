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


def leaderboard(
    entry: Fields,
    cells: pd.DataFrame,
    summary: pd.DataFrame,
    names: Mapping[str, str],
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of a leaderboard, best first within each group, with infeasible methods last."""
    quantities = {str(e["heading"]): str(e["value"]) for e in entry["entries"]}
    columns = {str(e["heading"]): _column(e, cells, summary, entry["methods"]) for e in entry["entries"]}
    first, controls = _ordering(entry), entry.get("controls", ())
    rows = pd.DataFrame(
        {"method": [control_of(names[m]) if m in controls else names[m] for m in entry["methods"]], **columns}
    )
    if (rows[list(columns)] == INFEASIBLE).any(axis=None):
        reasons = _by_method(chosen(cells, first.get("where", {})), "reason")
        rows[WHY] = pd.Series(reasons, dtype=object).reindex(entry["methods"]).fillna("").to_list()

    def place(i: int) -> Any:
        ranks = [_rank(rows[heading][i], quantities[heading]) for heading in entry["order"]]
        return rows[first["heading"]][i] == INFEASIBLE, ranks

    numbers = [heading for heading, quantity in quantities.items() if quantity not in CELL_TEXTS]
    return rows.iloc[sorted(rows.index, key=place)].reset_index(drop=True), numbers


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
    numbers = candidates.set_index("method")["cell"].map(number_of_cell).dropna()
    return {str(method): float(n) for method, n in numbers.sort_values(kind="stable").items()}


def _ordering(entry: Fields) -> Fields:
    """Return the first entry that orders the leaderboard and has numbers."""
    entry_of_numbers: Fields = next(
        e for e in entry["entries"] if e["heading"] in entry["order"] and e["value"] not in CELL_TEXTS
    )
    return entry_of_numbers


def _rank(value: Any, quantity: str) -> tuple[bool, float, str]:
    """Return a sort key: missing numbers last, trust in the order of `TRUST`, other texts in alphabetical order."""
    if quantity == "trust":
        return False, [*TRUST.values(), ABSENT].index(value), ""
    if quantity in CELL_TEXTS:
        return False, 0.0, value
    return (True, 0.0, "") if isinstance(value, str) else (False, value, "")


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
