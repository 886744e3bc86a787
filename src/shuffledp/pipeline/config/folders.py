"""Admissible folders of results: folders of their own within the project, so that no other files are overwritten."""

from __future__ import annotations

import os
import re
from pathlib import Path

#: Folders of the project that are not for results.
OTHERS = frozenset(
    (
        "benchmarks",
        "build",
        "config",
        "data",
        "dist",
        "docs",
        "locks",
        "logs",
        "notebooks",
        "paper",
        "profiles",
        "reference",
        "src",
        "tests",
        "tools",
        "workflow",
    )
)


def results_problem(results: object, root: Path) -> str | None:
    """Return the reason why a folder is not admissible for results, with the admissible ones; None if it is."""
    allowed = "expected a folder of its own within the project, such as results or results/mine"
    if not isinstance(results, str) or not results or not re.fullmatch(r"[^{}\x00-\x1f]+", results):
        return f"results: {results!r}, {allowed}."
    below = Path(results)
    if below.is_absolute() and below.is_relative_to(root.absolute()):
        below = below.relative_to(root.absolute())
    parts = below.parts
    if below.is_absolute() or ".." in parts or not parts:
        return f"results: {results!r} is not below the project's folder, {allowed}, or a link there."
    if _is_taken(parts[0]):
        return f"results: {results!r} is in the project's {parts[0]}/, {allowed}."
    try:
        home, target = root.resolve(), (root / results).resolve()
        exists = target.exists()
    except (OSError, RuntimeError) as error:  # a name that is too long, a link to itself
        return f"results: {results[:60]!r}..: {getattr(error, 'strerror', error)}, {allowed}."
    links = [link for link in map(root.joinpath, (below, *below.parents)) if link.is_symlink()]
    if lost := [link for link in links if not link.exists()]:
        return f"results: {results!r}: {lost[0]} is a link to {lost[0].readlink()}, which does not exist, {allowed}."
    if home == target or home.is_relative_to(target):
        return f"results: {results!r} is a link to {target}, which holds the project, {allowed}."
    if target.is_relative_to(home) and _is_taken(target.relative_to(home).parts[0]):
        return f"results: {results!r} is a link to {target}, which is in the project's own files, {allowed}."
    if target in (Path(os.sep), Path.home()):
        return f"results: {results!r} is a link to {target}, {allowed}."
    if exists and not target.is_dir():
        return f"results: {results!r} is a file, {allowed}."
    return None


def _is_taken(name: str) -> bool:
    return name.startswith(".") or name.casefold() in OTHERS
