"""YAML as this project writes it: a key given twice is a mistake, and keys are text.

Plain YAML lets the last of two equal keys win, and reads `no:` as False.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

LONGEST = 1_000_000
"""Characters of a file at most."""


class YamlError(ValueError):
    """A text that is no YAML, or not as this project writes it; one line with the place."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class _Loader(yaml.SafeLoader):
    """The safe loader with stricter mappings."""


class _QuickLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The same in C, where PyYAML was built with it: a tenth of the time, but it refuses some texts that are YAML."""


def _named_mapping(loader: Any, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    seen: set[str] = set()
    for key_node, _ in node.value:
        if key_node.tag == "tag:yaml.org,2002:merge":  # <<: *shared
            continue
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            raise _mistake(f"the key {key!r} is not text: write it in quotes", key_node)
        if key in seen:
            raise _mistake(f"the key {key!r} is given twice", key_node)
        seen.add(key)
    mapping: dict[Any, Any] = yaml.constructor.SafeConstructor.construct_mapping(loader, node, deep=deep)
    return mapping


def _mistake(problem: str, node: Any) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


for _each in (_Loader, _QuickLoader):
    _each.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _named_mapping)


def parse(text: str, place: str) -> Any:
    """Content of a YAML text.

    Parameters
    ----------
    text : str
        What to read.
    place : str
        What messages call it, such as its file.

    Raises
    ------
    YamlError
        Naming place and line.
    """
    if len(text) > LONGEST:
        raise YamlError(f"{place}: has {len(text):,} characters, at most {LONGEST:,} are read.")
    try:
        try:
            content = yaml.load(text, Loader=_QuickLoader)
        except (ValueError, yaml.YAMLError):
            content = yaml.load(text, Loader=_Loader)
        json.dumps(content, default=str)  # refuses an alias within what it names
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise YamlError(f"{place}{line}: {error.problem}.") from None
    except (ValueError, RecursionError, yaml.YAMLError) as error:  # the 31st of February
        raise YamlError(f"{place}: cannot be read as YAML: {error}") from None
    return content


def read(path: Path) -> Any:
    """Content of a YAML file.

    Raises
    ------
    YamlError
        If it is missing, cannot be read or is malformed, naming file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise YamlError(f"{path}: no such file.") from None
    except (OSError, ValueError) as error:  # no permission, no text
        raise YamlError(f"{path}: cannot be read as YAML: {error}") from None
    return parse(text, str(path))
