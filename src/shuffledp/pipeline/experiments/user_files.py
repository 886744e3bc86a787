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
from shuffledp.userdata.engine import DataTable
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


def check(request: Mapping[str, Any], root: Path) -> None:
    """Raise ``ValueError`` unless the requested file exists and has the required columns; no rows are read."""
    path = located(root, request["path"])
    try:
        files_named(path)
        if request.get("counts"):
            return
        DataTable(path, [request[key] for key in ("column", "user", "item") if key in request]).close()
    except FileNotFoundError:
        raise ValueError(
            f"there is no file {request['path']} (relative paths start from the pipeline's folder)."
        ) from None
    except OSError as error:
        raise ValueError(f"{request['path']} cannot be read: {error.strerror or error}.") from None


def prepare(
    request: Mapping[str, Any], root: Path, prepared: Path, say: Callable[[str], None] = lambda _: None
) -> None:
    """Count a file or collect its sets; write the numbers, their description and their checksums."""
    path = located(root, request["path"])
    files_named(path)
    with unchanged(path) as files:
        collected = _read(request, path)
        sha256 = together(checksums(files))
    name = Path(request["path"]).name
    folder = address(path.parent)  # no folders of this machine
    remarks = [remark.replace(f"{folder}/", "").replace(f"{root}/", "") for remark in collected.remarks(GIVE)]
    for remark in remarks:
        say(f"{request['path']}: {remark}")
    about = {
        "request": dict(request),
        "file": {
            "name": name,
            "sha256": sha256,
            "rows": collected.rows,
            "users": collected.users,
            "bad_rows": collected.bad_rows,
        },
        "domain_size": len(collected.values),
        "values": list(collected.values),
        "note": " ".join(f"{name}: {remark}" for remark in remarks),
    }
    numbers, json_file, checksum = files_of(prepared, key_of(request))
    text = json.dumps(about, indent=1, ensure_ascii=False) + "\n"
    content = {numbers: table_files.npz(_arrays(collected)), json_file: text.encode()}
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


def _read(request: Mapping[str, Any], path: Path) -> Counted | Collected:
    if request.get("counts"):
        return _of_counts(request, path)
    per_user = {key: request[key] for key in ("user", "per_user", "delimiter") if key in request}
    if request["kind"] == "summation":
        return count_column(
            path,
            request["column"],
            **per_user,
            low=request["low"],
            max_value=request["high"],
            levels=request["levels"],
        )
    domain = {"domain_size": request["domain_size"], "values": request["values"]}
    if request["kind"] == "frequency":
        return count_column(path, request["column"], **per_user, **domain)
    if request["kind"] != "sets":
        raise ValueError(
            f"A file has no counts for the task {request['kind']!r}: frequency, summation or sets."
        )
    columns = {key: request[key] for key in ("column", "separator", "user", "item") if key in request}
    return collect_sets(path, **columns, **domain)


def _of_counts(request: Mapping[str, Any], path: Path) -> Counted:
    """Return the counts in a file. Raise ValueError for another task or domain."""
    content = counts.read(path)
    column = counts.counted_of(content)
    if request["kind"] == "summation":
        low, high, levels = request["low"], request["high"], request["levels"]
        same = len(column.values) == levels + 1 and (column.values[0], column.values[-1]) == (low, high)
    else:
        size, values = request["domain_size"], request["values"]
        same = (size or len(column.values)) == len(column.values)
        same = same and list(map(text_of, values or column.values)) == list(map(text_of, column.values))
    if content.kind != request["kind"] or not same:
        raise ValueError(f"{request['path']} has counts of another task or domain.")
    return column


def _arrays(content: Counted | Collected) -> dict[str, NDArray[Any]]:
    if isinstance(content, Counted):
        return {"counts": content.counts}
    return {"sizes": content.sizes, "items": content.items}
