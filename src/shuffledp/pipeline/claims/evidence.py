"""Tables of a paper's results for claims: a method's quantities by grid variable, under one accounting."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from shuffledp.pipeline.claims.claim_jobs import results_read
from shuffledp.pipeline.experiments.bundle import PARAMETER_PREFIX, TRAINED_METRICS, Bundle
from shuffledp.pipeline.experiments.results import Results, read
from shuffledp.pipeline.query import MissingResultsError, dataset


@dataclass(frozen=True)
class Evidence:
    """Results of one paper; each result is read once."""

    results: Path
    paper: str
    methods: Mapping[str, Sequence[str]]
    _kept: dict[tuple[str, ...], Any] = field(default_factory=dict, compare=False, repr=False)

    def dataset(self, method: str, at: Mapping[str, Any]) -> xr.Dataset:
        """Return the numbers of a method in an experiment under an accounting, both named by ``at``.

        Raises `MissingResultsError` if the run lacks them, and ValueError if ``reads`` of the paper's
        ``claims.yaml`` does, because the job of the claims would not depend on them.
        """
        experiment, accounting = str(at["experiment"]), str(at["accounting"])
        methods = results_read(self.paper).get(experiment, ())
        if method not in methods:
            raise ValueError(
                f"The claims read {self.paper}.{experiment}.{method}, which `reads` of papers/{self.paper}/claims.yaml "
                f"does not list. Known: {', '.join(methods) or 'none'}."
            )
        key = (experiment, method, accounting)
        if key not in self._kept:
            self._kept[key] = self._dataset(*key)
        data: xr.Dataset = self._kept[key]
        return data

    def _dataset(self, experiment: str, method: str, accounting: str) -> xr.Dataset:
        cells = self.cells(experiment, method, accounting)
        if "parameters" in cells and cells["parameters"].notna().all():
            parameters = pd.DataFrame([json.loads(text) for text in cells["parameters"]], cells.index)
            cells = cells.join(parameters.add_prefix(PARAMETER_PREFIX))
        variables = ("experiment", "accounting", *cells.index.names)
        numbers = cells.select_dtypes("number").astype(float)
        return dataset(numbers, f"{self.paper}.{experiment}.{method}", variables)

    def cells(self, experiment: str, method: str, accounting: str) -> pd.DataFrame:
        """Return the feasible cells by grid variable.

        Besides the columns of the cells, ``expected`` is the closed form; ``mean``, ``standard_error`` and ``count``
        belong to the simulation, and ``accuracy`` is the mean over training runs.
        """
        results = self._results(experiment, method)
        cells, summary = results.cells, results.summary()
        chosen = cells[(cells["accounting"] == accounting) & (cells["status"] == "ok")]
        if chosen.empty:
            raise MissingResultsError(
                f"{self.paper}.{experiment}.{method} has no result with {accounting} accounting"
            )
        # The accuracy of a training run is no error: a claim on it reads the curves of the run.
        errors = summary[~summary["metric"].isin(TRAINED_METRICS)]
        simulated = errors["kind"] == "simulated"
        sources = {
            "expected": (errors[~simulated], "mean"),
            **{name: (errors[simulated], name) for name in ("mean", "standard_error", "count")},
            **{metric: (summary[summary["metric"] == metric], "mean") for metric in TRAINED_METRICS},
        }
        numbers = {
            name: chosen["cell"].map(rows.groupby("cell")[column].first())
            for name, (rows, column) in sources.items()
        }
        return (
            chosen.assign(**numbers).set_index(list(results.provenance[method]["job"]["grid"])).sort_index()
        )

    def _results(self, experiment: str, method: str) -> Results:
        if method not in self.methods.get(experiment, ()):
            raise MissingResultsError(f"the configuration has no method {self.paper}.{experiment}.{method}")
        return read({method: Bundle.locate(self.results, self.paper, experiment, method)})
