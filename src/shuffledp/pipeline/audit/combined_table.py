"""Table of the audits of all protocols, published only if no sound claim is violated."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from shuffledp.storage import verified
from shuffledp.tasks import TASK_KINDS

#: Status of a row whose claim has a sound label but does not hold.
VIOLATION = "violation"


class ViolatedClaimError(RuntimeError):
    """Error that lists the rows of sound claims whose found delta exceeds the claimed delta."""


def join_tables(tables: Sequence[Path]) -> str:
    """Return the rows of several tables, by task and protocol. Raise `ViolatedClaimError` if a row is a violation."""
    header, rows = "", []
    for path in tables:
        text = verified(path, path.with_suffix(".sha256")).read_text(encoding="utf-8")
        header, *lines = text.splitlines(keepends=True)
        rows += lines
    read = list(csv.DictReader(io.StringIO("".join([header, *rows]))))
    wrong = [row for row in read if row["status"] == VIOLATION]
    if wrong:
        named = "\n".join(
            f"  {row['task']} {row['protocol']} ({row['accounting']}, {row['part']}): claimed {row['claimed_delta']}, "
            f"found {row['found_delta'] or row['note']}; {row['setting']}"
            for row in wrong
        )
        raise ViolatedClaimError(f"{len(wrong)} sound claims do not hold:\n{named}")
    places = [(TASK_KINDS.index(row["task"]), row["protocol"]) for row in read]
    return "".join([header, *(rows[i] for i in sorted(range(len(rows)), key=places.__getitem__))])
