"""The profile for Slurm with Slurm on this machine: results, failures and killed runs."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline_project import HANGING, Project, copy_of_project, kill, read_until
from shuffledp.storage import damaged
from slurm_machine import ACTIVE, Slurm, must_run, slurm, what_is_missing
from waiting import wait_until

MISSING = what_is_missing()
pytestmark = [
    pytest.mark.pipeline,
    pytest.mark.slurm,
    pytest.mark.skipif(MISSING is not None and not must_run(), reason=f"no Slurm: {MISSING}"),
]

TINY = ("runs", "--configfile", "config/tiny.yaml")


@dataclass(frozen=True)
class OnCluster(Project):
    """Project whose runs send their jobs to Slurm."""

    cluster: Slurm

    def environment(self) -> dict[str, str]:
        return {**super().environment(), **self.cluster.environment}

    def command(self, *arguments: str) -> list[str]:
        snakemake, *_ = super().command()
        return [snakemake, "--workflow-profile", "profiles/slurm", *arguments]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    assert MISSING is None, f"no Slurm: {MISSING}"
    with slurm(tmp_path_factory.mktemp("slurm")) as running:
        yield running


@pytest.fixture(scope="module")
def finished_run(cluster, tmp_path_factory):
    project = OnCluster(copy_of_project(tmp_path_factory.mktemp("on_cluster")).folder, cluster)
    return project, project.succeeds(*TINY)


@pytest.fixture
def project(finished_run, tmp_path):
    """Return a folder for one test with a finished tiny paper."""
    finished, _ = finished_run
    folder = Path(shutil.copytree(finished.folder, tmp_path / "project", symlinks=True))
    return OnCluster(folder, finished.cluster)


def test_cluster_results_equal_local_ones(finished_run, tmp_path):
    on_cluster, output = finished_run
    local = copy_of_project(tmp_path)
    local.succeeds(*TINY)
    assert on_cluster.tables() == local.tables()
    assert len(local.tables()) == 4
    prepared = "data/prepared/adult.parquet"
    assert (on_cluster.folder / prepared).read_bytes() == (tmp_path / prepared).read_bytes()
    assert set(on_cluster.cluster.jobs().values()) == {"COMPLETED"}
    assert len(on_cluster.cluster.jobs()) == 2  # the data and the experiment
    assert "Data adult: source summary" in output, "the run must say which data were used"


# A method of one's own that has got stuck, and one that fails.
METHOD = """
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shuffledp.protocols import Cost, Messages, ProtocolBase

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Stuck(ProtocolBase):
    name = "stuck"
    task_kind = "frequency"
    label = "Stuck"
    source = "this file"
    trust = "local"
    accountings = ("printed",)

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        return cls()

    def encode(self, users, rng):
        return Messages(users.values)

    def estimate(self, aggregate, public):
        (HERE / "waiting").touch()
        while not (HERE / "go").exists():
            time.sleep(0.1)
        return np.zeros(aggregate.shape)

    def cost(self):
        return Cost(messages_per_user=1, bits_per_message=1)


class Fails(Stuck):
    name = "fails"

    def estimate(self, aggregate, public):
        raise ArithmeticError("the sum came out odd")
"""
WAIT = """
        while not (HERE / "go").exists():
            time.sleep(0.1)
        return np.zeros(aggregate.shape)
"""
REPAIRED = """
        return np.ones(aggregate.shape)
"""


def add_methods(project, classes):
    """Add a user's methods by id and class, and return their folder."""
    mine = project.folder / "mine"
    mine.mkdir()
    (mine / "stuck.py").write_text(METHOD)
    methods = [f'  {name}: {{protocol: "mine/stuck.py:{cls}"}}\n' for name, cls in classes.items()]
    (project.folder / "config/baselines").mkdir(exist_ok=True)
    (project.folder / "config/baselines/mine.yaml").write_text(
        f"task: frequency\nmethods:\n{''.join(methods)}figures: all\n"
    )
    return mine


def new_jobs(cluster, before):
    return {job: state for job, state in cluster.jobs().items() if job not in before}


def test_failed_job_is_reported_on_cluster(project):
    """An interrupted run cancels the other jobs."""
    cluster, before = project.cluster, project.cluster.jobs()
    mine = add_methods(project, {"stuck": "Stuck", "fails": "Fails"})
    with project.running(*TINY) as process:
        output = read_until(process, "the sum came out odd")
        assert "Error in rule baseline_tiny_adult_fails" in output
        assert "tiny/adult/fails.log" in output
        assert wait_until((mine / "waiting").exists)
        time.sleep(
            2
        )  # Snakemake holds a lock while it prints a failure, and its handler of signals wants this lock
        process.send_signal(signal.SIGTERM)
        read_until(process, "Will exit after finishing currently running jobs")
        assert "RUNNING" in new_jobs(cluster, before).values()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANGING)
    assert process.returncode != 0
    assert wait_until(cluster.idle), cluster.jobs()
    assert sorted(new_jobs(cluster, before).values()) == ["CANCELLED", "FAILED"]
    assert not [name for name in project.tables() if "stuck" in name or "fails" in name]


def test_orphaned_job_publishes_only_planned_code(project):
    cluster, before = project.cluster, project.cluster.jobs()
    mine = add_methods(project, {"one": "Stuck"})
    with project.running(*TINY) as process:
        assert wait_until((mine / "waiting").exists)
        kill(process)
    finished = set(project.tables())
    (mine / "stuck.py").write_text(METHOD.replace(WAIT, REPAIRED))
    (mine / "go").touch()
    assert wait_until(lambda: not ACTIVE & set(new_jobs(cluster, before).values())), cluster.jobs()
    assert set(new_jobs(cluster, before).values()) == {"FAILED"}
    assert set(project.tables()) == finished
    assert (
        "was edited after the run had started"
        in (project.folder / "logs/results/quick/tiny/adult/one.log").read_text()
    )
    here = Project(project.folder)
    assert here.jobs_of(here.succeeds(*TINY)) == {"one"}
    lists = sorted((project.folder / "results/quick/runs").rglob("*.sha256"))
    assert len(lists) == 3
    assert not [path for checksum in lists for path in damaged(checksum)]


def test_stopped_cluster_leaves_nothing_running(tmp_path):
    assert MISSING is None
    with pytest.raises(ZeroDivisionError), slurm(tmp_path) as cluster:
        cluster.ask("sbatch", "--output=/dev/null", "--wrap", "sleep 600")
        assert wait_until(lambda: "RUNNING" in cluster.jobs().values())
        _ = 1 / 0
    listing = subprocess.run(["ps", "-e", "-o", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in listing
