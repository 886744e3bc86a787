"""Every claim of the papers with its verdicts, for one page on which they can be sorted and searched."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from shuffledp.pipeline.manifest import ManifestError
from shuffledp.pipeline.site.csv_tables import verified_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

TABLE = "claims/claims.csv"
OUTCOMES = ("holds", "in part", "fails", "untestable")
"""In the order in which the pages count and sort them."""
_NOTHING = "-"


@dataclass(frozen=True)
class Judgment:
    """The verdict on a claim under one accounting and for one target of the error; both may be empty."""

    accounting: str
    target: str
    measured: str
    uncertainty: str
    verdict: str
    why: str

    @property
    def terms(self) -> str:
        """Under which accounting, and against what the error is measured, in words."""
        against = f"error against the {self.target}" if self.target else ""
        return ", ".join(part for part in (self.accounting, against) if part)


@dataclass(frozen=True)
class Claim:
    """A claim, or an ordering that follows from claims, with its verdicts; ``overall`` is the one over all of them."""

    id: str
    kind: str
    paper: str
    where: str
    claim: str
    stated: str
    overall: str
    expected: str
    difference: str
    figure: str
    errata: tuple[str, ...]
    judgments: tuple[Judgment, ...]

    @property
    def rank(self) -> int:
        """Place of the verdict in `OUTCOMES`."""
        return OUTCOMES.index(self.overall)


_OF_JUDGMENT = tuple(field.name for field in fields(Judgment))
_OF_CLAIM = tuple(field.name for field in fields(Claim) if field.name not in ("errata", "judgments"))


def read(results: Path) -> tuple[Claim, ...]:
    """The claims in the order of their table."""
    path = results / TABLE
    rows: dict[str, list[dict[str, str]]] = {}
    for row in verified_rows(path, (*_OF_CLAIM, "errata", *_OF_JUDGMENT)):
        if unknown := {row["verdict"], row["overall"]} - set(OUTCOMES):
            raise ManifestError(f"{path}, {row['id']}: no verdict is called {sorted(unknown)[0]!r}.")
        rows.setdefault(row["id"], []).append(row)
    return tuple(_claim(path, group) for group in rows.values())


def _claim(path: Path, rows: list[dict[str, str]]) -> Claim:
    first = rows[0]
    for row in rows[1:]:
        if differing := [name for name in (*_OF_CLAIM, "errata") if row[name] != first[name]]:
            raise ManifestError(f"{path}, {first['id']}: its rows differ in {', '.join(differing)}.")
    judgments = tuple(
        Judgment(**{name: row[name] if row[name] != _NOTHING else "" for name in _OF_JUDGMENT})
        for row in rows
    )
    return Claim(
        **{name: first[name] for name in _OF_CLAIM},
        errata=tuple(first["errata"].split()),
        judgments=judgments,
    )


def counts(claims: Iterable[Claim]) -> Mapping[str, int]:
    """How many claims have each outcome, in the order of `OUTCOMES`."""
    found = Counter(claim.overall for claim in claims)
    return {outcome: found[outcome] for outcome in OUTCOMES}
