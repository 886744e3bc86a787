"""Claims of the catalogue, judged on results that a test creates in files or in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import made_up_results
import pandas as pd

from shuffledp.pipeline.claims import stated_claims
from shuffledp.pipeline.claims.claim_jobs import papers_with_claims, results_read
from shuffledp.pipeline.claims.evidence import Evidence
from shuffledp.pipeline.claims.verdict_rows import rows
from shuffledp.pipeline.query import MissingResultsError

Verdicts = dict[tuple[str, str], dict[str, str]]
#: By experiment, the grid, and by method a constant or a function of accounting and point.
Planted = Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]


@dataclass(frozen=True)
class InMemory(Evidence):
    """Results in memory; a cell is an error, or a dict with the columns of a cell and ``expected``."""

    planted: Planted = field(default_factory=dict)
    accountings: tuple[str, ...] = made_up_results.ACCOUNTINGS

    def cells(self, experiment: str, method: str, accounting: str) -> pd.DataFrame:
        """Return the cells as `Evidence.cells` does."""
        grid, methods = self.planted.get(experiment, ({}, {}))
        if method not in methods or accounting not in self.accountings:
            raise MissingResultsError(
                f"nothing was planted for {experiment}.{method} with {accounting} accounting"
            )
        value, points = methods[method], made_up_results.points(grid)
        found = [value(accounting, point) if callable(value) else value for point in points]
        found = [
            {"eps_local": float("nan"), **(c if isinstance(c, dict) else {"expected": c})} for c in found
        ]
        kept = [
            {**point, **cell}
            for point, cell in zip(points, found, strict=True)
            if cell["expected"] is not None
        ]
        return pd.DataFrame(kept).set_index(list(grid)).sort_index()


def claim(key: str) -> stated_claims.Claim:
    """Return a claim by its id."""
    return next(one for paper in papers_with_claims() for one in stated_claims.claims(paper) if one.id == key)


def judged(
    results: Path | Planted, key: str, effort: str = "quick", scale: str = "paper", accountings: Any = None
) -> Verdicts:
    """Return the rows of a claim by accounting and target, from the results in a folder or in memory."""
    one = claim(key)
    if isinstance(results, Path):
        evidence = Evidence(results, one.paper, results_read(one.paper))
    else:
        known = accountings or made_up_results.ACCOUNTINGS
        evidence = InMemory(Path(), one.paper, results_read(one.paper), planted=results, accountings=known)
    found = rows(one, evidence, effort, scale)
    return {(row["accounting"], row["target"]): row for row in found}


def outcomes(results: Path | Planted, key: str, **how: Any) -> dict[str, str]:
    """Return a claim's verdicts by accounting, for its first target."""
    found: dict[str, str] = {}
    for (accounting, _), row in judged(results, key, **how).items():
        found.setdefault(accounting, row["verdict"])
    return found
