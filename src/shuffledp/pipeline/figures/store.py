"""Store of earlier drawings by the digest of their inputs, so that a small change does not redraw a whole paper.

The digest is of the drawing's job, its input files and the code that draws. A damaged drawing is made again. The folder
is not an output of the workflow, so that neither an interruption nor Snakemake removes it.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shuffledp.pipeline.manifest import ManifestEntry
from shuffledp.storage import IntegrityError, publish, verified

log = logging.getLogger(__name__)

_LIBRARIES = ("jinja2", "matplotlib", "numpy", "pandas", "pyarrow", "tabulate")
_ABOUT = "drawing.json"
_version = cache(version)


@dataclass(frozen=True)
class Drawn:
    """Finished drawing: its entry in the manifest, its files by name, and the commits of its results."""

    entry: ManifestEntry
    files: Mapping[str, bytes]
    commits: tuple[str, ...]


@dataclass(frozen=True)
class Store:
    """Folder of stored drawings, and the digest of the code that draws."""

    folder: Path
    code: str


def folder_of(results_folder: Path, paper: str) -> Path:
    """Return the folder of stored drawings of a paper."""
    return results_folder / "drawn" / paper


def digest_of(job: Mapping[str, Any], inputs: Mapping[str, str], code: str) -> str:
    """Return the hex sha256 of a drawing's job, its inputs' checksums, the code and the libraries' versions."""
    # Unsorted: the order of grids and methods counts.
    libraries = {name: _version(name) for name in _LIBRARIES}
    text = json.dumps([job, inputs, code, libraries], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def kept(folder: Path, id: str, digest: str) -> Drawn | None:
    """Return the drawing stored under this digest; None if it is missing or damaged."""
    archive = folder / f"{id}.zip"
    if not archive.with_suffix(".sha256").is_file():
        return None
    try:
        about, files = _opened(archive)
    except IntegrityError as error:
        log.info("%s is drawn anew: %s", id, error)
        return None
    if about["digest"] != digest:
        return None
    return Drawn(ManifestEntry.model_validate(about["entry"]), files, tuple(about["commits"]))


def job_of(archive: Path) -> dict[str, Any]:
    """Return the job of a stored drawing; raise `IntegrityError` if the archive is damaged."""
    return dict(_opened(archive)[0]["job"])


def _opened(archive: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return what is known about a stored drawing, and its files."""
    content = verified(archive, archive.with_suffix(".sha256")).read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as pack:
        files = {name: pack.read(name) for name in pack.namelist()}
    return json.loads(files.pop(_ABOUT)), files


def keep(folder: Path, job: Mapping[str, Any], digest: str, drawing: Drawn) -> None:
    """Store a drawing with its job, and remove the previous drawing with this id."""
    id, entry = str(job["id"]), drawing.entry.model_dump(mode="json")
    about = {"digest": digest, "entry": entry, "commits": drawing.commits, "job": job}
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as pack:
        files = {_ABOUT: json.dumps(about, ensure_ascii=False).encode(), **drawing.files}
        for name, content in files.items():
            pack.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # a fixed date: same bytes
    publish(folder / f"{id}.sha256", {folder / f"{id}.zip": sink.getvalue()}, folders=2)


def forget_others(folder: Path, ids: Collection[str]) -> None:
    """Remove the stored drawings of which a paper no longer has the id."""
    for path in folder.glob("*.*"):
        if path.suffix in (".zip", ".sha256") and path.stem not in ids:
            path.unlink(missing_ok=True)
