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
        numbers = feasible[y]
    else:
        parameters = pd.DataFrame(map(json.loads, feasible["parameters"]), feasible.index)
        names = {f"{PARAMETER_PREFIX}{name}": name for name in parameters}
        if y not in names:
            quantities = ", ".join(sorted({*summary["metric"], *CELL_NUMBERS, *names}))
            raise ValueError(f"No quantity {y!r} in these results. Known: {quantities}.")
        numbers = parameters[names[y]]
    return feasible.assign(kind="computed", mean=numbers, standard_error=np.nan, count=1)
