"""Paths and content of the configuration's files."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from shuffledp.pipeline import yaml_files
from shuffledp.pipeline.config.config_errors import ConfigurationError

DRAWABLE = ("figures", "tables")
#: Folder of the papers and studies, and the file of the curves of our own noise designs.
EXPERIMENTS, DESIGNS = "config/experiments", "config/designs.yaml"
#: Folder of the user's own experiments, and the value that omits these experiments.
OWN_FOLDER, NONE = "config/own", "none"
#: Names of the workflow's own targets, which a file of experiments cannot have.
TAKEN = frozenset(
    (
        "all",
        "runs",
        "method",
        "own_data",
        "training",
        "claim_table",
        "verdicts",
        "claims",
        "headlines",
        "open_questions",
        "audit",
        "audit_share",
        "pages",
        "summaries",
    )
)
TAKEN_BEGINNINGS = ("draw_", "dataset_")


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file; a missing or malformed file raises a `ConfigurationError`."""
    try:
        return yaml_files.read(path)
    except yaml_files.YamlError as error:
        raise ConfigurationError(str(error)) from None


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge a configuration into another one, key by key at every depth, as Snakemake's ``--configfile`` does."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        result[key] = (
            merged(old if isinstance(old, Mapping) else {}, value) if isinstance(value, Mapping) else value
        )
    return result


def paper_files(root: Path, own_folder: str = NONE) -> dict[str, Path]:
    """Return the files of experiments by key; with `own_folder` "none", those of papers and studies alone."""
    listed = {path.stem: path for path in sorted((root / EXPERIMENTS).glob("*.yaml"))}
    return {**listed, **own_files(root, own_folder, listed)}


def own_files(root: Path, own_folder: str, others: Container[str] = ()) -> dict[str, Path]:
    """Return the files of the user's experiments by key, which run without a list; see `paper_files`."""
    if own_folder == NONE:
        return {}
    folder = root / own_folder
    if not folder.is_dir():
        if own_folder == OWN_FOLDER:  # which only those have who use it
            return {}
        raise ConfigurationError(
            f"config: own: there is no folder {own_folder!r}; '{NONE}' leaves own experiments out."
        )
    files: dict[str, Path] = {}
    for path in sorted(folder.glob("*.y*ml")):
        key, place = path.stem, place_of(path, root)
        if not re.fullmatch("[a-z0-9_]+", key):
            raise ConfigurationError(
                f"{place}: the file name must have lower-case letters, digits and underscores only: "
                "results are named after it."
            )
        if key in others or key in files or key in TAKEN or key.startswith(TAKEN_BEGINNINGS):
            raise ConfigurationError(f"{place}: the name {key!r} is taken; choose another one for the file.")
        files[key] = path
    return files


def read_experiments(root: Path, key: str, path: Path) -> Any:
    """Return the content of a file of experiments, with the methods that `DESIGNS` adds to its experiments."""
    content = read_yaml(path)
    if path.parent != root / EXPERIMENTS or not (root / DESIGNS).is_file():
        return content
    experiments = mapping(content, "experiments")
    for target, methods_added in read_yaml(root / DESIGNS).items():
        paper, _, name = target.partition(".")
        if paper != key:
            continue
        methods = mapping(mapping(experiments, name), "methods")
        if methods_added["after"] not in methods:
            raise ConfigurationError(
                f"{DESIGNS}: {target}: {place_of(path, root)} has no method {methods_added['after']!r} there."
            )
        longer: dict[str, Any] = {}
        for method, value in methods.items():
            longer[method] = value
            if method == methods_added["after"]:
                longer |= methods_added["methods"]
        experiments[name]["methods"] = longer
    return content


def idle_files(root: Path, papers: Container[str]) -> list[str]:
    """Return the names of files in config/experiments/ that do not run, because ``papers`` does not list them."""
    files = sorted((root / EXPERIMENTS).glob("*.y*ml"))
    return [path.name for path in files if path.suffix != ".yaml" or path.stem not in papers]


def left_aside(names: Iterable[str]) -> str:
    """Return one line that lists files in config/experiments/ that do not run, and explains how to run them."""
    return (
        f"Not run, as `papers` does not list them: {', '.join(names)} (in {EXPERIMENTS}/). List a name in "
        f"config/config.yaml, without .yaml, or put the file into {OWN_FOLDER}/, where all files run."
    )


def place_of(path: Path, root: Path) -> str:
    """Return the name of a file for messages: its path relative to the project's folder."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def mapping(value: Any, key: str) -> Mapping[str, Any]:
    """Return a part of unchecked YAML as a mapping; empty for another type, which the schema rejects later."""
    part = value.get(key) if isinstance(value, Mapping) else None
    return part if isinstance(part, Mapping) else {}
