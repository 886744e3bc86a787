"""Frequency of rejections of built-in protocols by the statistical checks, for many seeds.

The checks reject about one correct comparison in a million. A seed draws every setting of a protocol once, with the
accountings in turn from seed to seed. All seeds of all protocols take hours, so that a run may end at any time: every
finished pair of a protocol and a seed is a row of a table, and the next run computes the missing ones, seed by seed. A
row has a digest of the code that the protocol and the checks reach; after a change the pair is computed again. With
--page the counts are written into docs/maintainers.md.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path

from shuffledp.pipeline.doc_blocks import write_block
from shuffledp.pipeline.rerun_digests.digest import Code
from shuffledp.protocols import available, conformance, get
from shuffledp.protocols.conformance import Check, running, statistics
from shuffledp.protocols.conformance.cases import Case, Protocol
from shuffledp.tasks import TASK_KINDS

ROOT = Path(__file__).resolve().parents[1]
#: Where the rows are.
TABLE = ROOT / "logs" / "conformance_seeds.csv"
PAGE = ROOT / "docs/maintainers.md"
CHECKS: tuple[Check, ...] = (
    conformance.check_cost,
    conformance.check_one_law,
    conformance.check_unbiased,
    conformance.check_variance,
    conformance.check_encoder,
    conformance.check_claim,
)
#: Checks that simulate, and the settings that they can.
OF_LAWS: dict[Check, running.Running] = {
    conformance.check_cost: running.sending,
    conformance.check_one_law: running.sending,
    conformance.check_unbiased: running.simulated,
    conformance.check_variance: running.simulated,
}
#: Modules that make the checks.
MACHINERY = tuple(f"shuffledp.protocols.conformance.{name}" for name in ("checks", "cases", "running"))


@dataclass(frozen=True)
class Done:
    """Protocol (``task/name``) with one seed: the number of rejections and their texts.

    `seconds` is CPU time, with the calibration of cases that are not cached, and `code` the digest of the code.
    """

    protocol: str
    seed: int
    rejections: int
    seconds: float
    code: str
    what: str = ""


HEAD = tuple(field.name for field in fields(Done))


def read(table: Path) -> list[Done]:
    """Return the rows of a table in order, without an incomplete line; empty without a table."""
    if not table.is_file():
        return []
    whole, _, _ = table.read_text(encoding="utf-8").rpartition("\n")
    rows = csv.reader(whole.splitlines())
    if tuple(next(rows, ())) != HEAD:
        raise SystemExit(f"{table} is no table of this program: its first line is not {','.join(HEAD)}.")
    return [Done(p, int(seed), int(found), float(s), code, what) for p, seed, found, s, code, what in rows]


class Table:
    """File to which rows are appended, each as a whole line on the disk before the next one begins."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write([HEAD], "w")
        elif not (text := path.read_bytes()).endswith(b"\n"):  # the last run ended within a line
            path.write_bytes(text[: text.rfind(b"\n") + 1])

    def add(self, row: Done) -> None:
        """Append a row; a message is one line."""
        self._write([astuple(row)], "a")

    def _write(self, rows: Iterable[tuple[object, ...]], mode: str) -> None:
        with self._path.open(mode, encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


@cache
def cases(kind: str, name: str) -> tuple[Case, ...]:
    """Return the settings of a protocol, calibrated once and drawn anew for each seed."""
    return conformance.default_cases(get(kind, name))


def rejected(
    protocol: Protocol, settings: tuple[Case, ...], seed: int, checks: Iterable[Check]
) -> Iterator[str]:
    """Yield the rejections of a protocol with one seed."""
    statistics.SEED = seed
    running.estimates.cache_clear()
    for check in checks:
        try:
            check(protocol, chosen(check, protocol, settings, seed))
        except AssertionError as error:
            yield f"{check.__name__}: {' '.join(str(error).split())}"


def chosen(check: Check, protocol: Protocol, settings: tuple[Case, ...], seed: int) -> tuple[Case, ...]:
    """Return the settings of a check with one seed, with accountings in turn from seed to seed.

    Messages depend on the calibrated numbers and not on their accounting, so that each seed draws every setting once.
    As many seeds as accountings draw every setting under each accounting.
    """
    if check in OF_LAWS:
        return tuple(running.in_turn(protocol, settings, OF_LAWS[check], seed))
    known = protocol.accountings
    return tuple(case for case in settings if case.accounting == known[seed % len(known)])


def one(name: str, seed: int, code: str, checks: Iterable[Check] = CHECKS) -> Done:
    """Return the row of a protocol, ``task/name``, with one seed."""
    started = time.process_time()
    kind, _, short = name.partition("/")
    found = list(rejected(get(kind, short), cases(kind, short), seed, checks))
    seconds = round(time.process_time() - started, 2)
    return Done(name, seed, len(found), seconds, code, "; ".join(found))


def missing(
    names: Iterable[str], seeds: int, done: Iterable[Done], codes: dict[str, str]
) -> Iterator[tuple[str, int]]:
    """Yield the pairs that have no row with the present code, seed by seed."""
    known = {(row.protocol, row.seed) for row in done if row.code == codes.get(row.protocol)}
    names = list(names)
    yield from ((name, seed) for seed in range(seeds) for name in names if (name, seed) not in known)


def summary(names: Iterable[str], done: Iterable[Done], codes: dict[str, str]) -> str:
    """Return seeds and rejections of every protocol with the present and with earlier code, then all rejections."""
    last = {(row.protocol, row.seed, row.code): row for row in done}.values()
    lines = [f"{'protocol':34} {'seeds':>6} {'rejected':>9} {'seconds':>8}   earlier code: seeds, rejected"]
    total = [0, 0, 0.0, 0, 0]
    for name in names:
        own = [row for row in last if row.protocol == name]
        now = [row for row in own if row.code == codes[name]]
        before = {row.seed: row for row in own if row.code != codes[name]}.values()
        parts = [len(now), _bad(now), sum(row.seconds for row in now), len(before), _bad(before)]
        total = [a + b for a, b in zip(total, parts, strict=True)]
        lines.append(_line(name, parts))
    lines.append(_line("all", total))
    lines += [f"  {row.protocol}, seed {row.seed}: {row.what}" for row in last if row.rejections]
    return "\n".join(lines)


def page_table(names: Iterable[str], done: Iterable[Done], codes: dict[str, str]) -> str:
    """Return seeds and rejections of the protocols of every task with the present code, as Markdown."""
    present = {(row.protocol, row.seed): row for row in done if row.code == codes.get(row.protocol)}
    by_task: dict[str, list[str]] = {}
    for name in names:
        by_task.setdefault(name.partition("/")[0], []).append(name)
    lines = [
        "| task | protocols | seeds of each | settings of all | rejected |",
        "| --- | --- | --- | --- | --- |",
    ]
    total = [0, 0, 0]
    for task, own in by_task.items():
        seeds = [sum(protocol == name for protocol, _ in present) for name in own]
        settings = sum(len(cases(*name.split("/"))) for name in own)
        bad = _bad(row for row in present.values() if row.protocol in own)
        total = [a + b for a, b in zip(total, (len(own), sum(seeds), bad), strict=True)]
        lines.append(f"| {task} | {len(own)} | {_range(seeds)} | {settings:,} | {bad:,} |")
    told = "rejection" if total[2] == 1 else "rejections"
    lines += ["", f"{total[0]} protocols, {total[1]:,} pairs of a protocol and a seed, {total[2]:,} {told}."]
    found = [
        f"- `{row.protocol}`, seed {row.seed}: `{row.what}`" for row in present.values() if row.rejections
    ]
    return "\n".join([*lines, *([""] if found else []), *found])


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _bad(rows: Iterable[Done]) -> int:
    return sum(row.rejections > 0 for row in rows)


def _line(name: str, parts: list[float]) -> str:
    seeds, bad, seconds, earlier, earlier_bad = parts
    return f"{name:34} {seeds:6.0f} {bad:9.0f} {seconds:8.0f}   {earlier:19.0f} {earlier_bad:9.0f}"


def main() -> None:
    """Compute missing rows, print each rejection and the counts; exit with 1 after any rejection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--protocol", nargs="+", help="only these, as task/name")
    parser.add_argument("--minutes", type=float, help="of the processor, after which the run ends")
    parser.add_argument("--check", choices=[check.__name__ for check in CHECKS], help="this one alone")
    parser.add_argument("--table", type=Path, help="the default names the check, if there is one alone")
    parser.add_argument("--summary", action="store_true", help="count what is done, and do nothing")
    parser.add_argument("--page", action="store_true", help=f"write the counts into {PAGE.relative_to(ROOT)}")
    arguments = parser.parse_args()
    if arguments.page and (arguments.protocol or arguments.check):
        parser.error("--page is about all protocols and checks: leave out --protocol and --check")
    checks = tuple(check for check in CHECKS if arguments.check in (None, check.__name__))
    path = arguments.table or TABLE.with_stem("_".join(filter(None, (TABLE.stem, arguments.check))))
    every = [f"{kind}/{name}" for kind in TASK_KINDS for name in available(kind)]
    names = arguments.protocol or every
    if unknown := sorted(set(names) - set(every)):
        parser.error(f"no protocol {', '.join(map(repr, unknown))}; known: {', '.join(every)}")
    code = Code(ROOT)
    codes = {
        name: code.digest(f"shuffledp.protocols.{name.replace('/', '.')}", *MACHINERY)[:12] for name in names
    }
    done = read(path)
    if not arguments.summary:
        table = Table(path)
        for name, seed in missing(names, arguments.seeds, done, codes):
            if arguments.minutes is not None and time.process_time() > 60 * arguments.minutes:
                break
            row = one(name, seed, codes[name], checks)
            table.add(row)
            done.append(row)
            if row.rejections:
                print(f"{row.protocol}, seed {row.seed}: {row.what}", flush=True)
    left = len(list(missing(names, arguments.seeds, done, codes)))
    print(summary(names, done, codes))
    print(f"{left} of {arguments.seeds * len(names)} pairs of protocol and seed are left. Table: {path}")
    if arguments.page:
        write_block(PAGE, "conformance seeds", page_table(names, done, codes))
    present = [row for row in done if row.code == codes.get(row.protocol)]
    raise SystemExit(min(_bad(present), 1))


if __name__ == "__main__":
    main()
