"""YAML of this project: keys are texts (`no` is not False), and a repeated key is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

#: Largest number of characters of a file.
LONGEST = 1_000_000


class YamlError(ValueError):
    """Error of a text that is not YAML or not of this project's form, in one line with the place."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class _Loader(yaml.SafeLoader):
    """Safe loader that accepts only text keys without repetition."""


class _QuickLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Safe loader in C, ten times faster, if PyYAML was built with it; it rejects some valid YAML."""


def _named_mapping(loader: Any, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    keys: set[str] = set()
    for key_node, _ in node.value:
        if key_node.tag == "tag:yaml.org,2002:merge":  # <<: *shared
            continue
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            raise _mistake(f"the key {key!r} is not text: write it in quotes", key_node)
        if key in keys:
            raise _mistake(f"the key {key!r} is given twice", key_node)
        keys.add(key)
    mapping: dict[Any, Any] = yaml.constructor.SafeConstructor.construct_mapping(loader, node, deep=deep)
    return mapping


def _mistake(problem: str, node: Any) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


for _each in (_Loader, _QuickLoader):
    _each.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _named_mapping)


def _load(text: str, kind: type[Any]) -> Any:
    """Return the content of a YAML text by a loader of this kind; aliases are counted before they are expanded."""
    loader = kind(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None
        if _expanded_length(root, {}) > LONGEST:
            raise _mistake(f"its aliases expand it to more than {LONGEST:,} characters", root)
        return loader.construct_document(root)
    finally:
        loader.dispose()


def _expanded_length(node: yaml.Node, lengths: dict[int, int | None]) -> int:
    """Return the number of characters of a node with all aliases expanded; refuse an alias within what it names."""
    if id(node) in lengths:
        length = lengths[id(node)]
        if length is None:
            raise _mistake("an alias stands within what it names", node)
        return length
    lengths[id(node)] = None
    if isinstance(node, yaml.ScalarNode):
        length = len(node.value) + 1
    else:
        parts = (
            [part for pair in node.value for part in pair]
            if isinstance(node, yaml.MappingNode)
            else node.value
        )
        length = 1 + sum(_expanded_length(part, lengths) for part in parts)
    lengths[id(node)] = length
    return length


#: Errors of the loaders: for a date such as February 31, a text without the form of its tag, or a text that is no YAML.
_FAILURES = (ValueError, LookupError, AttributeError, yaml.YAMLError)


def parse(text: str, place: str) -> Any:
    """Return the content of a YAML text. `YamlError` has the name `place` and the line of an error."""
    if len(text) > LONGEST:
        raise YamlError(f"{place}: has {len(text):,} characters, at most {LONGEST:,} are read.")
    try:
        try:
            content = _load(text, _QuickLoader)
        except _FAILURES:
            content = _load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise YamlError(f"{place}{line}: {error.problem}.") from None
    except (RecursionError, *_FAILURES) as error:
        raise YamlError(f"{place}: cannot be read as YAML: {error}") from None
    return content


def read(path: Path) -> Any:
    """Return the content of a YAML file. Raise `YamlError`, with file and line, if it is missing or malformed."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise YamlError(f"{path}: no such file.") from None
    except (OSError, ValueError) as error:  # no permission, no text
        raise YamlError(f"{path}: cannot be read as YAML: {error}") from None
    return parse(text, str(path))
