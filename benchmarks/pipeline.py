"""CPU times of the pipeline's parts: ``python benchmarks/pipeline.py [quick] [papers] [fresh]``.

Runs the workflow in a separate folder and adds up the CPU time of every process; the table is written into
docs/benchmarks.md. ``papers`` is the papers' scale without training, and ``fresh`` times ``make quick`` in a clone.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from shuffledp.pipeline.config.config_files import merged, read_yaml
from shuffledp.pipeline.doc_blocks import write_block
from shuffledp.pipeline.figures.selection import load_settings

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/benchmarks.md"
PARTS = ("Snakefile", "workflow", "config", "profiles", "data/summaries")
SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
STARTS = 5
KINDS = {
    "run_method.py": "methods",
    "claim_table.py": "tables of claims",
    "verdicts.py": "verdicts on claims",
    "claims.py": "their table",
    "open_questions.py": "open questions",
    "audit.py": "the audit",
    "audit_together.py": "its table",
    "draw_paper.py": "drawing",
    "draw_overall.py": "pictures over all papers",
    "pages.py": "the site",
    "prepare_dataset.py": "data sets",
}
"""Names of the jobs of a run without training, by script."""
LEFT_OUT = ("train.py", "draw_figure.py", "prepare_own.py", "make_summaries.py")
"""Scripts that such a run never starts: training, a single figure, a user's files, stored summaries."""
# Every Python process of the run says what it used when it ends, by the name of its script; jobs are forks.
SPY = """
import atexit, json, os, resource, sys
from multiprocessing import util
def report():
    used = [sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    status = open("/proc/self/status").read()  # ru_maxrss begins with the memory of the process that started this one
    most = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    line = json.dumps([os.path.basename(sys.argv[0]), *used, most]) + "\\n"
    out = os.open(os.environ["SHUFFLEDP_CPU"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(out, line.encode())
atexit.register(report)
util.register_after_fork(report, lambda fork: util.Finalize(None, fork, exitpriority=0))
"""
# A job of a method as a fork, with a grid without points: all of its imports and none of its work.
START = """
import json, os, sys
from pathlib import Path
import snakemake.cli, shuffledp.pipeline.preloaded
sys.path.insert(0, sys.argv[1])
job = json.load(sys.stdin)
fork = os.fork()
if not fork:
    import run_method
    from shuffledp.pipeline.experiments.bundle import Bundle
    folder = Path(sys.argv[2])
    run_method.main(job, Path("data/prepared"), Path("."), folder, Bundle.of(folder, "a", "b", "c"))
    os._exit(0)
_, status, used = os.wait4(fork, 0)
print(used.ru_utime + used.ru_stime)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@dataclass(frozen=True)
class Run:
    """One run of the workflow: seconds of wall time, CPU seconds by kind of process, and the number of cells.

    Each kind of job has its number of jobs, and the CPU seconds and MiB of its largest job.
    """

    wall: float
    cpu: Mapping[str, float]
    jobs: Mapping[str, int]
    longest: Mapping[str, float]
    memory: Mapping[str, float]
    cells: int


def workflow(scale: str, folder: Path, cores: int) -> Run:
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / part, folder / part)
    spy = folder / "spy"
    spy.mkdir()
    (spy / "sitecustomize.py").write_text(SPY, encoding="utf-8")
    log = folder / "cpu.jsonl"
    command = [str(Path(sys.executable).with_name("snakemake")), "--cores", str(cores)]
    command += ["--configfile", "config/quick.yaml"] if scale == "quick" else []
    environment = {**os.environ, **SINGLE, "PYTHONPATH": str(spy), "SHUFFLEDP_CPU": str(log)}
    started = time.monotonic()
    subprocess.run([*command, "--config", "learning=skip"], cwd=folder, env=environment, check=True)
    wall = time.monotonic() - started
    return used(log, wall, folder / ("results/quick" if scale == "quick" else "results"))


def used(log: Path, wall: float, results: Path) -> Run:
    """Return the measurements from the processes' logs."""
    cpu = dict.fromkeys(("snakemake", *KINDS.values(), "other processes"), 0.0)
    jobs = dict.fromkeys(KINDS.values(), 0)
    longest, memory = dict.fromkeys(KINDS.values(), 0.0), dict.fromkeys(KINDS.values(), 0.0)
    total = 0.0
    for line in log.read_text(encoding="utf-8").splitlines():
        name, own, children, most = json.loads(line)
        if name == "snakemake":
            cpu["snakemake"] += own
            total = own + children
        for script, kind in KINDS.items():
            if name.endswith(script):
                cpu[kind] += own + children
                jobs[kind] += 1
                longest[kind] = max(longest[kind], own + children)
                memory[kind] = max(memory[kind], most)
    cpu["other processes"] = total - sum(cpu.values())
    cells = sum(pq.read_metadata(path).num_rows for path in results.glob("runs/*/*/*.cells.parquet"))
    return Run(wall, cpu, jobs, longest, memory, cells)


def start_of_a_job(folder: Path) -> tuple[float, float]:
    """Return the median and largest CPU seconds before the first cell, over methods of one experiment per task kind."""
    config = merged(read_yaml(ROOT / "config/config.yaml"), {"learning": "skip"})
    settings = load_settings(config, ROOT)
    firsts = {}
    for paper in settings.papers.values():
        for experiment in paper.experiments.values():
            for method in experiment.methods:
                job = experiment.job(method, settings.seed)
                kind = job["task"]["kind"] if job["protocol"] else f"function {job['paper']}"
                firsts.setdefault(kind, {**job, "grid": {name: [] for name in job["grid"]} or {"none": []}})
    times = [min(_started(job, folder) for _ in range(STARTS)) for job in firsts.values()]
    return statistics.median(times), max(times)


def _started(job: Mapping[str, object], folder: Path) -> float:
    command = [sys.executable, "-c", START, str(ROOT / "workflow/scripts"), str(folder / "starts")]
    done = subprocess.run(
        command,
        input=json.dumps(job),
        env={**os.environ, **SINGLE},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"A job without cells failed: {job}")
    return float(done.stdout)


def fresh(folder: Path, cores: int) -> float:
    """Return the seconds of ``make quick`` in a clone, with the set-up."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    started = time.monotonic()
    subprocess.run(["make", "quick", f"CORES={cores}"], cwd=folder, check=True)
    return time.monotonic() - started


def table(
    runs: Mapping[str, Run], start: tuple[float, float], clone: float | None, load: float
) -> Iterator[str]:
    """Yield the table in Markdown."""
    names = {"quick": "quick", "papers": "papers' scale without training"}
    yield f"| | {' | '.join(names[scale] for scale in runs)} |"
    yield f"|---|{'---:|' * len(runs)}"
    rows: dict[str, list[str]] = {"wall time": [f"{run.wall:.0f} s" for run in runs.values()]}
    rows["CPU time in all"] = [f"{sum(run.cpu.values()):.0f} s" for run in runs.values()]
    rows["main process"] = [f"{run.cpu['snakemake']:.0f} s" for run in runs.values()]
    rows["methods: starts of their jobs"] = [
        f"{run.jobs['methods']} x {start[0]:.2f} s = {run.jobs['methods'] * start[0]:.0f} s"
        for run in runs.values()
    ]
    work = [run.cpu["methods"] - run.jobs["methods"] * start[0] for run in runs.values()]
    rows["methods: their work"] = [f"{seconds:.0f} s" for seconds in work]
    for kind in list(KINDS.values())[1:]:
        rows[kind] = [_jobs(run, kind) for run in runs.values()]
    rows["other processes"] = [f"{run.cpu['other processes']:.0f} s" for run in runs.values()]
    rows["longest job of a method"] = [f"{run.longest['methods']:.0f} s" for run in runs.values()]
    rows["largest memory of a job"] = [
        "{:.0f} MiB, {}".format(*max((most, kind) for kind, most in run.memory.items()))
        for run in runs.values()
    ]
    rows["cells"] = [f"{run.cells:,}" for run in runs.values()]
    rows["methods: work per cell"] = [
        f"{1e3 * seconds / run.cells:.0f} ms" for seconds, run in zip(work, runs.values(), strict=True)
    ]
    for name, cells in rows.items():
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""
    yield (
        f"The start of a method's job takes {start[0]:.2f} CPU s (median over kinds of methods), at "
        f"most {start[1]:.2f} s."
    )
    if clone is not None:
        yield f"`make quick` takes {clone:.0f} s in a fresh clone, including the installation."
    used = f"The run used {os.cpu_count()} cores and Python {platform.python_version()}."
    yield f"{used} The load of the machine before the run was {load:.1f}."


def _jobs(run: Run, kind: str) -> str:
    text = f"{run.cpu[kind]:.0f} s"
    return (
        text
        if run.jobs[kind] < 2
        else f"{text} in {run.jobs[kind]} jobs, the longest {run.longest[kind]:.0f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scales", nargs="*", choices=["quick", "papers", "fresh"], default=["quick"])
    parser.add_argument("--cores", type=int, default=2)
    asked = parser.parse_args()
    load = os.getloadavg()[1]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        start = start_of_a_job(folder)
        runs = {
            scale: workflow(scale, folder / scale, asked.cores)
            for scale in ("quick", "papers")
            if scale in asked.scales
        }
        clone = fresh(folder / "clone", asked.cores) if "fresh" in asked.scales else None
    text = "\n".join(table(runs, start, clone, load))
    print(text)
    write_block(PAGE, "time table", text)


if __name__ == "__main__":
    main()
