import os

import pytest

from demo_job import demo_job
from shuffledp.accounting.errors import Infeasible
from shuffledp.pipeline.audit.auditor import AuditSetting
from shuffledp.pipeline.experiments import calibrations, runner
from shuffledp.populations import Fixed
from shuffledp.protocols.frequency.pure_dump import PureDump
from shuffledp.tasks import Budget, Frequency


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """Folder in which every calibration is stored, the fastest too."""
    monkeypatch.setenv(calibrations.FOLDER, str(tmp_path))
    monkeypatch.setattr(calibrations, "LEAST_SECONDS", 0.0)
    return tmp_path


BUDGET = Budget(0.5, 1e-6)


def setting(budget=BUDGET):
    return AuditSetting(PureDump, "exact", Frequency(2), Fixed(999), budget)


def test_audit_reads_calibration_of_experiment(shared, tmp_path, monkeypatch):
    job = demo_job(
        protocol="pure_dump",
        accounting=["exact"],
        repeats=1,
        grid={"eps": [0.5]},
        population={"users": 1000},
        budget={"eps": "$eps", "delta": 1e-6},
    )
    runner.run(job, prepared=tmp_path, root=tmp_path)
    expected = PureDump.calibrate(BUDGET, Fixed(999), Frequency(2), accounting="exact")
    monkeypatch.setattr(PureDump, "calibrate", None)
    assert setting().calibrated() == expected
    with pytest.raises(TypeError):
        setting(budget=Budget(0.5, 1e-7)).calibrated()


def test_infeasible_reason_is_stored(shared, monkeypatch):
    nothing = setting(budget=Budget(0.5, 0.0))
    with pytest.raises(Infeasible) as first:
        nothing.calibrated()
    monkeypatch.setattr(PureDump, "calibrate", None)
    with pytest.raises(Infeasible) as second:
        nothing.calibrated()
    assert second.value.reason == first.value.reason


def test_fast_calibrations_are_not_stored(shared, monkeypatch):
    monkeypatch.setattr(calibrations, "LEAST_SECONDS", 60.0)
    setting().calibrated()
    assert not list(shared.iterdir())


def test_run_removes_calibrations_of_killed_one(tmp_path, monkeypatch):
    monkeypatch.setenv(calibrations.FOLDER, "")  # restored at the end
    calibrations.share_calibrations(tmp_path)
    (first,) = tmp_path.iterdir()
    (first / "left").write_bytes(b"")
    calibrations.share_calibrations(tmp_path)
    (second,) = tmp_path.iterdir()
    assert second != first
    assert os.environ[calibrations.FOLDER] == str(second)
    assert not list(second.iterdir())
