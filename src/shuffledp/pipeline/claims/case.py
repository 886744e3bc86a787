"""What a rule sees: one claim, under one accounting and one target of the error, and how far it may search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from shuffledp.pipeline.claims.evidence import Evidence
from shuffledp.pipeline.claims.results_read import READS
from shuffledp.pipeline.claims.stated_claims import Claim

Effort = Literal["full", "quick"]


@dataclass(frozen=True)
class Case:
    """A claim under one accounting, which holds for everything that the rule reads: both sides of every ratio."""

    claim: Claim
    evidence: Evidence
    accounting: str
    target: str
    effort: Effort

    def cells(self, experiment: str, method: str) -> pd.DataFrame:
        """Feasible cells of a method under the accounting of the case; raises as `Evidence.cells`."""
        if method not in READS.get(self.claim.paper, {}).get(experiment, ()):
            raise ValueError(
                f"{self.claim.id} reads {self.claim.paper}.{experiment}.{method}, which "
                "pipeline/claims/results_read.py does not list."
            )
        return self.evidence.cells(experiment, method, self.accounting)

    def closed_forms(self, experiment: str, method: str) -> pd.Series[float]:
        """Closed forms of a method under the accounting of the case; raises as `cells` and `Evidence.closed_forms`."""
        self.cells(experiment, method)
        return self.evidence.closed_forms(experiment, method, self.accounting)

    def under(self, accounting: str) -> Case:
        """The same case for results that have a single accounting, whatever the case's: both sides of a ratio again."""
        return replace(self, accounting=accounting)

    def at_most(self, full: int, quick: int) -> int:
        """The size of a search: as the papers' scale has it, or for a first look."""
        return full if self.effort == "full" else quick
