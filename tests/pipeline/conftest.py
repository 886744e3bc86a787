"""Runs of the real workflow that several tests share."""

import shutil
from pathlib import Path

import pytest

from pipeline_project import Project, copy_of_project


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
    """A folder of the test's own in which the tiny paper is finished: a copy, times of files included."""
    return Project(Path(shutil.copytree(finished_tiny_run.folder, tmp_path / "project", symlinks=True)))


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """One undisturbed quick run, for all tests that only look at it, and what it printed."""
    finished = copy_of_project(tmp_path_factory.mktemp("quick"))
    output = finished.succeeds("--configfile", "config/quick.yaml")
    return finished, output
