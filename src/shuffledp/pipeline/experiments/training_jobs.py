"""Training runs of a paper: their settings, the job that trains one, and its files; only `train_run` needs JAX."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shuffledp.pipeline import table_files
from shuffledp.pipeline.datasets.prepared import load
from shuffledp.pipeline.experiments.seeds import digest
from shuffledp.pipeline.experiments.trained import TrainingFiles, curve_name
from shuffledp.pipeline.learning.curve import TrainingCurve
from shuffledp.pipeline.learning.data import LearningData, learning_data
from shuffledp.pipeline.learning.installed import available
from shuffledp.pipeline.learning.plan import Network, TrainingPlan
from shuffledp.storage import publish

log = logging.getLogger(__name__)

#: Data sets for training, with the shape of their images.
IMAGES = {"mnist": (28, 28, 1), "cifar10": (32, 32, 3)}
#: Data sets that users supply themselves: the file below the folder of raw data.
OWN_FILES = {"cifar10": "cifar10/cifar10.npz"}
_ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")
_CURVE = pa.schema(
    [
        ("round", pa.int64()),
        ("accuracy", pa.float64()),
        ("loss", pa.float64()),
        ("participants", pa.int64()),
    ]
)


class Rounds(list[int]):
    """Evaluated rounds of a training run, which rise."""


@dataclass(frozen=True)
class TrainingRun:
    """Settings of one training run of a paper's file, for the first of ``seeds`` seeds or for another one.

    ``shortened`` describes differences from the paper's scale.
    """

    paper: str
    id: str
    data: str
    settings: Mapping[str, Any]
    shortened: str = ""
    seeds: int = 1
    repeat: int = 0

    @property
    def name(self) -> str:
        """Name of the files of this seed."""
        return curve_name(self.id, self.repeat)

    @property
    def repeats(self) -> list[TrainingRun]:
        """The same run for each seed."""
        return [replace(self, repeat=repeat) for repeat in range(self.seeds)]

    @property
    def evaluated(self) -> Rounds:
        """Rounds at which the curve has a point, without round 0, which precedes any release."""
        plan = self.plan(0)
        return Rounds([*range(plan.evaluate_every, plan.rounds, plan.evaluate_every), plan.rounds])

    def plan(self, seed: int) -> TrainingPlan:
        """Return the settings for training; the seed, the paper and the run name the random streams."""
        settings = dict(self.settings)
        network = Network(image=IMAGES[self.data], **settings.pop("network", {}))
        named = int(digest([seed, "training", self.paper, self.name]), 16)
        return TrainingPlan(seed=named, network=network, **settings)

    def job(self, seed: int) -> dict[str, Any]:
        """Return all data that training depends on."""
        return {
            "paper": self.paper,
            "training": self.id,
            "data": self.data,
            "settings": dict(self.settings),
            "shortened": self.shortened,
            "seed": seed,
            "repeat": self.repeat,
        }

    def described(self) -> str:
        """Return the settings as text for a caption."""
        settings = {"data": self.data, **self.settings}
        network = settings.pop("network", {})
        parts = [f"{key.replace('_', ' ')} {value}" for key, value in {**settings, **network}.items()]
        seeds = f", mean of {self.seeds} seeds" if self.seeds > 1 else ""
        return f"{self.id} ({', '.join(parts)}{seeds})"


def left_out(wish: str) -> str:
    """Return the reason for no training, empty if a model is trained. Raise ValueError for "require" without JAX."""
    if wish == "skip":
        return "learning: skip"
    if available():
        return ""
    if wish == "require":
        raise ValueError("require needs JAX, which is not installed: run `make learning`, or choose auto.")
    return "JAX is not installed"


def train_run(
    job: Mapping[str, Any], *, prepared: Path, raw: Path, checkpoint: Path, every: float = 5.0
) -> tuple[TrainingCurve, dict[str, str]]:
    """Train a model or resume training; return the accuracy curve, and the data's source and note."""
    from shuffledp.pipeline.learning.training import train  # needs JAX

    run = TrainingRun(
        job["paper"],
        job["training"],
        job["data"],
        job["settings"],
        job["shortened"],
        repeat=job["repeat"],
    )
    plan = run.plan(job["seed"])
    data, source, note = _data(run.data, prepared, raw)
    name = f"{run.paper}.training.{run.name}"
    if checkpoint.exists():
        log.info("%s: goes on from %s", name, checkpoint)
    curve = train(
        plan,
        data,
        checkpoint=checkpoint,
        progress=lambda progress: log.info("%s: %s", name, progress),
        every_seconds=every,
    )
    best = curve.best
    log.info("%s: done, highest accuracy %.2f %% after round %d", name, 100 * best.accuracy, best.round)
    remarks = [note, run.shortened and f"Shortened training: {run.shortened}.", _shortcut(run)]
    return curve, {"source": source, "note": " ".join(text for text in remarks if text)}


def _shortcut(run: TrainingRun) -> str:
    sampled, batch = run.settings.get("sampled"), run.settings.get("batch")
    if sampled is None or (batch is not None and sampled >= batch):
        return ""
    return f"The sum of gradients is estimated from {sampled} participants of each round."


def write(files: TrainingFiles, curve: TrainingCurve, provenance: Mapping[str, Any]) -> None:
    """Publish a finished run, then remove its checkpoint."""
    rows = [asdict(point) for point in curve.points]
    versions = {**provenance["versions"], "jax": version("jax"), "jaxlib": version("jaxlib")}
    about = json.dumps({**provenance, "versions": versions}, indent=2, sort_keys=True, ensure_ascii=False)
    content = table_files.to_bytes(pa.Table.from_pylist(rows, _CURVE))
    publish(files.checksum, {files.curve: content, files.provenance: f"{about}\n".encode()}, folders=2)
    files.checkpoint.unlink(missing_ok=True)


def _data(name: str, prepared: Path, raw: Path) -> tuple[LearningData, str, str]:
    if name in OWN_FILES:
        return _own_images(name, raw / OWN_FILES[name]), "user", ""
    dataset = load(name, prepared)
    return learning_data(dataset.arrays), dataset.provenance.source, dataset.provenance.note


def _own_images(name: str, path: Path) -> LearningData:
    """Return the user's color images; the training images' mean and deviation standardize the pixels."""
    if not path.is_file():
        raise ValueError(missing(name, path))
    with np.load(path, allow_pickle=False) as bundle:
        if absent := [key for key in _ARRAYS if key not in bundle.files]:
            raise ValueError(f"{path}: lacks the arrays {', '.join(absent)}.")
        train, train_labels, test, test_labels = (bundle[key] for key in _ARRAYS)
    for images in (train, test):
        if images.dtype != np.uint8 or images.shape[1:] != IMAGES[name]:
            raise ValueError(
                f"{path}: images must be (n, {', '.join(map(str, IMAGES[name]))}) of uint8, got {images.shape} of "
                f"{images.dtype}."
            )
    labels = (train_labels.astype(np.int32).ravel(), test_labels.astype(np.int32).ravel())
    mean, spread = float(train.mean() / 255), float(train.std() / 255)
    return LearningData(train, labels[0], test, labels[1], mean, spread)


def missing(name: str, path: Path) -> str:
    """Return the error message for a missing data set that the user must supply."""
    return (
        f"{name} is not downloaded: put a file {path} there that holds the arrays {', '.join(_ARRAYS)} "
        "(see docs/shuffle_gaussian.md)."
    )
