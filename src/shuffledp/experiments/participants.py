"""Who takes part and what they hold: drawn once per grid point, the same for every method.

The stream of a repeat is named by data set, population, task and repeat, not by method, accounting or eps, so that
curves of one figure are compared on the same participants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp import populations
from shuffledp.datasets import load
from shuffledp.experiments.seeds import generator
from shuffledp.numerics import Window
from shuffledp.tasks import TASKS, Budget, Floats, Frequency, Ints, Participants, Public, Task, Users

MOST_NODES = 1_000_000
"""Entries (numbers of participants times coordinates) up to which expectations sum over the whole law of N."""

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
    if not isinstance(task, Frequency):
        raise ValueError(f"Participants of a {task.kind!r} task are not available yet.")
    if config["name"] == "categorical":
        weights = config["weights"]
        if len(weights) != task.domain_size or abs(sum(weights) - 1) > 1e-9:
            raise ValueError(
                f"weights must be {task.domain_size} numbers (domain_size) that sum to 1, got {len(weights)} "
                f"that sum to {sum(weights):g}."
            )


@dataclass(frozen=True)
class Source:
    """What participants hold: a histogram drawn from without replacement, or probabilities drawn from."""

    key: Mapping[str, Any]
    shares: Floats
    holders: Ints | None
    data_source: str
    note: str

    def draw(self, n: int, rng: np.random.Generator) -> Ints:
        """Users per value among n participants, (k,)."""
        if self.holders is None:
            return rng.multinomial(n, self.shares)
        if n > self.holders.sum():
            raise ValueError(
                f"{n} participants cannot be drawn without replacement from {self.holders.sum()} records."
            )
        return rng.multivariate_hypergeometric(self.holders, n, method="marginals")


def source_from(config: Mapping[str, Any], task: Task, prepared: Path) -> Source:
    """The data of a configuration.

    Parameters
    ----------
    config : mapping
        ``name`` of a data set with ``column`` and ``draw``; or ``categorical`` with ``weights``; or ``uniform``.
    task : Task
        Gives the domain size.
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
        return Source(config, np.full(k, 1 / k), None, "synthetic", "")
    if config["name"] == "categorical":
        return Source(config, np.asarray(config["weights"], float), None, "synthetic", "")
    dataset = load(config["name"], prepared)
    holders = dataset.histogram(config["column"], k)
    without = config.get("draw", "without_replacement") == "without_replacement"
    about = dataset.provenance
    return Source(config, holders / holders.sum(), holders if without else None, about.source, about.note)


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
        Whether the estimate is compared with the participants' own frequencies or with those they are drawn from.
    """
    key = ["data", dict(source.key), repr(law), task.kind, list(task.counts_shape)]
    n = np.empty(repeats, np.int64)
    counts = np.empty((repeats, *task.counts_shape), np.int64)
    for repeat in range(repeats):
        rng = generator(seed, *key, repeat)
        n[repeat] = 1 + int(law.sample(rng))
        counts[repeat] = source.draw(int(n[repeat]), rng)
    share = counts / n[:, None]
    target = share if truth == "participants" else np.broadcast_to(source.shares, share.shape)

    def users(repeat: int) -> Iterator[Users]:
        yield Users(np.repeat(np.arange(counts.shape[1]), counts[repeat]))

    return Participants(Public(n), counts, target, users)


@dataclass(frozen=True)
class Typical:
    """Every likely number of participants with its weight; counts are expected counts, not draws."""

    participants: Participants
    weights: Floats
    sampling_variance: Floats


def typical(task: Task, source: Source, law: populations.Law, *, truth: str = "participants") -> Typical:
    """Support of the closed-form expectation over the number of participants.

    The sampling variance, (nodes, k), is that of the participants' own frequencies around those they are drawn from;
    zero when they are the truth themselves.
    """
    window = law.window(1e-15)
    nodes, weights = _thinned_out(window, MOST_NODES // int(np.prod(task.counts_shape)))
    n = 1.0 + nodes
    counts = n[:, None] * source.shares
    sampling = np.zeros_like(counts)
    if truth == "population":
        size = None if source.holders is None else float(source.holders.sum())
        left_out = 1.0 if size is None else (size - n[:, None]) / max(size - 1, 1)
        sampling = left_out * source.shares * (1 - source.shares) / n[:, None]
    who = Participants(Public(n.astype(np.int64)), counts, counts / n[:, None])
    return Typical(who, weights, sampling)


def _thinned_out(window: Window, most: int) -> tuple[Ints, Floats]:
    """At most ``most`` numbers of users with weights: neighbours are pooled at their rounded mean."""
    weights = window.pmf / window.pmf.sum()
    size = -(-len(weights) // max(most, 1))
    starts = np.arange(0, len(weights), size)
    pooled = np.add.reduceat(weights, starts)
    means = np.add.reduceat(weights * window.support, starts) / np.where(pooled > 0, pooled, 1)
    return np.rint(means).astype(np.int64), pooled
