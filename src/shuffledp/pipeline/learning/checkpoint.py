"""State of an unfinished run in one file, from which training continues with the same numbers.

The first line is the sha256 of the rest, so that one rename publishes state and checksum together. A process killed at
any time leaves the previous or the new checkpoint, and both are usable. States of random generators are not needed,
because every round has its own streams (see `training`).
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import zipfile
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp import storage
from shuffledp.pipeline.learning.curve import Point
from shuffledp.pipeline.learning.plan import TrainingPlan

log = logging.getLogger(__name__)

_FORMAT = 1
_MARK = b"shuffledp training checkpoint, sha256 of the rest: "


class CheckpointError(RuntimeError):
    """Error of a checkpoint that is damaged or belongs to another plan or other data, with the remedy."""


@dataclass(frozen=True, eq=False)
class State:
    """State of a run that the remaining rounds depend on.

    `round` counts the finished rounds, `parameters` is (d,) float32, and `points` is the curve. `average` is the
    weighted sum (d,) of all iterates, with weights not yet scaled to sum to 1; it is unused without averaging.
    """

    round: int
    parameters: NDArray[np.float32]
    average: NDArray[np.float64]
    points: tuple[Point, ...]


def save(path: Path, plan: TrainingPlan, digest: str, state: State, machine: Mapping[str, Any]) -> None:
    """Write a checkpoint in one step; equal arguments give equal bytes."""
    about = {"plan": plan.described(), "data": digest, "format": _FORMAT, "machine": dict(machine)}
    points = [astuple(point) for point in state.points]
    text = json.dumps({"about": about, "round": state.round, "points": points}, sort_keys=True)
    stream = io.BytesIO()
    np.savez(
        stream,
        text=np.frombuffer(text.encode(), np.uint8),
        parameters=state.parameters,
        average=state.average,
    )
    payload = stream.getvalue()
    storage.write_atomically(path, _MARK + hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload)


def load(path: Path, plan: TrainingPlan, digest: str, machine: Mapping[str, Any]) -> State | None:
    """Read a checkpoint after a check of its checksum, plan and data; None without a file.

    A difference in `machine` logs a warning, because results may then differ in their last digits.
    """
    if not path.exists():
        return None
    remedy = f"Delete {path} to train from the beginning."
    line, _, payload = path.read_bytes().partition(b"\n")
    if line != _MARK + hashlib.sha256(payload).hexdigest().encode():
        raise CheckpointError(f"{path}: damaged, its content does not match its checksum. {remedy}")
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as bundle:
            text = json.loads(bundle["text"].tobytes())
            parameters, average = bundle["parameters"], bundle["average"]
        about = text["about"]
        description = {"plan": plan.described(), "data": digest, "format": _FORMAT}
        if differing := _differing({key: about[key] for key in description}, description):
            raise CheckpointError(
                f"{path}: of another run, which differs in {', '.join(differing)}. {remedy}"
            )
        if about["machine"] != dict(machine):
            log.warning(
                "%s was written with %s, training goes on with %s: results may differ in their last digits.",
                path,
                about["machine"],
                dict(machine),
            )
        points = tuple(Point(*values) for values in text["points"])
        return State(int(text["round"]), parameters, average, points)
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise CheckpointError(f"{path}: not a checkpoint of this program ({error}). {remedy}") from error


def _differing(stored: Mapping[str, Any], expected: Mapping[str, Any], prefix: str = "") -> list[str]:
    names = []
    plain = json.loads(json.dumps(dict(expected)))  # tuples become lists, as in the file
    for key in sorted({*stored, *plain}):
        old, new = stored.get(key), plain.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            names += _differing(old, new, f"{prefix}{key}.")
        elif old != new:
            names.append(f"{prefix}{key} ({old!r} there, {new!r} here)")
    return names
