import logging
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
from snakemake.iocontainers import InputFiles, OutputFiles, Params

from shuffledp import storage
from shuffledp.pipeline import code_keys, jobs
from shuffledp.pipeline.experiments.bundle import Bundle
from shuffledp.pipeline.experiments.sources.user_file import files_of
from shuffledp.pipeline.figures import drawings
from waiting import wait_until


@pytest.fixture(autouse=True)
def _publish_without_a_run(monkeypatch):
    """A job in this process must not end with the test's parent, nor change later publications."""
    monkeypatch.setattr(jobs, "end_with_main_process", lambda: None)
    yield
    storage.ask_before_publishing(lambda: None)


def test_failing_job_logs_and_exits_1(tmp_path, capsys):
    log = tmp_path / "logs/sub/job.log"
    with pytest.raises(SystemExit) as caught, jobs.job(str(log)):
        raise ValueError("50% of it is wrong")
    assert caught.value.code == 1
    assert capsys.readouterr().err == "ValueError: 50% of it is wrong\n"
    assert "Traceback" in log.read_text()
    assert "\nValueError: 50% of it is wrong\n" in log.read_text()


def test_progress_reaches_log_and_terminal(tmp_path, capsys):
    """A later job begins a new log."""
    for number in (1, 2):
        with jobs.job(str(tmp_path / "job.log")):
            logging.getLogger("shuffledp.anything").info("step %d", number)
    step, cost = (tmp_path / "job.log").read_text().splitlines()
    assert step == "step 2"
    seconds, cpu, memory = jobs.cost_of_job(cost)
    assert 0 <= seconds < 60 and cpu > 0 and 1 < memory < 1e5
    assert capsys.readouterr().err == "step 1\nstep 2\n"


def test_warnings_reach_log_only_during_job(tmp_path):
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
        params=Params(fromdict=params),
        log=[str(folder / "job.log")],
    )
    runpy.run_path(str(SCRIPTS / name), init_globals={"snakemake": given}, run_name="__main__")


def of_experiment(job):
    """Return the parameters of a job of an experiment."""
    return {"jobs": [job.plain()], "prepared": "data/prepared", "root": ".", "results": "results"}


def test_job_needs_only_declared_inputs(project, monkeypatch):
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
    bundle = Bundle.locate(Path("results"), "visits", "colors", "local")
    results = {name.replace("values", "values_"): path for name, path in vars(bundle).items()}
    drawn = {
        f"file_{i}": path for i, path in enumerate(drawings.output_files(Path("results"), paper, ["png"]))
    }
    drawing = {
        "job": drawings.paper_job(paper, settings, Path()),
        "code": code_keys.CodeKeys(Path()).keys("figures"),
    }
    method = of_experiment(paper.experiments["colors"].job("local", 7))
    local = ["mine/visits.csv", "workflow/report/visits/error.rst"]
    of_jobs = [
        ("prepare_own.py", local[:1], counted, {"asked": asked, "root": "."}),
        ("run_experiment.py", list(counted.values()), results, method),
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


def test_ending_job_collects_no_garbage(tmp_path):
    program = (
        "import atexit, gc, sys\n"
        "atexit.register(lambda: print(gc.get_freeze_count()))\n"  # called last
        "from shuffledp.pipeline.jobs import job\n"
        "with job(sys.argv[1]):\n    assert gc.get_freeze_count() > 1000\n    gc.unfreeze()\n"
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


def _alive(pid):
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(state.stdout.strip()) and not state.stdout.startswith("Z")


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_killed_workflow_ends_its_job(tmp_path):
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


def test_run_ended_during_imports_ends_job(tmp_path):
    """By then the job's parent is another process, which continues to run."""
    main = subprocess.Popen(["sleep", "60"])
    main.kill()
    main.wait()
    environment = {**os.environ, jobs.MAIN: str(main.pid)}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    job = subprocess.run(command, env=environment, timeout=60, capture_output=True, check=False)
    assert job.returncode == 1
    assert not (tmp_path / "pid").exists()


PUBLISHES = """
import os, sys
from pathlib import Path
from types import SimpleNamespace
from snakemake.iocontainers import InputFiles, OutputFiles
from shuffledp.pipeline.jobs import MAIN, job_of
from shuffledp.storage import publish
folder = Path(sys.argv[1])
with job_of(SimpleNamespace(log=[str(folder / "job.log")], params={}, input=InputFiles(), output=OutputFiles())):
    os.environ[MAIN] = sys.argv[2]
    publish(folder / "x.sha256", {folder / "x": b"new"})
"""


@pytest.mark.parametrize("lives", [False, True])
def test_job_publishes_while_run_lives(tmp_path, lives):
    main = subprocess.Popen(["sleep", "0"])
    main.wait()
    number = os.getpid() if lives else main.pid
    command = [sys.executable, "-c", PUBLISHES, str(tmp_path), str(number)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == (0 if lives else 1), done.stderr
    assert (tmp_path / "x").exists() is lives


@pytest.mark.parametrize(
    "old, new, published",
    [("", "", True), ("A baseline of one's own", "A baseline", True), ("beta=0.5", "beta=0.25", False)],
    ids=["not edited", "docstring", "code"],
)
def test_unplanned_code_publishes_nothing(project, monkeypatch, old, new, published):
    monkeypatch.chdir(project.root)
    project.change("config/experiments/demo.yaml", "local: {}", "mine: {protocol: 'mine.py:Mine'}")
    experiment = project.settings().papers["demo"].experiments["coins"]
    params = of_experiment(experiment.job("mine", 7)) | {"code": code_keys.CodeKeys(Path()).keys("mine.py")}
    project.change("mine.py", old, new)
    checksum = Bundle.locate(Path("results"), "demo", "coins", "mine").checksum
    if published:
        run_script("run_experiment.py", [], {}, params, Path())
    else:
        with pytest.raises(SystemExit):
            run_script("run_experiment.py", [], {}, params, Path())
        assert "was edited after the run had started" in Path("job.log").read_text()
    assert checksum.exists() is published
