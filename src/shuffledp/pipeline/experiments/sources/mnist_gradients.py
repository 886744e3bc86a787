"""Data with one gradient per image of MNIST."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.pipeline.datasets.gradients import SoftmaxGradients
from shuffledp.pipeline.datasets.prepared import Dataset, Provenance
from shuffledp.pipeline.experiments.sources.interface import (
    VECTOR_COLUMNS,
    Held,
    Source,
    Truth,
    UnlikeStandIn,
    finite_population_correction,
    too_many,
    with_replacement,
)
from shuffledp.protocols.vectors._participants import VectorParticipants
from shuffledp.tasks import Floats, Ints, Participants, Public, Users, Vectors

#: Vectors in memory at a time, for the message level.
USERS_AT_ONCE = 500
#: Repeats whose sums of vectors are computed together.
REPEATS_AT_ONCE = 50


@dataclass(frozen=True)
class Gradients(Source):
    """Gradients of images; participants are images, drawn with or without replacement."""

    gradients: SoftmaxGradients
    replace: bool

    def draw(self, n: int, rng: np.random.Generator) -> Held:
        """Draw the indices of the participating images, (n,)."""
        if n > len(self.gradients) and not self.replace:
            raise ValueError(too_many(n, len(self.gradients)))
        return rng.choice(len(self.gradients), n, replace=self.replace).astype(np.int32)

    def gathered(self, n: Ints, draws: Sequence[Held], truth: Truth) -> Participants:
        """Return the participants, whose counts are sums of gradients."""
        sums = self._sums(draws)
        mean = self.gradients.mean
        target = sums / n[:, None] if truth == "participants" else np.broadcast_to(mean, sums.shape)

        def users(repeat: int) -> Iterator[Users]:
            for start in range(0, len(draws[repeat]), USERS_AT_ONCE):
                chunk = draws[repeat][start : start + USERS_AT_ONCE]
                yield Users(self.gradients.vectors(chunk), offset=start)

        def some(sizes: Ints, rng: np.random.Generator) -> Floats:
            return self._sums(
                [rng.choice(images, k, replace=False) for images, k in zip(draws, sizes, strict=True)]
            )

        return VectorParticipants(Public(n), sums, target, users, some)

    def expected(self, n: Ints, truth: Truth) -> tuple[Participants, Floats]:
        """Return the expected sums of gradients."""
        mean = np.broadcast_to(self.gradients.mean, (len(n), self.gradients.dimension))
        spread = np.broadcast_to(self.gradients.spread, mean.shape)
        participants = VectorParticipants(Public(n), n[:, None] * mean, mean, spread=spread)
        if truth == "participants":
            return participants, np.zeros_like(mean)
        size = None if self.replace else len(self.gradients)
        around = spread * (1 - 1 / len(self.gradients))  # divisor n
        return participants, finite_population_correction(n, size)[:, None] * around / n[:, None]

    def _sums(self, chosen: Sequence[Ints]) -> Floats:
        number, parts = len(self.gradients), []
        for start in range(0, len(chosen), REPEATS_AT_ONCE):
            some = chosen[start : start + REPEATS_AT_ONCE]
            times = np.stack([np.bincount(images, minlength=number).astype(np.int32) for images in some])
            parts.append(self.gradients.sums(times))
        return np.concatenate(parts)


def check(config: Mapping[str, Any], task: Vectors) -> None:
    """Raise ``ValueError`` if the task's clipping norm is not the norm of the gradients."""
    if task.norm != "l1":
        raise ValueError(f"norm must be 'l1', in which the gradients are clipped, got {task.norm!r}.")


def source(config: Mapping[str, Any], task: Vectors, dataset: Dataset) -> Source:
    """Return the gradients of a data set of images; the dimension of a substitute may differ from the task's."""
    images, labels = (dataset.arrays[name] for name in VECTOR_COLUMNS[config["column"]])
    gradients = SoftmaxGradients(images, labels, task.clip)
    about = dataset.provenance
    if gradients.dimension == task.dimension:
        return Gradients(config, about.source, about.note, gradients, with_replacement(config))
    return _of_another_dimension(config, task, about, gradients.dimension)


def _of_another_dimension(
    config: Mapping[str, Any], task: Vectors, about: Provenance, dimension: int
) -> UnlikeStandIn:
    """Return a source without participants for a substitute of another dimension. Raise ValueError for real data."""
    if about.source != "stand_in":
        raise ValueError(
            f"{config['name']}: vectors have dimension {dimension}, but the task's is {task.dimension}."
        )
    note = (
        f"{about.note} Its vectors have {dimension} coordinates, not {task.dimension}: nothing was simulated, "
        "only closed forms are shown, which need no data."
    )
    return UnlikeStandIn(config, about.source, note, task)
