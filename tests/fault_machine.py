"""A small run of the pipeline in its own folder with a fault; `fault_moments` plans the faults.

This module is for Linux only, as it reads /proc. Full disks and unwritable folders need private mounts, so that
`tools/faults.py` starts itself below `unshare`. No process and no mount then outlives the script.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

import numpy as np

from fault_moments import BY_NAME, Moment, Row, differences, half_written, line_that_says, tree
from pipeline_project import SNAKEMAKE, copy_of_project
from waiting import wait_until

#: Folders with results, which are compared with the undisturbed run.
PARTS = ("results", "data")
#: Variable in the environment of every process of a moment.
MARK = "SHUFFLEDP_FAULTS"
#: Variable that is set if the tool runs with its own mounts and process numbers.
INSIDE = "SHUFFLEDP_FAULTS_INSIDE"
#: Seconds after which a run counts as hanging, and seconds in which jobs may end after the end of their run.
HANGING, GRACE = 400.0, 30.0
PAGE = 4096
JOBS = frozenset(
    path.stem for path in (Path(__file__).resolve().parents[1] / "workflow/scripts").glob("*.py")
)
CONFIG = """papers: [disturbed]
effort: quick
formats: [png]
data: {{source: {source}}}
"""
#: Experiments with data, methods, a figure and a table, drawn in one format under one accounting.
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
  fig1: {title: "Small", experiment: adult, x: eps, y: tve, curves: method, files: accounting, caption: any.rst}
tables:
  budgets:
    title: "Small table"
    experiment: adult
    rows: [eps]
    columns: [method, accounting]
    value: eps_local
    caption: any.rst
"""
#: Outputs of slow but ordinary jobs, which are finished before the moments begin.
BEFOREHAND = ("claims/audit.csv", "claims/open_questions.csv", "claims/claims.csv", "claims/headlines.csv")
#: Seconds by which the clock jumps.
JUMPS = (-400 * 86400, -3600, 3600, 400 * 86400)


# -- the mirror --


@dataclass
class Mirror:
    """Server of a folder; it sends `share` of each file and then cuts the connection, although it announces all."""

    folder: Path
    share: float = 1.0
    server: ThreadingHTTPServer = field(init=False)

    def __post_init__(self) -> None:
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                path = mirror.folder / self.path.lstrip("/")
                if not path.is_file():
                    self.send_error(404)
                    return
                body = path.read_bytes()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(body[: int(mirror.share * len(body))])
                self.close_connection = True

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"


def mirror_of_this_machine() -> Mirror | None:
    """Return a server of the folder in ``SHUFFLEDP_MIRROR`` if this folder has the required files."""
    said = os.environ.get("SHUFFLEDP_MIRROR", "")
    folder = Path(said).expanduser()
    return Mirror(folder) if said and (folder / "adult/adult.data").is_file() else None


# -- processes --


@dataclass
class Run:
    """Process and all its descendants, which a mark in their environment identifies."""

    process: subprocess.Popen[bytes]
    log: Path
    mark: str
    seconds: float = 0.0

    @property
    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def ended(self) -> bool:
        """Return whether the first process has ended, after which its processor time is known."""
        if self.process.returncode is None:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.seconds = usage.ru_utime + usage.ru_stime
        return self.process.returncode is not None

    def alive(self) -> list[int]:
        """Return all processes that still run."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return [pid for pid in found if pid != os.getpid()]

    def used(self) -> float:
        """Return the processor seconds of the running processes and of their finished children."""
        ticks = 0
        for pid in self.alive():
            with contextlib.suppress(OSError):
                stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
                ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def jobs(self) -> dict[int, str]:
        """Return the running scripts, by process."""
        found = {}
        for pid in self.alive():
            with contextlib.suppress(OSError):
                if (name := Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()) in JOBS:
                    found[pid] = name
        return found

    def during(self) -> str:
        """Return a description of the current work."""
        done = len(re.findall(r"^\d+ of \d+ done", self.output, re.M))
        return f"{done} done; {' '.join(sorted(self.jobs().values())) or 'no job'}"

    def signal(self, pid: int, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def reap() -> None:
    """Record orphans that ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def wait(condition: Callable[[], bool], seconds: float, also: Callable[[], object] = lambda: None) -> bool:
    """Return whether a condition became true in time; `also` runs at every fifth check."""
    looks = count(1)

    def met() -> bool:
        if next(looks) % 5 == 0:
            also()
        return condition()

    return wait_until(met, seconds)


# -- mounts --


def _call(*command: str | Path) -> None:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


def can_mount() -> bool:
    return os.environ.get(INSIDE) == "1"


def why_not(kind: str, mirror: Mirror | None) -> str:
    """Return why this machine cannot produce a kind of fault; empty if it can."""
    if kind.startswith("full_") and not can_mount():
        return "a small disk needs mounts of one's own: unshare, as root or with user namespaces"
    if kind == "unwritable" and not can_mount() and os.geteuid() == 0:
        return "root may write everywhere, and mounts of one's own are refused"
    if kind == "moved_clock" and clock_library() is None:
        return "faketime is not installed"
    if kind == "truncated_download" and mirror is None:
        return "SHUFFLEDP_MIRROR names no folder with the files of Adult"
    if kind == "int_then_term" and shutil.which("make") is None:
        return "make is not installed"
    return ""


def clock_library() -> str | None:
    if shutil.which("faketime") is None:
        return None
    asked = subprocess.run(
        ["faketime", "-f", "+0", "printenv", "LD_PRELOAD"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or None


# -- the undisturbed run --


def size_on_disk(folder: Path) -> int:
    return sum(
        PAGE * (1 + p.lstat().st_size // PAGE) for p in folder.rglob("*") if p.is_symlink() or p.exists()
    )


@dataclass(frozen=True)
class Undisturbed:
    """State at the beginning of a moment, and the required final state.

    ``begin`` and ``total`` are processor seconds: before the first job, and of the whole run.
    """

    base: Path
    mirror: Mirror | None
    begin: float
    total: float
    expected: dict[str, str]

    @property
    def start(self) -> Path:
        return self.base / "start"

    @property
    def finished(self) -> Path:
        return self.base / "finished"

    @cached_property
    def sizes(self) -> dict[str, int]:
        return sizes(self.finished)

    def growth(self, part: str) -> int:
        """Return the bytes that the run adds below a folder."""
        return size_on_disk(self.finished / part) - size_on_disk(self.start / part)


def sizes(folder: Path) -> dict[str, int]:
    """Return the sizes of all files; files that disappear meanwhile are omitted."""
    found = {}
    for part in PARTS:
        for path in (folder / part).rglob("*"):
            with contextlib.suppress(OSError):
                if path.is_file():
                    found[path.relative_to(folder).as_posix()] = path.stat().st_size
    return found


def environment(mirror: Mirror | None, mark: str) -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k not in ("SHUFFLEDP_MIRROR", INSIDE, "MAKEFLAGS")} | {
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        **dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9"),
        "no_proxy": "127.0.0.1",
        **({"SHUFFLEDP_MIRROR": mirror.url} if mirror else {}),
        "PATH": f"{SNAKEMAKE.parent}{os.pathsep}{os.environ['PATH']}",
        MARK: mark,
    }


def start(
    folder: Path, log: Path, mirror: Mirror | None, command: list[str], more: Mapping[str, str] | None = None
) -> Run:
    mark = uuid.uuid4().hex
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(mirror, mark) | dict(more or {}),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Run(process, log, mark)


def snakemake(*targets: str) -> list[str]:
    return [str(SNAKEMAKE), "--cores", "2", *targets, "--configfile", "config/disturbed.yaml"]


def undisturbed(base: Path) -> Undisturbed:
    """Create the project, finish its slow part, then run the rest and measure it.

    Raises
    ------
    RuntimeError
        If a run fails; the message has the run's last lines.
    """
    mirror = mirror_of_this_machine()
    first = base / "start"
    first.mkdir()
    copy_of_project(first)
    (first / "config/disturbed.yaml").write_text(CONFIG.format(source="official" if mirror else "auto"))
    (first / "config/experiments/disturbed.yaml").write_text(PAPER)
    (first / "workflow/report/tiny").rename(first / "workflow/report/disturbed")
    for unused in ("config/experiments/tiny.yaml", "config/tiny.yaml"):
        (first / unused).unlink()
    (first / "faults.mk").write_text(f"run:\n\t@{' '.join(snakemake())}\n")
    _finish(start(first, base / "beforehand.log", mirror, snakemake(*(f"results/{t}" for t in BEFOREHAND))))
    finished = base / "finished"
    shutil.copytree(first, finished, symlinks=True)
    run = start(finished, base / "undisturbed.log", mirror, snakemake())
    wait(lambda: run.ended() or " done, " in run.output, HANGING)
    begin = run.used()
    _finish(run)
    return Undisturbed(base, mirror, begin, run.seconds, tree(finished, PARTS))


def _finish(run: Run) -> None:
    wait(run.ended, HANGING)
    if run.process.returncode != 0:
        end_all(run)
        raise RuntimeError(f"the undisturbed run failed:\n{run.output[-4000:]}")


def end_all(run: Run) -> None:
    for pid in run.alive():
        run.signal(pid, signal.SIGKILL)
    wait(lambda: run.ended() and not run.alive(), GRACE)


# -- a moment --


@dataclass
class Scene:
    """Moment in progress: its folder, the disturbed run, and what must be repaired before the next run."""

    given: Undisturbed
    moment: Moment
    folder: Path
    rng: np.random.Generator
    run: Run | None = None
    heal: list[Callable[[], None]] = field(default_factory=list)
    damaged: set[str] = field(default_factory=set)
    noted: list[str] = field(default_factory=list)
    second: str | None = None  # what a second run printed
    written: list[str] = field(default_factory=list)  # half

    def path(self, name: str) -> Path:
        return self.folder / name

    def current(self) -> Run:
        assert self.run is not None
        return self.run

    def over(self) -> bool:
        return self.run is None or self.run.ended()

    def watch(self) -> None:
        """Record files whose size under their final name is not the final size."""
        if not self.damaged:
            seen = half_written(self.given.sizes, sizes(self.folder))
            self.written += [name for name in seen if name not in self.written]

    def pick(self, files: list[str]) -> str:
        return str(self.rng.choice(sorted(files)))

    def until(self, found: Callable[[], list[str]]) -> list[str]:
        """Return a result as soon as there is one, or at the end of the run."""
        wait(lambda: bool(found()) or self.over(), HANGING, self.watch)
        return found()


def _kill_main(scene: Scene) -> None:
    scene.current().signal(scene.current().process.pid, signal.SIGKILL)


def _kill_group(scene: Scene) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(scene.current().process.pid, signal.SIGKILL)


def _kill_job(scene: Scene) -> None:
    run = scene.current()
    wait(lambda: bool(run.jobs()) or run.ended(), HANGING)
    if jobs := sorted(run.jobs().items()):
        pid, name = jobs[int(scene.rng.integers(len(jobs)))]
        scene.noted.append(f"killed {name}")
        run.signal(pid, signal.SIGKILL)


def _term(scene: Scene, times: int) -> None:
    run = scene.current()
    for i in range(times):
        if i:
            time.sleep(float(scene.rng.uniform(0.0, 0.05)))
        run.signal(run.process.pid, signal.SIGTERM)


def _int_then_term(scene: Scene) -> None:
    run = scene.current()
    run.signal(run.process.pid, signal.SIGINT)
    time.sleep(float(scene.rng.uniform(0.0, 0.05)))
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.process.pid, signal.SIGTERM)


def _unwritable(scene: Scene) -> None:
    """Return a folder that still gets files, or its nearest existing parent."""
    present = sizes(scene.folder)
    names = sorted({str(Path(name).parent) for name in scene.given.sizes.keys() - present.keys()})
    target = scene.path(str(scene.rng.choice([*names, "logs"]))) if names else scene.path("results")
    while not target.is_dir():
        target = target.parent
    if can_mount():
        _call("mount", "--bind", target, target)
        _call("mount", "-o", "remount,bind,ro", target)
        scene.heal.append(lambda: _call("umount", "-l", target))
    else:
        mode = target.stat().st_mode
        target.chmod(0o555)
        scene.heal.append(lambda: target.chmod(mode))
    scene.noted.append(f"{target.relative_to(scene.folder)}")


def _files_of(scene: Scene, part: str) -> list[str]:
    present = sizes(scene.folder)
    return [name for name in scene.given.sizes if name.startswith(part) and name in present]


def _damage(scene: Scene, part: str, change: Callable[[Path], None]) -> None:
    if not (files := scene.until(lambda: _files_of(scene, part))):
        return
    name = scene.pick(files)
    scene.damaged.add(name)
    scene.noted.append(name)
    change(scene.path(name))


def _flip(scene: Scene) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(scene.rng.integers(len(content)))] ^= 1 << int(scene.rng.integers(8))
        path.write_bytes(content)

    return change


def _cut(scene: Scene) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        content = path.read_bytes()
        path.write_bytes(content[: int(scene.rng.integers(len(content)))])

    return change


def _bundles(folder: Path) -> list[tuple[Path, Path]]:
    """Return pairs of bundles in one folder with the same suffixes."""
    lists = sorted((folder / "results").rglob("*.sha256"))
    return [
        (a, b)
        for i, a in enumerate(lists)
        for b in lists[i + 1 :]
        if a.parent == b.parent and _endings(a) == _endings(b)
    ]


def _endings(checksum: Path) -> list[str]:
    stem = f"{checksum.stem}."
    return sorted(p.name.removeprefix(stem) for p in checksum.parent.iterdir() if p.name.startswith(stem))


def _swap(scene: Scene) -> None:
    wait(lambda: bool(_bundles(scene.folder)) or scene.over(), HANGING, scene.watch)
    pairs = _bundles(scene.folder)
    one, other = pairs[int(scene.rng.integers(len(pairs)))]
    for ending in _endings(one):
        a, b = (c.with_name(f"{c.stem}.{ending}") for c in (one, other))
        aside = a.with_name(f"{a.name}.aside")
        scene.damaged |= {p.relative_to(scene.folder).as_posix() for p in (a, b, aside)}
        a.rename(aside)
        b.rename(a)
        aside.rename(b)
    scene.noted.append(f"{one.relative_to(scene.folder)} and {other.name}")


def _second_run(scene: Scene) -> None:
    """Start another run while the first one is paused, as the first could otherwise end too early."""
    run, log = scene.current(), scene.folder.with_suffix(".second.log")
    if not run.ended():
        os.killpg(run.process.pid, signal.SIGSTOP)
    second = start(scene.folder, log, scene.given.mirror, snakemake())
    hung = not wait(second.ended, HANGING)
    end_all(second)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.process.pid, signal.SIGCONT)
    scene.second = second.output
    log.unlink()
    if hung or second.process.returncode == 0 or "Traceback" in scene.second:
        scene.noted.append(f"the second run {'hung' if hung else f'ended with {second.process.returncode}'}")


def _jump(scene: Scene) -> None:
    """Move the clock, so that later files on the disk also get the changed time."""
    seconds = int(scene.rng.choice(JUMPS))
    clock = scene.folder.with_suffix(".clock")
    clock.write_text(f"{seconds:+d}\n")
    jumped = clock.stat().st_mtime
    scene.noted.append(f"by {seconds:+d} s")

    def on_disk() -> None:
        for path in scene.folder.rglob("*"):
            about = path.lstat()
            if about.st_mtime > jumped and not path.is_symlink():
                os.utime(path, (about.st_atime, about.st_mtime + seconds))

    scene.heal.append(on_disk)


ACTIONS: dict[str, Callable[[Scene], None]] = {
    "kill_main": _kill_main,
    "kill_job": _kill_job,
    "kill_group": _kill_group,
    "term_once": lambda scene: _term(scene, 1),
    "term_twice": lambda scene: _term(scene, 2),
    "int_then_term": _int_then_term,
    "unwritable": _unwritable,
    "corrupted_result": lambda scene: _damage(scene, "results/", _flip(scene)),
    "truncated_result": lambda scene: _damage(scene, "results/", _cut(scene)),
    "deleted_result": lambda scene: _damage(scene, "results/", Path.unlink),
    "swapped_results": _swap,
    "corrupted_data": lambda scene: _damage(scene, "data/prepared/", _flip(scene)),
    "moved_clock": _jump,
    "two_runs": _second_run,
}
"""Actions at the moment of the fault; other kinds of faults are prepared before the run."""


def _small_disk(scene: Scene, part: str) -> None:
    """Mount a disk below a folder, with space for the moment's share of what the run adds."""
    target = scene.path(part)
    target.mkdir(parents=True, exist_ok=True)
    _call("mount", "-t", "tmpfs", "-o", "size=1g,mode=755", "none", target)
    shutil.copytree(scene.given.start / part, target, symlinks=True, dirs_exist_ok=True)
    about = os.statvfs(target)
    used = (about.f_blocks - about.f_bfree) * about.f_frsize
    room = int(scene.moment.fraction**2 * scene.given.growth(part))
    _call("mount", "-o", f"remount,size={used + room + PAGE}", target)
    scene.heal.append(lambda: _call("mount", "-o", "remount,size=1g", target))
    scene.noted.append(f"room for {room // 1024} KiB")


def disturbed(given: Undisturbed, moment: Moment, code: str) -> tuple[Row, str]:
    """Return the outcome of a moment and the output of the runs; the folder is kept only if something is wrong."""
    kind = BY_NAME[moment.kind]
    row = Row(moment.seed, moment.number, moment.kind, moment.fraction, code)
    if reason := why_not(kind.name, given.mirror):
        return replace(row, impossible=reason), ""
    folder = given.base / f"moment-{moment.number}"
    scene = Scene(given, moment, folder, moment.rng())
    small = {"full_disk": ".", "full_results": "results", "full_data": "data"}.get(kind.name)
    row, printed = row, ""
    try:
        finished = kind.latest > 1 and moment.fraction >= 1
        shutil.copytree(given.finished if finished else given.start, folder, symlinks=True)
        if small is not None:
            _small_disk(scene, small)
        row, printed = _play(scene, row, finished)
        if row.bad:
            kept = given.base / f"kept-{moment.number}"
            shutil.copytree(folder, kept, symlinks=True)
            (kept / "faults.log").write_text(printed)
    finally:
        if small is not None:
            _call("umount", "-l", scene.path(small))
        shutil.rmtree(folder, ignore_errors=True)
    return row, printed


def _play(scene: Scene, row: Row, finished: bool) -> tuple[Row, str]:
    kind, given, folder, moment = BY_NAME[row.kind], scene.given, scene.folder, scene.moment
    more: dict[str, str] = {}
    command = ["make", "--file", "faults.mk", "run"] if kind.name == "int_then_term" else snakemake()
    if kind.name == "moved_clock":
        clock = folder.with_suffix(".clock")
        clock.write_text("+0\n")
        more = {"LD_PRELOAD": clock_library() or "", "FAKETIME_TIMESTAMP_FILE": str(clock)}
        more |= {"FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    if kind.name == "truncated_download" and given.mirror is not None:
        given.mirror.share = moment.fraction
        scene.heal.append(lambda: setattr(given.mirror, "share", 1.0))
    try:
        if not finished:
            scene.run = start(folder, folder.with_suffix(".log"), given.mirror, command, more)
            row = _wait_for_moment(scene, row)
        if (action := ACTIONS.get(kind.name)) is not None:
            action(scene)
        row = _after_first(scene, row)
    finally:
        if scene.run is not None:
            end_all(scene.run)
        reap()
        for heal in reversed(scene.heal):
            heal()
    first = scene.run.output if scene.run else ""
    row = _said(scene, row, first)
    row, repairs = _repaired(scene, row)
    run = start(folder, folder.with_suffix(".again.log"), given.mirror, snakemake())
    hung = not wait(run.ended, HANGING, scene.watch)
    end_all(run)
    different = differences(given.expected, tree(folder, PARTS))
    noted = [*scene.noted, *different[:6], *(f"half-written: {name}" for name in scene.written[:6])]
    row = replace(
        row,
        hung=row.hung + hung,
        half_written=len(scene.written),
        restarted=run.process.returncode,
        seconds=round(run.seconds, 2),
        different=len(different),
        note="; ".join(noted),
    )
    printed = f"{first}\n-- second run --\n{scene.second or ''}\n-- repair --\n{repairs}\n-- restart --\n{run.output}"
    for log in (folder.with_suffix(".log"), folder.with_suffix(".again.log"), folder.with_suffix(".clock")):
        log.unlink(missing_ok=True)
    return row, printed


def _wait_for_moment(scene: Scene, row: Row) -> Row:
    run, given = scene.current(), scene.given
    if row.kind in ACTIONS:
        due = given.begin + scene.moment.fraction * (given.total - given.begin)
        wait(lambda: run.ended() or run.used() >= due, HANGING, scene.watch)
    return replace(row, hit=int(not run.ended()), during=run.during())


def _after_first(scene: Scene, row: Row) -> Row:
    """Wait for the disturbed run, and examine its remains."""
    if scene.run is None:
        return row
    run = scene.run
    hung = not wait(run.ended, HANGING, scene.watch)
    if not hung:
        wait(lambda: not run.alive(), GRACE, scene.watch)
    left = 0 if hung else len(run.alive())
    locked = _locked(scene.path(".snakemake/shuffledp.lock"))
    end_all(run)
    found = {n: d for n, d in tree(scene.folder, PARTS).items() if n not in scene.damaged}
    seen = half_written(scene.given.expected, found)
    scene.written += [name for name in seen if name not in scene.written]
    code = run.process.returncode
    return replace(row, ended=code, hung=int(hung), left=left, locked=int(locked))


def _locked(path: Path) -> bool:
    """Return whether a process holds a kernel lock."""
    if not path.exists():
        return False
    with path.open("rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _said(scene: Scene, row: Row, first: str) -> Row:
    """Return the required line, from a run that failed or from a second run that was rejected."""
    kind = BY_NAME[row.kind]
    if kind.completes and row.ended != 0:
        row = replace(row, silent=1)
        scene.noted.append("the run did not complete")
    due = row.hit if kind.completes else row.ended != 0
    if not kind.says or not due:
        return row
    line = line_that_says(first if scene.second is None else scene.second, kind.says)
    return replace(row, said=line, silent=int(row.silent or not line))


def _repaired(scene: Scene, row: Row) -> tuple[Row, str]:
    if not BY_NAME[row.kind].damages:
        return row, ""
    done = subprocess.run(
        [str(SNAKEMAKE.with_name("shuffledp")), "repair"],
        cwd=scene.folder,
        env=environment(scene.given.mirror, "repair"),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        scene.noted.append(f"repair ended with {done.returncode}")
    return replace(row, repaired=done.stdout.count("removed ")), done.stdout + done.stderr


@contextlib.contextmanager
def base_folder(base: Path) -> Iterator[Path]:
    """Yield the folder of all moments; only kept moments remain in it."""
    try:
        yield base
    finally:
        for path in base.iterdir():
            if not path.name.startswith("kept-"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if not any(base.iterdir()):
            base.rmdir()
