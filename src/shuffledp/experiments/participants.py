"""Who takes part and what they hold: drawn once per grid point, the same for every method.

The stream of a repeat is named by data set, population, task and repeat, not by method, accounting or eps, so that
curves of one figure are compared on the same participants.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from shuffledp import populations
from shuffledp.datasets import Provenance, load
from shuffledp.datasets.gradients import SoftmaxGradients
from shuffledp.experiments.seeds import generator
from shuffledp.numerics import Window
from shuffledp.protocols.vectors import VectorParticipants
from shuffledp.tasks import TASKS, Budget, Floats, Frequency, Ints, Participants, Public, Task, Users, Vectors

MOST_NODES = 1_000_000
"""Entries (numbers of participants times coordinates) up to which expectations sum over the whole law of N."""
VECTOR_COLUMNS: Mapping[str, tuple[str, str]] = {
    "train_gradients": ("train_images", "train_labels"),
    "test_gradients": ("test_images", "test_labels"),
}
"""Columns that hold a vector per user, and the arrays of images and labels that they are made from."""
USERS_AT_ONCE = 500
"""Vectors that the message level holds in memory at a time."""
REPEATS_AT_ONCE = 50
"""Repeats whose sums of vectors are worked out at a time."""

_LAWS: Mapping[str, Callable[..., populations.Population]] = {
    "binomial": populations.Binomial,
    "poisson": populations.Poisson,
    "empirical": populations.Empirical,
    "sub_gaussian": populations.SubGaussian,
    "sub_exponential": populations.SubExponential,
    "moment_bounded": populations.MomentBounded,
}


def population_from(config: Mapping[str, Any]) -> populations.Population:
    """The population of a configuration; ``{users: n}`` means n participants, hence n - 1 others."""
    if "users" in config:
        return populations.Fixed(config["users"] - 1)
    return _LAWS[config["law"]](**{k: v for k, v in config.items() if k != "law"})


def task_from(config: Mapping[str, Any]) -> Task:
    """The task of a configuration, without what only says how errors are counted."""
    return TASKS[config["kind"]](**{k: v for k, v in config.items() if k not in ("kind", "truth", "metrics")})


def budget_from(config: Mapping[str, Any]) -> Budget:
    """The budget of a configuration; a list of eps is one per privacy level."""
    eps = config["eps"]
    return Budget(
        tuple(eps) if isinstance(eps, list) else eps, config["delta"], config.get("neighbours", "replace_one")
    )


def check_data(config: Mapping[str, Any], task: Task) -> None:
    """Refuse data that cannot fit the task, as far as that is known before they are loaded.

    Raises
    ------
    ValueError
        If categorical weights are not one per value or do not sum to 1, or no data can be drawn for such a task.
    """
    if not isinstance(task, Frequency | Vectors):
        raise ValueError(f"Participants of a {task.kind!r} task are not available yet.")
    held = "vectors" if config.get("column") in VECTOR_COLUMNS else "values"
    wanted = "vectors" if isinstance(task, Vectors) else "values"
    if held != wanted:
        column = f", column {config['column']!r}," if "column" in config else ""
        raise ValueError(
            f"{config['name']}{column} holds {held}, but a {task.kind} task needs {wanted}. "
            f"Columns with vectors: {', '.join(VECTOR_COLUMNS)}."
        )
    if isinstance(task, Vectors) and task.norm != "l1":
        raise ValueError(f"Gradients are clipped in the l1 norm, not in the {task.norm} norm.")
    if config["name"] == "categorical":
        assert isinstance(task, Frequency)
        weights = config["weights"]
        if len(weights) != task.domain_size or abs(sum(weights) - 1) > 1e-9:
            raise ValueError(
                f"weights must be {task.domain_size} numbers (domain_size) that sum to 1, got {len(weights)} "
                f"that sum to {sum(weights):g}."
            )


# -- what participants hold ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Typical:
    """Every likely number of participants with its weight; counts are expected counts, not draws."""

    participants: Participants
    weights: Floats
    sampling_variance: Floats


@dataclass(frozen=True)
class Source(ABC):
    """What participants hold.

    Parameters
    ----------
    key : mapping
        Names the data in the seed.
    data_source, note : str
        Where the data come from, and what figures must say about them.
    """

    key: Mapping[str, Any]
    data_source: str
    note: str

    drawable: ClassVar[bool] = True
    """Whether participants can be drawn; a stand-in of another shape than the task's only carries closed forms."""

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Ints:
        """What n participants hold, in the form that `gathered` takes."""

    @abstractmethod
    def gathered(self, n: Ints, held: Sequence[Ints], truth: str) -> Participants:
        """Participants of all repeats from what was drawn for each."""

    @abstractmethod
    def expected(self, n: Ints, truth: str) -> tuple[Participants, Floats] | None:
        """Expected counts of n participants, and the variance of their own truth around the one aimed at.

        The variance is zero when they are the truth themselves. None if nothing can be said.
        """


@dataclass(frozen=True)
class Values(Source):
    """One of k values per user: a histogram drawn from without replacement, or probabilities drawn from."""

    shares: Floats
    holders: Ints | None

    def draw(self, n: int, rng: np.random.Generator) -> Ints:
        """Users per value among n participants, (k,)."""
        if self.holders is None:
            return rng.multinomial(n, self.shares)
        if n > self.holders.sum():
            raise ValueError(_too_many(n, int(self.holders.sum())))
        return rng.multivariate_hypergeometric(self.holders, n, method="marginals")

    def gathered(self, n: Ints, held: Sequence[Ints], truth: str) -> Participants:
        """Participants with users per value as counts."""
        counts = np.stack(held)
        share = counts / n[:, None]
        target = share if truth == "participants" else np.broadcast_to(self.shares, share.shape)

        def users(repeat: int) -> Iterator[Users]:
            yield Users(np.repeat(np.arange(counts.shape[1]), counts[repeat]))

        return Participants(Public(n), counts, target, users)

    def expected(self, n: Ints, truth: str) -> tuple[Participants, Floats]:
        """Expected users per value."""
        size = None if self.holders is None else int(self.holders.sum())
        counts = n[:, None] * self.shares
        if self.holders is not None:  # whole numbers where everybody takes part: some errors jump between them
            counts = np.where(n[:, None] == size, self.holders, counts)
        sampling = np.zeros_like(counts)
        if truth == "population":
            sampling = _left_out(n, size)[:, None] * self.shares * (1 - self.shares) / n[:, None]
        return Participants(Public(n), counts, counts / n[:, None]), sampling


@dataclass(frozen=True)
class Gradients(Source):
    """One gradient per image; participants are images, drawn with or without replacement."""

    gradients: SoftmaxGradients
    replace: bool

    def draw(self, n: int, rng: np.random.Generator) -> Ints:
        """Numbers of the images that take part, (n,)."""
        if n > len(self.gradients) and not self.replace:
            raise ValueError(_too_many(n, len(self.gradients)))
        return rng.choice(len(self.gradients), n, replace=self.replace).astype(np.int32)

    def gathered(self, n: Ints, held: Sequence[Ints], truth: str) -> Participants:
        """Participants with sums of gradients as counts."""
        sums = self._sums(held)
        mean = self.gradients.mean
        target = sums / n[:, None] if truth == "participants" else np.broadcast_to(mean, sums.shape)

        def users(repeat: int) -> Iterator[Users]:
            for start in range(0, len(held[repeat]), USERS_AT_ONCE):
                chunk = held[repeat][start : start + USERS_AT_ONCE]
                yield Users(self.gradients.vectors(chunk), offset=start)

        def some(sizes: Ints, rng: np.random.Generator) -> Floats:
            return self._sums([rng.choice(who, k, replace=False) for who, k in zip(held, sizes, strict=True)])

        return VectorParticipants(Public(n), sums, target, users, some)

    def expected(self, n: Ints, truth: str) -> tuple[Participants, Floats]:
        """Expected sums of gradients."""
        mean = np.broadcast_to(self.gradients.mean, (len(n), self.gradients.dimension))
        spread = np.broadcast_to(self.gradients.spread, mean.shape)
        who = VectorParticipants(Public(n), n[:, None] * mean, mean, spread=spread)
        if truth == "participants":
            return who, np.zeros_like(mean)
        size = None if self.replace else len(self.gradients)
        around = spread * (1 - 1 / len(self.gradients))  # divisor n
        return who, _left_out(n, size)[:, None] * around / n[:, None]

    def _sums(self, chosen: Sequence[Ints]) -> Floats:
        """Sums over chosen images, (R, dimension), some repeats at a time."""
        every, parts = len(self.gradients), []
        for start in range(0, len(chosen), REPEATS_AT_ONCE):
            some = chosen[start : start + REPEATS_AT_ONCE]
            times = np.stack([np.bincount(who, minlength=every).astype(np.int32) for who in some])
            parts.append(self.gradients.sums(times))
        return np.concatenate(parts)


@dataclass(frozen=True)
class UnlikeStandIn(Source):
    """A stand-in of another shape than the task's: closed forms that need no data, and no participants."""

    task: Task

    drawable = False

    def draw(self, n: int, rng: np.random.Generator) -> Ints:
        """There is nothing to draw."""
        raise ValueError(f"No participants can be drawn: {self.note}")

    def gathered(self, n: Ints, held: Sequence[Ints], truth: str) -> Participants:
        """There is nothing to gather."""
        raise ValueError(f"No participants can be drawn: {self.note}")

    def expected(self, n: Ints, truth: str) -> tuple[Participants, Floats] | None:
        """The numbers of participants; counts are nan, which shows in every closed form that looks at them."""
        if truth != "participants":
            return None
        unknown = np.full((len(n), *self.task.counts_shape), np.nan)
        return Participants(Public(n), unknown, unknown), np.zeros(1)


def _too_many(n: int, records: int) -> str:
    return f"{n} participants cannot be drawn without replacement from {records} records."


def _left_out(n: Ints, size: int | None) -> Floats:
    """Finite population correction, (R,); 1 for draws with replacement (None)."""
    return np.ones(len(n)) if size is None else (size - n) / max(size - 1, 1)


def source_from(config: Mapping[str, Any], task: Task, prepared: Path) -> Source:
    """The data of a configuration.

    Parameters
    ----------
    config : mapping
        ``name`` of a data set with ``column`` and ``draw``; or ``categorical`` with ``weights``; or
        ``uniform``, with ``records`` for a fixed set of that many records, spread as evenly as possible.
    task : Task
        Gives the domain size, or dimension and clipping norm.
    prepared : Path
        Folder of the prepared data sets.

    Raises
    ------
    ValueError
        If the data do not fit the task.
    """
    check_data(config, task)
    k = task.counts_shape[-1]
    if config["name"] == "uniform":
        return _uniform(config, k)
    if config["name"] == "categorical":
        return Values(config, "synthetic", "", np.asarray(config["weights"], float), None)
    dataset = load(config["name"], prepared)
    without = config.get("draw", "without_replacement") == "without_replacement"
    about = dataset.provenance
    if isinstance(task, Vectors):
        images, labels = (dataset.arrays[name] for name in VECTOR_COLUMNS[config["column"]])
        gradients = SoftmaxGradients(images, labels, task.clip)
        if gradients.dimension == task.dimension:
            return Gradients(config, about.source, about.note, gradients, not without)
        return _of_another_dimension(config, task, about, gradients.dimension)
    holders = dataset.histogram(config["column"], k)
    return Values(config, about.source, about.note, holders / holders.sum(), holders if without else None)


def _uniform(config: Mapping[str, Any], k: int) -> Values:
    """Uniform values: drawn for each participant, or a fixed data set that is as even as possible."""
    if "records" not in config:
        return Values(config, "synthetic", "", np.full(k, 1 / k), None)
    records = config["records"]
    holders = records // k + (np.arange(k) < records % k).astype(np.int64)
    return Values(config, "synthetic", "", holders / records, holders)


def _of_another_dimension(
    config: Mapping[str, Any], task: Vectors, about: Provenance, dimension: int
) -> UnlikeStandIn:
    """A stand-in may have another dimension than the data that it stands for; real data may not."""
    if about.source != "stand_in":
        raise ValueError(
            f"{config['name']}: vectors have dimension {dimension}, but the task's is {task.dimension}."
        )
    note = (
        f"{about.note} Its vectors have {dimension} coordinates, not {task.dimension}: nothing was simulated, "
        "only closed forms are shown, which need no data."
    )
    return UnlikeStandIn(config, about.source, note, task)


# -- who takes part ------------------------------------------------------------------------------------------------


def participants(
    task: Task, source: Source, law: populations.Law, *, repeats: int, seed: int, truth: str = "participants"
) -> Participants:
    """Participants of all repeats of one grid point.

    Parameters
    ----------
    task : Task
        What is estimated.
    source : Source
        What the users hold.
    law : Law
        Number of other users; user 1 always takes part.
    repeats : int
        Number of repeats; the first r repeats do not depend on how many there are.
    seed : int
        The run seed.
    truth : {"participants", "population"}
        Whether the estimate is compared with what the participants hold or with what they are drawn from.
    """
    key = ["data", dict(source.key), repr(law), task.kind, list(task.counts_shape)]
    n = np.empty(repeats, np.int64)
    held = []
    for repeat in range(repeats):
        rng = generator(seed, *key, repeat)
        n[repeat] = 1 + int(law.sample(rng))
        held.append(source.draw(int(n[repeat]), rng))
    return source.gathered(n, held, truth)


def typical(
    task: Task, source: Source, law: populations.Law, *, truth: str = "participants"
) -> Typical | None:
    """Support of the closed-form expectation over the number of participants; None if the data do not tell.

    The sampling variance, (nodes, ...), is that of the participants' own truth around the one aimed at; zero when they
    are the truth themselves.
    """
    window = law.window(1e-15)
    nodes, weights = _thinned_out(window, MOST_NODES // int(np.prod(task.counts_shape)))
    found = source.expected(1 + nodes, truth)
    return None if found is None else Typical(found[0], weights, found[1])


def _thinned_out(window: Window, most: int) -> tuple[Ints, Floats]:
    """At most ``most`` numbers of users with weights: neighbours are pooled at their rounded mean."""
    weights = window.pmf / window.pmf.sum()
    size = -(-len(weights) // max(most, 1))
    starts = np.arange(0, len(weights), size)
    pooled = np.add.reduceat(weights, starts)
    means = np.add.reduceat(weights * window.support, starts) / np.where(pooled > 0, pooled, 1)
    return np.rint(means).astype(np.int64), pooled
