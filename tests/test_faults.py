"""The plan of faults, the comparison of trees, and the search for processes."""

import signal

import pytest

import fault_machine
from fault_machine import KINDS, differences, half_written, plan, tree
from scripts_by_file import script
from waiting import wait_until


def test_a_plan_is_drawn_once_and_has_every_kind():
    moments = plan(7, 12)
    assert plan(7, 12) == moments and plan(8, 12) != moments
    assert {moment.kind for moment in moments} == set(KINDS)
    assert all(0 <= moment.fraction < 1 for moment in moments)
    assert {moment.kind for moment in plan(7, 9, ["kill"])} == {"kill"}


def test_an_unknown_kind_is_refused_in_one_line(monkeypatch):
    monkeypatch.setattr("sys.argv", ["faults", "--kinds", "flood"])
    with pytest.raises(SystemExit, match=r"^faults: no kind flood; known: kill, full_disk"):
        script("tools/faults.py").main()


@pytest.fixture
def folder(tmp_path):
    for name in ("results/a/one", "results/drawn/two", "data/three", "logs/four"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def test_a_changed_byte_a_missing_and_an_extra_file_are_noticed(folder):
    before = tree(folder)
    assert sorted(before) == ["data/three", "results/a/one"]
    (folder / "logs/four").write_text("another")
    assert differences(before, tree(folder)) == []
    (folder / "results/a/one").write_text("results/a/onf")
    assert differences(before, tree(folder)) == ["changed results/a/one"]
    (folder / "data/three").unlink()
    (folder / "results/a/five").touch()
    assert differences(before, tree(folder)) == [
        *("missing data/three", "extra results/a/five", "changed results/a/one"),
    ]


def test_what_is_absent_or_has_a_temporary_name_is_not_half_written():
    final = {"results/a": "3", "results/b": "4"}
    present = {"results/a": "3", "results/.b.host-12-0123abcd.tmp": "1", "data/raw/c.part": "2"}
    assert half_written(final, present) == []
    assert half_written(final, {"results/a": "2", "results/c": "1"}) == ["results/a", "results/c"]


def test_processes_of_a_run_are_found_with_their_children_and_ended(tmp_path, monkeypatch):
    program = tmp_path / "snakemake"
    program.write_text("#!/bin/sh\nsleep 60 & sleep 60; true\n")
    program.chmod(0o755)
    monkeypatch.setattr(fault_machine, "SNAKEMAKE", program)
    run, other = (fault_machine.start(tmp_path, tmp_path / name) for name in ("log", "other"))
    try:
        assert wait_until(lambda: len(run.alive()) == len(other.alive()) == 3)
        assert not set(run.alive()) & set(other.alive())
        run.process.kill()
        assert wait_until(run.ended)
        assert len(run.alive()) == 2, "orphans are still its own"
    finally:
        run.end()
        other.end()
    assert run.alive() == other.alive() == []
    assert run.process.returncode == other.process.returncode == -signal.SIGKILL
