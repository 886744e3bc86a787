"""Data of one of k values per user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.numerics.repeated_indices import pieces
from shuffledp.numerics.samplers import without_replacement
from shuffledp.pipeline.datasets.prepared import Dataset
from shuffledp.pipeline.experiments.sources.interface import (
    Held,
    Source,
    finite_population_correction,
    too_many,
)
from shuffledp.tasks import USERS_AT_ONCE, Floats, Frequency, Ints, Participants, Public, Users


@dataclass(frozen=True)
class Values(Source):
    """Histogram of k values for draws without replacement, or probabilities of k values."""

    shares: Floats
    holders: Ints | None

    def draw(self, n: int, rng: np.random.Generator) -> Held:
        """Draw the number of participants per value, (k,)."""
        if self.holders is None:
            return rng.multinomial(n, self.shares)
        if n > self.holders.sum():
            raise ValueError(too_many(n, int(self.holders.sum())))
        return without_replacement(self.holders, n, rng)

    def gathered(self, n: Ints, held: Sequence[Held], truth: str) -> Participants:
        """Return the participants; the counts are users per value."""
        counts = np.stack(held)
        share = counts / n[:, None]
        target = share if truth == "participants" else np.broadcast_to(self.shares, share.shape)

        def users(repeat: int) -> Iterator[Users]:
            for start, some in pieces(counts[repeat], USERS_AT_ONCE):
                yield Users(some, offset=start)

        return Participants(Public(n), counts, target, users)

    def expected(self, n: Ints, truth: str) -> tuple[Participants, Floats]:
        """Return the expected users per value."""
        size = None if self.holders is None else int(self.holders.sum())
        counts = n[:, None] * self.shares
        if (
            self.holders is not None
        ):  # whole numbers where everybody takes part: some errors jump between them
            counts = np.where(n[:, None] == size, self.holders, counts)
        sampling = np.zeros_like(counts)
        if truth == "population":
            sampling = (
                finite_population_correction(n, size)[:, None] * self.shares * (1 - self.shares) / n[:, None]
            )
        return Participants(Public(n), counts, counts / n[:, None]), sampling


def check(config: Mapping[str, Any], task: Frequency) -> None:
    """Raise ``ValueError`` unless there is one weight per value and the weights sum to 1."""
    if config["name"] == "categorical":
        weights = config["weights"]
        if len(weights) != task.domain_size or abs(sum(weights) - 1) > 1e-9:
            raise ValueError(
                f"weights must be {task.domain_size} numbers (domain_size) that sum to 1, got {len(weights)} "
                f"that sum to {sum(weights):g}."
            )


def source(config: Mapping[str, Any], task: Frequency, dataset: Dataset | None) -> Values:
    """Return the values of a configuration: a column of a data set, or synthetic values."""
    if dataset is None:
        shares = _shares(config, task.domain_size)
        if "records" not in config:
            return Values(config, "synthetic", "", shares, None)
        holders = _rounded(shares, config["records"])
        return Values(config, "synthetic", "", holders / config["records"], holders)
    about, holders = dataset.provenance, dataset.histogram(config["column"], task.domain_size)
    without = config.get("draw", "without_replacement") == "without_replacement"
    return Values(config, about.source, about.note, holders / holders.sum(), holders if without else None)


def _shares(config: Mapping[str, Any], k: int) -> Floats:
    """Return the probability of every value of synthetic data, (k,); the first value is the most frequent."""
    if config["name"] == "uniform":
        return np.full(k, 1 / k)
    if config["name"] == "zipf":
        weights = np.arange(1, k + 1, dtype=np.float64) ** -float(config["exponent"])
        return np.asarray(weights / weights.sum())
    if config["name"] == "heavy":
        share = float(config["share"])
        return np.concatenate(([share], np.full(k - 1, (1 - share) / (k - 1))))
    return np.asarray(config["weights"], np.float64)


def _rounded(shares: Floats, records: int) -> Ints:
    """Return integers nearest to the shares of the records, (k,), rounded by largest remainders."""
    exact = shares * records
    holders = np.floor(exact * (1 + 1e-12) + 1e-9).astype(np.int64)
    more = np.argsort(holders - exact, kind="stable")[: records - int(holders.sum())]
    holders[more] += 1
    return np.asarray(holders)
