"""Times of the library and the accountant by version, to detect functions that became slower.

`make -C tools benchmarks` and `make -C tools accountant-times` store their times in the CSV file in this folder, a line
each, and write the latest versions into docs/benchmarks.md.
"""

import csv
import subprocess
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from shuffledp.pipeline.doc_blocks import write_block

ROOT = Path(__file__).resolve().parents[1]
KEPT = Path(__file__).with_suffix(".csv")
PAGE = ROOT / "docs/benchmarks.md"
SHOWN = 5
"""Number of versions on the page."""


def of_code() -> str:
    """Return the release and the last commit that changed src/, with ``+`` for uncommitted changes."""
    last = ("git", "log", "-1", "--format=%h", "--abbrev=8", "--", "src")
    commit = subprocess.run(last, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    changed = subprocess.run(("git", "diff", "--quiet", "HEAD", "--", "src"), cwd=ROOT).returncode
    return f"{version('shuffledp')} {commit}{'+' if changed else ''}"


def read(kept: Path) -> dict[str, dict[str, float]]:
    """Return milliseconds by version and measured call; the latest version is last."""
    found: dict[str, dict[str, float]] = {}
    with kept.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["version"], {})[row["what"]] = float(row["ms"])
    return found


def keep(seconds: Mapping[str, float], code: str, kept: Path = KEPT, page: Path = PAGE) -> None:
    """Store a version's times in place of its earlier ones, and write the latest versions into the page."""
    every = read(kept)
    every.setdefault(code, {}).update({what: 1e3 * time for what, time in seconds.items()})
    with kept.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(("version", "what", "ms"))
        for name, times in every.items():
            lines.writerows((name, what, f"{time:.4g}") for what, time in times.items())
    write_block(page, "times by version", "\n".join(table(read(kept))))


def table(every: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield the lines of the table in Markdown: a column per version."""
    shown = list(every.items())[-SHOWN:]
    yield f"| mean time of one answer, ms | {' | '.join(name for name, _ in shown)} |"
    yield f"|---|{'---:|' * len(shown)}"
    for what in dict.fromkeys(what for _, times in shown for what in times):
        cells = (f"{times[what]:.3g}" if what in times else "" for _, times in shown)
        yield f"| {what} | {' | '.join(cells)} |"
