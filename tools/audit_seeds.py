"""Audit every registered protocol at small scale under many seeds, and count the flagged claims.

``python tools/audit_seeds.py [--seeds N] [--page]``

Writes results/audit/seeds/S.csv, a table per seed with a row per claim, and continues an interrupted call: a seed with
a table for the same code and numbers is not run again. Exits with 1 if a sound claim is exceeded, or if runs contradict
a law. With --page the counts are written into docs/measured/.
"""

import argparse
import csv
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from shuffledp.pipeline.audit.combined_table import VIOLATION
from shuffledp.pipeline.audit.random_settings import protocols
from shuffledp.pipeline.audit.table import NOT_AUDITED, small_lines, text_of
from shuffledp.pipeline.code_keys import CodeKeys
from shuffledp.storage import IntegrityError, publish, verified

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "results/audit/seeds"
PAGE = ROOT / "docs/measured/audit_seeds.md"
#: First seed.
FIRST = 1000
#: Name of the comparison in a row of the audit, by part.
PARTS = {
    "enumerated": "claimed delta and the enumerated law of the view",
    "messages": "messages of runs and their law",
}
Statuses = Mapping[tuple[str, str], int]


def table_of(seed: int, settings: int, runs: int, code: str) -> Path:
    """Return the path of a seed's table, which is computed if it does not exist."""
    path = FOLDER / f"{code[:12]}-{settings}-{runs}" / f"{seed}.csv"
    try:
        return verified(path, path.with_suffix(".sha256"))
    except (IntegrityError, FileNotFoundError):
        lines = [line for protocol in protocols() for line in small_lines(protocol, seed, settings, runs)]
        publish(path.with_suffix(".sha256"), {path: text_of(lines).encode()})
        return path


def summary(seeds: int, protocols: int, statuses: Statuses) -> str:
    """Return the counts as a Markdown table."""
    lines = [
        f"The audit ran {protocols} protocols with {seeds} seeds:",
        "",
        "| compared | rows | not audited | flagged |",
        "| --- | --- | --- | --- |",
    ]
    for part, told in [*PARTS.items(), ("", "**all**")]:
        rows = {status: 0 for _, status in statuses}
        for (own, status), times in statuses.items():
            rows[status] += times if part in ("", own) else 0
        numbers = (sum(rows.values()), rows.get(NOT_AUDITED, 0), rows.get(VIOLATION, 0))
        lines.append(f"| {told} | {' | '.join(f'{number:,}' for number in numbers)} |")
    return "\n".join(lines)


def run(seeds: range, settings: int = 1, runs: int = 200) -> Counter[tuple[str, str]]:
    """Audit under these seeds, `settings` per protocol and `runs` per input; return the rows by part and status."""
    code = CodeKeys(ROOT).keys("audit")["audit"]
    statuses: Counter[tuple[str, str]] = Counter()
    flagged, begin = 0, time.process_time()
    for seed in seeds:
        path = table_of(seed, settings, runs, code)
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines(keepends=True)):
            statuses[row["part"], row["status"]] += 1
            if row["status"] == VIOLATION:
                flagged += 1
                named = f"{row['task']} {row['protocol']} ({row['accounting']}, {row['part']})"
                print(
                    f"seed {seed}: {named}: {row['found_delta']} {row['note']}; {row['setting']}", flush=True
                )
        spent = time.process_time() - begin
        print(
            f"seed {seed}: {flagged} flagged so far, {spent:.0f} s of CPU time", file=sys.stderr, flush=True
        )
    for (part, status), times in sorted(statuses.items()):
        print(f"{part:12} {status:20} {times:6}")
    print(f"{len(seeds)} seeds, {flagged} rows flagged; {FOLDER.relative_to(ROOT)}")
    return statuses


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--page", action="store_true", help=f"write the counts into {PAGE.relative_to(ROOT)}")
    given = parser.parse_args()
    seeds = range(FIRST, FIRST + given.seeds)
    found = run(seeds)
    if given.page:
        PAGE.write_text(summary(given.seeds, len(protocols()), found) + "\n", encoding="utf-8")
    sys.exit(any(times for (_, status), times in found.items() if status == VIOLATION))
