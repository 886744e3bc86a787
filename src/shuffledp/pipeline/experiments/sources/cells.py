"""Data with finitely many values per user, as numbers of users per value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.numerics.samplers import without_replacement
from shuffledp.pipeline.experiments.sources.interface import Held, Source, too_many
from shuffledp.tasks import Floats, Ints


@dataclass(frozen=True)
class CellSource(Source):
    """Probabilities `shares` of the values; for draws without replacement also the numbers `holders` of records."""

    shares: Floats
    holders: Ints | None

    @property
    def size(self) -> int | None:
        """Number of records; None if users are drawn independently."""
        return None if self.holders is None else int(self.holders.sum())

    def draw(self, n: int, rng: np.random.Generator) -> Held:
        """Draw the number of participants with each value, in the shape of `shares`."""
        if self.holders is None or self.size is None:
            counts = rng.multinomial(n, self.shares.ravel())
        elif n > self.size:
            raise ValueError(too_many(n, self.size))
        else:
            counts = without_replacement(self.holders.ravel(), n, rng)
        return np.asarray(counts.reshape(self.shares.shape))

    def expected_counts(self, n: Ints) -> Floats:
        """Return the expected users per value; if everybody takes part, these are the exact integers."""
        users = n.reshape(-1, *[1] * self.shares.ndim)
        counts = users * self.shares
        return counts if self.holders is None else np.where(users == self.size, self.holders, counts)


def check_weights(config: Mapping[str, Any], size: int, of: str) -> None:
    """Raise ``ValueError`` unless categorical data have one weight per value and the weights sum to 1."""
    if config["name"] == "categorical":
        weights = config["weights"]
        if len(weights) != size or abs(sum(weights) - 1) > 1e-9:
            raise ValueError(
                f"weights must be {size} numbers ({of}) that sum to 1, got {len(weights)} that sum to "
                f"{sum(weights):g}."
            )
