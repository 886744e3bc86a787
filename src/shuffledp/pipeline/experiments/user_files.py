"""Files of the user: checked when the workflow starts, and counted once for all methods."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from shuffledp.pipeline import table_files
from shuffledp.pipeline.experiments.sources.user_file import files_of, key_of
from shuffledp.storage import IntegrityError, publish, read_verified
from shuffledp.userdata import counts
from shuffledp.userdata.cells import text_of
from shuffledp.userdata.counting import Counted, count_column
from shuffledp.userdata.engine import Table
from shuffledp.userdata.files import (
    address,
    checksums,
    files_of as files_at,
    is_remote,
    located,
    together,
    unchanged,
)
from shuffledp.userdata.sets import Collected, collect_sets

GIVE = "give `values`, or the task's `domain_size`"


def check(asked: Mapping[str, Any], root: Path) -> None:
    """Raise ``ValueError`` unless the requested file exists and has the required columns; no rows are read."""
    path = located(root, asked["path"])
    try:
        files_named(path)
        if asked.get("counts"):
            return
        Table(path, [asked[key] for key in ("column", "user", "item") if key in asked]).close()
    except FileNotFoundError:
        raise ValueError(
            f"there is no file {asked['path']} (relative paths start from the pipeline's folder)."
        ) from None
    except OSError as error:
        raise ValueError(f"{asked['path']} cannot be read: {error.strerror or error}.") from None


def prepare(
    asked: Mapping[str, Any], root: Path, prepared: Path, say: Callable[[str], None] = lambda _: None
) -> None:
    """Count a file or collect its sets; write the numbers, their description and their checksums."""
    path = located(root, asked["path"])
    files_named(path)
    with unchanged(path) as files:
        found = _read(asked, path)
        sha256 = together(checksums(files))
    name = Path(asked["path"]).name
    folder = address(path.parent)  # no folders of this machine
    remarks = [remark.replace(f"{folder}/", "").replace(f"{root}/", "") for remark in found.remarks(GIVE)]
    for remark in remarks:
        say(f"{asked['path']}: {remark}")
    about = {
        "request": dict(asked),
        "file": {
            "name": name,
            "sha256": sha256,
            "rows": found.rows,
            "users": found.users,
            "bad_rows": found.bad_rows,
        },
        "domain_size": len(found.values),
        "values": list(found.values),
        "note": " ".join(f"{name}: {remark}" for remark in remarks),
    }
    numbers, json_file, checksum = files_of(prepared, key_of(asked))
    text = json.dumps(about, indent=1, ensure_ascii=False) + "\n"
    content = {numbers: table_files.npz(_arrays(found)), json_file: text.encode()}
    publish(checksum, content, mode=0o600)  # counts of the user's data, which only the user may read


def outdated(prepared: Path, root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the checksum list of prepared numbers and the user's file for each file that has changed since."""
    for checksum in sorted(prepared.glob("file_*.sha256")):
        try:
            about = json.loads(read_verified(checksum.with_suffix(".json"), checksum))
        except IntegrityError:
            continue  # damaged itself
        path = located(root, about["request"]["path"])
        if is_remote(path):
            continue  # the workflow compares times and sizes
        with suppress(FileNotFoundError):
            if together(checksums(files_named(path))) == about["file"]["sha256"]:
                continue
            yield checksum, about["request"]["path"]


def files_named(path: Path) -> list[Path]:
    """Return the files of a path. Raise FileNotFoundError if there is no file."""
    try:
        return files_at(path)
    except ValueError:
        if path.exists() or is_remote(path):
            raise
        raise FileNotFoundError(path) from None


def _read(asked: Mapping[str, Any], path: Path) -> Counted | Collected:
    if asked.get("counts"):
        return _of_counts(asked, path)
    per_user = {key: asked[key] for key in ("user", "per_user", "delimiter") if key in asked}
    if asked["kind"] == "summation":
        return count_column(
            path,
            asked["column"],
            **per_user,
            low=asked["low"],
            max_value=asked["high"],
            levels=asked["levels"],
        )
    domain = {"domain_size": asked["domain_size"], "values": asked["values"]}
    if asked["kind"] == "frequency":
        return count_column(path, asked["column"], **per_user, **domain)
    columns = {key: asked[key] for key in ("column", "separator", "user", "item") if key in asked}
    return collect_sets(path, **columns, **domain)


def _of_counts(asked: Mapping[str, Any], path: Path) -> Counted:
    """Return the counts in a file. Raise ValueError for another task or domain."""
    content = counts.read(path)
    found = counts.counted_of(content)
    if asked["kind"] == "summation":
        low, high, levels = asked["low"], asked["high"], asked["levels"]
        same = len(found.values) == levels + 1 and (found.values[0], found.values[-1]) == (low, high)
    else:
        size, values = asked["domain_size"], asked["values"]
        same = (size or len(found.values)) == len(found.values)
        same = same and list(map(text_of, values or found.values)) == list(map(text_of, found.values))
    if content.kind != asked["kind"] or not same:
        raise ValueError(f"{asked['path']} has counts of another task or domain.")
    return found


def _arrays(found: Counted | Collected) -> dict[str, NDArray[Any]]:
    if isinstance(found, Counted):
        return {"counts": found.counts}
    return {"sizes": found.sizes, "items": found.items}
