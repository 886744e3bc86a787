"""Public API of a package, with names imported at their first use.

A package writes each public name once, as ``from x import name as name`` under ``TYPE_CHECKING``. Type checkers and
editors read this re-export, and ``__all__`` is computed from it. Python does not run these imports, so that a job which
needs one module of a package does not load the others.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any


def is_type_checking(node: ast.AST) -> bool:
    """Return True for a node ``if TYPE_CHECKING:``, whose body Python does not run."""
    if not isinstance(node, ast.If):
        return False
    test = node.test
    return "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


def offered(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """Return the names that a module imports under ``TYPE_CHECKING``, with the module and name of each definition."""
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
    """Return the names that a file imports under ``TYPE_CHECKING``, with the module and name of each definition."""
    return offered(ast.parse(Path(file).read_text(encoding="utf-8")))


def homes(package: str) -> dict[str, tuple[str, str]]:
    """Return, for each name of a public API, its module and its name in this module, without an import."""
    return dict(offered_by(str(import_module(package).__file__)))


def behind(package: str, name: str) -> Any:
    """Return the object of a public name; import only its module and the modules that this one needs.

    Raises KeyError for an unknown name, MissingExtra if that module needs an optional package that is not installed.
    """
    from shuffledp.optional_dependencies import needed

    home, original = homes(package)[name]
    with needed():
        return getattr(import_module(home), original)


def door(
    package: str, around: Callable[[Any], Any] | None = None, moved_to: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package that imports names at their first use.

    The public names are the package's imports in a block ``if TYPE_CHECKING:``; ``__all__`` is their sorted list. No
    name may be the name of a module of the package, because an imported module would replace it. `around` is a
    decorator of the public functions. `moved_to` names packages with former names of this package, see
    :func:`moved_name`. ``__getattr__`` raises AttributeError for any other name.
    """

    def names() -> list[str]:
        return sorted(homes(package))

    def get(name: str) -> Any:
        if name == "__all__":
            return names()
        if name not in homes(package):
            return moved_name(package, name, moved_to)
        if homes(package)[name][0] == package:  # a package inside
            return import_module(f"{package}.{name}")
        value = behind(package, name)
        if around is not None and isinstance(value, FunctionType):
            value = around(value)
        setattr(sys.modules[package], name, value)  # next access needs no import
        return value

    return get, names


def topic(package: str, public: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package for the names of `public` that the package defines."""

    def names() -> list[str]:
        return sorted(name for name, (home, _) in homes(public).items() if home.startswith(f"{package}."))

    def get(name: str) -> Any:
        if name.startswith("_") or name not in names():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(public), name)

    return get, names


def moved_name(package: str, name: str, places: tuple[str, ...]) -> Any:
    """Return the object of a name that `package` had before one of `places`, with a DeprecationWarning.

    Raises AttributeError if no place has this name. To be removed with version 1.0.
    """
    for place in places if not name.startswith("_") else ():
        module = import_module(place)
        if name in dir(module):
            text = f"Import {name} from {place}; {package}.{name} ends with version 1.0."
            warnings.warn(text, DeprecationWarning, stacklevel=3)
            return getattr(module, name)
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
