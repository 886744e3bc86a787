# ruff: noqa: E501  (one case per line)
"""Training runs of a paper: configuration, files, and the behavior without JAX."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from scripts_by_file import ROOT
from shuffledp.pipeline.experiments import runner, training_jobs
from shuffledp.pipeline.experiments.results import Bundle, write as write_results
from shuffledp.pipeline.figures.drawings import paper_job
from shuffledp.pipeline.figures.paper import draw_paper
from shuffledp.pipeline.learning import CheckpointError, Point, TrainingCurve, available
from shuffledp.pipeline.provenance import of_job
from shuffledp.storage import IntegrityError, damaged
from waiting import wait_until

PAPER, RUN = "config/experiments/demo.yaml", "config/config.yaml"
TRAINED = """\
paper: {title: "A demonstration", citation: "Nobody 2024"}
training:
  short: {kind: shuffle_sgd, data: {name: mnist}, batch: 20, learning_rate: 0.5, clip: 0.3, noise_multiplier: 0.4, rounds: 5, evaluate_every: 2}
experiments:
  sgd:
    source: "Fig. 1"
    grid: {sigma: [0.5, 1.0], round: {evaluated: short}}
    methods:
      shuffle: {training: short, function: subsampled_shuffle_gaussian_epsilon, arguments: {n: 60000, m: 60, sigma: $sigma, rounds: $round, delta: 1.0e-5}, returns: eps}
      central: {training: short, function: central_gaussian_epsilon, arguments: {rate: 0.001, noise_multiplier: 3.0, rounds: $round, delta: 1.0e-5}, returns: eps, accounting: [exact]}
figures:
  accuracy: {title: "Accuracy", experiment: sgd, x: eps, along: round, y: accuracy, panels: sigma, caption: any.rst}
  rounds: {title: "Rounds", experiment: sgd, x: round, y: eps, panels: sigma, caption: any.rst}
"""
CURVE = TrainingCurve(
    (Point(0, 0.1, 2.3, 0), Point(2, 0.5, 2.0, 20), Point(4, 0.6, 1.5, 20), Point(5, 0.7, 1.0, 20))
)


@pytest.fixture
def trained(project):
    project.write(PAPER, TRAINED)
    project.write("workflow/report/demo/any.rst", "What to see.\n")
    return project


def without_jax(monkeypatch):
    monkeypatch.setattr(training_jobs, "available", lambda: False)


@pytest.fixture
def with_jax(monkeypatch):
    monkeypatch.setattr(training_jobs, "available", lambda: True)
    monkeypatch.setattr(training_jobs, "version", lambda package: "0")


def short(settings):
    return settings.papers["demo"].training["short"]


def publish(folder, run, note="", curve=CURVE):
    """Publish a finished run without training."""
    files = training_jobs.TrainingFiles.locate(folder, run.paper, run.name)
    about = of_job(run.job(7), "0", {"source": "mirror", "note": note}, ROOT)
    training_jobs.write(files, curve, about)
    return files


def computed(settings, method, folder):
    experiment = settings.papers["demo"].experiments["sgd"]
    return runner.run(experiment.job(method, settings.seed), prepared=folder, root=ROOT, results=folder)


# -- configuration -----------------------------------------------------------------------------------------------


def test_grid_omits_round_zero(trained):
    paper = trained.settings(learning="skip").papers["demo"]
    assert paper.experiments["sgd"].grid == {"sigma": [0.5, 1.0], "round": [2, 4, 5]}
    job = paper.experiments["sgd"].job("central", 7)
    assert job.grid == {"round": [2, 4, 5]}
    assert job.training == {"run": "short", "seeds": 1, "round": "round", "left_out": "learning: skip"}


BROKEN = {
    "unknown kind": (PAPER, "kind: shuffle_sgd", "kind: shufle_sgd", "training.short.kind:", "Did you mean 'shuffle_sgd'?"),
    "rate as text": (PAPER, "learning_rate: 0.5", "learning_rate: 5e-1", "training.short.learning_rate:", "write 5.0e-1."),
    "unknown key": (PAPER, "rounds: 5", "round: 5, rounds: 5", "training.short:", "unknown key 'round'. Did you mean 'rounds'?"),
    "CIFAR10 is not there": (PAPER, "name: mnist", "name: cifar10", "training.short.data:", "cifar10/cifar10.npz there that holds the arrays train_images"),
    "grid of another run": (PAPER, "{evaluated: short}", "{evaluated: shot}", "experiments.sgd.grid.round.evaluated:", "no training run 'shot'. Did you mean 'short'?"),
    "method of another run": (PAPER, "central: {training: short", "central: {training: long", "experiments.sgd.methods.central.training:", "the value {evaluated: long}"),
    "method without rounds": (PAPER, "noise_multiplier: 3.0, rounds: $round", "noise_multiplier: 3.0, rounds: 5", "experiments.sgd.methods.central.training:", "needs an argument over the rounds of 'short'"),
    "protocol with training": (PAPER, "central: {training: short, function: central_gaussian_epsilon", "central: {training: short, protocol: local", "experiments.sgd.methods.central:", "belongs to a method with a function."),
    "along without a number": (PAPER, "x: eps, along: round", "x: sigma, along: round", "figures.accuracy.along:", "not to 'sigma'"),
    "no along": (PAPER, "x: eps, along: round", "x: eps", "figures.accuracy:", "'eps' is not a grid variable."),
    "unused run": (PAPER, "experiments:", "  unused: {kind: checkin, data: {name: mnist}, rate: 0.1, learning_rate: 1, clip: 1, noise_multiplier: 1, rounds: 3, evaluate_every: 1}\nexperiments:", "training.unused:", "no method uses it"),
    "learning": (RUN, "seed: 7", "seed: 7\nlearning: never", "config: learning:", "must be 'auto', 'require' or 'skip', got 'never'"),
    "override of a setting": (RUN, "overrides: {}", "overrides: {demo.training.short: {clip: 2}}", "config: overrides.demo.training.short:", "unknown key 'clip'. Known: evaluate_every, grid, repeats, rounds, sampled, seeds."),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_mistake_is_one_line_with_place(trained, case):
    path, old, new, start, rest = BROKEN[case]
    trained.change(path, old, new)
    message = trained.mistake() if case == "learning" else trained.mistake(learning="auto")
    assert message.startswith(f"{PAPER}: {start}" if path == PAPER else start), message
    assert rest in message
    assert "\n" not in message


def test_override_shortens_run_and_grid(trained):
    trained.change(RUN, "overrides: {}", "overrides: {demo.training.short: {rounds: 3, sampled: 10}}")
    settings = trained.settings(learning="skip")
    run = short(settings)
    assert run.shortened == "3 of 5 rounds"
    assert run.plan(0).sampled == 10
    assert settings.papers["demo"].experiments["sgd"].grid["round"] == [2, 3]
    assert settings.shortened == {"demo"}


def test_wrong_run_override_is_named(trained):
    trained.change(PAPER, "x: round, y: eps, panels: sigma", "x: sigma, y: eps, where: {round: 4}")
    assert trained.settings(learning="skip").papers
    over = {"demo.training.short": {"rounds": 3}}
    for place in ("figures.rounds", "training.short"):
        said = trained.mistake(learning="skip", overrides=over)
        assert said.startswith(f"{PAPER}: {place}")
        assert said.endswith("(with config: overrides.demo.training.short merged in)")
        trained.change(PAPER, "clip: 0.3", "clip: 0.3, averaging: 1")


@pytest.mark.parametrize(
    "installed, wish, reason",
    [
        (False, "auto", "JAX is not installed"),
        (False, "skip", "learning: skip"),
        (True, "auto", ""),
        (True, "require", ""),
        (True, "skip", "learning: skip"),
    ],
)
def test_training_needs_jax_and_the_wish(trained, monkeypatch, installed, wish, reason):
    monkeypatch.setattr(training_jobs, "available", lambda: installed)
    assert trained.settings(learning=wish).left_out == reason


def test_missing_jax_fails_required_training(trained, monkeypatch):
    without_jax(monkeypatch)
    said = trained.mistake(learning="require")
    assert said.startswith("config: learning: require needs JAX, which is not installed")


# -- results -----------------------------------------------------------------------------------------------------


def test_cells_are_of_the_undamaged_run(trained, with_jax, tmp_path):
    settings = trained.settings()
    files = publish(tmp_path, short(settings), "Shortened.")
    done = computed(settings, "shuffle", tmp_path)
    assert done.data_note == "Shortened."
    cells, values = done.cells.to_pandas(), done.values.to_pandas()
    points = [json.loads(p) for p in cells["point"]]
    assert len(points) == 6
    both = values.pivot_table(index="cell", columns=["metric", "kind"], values="value").loc[cells["cell"]]
    assert both[("accuracy", "simulated")].tolist() == [{2: 0.5, 4: 0.6, 5: 0.7}[p["round"]] for p in points]
    assert both[("eps", "computed")].tolist() == cells["eps"].tolist()
    assert (cells["eps"] > 0).all() and (values["repeat"] == 0).all()
    assert set(cells["dataset"]) == {"mnist"} and set(cells["data_source"]) == {"mirror"} == {
        done.data_source
    }
    files.curve.write_bytes(files.curve.read_bytes()[:-3] + b"xyz")
    with pytest.raises(IntegrityError, match=r"short\.parquet: content differs"):
        computed(settings, "central", tmp_path)


def test_every_seed_has_its_accuracy(trained, with_jax, tmp_path):
    trained.change(PAPER, "rounds: 5", "seeds: 2, rounds: 5")
    settings = trained.settings()
    first, second = short(settings).repeats
    assert first.plan(7) == replace(first, seeds=1).plan(7) and first.plan(7).seed != second.plan(7).seed
    publish(tmp_path, first)
    better = TrainingCurve(tuple(replace(point, accuracy=point.accuracy + 0.1) for point in CURVE.points))
    publish(tmp_path, second, curve=better)
    values = computed(settings, "shuffle", tmp_path).values.to_pandas()
    by_seed = values[values["metric"] == "accuracy"].pivot(index="cell", columns="repeat", values="value")
    assert np.allclose(by_seed[1] - by_seed[0], 0.1)


def drawn(project, settings, monkeypatch):
    monkeypatch.chdir(project.root)
    for method in ("shuffle", "central"):
        done = computed(settings, method, Path("results"))
        job = settings.papers["demo"].experiments["sgd"].job(method, 7)
        about = of_job(job.plain(), "0", {"source": done.data_source, "note": done.data_note}, ROOT)
        write_results(Bundle.locate(Path("results"), "demo", "sgd", method), done.cells, done.values, about)
    contents = draw_paper(paper_job(settings.papers["demo"], settings, Path()))
    return {path.name: content for path, content in contents.items()}


def test_omitted_training_keeps_accounting(trained, monkeypatch):
    without_jax(monkeypatch)
    files = drawn(trained, trained.settings(), monkeypatch)
    entries = {e["id"]: e for e in json.loads(files["manifest.json"])["entries"]}
    said = "Training is left out (JAX is not installed): there is no accuracy."
    assert entries["accuracy"]["note"] == said
    assert entries["rounds"]["note"] == "", "nothing that it shows is trained"
    head, *rows = files["accuracy.csv"].decode().splitlines()
    assert "eps" in head.split(",") and "accuracy" not in head, "eps by round in place of the accuracy"
    assert len(rows) == 6 + 3
    assert len(files["rounds.csv"].splitlines()) == 1 + 6 + 3
    about = json.loads(Path("results/runs/demo/sgd/shuffle.json").read_text())
    assert about["job"]["training"]["left_out"] == "JAX is not installed" and about["data"]["note"] == said


def test_accuracy_is_drawn_against_eps(trained, with_jax, monkeypatch):
    settings = trained.settings()
    publish(trained.root / "results", short(settings))
    files = drawn(trained, settings, monkeypatch)
    lines = [line.split(",") for line in files["accuracy.csv"].decode().splitlines()]
    assert lines[0][:6] == ["method", "accounting", "curve", "sigma", "round", "eps"]
    assert len(lines) == 1 + 3 + 6 and {line[6] for line in lines[1:]} == {"simulated"}
    facts = dict(
        next(e for e in json.loads(files["manifest.json"])["entries"] if e["id"] == "accuracy")["settings"]
    )
    assert facts["highest accuracy"] == "70.00 % after 5 rounds"
    assert "batch 20" in facts["training"] and facts["data of the training"] == "source: mirror"


# -- the user's own data -----------------------------------------------------------------------------------------


def own_arrays(**changes):
    rng = np.random.default_rng(5)
    images = rng.integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)
    arrays = {
        "train_images": images,
        "train_labels": np.arange(12)[:, None] % 10,
        "test_images": images[:5],
        "test_labels": np.arange(5),
    }
    return {k: v for k, v in (arrays | changes).items() if v is not None}


def test_own_images_are_standardized_alone(tmp_path):
    np.savez(tmp_path / "cifar10.npz", **own_arrays())
    data = training_jobs._own_images("cifar10", tmp_path / "cifar10.npz")
    assert data.image == (32, 32, 3) and data.users == 12
    assert data.mean == pytest.approx(data.train_images.mean() / 255)
    assert data.spread == pytest.approx(data.train_images.std() / 255)


@pytest.mark.parametrize(
    "changes, message",
    [
        (None, r"cifar10 is not downloaded: put a file .*cifar10\.npz there"),
        ({"test_labels": None}, "lacks the arrays test_labels"),
        ({"train_images": np.zeros((12, 28, 28, 1), np.uint8)}, r"\(n, 32, 32, 3\) of uint8"),
    ],
)
def test_other_files_are_refused(tmp_path, changes, message):
    if changes is not None:
        np.savez(tmp_path / "cifar10.npz", **own_arrays(**changes))
    with pytest.raises(ValueError, match=message):
        training_jobs._own_images("cifar10", tmp_path / "cifar10.npz")


# -- the rule's script -------------------------------------------------------------------------------------------

DRIVER = """
import sys
from functools import partial
from dataclasses import replace
from pathlib import Path
import numpy as np
sys.path[:0] = [{scripts!r}]
import train
from shuffledp.pipeline.experiments import training_jobs as training
from shuffledp.pipeline.learning import LearningData

rng = np.random.default_rng(1)
images = rng.integers(0, 256, (60, 28, 28, 1), dtype=np.uint8)
labels = rng.integers(0, 10, 60).astype(np.int32)
training._data = lambda name, prepared, raw: (LearningData(images, labels, images[:20], labels[:20]), "stand_in", "Images are noise.")
training.train_run = partial(training.train_run, every={every})
job = {job!r}
def run(folder):
    files = training.TrainingFiles.locate(Path(folder), "demo", "short")
    train.main(job, Path("."), Path("."), Path({root!r}), files)
    return files
"""


def driver(every):
    settings = {
        "kind": "shuffle_sgd",
        "batch": 20,
        "learning_rate": 0.5,
        "clip": 0.3,
        "noise_multiplier": 0.4,
        "rounds": 120,
        "evaluate_every": 40,
    }
    job = training_jobs.TrainingRun("demo", "short", "mnist", settings, "120 of 500 rounds").job(7)
    return DRIVER.format(scripts=str(ROOT / "workflow/scripts"), every=every, job=job, root=str(ROOT))


@pytest.mark.skipif(not available(), reason="needs JAX")
def test_killed_run_continues_with_same_bytes(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "workflow/scripts"))
    monkeypatch.setattr(training_jobs, "_data", training_jobs._data)  # the driver replaces both
    monkeypatch.setattr(training_jobs, "train_run", training_jobs.train_run)
    killed = training_jobs.TrainingFiles.locate(tmp_path / "killed", "demo", "short")
    process = subprocess.Popen([sys.executable, "-c", driver(0.0) + f"run({str(tmp_path / 'killed')!r})"])
    wait_until(lambda: killed.checkpoint.exists() or process.poll() is not None, seconds=120)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert killed.checkpoint.exists() and not killed.checksum.exists(), "it was to be killed in between"

    inside = {}
    exec(driver(1e9), inside)
    assert inside["run"](tmp_path / "killed") == killed
    whole = inside["run"](tmp_path / "whole")
    assert killed.curve.read_bytes() == whole.curve.read_bytes()
    assert not killed.checkpoint.exists() and not damaged(killed.checksum)
    assert [row["round"] for row in pq.read_table(whole.curve).to_pylist()] == [0, 40, 80, 120]
    about = json.loads(whole.provenance.read_text())
    assert about["data"] == {
        "source": "stand_in",
        "note": "Images are noise. Shortened training: 120 of 500 rounds.",
    }
    assert about["versions"]["jax"][0].isdigit()

    whole.checkpoint.write_bytes(b"not a checkpoint")
    with pytest.raises(CheckpointError, match="damaged"):
        inside["run"](tmp_path / "whole")
