"""Files of counts: the counts of one part of the data, which can be merged with other parts.

`Content` has the keys of a file. Counts are raw data, not a private release.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from shuffledp.optional_dependencies import needed
from shuffledp.userdata.bins import Bins
from shuffledp.userdata.cells import text_of
from shuffledp.userdata.counting import OTHER, Counted
from shuffledp.userdata.files import address, checksums, is_remote

with needed():
    from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

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
    "bins": "bins",
}
_ADDED = ("rows", "left_out", "users", "dropped", "clipped", "rounded")
#: Keys that are also fields of `Counted`.
_COUNTED = ("step", "found", "other", "bins", "dropped", "clipped", "rounded")
_Count = Annotated[int, Field(ge=0, le=MOST_ROWS)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)


class File(_Part):
    """File that was counted; `place` is a hash of its path. A database that made the counts has no sha256."""

    name: str
    sha256: str | None
    place: str | None = None


class Content(_Part):
    """Content of a file of counts.

    ``counts`` and ``values`` have the same order; ``values`` and ``step`` are the domain, or the range and its levels.
    ``rows`` are all rows, ``left_out`` the omitted ones, ``users`` the sum of the counts, and ``dropped`` the rows
    beyond one per user. The domain is from the data if ``found`` is true. A value stands for all outside of the list
    if ``other`` is true. ``bins`` are LOW:HIGH:WIDTH if the values are bins of numbers.
    """

    kind: Literal["frequency", "summation"]
    values: Annotated[list[str | int | float], Field(min_length=2)]
    counts: list[_Count]
    step: Annotated[float, Field(gt=0)] = 1.0
    found: bool = False
    other: bool = False
    bins: str | None = None
    per_user: Literal["random", "first", "sum"] | None = None
    rows: _Count
    left_out: _Count
    users: _Count
    dropped: _Count = 0
    clipped: _Count = 0
    rounded: _Count = 0
    files: list[File] = []

    @model_validator(mode="after")
    def _check_sums(self) -> Content:
        if len(self.counts) != len(self.values):
            raise ValueError("counts must have one integer for each of the values")
        if self.users != sum(self.counts) or self.rows != self.users + self.dropped + self.left_out:
            raise ValueError("counts, users, dropped and left_out do not add up to rows")
        return self

    @model_validator(mode="after")
    def _check_values(self) -> Content:
        if self.other and OTHER not in self.values:
            raise ValueError(f"values must have {OTHER!r} if other is true")
        if self.found and not all(isinstance(value, str) for value in self.values):
            raise ValueError("values that were found must be texts")
        if self.bins is not None and (
            self.kind != "frequency" or self.values != list(Bins.parse(self.bins).values)
        ):
            raise ValueError("values must be the smallest numbers of the bins")
        if self.kind == "summation":
            numbers = [value for value in self.values if not isinstance(value, str)]
            if len(numbers) < len(self.values) or not np.allclose(
                np.diff(numbers), self.step, rtol=1e-6, atol=0
            ):
                raise ValueError("values must be numbers with the distance step")
        elif self.step != 1:
            raise ValueError("step must be 1 for frequencies")
        elif len(set(map(text_of, self.values))) < len(self.values):
            raise ValueError("values has a value twice")
        return self


def described(files: Sequence[Path]) -> list[File]:
    """Return the name, the sha256 and a hash of the place of every file."""
    places = [address(file) if is_remote(file) else os.path.realpath(file) for file in files]
    hashed = [hashlib.sha256(os.fsencode(place)).hexdigest()[:16] for place in places]
    about = zip(files, checksums(files), hashed, strict=True)
    return [File(name=file.name, sha256=sha256, place=place) for file, sha256, place in about]


def record(result: Counted, *, kind: Any, per_user: Any, files: Sequence[File]) -> Content:
    """Return the content of a file of counts."""
    same = {name: getattr(result, name) for name in (*_COUNTED, "rows", "users")}
    lists = {"values": list(result.values), "counts": result.counts.tolist(), "files": list(files)}
    return Content(kind=kind, per_user=per_user, left_out=result.bad_rows, **lists, **same)


def written(content: Content) -> bytes:
    """Return a file of counts as bytes."""
    return (content.model_dump_json() + "\n").encode()


def read(path: Path) -> Content:
    """Return the content of a file of counts. Raise ValueError for any other file."""
    if not path.exists():
        raise ValueError(f"There is no file {path}.")
    if not path.is_file():
        raise ValueError(f"{path} is no regular file: save the counts first.")
    try:
        return Content.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"][:2]))
        message = first["msg"].partition(" at line")[0].removeprefix("Value error, ")
        raise ValueError(f"{path} is no file of counts: {place}{place and ': '}{message}.") from None


def counted_of(content: Content) -> Counted:
    """Return the counts in the content of a file."""
    same = {name: getattr(content, name) for name in _COUNTED}
    counts = np.array(content.counts, np.int64)
    return Counted(counts, tuple(content.values), bad_rows=content.left_out, **same)


def merged(parts: Mapping[Path, Content]) -> Content:
    """Return the sum of several files. Raise ValueError if they differ in domain or clipping, or share a file."""
    for path, other in combinations(parts, 2):
        if path.samefile(other):
            raise ValueError(f"{path} and {other} are the same part.")
    (first_path, first), *others = parts.items()
    for path, part in others:
        for key, what in _SAME.items():
            if getattr(part, key) != getattr(first, key):
                advice = " Give all parts the same --values or --domain-size." if key == "values" else ""
                raise ValueError(f"{path} and {first_path} differ in their {what} ({key}).{advice}")
    first_parts: dict[tuple[str, str | None], Path] = {}
    for path, part in parts.items():
        for file in part.files:
            if file.sha256 is not None and first_parts.setdefault((file.sha256, file.place), path) != path:
                raise ValueError(f"{path} and {first_parts[file.sha256, file.place]} both count {file.name}.")
    totals = {key: sum(getattr(part, key) for part in parts.values()) for key in _ADDED}
    if max(totals.values()) > MOST_ROWS:
        raise ValueError(f"The parts have more than {MOST_ROWS} rows together.")
    counts = [sum(column) for column in zip(*(part.counts for part in parts.values()), strict=True)]
    files = [file for part in parts.values() for file in part.files]
    return first.model_copy(update={"counts": counts, "files": files, **totals})
