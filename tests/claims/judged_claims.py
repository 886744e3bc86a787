"""Claims of the catalogue judged on results that a test made up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shuffledp.claims import catalogue
from shuffledp.claims.evidence import Evidence
from shuffledp.claims.judging import rows, rules
from shuffledp.claims.reads import READS

Verdicts = dict[tuple[str, str], dict[str, str]]


def claim(key: str) -> catalogue.Claim:
    """A claim by its id."""
    return next(one for paper in catalogue.PAPERS for one in catalogue.claims(paper) if one.id == key)


def judged(
    folder: Path,
    key: str,
    methods: Mapping[str, Any] | None = None,
    effort: str = "quick",
    scale: str = "paper",
) -> Verdicts:
    """The rows of a claim by accounting and target, on the results in a folder."""
    one = claim(key)
    evidence = Evidence(folder, one.paper, READS[one.paper] if methods is None else methods)
    found = rows(one, rules(one.paper)[one.rule], evidence, effort, scale)
    return {(row["accounting"], row["target"]): row for row in found}


def outcomes(folder: Path, key: str, **how: Any) -> dict[str, str]:
    """Verdicts of a claim by accounting, for the first of its targets."""
    found: dict[str, str] = {}
    for (accounting, _), row in judged(folder, key, **how).items():
        found.setdefault(accounting, row["verdict"])
    return found
