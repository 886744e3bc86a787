"""The files of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shuffledp import yamlfile
from shuffledp.experiments.config.errors import ConfigurationError

DRAWABLE = ("figures", "tables")


def read_yaml(path: Path) -> Any:
    """Content of a YAML file; a missing or malformed file is a `ConfigurationError` that names file and line."""
    try:
        return yamlfile.read(path)
    except yamlfile.YamlError as error:
        raise ConfigurationError(str(error)) from None


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with another laid over it, key by key at every depth, as Snakemake's ``--configfile`` does."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        result[key] = (
            merged(old if isinstance(old, Mapping) else {}, value) if isinstance(value, Mapping) else value
        )
    return result


def paper_files(root: Path) -> dict[str, Path]:
    """Files of the papers by key."""
    return {path.stem: path for path in sorted((root / "config/experiments").glob("*.yaml"))}


def place_of(key: str) -> str:
    """What messages call a paper's file."""
    return f"config/experiments/{key}.yaml"


def mapping(value: Any, key: str) -> Mapping[str, Any]:
    """A part of unchecked YAML, empty where it is not a mapping; the schema complains about that later."""
    part = value.get(key) if isinstance(value, Mapping) else None
    return part if isinstance(part, Mapping) else {}
