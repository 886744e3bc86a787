"""Child processes that respond, and child processes that do not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from shuffledp.protocols import child_process as child
from shuffledp.protocols.child_process import Ended, results
from waiting import wait_until

MODULE = """
import os, sys, time
from shuffledp.protocols.child_process import name_methods

class Odd(ValueError):
    pass

class Own:
    @classmethod
    def calibrate(cls, act):
        return cls().encode(act)

    def encode(self, act):
        return act()

def numbers(send, *values):
    for value in values:
        send(value)
    raise ValueError("no more")

def odd(send):
    raise Odd("mine alone")

def stranger(send):
    send("known")
    send(Odd("mine alone"))

def method(send, act):
    name_methods(Own)
    print("to nobody")
    Own.calibrate({
        "exit": lambda: os._exit(3),
        "leave": lambda: sys.exit("enough"),
        "memory": lambda: bytearray(1 << 60),
        "sleep": lambda: time.sleep(1000),
    }[act])

def work(send, seconds):
    name_methods(Own)
    Own.calibrate(lambda: None)
    time.sleep(seconds)
    send("done")
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Write a module that the child can also import."""
    (tmp_path / "odd_module.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "odd_module", raising=False)
    import odd_module

    return odd_module


def test_what_is_sent_comes_in_order_and_then_the_error(own):
    found = results(own.numbers, 1, "two", [3.0])
    assert [next(found) for _ in range(3)] == [1, "two", [3.0]]
    with pytest.raises(ValueError, match="no more"):
        next(found)


def test_what_only_the_child_knows_is_said_in_words(own, monkeypatch):
    with pytest.raises(RuntimeError, match="Odd: mine alone"):
        list(results(own.odd))
    found = results(own.stranger)
    assert next(found) == "known"
    monkeypatch.delitem(sys.modules, "odd_module")
    monkeypatch.setattr(sys, "path", sys.path[1:])
    with pytest.raises(Ended, match="gives what cannot be read here: No module named 'odd_module'"):
        list(found)


@pytest.mark.parametrize(
    ("act", "says"),
    [
        ("exit", "encode ends the process with exit status 3"),
        ("leave", "encode raises SystemExit: enough"),
        ("sleep", "encode does not return within 0.5 s"),
    ],
)
@pytest.mark.parametrize("per_call", [False, True])
def test_the_method_that_ends_it_is_named(own, act, says, per_call, capfd):
    seconds = 0.5 if act == "sleep" else 60.0
    with pytest.raises(Ended) as ended:
        list(results(own.method, act, seconds=seconds, per_call=per_call))
    assert (str(ended.value), ended.value.late) == (says, act == "sleep")
    assert capfd.readouterr().out == ""


def test_the_memory_of_the_machine_is_a_limit(own):
    with pytest.raises(MemoryError):
        list(results(own.method, "memory"))


def test_per_call_time_between_calls_does_not_count(own):
    assert list(results(own.work, 1.5, seconds=0.7, per_call=True)) == ["done"]
    with pytest.raises(Ended, match=r"the process does not return within 0.7 s"):
        list(results(own.work, 1.5, seconds=0.7))


def test_in_a_process_that_is_no_child_methods_stay_as_they_are(own):
    before = dict(vars(own.Own))
    child.name_methods(own.Own)
    assert dict(vars(own.Own)) == before


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGKILL])
def test_a_child_ends_with_its_parent(tmp_path, stop):
    (tmp_path / "odd_module.py").write_text(
        "import os, time\nfrom pathlib import Path\n"
        "def wait(send, at):\n    Path(at).write_text(str(os.getpid()))\n    time.sleep(1000)\n"
    )
    place = tmp_path / "pid"
    code = (
        "import odd_module; from shuffledp.protocols.child_process import results; "
        f"list(results(odd_module.wait, {str(place)!r}))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert wait_until(lambda: place.is_file() and place.read_text() != "")
    parent.send_signal(stop)
    parent.wait()
    assert wait_until(lambda: not alive(int(place.read_text())))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)  # signal 0 only asks whether the process is there
    except ProcessLookupError:
        return False
    return True
