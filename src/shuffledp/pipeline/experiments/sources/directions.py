"""Unit vectors along the axes in both directions, the longest admissible vectors in the l1 and the l2 norm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.numerics.repeated_indices import pieces
from shuffledp.pipeline.datasets.prepared import Dataset
from shuffledp.pipeline.experiments.sources.interface import Held, Source, Truth
from shuffledp.protocols.vectors._participants import VectorParticipants
from shuffledp.tasks import Floats, Ints, Participants, Public, Users, Vectors

#: Vectors in memory at a time, for the message level.
USERS_AT_ONCE = 500


@dataclass(frozen=True)
class Directions(Source):
    """Independent users with ``clip`` times plus or minus a basis vector, all ``2 d`` vectors equally likely."""

    task: Vectors

    def draw(self, n: int, rng: np.random.Generator) -> Held:
        """Draw the number of participants per direction, (2 d,): positive directions first, then negative ones."""
        d = self.task.dimension
        return rng.multinomial(n, np.full(2 * d, 1 / (2 * d)))

    def gathered(self, n: Ints, draws: Sequence[Held], truth: Truth) -> Participants:
        """Return the participants, whose counts are sums of vectors."""
        users_by_direction = np.stack(draws)
        sums = self._sums(users_by_direction)
        target = sums / n[:, None] if truth == "participants" else np.zeros_like(sums)

        def users(repeat: int) -> Iterator[Users]:
            for start, directions in pieces(draws[repeat], USERS_AT_ONCE):
                yield Users(self._vectors(directions), offset=start)

        def some(sizes: Ints, rng: np.random.Generator) -> Floats:
            samples = [
                rng.multivariate_hypergeometric(counts, k) for counts, k in zip(draws, sizes, strict=True)
            ]
            return self._sums(np.stack(samples))

        squares = self._squares(users_by_direction)
        directions_held = squares / self.task.clip**2
        return VectorParticipants(
            Public(n), sums, target, users, some, squares=squares, directions=directions_held
        )

    def expected(self, n: Ints, truth: Truth) -> tuple[Participants, Floats]:
        """Return the expected sums, which are zero, and the expected sums of squares, which are equal for all axes."""
        d, clip = self.task.dimension, self.task.clip
        nothing = np.zeros((len(n), d))
        squares = np.repeat(n[:, None] * clip**2 / d, d, axis=1)
        spread = np.full((len(n), d), clip**2 / d)
        of_units = squares / clip**2
        participants = VectorParticipants(
            Public(n), nothing, nothing, spread=spread, squares=squares, directions=of_units
        )
        return participants, nothing if truth == "participants" else spread / n[:, None]

    def _sums(self, users_by_direction: Ints) -> Floats:
        d = self.task.dimension
        return np.asarray(self.task.clip * (users_by_direction[:, :d] - users_by_direction[:, d:]), float)

    def _squares(self, users_by_direction: Ints) -> Floats:
        d = self.task.dimension
        return np.asarray(self.task.clip**2 * (users_by_direction[:, :d] + users_by_direction[:, d:]), float)

    def _vectors(self, directions: Ints) -> Floats:
        d = self.task.dimension
        vectors = np.zeros((len(directions), d))
        vectors[np.arange(len(directions)), directions % d] = (
            np.where(directions < d, 1.0, -1.0) * self.task.clip
        )
        return vectors


def check(config: Mapping[str, Any], task: Vectors) -> None:
    """Accept every task, as the vectors have the same length in both norms."""


def source(config: Mapping[str, Any], task: Vectors, dataset: Dataset | None) -> Directions:
    """Return the directions for a task; the draw does not depend on the clipping norm."""
    return Directions(config, "synthetic", "", task)
