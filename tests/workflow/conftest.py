"""Runs of the complete workflow that several tests share."""

import shutil
from pathlib import Path

import pytest

from pipeline_project import HANGING, QUICK, Project, QuickRun, copy_of_project, read_until


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return copy_of_project(tmp_path)


@pytest.fixture(scope="session")
def finished_tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Project:
    finished = copy_of_project(tmp_path_factory.mktemp("tiny"))
    finished.succeeds("--configfile", "config/tiny.yaml")
    return finished


@pytest.fixture
def tiny_run(finished_tiny_run: Project, tmp_path: Path) -> Project:
    """Return a folder for one test with a finished tiny paper: a copy that keeps times of files."""
    return Project(Path(shutil.copytree(finished_tiny_run.folder, tmp_path / "project", symlinks=True)))


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> QuickRun:
    project = copy_of_project(tmp_path_factory.mktemp("quick"))
    with project.running(*QUICK) as first:
        begun = read_until(first, "steps .* done")  # it holds the lock
        refused = project.run("--configfile", "config/tiny.yaml")
        assert first.poll() is None, "the first run ended before the second one could be refused"
        rest, _ = first.communicate(timeout=HANGING)
    assert first.returncode == 0, rest[-6000:]
    return QuickRun(project, begun + rest, refused)
