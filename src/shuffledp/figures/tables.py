"""Tables: one number of each cell, spread over rows and columns, as CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate

from shuffledp.figures.plotter import long_form


def as_table(
    entry: Mapping[str, Any],
    cells: pd.DataFrame,
    summary: pd.DataFrame,
    orders: Mapping[str, Sequence[Any]],
) -> dict[str, str]:
    """The three forms of a table.

    Parameters
    ----------
    entry : mapping
        ``rows`` and ``columns`` (grid variables, ``method``, ``accounting``), ``value`` (a metric or a number of the
        cell), ``format`` of the numbers.
    cells, summary : DataFrame
        Results of the table's experiment.
    orders : mapping
        Values of every axis in the order in which they are to appear.

    Returns
    -------
    dict
        ``csv`` with full precision, ``md`` and ``tex`` formatted. Infeasible cells read "infeasible".
    """
    wide = spread(entry, cells, summary, orders)
    shown = wide.map(lambda v: v if isinstance(v, str) else _formatted(v, entry.get("format", ".4g")))
    heads = [" ".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in shown.columns]
    body = [
        [*(_plain(i) for i in (index if isinstance(index, tuple) else (index,))), *row]
        for index, row in zip(shown.index, shown.to_numpy().tolist(), strict=True)
    ]
    headers = [*map(str, wide.index.names), *heads]
    flat = wide.copy()
    flat.columns = pd.Index(heads)
    return {
        "csv": flat.to_csv(float_format="%.10g", lineterminator="\n"),
        "md": tabulate(body, headers, tablefmt="github", disable_numparse=True) + "\n",
        "tex": tabulate(body, headers, tablefmt="latex_booktabs", disable_numparse=True) + "\n",
    }


def in_three_forms(frame: pd.DataFrame) -> dict[str, str]:
    """A finished table of texts as CSV, Markdown and LaTeX."""
    body = frame.to_numpy().tolist()
    return {
        "csv": frame.to_csv(index=False, lineterminator="\n"),
        "md": tabulate(body, list(frame.columns), tablefmt="github", disable_numparse=True) + "\n",
        "tex": tabulate(body, list(frame.columns), tablefmt="latex_booktabs", disable_numparse=True) + "\n",
    }


def spread(
    entry: Mapping[str, Any],
    cells: pd.DataFrame,
    summary: pd.DataFrame,
    orders: Mapping[str, Sequence[Any]],
) -> pd.DataFrame:
    """The table as a data frame; a method that does not depend on an axis has the same number all along it."""
    rows, columns = list(entry["rows"]), list(entry["columns"])
    numbers = long_form(cells, summary, entry["value"])
    preferred = (
        numbers.sort_values("kind").groupby("cell", sort=False).head(1)
    )  # computed, expected, simulated
    gaps = cells[cells["status"] != "ok"].assign(mean="infeasible")
    every = pd.concat([preferred.astype({"mean": object}), gaps.astype({"mean": object})], ignore_index=True)
    shown = _along(every, [*rows, *columns], orders).set_index([*rows, *columns])["mean"].unstack(columns)
    shown = shown.loc[_sorted(shown.index, orders), _sorted(shown.columns, orders)]
    return shown.astype(object).where(shown.notna(), "")


def _along(frame: pd.DataFrame, axes: list[str], orders: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    for axis in axes:
        constant = frame[axis].isna() if axis in frame else pd.Series(True, frame.index)
        copies = [frame[constant].assign(**{axis: value}) for value in orders[axis]]
        frame = pd.concat([frame[~constant], *(c for c in copies if len(c))], ignore_index=True)
    return frame


def _sorted(index: pd.Index, orders: Mapping[str, Sequence[Any]]) -> list[Any]:
    def position(label: Any) -> list[int]:
        parts = label if isinstance(label, tuple) else (label,)
        return [
            list(orders[name]).index(part) for name, part in zip(map(str, index.names), parts, strict=True)
        ]

    return sorted(index, key=position)


def _formatted(value: Any, form: str) -> str:
    return (
        "" if value is None or (isinstance(value, float) and np.isnan(value)) else format(float(value), form)
    )


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
