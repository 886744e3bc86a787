"""Data of one number per user, or of one number in one of several coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.numerics.repeated_indices import pieces
from shuffledp.numerics.samplers import without_replacement
from shuffledp.pipeline.datasets.prepared import Dataset
from shuffledp.pipeline.experiments.sources.interface import (
    SPARSE_COLUMNS,
    Held,
    Source,
    finite_population_correction,
    too_many,
)
from shuffledp.tasks import USERS_AT_ONCE, Floats, Ints, Participants, Public, Summation, Users


@dataclass(frozen=True)
class Numbers(Source):
    """Numbers with finitely many values: records `holders` for draws without replacement, or probabilities `shares`."""

    task: Summation
    shares: Floats
    holders: Ints | None

    def draw(self, n: int, rng: np.random.Generator) -> Held:
        """Draw the number of participants per value, of shape ``counts_shape``."""
        if self.holders is None:
            drawn = rng.multinomial(n, self.shares.ravel())
        elif n > self.holders.sum():
            raise ValueError(too_many(n, int(self.holders.sum())))
        else:
            drawn = without_replacement(self.holders.ravel(), n, rng)
        return np.asarray(drawn.reshape(self.shares.shape))

    def gathered(self, n: Ints, held: Sequence[Held], truth: str) -> Participants:
        """Return the participants; the counts are users per value, and the truth is the sum."""
        counts = np.stack(held)
        own = counts @ self.task.values
        target = own if truth == "participants" else n.reshape(-1, *[1] * (own.ndim - 1)) * self._mean

        def users(repeat: int) -> Iterator[Users]:
            for start, index in pieces(counts[repeat].ravel(), USERS_AT_ONCE):
                yield Users(self._raw(index), offset=start)

        return Participants(Public(n), counts, np.asarray(target, float), users)

    def expected(self, n: Ints, truth: str) -> tuple[Participants, Floats]:
        """Return the expected users per value."""
        size = None if self.holders is None else int(self.holders.sum())
        counts = n.reshape(-1, *[1] * self.shares.ndim) * self.shares
        if self.holders is not None:
            counts = np.where(n.reshape(-1, *[1] * self.shares.ndim) == size, self.holders, counts)
        mean = counts @ self.task.values
        sampling = np.zeros_like(mean)
        if truth == "population":
            spread = self.shares @ self.task.values**2 - self._mean**2
            sampling = (finite_population_correction(n, size) * n).reshape(
                -1, *[1] * (mean.ndim - 1)
            ) * spread
        return Participants(Public(n), counts, mean), sampling

    @property
    def _mean(self) -> Floats:
        return np.asarray(self.shares @ self.task.values)

    def _raw(self, index: Ints) -> Held:
        """Return raw inputs: number, or coordinate and number, as integers (multiples of ``1 / max_value`` if real)."""
        *coordinate, value = np.unravel_index(index, self.task.counts_shape)
        number = value - (self.task.max_value if self.task.signed else 0)
        return number if not coordinate else np.column_stack((coordinate[0], number))


def source(config: Mapping[str, Any], task: Summation, dataset: Dataset | None) -> Numbers:
    """Return the numbers of a configuration."""
    shape = task.counts_shape
    if dataset is None:
        weights = config.get("weights")
        shares = np.full(shape, 1 / np.prod(shape)) if weights is None else np.reshape(weights, shape)
        return Numbers(config, "synthetic", "", task, np.asarray(shares, float), None)
    about = dataset.provenance
    holders = _holders(dataset, config["column"], task)
    without = config.get("draw", "without_replacement") == "without_replacement"
    return Numbers(
        config, about.source, about.note, task, holders / holders.sum(), holders if without else None
    )


def _holders(dataset: Dataset, column: str, task: Summation) -> Ints:
    if column in SPARSE_COLUMNS:
        return dataset.first_and_size()
    return dataset.histogram(column, task.counts_shape[-1])


def check(config: Mapping[str, Any], task: Summation) -> None:
    """Raise ``ValueError`` if values or coordinates of the data differ from the task's."""
    sparse = config.get("column") in SPARSE_COLUMNS
    if config["name"] not in ("uniform", "categorical") and (sparse != (task.coordinates > 1) or task.signed):
        raise ValueError(
            f"{config['name']}, column {config['column']!r}, holds {'a coordinate and ' if sparse else ''}a number "
            f"that is not negative, but the task has {task.coordinates} coordinate(s)"
            f"{' and signed numbers' if task.signed else ''}."
        )
    if config["name"] == "categorical":
        weights, size = config["weights"], int(np.prod(task.counts_shape))
        if len(weights) != size or abs(sum(weights) - 1) > 1e-9:
            raise ValueError(
                f"weights must be {size} numbers (coordinates times values) that sum to 1, got {len(weights)} "
                f"that sum to {sum(weights):g}."
            )
