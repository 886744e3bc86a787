import logging
import os
import signal
import subprocess
import sys
import warnings

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
