"""Made-up cells of protocols, and their errors."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from shuffledp.pipeline.figures.drawings import Drawing


def points_of(drawing: Drawing, grid: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield every method of a drawing with its accountings and the points of a grid at which it is computed."""
    experiment = drawing.experiment
    for method in dict.fromkeys(drawing.entry["methods"]):
        used = experiment.variables(experiment.methods[method])
        own = {name: values for name, values in grid.items() if name in used}
        for accounting, *point in product(experiment.accountings([method]), *own.values()):
            yield {"method": method, "accounting": accounting, **dict(zip(own, point, strict=True))}


def cells_of(columns: str, *rows: tuple[object, ...]) -> pd.DataFrame:
    """Return cells among 100 users; ``error`` is the closed form."""
    cells = pd.DataFrame(rows, columns=columns.split())
    return cells.assign(cell=[f"cell{i}" for i in range(len(rows))], users_expected=100.0, parameters="{}")


def summary_of(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the closed forms of feasible cells, and simulated errors half above them."""
    feasible = cells[cells["status"] == "ok"].assign(metric="mse", standard_error=float("nan"))
    return pd.concat(
        feasible.assign(kind=kind, mean=by * feasible["error"])
        for kind, by in (("simulated", 1.5), ("expected", 1.0))
    )
