"""Runs of the real workflow that several tests share."""

from pathlib import Path

import pytest

from pipeline_project import Project, copy_of_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return copy_of_project(tmp_path)


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """One undisturbed quick run, for all tests that only look at it, and what it printed."""
    finished = copy_of_project(tmp_path_factory.mktemp("quick"))
    output = finished.succeeds("--configfile", "config/quick.yaml")
    return finished, output
