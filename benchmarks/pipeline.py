"""CPU times of the pipeline's parts: ``python benchmarks/pipeline.py [quick] [papers] [fresh]``.

Runs the workflow in a separate folder and adds up the CPU times in the logs of its jobs; the table is written into
docs/benchmarks.md. ``papers`` is the papers' scale without training, and ``fresh`` times ``make quick`` in a clone.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from shuffledp.pipeline.doc_blocks import write_block
from shuffledp.pipeline.jobs import cost_of_job

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/benchmarks.md"
PARTS = ("Snakefile", "workflow", "config", "profiles", "data/summaries", "reference/overall")
KINDS = {
    r"dataset/\w+": "data sets",
    r"audit(/\w+)?": "the audit",
    r"\w+/claims": "tables of claims",
    r"\w+/verdicts|claims": "verdicts on claims",
    r"open_questions": "open questions",
    r"\w+/figures|overall": "drawing",
    r"pages": "the site",
    r"\w+/\w+": "experiments",
}
"""Kind of a job by the name of its log below the folder of the run."""


@dataclass(frozen=True)
class Run:
    """One run of the workflow: seconds, CPU seconds of all processes and by kind of job, and the number of cells."""

    seconds: float
    cpu: float
    jobs: Mapping[str, list[tuple[float, float, float]]]
    cells: int

    @property
    def main_process(self) -> float:
        """CPU seconds of Snakemake itself."""
        return self.cpu - sum(cpu for costs in self.jobs.values() for _, cpu, _ in costs)


def kind_of(log: str) -> str:
    """Return the kind of the job with this log; raises StopIteration for an unknown name."""
    return next(kind for pattern, kind in KINDS.items() if re.fullmatch(pattern, log))


def run_workflow(scale: str, folder: Path, cores: int) -> Run:
    """Run the workflow in a folder and return its costs."""
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / part, folder / part)
    command = [str(Path(sys.executable).with_name("snakemake")), "--cores", str(cores)]
    command += ["--configfile", "config/quick.yaml"] if scale == "quick" else []
    results = folder / ("results/quick" if scale == "quick" else "results")
    begin = time.monotonic()
    process = subprocess.Popen([*command, "--config", "learning=skip"], cwd=folder)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    if status:
        raise RuntimeError(f"The run ended with {os.waitstatus_to_exitcode(status)}.")
    jobs: dict[str, list[tuple[float, float, float]]] = {kind: [] for kind in KINDS.values()}
    for top in (folder / "logs", folder / "logs" / results.relative_to(folder)):
        for log in top.rglob("*.log") if top.name != "logs" else (top / "dataset").glob("*.log"):
            name = log.relative_to(top).with_suffix("").as_posix()
            jobs[kind_of(name)].append(cost_of_job(log.read_text(encoding="utf-8")))
    cells = sum(pq.read_metadata(path).num_rows for path in results.glob("runs/*/*/*.cells.parquet"))
    return Run(seconds, usage.ru_utime + usage.ru_stime, jobs, cells)


def time_fresh_clone(folder: Path, cores: int) -> float:
    """Return the seconds of ``make quick`` in a clone, with the set-up."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    begin = time.monotonic()
    subprocess.run(["make", "quick", f"CORES={cores}"], cwd=folder, check=True)
    return time.monotonic() - begin


def table(runs: Mapping[str, Run], clone: float | None, load: float) -> Iterator[str]:
    """Yield the table in Markdown."""
    names = {"quick": "quick", "papers": "papers' scale without training"}
    yield f"| | {' | '.join(names[scale] for scale in runs)} |"
    yield f"|---|{'---:|' * len(runs)}"
    rows: dict[str, list[str]] = {"wall time": [f"{run.seconds:.0f} s" for run in runs.values()]}
    rows["CPU time in all"] = [f"{run.cpu:.0f} s" for run in runs.values()]
    rows["main process"] = [f"{run.main_process:.0f} s" for run in runs.values()]
    for kind in KINDS.values():
        rows[kind] = [_costs(run.jobs[kind]) for run in runs.values()]
    rows["largest memory of a job"] = [
        f"{max(memory for costs in run.jobs.values() for _, _, memory in costs):.0f} MiB"
        for run in runs.values()
    ]
    rows["cells"] = [f"{run.cells:,}" for run in runs.values()]
    for name, cells in rows.items():
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""
    if clone is not None:
        yield f"`make quick` takes {clone:.0f} s in a fresh clone, including the installation."
    used = f"The run used {os.cpu_count()} cores and Python {platform.python_version()}."
    yield f"{used} The load of the machine before the run was {load:.1f}."


def _costs(costs: list[tuple[float, float, float]]) -> str:
    seconds = [cpu for _, cpu, _ in costs]
    if len(seconds) < 2:
        return f"{sum(seconds):.0f} s"
    return f"{sum(seconds):.0f} s in {len(seconds)} jobs, the longest {max(seconds):.0f} s"


def main() -> None:
    """Measure the chosen scales and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scales", nargs="*", choices=["quick", "papers", "fresh"], default=["quick"])
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    load = os.getloadavg()[1]
    with tempfile.TemporaryDirectory() as place:
        scales = [scale for scale in options.scales if scale != "fresh"]
        runs = {scale: run_workflow(scale, Path(place) / scale, options.cores) for scale in scales}
        clone = time_fresh_clone(Path(place) / "fresh", options.cores) if "fresh" in options.scales else None
    text = "\n".join(table(runs, clone, load))
    print(text)
    write_block(PAGE, "time table", text)


if __name__ == "__main__":
    main()
