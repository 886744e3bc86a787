"""Redraw the pictures of a finished run for a column of a two-column paper: ``make -C tools column-figures``.

python tools/column_figures.py results dump/fig5     all figures whose name begins with dump/fig5
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from shuffledp.pipeline.figures.drawing_jobs import DrawingJob
from shuffledp.pipeline.figures.overall_jobs import KEY
from shuffledp.pipeline.figures.paper import in_column
from shuffledp.pipeline.manifest import CHECKSUMS, DRAWINGS, MANIFEST
from shuffledp.storage import IntegrityError, read_verified


def write(results: Path, begins: str = "") -> list[Path]:
    """Write ``column/<paper>/<figure>.pdf`` below the results for every figure of the run; return the files.

    The run has written their settings to ``drawings.json``, so that later changes of the configuration have no effect.
    Raises ValueError if the run has no such figure, or is of an earlier version, which wrote no such file.
    """
    for path in sorted(results.glob(f"figures/*/{MANIFEST}")):
        if path.parent.name != KEY and not path.with_name(DRAWINGS).is_file():
            raise ValueError(
                f"{path.parent} is of an earlier version: run the workflow again, which draws it anew."
            )
    files = []
    jobs: list[DrawingJob] = [
        job
        for path in sorted(results.glob(f"figures/*/{DRAWINGS}"))
        for job in json.loads(read_verified(path, path.with_name(CHECKSUMS)))
    ]
    for job in jobs:
        if job["kind"] == "figure" and f"{job['paper']}/{job['id']}".startswith(begins):
            for look in job["looks"].values():
                look["dash"] = _dash_of(look["dash"])
            if job["points"]:
                job["points"]["table"] = results / "claims" / job["paper"] / Path(job["points"]["table"]).name
            path = results / "column" / job["paper"] / f"{job['id']}.pdf"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(in_column({**job, "results": str(results)}))
            files.append(path)
    if not files:
        raise ValueError(f"{results} has no figure whose name begins with {begins!r}.")
    return files


def _dash_of(written: Any) -> Any:
    """Return the dashes of a line in Matplotlib's notation, which JSON writes as lists."""
    return written if isinstance(written, str) else (written[0], tuple(written[1]))


def main(arguments: list[str]) -> int:
    """Write the figures and print their files; return 1 after an error, which is one line."""
    try:
        for file in write(Path(arguments[0]), *arguments[1:2]):
            print(file)
    except (ValueError, IntegrityError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
