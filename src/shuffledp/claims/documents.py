"""The computed tables of the documentation.

A page holds each table between ``<!-- begin NAME -->`` and ``<!-- end NAME -->``;
``python -m shuffledp.claims.documents PAGE`` computes them anew.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from shuffledp.claims import dump, shuffle_gaussian, summation
from shuffledp.claims.comparisons import (
    budget_gaps,
    checkin_gaps,
    dummy_gaps,
    gradient_gaps,
    safety_margins,
    variance_gaps,
)
from shuffledp.claims.evaluation import markdown, markdown_table, notes_table
from shuffledp.claims.multi_message import multi_gaps, table_two
from shuffledp.claims.review import review_table, summary_table

_BLOCK = re.compile(
    r"(<!-- begin (?P<name>[a-z0-9_ ]+) -->\n)(?P<body>.*?)(<!-- end (?P=name) -->)", re.DOTALL
)


def _percent(value: float) -> str:
    return f"{round(100 * value, 1) + 0.0:.1f} %"  # + 0.0 turns -0.0 into 0.0


def _formatted(frame: pd.DataFrame, formats: Sequence[Callable[[float], str] | None]) -> str:
    columns = [
        [str(v) if form is None else form(float(v)) for v in frame[name]]
        for name, form in zip(frame.columns, formats, strict=True)
    ]
    return markdown(list(frame.columns), zip(*columns, strict=True))


def _budgets() -> str:
    return _formatted(budget_gaps(), [None, *[_percent] * 4, "{:.2f}".format])


def _dummies() -> str:
    return _formatted(dummy_gaps(), [None, "{:g}".format, *[_percent] * 5])


def _checkin() -> str:
    return _formatted(checkin_gaps(), ["{:g}".format, *["{:.2f}".format] * 7, "{:g}".format])


def _gradients() -> str:
    return _formatted(gradient_gaps(), ["{:g}".format, *[_percent] * 5])


def _table_two() -> str:
    number = "{:.1f}".format
    return _formatted(
        table_two().drop(columns="delta"),  # the page says it
        [None, number, number, lambda n: "" if math.isnan(n) else f"{n:.0f}", "{:.1e}".format, None],
    )


def _multi() -> str:
    return _formatted(
        multi_gaps(), [None, *[_percent] * 2, *["{:.2f}".format] * 4, "{:.3f}".format, "{:.2f}".format]
    )


def _variances() -> str:
    return _formatted(variance_gaps(), ["{:.0f}".format, *["{:.4f}".format] * 6])


def _safety() -> str:
    return _formatted(safety_margins(), ["{:g}".format, "{:.0f}".format, "{:.1e}".format])


def _dump_gaps() -> str:
    def ratio(value: float) -> str:
        return "" if math.isnan(value) else f"{value:.3g}"

    def messages(value: float) -> str:
        return "" if math.isnan(value) else f"{value:,.2f}" if value < 10 else f"{value:,.0f}"

    return _formatted(dump.gaps(), [None, None, ratio, ratio, messages, messages])


def _dump_savings() -> str:
    number = "{:.1f}".format
    return _formatted(dump.savings(), ["{:g}".format, number, number, "{:.2f}".format])


def _shuffle_gaussian_table() -> str:
    return _formatted(shuffle_gaussian.table_one(), [None, "{:.0f}".format, *[None] * 4])


def _shuffling_cost() -> str:
    return _formatted(shuffle_gaussian.shuffling_cost(), [None] * 6)


def _summation_accountings() -> str:
    table = summation.accountings()
    count = "{:,.0f}".format
    rows = [
        [
            str(int(row[0])),
            count(row[1]),
            count(row[2]),
            f"{count(row[3])} ± {count(row[4])}",
            *map(count, row[5:]),
        ]
        for row in table.to_numpy().tolist()
    ]
    header = ["Delta", "printed", "corrected", "read off Figure 1c", "exact, halving", "exact, best"]
    return markdown(header, rows)


def _summation_growth() -> str:
    sizes = (2, 100)
    few, many = (summation.best_design(size).design.messages / size for size in sizes)
    million = 1 + summation.best_design(100).design.messages / 1e6
    return (
        f"Noise messages per Delta rise from {few:,.0f} at Delta = {sizes[0]} to {many:,.0f} at Delta = {sizes[1]}: a\n"
        "little faster than in proportion to Delta, which the paper conjectures might be below its near-linear bound.\n"
        f"At a million users, Delta = {sizes[1]} takes {million:.2f} messages per user.\n"
    )


#: What can stand between the marks, by name.
TABLES: dict[str, Callable[[], str]] = {
    "errata random_population": partial(markdown_table, "random_population"),
    "errata dump": partial(markdown_table, "dump"),
    "errata segmented": partial(markdown_table, "segmented"),
    "errata shuffle_gaussian": partial(markdown_table, "shuffle_gaussian"),
    "shuffle gaussian table one": _shuffle_gaussian_table,
    "shuffle gaussian cost": _shuffling_cost,
    "summation accountings": _summation_accountings,
    "summation growth": _summation_growth,
    "errata summation": partial(markdown_table, "summation"),
    "notes random_population": partial(notes_table, "random_population"),
    "notes dump": partial(notes_table, "dump"),
    "notes segmented": partial(notes_table, "segmented"),
    "notes shuffle_gaussian": partial(notes_table, "shuffle_gaussian"),
    "notes summation": partial(notes_table, "summation"),
    "errata summary": summary_table,
    "errata review": review_table,
    "dump gaps": _dump_gaps,
    "dump savings": _dump_savings,
    "budgets": _budgets,
    "dummies": _dummies,
    "checkin": _checkin,
    "gradients": _gradients,
    "multi": _multi,
    "table two": _table_two,
    "variances": _variances,
    "safety": _safety,
}


def refreshed(text: str) -> str:
    """Return a page with all its tables computed anew.

    Raises
    ------
    ValueError
        If the page names a table that does not exist, or a mark has no counterpart.
    """
    found = list(_BLOCK.finditer(text))
    if text.count("<!-- begin ") != len(found) or text.count("<!-- end ") != len(found):
        raise ValueError("A table's begin mark has no matching end mark, or the other way round.")
    unknown = sorted({m["name"] for m in found} - set(TABLES))
    if unknown:
        raise ValueError(f"No table is named {', '.join(unknown)}. Known: {', '.join(sorted(TABLES))}.")
    return _BLOCK.sub(lambda m: f"{m[1]}{TABLES[m['name']]()}{m[4]}", text)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name)
        page.write_text(refreshed(page.read_text(encoding="utf-8")), encoding="utf-8")
