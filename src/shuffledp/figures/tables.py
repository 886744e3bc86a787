"""Tables: one number of each cell, spread over rows and columns, as CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate

from shuffledp.figures.plotter import long_form


def as_table(entry: Mapping[str, Any], cells: pd.DataFrame, summary: pd.DataFrame) -> dict[str, str]:
    """The three forms of a table.

    Parameters
    ----------
    entry : mapping
        ``rows`` and ``columns`` (grid variables, ``method``, ``accounting``), ``value`` (a metric or a number of the
        cell), ``format`` of the numbers.
    cells, summary : DataFrame
        Results of the table's experiment.

    Returns
    -------
    dict
        ``csv`` with full precision, ``md`` and ``tex`` formatted. Infeasible cells read "infeasible".
    """
    wide = spread(entry, cells, summary)
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


def spread(entry: Mapping[str, Any], cells: pd.DataFrame, summary: pd.DataFrame) -> pd.DataFrame:
    """The table as a data frame, in the order of the results."""
    rows, columns = list(entry["rows"]), list(entry["columns"])
    numbers = long_form(cells, summary, entry["value"])
    preferred = (
        numbers.sort_values("kind").groupby("cell", sort=False).head(1)
    )  # computed, expected, simulated
    gaps = cells[cells["status"] != "ok"].assign(mean="infeasible")
    every = pd.concat([preferred.astype({"mean": object}), gaps.astype({"mean": object})], ignore_index=True)
    return every.pivot_table(index=rows, columns=columns, values="mean", aggfunc="first", sort=False).fillna(
        ""
    )


def _formatted(value: Any, form: str) -> str:
    return (
        "" if value is None or (isinstance(value, float) and np.isnan(value)) else format(float(value), form)
    )


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
