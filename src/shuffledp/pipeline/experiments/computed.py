"""Methods with a function: a curve without simulation, with one number per cell."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from shuffledp.pipeline.experiments.cell_work import Row, Work, value_row
from shuffledp.pipeline.experiments.configurable_functions import NAMED_FUNCTIONS, NamedFunction
from shuffledp.pipeline.experiments.job_parts import population_from
from shuffledp.pipeline.experiments.seeds import canonical_json


class Computed(Work):
    """Evaluation of a function of the accounting."""

    @cached_property
    def _named(self) -> NamedFunction:
        return NAMED_FUNCTIONS[str(self.job.function)]

    @property
    def accountings(self) -> tuple[str, ...]:
        """All accountings of the job; a function without this argument has the same curve under each."""
        return tuple(self.job.accounting)

    def labels(self) -> Row:
        """Return the method's name and the function's label."""
        return {"label": self.job.method, "protocol": self.job.function}

    def cell(
        self, point: Mapping[str, Any], accounting: str, resolved: Mapping[str, Any]
    ) -> tuple[Row, list[Row]]:
        """Return the number of one cell."""
        arguments = dict(resolved["arguments"])
        if "population" in arguments:
            arguments["population"] = population_from(arguments["population"])
        if "accounting" in inspect.signature(self._named.function).parameters:
            arguments["accounting"] = accounting
        value = float(self._named.function(**arguments))
        rows = [value_row(self.job.returns, "computed", value)]
        standing = self._named.standing(arguments)
        labels: Row = {k: float(arguments[k]) for k in ("eps_local", "delta") if k in arguments}
        labels |= {"guarantee": standing.guarantee, "guarantee_note": standing.note}
        if self.job.returns == "eps":
            labels["eps"] = value
        return labels | {"parameters": canonical_json({})}, rows


work = Computed
