"""The interface of a source: what participants hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.tasks import Floats, Ints, Participants, Public, Task

Held = NDArray[Any]
"""What the participants of one repeat hold."""
DIRECTIONS = "axes"
"""Vectors along the axes, either way."""
SYNTHETIC = ("uniform", "categorical", "zipf", "heavy", DIRECTIONS)
"""Data that are made up, not a data set."""
SET_COLUMNS = ("sets",)
"""Columns that hold a set per user."""
NUMBER_COLUMNS = ("hours_per_week",)
"""Columns that hold a number per user."""
SPARSE_COLUMNS = ("first_and_size",)
"""Columns that hold a coordinate and a number per user: first page, and how many distinct categories were visited."""
VECTOR_COLUMNS: Mapping[str, tuple[str, str]] = {
    "train_gradients": ("train_images", "train_labels"),
    "test_gradients": ("test_images", "test_labels"),
}
"""Columns that hold a vector per user, and the arrays of images and labels that they are made from."""


@dataclass(frozen=True)
class Source(ABC):
    """What participants hold.

    Parameters
    ----------
    key : mapping
        Names the data in the seed: all settings on which a draw depends, of the configuration and of the task, but for
        the shape of the task's counts, which stands beside it.
    data_source, note : str
        Where the data come from, and what figures must say about them.
    details : mapping
        What provenance says besides: the file of the user's own and its checksum.
    """

    key: Mapping[str, Any]
    data_source: str
    note: str
    details: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    drawable: ClassVar[bool] = True
    """Whether participants can be drawn; a stand-in of another shape than the task's only carries closed forms."""

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Held:
        """What n participants hold, in the form that `gathered` takes."""

    @abstractmethod
    def gathered(self, n: Ints, held: Sequence[Held], truth: str) -> Participants:
        """Participants of all repeats from what was drawn for each."""

    @abstractmethod
    def expected(self, n: Ints, truth: str) -> tuple[Participants, Floats] | None:
        """Expected counts of n participants, and the variance of their own truth around the one aimed at.

        The variance is zero when they are the truth themselves. None if nothing can be said.
        """


@dataclass(frozen=True)
class UnlikeStandIn(Source):
    """A stand-in of another shape than the task's: closed forms that need no data, and no participants."""

    task: Task

    drawable = False

    def draw(self, n: int, rng: np.random.Generator) -> Held:
        """There is nothing to draw."""
        raise ValueError(f"No participants can be drawn: {self.note}")

    def gathered(self, n: Ints, held: Sequence[Held], truth: str) -> Participants:
        """There is nothing to gather."""
        raise ValueError(f"No participants can be drawn: {self.note}")

    def expected(self, n: Ints, truth: str) -> tuple[Participants, Floats] | None:
        """The numbers of participants; counts are nan, which shows in every closed form that looks at them."""
        if truth != "participants":
            return None
        unknown = np.full((len(n), *self.task.counts_shape), np.nan)
        return Participants(Public(n), unknown, unknown), np.zeros(1)


def too_many(n: int, records: int) -> str:
    """What to say when there are fewer records than participants."""
    return f"{n} participants cannot be drawn without replacement from {records} records."


def finite_population_correction(n: Ints, size: int | None) -> Floats:
    """Finite population correction, (R,); 1 for draws with replacement (None)."""
    return np.ones(len(n)) if size is None else (size - n) / max(size - 1, 1)
