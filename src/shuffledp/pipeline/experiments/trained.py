"""Finished training runs: their files, and the accuracy of every evaluated round."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shuffledp.pipeline import table_files
from shuffledp.storage import verified


@dataclass(frozen=True)
class TrainingFiles:
    """Files of one run; its checkpoint is removed when the curve is published."""

    curve: Path
    provenance: Path
    checksum: Path
    checkpoint: Path

    @staticmethod
    def locate(results: Path, paper: str, run: str) -> TrainingFiles:
        """Return the file names below the results folder."""
        endings = ("parquet", "json", "sha256", "checkpoint")
        return TrainingFiles(*(results / "training" / paper / f"{run}.{end}" for end in endings))


@dataclass(frozen=True)
class Trained:
    """Finished run: accuracy in [0, 1] by round, and the data source."""

    data: str
    accuracy: Mapping[int, float]
    data_source: str
    note: str


def curve_name(run: str, repeat: int) -> str:
    """Return the name of the files of a training run with one of its seeds."""
    return f"{run}-{repeat + 1}" if repeat else run


def read(files: TrainingFiles) -> Trained:
    """Read a finished run. Raise `IntegrityError` with the name of a file whose checksum differs."""
    about = json.loads(verified(files.provenance, files.checksum).read_text(encoding="utf-8"))
    curve = table_files.read(verified(files.curve, files.checksum)).to_pylist()
    accuracy = {point["round"]: point["accuracy"] for point in curve}
    return Trained(about["job"]["data"], accuracy, about["data"]["source"], about["data"]["note"])
