"""Audit random calibrations of all protocols: the claimed delta against the enumerated delta.

``python tools/calibrations.py [--count N] [--seed S] [--messages RUNS]``

Writes results/audit/calibrations-S.csv, a row per calibration, and prints every finding with a call that repeats it,
then a summary. Exits with 1 if a sound label is exceeded, if a calibration ends in an error, or, with --messages, if
simulated messages do not follow the law of the view.
"""

import argparse
import csv
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from shuffledp.pipeline.audit import FINDINGS, Row, audited
from shuffledp.pipeline.audit.auditor import FAILED, INFEASIBLE, NOT_ENUMERATED
from shuffledp.pipeline.audit.message_tests import LEVEL, checked
from shuffledp.pipeline.audit.random_settings import stratified

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = (
    *("number", "task", "protocol", "accounting", "label", "status", "eps", "delta", "found", "ratio"),
    *("note", "population", "task_given", "options"),
)


def written(number: int, row: Row) -> list[object]:
    """Return one line of the table."""
    setting = row.setting
    return [
        number,
        setting.protocol.task_kind,
        setting.protocol.name,
        setting.accounting,
        row.label,
        row.status,
        row.eps,
        row.delta,
        row.found,
        row.ratio,
        row.note,
        setting.population,
        setting.task,
        dict(setting.options),
    ]


def run(count: int, seed: int, runs: int) -> int:
    """Audit `count` settings; return the number of findings."""
    table = ROOT / f"results/audit/calibrations-{seed}.csv"
    table.parent.mkdir(parents=True, exist_ok=True)
    part, begin = table.with_suffix(".part"), time.process_time()
    outcomes: Counter[str] = Counter()
    kinds: Counter[tuple[str, str, str]] = Counter()
    findings = 0
    with part.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(COLUMNS)
        for number, setting in stratified(count, seed):
            row = audited(setting)
            lines.writerow(written(number, row))
            outcomes[row.status] += 1
            kinds[(setting.protocol.task_kind, setting.protocol.name, row.status)] += 1
            found = row.status in FINDINGS
            if found:
                print(
                    f"{number}: {row.status} {row.found:.4g} ({row.label}) {row.note}\n    {setting}",
                    flush=True,
                )
            compare = runs and row.status not in (FAILED, INFEASIBLE, NOT_ENUMERATED)
            agreed = checked(setting, np.random.default_rng([seed, number, 1]), runs) if compare else None
            if agreed is not None and not agreed.fits(LEVEL):
                print(f"{number}: the messages do not follow the law of the view\n    {setting}", flush=True)
                found = True
            findings += found
            if (number + 1) % 100 == 0:
                spent = time.process_time() - begin
                print(f"{number + 1} of {count}, {spent:.0f} s of CPU time", file=sys.stderr, flush=True)
    part.replace(table)
    for (kind, name, status), times in sorted(kinds.items()):
        print(f"{kind:10} {name:26} {status:20} {times:5}")
    print(
        f"{count} calibrations, seed {seed}: {dict(outcomes)}, {findings} findings; CPU time "
        f"{time.process_time() - begin:.0f} s; {table.relative_to(ROOT)}"
    )
    return findings


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="calibrations, over all protocols in turn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--messages", type=int, default=0, help="runs of the message level to compare with each law"
    )
    given = parser.parse_args()
    sys.exit(min(1, run(given.count, given.seed, given.messages)))
