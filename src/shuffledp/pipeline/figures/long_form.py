"""Rows of a quantity from a summary, from the cells, or from the parameters of protocols."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from shuffledp.pipeline.experiments.bundle import CELL_NUMBERS, PARAMETER_PREFIX, TRAINED_METRICS


def long_form(cells: pd.DataFrame, summary: pd.DataFrame, y: str) -> pd.DataFrame:
    """Return the rows of a quantity that are drawn, from the summary or from the cells."""
    measured: pd.DataFrame = summary[summary["metric"] == y]
    if not measured.empty or y in TRAINED_METRICS or (cells["status"] != "ok").all():
        return measured
    feasible = cells[cells["status"] == "ok"]
    if y in CELL_NUMBERS:
        return feasible.assign(kind="computed", mean=feasible[y], standard_error=np.nan, count=1)
    parameters = [json.loads(p) for p in feasible["parameters"]]
    name = y.removeprefix(PARAMETER_PREFIX)
    if not y.startswith(PARAMETER_PREFIX) or not any(name in p for p in parameters):
        named = (f"{PARAMETER_PREFIX}{parameter}" for p in parameters for parameter in p)
        quantities = sorted({*summary["metric"], *CELL_NUMBERS, *named})
        raise ValueError(f"No quantity {y!r} in these results. Known: {', '.join(quantities)}.")
    numbers = pd.Series([p.get(name, np.nan) for p in parameters], index=feasible.index)
    return feasible.assign(kind="computed", mean=numbers, standard_error=np.nan, count=1)
