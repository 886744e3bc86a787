"""Data with one set of items and one privacy level per user."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.datasets.prepared import Dataset
from shuffledp.pipeline.datasets.sets.msnbc import MSNBC_CATEGORIES, members
from shuffledp.pipeline.experiments.sources.interface import (
    Held,
    Source,
    Truth,
    finite_population_correction,
    too_many,
    with_replacement,
)
from shuffledp.tasks import Floats, Ints, Participants, Public, Sets, Users

#: Number added to the uniform keys of items that are taken last.
LAST = 10.0


def level_sizes(split: str, n: int) -> list[int]:
    """Return the users per privacy level for a split such as ``25-50-25`` (percent); rounded numbers sum to n."""
    shares = split_shares(split)
    ends = [round(n * sum(shares[: level + 1])) for level in range(len(shares))]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def split_shares(split: str) -> list[float]:
    """Return the shares of the privacy levels of a split such as ``25-50-25``; see `level_sizes`."""
    try:
        percent = [float(part) for part in split.split("-")]
    except (AttributeError, ValueError):
        percent = []
    if not percent or min(percent) < 0 or abs(sum(percent) - 100) > 1e-9:
        raise ValueError(
            f"split must be percentages of the privacy levels that sum to 100, such as 25-50-25, got {split!r}."
        )
    return [part / 100 for part in percent]


@dataclass(frozen=True)
class HeldSets(Source):
    """Users' sets of ``task.set_size`` distinct items, in random order; the first users have the lowest level."""

    task: Sets
    split: str

    @property
    @abstractmethod
    def marginals(self) -> Floats:
        """Probability of each item to be in a user's set, (d,)."""

    @property
    def records(self) -> int | None:
        """Number of records for draws without replacement; None if users are independent."""
        return None

    def draw(self, n: int, rng: np.random.Generator) -> Held:
        """Draw the sets of n users, (n, s)."""
        if self.records is not None and n > self.records:
            raise ValueError(too_many(n, self.records))
        return self._drawn(n, rng)

    @abstractmethod
    def _drawn(self, n: int, rng: np.random.Generator) -> Held:
        """Draw the sets of n users."""

    def gathered(self, n: Ints, draws: Sequence[Held], truth: Truth) -> Participants:
        """Return the participants, whose counts are the holders per privacy level and item."""
        sizes = [level_sizes(self.split, int(users)) for users in n]
        counts = np.stack([self._holders(sets, size) for sets, size in zip(draws, sizes, strict=True)])
        share = counts.sum(axis=1) / n[:, None]
        target = share if truth == "participants" else np.broadcast_to(self.marginals, share.shape)

        def users(repeat: int) -> Iterator[Users]:
            levels = np.repeat(np.arange(self.task.levels), sizes[repeat])
            yield Users(draws[repeat].astype(np.int64), levels)

        real = slice(self.task.estimate_shape[0])
        return Participants(Public(n, np.array(sizes, float)), counts, target[:, real], users)

    def expected(self, n: Ints, truth: Truth) -> tuple[Participants, Floats]:
        """Return the expected holders per privacy level and item."""
        sizes = np.array([level_sizes(self.split, int(users)) for users in n], float)
        share = np.broadcast_to(self.marginals, (len(n), self.task.domain_size))
        real = share[:, : self.task.estimate_shape[0]]
        sampling = np.zeros_like(real)
        if truth == "population":
            sampling = finite_population_correction(n, self.records)[:, None] * real * (1 - real) / n[:, None]
        return Participants(Public(n, sizes), sizes[:, :, None] * share[:, None, :], real), sampling

    def _holders(self, sets: Held, sizes: Sequence[int]) -> Ints:
        d, ends = self.task.domain_size, np.cumsum(sizes)
        parts = np.split(sets, ends[:-1])
        return np.stack([np.bincount(part.ravel(), minlength=d) for part in parts]).astype(np.int64)


@dataclass(frozen=True)
class UniformSets(HeldSets):
    """Independent, uniformly random sets of all users."""

    @property
    def marginals(self) -> Floats:
        """Equal probabilities of all items, (d,)."""
        return np.full(self.task.domain_size, self.task.set_size / self.task.domain_size)

    def _drawn(self, n: int, rng: np.random.Generator) -> Held:
        """Draw the sets of n users, (n, s), by Floyd's algorithm, one item of all users at a time."""
        d, s = self.task.domain_size, self.task.set_size
        chosen = np.empty((n, s), np.int32)
        for i, top in enumerate(range(d - s, d)):
            candidate = rng.integers(0, top + 1, n, dtype=np.int32)
            is_taken = (chosen[:, :i] == candidate[:, None]).any(axis=1)
            chosen[:, i] = np.where(is_taken, top, candidate)
        return chosen


@dataclass(frozen=True)
class PageSets(HeldSets):
    """Page categories of MSNBC users, cut or padded to sets of one size.

    Larger sets keep a uniform subset. Smaller sets get uniformly random categories that the user did not visit (padding
    ``categories``), or distinct dummy tokens (padding ``tokens``), whose indices follow the categories.
    """

    dataset: Dataset
    padding: str
    replace: bool

    @property
    def records(self) -> int | None:
        """Number of MSNBC users."""
        return None if self.replace else int(self.dataset.sets()[1].sum())

    @property
    def marginals(self) -> Floats:
        """Exact probabilities of the items, from all distinct sets and their multiplicities."""
        masks, count = self.dataset.sets()
        page_sets, s = members(masks), self.task.set_size
        size = page_sets.sum(axis=1)
        kept_shares = page_sets * np.minimum(1.0, s / size)[:, None]
        missing = np.maximum(s - size, 0)
        weights = count / count.sum()
        if self.padding == "tokens":
            tokens = np.full(self.task.padding_items, float(weights @ missing) / s)
            return np.concatenate((weights @ kept_shares, tokens))
        others = page_sets.shape[1] - size
        filled = ~page_sets * (missing / np.maximum(others, 1))[:, None]
        return np.asarray(weights @ (kept_shares + filled))

    def _drawn(self, n: int, rng: np.random.Generator) -> Held:
        """Draw the sets of n users, (n, s), in random order."""
        page_sets = members(self.dataset.sample_sets(n, rng, replace=self.replace))
        return of_one_size(page_sets, self.task, self.padding, rng).astype(np.int32)


def of_one_size(page_sets: NDArray[np.bool_], task: Sets, padding: str, rng: np.random.Generator) -> Held:
    """Return the user's items followed by padding, each in random order, cut to the set size."""
    n, items = page_sets.shape
    keys = rng.random((n, task.domain_size))
    keys[:, :items] += np.where(page_sets, 0.0, LAST)
    if padding == "tokens":  # after the own items, before those that must not be used
        keys[:, items:] += LAST / 2
    return np.argpartition(keys, task.set_size - 1, axis=1)[:, : task.set_size]


def source(config: Mapping[str, Any], task: Sets, dataset: Dataset | None) -> HeldSets:
    """Return the sets of a configuration: MSNBC's page categories, or uniformly random sets without a data set."""
    split = config["split"]
    # The same users for every split; another set size is another draw, which the shape of the counts does not tell.
    key = {name: value for name, value in config.items() if name != "split"} | {"set_size": task.set_size}
    if dataset is None:
        return UniformSets(key, "synthetic", "", task, split)
    about = dataset.provenance
    padding = config.get("padding", "categories")
    return PageSets(key, about.source, about.note, task, split, dataset, padding, with_replacement(config))


def check(config: Mapping[str, Any], task: Sets) -> None:
    """Raise ``ValueError`` for a split, padding or number of items that does not fit the task."""
    if "split" not in config:
        raise ValueError("Sets need a split of the users over the privacy levels, such as 25-50-25.")
    levels, categories = len(split_shares(config["split"])), len(MSNBC_CATEGORIES)
    if levels != task.levels:
        raise ValueError(f"split {config['split']!r} has {levels} levels, but the task has {task.levels}.")
    if config["name"] == "uniform":
        if task.padding_items:
            raise ValueError(f"padding_items must be 0 for uniform sets, got {task.padding_items}.")
        return
    tokens = task.set_size if config.get("padding", "categories") == "tokens" else 0
    if (task.domain_size, task.padding_items) != (categories + tokens, tokens):
        raise ValueError(
            f"With this padding, domain_size must be {categories + tokens} and padding_items {tokens}, "
            f"got {task.domain_size} and {task.padding_items}."
        )
