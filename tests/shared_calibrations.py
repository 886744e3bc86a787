"""Calibrations that several tests need are computed once, in any process, as in a run of the pipeline."""

import os

import pytest

from shuffledp.pipeline.experiments.calibrations import FOLDER


@pytest.fixture(autouse=True)
def shared_calibrations(tmp_path_factory, monkeypatch):
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "calibrations"
    folder.mkdir(exist_ok=True)
    monkeypatch.setenv(FOLDER, str(folder))
