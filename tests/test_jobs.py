import logging
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from shuffledp import jobs
from waiting import wait_until


@pytest.fixture(autouse=True)
def _no_watcher(monkeypatch):
    monkeypatch.setattr(jobs, "_end_with_parent", lambda: None)


def test_a_failing_job_logs_the_traceback_prints_one_line_and_exits_1(tmp_path, capsys):
    log = tmp_path / "logs/sub/job.log"
    with pytest.raises(SystemExit) as caught, jobs.job(str(log)):
        raise ValueError("50% of it is wrong")
    assert caught.value.code == 1
    assert capsys.readouterr().err == "ValueError: 50% of it is wrong\n"
    assert "Traceback" in log.read_text()
    assert log.read_text().rstrip().endswith("ValueError: 50% of it is wrong")


def test_progress_goes_to_the_log_and_the_terminal_and_a_later_job_starts_anew(tmp_path, capsys):
    for number in (1, 2):
        with jobs.job(str(tmp_path / "job.log")):
            logging.getLogger("shuffledp.anything").info("step %d", number)
    assert (tmp_path / "job.log").read_text() == "step 2\n"
    assert capsys.readouterr().err == "step 1\nstep 2\n"


def test_warnings_go_to_the_log_while_the_job_runs_and_are_warnings_again_afterwards(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with jobs.job(str(tmp_path / "job.log")):
            warnings.warn("look here", UserWarning, stacklevel=1)
    assert "look here" in (tmp_path / "job.log").read_text()
    with pytest.warns(UserWarning, match="again"):
        warnings.warn("again", UserWarning, stacklevel=1)


def test_a_job_that_ends_does_not_search_its_imports_for_garbage(tmp_path):
    program = (
        "import atexit, gc, sys\n"
        "atexit.register(lambda: print(gc.get_freeze_count()))\n"  # called last
        "from shuffledp.jobs import job\n"
        "with job(sys.argv[1]):\n    assert gc.get_freeze_count() == 0\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "job.log")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) > 1000


WORKFLOW = """
import subprocess, sys
subprocess.run(["bash", "-c", "set -euo pipefail;  " + sys.executable + " " + sys.argv[1] + " " + sys.argv[2]])
"""
SCRIPT = """
import os, sys, time
from shuffledp.jobs import job
with job(sys.argv[1] + "/job.log"):
    open(sys.argv[1] + "/pid.tmp", "w").write(str(os.getpid()))
    os.rename(sys.argv[1] + "/pid.tmp", sys.argv[1] + "/pid")
    time.sleep(60)
    open(sys.argv[1] + "/published", "w")
"""


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(state.stdout.strip()) and not state.stdout.startswith("Z")


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_job_whose_workflow_was_killed_ends_itself_before_it_can_publish(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    workflow = subprocess.Popen([sys.executable, "-c", WORKFLOW, str(script), str(tmp_path)])
    assert wait_until((tmp_path / "pid").exists)
    pid = int((tmp_path / "pid").read_text())
    assert _alive(pid)
    workflow.send_signal(signal.SIGKILL)
    workflow.wait()
    ended = wait_until(lambda: not _alive(pid), seconds=30)
    if not ended:
        os.kill(pid, signal.SIGKILL)
    assert ended
    assert not (tmp_path / "published").exists()


def test_a_job_whose_workflow_died_while_it_was_loading_ends_itself(tmp_path):
    """Its parent is another process by then, which stays."""
    workflow = subprocess.Popen(["sleep", "60"])
    said = f"{jobs.identity(workflow.pid)} {tmp_path / 'alive'}"
    workflow.kill()
    workflow.wait()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    job = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        env={**os.environ, jobs.MAIN: said},
        stderr=subprocess.DEVNULL,
    )
    ended = wait_until(lambda: job.poll() is not None, seconds=30)
    job.kill()
    job.wait()
    assert ended
    assert not (tmp_path / "published").exists()


def test_a_main_process_of_this_machine_lives_until_it_ends_even_unreaped(tmp_path):
    main = subprocess.Popen(["sleep", "60"])
    lives = jobs.main_process_lives(f"{jobs.identity(main.pid)} {tmp_path / 'with a space'}")
    assert lives()
    main.kill()
    assert wait_until(lambda: not lives(), seconds=30)  # nobody has waited for it
    main.wait()
    assert not lives()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs the start of a process")
def test_a_later_process_with_the_same_number_is_another_one():
    where, pid, start = jobs.identity(os.getpid()).split()
    assert jobs.main_process_lives(f"{where} {pid} {start} beat")()
    assert not jobs.main_process_lives(f"{where} {pid} {int(start) - 1} beat")()


def test_a_main_process_of_another_machine_lives_while_its_file_changes_whatever_its_clock_says(tmp_path):
    beat, now = tmp_path / "alive", [0.0]
    beat.touch()
    lives = jobs.main_process_lives(f"elsewhere {os.getpid()} 1 {beat}", lambda: now[0])
    for stamp in (10**9, 5, 2 * 10**9):  # another machine's clock, which may be set back
        os.utime(beat, ns=(stamp, stamp))
        assert lives()
        now[0] += jobs.SILENT_SECONDS - 1
        assert lives()
    now[0] += 1
    assert not lives()
    os.utime(beat, ns=(7, 7))
    assert lives()
    beat.unlink()
    assert lives()  # for a while: a file server may be away
    now[0] += jobs.SILENT_SECONDS
    assert not lives()
