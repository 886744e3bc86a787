"""CPU time and memory to count a column of a CSV file with very many rows.

``python benchmarks/own_data.py [--rows N] [--page]``

Writes a file of N users, counts each of its columns in a separate process and removes the file; --page writes the table
into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp.pipeline.doc_blocks import write_block

PAGE = Path(__file__).resolve().parents[1] / "docs/benchmarks.md"
ROWS = 100_000_000
#: Number of rows in a block that is written repeatedly: the reader's work depends on cells, not on their order.
TOGETHER = 1 << 16
COLORS, SHARES = ("red", "green", "blue"), (0.6, 0.3, 0.1)
#: Columns, and the arguments for counting each column.
ASKED: dict[str, dict[str, Any]] = {
    "minutes": {"max_value": 60, "levels": 120},
    "color": {"values": COLORS},
}
WHAT = {"minutes": "numbers, clipped and rounded to levels", "color": "values of a given domain"}


@dataclass(frozen=True)
class Measured:
    """CPU seconds of the count, number of counted users, and peak memory of the whole process in bytes."""

    cpu: float
    users: int
    memory: int


def write(path: Path, rows: int) -> None:
    """Write a file with a header and `rows` users."""
    rng = np.random.default_rng(1)
    size = min(rows, TOGETHER)
    colors = rng.choice(COLORS, size, p=SHARES).tolist()
    lines = [
        f"{color},{number:.1f}\n"
        for color, number in zip(colors, rng.exponential(20, size).tolist(), strict=True)
    ]
    block = "".join(lines)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("color,minutes\n")
        for _ in range(rows // size):
            file.write(block)
        file.write("".join(lines[: rows % size]))


def count(path: Path, column: str) -> Measured:
    """Count a column in this process."""
    from shuffledp.comparison import count_column

    begin = time.process_time()
    counted = count_column(path, column, **ASKED[column])
    cpu = time.process_time() - begin
    with Path("/proc/self/status").open(encoding="ascii") as status:
        memory = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
    return Measured(cpu, counted.users, memory)


def measured(path: Path, column: str) -> Measured:
    """Count a column in a separate process."""
    done = subprocess.run(
        [sys.executable, __file__, "--count", str(path), column], capture_output=True, text=True, check=True
    )
    return Measured(**json.loads(done.stdout))


def table(found: dict[str, Measured], size: int) -> list[str]:
    """Return the rows of the page."""
    return [
        "| column of a CSV file | rows | file | CPU time | rows per second | memory of the process |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {WHAT[column]} | {one.users:,} | {size / 1e9:.2f} GB | {one.cpu:.0f} s | "
            f"{one.users / one.cpu:.1e} | {one.memory / (1 << 20):.0f} MiB |"
            for column, one in found.items()
        ),
    ]


def main() -> None:
    """Measure and print, and write the page with --page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks.md")
    parser.add_argument("--count", nargs=2, metavar=("FILE", "COLUMN"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.count:
        print(json.dumps(vars(count(Path(given.count[0]), given.count[1]))))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "users.csv"
        write(path, given.rows)
        text = "\n".join(table({column: measured(path, column) for column in ASKED}, path.stat().st_size))
    print(text)
    if given.page:
        write_block(PAGE, "own data", text)


if __name__ == "__main__":
    main()
