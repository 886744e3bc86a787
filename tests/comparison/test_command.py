"""``shuffledp compare`` on the command line."""

import csv
import json
import math
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import shuffledp
from command_line import invoked, typed, unwrapped
from shuffledp.populations import Binomial
from shuffledp.protocols.scaffold import files
from waiting import wait_until

SETTING = typed("--eps 1 --delta 1e-6")
SIZE = ("--domain-size", "4")
FEW = typed("--protocols grr_blanket,pure_dump,silent_users --protocols local,sageo,multi_exact")


def call(first, *more):
    done = invoked(f"compare {first}", *more)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_table_is_narrow_and_grouped(monkeypatch, in_a_worker):
    """The table has at most 120 columns, and groups rows by trust."""
    monkeypatch.setattr(
        "shuffledp.comparison.command.PATIENCE", math.inf
    )  # a slow machine says how far it is
    done = call("--users 5000 --domain-size 20", *FEW, *SETTING, "--accounting", "exact")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 120
    heads = [line for line in lines if line.startswith("Trusted: ")]
    assert [head.rpartition("(")[2] for head in heads] == ["shuffler)", "shuffler_adds)", "local)"]
    headings = "local error ±95 % frequent /floor messages most bits most spent slack guarantee"
    lines = lines[lines.index(heads[0]) :]
    assert lines[1].split() == ["protocol", *headings.split()]
    assert lines[-2:] == ["Left out:", "  multi_exact: Only bits are summed, but the task has 20 values."]
    assert done.stderr == ""


@pytest.mark.parametrize(
    "task, says",
    [
        (
            typed("--task sets --domain-size 60 --set-size 3"),
            "an item that a tenth of the users hold",
        ),
        (typed("--task vectors --dimension 6"), "not in the l2 norm"),
        (typed("--dimension 6 --norm l1"), "one coordinate of the mean"),
    ],
)
def test_sets_and_vectors(tmp_path, task, says):
    plot, out = tmp_path / "a.html", tmp_path / "a.csv"
    done = call("--users", "5000", *task, *SETTING, "--plot", str(plot), "--csv-out", str(out))
    assert done.exit_code == 0, done.output
    assert says in unwrapped(done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 120
    kind = "items" if "sets" in task else "coordinates"
    assert f" {kind}, " in plot.read_text()
    with out.open() as file:
        assert {row["task"] for row in csv.DictReader(file)} == {"sets" if "sets" in task else "vectors"}


def test_pictures(tmp_path):
    done = call("--users 5000 --domain-size 4", *FEW, *SETTING, "--plot", str(tmp_path / "a.png"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a.png").stat().st_size > 5_000


HOSTILE = """
from dataclasses import dataclass
from shuffledp.accounting import Infeasible
from shuffledp.protocols.frequency.local import Local

@dataclass(frozen=True)
class Hostile(Local):
    label = "=cmd|' /C calc'!A0"
    reduction = "@SUM(1) \\x1b]0;title\\x07"

    @classmethod
    def calibrate(cls, *args, **options):
        raise Infeasible("\\x1b[2J\\x9b31m +gone \\u202e.")
"""


def test_plugin_texts_are_made_harmless(tmp_path):
    plugin, out = tmp_path / "h.py", tmp_path / "out.csv"
    plugin.write_text(HOSTILE)
    setting = (*typed("--users 900 --domain-size 4"), *SETTING)
    done = call(*setting, "--protocols", f"{plugin}:Hostile", "--csv-out", str(out))
    assert done.exit_code == 0
    with out.open() as file:
        (row,) = csv.DictReader(file)
    assert row["label"] == "'=cmd|' /C calc'!A0"
    assert row["reduction"] == r"'@SUM(1) \x1b]0;title\x07"
    for text in (done.stdout, out.read_text()):
        assert r"\x1b[2J\x9b31m +gone \u202e" in text
        assert text.replace("\n", "").isprintable()
    described = invoked("describe", f"{plugin}:Hostile", *setting)
    assert described.stderr.replace("\n", "").isprintable()
    assert "gone" in described.stderr


@pytest.mark.parametrize("name", ["a.png", "a.html"])
def test_missing_extra_fails_before_computing(tmp_path, monkeypatch, name):
    monkeypatch.setitem(sys.modules, "bokeh" if name == "a.html" else "matplotlib", None)
    monkeypatch.setattr("shuffledp.comparison.comparing._row", None)
    done = call("--users 900 --domain-size 4", *SETTING, "--plot", str(tmp_path / name))
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: This needs the package ")


def test_table_is_printed_without_a_plot(tmp_path):
    """With too few users no protocol meets the budget, so that there is nothing to draw."""
    setting = (*typed("--users 2 --domain-size 4 --protocols balls_into_bins"), *SETTING)
    done = call(*setting, "--plot", str(tmp_path / "a.png"))
    assert done.exit_code == 1
    assert "Left out:\n  balls_into_bins: " in done.stdout
    assert done.stderr == "Error: There is nothing to draw: no protocol meets the requirements.\n"


@pytest.mark.parametrize(
    "arguments, says",
    [
        (("--users", "100"), "Give --domain-size for frequencies, with --set-size for sets"),
        (("--users", "100", *SIZE, "--max-value", "3"), "not --domain-size and --max-value together"),
        (typed("--users 100 --task frequency --max-value 3"), "belongs to --task summation"),
        (typed("--users 100 --task summation"), "--task summation needs --max-value"),
        (typed("--users 100 --set-size 4"), "--set-size for sets"),
        (typed("--users 100 --max-value 3 --levels 4"), "--levels needs --data"),
        (("--csv", "a.csv", *SIZE), "--data needs --column"),
        (typed("--csv a.csv --column a --separator ;"), "--separator is for sets"),
        (typed("--csv a.csv --user a --set-size 2"), "or --user and --item"),
        (typed("--csv missing.csv --column a"), "There is no file missing.csv"),
        (("--users", "100", *SIZE, "--protocols", ","), "--protocols must hold at least one name, got ','"),
        (("--users", "9", *SIZE, "--plot", "a.doc"), "The file name of a picture must end in one"),
        (("--users", "9", *SIZE, "--csv-out", "no/a.csv"), "There is no folder no for no/a.csv"),
        (("--users", "9", *SIZE, *typed("--csv-out a.svg --plot ./a.svg")), "is the file of --csv-out"),
        ((*typed("--csv in.csv --column v"), *SIZE, "--csv-out", "in.csv"), "in.csv, which is read"),
        (
            ("--users", "9", *SIZE, "--protocols", "local, in.csv.py:A", "--csv-out", "in.csv.py"),
            "--csv-out in.csv.py is the file in.csv.py, which is read",
        ),
        (typed('--csv in.csv --column v --values "1,2'), "(unexpected end of data)"),
    ],
)
def test_mistakes_get_one_line(tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    for name in ("in.csv", "in.csv.py"):
        (tmp_path / name).write_text("v\n1\n")
    monkeypatch.setattr("shuffledp.comparison.comparing._row", None)  # nothing is computed
    done = call(*arguments, *SETTING)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert [(tmp_path / name).read_text() for name in ("in.csv", "in.csv.py")] == ["v\n1\n"] * 2
    assert done.stderr.startswith("Error: ")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def plugin(folder, body):
    """Write a user's protocol whose ``fit`` first runs the given code."""
    text = files("frequency", "mine")[Path("mine/mine.py")]
    first = text.index("        if request.eps > 700")
    (folder / "mine.py").write_text(
        f"{text[:first]}        import os, sys, time\n        {body}\n{text[first:]}"
    )
    return "mine.py:Mine"


@pytest.mark.parametrize(
    "body, reason",
    [
        ("os.kill(os.getpid(), 9)", "Ends its process, or is killed."),
        ("time.sleep(1000)", "Not finished within 5 s."),
        ("sys.exit('enough')", "SystemExit: enough"),
        ("print('[]', flush=True); 1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_endless_protocol_is_a_row(tmp_path, monkeypatch, in_a_worker, body, reason):
    monkeypatch.chdir(tmp_path)
    names = f"central_laplace,{plugin(tmp_path, body)},skellam"
    setting = (*typed("--users 5000 --domain-size 4 --protocols"), names, "--seconds", "5", *SETTING)
    done = call(*setting, "--json", "--rows-only")
    rows = {row["protocol"]: row for row in json.loads(done.stdout)}
    assert {name: row["status"] for name, row in rows.items()} == {
        "central_laplace": "ok",
        "skellam": "ok",
        "mine.py:Mine": "failed",
    }
    assert rows["mine.py:Mine"]["reason"] == reason
    ends = "Error" not in reason and "SystemExit" not in reason
    assert done.exit_code == ends
    if ends:
        assert done.stderr.splitlines()[-1] == f"Error: mine.py:Mine: {reason}"


@pytest.mark.parametrize(
    "text, reason",
    [
        ("import os\nos._exit(0)\nclass Mine: pass\n", "Ends its process, or is killed."),
        ("1 / 0\nclass Mine: pass\n", "mine.py cannot be imported: ZeroDivisionError: division by zero"),
        ("class Mine: pass\n", "not a subclass of shuffledp.protocols.ProtocolBase"),
    ],
)
def test_broken_import_is_a_row(tmp_path, monkeypatch, in_a_worker, text, reason):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(text)
    setting = (*typed("--users 5000 --domain-size 4 --protocols mine.py:Mine,skellam"), *SETTING)
    done = call(*setting, "--json", "--rows-only")
    found, lost = json.loads(done.stdout)
    assert (found["protocol"], found["status"], lost["status"], lost["trust"]) == (
        "skellam",
        "ok",
        "failed",
        "",
    )
    assert reason in lost["reason"]
    assert done.exit_code == 1
    assert "\nError: mine.py:Mine: " in "\n" + done.stderr  # after lines of progress if slow


def test_unreadable_result_is_a_row(tmp_path, monkeypatch, in_a_worker):
    monkeypatch.chdir(tmp_path)
    name = plugin(tmp_path, "pass")
    text = (tmp_path / "mine.py").read_text()
    text = text.replace(
        "    def cost(", "    def parameters(self):\n        return {'a': Odd()}\n\n    def cost(", 1
    )
    (tmp_path / "mine.py").write_text(text.replace("@dataclass", "class Odd:\n    pass\n\n\n@dataclass", 1))
    setting = (*typed("--users 5000 --domain-size 4 --protocols"), f"{name},skellam", *SETTING)
    rows = json.loads(call(*setting, "--json", "--rows-only").stdout)
    assert [(row["status"], row["reason"]) for row in rows] == [
        ("ok", ""),
        ("failed", "Its result cannot be read."),
    ]


def test_a_wrong_option_is_one_line(in_a_worker):
    done = call("--users 1 --domain-size 4 --protocols local", *SETTING)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: users must be") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGKILL])
def test_the_worker_ends_with_the_command(tmp_path, stop):
    place = tmp_path / "pid"
    name = plugin(tmp_path, f"open({str(place)!r}, 'w').write(str(os.getpid())); time.sleep(1000)")
    setting = (*typed("--users 5000 --domain-size 4 --protocols"), name, *SETTING)
    command_line = [sys.executable, "-m", "shuffledp", "compare", *setting]
    parent = subprocess.Popen(command_line, cwd=tmp_path, stderr=subprocess.DEVNULL)
    assert wait_until(lambda: place.is_file() and place.read_text() != "")
    worker = int(place.read_text())
    assert worker != parent.pid
    parent.send_signal(stop)
    parent.wait()
    assert wait_until(lambda: not Path(f"/proc/{worker}").exists())


def test_sizes_beyond_memory_are_refused(monkeypatch):
    monkeypatch.setattr("shuffledp.comparison.setting.machine_memory", lambda: 10**9)
    with pytest.raises(
        ValueError, match=r"10,000,000 values at 16 numbers of users take about 16.0 GB, and this"
    ):
        shuffledp.compare(population=Binomial(10**6, 0.5), domain_size=10**7, eps=1, delta=1e-6)
