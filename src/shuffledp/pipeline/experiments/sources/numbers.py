"""Data with one number per user, possibly in one of several coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.numerics.repeated_indices import pieces
from shuffledp.pipeline.datasets.prepared import Dataset
from shuffledp.pipeline.experiments.sources.cells import CellSource, check_weights
from shuffledp.pipeline.experiments.sources.interface import (
    SPARSE_COLUMNS,
    Held,
    Truth,
    finite_population_correction,
    with_replacement,
)
from shuffledp.tasks import USERS_AT_ONCE, Floats, Ints, Participants, Public, Summation, Users


@dataclass(frozen=True)
class NumberSource(CellSource):
    """Numbers with finitely many values."""

    task: Summation

    def gathered(self, n: Ints, draws: Sequence[Held], truth: Truth) -> Participants:
        """Return the participants; their counts are users per value, and the truth is the sum."""
        counts = np.stack(draws)
        sums = counts @ self.task.values
        target = sums if truth == "participants" else n.reshape(-1, *[1] * (sums.ndim - 1)) * self._mean

        def users(repeat: int) -> Iterator[Users]:
            for start, index in pieces(counts[repeat].ravel(), USERS_AT_ONCE):
                yield Users(self._raw(index), offset=start)

        return Participants(Public(n), counts, np.asarray(target, float), users)

    def expected(self, n: Ints, truth: Truth) -> tuple[Participants, Floats]:
        """Return the expected users per value."""
        counts = self.expected_counts(n)
        mean = counts @ self.task.values
        sampling = np.zeros_like(mean)
        if truth == "population":
            spread = self.shares @ self.task.values**2 - self._mean**2
            sampling = (finite_population_correction(n, self.size) * n).reshape(
                -1, *[1] * (mean.ndim - 1)
            ) * spread
        return Participants(Public(n), counts, mean), sampling

    @property
    def _mean(self) -> Floats:
        return np.asarray(self.shares @ self.task.values)

    def _raw(self, index: Ints) -> Held:
        """Return raw inputs as integers: numbers, or coordinates with numbers (real ones in units of 1 / max_value)."""
        *coordinate, value = np.unravel_index(index, self.task.counts_shape)
        number = value - (self.task.max_value if self.task.signed else 0)
        return number if not coordinate else np.column_stack((coordinate[0], number))


def source(config: Mapping[str, Any], task: Summation, dataset: Dataset | None) -> NumberSource:
    """Return the numbers of a configuration."""
    shape = task.counts_shape
    if dataset is None:
        return NumberSource(
            config, "synthetic", "", np.reshape(_shares(config, int(np.prod(shape))), shape), None, task
        )
    about = dataset.provenance
    holders = _holders(dataset, config["column"], task)
    records = None if with_replacement(config) else holders
    return NumberSource(config, about.source, about.note, holders / holders.sum(), records, task)


def _shares(config: Mapping[str, Any], size: int) -> Floats:
    """Return the probability of each number in synthetic data, (size,)."""
    if config["name"] == "uniform":
        return np.full(size, 1 / size)
    if config["name"] == "categorical":
        return np.asarray(config["weights"], np.float64)
    raise ValueError(f"There are no synthetic numbers named {config['name']!r}.")


def _holders(dataset: Dataset, column: str, task: Summation) -> Ints:
    if column in SPARSE_COLUMNS:
        return dataset.first_and_size()
    return dataset.histogram(column, task.counts_shape[-1])


def check(config: Mapping[str, Any], task: Summation) -> None:
    """Raise ``ValueError`` if the data's values or coordinates differ from the task's."""
    sparse = config.get("column") in SPARSE_COLUMNS
    if config["name"] not in ("uniform", "categorical") and (sparse != (task.coordinates > 1) or task.signed):
        raise ValueError(
            f"{config['name']}, column {config['column']!r}, holds {'a coordinate and ' if sparse else ''}a number "
            f"that is not negative, but the task has {task.coordinates} coordinate(s)"
            f"{' and signed numbers' if task.signed else ''}."
        )
    check_weights(config, int(np.prod(task.counts_shape)), "coordinates times values")
