"""Leaderboards: a row per method, a column per quantity, each under a selection of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from shuffledp.experiments.bundle import CELL_TEXTS
from shuffledp.figures.plotter import long_form
from shuffledp.figures.shown import matching

TRUST = {
    "shuffler": "shuffler permutes",
    "shuffler_adds": "shuffler adds or samples",
    "secure_sum": "secure summation",
    "central": "curator",
    "local": "nobody",
}
"""Whom users trust, in the order of a leaderboard."""
INFEASIBLE, ABSENT = "infeasible", "–"
WHY = "why not"
#: What text an order treats as the last.
_LAST = len(TRUST)


def leaderboard(
    entry: Mapping[str, Any],
    cells: pd.DataFrame,
    summary: pd.DataFrame,
    names: Mapping[str, str],
) -> tuple[pd.DataFrame, list[str]]:
    """The rows of a leaderboard, best first within each group.

    Parameters
    ----------
    entry : mapping
        ``methods``; ``entries``, each with a ``heading``, a ``value`` (a metric, a number or a text of the cells), a
        ``where`` that selects one cell of a method (of several accountings the first that the method has), and
        ``unit: counts`` for squared errors of counts; ``order``, headings.
    cells, summary : DataFrame
        Results of the table's experiment.
    names : mapping
        Methods as readers know them, by id.

    Returns
    -------
    (DataFrame, list of str)
        A row per method: its name and the entries by heading, numbers or texts; and, where some are infeasible,
        the reason. Then the headings whose entries are numbers.

    Raises
    ------
    ValueError
        If a selection leaves several numbers of a method.
    """
    columns = {str(e["heading"]): _column(e, cells, summary, entry["methods"]) for e in entry["entries"]}
    first = next(
        e for e in entry["entries"] if e["heading"] in entry["order"] and e["value"] not in CELL_TEXTS
    )
    reasons = _by_method(_selected(cells, first.get("where", {})), "reason")
    rows = pd.DataFrame({"method": [names[m] for m in entry["methods"]], **columns})
    if (rows[list(columns)] == INFEASIBLE).any(axis=None):
        rows[WHY] = [reasons.get(m) or "" for m in entry["methods"]]
    places = sorted(
        range(len(rows)), key=lambda i: [_rank(rows[h].iloc[i], h, entry) for h in entry["order"]]
    )
    return rows.iloc[places].reset_index(drop=True), [
        str(e["heading"]) for e in entry["entries"] if e["value"] not in CELL_TEXTS
    ]


def _rank(value: Any, heading: str, entry: Mapping[str, Any]) -> tuple[int, float, str]:
    """Numbers before what is missing; whom one trusts in the order of `TRUST`; other texts by their letters."""
    kind = next(e["value"] for e in entry["entries"] if e["heading"] == heading)
    if kind == "trust":
        return (
            (0, float(list(TRUST.values()).index(value)), "") if value in TRUST.values() else (1, _LAST, "")
        )
    if kind in CELL_TEXTS:
        return 0, 0.0, str(value)
    return (1, 0.0, "") if isinstance(value, str) else (0, float(value), "")


def _column(
    entry: Mapping[str, Any], cells: pd.DataFrame, summary: pd.DataFrame, methods: Sequence[str]
) -> list[Any]:
    where, quantity = entry.get("where", {}), str(entry["value"])
    selected = _selected(cells, where)
    if quantity in CELL_TEXTS:
        texts = _by_method(selected, quantity)
        return [_text(quantity, texts.get(m)) for m in methods]
    status = _by_method(selected, "status")
    rows = long_form(selected, summary[summary["cell"].isin(selected["cell"])], quantity)
    first = rows.sort_values("kind", kind="stable").groupby("cell", sort=False).head(1)
    numbers = _by_method(first, "mean")
    users = _by_method(selected, "users_expected")
    times = {m: float(n) ** 2 if entry.get("unit") == "counts" else 1.0 for m, n in users.items()}
    return [
        INFEASIBLE
        if status.get(m) == "infeasible"
        else ABSENT
        if m not in numbers or math.isnan(numbers[m])
        else float(numbers[m]) * times[m]
        for m in methods
    ]


def _selected(cells: pd.DataFrame, where: Mapping[str, Any]) -> pd.DataFrame:
    """Cells that agree with all conditions; of several accountings, for each method, those of the first it has."""
    wanted = where.get("accounting")
    if not isinstance(wanted, list):
        return matching(cells, where)
    some = matching(cells, {name: value for name, value in where.items() if name != "accounting"})
    some = some[some["accounting"].isin(wanted)]
    place = some["accounting"].map(wanted.index)
    return some[place == place.groupby(some["method"]).transform("min")]


def _by_method(rows: pd.DataFrame, column: str) -> dict[str, Any]:
    found = rows[["method", column]].drop_duplicates()
    several = found["method"][found["method"].duplicated()]
    if len(several):
        raise ValueError(f"{column!r} of {several.iloc[0]!r} is not determined: name more under where.")
    return dict(zip(found["method"], found[column], strict=True))


def _text(column: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        return ABSENT
    return TRUST.get(value, value) if column == "trust" else value
