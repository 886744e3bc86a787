"""Audit of all protocols on a page, one row per protocol and accounting; the audit's table has one row per claim."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from shuffledp.pipeline.site.csv_tables import Row, Rows
from shuffledp.storage import verified_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TABLE = "claims/audit.csv"
#: Statuses in order of importance: a protocol under an accounting has the first status of its claims; a violation ends
#: the run.
OUTCOMES: Final = ("exceeds as labeled", "listed erratum", "undecided", "holds", "not audited")
#: Names of the parts of the audit, for one claim and for several.
PARTS: Final[Mapping[str, tuple[str, str]]] = {
    "grid": ("point of experiments", "points of experiments"),
    "enumerated": ("setting enumerated", "settings enumerated"),
    "messages": ("law of messages", "laws of messages"),
}


def read(results: Path) -> Rows:
    """Return the audit by protocol and accounting, in the order of its table."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in verified_rows(results / TABLE):
        groups.setdefault((row["task"], row["protocol"], row["accounting"]), []).append(row)
    return tuple(_audited(*key, rows) for key, rows in groups.items())


def _audited(task: str, protocol: str, accounting: str, rows: Sequence[Row]) -> Row:
    statuses = {row["status"] for row in rows}
    outcome = next((status for status in OUTCOMES if status in statuses), "not audited")
    return {
        "id": f"{task}-{protocol}-{accounting}",
        "task": task,
        "protocol": protocol,
        "accounting": accounting,
        "outcome": outcome,
        "rank": OUTCOMES.index(outcome),
        "labels": dict.fromkeys(row["label"] for row in rows if row["label"]),
        "looked": {part: _looked([row for row in rows if row["part"] == part]) for part in PARTS},
    }


def _looked(rows: Sequence[Row]) -> Row:
    audited = [row for row in rows if row["status"] not in ("not audited", "infeasible")]
    tight = min((row for row in audited if row["slack"]), key=lambda row: float(row["slack"]), default=None)
    slack = float(tight["slack"]) if tight else 0.0
    least = f"{slack:.4g}" if tight else ""
    if slack >= 1e4:
        least = "above 10,000"
    error = max(
        (float(row["error"]) / float(row["claimed_delta"]) for row in audited if row["error"]), default=0.0
    )
    reasons = Counter(row["note"] for row in rows if row["status"] == "not audited")
    return {
        "count": len(audited),
        "slack": slack,
        "least": least,
        "tightest": tight["setting"] if tight else "",
        "sides": " and ".join(sorted({row["side"] for row in audited if row["side"]})),
        "methods": dict.fromkeys(row["method"] for row in audited),
        "exceeded": sum(row["status"] not in ("holds", "undecided") for row in audited),
        "undecided": sum(row["status"] == "undecided" for row in audited),
        "largest_error": f"{error:.1g}" if error else "",
        "reasons": [f"{why} ({times} times)" if times > 1 else why for why, times in reasons.items()],
    }
