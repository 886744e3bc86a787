"""Copy of the project's workflow in a separate folder, in which Snakemake runs."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("Snakefile", "workflow", "config", "profiles", "data/summaries", "reference/overall")
SNAKEMAKE = Path(sys.executable).with_name("snakemake")
#: Options of the quick run as `make quick` has it, which installs nothing for training.
QUICK = ("--configfile", "config/quick.yaml", "--config", "learning=skip")
#: Seconds after which a run counts as hanging, also on a busy machine.
HANGING = 3600
#: Pattern without a start of line: Snakemake writes line ends separately, and a job may write before one.
METHOD_DONE = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+\.([a-z0-9_]+): \d+ cells in")


TINY = """
paper: {title: "A tiny paper", citation: "nobody"}
experiments:
  adult:
    source: "Fig. 1"
    task: {kind: frequency, domain_size: 2, truth: participants, metrics: [tve]}
    data: {name: adult, column: sex, draw: without_replacement}
    population: {law: binomial, trials: 48841, rate: 0.05}
    budget: {eps: $eps, delta: 1.0e-5}
    grid: {eps: [0.01, 0.5]}
    accounting: [printed, exact]
    repeats: 100
    methods: {local: {}, amplified: {}}
figures:
  fig1: {title: "Tiny", experiment: adult, x: eps, y: tve, curves: method, files: accounting, caption: any.rst}
tables:
  budgets:
    title: "Tiny table"
    experiment: adult
    rows: [eps]
    columns: [method, accounting]
    value: eps_local
    caption: any.rst
"""


@dataclass(frozen=True)
class Project:
    """Project folder in which the workflow runs."""

    folder: Path

    def environment(self) -> dict[str, str]:
        # No mirror and no network: the summaries shipped with the project serve as data.
        # Nor the compiler's settings of the tests: what is run is what is shipped.
        return {k: v for k, v in os.environ.items() if k not in ("SHUFFLEDP_MIRROR", "XLA_FLAGS")} | {
            "OMP_NUM_THREADS": "1",
            "http_proxy": "http://127.0.0.1:9",
            "https_proxy": "http://127.0.0.1:9",
        }

    def command(self, *arguments: str) -> list[str]:
        return [str(SNAKEMAKE), "--cores", "2", *arguments]

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Start a run in its own process group, so that a test can kill it like a crashed terminal.

        At the end all remaining processes are killed, for example after a failed test.
        """
        process = subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        with process:
            try:
                yield process
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=HANGING,
            check=False,
        )

    def succeeds(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout[-6000:]
        return done.stdout

    def tables(self, results: str = "results/quick") -> dict[str, bytes]:
        """Return the bytes of all result tables."""
        found = sorted((self.folder / results / "runs").rglob("*.parquet"))
        return {str(p.relative_to(self.folder)): p.read_bytes() for p in found}

    def jobs_of(self, output: str) -> set[str]:
        """Return the methods whose jobs ran, by the line that each prints at its end."""
        return set(METHOD_DONE.findall(output))


@dataclass(frozen=True)
class QuickRun:
    """Finished quick run, for all tests that only read it.

    ``output`` is its output; ``refused`` is a second run that was started in its folder at the same time.
    """

    project: Project
    output: str
    refused: subprocess.CompletedProcess[str]

    @property
    def results(self) -> Path:
        return self.project.folder / "results/quick"


def read_until(process: subprocess.Popen[str], pattern: str | re.Pattern[str], times: int = 1) -> str:
    """Return a run's output up to the line that contains the n-th match of a pattern."""
    lines: list[str] = []
    assert process.stdout is not None
    while times > 0:
        line = process.stdout.readline()
        assert line, f"the run ended too early:\n{''.join(lines)[-6000:]}"
        lines.append(line)
        times -= bool(re.search(pattern, line))
    return "".join(lines)


def kill(process: subprocess.Popen[str]) -> None:
    """Kill only the main process, as the kernel does when memory is exhausted; its scripts remain."""
    process.send_signal(signal.SIGKILL)
    process.communicate()


def copy_of_project(folder: Path) -> Project:
    """Copy the project's workflow, with another paper called ``tiny``: two methods on a small grid."""
    folder.mkdir(exist_ok=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / part)
    (folder / "config/experiments/tiny.yaml").write_text(TINY)
    (folder / "config/tiny.yaml").write_text("papers: [tiny]\nresults: results/quick\neffort: quick\n")
    (folder / "workflow/report/tiny").mkdir(parents=True)
    (folder / "workflow/report/tiny/any.rst").write_text("What to see.\n")
    return Project(folder)
