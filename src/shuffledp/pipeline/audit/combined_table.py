"""The audits of all tasks in one table, which exists only if no sound claim is exceeded."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from shuffledp.storage import verified

VIOLATION = "violation"
"""Status of a row whose claim is labeled as sound and does not hold."""


class Violated(RuntimeError):  # noqa: N818  (what the audit says)
    """Sound claims are exceeded."""


def joined(tables: Sequence[Path]) -> str:
    """The rows of several tables in one.

    Raises
    ------
    IntegrityError
        If a table does not match its checksum.
    Violated
        If a row is a violation; names them.
    """
    header, rows = "", []
    for path in tables:
        text = verified(path, path.with_suffix(".sha256")).read_text(encoding="utf-8")
        header, *more = text.splitlines(keepends=True)
        rows += more
    wrong = [
        row for row in csv.DictReader(io.StringIO("".join([header, *rows]))) if row["status"] == VIOLATION
    ]
    if wrong:
        named = "\n".join(
            f"  {row['task']} {row['protocol']} ({row['accounting']}, {row['part']}): claimed {row['claimed_delta']}, "
            f"found {row['found_delta'] or row['note']}; {row['setting']}"
            for row in wrong
        )
        raise Violated(f"{len(wrong)} sound claims do not hold:\n{named}")
    return "".join([header, *rows])
