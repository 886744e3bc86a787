"""Data with one of k values per user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.numerics.repeated_indices import pieces
from shuffledp.pipeline.datasets.prepared import Dataset
from shuffledp.pipeline.experiments.sources.cells import CellSource, check_weights
from shuffledp.pipeline.experiments.sources.interface import (
    Held,
    Truth,
    finite_population_correction,
    with_replacement,
)
from shuffledp.tasks import USERS_AT_ONCE, Floats, Frequency, Ints, Participants, Public, Users


@dataclass(frozen=True)
class ValueSource(CellSource):
    """Data with one of k values per user."""

    def gathered(self, n: Ints, draws: Sequence[Held], truth: Truth) -> Participants:
        """Return the participants, whose counts are users per value."""
        counts = np.stack(draws)
        share = counts / n[:, None]
        target = share if truth == "participants" else np.broadcast_to(self.shares, share.shape)

        def users(repeat: int) -> Iterator[Users]:
            for start, some in pieces(counts[repeat], USERS_AT_ONCE):
                yield Users(some, offset=start)

        return Participants(Public(n), counts, target, users)

    def expected(self, n: Ints, truth: Truth) -> tuple[Participants, Floats]:
        """Return the expected users per value."""
        counts = self.expected_counts(n)
        sampling = np.zeros_like(counts)
        if truth == "population":
            sampling = (
                finite_population_correction(n, self.size)[:, None]
                * self.shares
                * (1 - self.shares)
                / n[:, None]
            )
        return Participants(Public(n), counts, counts / n[:, None]), sampling


def check(config: Mapping[str, Any], task: Frequency) -> None:
    """Raise ``ValueError`` unless there is one weight per value and the weights sum to 1."""
    check_weights(config, task.domain_size, "domain_size")


def source(config: Mapping[str, Any], task: Frequency, dataset: Dataset | None) -> ValueSource:
    """Return the values of a configuration: a column of a data set, or synthetic values."""
    if dataset is None:
        shares = _shares(config, task.domain_size)
        if "records" not in config:
            return ValueSource(config, "synthetic", "", shares, None)
        holders = _rounded(shares, config["records"])
        return ValueSource(config, "synthetic", "", holders / config["records"], holders)
    about, holders = dataset.provenance, dataset.histogram(config["column"], task.domain_size)
    records = None if with_replacement(config) else holders
    return ValueSource(config, about.source, about.note, holders / holders.sum(), records)


def _shares(config: Mapping[str, Any], k: int) -> Floats:
    """Return the probability of each value in synthetic data, (k,); the first value is the most frequent."""
    if config["name"] == "uniform":
        return np.full(k, 1 / k)
    if config["name"] == "zipf":
        weights = np.arange(1, k + 1, dtype=np.float64) ** -float(config["exponent"])
        return np.asarray(weights / weights.sum())
    if config["name"] == "heavy":
        share = float(config["share"])
        return np.concatenate(([share], np.full(k - 1, (1 - share) / (k - 1))))
    if config["name"] == "categorical":
        return np.asarray(config["weights"], np.float64)
    raise ValueError(f"There are no synthetic values named {config['name']!r}.")


def _rounded(shares: Floats, records: int) -> Ints:
    """Return integers, (k,), close to the shares of the records, by largest remainders."""
    exact = shares * records
    holders = np.floor(exact * (1 + 1e-12) + 1e-9).astype(np.int64)
    largest = np.argsort(holders - exact, kind="stable")[: records - int(holders.sum())]
    holders[largest] += 1
    return np.asarray(holders)
