"""What participants hold: a source per kind of data, found from the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp.datasets import MSNBC_CATEGORIES, NAMES, columns_of, load
from shuffledp.experiments.sources.base import Source
from shuffledp.experiments.sources.gradients import VECTOR_COLUMNS, gradient_source
from shuffledp.experiments.sources.sets import check_sets, set_source
from shuffledp.experiments.sources.sums import (
    NUMBER_COLUMNS,
    SPARSE_COLUMNS,
    check_numbers,
    number_source,
)
from shuffledp.experiments.sources.values import Values, uniform_values
from shuffledp.tasks import Frequency, Sets, Summation, Task, Vectors

__all__ = [
    "COLUMNS",
    "SET_COLUMNS",
    "SPARSE_COLUMNS",
    "SYNTHETIC",
    "VECTOR_COLUMNS",
    "Source",
    "check_data",
    "source_from",
]

SET_COLUMNS = ("sets",)
"""Columns that hold a set per user."""
SYNTHETIC = ("categorical", "uniform")
"""Data that need no data set."""
COLUMNS: Mapping[str, tuple[str, ...]] = {
    **{name: columns_of(name) for name in NAMES},
    "msnbc": (*columns_of("msnbc"), *SET_COLUMNS, *SPARSE_COLUMNS),
    "mnist": (*columns_of("mnist"), *VECTOR_COLUMNS),
}
"""Columns of every data set that an experiment can be about."""


def _fits(config: Mapping[str, Any], task: Task) -> bool:
    """Whether users of these data hold what the task is about."""
    column, synthetic = config.get("column"), config["name"] in SYNTHETIC
    if isinstance(task, Vectors):
        return column in VECTOR_COLUMNS
    if isinstance(task, Sets):
        return column in SET_COLUMNS or (config["name"] == "uniform" and "split" in config)
    if "split" in config:
        return False
    if isinstance(task, Summation):
        return synthetic or column in (*NUMBER_COLUMNS, *SPARSE_COLUMNS)
    return column not in (*VECTOR_COLUMNS, *SET_COLUMNS, *SPARSE_COLUMNS)


def check_data(config: Mapping[str, Any], task: Task) -> None:
    """Refuse data that cannot fit the task, as far as that is known before they are loaded.

    Raises
    ------
    ValueError
        If the data hold something else than the task needs, categorical weights are not one per value or do not sum
        to 1, and the like.
    """
    if not _fits(config, task):
        column = f", column {config['column']!r}," if "column" in config else ""
        raise ValueError(
            f"{config['name']}{column} does not hold what a {task.kind} task needs. Vectors: "
            f"{', '.join(VECTOR_COLUMNS)}; sets: {', '.join(SET_COLUMNS)}, or uniform with a split; numbers: "
            f"{', '.join((*NUMBER_COLUMNS, *SPARSE_COLUMNS))}; values: all other columns."
        )
    if isinstance(task, Sets):
        if "split" not in config:
            raise ValueError("Sets need a split of the users over the privacy levels, such as 25-50-25.")
        check_sets(config, task, len(MSNBC_CATEGORIES))
    if isinstance(task, Summation):
        check_numbers(config, task)
    if isinstance(task, Vectors) and task.norm != "l1":
        raise ValueError(f"Gradients are clipped in the l1 norm, not in the {task.norm} norm.")
    if isinstance(task, Frequency) and config["name"] == "categorical":
        weights = config["weights"]
        if len(weights) != task.domain_size or abs(sum(weights) - 1) > 1e-9:
            raise ValueError(
                f"weights must be {task.domain_size} numbers (domain_size) that sum to 1, got {len(weights)} "
                f"that sum to {sum(weights):g}."
            )


def source_from(config: Mapping[str, Any], task: Task, prepared: Path) -> Source:
    """The data of a configuration.

    Parameters
    ----------
    config : mapping
        ``name`` of a data set with ``column`` and ``draw``; or ``categorical`` with ``weights``; or
        ``uniform``, with ``records`` for a fixed set of that many records, spread as evenly as possible. Sets have
        a ``split`` of the users over the privacy levels, and MSNBC's a ``padding``.
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
    dataset = None if config["name"] in SYNTHETIC else load(config["name"], prepared)
    if isinstance(task, Sets):
        return set_source(config, task, dataset)
    if isinstance(task, Summation):
        return number_source(config, task, dataset)
    k = task.counts_shape[-1]
    if dataset is None:
        if config["name"] == "uniform":
            return uniform_values(config, k)
        return Values(config, "synthetic", "", np.asarray(config["weights"], float), None)
    without = config.get("draw", "without_replacement") == "without_replacement"
    if isinstance(task, Vectors):
        return gradient_source(config, task, dataset, replace=not without)
    about, holders = dataset.provenance, dataset.histogram(config["column"], k)
    return Values(config, about.source, about.note, holders / holders.sum(), holders if without else None)
