"""The plan of faults, the comparison of trees, the table and its counts, and the search for processes and locks."""

import fcntl
import signal
import urllib.request
from dataclasses import replace
from http.client import IncompleteRead
from itertools import pairwise

import pytest

import fault_machine
from fault_moments import (
    BY_NAME,
    KINDS,
    Moment,
    Row,
    add,
    differences,
    digest,
    half_written,
    line_that_says,
    missing,
    of_plan,
    plan,
    read,
    summary,
    tree,
)
from scripts_by_file import script
from waiting import wait_until

ROW = Row(7, 0, "full_data", 0.25, "new", hit=1, ended=1, said="No space", seconds=3.5)


def test_a_plan_is_drawn_once_and_a_shorter_one_is_its_beginning():
    long = plan(7, 50)
    assert plan(7, 50) == long and plan(7, 5) == long[:5] and plan(8, 5) != long[:5]
    assert [moment.number for moment in long] == list(range(50))
    kinds = [moment.kind for moment in long]
    for begin, end in pairwise(range(0, 50, len(KINDS))):
        assert sorted(kinds[begin:end]) == sorted(BY_NAME), "every kind before one comes again"
    assert all(0 <= moment.fraction <= BY_NAME[moment.kind].latest for moment in long)
    assert len({moment.fraction for moment in long}) > 40
    draws = {float(moment.rng().uniform()) for moment in long}
    assert len(draws) == 50 and long[3].rng().uniform() == long[3].rng().uniform()


def test_a_plan_of_some_kinds():
    assert {moment.kind for moment in plan(7, 9, ["kill_job", "two_runs"])} == {"kill_job", "two_runs"}
    assert plan(7, 0) == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [((7, 3, ["kill"]), "no kind kill"), ((7, 3, []), "at least one"), ((-1, 3), "-1"), ((7, -3), "-3")],
)
def test_a_plan_that_cannot_be(arguments, says):
    with pytest.raises(ValueError, match=says):
        plan(*arguments)


def test_every_kind_is_done_somewhere():
    before_the_run = {"full_disk", "full_results", "full_data", "truncated_download"}
    assert fault_machine.ACTIONS.keys() | before_the_run == BY_NAME.keys()
    assert fault_machine.ACTIONS.keys().isdisjoint(before_the_run)


@pytest.fixture
def folder(tmp_path):
    for name in ("results/a/one", "results/two", "data/three", "logs/four"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


PARTS = ("results", "data")


def test_a_changed_byte_a_missing_and_an_extra_file_are_noticed(folder):
    before = tree(folder, PARTS)
    assert sorted(before) == ["data/three", "results/a/one", "results/two"]
    (folder / "logs/four").write_text("another")
    assert differences(before, tree(folder, PARTS)) == []
    (folder / "results/a/one").write_text("results/a/onf")
    assert differences(before, tree(folder, PARTS)) == ["changed results/a/one"]
    (folder / "data/three").unlink()
    (folder / "results/a/five").touch()
    assert differences(before, tree(folder, PARTS)) == [
        "missing data/three",
        "extra results/a/five",
        "changed results/a/one",
    ]


def test_a_link_is_not_what_it_leads_to(folder):
    before = tree(folder, PARTS)
    (folder / "results/two").rename(folder / "elsewhere")
    (folder / "results/two").symlink_to("../elsewhere")
    assert differences(before, tree(folder, PARTS)) == ["changed results/two"]


def test_a_kept_drawing_may_be_missing_and_nothing_else_of_it():
    expected = {
        "results/drawn/a/fig1.zip": "1",
        "results/drawn/a/fig1.sha256": "2",
        "results/runs/a/one.zip": "3",
    }
    assert differences(expected, {"results/runs/a/one.zip": "3"}) == []
    assert differences(expected, expected | {"results/drawn/a/fig1.zip": "4"}) == [
        "changed results/drawn/a/fig1.zip"
    ]
    assert differences(expected, {}) == ["missing results/runs/a/one.zip"]


def test_what_is_absent_or_has_a_temporary_name_is_not_half_written():
    final = {"results/a": 3, "results/b": 4}
    found = {"results/a": 3, "results/.b.host-12-0123abcd.tmp": 1, "data/raw/c.part": 2}
    assert half_written(final, found) == []
    assert half_written(final, {"results/a": 2, "results/c": 1}) == ["results/a", "results/c"]


def test_the_table_goes_on_after_a_line_that_was_cut_off(tmp_path):
    table = tmp_path / "logs/faults.csv"
    rows = [ROW, replace(ROW, number=1, note='one, "two"'), replace(ROW, number=2, code="old")]
    for row in rows:
        add(table, row)
    assert read(table) == rows
    table.write_bytes(table.read_bytes() + b"7,3,full")
    assert read(table) == rows
    add(table, replace(ROW, number=3, note="two\nlines"))
    assert [row.note for row in read(table)] == ["", 'one, "two"', "", "two lines"]
    planned = [Moment(7, i, "full_data", 0.25) for i in range(5)]
    assert [moment.number for moment in missing(planned, read(table), "new")] == [2, 4]
    add(table, replace(ROW, number=4, impossible="no mounts"))
    assert [moment.number for moment in missing(planned, read(table), "new")] == [2, 4]
    assert [row.number for row in of_plan(planned, read(table), "new")] == [0, 1, 3, 4]


def test_another_file_is_not_taken_for_the_table(tmp_path):
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit, match="is no table of this program"):
        read(tmp_path / "mine.csv")


@pytest.mark.parametrize(
    ("change", "bad"),
    [
        ({}, False),
        ({"different": 1}, True),
        ({"restarted": 1}, True),
        ({"left": 1}, True),
        ({"locked": 1}, True),
        ({"half_written": 1}, True),
        ({"hung": 1}, True),
        ({"silent": 1}, True),
        ({"impossible": "no mounts"}, False),
    ],
)
def test_what_is_wrong(change, bad):
    assert replace(ROW, **change).bad is bad


def test_counts_by_kind():
    rows = [ROW, replace(ROW, number=1, different=2, seconds=9.0), replace(ROW, number=2, silent=1, said="")]
    rows += [replace(ROW, kind="moved_clock", impossible="faketime is not installed")]
    lines = summary(rows).splitlines()
    assert lines[2] == "| full disk below `data/` | 3 | 3 | 2 | 0 | 0 | 0 | 1 of 3 | 3.5 to 9.0 |"
    assert lines[3].startswith("| **all** | 3 | 3 | 2 |")
    assert (
        lines[-1] == "the clock jumps: not possible on the machine of this run (faketime is not installed)."
    )
    assert "| **all** | 0 |" in summary([])


def test_the_digest_is_of_what_the_code_is(folder):
    (folder / "results/code.py").write_text("1")
    before = digest(folder, ["results", "data/three"])
    (folder / "results/two").write_text("no code")
    assert digest(folder, ["results", "data/three"]) == before
    (folder / "data/three").write_text("named itself")
    assert digest(folder, ["results", "data/three"]) != before


def test_the_line_that_says_what_was_wrong():
    assert line_that_says("a\n  b: No space left\nNo space", "No space") == "b: No space left"
    assert line_that_says("a", "No space") == ""


def test_processes_of_a_run_are_found_with_their_children_and_ended(tmp_path):
    run = fault_machine.start(tmp_path, tmp_path / "log", None, ["sh", "-c", "sleep 60 & sleep 60; true"])
    other = fault_machine.start(tmp_path, tmp_path / "other", None, ["sleep", "60"])
    try:
        assert wait_until(lambda: len(run.alive()) == 3 and len(other.alive()) == 1)
        assert not set(run.alive()) & set(other.alive())
        run.process.kill()
        assert wait_until(run.ended)
        assert len(run.alive()) == 2, "orphans are still its own"
    finally:
        fault_machine.end_all(run)
        fault_machine.end_all(other)
    assert run.alive() == other.alive() == []
    assert run.process.returncode == other.process.returncode == -signal.SIGKILL


def test_a_held_lock_is_seen_and_left_alone(tmp_path):
    path = tmp_path / "lock"
    assert not fault_machine._locked(path)
    with path.open("w") as stream:
        assert not fault_machine._locked(path)
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert fault_machine._locked(path)
    assert not fault_machine._locked(path)


def test_the_mirror_announces_all_and_sends_a_part(tmp_path):
    (tmp_path / "file").write_bytes(b"0123456789")
    mirror = fault_machine.Mirror(tmp_path)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{mirror.url}/file") as answer:
            assert answer.read() == b"0123456789"
        mirror.share = 0.5
        with opener.open(f"{mirror.url}/file") as answer, pytest.raises(IncompleteRead) as cut:
            answer.read()
        assert cut.value.partial == b"01234"
    finally:
        mirror.server.shutdown()
        mirror.server.server_close()


def test_bundles_that_can_be_exchanged_have_the_same_endings(tmp_path):
    for name in ("a.csv", "a.sha256", "b.csv", "b.sha256", "c.zip", "c.sha256", "d/a.csv", "d/a.sha256"):
        (tmp_path / "results" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "results" / name).touch()
    pairs = [(a.name, b.name) for a, b in fault_machine._bundles(tmp_path)]
    assert pairs == [("a.sha256", "b.sha256")]


def test_a_wrong_kind_is_refused_in_one_line(monkeypatch):
    tool = script("tools/faults.py")
    monkeypatch.setattr("sys.argv", ["faults", "--kinds", "kill"])
    with pytest.raises(SystemExit, match=r"^faults: no kind kill; known: kill_main"):
        tool.main()


def test_a_moment_is_told_in_one_line():
    tool = script("tools/faults.py")
    assert tool.told(replace(ROW, during="1 done; no job")) == (
        "  1 full disk below `data/` at 0.25 (1 done; no job): ended with 1; "
        "started again 3.5 CPU s, IDENTICAL; No space"
    )
    assert "2 DIFFER; left 1" in tool.told(replace(ROW, different=2, left=1))
    assert tool.told(replace(ROW, impossible="no mounts")).endswith("not possible, no mounts")
