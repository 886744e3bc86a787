"""A copy of the project's workflow in a folder of its own, and the real Snakemake run in it."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


ROOT = Path(__file__).resolve().parents[1]
PARTS = ("Snakefile", "workflow", "config", "profiles", "data/summaries")
SNAKEMAKE = Path(sys.executable).with_name("snakemake")


@dataclass(frozen=True)
class Project:
    """A project folder to run the workflow in."""

    folder: Path

    def environment(self) -> dict[str, str]:
        # No mirror and no network: the summaries shipped with the project serve as data.
        return {k: v for k, v in os.environ.items() if k != "SHUFFLEDP_MIRROR"} | {
            "OMP_NUM_THREADS": "1",
            "http_proxy": "http://127.0.0.1:9",
            "https_proxy": "http://127.0.0.1:9",
        }

    def command(self, *arguments: str) -> list[str]:
        return [str(SNAKEMAKE), "--cores", "2", *arguments]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """A run in a process group of its own, so that it can be killed like a crashed terminal would."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )

    def succeeds(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout[-6000:]
        return done.stdout

    def tables(self, results: str = "results/quick") -> dict[str, bytes]:
        """Bytes of all result tables."""
        found = sorted((self.folder / results / "runs").rglob("*.parquet"))
        return {str(p.relative_to(self.folder)): p.read_bytes() for p in found}

    def jobs_of(self, output: str) -> list[str]:
        """Wildcards of the method jobs that a run's output shows."""
        return [
            line.split("method=")[1]
            for line in output.splitlines()
            if "wildcards: " in line and "method=" in line
        ]


def kill(process: subprocess.Popen[str]) -> None:
    """Kill the main process alone, as the kernel would when memory runs out; its scripts are left behind."""
    process.send_signal(signal.SIGKILL)
    process.communicate()


def copy_of_project(folder: Path, skip: Sequence[str] = ()) -> Project:
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__", *skip))
        else:
            shutil.copy(source, folder / part)
    return Project(folder)
