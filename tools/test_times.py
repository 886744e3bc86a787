"""Measure the CPU seconds of `make tests` by file, for docs/benchmarks.md.

As a pytest plugin this file records the CPU seconds of every test and of its child processes. Work for several tests
counts for the first test.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from shuffledp.pipeline.doc_blocks import write_block

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/benchmarks.md"
#: Folder of the plugin's records: a line per test, a file per process.
RECORDS = ROOT / "logs/test-times"
#: Number of files with a row each.
ROWS = 25


def cpu_seconds(who: int) -> float:
    """Return user and system time of this process, or of its finished children."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def _all() -> float:
    return cpu_seconds(resource.RUSAGE_SELF) + cpu_seconds(resource.RUSAGE_CHILDREN)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Append the name and the CPU seconds of a test to the file of this process."""
    before = _all()
    try:
        return (yield)
    finally:
        with (RECORDS / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps([item.nodeid, _all() - before]) + "\n")


def by_file() -> tuple[Counter[str], Counter[str]]:
    """Return CPU seconds and numbers of tests by file."""
    seconds: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for path in sorted(RECORDS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            test, taken = json.loads(line)
            file = test.split("::")[0]
            seconds[file] += taken
            tests[file] += 1
    return seconds, tests


def table(wall: float, cpu: float, load: float) -> str:
    """Return the files with the highest cost as a Markdown table, with the remaining files and the total."""
    seconds, tests = by_file()
    shown = seconds.most_common(ROWS)
    rows = [(f"`{file}`", tests[file], taken) for file, taken in shown]
    left = seconds.most_common()[ROWS:]
    rows.append(
        (f"{len(left)} further files", sum(tests[f] for f, _ in left), sum(taken for _, taken in left))
    )
    rows.append(("start of pytest, imports, collection", 0, cpu - sum(seconds.values())))
    rows.append(("all", sum(tests.values()), cpu))
    lines = ["| file | tests | CPU |", "|---|---:|---:|"]
    lines += [f"| {name} | {number:,} | {taken:.0f} s |" for name, number, taken in rows]
    footer = (
        f"The tests took {wall / 60:.1f} minutes on {os.cpu_count()} cores. "
        f"The load of the machine before the run was {load:.1f}."
    )
    return "\n".join([*lines, "", footer])


def main() -> int:
    """Run the tests, and write the table into the page if all pass."""
    RECORDS.mkdir(parents=True, exist_ok=True)
    for path in RECORDS.glob("*.jsonl"):
        path.unlink()
    load, begin, before = os.getloadavg()[0], time.monotonic(), cpu_seconds(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"PYTEST_ADDOPTS": "-p test_times", "PYTHONPATH": str(ROOT / "tools")}
    failed = subprocess.run(["make", "tests"], cwd=ROOT, env=environment, check=False).returncode
    cpu = cpu_seconds(resource.RUSAGE_CHILDREN) - before
    text = table(time.monotonic() - begin, cpu, load)
    print(text)
    if not failed:
        write_block(PAGE, "test times", text)
    return failed


if __name__ == "__main__":
    sys.exit(main())
