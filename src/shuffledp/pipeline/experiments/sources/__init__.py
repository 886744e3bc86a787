"""Data of the participants: the sources that a configuration can name, one module per kind of task."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from shuffledp.pipeline.datasets.prepared import columns_of, load
from shuffledp.pipeline.datasets.registry import NAMES
from shuffledp.pipeline.experiments.sources.interface import (
    DIRECTIONS,
    NUMBER_COLUMNS,
    SET_COLUMNS,
    SPARSE_COLUMNS,
    SYNTHETIC,
    VECTOR_COLUMNS,
    Source,
)
from shuffledp.tasks import Task

#: Module with the data of each kind of task; a job imports only the module of its task.
MODULES = {
    "frequency": "shuffledp.pipeline.experiments.sources.values",
    "summation": "shuffledp.pipeline.experiments.sources.numbers",
    "sets": "shuffledp.pipeline.experiments.sources.item_sets",
    "vectors": "shuffledp.pipeline.experiments.sources.mnist_gradients",
}
#: Data sets outside the module of their task, by kind of task and name.
OF_THEIR_OWN = {("vectors", DIRECTIONS): "shuffledp.pipeline.experiments.sources.directions"}
#: Name of a user's file in a configuration, and the module that reads the file.
OWN, OWN_MODULE = "file", "shuffledp.pipeline.experiments.sources.user_file"
#: Columns of every data set that an experiment may use.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    **{name: columns_of(name) for name in NAMES},
    "msnbc": (*columns_of("msnbc"), *SET_COLUMNS, *SPARSE_COLUMNS),
    "mnist": (*columns_of("mnist"), *VECTOR_COLUMNS),
}


def module_of(kind: str, name: str) -> str:
    """Return the module of the data with this name for a kind of task."""
    return OWN_MODULE if name == OWN else OF_THEIR_OWN.get((kind, name), MODULES[kind])


def _fits(config: Mapping[str, Any], task: Task) -> bool:
    column = config.get("column")
    if task.kind == "vectors":
        return column in VECTOR_COLUMNS or config["name"] == DIRECTIONS
    if config["name"] == DIRECTIONS:
        return False
    if task.kind == "sets":
        return column in SET_COLUMNS or (config["name"] == "uniform" and "split" in config)
    if "split" in config:
        return False
    if task.kind == "summation":
        return config["name"] in ("uniform", "categorical") or column in (*NUMBER_COLUMNS, *SPARSE_COLUMNS)
    return column not in (*VECTOR_COLUMNS, *SET_COLUMNS, *SPARSE_COLUMNS)


def check_data(config: Mapping[str, Any], task: Task) -> None:
    """Raise ``ValueError`` for data that cannot fit the task, as far as this is known before loading."""
    if config["name"] == OWN:
        import_module(OWN_MODULE).check(config, task)
        return
    if not _fits(config, task):
        column = f", column {config['column']!r}," if "column" in config else ""
        raise ValueError(
            f"{config['name']}{column} cannot be used for a {task.kind} task. Vectors: "
            f"{', '.join(VECTOR_COLUMNS)}, or {DIRECTIONS}; sets: {', '.join(SET_COLUMNS)}, or uniform with a "
            "split; numbers: "
            f"{', '.join((*NUMBER_COLUMNS, *SPARSE_COLUMNS))}; values: all other columns."
        )
    import_module(module_of(task.kind, config["name"])).check(config, task)


def with_found_domain(
    task: Mapping[str, Any], data: Mapping[str, Any], prepared: Path
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return task and data of a configuration with a domain, by default the domain in the user's file."""
    if data["name"] != OWN:
        return task, data
    completed: tuple[Mapping[str, Any], Mapping[str, Any]] = import_module(OWN_MODULE).completed(
        task, data, prepared
    )
    return completed


def source_from(config: Mapping[str, Any], task: Task, prepared: Path) -> Source:
    """Return the data source of a configuration. Raise ``ValueError`` if the data do not fit the task.

    The ``name`` in ``config`` is a data set, with ``column`` and ``draw``, or ``file``, with a ``path`` (prepared by
    `shuffledp.pipeline.experiments.user_files`), or names synthetic data. Synthetic values are ``categorical`` with
    ``weights``, ``uniform``, ``zipf`` with an ``exponent``, or ``heavy`` with the ``share`` of one value. The last
    three may have ``records``, for a fixed set of records instead of draws. Synthetic vectors are ``axes``, unit
    vectors along the axes. Sets have a ``split`` of the users over the privacy levels, and MSNBC's sets a ``padding``.
    """
    check_data(config, task)
    if config["name"] == OWN:
        user_source: Source = import_module(OWN_MODULE).source(config, task, prepared)
        return user_source
    dataset = None if config["name"] in SYNTHETIC else load(config["name"], prepared)
    source: Source = import_module(module_of(task.kind, config["name"])).source(config, task, dataset)
    return source
