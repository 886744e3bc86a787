"""Argument of a rule: a claim, an accounting, a target of the error, and the extent of searches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from shuffledp.pipeline.claims.evidence import Evidence
from shuffledp.pipeline.claims.results_read import results_read
from shuffledp.pipeline.claims.stated_claims import Claim

Effort = Literal["full", "quick"]


@dataclass(frozen=True)
class Case:
    """One claim under one accounting, for all results that the rule reads."""

    claim: Claim
    evidence: Evidence
    accounting: str
    target: str
    effort: Effort

    def cells(self, experiment: str, method: str) -> pd.DataFrame:
        """Return a method's feasible cells under the case's accounting; raises the errors of `Evidence.cells`."""
        if method not in results_read(self.claim.paper).get(experiment, ()):
            raise ValueError(
                f"{self.claim.id} reads {self.claim.paper}.{experiment}.{method}, which "
                f"pipeline/papers/{self.claim.paper}/results_read.py does not list."
            )
        return self.evidence.cells(experiment, method, self.accounting)

    def closed_forms(self, experiment: str, method: str) -> pd.Series[float]:
        """Return a method's closed forms under the case's accounting; raises the errors of `Evidence.closed_forms`."""
        self.cells(experiment, method)
        return self.evidence.closed_forms(experiment, method, self.accounting)

    def under(self, accounting: str) -> Case:
        """Return the same case under another accounting, for results with only one accounting."""
        return replace(self, accounting=accounting)

    def at_most(self, full: int, quick: int) -> int:
        """Return the size of a search: ``full`` or ``quick`` by the effort."""
        return {"full": full, "quick": quick}[self.effort]
