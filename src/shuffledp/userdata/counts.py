"""Files of counts: the counts of one part of the data, which can be merged with other parts.

The keys are ``counts`` and ``values`` (in the same order), ``rows`` (all rows, with omitted ones), ``left_out``
(omitted rows), ``users`` (the sum of the counts), ``dropped`` (rows beyond one per user), ``kind``, ``found`` (the
domain is from the data), ``per_user``, ``step``, ``clipped``, ``rounded``, and ``files`` (names and sha256 of the
files). Values and step are the domain, or the range and its levels. Counts are raw data, not a private release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp.userdata.counting import Counted

#: Keys that all parts of a merged file have in common.
_SAME = {
    "kind": "task",
    "values": "domain or range",
    "step": "levels",
    "found": "origin of the domain",
    "per_user": "value per user",
}
_ADDED = ("rows", "left_out", "users", "dropped", "clipped", "rounded")


@dataclass(frozen=True)
class CountsFile:
    """Path of a file of counts, for use as the data of a comparison."""

    path: Path


def record(
    counted: Counted, *, kind: str, per_user: str | None, files: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the content of a file of counts."""
    return {
        "kind": kind,
        "values": list(counted.values),
        "counts": counted.counts.tolist(),
        "step": counted.step,
        "found": counted.found,
        "per_user": per_user,
        "rows": counted.users + counted.dropped + counted.bad_rows,
        "left_out": counted.bad_rows,
        "users": counted.users,
        "dropped": counted.dropped,
        "clipped": counted.clipped,
        "rounded": counted.rounded,
        "files": [dict(file) for file in files],
    }


def written(content: Mapping[str, Any]) -> bytes:
    """Return a file of counts as bytes."""
    return (json.dumps(content, ensure_ascii=False) + "\n").encode()


def read(path: Path) -> dict[str, Any]:
    """Return the content of a file of counts. Raise ValueError for any other file.

    ``kind``, ``values``, ``counts``, ``rows``, ``left_out`` and ``users`` are required; the others have defaults.
    """
    if not path.exists():
        raise ValueError(f"There is no file {path}.")
    try:
        content = json.loads(path.read_bytes())
        fields = {key: content[key] for key in ("kind", "values", "counts", "rows", "left_out", "users")}
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is no file of counts.") from None
    counts = fields["counts"]
    if len(counts) != len(fields["values"]) or any(type(one) is not int or one < 0 for one in counts):
        raise ValueError(f"{path}: counts must be integers of at least 0, one for each of the values.")
    defaults: dict[str, Any] = {
        "step": 1.0,
        "found": False,
        "per_user": None,
        "dropped": 0,
        "clipped": 0,
        "rounded": 0,
        "files": [],
    }
    whole: dict[str, Any] = {**defaults, **content}
    if whole["users"] != sum(counts) or whole["rows"] != sum(
        whole[k] for k in ("users", "dropped", "left_out")
    ):
        raise ValueError(f"{path}: counts, users, dropped and left_out do not add up to rows.")
    return whole


def counted_of(content: Mapping[str, Any]) -> Counted:
    """Return the counts in the content of a file."""
    return Counted(
        np.array(content["counts"], np.int64),
        tuple(content["values"]),
        found=content["found"],
        bad_rows=content["left_out"],
        clipped=content["clipped"],
        rounded=content["rounded"],
        step=content["step"],
        dropped=content["dropped"],
    )


def merged(parts: Mapping[Path, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sum of several files. Raise ValueError if they differ in domain or clipping, or share a file."""
    (first_path, first), *others = parts.items()
    for path, part in others:
        for key, what in _SAME.items():
            if part[key] != first[key]:
                advice = " Give all parts the same --values or --domain-size." if key == "values" else ""
                raise ValueError(f"{path} and {first_path} differ in their {what} ({key}).{advice}")
    seen: dict[str, Path] = {}
    for path, part in parts.items():
        for file in part["files"]:
            if file["sha256"] is not None and seen.setdefault(file["sha256"], path) != path:
                raise ValueError(f"{path} and {seen[file['sha256']]} both count {file['name']}.")
    return {
        **first,
        "counts": np.sum([part["counts"] for part in parts.values()], axis=0).tolist(),
        **{key: sum(part[key] for part in parts.values()) for key in _ADDED},
        "files": [file for part in parts.values() for file in part["files"]],
    }
