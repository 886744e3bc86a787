"""Faults at random moments in a small run of the pipeline, and a comparison of every byte after the next run.

Linux only, as it reads /proc. A full disk needs private mounts, so that `tools/faults.py` starts itself below
`unshare`; no process and no mount then outlives it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pipeline_project import SNAKEMAKE, copy_of_project  # of the tests, whose folder `tools/faults.py` adds
from shuffledp.storage import is_temporary, sha256_of
from waiting import wait_until

#: Folders with results, which are compared with the undisturbed run.
PARTS = ("results", "data")
#: Variable in the environment of every process of a run.
MARK = "SHUFFLEDP_FAULTS"
#: Variable that is set if the tool runs with its own mounts and process numbers.
INSIDE = "SHUFFLEDP_FAULTS_INSIDE"
#: Seconds after which a run counts as hanging, and seconds in which jobs may end after the end of their run.
HANGING, GRACE = 400.0, 10.0
KINDS = ("kill", "full_disk", "damaged_file", "second_run")
#: Ends of a run: to the main process, to a job, to all at once; SIGTERM up to twenty times.
KILLS = ("main", "job", "group", *(f"term {times}" for times in (1, 2, 20)))
CONFIG = "papers: [disturbed]\neffort: quick\nformats: [png]\n"
PAPER = """
paper: {title: "A disturbed run", citation: "nobody"}
experiments:
  adult:
    source: "Fig. 1"
    task: {kind: frequency, domain_size: 2, truth: participants, metrics: [tve]}
    data: {name: adult, column: sex, draw: without_replacement}
    population: {law: binomial, trials: 48841, rate: 0.05}
    budget: {eps: $eps, delta: 1.0e-5}
    grid: {eps: [0.01, 0.5]}
    accounting: [exact]
    repeats: 100
    methods: {local: {}, amplified: {}, non_adaptive: {}}
figures:
  fig1: {title: "Small", experiment: adult, x: eps, y: tve, curves: method, caption: any.rst}
"""
#: Outputs of slow jobs, which are finished before the moments begin.
BEFOREHAND = tuple(
    f"results/claims/{name}.csv" for name in ("audit", "open_questions", "claims", "headlines")
)


@dataclass(frozen=True)
class Moment:
    """One fault at a fraction of the undisturbed run's processor time, which does not depend on the machine's load."""

    number: int
    kind: str
    fraction: float
    seed: int

    def rng(self) -> np.random.Generator:
        """Return the generator of all further choices."""
        return np.random.default_rng(np.random.SeedSequence([self.seed, self.number]))


def plan(seed: int, moments: int, kinds: Sequence[str] = KINDS) -> list[Moment]:
    """Return the moments in order, the kinds in turn; raise ValueError for an unknown kind."""
    if unknown := sorted(set(kinds) - set(KINDS)):
        raise ValueError(f"no kind {', '.join(unknown)}; known: {', '.join(KINDS)}")
    fractions = np.random.default_rng(seed).uniform(size=moments)
    return [Moment(i, kinds[i % len(kinds)], float(fractions[i]), seed) for i in range(moments)]


# -- files --


def tree(folder: Path) -> dict[str, str]:
    """Return digests of all results and data by relative name."""
    files = (path for part in PARTS for path in sorted((folder / part).rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}


def differences(expected: Mapping[str, str], present: Mapping[str, str]) -> list[str]:
    """Return the differences between two trees, a line per file."""
    common = expected.keys() & present.keys()
    return [
        *(f"missing {name}" for name in sorted(expected.keys() - present.keys())),
        *(f"extra {name}" for name in sorted(present.keys() - expected.keys())),
        *(f"changed {name}" for name in sorted(common) if expected[name] != present[name]),
    ]


def half_written(expected: Mapping[str, str], present: Mapping[str, str]) -> list[str]:
    """Return files with a final name but without their final content; temporary files have other names."""
    return sorted(
        name
        for name, digest in present.items()
        if not is_temporary(Path(name).name) and not name.endswith(".part") and expected.get(name) != digest
    )


# -- processes --


@dataclass
class Run:
    """Process and all its descendants, which a mark in their environment identifies."""

    process: subprocess.Popen[bytes]
    log: Path
    mark: str

    @property
    def output(self) -> str:
        """Everything that the run has printed."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def ended(self) -> bool:
        """Return whether the main process has ended."""
        return self.process.poll() is not None

    def alive(self) -> list[int]:
        """Return all processes that still run."""
        numbers = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    numbers.append(int(folder.name))
        return numbers

    def used(self) -> float:
        """Return the processor seconds of the running processes and of their finished children."""
        ticks = 0
        for pid in self.alive():
            with contextlib.suppress(OSError):
                stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
                ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Kill everything that is left, and wait for its end."""
        for pid in self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        wait_until(lambda: not self.alive(), GRACE)


def start(folder: Path, log: Path, *targets: str) -> Run:
    """Start Snakemake in a folder."""
    mark = uuid.uuid4().hex
    proxies = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    left_out = ("SHUFFLEDP_MIRROR", "MAKEFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    command = [str(SNAKEMAKE), "--cores", "2", *targets, "--configfile", "config/disturbed.yaml"]
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment | proxies | {MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Run(process, log, mark)


def call(*command: str | Path) -> None:
    """Run a command; raise CalledProcessError if it fails."""
    subprocess.run([str(part) for part in command], check=True, capture_output=True)


# -- the undisturbed run --


@dataclass(frozen=True)
class Undisturbed:
    """Folder at the beginning of every moment, processor seconds of the run, and the required final files."""

    start: Path
    seconds: float
    growth: int
    expected: Mapping[str, str]


def undisturbed(base: Path) -> Undisturbed:
    """Create the project, finish its slow part, then run the rest and measure it; raise RuntimeError if a run fails."""
    first = base / "start"
    first.mkdir()
    copy_of_project(first)
    (first / "config/disturbed.yaml").write_text(CONFIG)
    (first / "config/experiments/disturbed.yaml").write_text(PAPER)
    (first / "workflow/report/tiny").rename(first / "workflow/report/disturbed")
    for unused in ("config/experiments/tiny.yaml", "config/tiny.yaml"):
        (first / unused).unlink()
    _finish(start(first, base / "beforehand.log", *BEFOREHAND))
    finished = base / "finished"
    shutil.copytree(first, finished, symlinks=True)
    seconds = _finish(start(finished, base / "undisturbed.log"))
    growth = sum(path.stat().st_size for path in finished.rglob("*") if path.is_file())
    growth -= sum(path.stat().st_size for path in first.rglob("*") if path.is_file())
    return Undisturbed(first, seconds, growth, tree(finished))


def _finish(run: Run) -> float:
    seconds = 0.0
    while not run.ended():
        seconds = max(seconds, run.used())
        time.sleep(0.05)
    if run.process.returncode != 0:
        raise RuntimeError(f"the undisturbed run failed:\n{run.output[-4000:]}")
    return seconds


# -- a moment --


@dataclass
class Outcome:
    """What a disturbed run left behind, and what differs after the next run."""

    moment: Moment
    what: str = ""
    ended: int | None = None
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Return one line."""
        wrong = "; ".join(self.wrong) or "identical"
        return f"{self.moment.kind} ({self.what}) at {self.moment.fraction:.2f}: ended with {self.ended}; {wrong}"


def disturb(given: Undisturbed, moment: Moment, base: Path) -> Outcome:
    """Return the outcome of a moment; its folder is kept if something is wrong."""
    folder, outcome, rng = base / f"moment-{moment.number}", Outcome(moment), moment.rng()
    if moment.kind == "full_disk" and os.environ.get(INSIDE) != "1":
        outcome.what = "not possible: a small disk needs private mounts"
        return outcome
    shutil.copytree(given.start, folder, symlinks=True)
    heal = _fill_disk(given, moment, folder) if moment.kind == "full_disk" else None
    run = start(folder, base / "run.log")
    wait_until(lambda: run.ended() or run.used() >= moment.fraction * given.seconds, HANGING)
    damaged = ""
    if moment.kind == "kill":
        outcome.what = _kill(run, rng)
    elif moment.kind == "damaged_file":
        damaged = outcome.what = _flip_bit(given, folder, rng, run)
    elif moment.kind == "second_run":
        outcome.what = "refused"
        second = start(folder, base / "second.log")
        if not run.ended() and (
            not wait_until(second.ended, HANGING) or "Another run is at work" not in second.output
        ):
            outcome.wrong.append(f"the second run was not refused: {second.output[-500:]}")
        second.end()
    if not wait_until(run.ended, HANGING):
        outcome.wrong.append("the run hangs")
    wait_until(lambda: not run.alive(), GRACE)
    outcome.wrong += [f"process {pid} is left" for pid in run.alive()]
    if moment.kind == "full_disk":
        outcome.what = f"No space left on device: {'No space left' in run.output}"
        if run.process.poll() and "No space left" not in run.output:
            outcome.wrong.append("no line about the disk")
    run.end()
    outcome.ended = run.process.returncode
    present = {name: digest for name, digest in tree(folder).items() if name != damaged}
    outcome.wrong += [f"half-written {name}" for name in half_written(given.expected, present)]
    if heal:
        heal()
    if damaged:
        subprocess.run(
            [SNAKEMAKE.with_name("shuffledp"), "repair"], cwd=folder, check=True, capture_output=True
        )
    again = start(folder, base / "again.log")
    wait_until(again.ended, HANGING)
    if again.process.poll() != 0:
        outcome.wrong.append(f"the next run ended with {again.process.poll()}: {again.output[-1500:]}")
    again.end()
    outcome.wrong += differences(given.expected, tree(folder))
    if moment.kind == "full_disk":
        call("umount", "-l", folder)
    if not outcome.wrong:
        shutil.rmtree(folder)
    return outcome


def _kill(run: Run, rng: np.random.Generator) -> str:
    how = str(rng.choice(KILLS))
    main = run.process.pid
    with contextlib.suppress(ProcessLookupError):
        if how == "main":
            os.kill(main, signal.SIGKILL)
        elif how == "group":
            os.killpg(main, signal.SIGKILL)
        elif how == "job":
            wait_until(lambda: run.ended() or len(run.alive()) > 1, HANGING)
            jobs = [pid for pid in run.alive() if pid != main]
            if jobs:
                os.kill(int(rng.choice(jobs)), signal.SIGKILL)
        else:
            for _ in range(int(how.split()[1])):
                os.kill(main, signal.SIGTERM)
                time.sleep(float(rng.uniform(0.0, 0.02)))
    return how


def _flip_bit(given: Undisturbed, folder: Path, rng: np.random.Generator, run: Run) -> str:
    """Change a bit of a published file, and return its name."""
    before = tree(given.start)

    def published() -> list[str]:
        names = (
            name for name in given.expected if name not in before and name.endswith((".parquet", ".csv"))
        )
        return [name for name in names if (folder / name).is_file()]

    wait_until(lambda: bool(published()) or run.ended(), HANGING)
    name = str(rng.choice(published()))
    content = bytearray((folder / name).read_bytes())
    content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    (folder / name).write_bytes(content)
    return name


def _fill_disk(given: Undisturbed, moment: Moment, folder: Path) -> Callable[[], None]:
    """Mount a disk over the folder, with space for a share of what the run adds; return a function that enlarges it."""
    aside = folder.with_suffix(".aside")
    folder.rename(aside)
    folder.mkdir()
    call("mount", "-t", "tmpfs", "-o", "size=1g,mode=755", "none", folder)
    shutil.copytree(aside, folder, symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(aside)
    about = os.statvfs(folder)
    used = (about.f_blocks - about.f_bfree) * about.f_frsize
    call("mount", "-o", f"remount,size={used + int(moment.fraction**2 * given.growth) + 4096}", folder)
    return lambda: call("mount", "-o", "remount,size=1g", folder)


def summary(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the lines of a Markdown table with a row per kind."""
    yield "| fault | moments | identical after the next run |"
    yield "| --- | --- | --- |"
    for kind in KINDS:
        tried = [outcome for outcome in outcomes if outcome.moment.kind == kind and outcome.ended is not None]
        yield f"| {kind.replace('_', ' ')} | {len(tried)} | {sum(not outcome.wrong for outcome in tried)} |"
