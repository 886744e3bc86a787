"""Results for claims: a method's closed forms and cells under one accounting, by grid point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from shuffledp.pipeline.claims.outcomes import Untestable
from shuffledp.pipeline.experiments.bundle import Bundle
from shuffledp.pipeline.experiments.results import Results, read


@dataclass(frozen=True)
class Evidence:
    """Results of one paper; each result is read once."""

    results: Path
    paper: str
    methods: Mapping[str, Sequence[str]]
    _kept: dict[tuple[str, ...], Any] = field(default_factory=dict, compare=False, repr=False)

    def found(self, experiment: str, method: str) -> Results:
        """Return both result tables of a method, and their provenance."""
        if method not in self.methods.get(experiment, ()):
            raise Untestable(f"the configuration has no method {self.paper}.{experiment}.{method}")
        key = (experiment, method)
        if key not in self._kept:
            self._kept[key] = read({method: Bundle.locate(self.results, self.paper, experiment, method)})
        found: Results = self._kept[key]
        return found

    def cells(self, experiment: str, method: str, accounting: str) -> pd.DataFrame:
        """Return the feasible cells, indexed by the method's grid variables, with a column ``closed_form``."""
        key = (experiment, method, accounting)
        if key not in self._kept:
            self._kept[key] = self._cells(experiment, method, accounting)
        cells: pd.DataFrame = self._kept[key]
        return cells.copy()

    def _cells(self, experiment: str, method: str, accounting: str) -> pd.DataFrame:
        found = self.found(experiment, method)
        variables = list(found.provenance[method]["job"]["grid"])
        closed = found.values[found.values["kind"] != "simulated"].set_index("cell")["value"]
        # Accuracies of training runs are simulations, whatever their kind is called: a claim on them reads curves.
        closed = closed[~closed.index.duplicated()]
        chosen = found.cells[(found.cells["accounting"] == accounting) & (found.cells["status"] == "ok")]
        if chosen.empty:
            raise Untestable(f"{self.paper}.{experiment}.{method} has no result with {accounting} accounting")
        return chosen.assign(closed_form=chosen["cell"].map(closed)).set_index(variables).sort_index()

    def closed_forms(self, experiment: str, method: str, accounting: str) -> pd.Series[float]:
        """Return the column ``closed_form`` of `cells`. Raise `Untestable` if a cell has no closed form."""
        values = self.cells(experiment, method, accounting)["closed_form"]
        if values.isna().any():
            raise Untestable(f"{self.paper}.{experiment}.{method} has no closed form")
        return values
