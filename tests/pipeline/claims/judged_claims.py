"""Claims of the catalogue, judged on results that a test creates in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest

from shuffledp.pipeline.claims import stated_claims
from shuffledp.pipeline.claims.claim_jobs import papers_with_claims, results_read
from shuffledp.pipeline.claims.evidence import Evidence
from shuffledp.pipeline.claims.verdict_rows import rows
from shuffledp.pipeline.query import MissingResultsError

ACCOUNTINGS = ("printed", "exact")
Verdicts = dict[tuple[str, str], dict[str, str]]
#: By experiment, the grid, and by method a constant or a function of accounting and point.
Planted = Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]


def points(grid: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the points of a grid."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


@dataclass(frozen=True)
class InMemory(Evidence):
    """Results in memory; a cell is an error, a dict with ``expected`` and other columns, or None if infeasible."""

    planted: Planted = field(default_factory=dict)
    accountings: tuple[str, ...] = ACCOUNTINGS

    def cells(self, experiment: str, method: str, accounting: str) -> pd.DataFrame:
        """Return the cells as `Evidence.cells` does."""
        grid, methods = self.planted.get(experiment, ({}, {}))
        value, found = methods.get(method) if accounting in self.accountings else None, []
        for point in points(grid):
            cell = value(accounting, point) if callable(value) else value
            if cell is not None:
                known = cell if isinstance(cell, dict) else {"expected": cell}
                found.append({"eps_local": float("nan"), **point, **known})
        if not found:
            raise MissingResultsError(
                f"nothing was planted for {experiment}.{method} with {accounting} accounting"
            )
        cells = pd.DataFrame(found).set_index(list(grid)).sort_index()
        if "messages_per_user" in cells:
            cells["extra_messages"] = cells["messages_per_user"] - 1
        return cells


def claim(key: str) -> stated_claims.Claim:
    """Return a claim by its id."""
    return next(one for paper in papers_with_claims() for one in stated_claims.claims(paper) if one.id == key)


def judged(planted: Planted, key: str, accountings: tuple[str, ...] = ACCOUNTINGS) -> Verdicts:
    """Return the rows of a claim by accounting and target, from results in memory."""
    one = claim(key)
    evidence = InMemory(Path(), one.paper, results_read(one.paper), planted=planted, accountings=accountings)
    return {(row["accounting"], row["target"]): row for row in rows(one, evidence, "quick", "paper")}


def outcomes(planted: Planted, key: str, **how: Any) -> dict[str, str]:
    """Return a claim's verdicts by accounting, for its first target."""
    found: dict[str, str] = {}
    for (accounting, _), row in judged(planted, key, **how).items():
        found.setdefault(accounting, row["verdict"])
    return found


def assert_changes(planted: Callable[[Any], Planted], verdicts: Mapping[Any, str], *keys: str) -> None:
    """Check that claims have these verdicts, under every accounting, by the argument of the planted results."""
    for key in keys:
        found = {argument: {*outcomes(planted(argument), key).values()} for argument in verdicts}
        assert found == {argument: {verdict} for argument, verdict in verdicts.items()}, key


def assert_wrong_is_seen(
    module: ModuleType, name: str, wrong: Callable[..., Any], failing: Mapping[str, list[str]]
) -> None:
    """Check that claims without results fail under these accountings if a function of a module is wrong.

    The wrong function has the right one as its first argument.
    """

    def fails(key: str) -> list[str]:
        return [accounting for accounting, outcome in outcomes({}, key).items() if outcome == "fails"]

    assert not any(map(fails, failing))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, partial(wrong, getattr(module, name)))
        assert {key: fails(key) for key in failing} == failing
