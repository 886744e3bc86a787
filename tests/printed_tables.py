"""Tables that ``shuffledp compare`` prints, and the protocols that it compares."""

from __future__ import annotations

from shuffledp.comparison.comparing import best_accounting
from shuffledp.guarantees import GUARANTEES
from shuffledp.populations import Fixed, Population
from shuffledp.protocols import get
from shuffledp.protocols.base import ProtocolBase
from shuffledp.tasks import Budget, Task


def best(task: Task, name: str, others: Population | int, budget: Budget) -> ProtocolBase:
    """Return a protocol for a number of other users, calibrated as `compare` does it."""
    kind = get(task.kind, name)
    law = Fixed(others) if isinstance(others, int) else others
    return kind.calibrate(budget, law, task, accounting=best_accounting(kind))


def cells(text: str) -> dict[str, dict[str, str]]:
    """Return the printed cells by protocol and heading; a column `most` has the name of the column before it, too."""
    rows: dict[str, dict[str, str]] = {}
    headings: list[str] = []  # of the table in progress
    for line in text.replace("±95 %", "±95").splitlines():
        name, *values = line.split() or [""]
        if name == "protocol":
            headings = [
                f"most {values[i - 1]}" if value == "most" else value for i, value in enumerate(values)
            ]
        elif headings and len(values) == len(headings) and values[-1] in GUARANTEES:
            rows[name.rstrip("*°†")] = dict(zip(headings, values, strict=True))
    return rows
