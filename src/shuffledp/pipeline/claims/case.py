"""Argument of a rule: a query about a claim under one accounting, a target of the error, and the extent of searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from shuffledp.pipeline.claims.stated_claims import Claim
from shuffledp.pipeline.query import Query

Effort = Literal["full", "quick"]


@dataclass(frozen=True, kw_only=True)
class Case(Query):
    """Query for one claim under one accounting, for all results that the rule reads."""

    claim: Claim
    target: str = "-"
    effort: Effort = "full"

    @property
    def accounting(self) -> str:
        """Accounting of all numbers."""
        return str(self.at["accounting"])

    def under(self, accounting: str) -> Self:
        """Return the same case under another accounting, for results with only one accounting."""
        return self.where(accounting=accounting)

    def at_most(self, full: int, quick: int) -> int:
        """Return the size of a search: ``full`` or ``quick`` by the effort."""
        return {"full": full, "quick": quick}[self.effort]
