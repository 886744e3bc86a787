import logging
import math
import os
import runpy
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.iocontainers import InputFiles, OutputFiles

from shuffledp.pipeline import jobs
from shuffledp.pipeline.experiments.bundle import Bundle
from shuffledp.pipeline.experiments.sources.user_file import files_of
from shuffledp.pipeline.figures import drawings
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


OWN = """\
study: {title: "Mine"}
experiments:
  colors:
    task: {kind: frequency}
    data: {name: file, path: mine/visits.csv, column: color}
    population: {users: 2000}
    budget: {eps: $eps, delta: 1.0e-6}
    grid: {eps: [0.5, 1.0]}
    accounting: [exact]
    repeats: 3
    methods: {local: {}}
figures:
  error: {title: "Error", experiment: colors, x: eps, y: mse, caption: error.rst}
"""
SCRIPTS = Path(__file__).resolve().parents[2] / "workflow/scripts"


def run_script(name, inputs, outputs, params, folder):
    """Run a script as the workflow does, with its declared files below a folder."""
    given = SimpleNamespace(
        input=InputFiles(toclone=inputs),
        output=OutputFiles(fromdict={key: str(folder / path) for key, path in outputs.items()}),
        params=SimpleNamespace(**params),
        log=[str(folder / "job.log")],
    )
    runpy.run_path(str(SCRIPTS / name), init_globals={"snakemake": given}, run_name="__main__")


def test_a_job_in_an_empty_folder_with_its_declared_inputs_alone_gives_the_same_bytes(project, monkeypatch):
    project.write("mine/visits.csv", "color\n" + "red\nblue\nred\ngreen\n" * 500)
    project.write("config/own/visits.yaml", OWN)
    project.write("workflow/report/visits/error.rst", "What to see.\n")
    monkeypatch.chdir(project.root)
    settings = project.settings()
    paper = settings.papers["visits"]
    ((key, asked),) = paper.experiments["colors"].own_requests.items()
    counted = dict(
        zip(("numbers", "provenance", "checksum"), files_of(Path("data/prepared"), key), strict=True)
    )
    bundle = Bundle.of(Path("results"), "visits", "colors", "local")
    results = {name.replace("values", "values_"): path for name, path in vars(bundle).items()}
    drawn = {
        f"file_{i}": path for i, path in enumerate(drawings.output_files(Path("results"), paper, ["png"]))
    }
    drawing = {"job": drawings.paper_job(paper, settings, Path()), "code": "the same"}
    method = {
        "job": paper.experiments["colors"].job("local", 7),
        "prepared": "data/prepared",
        "root": ".",
        "results": "results",
    }
    local = ["mine/visits.csv", "workflow/report/visits/error.rst"]
    of_jobs = [
        ("prepare_own.py", local[:1], counted, {"asked": asked, "root": "."}),
        ("run_method.py", list(counted.values()), results, method),
        ("draw_paper.py", [*results.values(), *local[1:]], drawn, drawing),
    ]
    for script, inputs, outputs, params in of_jobs:
        run_script(script, inputs, outputs, params, Path())
    for script, inputs, outputs, params in of_jobs:
        folder = Path("copies") / script
        monkeypatch.setenv(jobs.FILES, str(folder))
        for path in inputs:
            if str(path) not in local:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, folder / path)
        here = [str(path if str(path) in local else folder / path) for path in inputs]
        run_script(script, here, outputs, params, folder)
        for path in outputs.values():
            assert (folder / path).read_bytes() == path.read_bytes(), path


def test_a_job_that_ends_does_not_search_its_imports_for_garbage(tmp_path):
    program = (
        "import atexit, gc, sys\n"
        "atexit.register(lambda: print(gc.get_freeze_count()))\n"  # called last
        "from shuffledp.pipeline.jobs import job\n"
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
from shuffledp.pipeline.jobs import job
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
    """By then the job's parent is another process, which continues to run."""
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
    silence = jobs.silence_of_main_process(f"{jobs.identity(main.pid)} {tmp_path / 'with a space'}")
    assert silence() == 0
    main.kill()
    assert wait_until(lambda: silence() == math.inf, seconds=30)  # nobody has waited for it
    main.wait()
    assert silence() == math.inf


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs the start of a process")
def test_a_later_process_with_the_same_number_is_another_one():
    where, pid, start = jobs.identity(os.getpid()).split()
    assert jobs.silence_of_main_process(f"{where} {pid} {start} beat")() == 0
    assert jobs.silence_of_main_process(f"{where} {pid} {int(start) - 1} beat")() == math.inf


ELSEWHERE = "elsewhere 7 1"


def test_a_main_process_of_another_machine_is_silent_since_its_file_changed_whatever_its_clock_says(tmp_path):
    beat, now = tmp_path / "alive", [0.0]
    beat.write_text(ELSEWHERE)
    silence = jobs.silence_of_main_process(f"{ELSEWHERE} {beat}", lambda: now[0])
    assert silence() == jobs.FRESH_SECONDS  # it may have been touched long ago
    for stamp in (10**9, 5, 2 * 10**9):  # another machine's clock, which may be set back
        os.utime(beat, ns=(stamp, stamp))
        assert silence() == 0
        now[0] += jobs.SILENT_SECONDS - 1
        assert silence() == jobs.SILENT_SECONDS - 1
    now[0] += 1
    assert silence() == jobs.SILENT_SECONDS
    os.utime(beat, ns=(7, 7))
    assert silence() == 0
    beat.unlink()
    assert silence() == 0  # for a while: a file server may be away
    now[0] += jobs.SILENT_SECONDS
    assert silence() == jobs.SILENT_SECONDS


def test_a_later_run_in_the_folder_is_not_taken_for_the_run_of_a_job(tmp_path):
    beat = tmp_path / "alive"
    beat.write_text(ELSEWHERE)
    silence = jobs.silence_of_main_process(f"{ELSEWHERE} {beat}")
    assert silence() < jobs.SILENT_SECONDS
    beat.write_text("elsewhere 8 2")  # the later run touches it from now on
    assert silence() == math.inf
    assert jobs.silence_of_main_process(f"{ELSEWHERE} {beat}")() == math.inf


PUBLISHES = """
import sys
from pathlib import Path
from shuffledp.pipeline import jobs
from shuffledp.storage import publish
jobs.SILENT_SECONDS = float(sys.argv[2])
folder = Path(sys.argv[1])
with jobs.job(str(folder / "job.log")) as log:
    log.info("computed")
    publish(folder / "x.sha256", {folder / "x": b"new"})
"""


@pytest.mark.parametrize("dies", [False, True])
def test_a_job_of_another_machine_publishes_only_after_a_sign_of_life(tmp_path, dies):
    beat = tmp_path / "alive"
    beat.write_text(ELSEWHERE)
    (tmp_path / "x.sha256").write_text("old")
    job = subprocess.Popen(
        [sys.executable, "-c", PUBLISHES, str(tmp_path), str(jobs.FRESH_SECONDS + 4) if dies else "600"],
        env={**os.environ, jobs.MAIN: f"{ELSEWHERE} {beat}"},
        stderr=subprocess.DEVNULL,
    )
    try:
        assert wait_until(
            lambda: (
                "computed" in Path(tmp_path / "job.log").read_text()
                if (tmp_path / "job.log").exists()
                else False
            )
        )
        assert not wait_until(lambda: job.poll() is not None or (tmp_path / "x").exists(), seconds=1)
        if not dies:
            os.utime(beat, ns=(7, 7))
        assert wait_until(lambda: job.poll() is not None, seconds=30)
    finally:
        job.kill()
        job.wait()
    assert job.returncode == (1 if dies else 0)
    assert (tmp_path / "x").exists() is not dies
    assert (tmp_path / "x.sha256").read_text().startswith("old") is dies


SNAKEMAKE_OF_A_JOB = """
import sys, time
from shuffledp.pipeline import jobs
jobs.end_with_main_process()
print("begins", flush=True)
time.sleep(60)
"""


def test_a_snakemake_that_a_cluster_starts_after_its_run_does_not_begin_and_ends_with_it(tmp_path):
    beat = tmp_path / "alive"
    beat.write_text(ELSEWHERE)
    command = [sys.executable, "-c", SNAKEMAKE_OF_A_JOB]
    environment = {**os.environ, jobs.MAIN: f"{ELSEWHERE} {beat}"}
    running = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == "begins\n"
        beat.write_text("elsewhere 8 2")
        assert wait_until(lambda: running.poll() is not None, seconds=30)
    finally:
        running.kill()
        running.communicate()
    late = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (late.returncode, late.stdout) == (1, "")
    assert late.stderr == "The run of this job has ended: the job does nothing.\n"


def test_a_snakemake_of_a_job_that_does_not_know_its_run_says_so(monkeypatch):
    monkeypatch.delenv(jobs.MAIN, raising=False)
    with pytest.warns(UserWarning, match="does not pass on the environment"):
        jobs.end_with_main_process()
