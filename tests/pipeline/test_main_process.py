import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from shuffledp.pipeline import jobs, main_process
from waiting import wait_until

TERMINATED_TWICE = """
import os, signal, sys, threading
from shuffledp.pipeline.main_process import once
lock, ended, calls = threading.Lock(), threading.Event(), []

def handler(*arguments):
    calls.append(arguments[0])
    with lock:
        os.kill(os.getpid(), signal.SIGTERM)  # the second comes while the first is handled
        for _ in range(1000):
            pass
    ended.set()

signal.signal(signal.SIGTERM, handler)
if sys.argv[1] == "once":
    once(signal.SIGTERM)
os.kill(os.getpid(), signal.SIGTERM)
ended.wait()
print(len(calls))
"""


@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("there", None),
        ("file", "not a folder: '{}/file'"),
        ("file/below", "not a folder: '{}/file'"),
        ("fixed/a/b", "read-only: "),
    ],
)
def test_a_run_needs_folders_that_can_be_written(tmp_path, monkeypatch, folder, says):
    (tmp_path / "there").mkdir()
    (tmp_path / "fixed").mkdir()
    (tmp_path / "file").touch()
    allowed = os.access
    monkeypatch.setattr(
        main_process.os, "access", lambda path, mode: path.name != "fixed" and allowed(path, mode)
    )  # the system allows everything where tests run as root
    if says is None:
        main_process.check_writable([tmp_path / folder, tmp_path / folder / "below"])
        return
    with pytest.raises(OSError, match=re.escape(says.format(tmp_path))):
        main_process.check_writable([tmp_path / "there", tmp_path / folder])


def test_make_names_the_variable_of_a_cache_that_cannot_be(tmp_path):
    """Snakemake alone would end with a traceback."""
    root = Path(__file__).resolve().parents[2]
    command = ["make", "--makefile", str(root / "Makefile"), "-o", ".venv/.installed-run", "quick"]
    places = {"HOME": str(tmp_path / "file"), "PATH": os.environ["PATH"]}
    (tmp_path / "file").touch()
    done = subprocess.run(command, cwd=tmp_path, env=places, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    place = f"{tmp_path}/file/.cache"
    says = f"Snakemake cannot keep its cache in {place}: set HOME or XDG_CACHE_HOME to a folder that can be written."
    assert says in done.stderr.splitlines()


def test_a_signal_that_comes_again_while_it_is_handled_does_not_block_the_run():
    command = [sys.executable, "-c", TERMINATED_TWICE]
    done = subprocess.run([*command, "once"], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "1\n"


def test_the_handler_alone_would_wait_for_itself():
    command = [sys.executable, "-c", TERMINATED_TWICE, "alone"]
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(command, timeout=1)


@pytest.mark.parametrize("default", [signal.SIG_DFL, signal.SIG_IGN])
def test_a_signal_without_a_handler_is_left_alone(default):
    before = signal.signal(signal.SIGUSR2, default)
    try:
        main_process.once(signal.SIGUSR2)
        assert signal.getsignal(signal.SIGUSR2) == default
    finally:
        signal.signal(signal.SIGUSR2, before)


def test_jobs_know_the_main_process_that_announced_itself(tmp_path, monkeypatch):
    monkeypatch.setenv(jobs.MAIN, "")
    monkeypatch.setattr(main_process, "BEAT_SECONDS", 0.01)
    beat = tmp_path / "folder/alive"
    main_process.announce(beat)
    assert jobs.silence_of_main_process(os.environ[jobs.MAIN])() == 0
    assert os.environ[jobs.MAIN] == f"{beat.read_text()} {beat}"
    os.utime(beat, ns=(1, 1))
    assert wait_until(lambda: beat.stat().st_mtime_ns > 1)


TERMINATED_BY_MAKE_TOO = """
import os, signal, sys, threading
from shuffledp.pipeline.main_process import once
lock, ended = threading.Lock(), threading.Event()

def handler(*arguments):
    with lock:
        os.write(1, b"terminated\\n")
        signal.sigtimedwait([signal.SIGUSR1], 0.5)  # long enough for the second to come
    ended.set()

signal.signal(signal.SIGTERM, handler)
if sys.argv[1] == "once":
    once(signal.SIGTERM)
os.write(1, b"ready\\n")
while not ended.wait(0.1):
    pass
"""


@pytest.mark.parametrize(("mode", "ends"), [("once", True), ("alone", False)])
def test_interrupting_make_and_then_terminating_its_group_leaves_no_process(tmp_path, mode, ends):
    """Make forwards the signal to its child, which already has it from the group, so that often two signals arrive.

    A signal during the handling of the first always makes two, and without `once` the main process would never end.
    """
    (tmp_path / "program.py").write_text(TERMINATED_BY_MAKE_TOO)
    (tmp_path / "Makefile").write_text(f"run:\n\t@{sys.executable} program.py {mode}\n")
    make = subprocess.Popen(
        ["make", "run"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert make.stdout is not None
    try:
        assert make.stdout.readline() == "ready\n"
        make.send_signal(signal.SIGINT)
        os.killpg(make.pid, signal.SIGTERM)
        assert make.stdout.readline() == "terminated\n"
        os.killpg(make.pid, signal.SIGTERM)
        if ends:
            make.communicate(timeout=60)  # until nobody can write to its output any more
        else:
            with pytest.raises(subprocess.TimeoutExpired):
                make.communicate(timeout=1)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(make.pid, signal.SIGKILL)
        make.communicate()


def test_a_checksum_is_computed_once_until_the_file_changes(tmp_path):
    class Input(type(tmp_path)):
        is_storage = False

    computed = []

    async def checksum(file, threshold):
        computed.append(threshold)
        return file.read_text() if file.exists() else None

    remembered = main_process.once_per_state(checksum)
    file = Input(tmp_path / "input")
    assert asyncio.run(remembered(file, 1)) is None
    for content in ("one", "other"):
        file.write_text(content)
        assert [asyncio.run(remembered(file, 1)) for _ in range(3)] == [content] * 3
    assert len(computed) == 3
    asyncio.run(remembered(file, 2))
    assert computed[-1] == 2
