"""The public door of a package: it offers names that are imported when they are first used.

A door says where its names come from once, as ordinary imports under ``TYPE_CHECKING``, which type checkers and editors
read. Python itself does not run them, so that a job which needs one module of a package does not load all of them.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any


def is_type_checking(node: ast.AST) -> bool:
    """Whether a node is ``if TYPE_CHECKING:``, whose body Python does not run."""
    if not isinstance(node, ast.If):
        return False
    test = node.test
    return "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


def offered(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """Names that a module imports under ``TYPE_CHECKING``: defining module and name there."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for block in tree.body
        if isinstance(block, ast.If) and is_type_checking(block)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
    }


@cache
def offered_by(file: str) -> dict[str, tuple[str, str]]:
    """Names that a module's file imports under ``TYPE_CHECKING``: defining module and name there."""
    return offered(ast.parse(Path(file).read_text(encoding="utf-8")))


def homes(package: str) -> dict[str, tuple[str, str]]:
    """What a door offers: for each name the module that defines it and its name there; imports none of them."""
    return dict(offered_by(str(import_module(package).__file__)))


def behind(package: str, name: str) -> Any:
    """What a door offers under a name; imports the module that defines it and what that needs, no more.

    Raises
    ------
    KeyError
        If the door offers no such name.
    MissingExtra
        If that module needs a package that an extra brings.
    """
    from shuffledp.optional_dependencies import needed

    home, original = homes(package)[name]
    with needed():
        return getattr(import_module(home), original)


def door(
    package: str, around: Callable[[Any], Any] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose names are imported when they are first used.

    Parameters
    ----------
    package : str
        Its ``__name__``. Every name of its ``__all__`` that it does not define itself must be imported in a block ``if
        TYPE_CHECKING:``, and none may be the name of a module of the package, because an imported module would take
        its place.
    around : callable, optional
        Given a function that stands behind a name, returns what the door offers under it; by default that itself.

    Returns
    -------
    callable, callable
        To be assigned to ``__getattr__`` and ``__dir__``. The former raises AttributeError for names that are not
        in ``__all__``.
    """
    module = sys.modules[package]

    def get(name: str) -> Any:
        if name not in module.__all__:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = behind(package, name)
        if around is not None and isinstance(value, FunctionType):
            value = around(value)
        setattr(module, name, value)  # not asked for again
        return value

    def names() -> list[str]:
        return sorted({*vars(module), *module.__all__})

    return get, names
