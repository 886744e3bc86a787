"""YAML as this project writes it: a key given twice is a mistake, and keys are text.

Plain YAML lets the last of two equal keys win, and reads `no:` as False. Aliases may stand for what they name, but
neither for themselves nor for so much that a small file becomes a large one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


class YamlError(ValueError):
    """A text that is no YAML, or not as this project writes it; one line with the place."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


MOST_DEPTH, MOST_PARTS = 60, 200_000
"""How deep lists and mappings may be nested, and how many parts a file has at most, aliases counted each time."""


class _Loader(yaml.SafeLoader):
    """The safe loader with stricter mappings and aliases."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0
        self._parts = 0
        self._open: set[str] = set()
        self._sizes: dict[str, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """One part of the text, counted before there is anything that would have to be walked through."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        name: str | None = event.anchor
        if isinstance(event, yaml.AliasEvent):
            if name in self._open:
                raise _mistake(f"the alias *{name} is within what it stands for", event)
            self._count(self._sizes.get(str(name), 0), event)
            return super().compose_node(parent, index)
        self._count(1, event)
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise _mistake(f"nested more than {MOST_DEPTH} deep", event)
        before = self._parts
        if name is not None:
            self._open.add(name)
        node = super().compose_node(parent, index)
        if name is not None:
            self._open.discard(name)
            self._sizes[name] = self._parts - before + 1
        self._depth -= 1
        return node

    def _count(self, parts: int, event: yaml.Event) -> None:
        self._parts += parts
        if self._parts > MOST_PARTS:
            raise _mistake(f"more than {MOST_PARTS:,} values, those behind aliases counted each time", event)


class _QuickLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The same in C, where PyYAML was built with it: a tenth of the time, other words for mistakes, and no limits."""


def _within_limits(text: str) -> bool:
    """Whether `_Loader` would find the text neither too deep nor too large, nor an alias within what it stands for.

    To be asked before `_QuickLoader` reads it, which would build what grows, and of deep nesting breaks down.
    """
    parts, inside, sizes = 0, list[tuple[str | None, int]](), dict[str, int]()
    for event in yaml.parse(text, Loader=_QuickLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            name, before = inside.pop()
            if name is not None:
                sizes[name] = parts - before
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:  # nowhere, or not yet at its end
                return False
            parts += sizes[event.anchor]
        elif isinstance(event, yaml.CollectionStartEvent):
            inside.append((event.anchor, parts))
            parts += 1
        elif isinstance(event, yaml.ScalarEvent):
            parts += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
            if len(inside) == MOST_DEPTH:
                return False
        if len(inside) > MOST_DEPTH or parts > MOST_PARTS:
            return False
    return True


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
    try:
        if _within_limits(text):
            return yaml.load(text, Loader=_QuickLoader)
    except (ValueError, yaml.YAMLError):
        pass  # read once more, for the message, which is then the same on every machine
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise YamlError(f"{place}{line}: {error.problem}.") from None
    except (ValueError, yaml.YAMLError) as error:  # the 31st of February
        raise YamlError(f"{place}: cannot be read as YAML: {error}") from None


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
