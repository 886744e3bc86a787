"""Plan of the faults of a run and their times, comparison of file trees, and the table of outcomes.

This module starts no process and writes only the table; `fault_machine` does the rest.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp.storage import is_temporary, sha256_of

#: Drawings that are stored for later runs and are no results.
KEPT = re.compile(r"results/drawn/[^/]+/[^/]+\.(?:zip|sha256)$")


@dataclass(frozen=True)
class Kind:
    """A kind of fault.

    Parameters
    ----------
    name : str
    what : str
        Description for the documentation.
    latest : float
        Largest moment. A moment is a fraction of the undisturbed run's processor time; from 1 on the run is over.
    says : str
        Pattern of the line that the disturbed run must print; empty if no line is required.
    damages : bool
        True if published files are damaged, so that `shuffledp repair` precedes the next run.
    completes : bool
        True if the disturbed run must nevertheless succeed.
    """

    name: str
    what: str
    latest: float = 1.0
    says: str = ""
    damages: bool = False
    completes: bool = False


FULL = r"No space left on device"
READ_ONLY = r"Read-only file system|Permission denied"
KINDS = (
    Kind("kill_main", "SIGKILL to the main process"),
    Kind("kill_job", "SIGKILL to a job"),
    Kind("kill_group", "SIGKILL to all processes at once"),
    Kind("term_once", "SIGTERM to the main process"),
    Kind("term_twice", "SIGTERM twice within 50 ms"),
    Kind("int_then_term", "SIGINT to `make`, then SIGTERM to its group"),
    Kind("full_disk", "full disk below the whole folder", says=FULL),
    Kind("full_results", "full disk below `results/`", says=FULL),
    Kind("full_data", "full disk below `data/`", says=FULL),
    Kind("unwritable", "a folder that cannot be written to", says=READ_ONLY),
    Kind("corrupted_result", "a byte of a result changed", latest=2.0, damages=True),
    Kind("truncated_result", "a result cut off", latest=2.0, damages=True),
    Kind("deleted_result", "a result deleted", latest=2.0, damages=True),
    Kind("swapped_results", "two results exchanged", latest=2.0, damages=True),
    Kind("corrupted_data", "a byte of prepared data changed", latest=2.0, damages=True),
    Kind(
        "truncated_download", "a download that is cut short", says=r"cut short|data set .* could not|mirror:"
    ),
    # Snakemake fails a job whose files would be older than its input, and says so.
    Kind("moved_clock", "the clock jumps", says="clock skew problem"),
    Kind("two_runs", "a second run is started", says="Another run is at work", completes=True),
)
"""Kinds of faults; unchangeable, because the stored table has their names."""
BY_NAME = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True)
class Moment:
    """One fault at one time.

    Parameters
    ----------
    seed, number : int
        Seed of the plan, and place of the moment in the plan.
    kind : str
        Name of a kind.
    fraction : float
        Time of the fault, see `Kind.latest`. A full disk has space for the square of this share of the run's files,
        because most of them are files of the site.
    """

    seed: int
    number: int
    kind: str
    fraction: float

    def rng(self) -> np.random.Generator:
        """Return the generator of all further choices, such as the file, the job and the time between two signals."""
        return np.random.default_rng(np.random.SeedSequence([self.seed, self.number, 1]))


def plan(seed: int, moments: int, kinds: Sequence[str] = tuple(BY_NAME)) -> list[Moment]:
    """Return the moments in order; a longer plan begins with the moments of a shorter one.

    Each kind occurs once before any kind occurs again, in a new random order each time.

    Parameters
    ----------
    seed, moments : int
        Both at least 0.
    kinds : sequence of str
        Names of kinds, at least one.

    Raises
    ------
    ValueError
        If a kind is unknown, no kind is given, or a number is negative.
    """
    if unknown := sorted(set(kinds) - set(BY_NAME)):
        raise ValueError(f"no kind {', '.join(unknown)}; known: {', '.join(BY_NAME)}")
    if not kinds or seed < 0 or moments < 0:
        raise ValueError(
            f"at least one kind, and a seed and moments from 0 on, got {kinds}, {seed}, {moments}"
        )
    order = np.random.default_rng(np.random.SeedSequence([seed, 0]))
    names: list[str] = []
    while len(names) < moments:
        names += [str(name) for name in order.permutation(list(kinds))]
    return [
        Moment(seed, i, name, _fraction(seed, i, BY_NAME[name])) for i, name in enumerate(names[:moments])
    ]


def _fraction(seed: int, number: int, kind: Kind) -> float:
    rng = np.random.default_rng(np.random.SeedSequence([seed, number, 0]))
    return round(float(rng.uniform(0.0, kind.latest)), 4)


# -- trees of files --


def tree(folder: Path, parts: Iterable[str]) -> dict[str, str]:
    """Return digests of all files below some parts of a folder, by relative name; a link counts by its target."""
    found = {}
    for part in parts:
        for path in sorted((folder / part).rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_symlink():
                found[name] = f"link to {path.readlink()}"
            elif path.is_file():
                found[name] = sha256_of(path)
    return found


def differences(expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """Return the differences between two trees, a line per file.

    Stored drawings may be missing: `shuffledp repair` removes damaged drawings, and the next run that draws their paper
    makes them again.
    """
    return [
        *(f"missing {name}" for name in sorted(expected.keys() - found.keys()) if not KEPT.match(name)),
        *(f"extra {name}" for name in sorted(found.keys() - expected.keys())),
        *(
            f"changed {name}"
            for name in sorted(expected.keys() & found.keys())
            if expected[name] != found[name]
        ),
    ]


def half_written(expected: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Return files with a final name but without their final content; absent files are not listed.

    Unfinished files have other names: temporary files, and downloads that can be resumed.
    """
    return sorted(
        name
        for name, value in found.items()
        if not (is_temporary(Path(name).name) or name.endswith((".part", ".part.json")))
        and expected.get(name) != value
    )


# -- the table --


@dataclass(frozen=True)
class Row:
    """Outcome of a moment.

    Parameters
    ----------
    seed, number, kind, fraction
        The moment.
    code : str
        Digest of the tested code.
    impossible : str
        Reason why this machine cannot produce the fault; if not empty, the following fields have no meaning.
    hit : int
        1 if the run was in progress, else 0.
    during : str
        Names of the running jobs, and the number of finished jobs.
    ended : int
        Exit code of the disturbed run, or minus the number of the signal that ended the run.
    hung : int
        Number of the two runs that did not end by themselves.
    said : str
        The printed line about the fault, if a line is required.
    silent : int
        1 if a required line was not printed, else 0.
    half_written : int
        Number of files with a final name but without their final content.
    left : int
        Number of processes that remained after the end of the run.
    locked : int
        1 if the ended run left a lock that prevents another run, else 0.
    repaired : int
        Number of files that `shuffledp repair` removed.
    restarted : int
        Exit code of the second run.
    seconds : float
        Processor seconds of the second run.
    different : int
        Number of files that finally differ from the undisturbed run's files.
    note : str
        Further remarks, such as the names of different files.
    """

    seed: int
    number: int
    kind: str
    fraction: float
    code: str
    impossible: str = ""
    hit: int = 0
    during: str = ""
    ended: int = 0
    hung: int = 0
    said: str = ""
    silent: int = 0
    half_written: int = 0
    left: int = 0
    locked: int = 0
    repaired: int = 0
    restarted: int = 0
    seconds: float = 0.0
    different: int = 0
    note: str = ""

    @property
    def moment(self) -> Moment:
        return Moment(self.seed, self.number, self.kind, self.fraction)

    @property
    def bad(self) -> bool:
        """True if something was lost, wrong or left behind."""
        counts = (self.hung, self.silent, self.half_written, self.left, self.locked, self.restarted)
        return not self.impossible and (any(counts) or self.different > 0)


HEAD = tuple(field.name for field in fields(Row))
_READ = {"int": int, "float": float, "str": str}


def read(table: Path) -> list[Row]:
    """Return the rows of a table in order, without an incomplete last line; no rows without a table."""
    if not table.is_file():
        return []
    whole, _, _ = table.read_text(encoding="utf-8").rpartition("\n")
    rows = csv.reader(whole.splitlines())
    if tuple(next(rows, ())) != HEAD:
        raise SystemExit(f"{table} is no table of this program: its first line is not {','.join(HEAD)}.")
    types = [_READ[str(field.type)] for field in fields(Row)]
    return [Row(*(kind(text) for kind, text in zip(types, row, strict=True))) for row in rows]


def add(table: Path, row: Row) -> None:
    """Append a row as one line, and first remove an incomplete line of an interrupted run."""
    table.parent.mkdir(parents=True, exist_ok=True)
    text = table.read_bytes() if table.is_file() else b""
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        table.write_bytes(whole)
    with table.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not whole:
            writer.writerow(HEAD)
        writer.writerow([" ".join(v.split()) if isinstance(v, str) else v for v in astuple(row)])


def missing(planned: Iterable[Moment], rows: Iterable[Row], code: str) -> Iterator[Moment]:
    """Return moments without a row for the present code; impossible ones are included, as they may be possible now."""
    known = {row.moment for row in rows if row.code == code and not row.impossible}
    yield from (moment for moment in planned if moment not in known)


def of_plan(planned: Collection[Moment], rows: Iterable[Row], code: str) -> list[Row]:
    """Return the last row of each moment of a plan with the present code, in the order of the plan."""
    found = {row.moment: row for row in rows if row.code == code}
    return [found[moment] for moment in planned if moment in found]


def digest(folder: Path, parts: Iterable[str]) -> str:
    """Return a digest of files, and of all Python files, rules and settings below folders."""
    total = hashlib.sha256()
    for part in parts:
        path = folder / part
        files = [path] if path.is_file() else [p for p in sorted(path.rglob("*")) if _is_code(p)]
        for file in files:
            total.update(f"{file.relative_to(folder).as_posix()} {sha256_of(file)}\n".encode())
    return total.hexdigest()[:12]


def _is_code(path: Path) -> bool:
    return path.is_file() and path.suffix in (".py", ".smk", ".yaml", ".rst", ".j2", ".js", ".css")


# -- what is said --


def line_that_says(output: str, pattern: str) -> str:
    """Return the first line of an output that matches a pattern; empty if there is none."""
    return next((line.strip() for line in output.splitlines() if re.search(pattern, line)), "")


COLUMNS = ("fault", "moments", "run in progress", "identical", "processes left", "lock left")
COLUMNS += ("half-written files", "no line about it", "CPU s to restart")


def summary(rows: Collection[Row]) -> str:
    """Return a Markdown table with a row per tried kind, a row of totals, and the impossible kinds."""
    done = [row for row in rows if not row.impossible]
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{' --- |' * len(COLUMNS)}"]
    named = [(kind.what, [row for row in done if row.kind == kind.name]) for kind in KINDS]
    lines += [_line(what, own) for what, own in named if own]
    lines.append(_line("**all**", done))
    skipped = {row.kind: row.impossible for row in rows if row.impossible}
    lines += [
        f"\n{BY_NAME[name].what}: not possible on the machine of this run ({why})."
        for name, why in skipped.items()
    ]
    return "\n".join(lines)


def _line(what: str, rows: Collection[Row]) -> str:
    identical = sum(row.different == 0 and row.restarted == 0 for row in rows)
    due = [row for row in rows if BY_NAME[row.kind].says and (row.said or row.silent)]
    seconds = [row.seconds for row in rows]
    cells = (
        what,
        len(rows),
        sum(row.hit for row in rows),
        identical,
        sum(row.left for row in rows),
        sum(row.locked for row in rows),
        sum(row.half_written for row in rows),
        f"{sum(row.silent for row in rows)} of {len(due)}" if due else "none due",
        f"{min(seconds):.1f} to {max(seconds):.1f}" if seconds else "",
    )
    return f"| {' | '.join(map(str, cells))} |"
