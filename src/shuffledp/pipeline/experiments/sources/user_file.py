"""Data in a file of the user, ``data: {name: file, path: ..}``, counted once into a prepared file."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.experiments.seeds import digest
from shuffledp.pipeline.experiments.sources.interface import Held, Source, with_replacement
from shuffledp.pipeline.experiments.sources.item_sets import HeldSets, of_one_size, split_shares
from shuffledp.pipeline.experiments.sources.numbers import NumberSource
from shuffledp.pipeline.experiments.sources.values import ValueSource
from shuffledp.storage import read_verified
from shuffledp.tasks import Floats, Sets, Summation, Task
from shuffledp.userdata.sets import filled_shares, kept_shares

NAME = "file"
SOURCE = "own"
KINDS = ("frequency", "summation", "sets")
#: Keys that describe a file besides its path, by kind of task.
KEYS: Mapping[str, tuple[str, ...]] = {
    "frequency": ("column", "user", "per_user", "delimiter", "values", "draw"),
    "summation": ("column", "user", "per_user", "delimiter", "low", "high", "draw"),
    "sets": ("column", "separator", "user", "item", "values", "split", "padding", "draw"),
}
_WHERE = ("column", "separator", "user", "item", "per_user", "delimiter")
#: Largest number of users times items whose sets are brought to one size together.
AT_ONCE = 10_000_000


# -- checks of a file -----------------------------------------------------------------------------------------


def with_domain(task: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a task's configuration with the domain size and the padding by tokens that the data determine."""
    content = dict(task)
    tokens = _tokens(task, data)
    if tokens:
        content.setdefault("padding_items", tokens)
    if "domain_size" not in task and task["kind"] != "summation" and "values" in data:
        content["domain_size"] = len(data["values"]) + tokens
    return content


def request(task: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request for a file as plain data: path, columns, and domain or levels of numbers."""
    kind = task["kind"]
    columns = {key: data[key] for key in _WHERE if key in data}
    if "counts" in data:
        data = {**data, "path": data["counts"]}
        columns = {"counts": True}
    if kind == "summation":
        least, greatest, levels = _range(task)
        low, high = data.get("low", least), data.get("high", greatest)
        return {"kind": kind, "path": data["path"], **columns, "low": low, "high": high, "levels": levels}
    content = {"kind": kind, "path": data["path"], **columns, "domain_size": None, "values": None}
    if "values" in data:
        return content | {"values": list(data["values"])}
    if "domain_size" in task and not data.get("found"):
        content["domain_size"] = task["domain_size"] - _tokens(task, data)
    return content


def key_of(file_request: Mapping[str, Any]) -> str:
    """Return the name of the prepared file of a request."""
    return f"{NAME}_{digest(file_request)[:16]}"


def files_of(prepared: Path, key: str) -> tuple[Path, Path, Path]:
    """Return the paths of the numbers, of their description, and of the checksums of these two files."""
    return prepared / f"{key}.npz", prepared / f"{key}.json", prepared / f"{key}.sha256"


def _tokens(task: Mapping[str, Any], data: Mapping[str, Any]) -> int:
    return int(task["set_size"]) if task["kind"] == "sets" and data.get("padding") == "tokens" else 0


def _range(task: Mapping[str, Any]) -> tuple[float, float, int]:
    most = task["max_value"]
    greatest = 1 if task.get("real") else most
    return (-greatest, greatest, 2 * most) if task.get("signed") else (0, greatest, most)


# -- prepared files --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prepared:
    """Numbers of a request, and the description of the file."""

    arrays: Mapping[str, NDArray[np.int64]]
    about: Mapping[str, Any]

    @property
    def domain_size(self) -> int:
        """Number of values or items of the domain."""
        return int(self.about["domain_size"])


def load(file_request: Mapping[str, Any], prepared: Path) -> Prepared:
    """Read the files of `shuffledp.pipeline.experiments.user_files.prepare` after a check of their checksums."""
    numbers, about, checksum = files_of(prepared, key_of(file_request))
    with np.load(io.BytesIO(read_verified(numbers, checksum)), allow_pickle=False) as bundle:
        arrays = {name: bundle[name] for name in bundle.files}
    return Prepared(arrays, json.loads(read_verified(about, checksum)))


def completed(
    task: Mapping[str, Any], data: Mapping[str, Any], prepared: Path
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return task and data with a domain, by default the domain in the file."""
    whole = with_domain(task, data)
    if task["kind"] == "summation" or "domain_size" in whole:
        return whole, dict(data)
    size = load(request(whole, data), prepared).domain_size + _tokens(task, data)
    return {**whole, "domain_size": size}, {**data, "found": True}


# -- sources ---------------------------------------------------------------------------------------------------------


def check(config: Mapping[str, Any], task: Task) -> None:
    """Raise ``ValueError`` for data that a file cannot have, or that do not fit the task."""
    if task.kind not in KINDS:
        raise ValueError(
            f"A file cannot be used for a {task.kind} task, only for tasks of the kinds {', '.join(KINDS)}."
        )
    if ("path" in config) == ("counts" in config):
        raise ValueError("A file needs either 'path' or 'counts', a file of counts.")
    if "counts" in config and (task.kind == "sets" or any(key in config for key in _WHERE)):
        raise ValueError("A file of counts is for frequencies and sums, without the name of a column.")
    allowed = ("name", "path", "counts", "found", *KEYS[task.kind])
    for key in config:
        if key not in allowed:
            raise ValueError(
                f"{key!r} does not belong to the file of a {task.kind} task. Known: {', '.join(KEYS[task.kind])}."
            )
    plain = {"kind": task.kind, **asdict(task)}
    tokens = _tokens(plain, config)
    if task.kind == "sets":
        _check_sets(config, task, tokens)
    elif "column" not in config and "counts" not in config:
        raise ValueError("A file needs the name of a column, 'column'.")
    if isinstance(task, Summation):
        if task.coordinates > 1:
            raise ValueError(
                f"coordinates must be 1 for a file, which has one number per user, got {task.coordinates}."
            )
        low, high = (request(plain, config)[end] for end in ("low", "high"))
        if low >= high:
            raise ValueError(f"low must be below high, got {low:g} and {high:g}.")
    values, size = config.get("values"), task.counts_shape[-1]
    if values is not None and len(values) + tokens != size:
        tokens_text = f" and {tokens} tokens" if tokens else ""
        raise ValueError(
            f"domain_size is {size}, but values has {len(values)}{tokens_text}: leave domain_size out."
        )


def _check_sets(config: Mapping[str, Any], task: Any, tokens: int) -> None:
    pair = [key for key in ("user", "item") if key in config]
    if ("column" in config) == bool(pair) or len(pair) == 1:
        raise ValueError(
            "Sets need either 'column', which holds lists, or the two columns 'user' and 'item'."
        )
    if task.padding_items != tokens:
        raise ValueError(f"With this padding, padding_items must be {tokens}, got {task.padding_items}.")
    if not tokens and task.set_size > task.domain_size:
        raise ValueError(f"set_size must be at most domain_size = {task.domain_size}, got {task.set_size}.")
    split = _split(config, task)
    if len(split_shares(split)) != task.levels:
        raise ValueError(f"split must have {task.levels} privacy levels, as the task, got {split!r}.")


def _split(config: Mapping[str, Any], task: Sets) -> str:
    if "split" not in config and task.levels > 1:
        raise ValueError("Sets need a split of the users over the privacy levels, such as 25-50-25.")
    return str(config.get("split", "100"))


def source(config: Mapping[str, Any], task: Task, prepared: Path) -> Source:
    """Return the source for a prepared file."""
    content = load(request({"kind": task.kind, **asdict(task)}, config), prepared)
    note, details = str(content.about["note"]), {"file": dict(content.about["file"])}
    replace = with_replacement(config)
    if isinstance(task, Sets):
        key = {name: value for name, value in config.items() if name != "split"} | {"set_size": task.set_size}
        padding = config.get("padding", "categories")
        sizes, items = content.arrays["sizes"], content.arrays["items"]
        return FileSets(
            key, SOURCE, note, task, _split(config, task), sizes, items, padding, replace, details=details
        )
    counts = content.arrays["counts"]
    if counts.size != task.counts_shape[-1]:
        path = config.get("path", config.get("counts"))
        raise ValueError(f"{path}: {counts.size} values, but the task has {task.counts_shape[-1]}.")
    shares, holders = counts / counts.sum(), None if replace else counts
    if isinstance(task, Summation):
        return NumberSource(config, SOURCE, note, shares, holders, task, details=details)
    return ValueSource(config, SOURCE, note, shares, holders, details=details)


@dataclass(frozen=True)
class FileSets(HeldSets):
    """Sets of a file, in the arrays of `shuffledp.userdata.sets.Collected`, cut or padded to one size."""

    sizes: NDArray[np.int64]
    items: NDArray[np.int64]
    padding: str
    replace: bool

    @property
    def records(self) -> int | None:
        """Number of users in the file."""
        return None if self.replace else len(self.sizes)

    @cached_property
    def marginals(self) -> Floats:
        """Exact probabilities of the items, over all users in the file."""
        s, real = self.task.set_size, self.task.estimate_shape[0]
        own_shares = kept_shares(self.sizes, self.items, real, s)
        if self.padding == "tokens":
            missing = np.maximum(s - self.sizes, 0)
            return np.concatenate((own_shares, np.full(self.task.padding_items, missing.mean() / s)))
        return own_shares + filled_shares(self.sizes, self.items, real, s)

    def _drawn(self, n: int, rng: np.random.Generator) -> Held:
        """Draw the sets of n users, (n, s), in random order."""
        chosen = rng.choice(len(self.sizes), n, replace=self.replace)
        rows = max(1, AT_ONCE // self.task.domain_size)
        parts = [
            of_one_size(self._held(chosen[start : start + rows]), self.task, self.padding, rng)
            for start in range(0, n, rows)
        ]
        return np.concatenate(parts).astype(np.int32)

    def _held(self, users: NDArray[np.int64]) -> NDArray[np.bool_]:
        sizes = self.sizes[users]
        before = np.cumsum(sizes) - sizes
        places = np.arange(sizes.sum()) + np.repeat(self._starts[users] - before, sizes)
        member = np.zeros((len(users), self.task.estimate_shape[0]), bool)
        member[np.repeat(np.arange(len(users)), sizes), self.items[places]] = True
        return member

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.asarray(np.cumsum(self.sizes) - self.sizes)
