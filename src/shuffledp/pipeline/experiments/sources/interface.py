"""Interface of a source of participants' data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from shuffledp.tasks import Floats, Ints, Participants, Public, Task

#: True value: of the participants, or of the population from which they are drawn.
Truth = Literal["participants", "population"]
#: Data of the participants of one repeat.
Held = NDArray[Any]
#: Name of the data of vectors along the axes, in both directions.
DIRECTIONS = "axes"
#: Names of synthetic data.
SYNTHETIC = ("uniform", "categorical", "zipf", "heavy", DIRECTIONS)
#: Columns with a set per user.
SET_COLUMNS = ("sets",)
#: Columns with a number per user.
NUMBER_COLUMNS = ("hours_per_week",)
#: Columns with a coordinate and a number per user: the first page, and the number of different visited categories.
SPARSE_COLUMNS = ("first_and_size",)
#: Columns with a vector per user, and the arrays of images and labels from which the vectors are computed.
VECTOR_COLUMNS: Mapping[str, tuple[str, str]] = {
    "train_gradients": ("train_images", "train_labels"),
    "test_gradients": ("test_images", "test_labels"),
}


@dataclass(frozen=True)
class Source(ABC):
    """Source of the participants' data.

    ``key`` identifies the data in the seed: all settings of the configuration and the task that a draw depends on,
    except the shape of the task's counts. ``details`` are further entries of provenance, such as the user's file and
    its checksum.
    """

    key: Mapping[str, Any]
    data_source: str
    note: str
    details: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    #: True if participants can be drawn; a substitute of another shape than the task's has only closed forms.
    drawable: ClassVar[bool] = True

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Held:
        """Draw the data of n participants, as an element of `held` in `gathered`."""

    @abstractmethod
    def gathered(self, n: Ints, draws: Sequence[Held], truth: Truth) -> Participants:
        """Return the participants of all repeats, from the `draws` of the repeats."""

    @abstractmethod
    def expected(self, n: Ints, truth: Truth) -> tuple[Participants, Floats] | None:
        """Return participants with expected counts, and their truth's variance around the target; None if unknown."""


@dataclass(frozen=True)
class UnlikeStandIn(Source):
    """Substitute whose shape differs from the task's: it has no participants, but allows closed forms without data."""

    task: Task

    drawable = False

    def draw(self, n: int, rng: np.random.Generator) -> Held:
        """Raise an error, because a substitute of another shape has no draws."""
        raise ValueError(f"No participants can be drawn: {self.note}")

    def gathered(self, n: Ints, draws: Sequence[Held], truth: Truth) -> Participants:
        """Raise an error, because a substitute of another shape has no participants."""
        raise ValueError(f"No participants can be drawn: {self.note}")

    def expected(self, n: Ints, truth: Truth) -> tuple[Participants, Floats] | None:
        """Return participants with counts of nan, so that closed forms that need counts are nan."""
        if truth != "participants":
            return None
        unknown = np.full((len(n), *self.task.counts_shape), np.nan)
        return Participants(Public(n), unknown, unknown), np.zeros(1)


def with_replacement(config: Mapping[str, Any]) -> bool:
    """Return whether participants are drawn with replacement from the records."""
    return bool(config.get("draw") == "with_replacement")


def too_many(n: int, records: int) -> str:
    """Return the error message for more participants than records."""
    return f"{n} participants cannot be drawn without replacement from {records} records."


def finite_population_correction(n: Ints, size: int | None) -> Floats:
    """Return the finite population correction, (R,), which is 1 for draws with replacement (`size` None)."""
    return np.ones(len(n)) if size is None else (size - n) / max(size - 1, 1)
