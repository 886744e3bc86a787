"""Methods with a function: a curve without simulation, one number per cell."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from shuffledp.doors import behind
from shuffledp.experiments.parts import population_from
from shuffledp.experiments.seeds import canonical_json
from shuffledp.experiments.work import Row, Work


class Computed(Work):
    """Evaluates a function of the accounting."""

    @cached_property
    def _function(self) -> Callable[..., Any]:
        found: Callable[..., Any] = behind("shuffledp.accounting", self.job["function"])
        return found

    @property
    def accountings(self) -> tuple[str, ...]:
        """All of the job's; a function without such an argument gives the same curve under each."""
        return tuple(self.job["accounting"])

    def labels(self) -> Row:
        """The method's own name, and the function's."""
        return {"label": self.job["method"], "protocol": self.job["function"]}

    def cell(
        self, point: Mapping[str, Any], accounting: str, resolved: Mapping[str, Any]
    ) -> tuple[Row, list[Row]]:
        """One number."""
        arguments = dict(resolved["arguments"])
        if "population" in arguments:
            arguments["population"] = population_from(arguments["population"])
        if "accounting" in inspect.signature(self._function).parameters:
            arguments["accounting"] = accounting
        value = float(self._function(**arguments))
        rows = [{"metric": self.job["returns"], "kind": "computed", "repeat": 0, "value": value}]
        known: Row = {k: float(arguments[k]) for k in ("eps_local", "delta") if k in arguments}
        if self.job["returns"] == "eps":
            known["eps"] = value
        return known | {"parameters": canonical_json({})}, rows


work = Computed
