"""Files of counts: the counts of one part of the data, which can be merged with other parts.

The keys are ``counts`` and ``values`` (in the same order), ``rows`` (all rows, with omitted ones), ``left_out``
(omitted rows), ``users`` (the sum of the counts), ``dropped`` (rows beyond one per user), ``kind``, ``found`` (the
domain is from the data), ``other`` (a value stands for all outside of the list), ``per_user``, ``step``, ``clipped``,
``rounded``, and ``files`` (name, sha256 and hash of the place of every file). Values and step are the domain, or the
range and its levels. Counts are raw data, not a private release.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp.userdata.cells import text_of
from shuffledp.userdata.counting import OTHER, Counted
from shuffledp.userdata.files import address, checksums, is_remote

#: Largest total of a file of counts.
MOST_ROWS = 2**63 - 1
#: Keys that all parts of a merged file have in common.
_SAME = {
    "kind": "task",
    "values": "domain or range",
    "step": "levels",
    "found": "origin of the domain",
    "per_user": "value per user",
    "other": "values outside of the list",
}
_ADDED = ("rows", "left_out", "users", "dropped", "clipped", "rounded")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST_ROWS


def _is_file(value: Any) -> bool:
    if not isinstance(value, dict) or "sha256" not in value:
        return False
    return type(value.get("name")) is str and all(
        type(value.get(key)) in (str, type(None)) for key in ("sha256", "place")
    )


#: Description and check of the content of every key.
_RULES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "kind": ("must be frequency or summation", lambda value: value in ("frequency", "summation")),
    "values": (
        "must be a list of at least two texts or numbers",
        lambda value: (
            type(value) is list
            and len(value) > 1
            and all(type(one) is str or _is_number(one) for one in value)
        ),
    ),
    "counts": (
        "must be integers of at least 0, one for each of the values",
        lambda value: type(value) is list and all(map(_is_count, value)),
    ),
    "step": ("must be a positive number", lambda value: _is_number(value) and value > 0),
    **dict.fromkeys(("found", "other"), ("must be true or false", lambda value: type(value) is bool)),
    "per_user": (
        "must be random, first, sum or null",
        lambda value: value in ("random", "first", "sum", None),
    ),
    "files": (
        "must be a list of files with name and sha256",
        lambda value: type(value) is list and all(map(_is_file, value)),
    ),
    **dict.fromkeys(_ADDED, (f"must be an integer in [0, {MOST_ROWS}]", _is_count)),
}
_DEFAULTS: Mapping[str, Any] = {
    "step": 1.0,
    "found": False,
    "other": False,
    "per_user": None,
    "dropped": 0,
    "clipped": 0,
    "rounded": 0,
    "files": [],
}


def described(files: Sequence[Path]) -> list[dict[str, str]]:
    """Return the name, the sha256 and a hash of the place of every file."""
    places = [address(file) if is_remote(file) else os.path.realpath(file) for file in files]
    hashed = [hashlib.sha256(os.fsencode(place)).hexdigest()[:16] for place in places]
    about = zip(files, checksums(files), hashed, strict=True)
    return [{"name": file.name, "sha256": sha256, "place": place} for file, sha256, place in about]


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
        "other": counted.other,
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
    if not path.is_file():
        raise ValueError(f"{path} is no regular file: save the counts first.")
    try:
        content = json.loads(path.read_bytes(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ValueError(f"{path} is no file of counts.") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} is no file of counts.")
    whole = {**_DEFAULTS, **content}
    for key, (rule, fits) in _RULES.items():
        if key not in whole:
            raise ValueError(f"{path} is no file of counts: {key} is missing.")
        if not fits(whole[key]):
            raise ValueError(f"{path} is no file of counts: {key} {rule}.")
    if wrong := _wrong(whole):
        raise ValueError(f"{path}: {wrong}.")
    return whole


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _wrong(content: Mapping[str, Any]) -> str | None:
    """Return the reason why keys of a file of counts do not fit together; None if they fit."""
    values, counts = content["values"], content["counts"]
    if len(counts) != len(values):
        return f"counts {_RULES['counts'][0]}"
    if content["other"] and OTHER not in values:
        return f"values must have {OTHER!r} if other is true"
    if content["found"] and not all(isinstance(value, str) for value in values):
        return "values that were found must be texts"
    if content["kind"] == "summation":
        steps = np.diff(values) if all(map(_is_number, values)) else np.zeros(1)
        if not np.allclose(steps, content["step"], rtol=1e-6, atol=0):
            return "values must be numbers with the distance step"
    elif content["step"] != 1:
        return "step must be 1 for frequencies"
    elif len(set(map(text_of, values))) < len(values):
        return "values has a value twice"
    if content["users"] != sum(counts) or content["rows"] != sum(
        content[key] for key in ("users", "dropped", "left_out")
    ):
        return "counts, users, dropped and left_out do not add up to rows"
    return None


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
        other=content["other"],
    )


def merged(parts: Mapping[Path, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sum of several files. Raise ValueError if they differ in domain or clipping, or share a file."""
    for path, other in combinations(parts, 2):
        if path.samefile(other):
            raise ValueError(f"{path} and {other} are the same part.")
    (first_path, first), *others = parts.items()
    for path, part in others:
        for key, what in _SAME.items():
            if part[key] != first[key]:
                advice = " Give all parts the same --values or --domain-size." if key == "values" else ""
                raise ValueError(f"{path} and {first_path} differ in their {what} ({key}).{advice}")
    seen: dict[tuple[str, str | None], Path] = {}
    for path, part in parts.items():
        for file in part["files"]:
            content = file["sha256"], file.get("place")
            if file["sha256"] is not None and seen.setdefault(content, path) != path:
                raise ValueError(f"{path} and {seen[content]} both count {file['name']}.")
    totals = {key: sum(part[key] for part in parts.values()) for key in _ADDED}
    if max(totals.values()) > MOST_ROWS:
        raise ValueError(f"The parts have more than {MOST_ROWS} rows together.")
    return {
        **first,
        "counts": [sum(counts) for counts in zip(*(part["counts"] for part in parts.values()), strict=True)],
        **totals,
        "files": [file for part in parts.values() for file in part["files"]],
    }
