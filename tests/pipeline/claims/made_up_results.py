"""Results for tests of claims: closed forms and messages of methods by grid point and accounting."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from shuffledp.pipeline.experiments import bundle as results

ACCOUNTINGS = ("printed", "exact")


def points(grid: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def write(
    folder: Path,
    name: str,
    grid: Mapping[str, Iterable[Any]],
    closed_form: Any,
    *,
    accountings: Iterable[str] = ACCOUNTINGS,
    messages: Any = None,
    simulated: float | Iterable[float] = 1e9,
) -> None:
    """Write a method's results; ``closed_form`` and ``messages`` are functions of accounting and point.

    If the closed form is None the cell is infeasible. No verdict may depend on the simulated value.
    """
    paper, experiment, method = name.split(".")
    repeats = [simulated] * 2 if isinstance(simulated, int | float) else list(simulated)
    cells, values = [], []
    for number, (point, accounting) in enumerate(product(points(grid), accountings)):
        value = closed_form(accounting, point)
        sent = messages(accounting, point) if messages else None
        known = {
            "cell": f"c{number}",
            "paper": paper,
            "experiment": experiment,
            "method": method,
            "accounting": accounting,
            "point": json.dumps(point),
            "status": "infeasible" if value is None else "ok",
            "messages_per_user": sent,
            "extra_messages": None if sent is None else sent - 1,
        }
        cells.append(dict.fromkeys(results.CELLS.names) | known)
        if value is not None:
            kinds = (("expected", 0, value), *(("simulated", i, v) for i, v in enumerate(repeats)))
            values += [
                {"cell": f"c{number}", "metric": "mse", "kind": kind, "repeat": repeat, "value": float(v)}
                for kind, repeat, v in kinds
            ]
    results.write(
        results.Bundle.locate(folder, paper, experiment, method),
        results.table(cells, results.CELLS),
        results.table(values, results.VALUES),
        {"job": {"grid": {variable: list(of) for variable, of in grid.items()}}},
    )
