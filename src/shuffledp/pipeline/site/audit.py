"""The audit of all protocols, a row per protocol and accounting on one page; the table itself has a row per claim."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from shuffledp.pipeline.manifest import ManifestError
from shuffledp.pipeline.site.csv_tables import verified_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TABLE = "claims/audit.csv"
OUTCOMES: Final = ("exceeds as labeled", "listed erratum", "undecided", "holds", "not audited")
"""Of a protocol under an accounting: the first of these that a claim of it has; a violation ends the run."""
PARTS: Final[Mapping[str, tuple[str, str]]] = {
    "grid": ("point of experiments", "points of experiments"),
    "enumerated": ("setting enumerated", "settings enumerated"),
    "sampled": ("setting run", "settings run"),
    "messages": ("law of messages", "laws of messages"),
    "estimate": ("mean estimate", "mean estimates"),
}
"""How claims were looked at, in words: of one, and of several."""
_COLUMNS = (
    *("protocol", "task", "accounting", "part", "setting", "label", "claimed_delta", "found_delta"),
    *("error", "side", "method", "confidence", "slack", "status", "note"),
)


@dataclass(frozen=True)
class Looked:
    """Findings of one way to look: number of claims, least slack with its setting, largest error over a claim."""

    part: str
    count: int
    slack: float
    tightest: str
    sides: str
    methods: tuple[str, ...]
    exceeded: int
    undecided: int
    error: float
    reasons: tuple[str, ...]

    @property
    def largest_error(self) -> str:
        """The largest rounding error over the claimed delta, in words; empty without one."""
        return f"{self.error:.1g}" if self.error else ""

    @property
    def least(self) -> str:
        """The least claimed delta over found delta, in words."""
        if math.isnan(self.slack):
            return ""
        return f"{self.slack:.4g}" if self.slack < 1e4 else "above 10,000"


@dataclass(frozen=True)
class Audited:
    """A protocol under an accounting."""

    task: str
    protocol: str
    accounting: str
    labels: tuple[str, ...]
    outcome: str
    looked: tuple[Looked, ...]

    @property
    def id(self) -> str:
        """Its place on the page."""
        return f"{self.task}-{self.protocol}-{self.accounting}"

    @property
    def rank(self) -> int:
        """Place of the outcome in `OUTCOMES`."""
        return OUTCOMES.index(self.outcome)

    def of(self, part: str) -> Looked:
        """What was found in one way."""
        return next(looked for looked in self.looked if looked.part == part)

    @property
    def slack(self) -> float | None:
        """The least slack of all, for sorting."""
        return min((one.slack for one in self.looked if not math.isnan(one.slack)), default=None)


def read(results: Path) -> tuple[Audited, ...]:
    """The audit by protocol and accounting, in the order of its table."""
    path = results / TABLE
    groups: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in verified_rows(path, _COLUMNS):
        if row["part"] not in PARTS:
            raise ManifestError(f"{path}: no part of the audit is called {row['part']!r}.")
        groups.setdefault((row["task"], row["protocol"], row["accounting"]), []).append(row)
    return tuple(_audited(*key, rows) for key, rows in groups.items())


def _audited(task: str, protocol: str, accounting: str, rows: Sequence[dict[str, str]]) -> Audited:
    statuses = {row["status"] for row in rows}
    outcome = next((one for one in OUTCOMES if one in statuses), "not audited")
    labels = tuple(dict.fromkeys(row["label"] for row in rows if row["label"]))
    looked = tuple(_looked(part, [row for row in rows if row["part"] == part]) for part in PARTS)
    return Audited(task, protocol, accounting, labels, outcome, looked)


def _looked(part: str, rows: Sequence[dict[str, str]]) -> Looked:
    done = [row for row in rows if row["status"] not in ("not audited", "infeasible")]
    tight = min((row for row in done if row["slack"]), key=lambda row: float(row["slack"]), default=None)
    reasons = Counter(row["note"] for row in rows if row["status"] == "not audited")
    return Looked(
        part,
        len(done),
        float(tight["slack"]) if tight else math.nan,
        tight["setting"] if tight else "",
        " and ".join(sorted({row["side"] for row in done if row["side"]})),
        tuple(dict.fromkeys(row["method"] for row in done)),
        sum(row["status"] not in ("holds", "undecided") for row in done),
        sum(row["status"] == "undecided" for row in done),
        max((float(row["error"]) / float(row["claimed_delta"]) for row in done if row["error"]), default=0.0),
        tuple(f"{why} ({times} times)" if times > 1 else why for why, times in reasons.items()),
    )
