"""Summaries of Python source files: the code that runs, and its imports.

Comments, docstrings, blank lines and code under ``TYPE_CHECKING`` do not count, unless a module reads its own
documentation or source. Every start of a workflow reads hundreds of files. Summaries are therefore stored in the folder
of this module's byte code, under the checksum of a file's content, so that a stored summary is never outdated.
"""

from __future__ import annotations

import ast
import pickle
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, Final

from shuffledp import lazy_api
from shuffledp.lazy_api import is_type_checking, offered
from shuffledp.storage import write_atomically

PACKAGE: Final = Path(__file__).resolve().parents[2]
DATA_CONSTANT: Final = "PACKAGE_DATA"
_LONGEST_FILE_NAME = 255
_MOST_KEPT = 4096
_SEAL = 32  # bytes of a sha256
_READS_ITSELF = {"__doc__", "getsource", "getdoc", "cleandoc"}


@dataclass(frozen=True)
class Imported:
    """Import ``from module import name``, or ``import module`` for an empty name, with its relative ``level``."""

    module: str
    name: str = ""
    level: int = 0


@dataclass(frozen=True)
class Source:
    """Summary of a source file.

    `digest` is the hex sha256 of the syntax tree of the code that runs. `attributes` are dotted names that begin with
    the package, such as ``shuffledp.accounting.clone_delta``. `offers` has the names of a lazy public package, each
    with (module, name there). `data` is the module's ``PACKAGE_DATA``, and `texts` are constants that may be names of
    files.
    """

    digest: str
    imports: tuple[Imported, ...]
    attributes: tuple[str, ...]
    offers: dict[str, tuple[str, str]]
    data: tuple[str, ...]
    texts: frozenset[str]


# -- one file ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def read_source(content: bytes, file_name: str = "<source>") -> Source:
    """Return the summary of a Python file. Raise ``SyntaxError`` for other content."""
    tree = ast.parse(content, filename=file_name)
    offers = offered(tree)
    _strip(tree)
    if offers:  # what a door offers counts where it is used
        tree.body = [node for node in tree.body if not _assigns(node, "__all__")]
    imports: list[Imported] = []
    attributes: list[str] = []
    texts: set[str] = set()
    words: set[str] = set()
    inner: set[ast.AST] = set()  # shuffledp.accounting within shuffledp.accounting.clone_delta
    for node in ast.walk(tree):
        match node:
            case ast.Name():
                words.add(node.id)
            case ast.Attribute():
                words.add(node.attr)
                inner.add(node.value)
                if node not in inner:
                    attributes += _dotted(node)
            case ast.Constant(value=str(text)) if 0 < len(text) <= _LONGEST_FILE_NAME:
                texts.add(text)
            case ast.Call():
                imports += _named_import(node)
            case ast.Import():
                imports += [Imported(alias.name) for alias in node.names]
            case ast.ImportFrom():
                imports += [Imported(node.module or "", alias.name, node.level) for alias in node.names]
    normal = content if words & _READS_ITSELF else ast.dump(tree).encode()
    return Source(
        sha256(normal).hexdigest(),
        tuple(dict.fromkeys(imports)),
        tuple(dict.fromkeys(attributes)),
        offers,
        _package_data(tree),
        frozenset(texts),
    )


def _strip(node: ast.AST) -> None:
    """Remove docstrings, and replace ``if TYPE_CHECKING`` by the branch that runs."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        del node.body[: bool(node.body) and _is_text(node.body[0])]
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        statements = getattr(node, field, None)
        if isinstance(statements, list):
            statements[:] = _running(statements)
            for statement in statements:
                _strip(statement)


def _running(nodes: list[Any]) -> list[Any]:
    return [
        part
        for node in nodes
        for part in (_running(node.orelse) if isinstance(node, ast.If) and is_type_checking(node) else [node])
    ]


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _assigns(node: ast.AST, name: str) -> bool:
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _dotted(node: ast.Attribute) -> list[str]:
    parts, inner = [node.attr], node.value
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    if not (isinstance(inner, ast.Name) and inner.id == PACKAGE.name):
        return []
    return [".".join([inner.id, *reversed(parts)])]


def _named_import(call: ast.Call) -> list[Imported]:
    """Return the import in a call ``import_module("a.b")`` with a constant text."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if function not in {"import_module", "__import__"} or not call.args:
        return []
    text = call.args[0]
    return [Imported(text.value)] if isinstance(text, ast.Constant) and isinstance(text.value, str) else []


def _package_data(tree: ast.Module) -> tuple[str, ...]:
    for node in tree.body:
        if _assigns(node, DATA_CONSTANT) and isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            return tuple(ast.literal_eval(node.value))
    return ()


# -- what was read before --------------------------------------------------------------------------------------------


class Kept:
    """Summaries of sources, stored with a checksum for the next start of a workflow; a read-only folder is no error."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._asked: dict[str, Source] = {}

    @cached_property
    def _known(self) -> dict[str, Source]:
        return _entries(self._path)

    def read(self, content: bytes, file_name: str = "<source>") -> Source:
        """Return the summary of a Python file; see `read_source`."""
        key = sha256(content).hexdigest()
        if key not in self._asked:
            self._asked[key] = self._known.get(key) or read_source(content, file_name)
        return self._asked[key]

    def save(self) -> None:
        """Save the summaries if at least one summary is new."""
        if self._asked.keys() <= self._known.keys() or sys.dont_write_bytecode:
            return
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        self._known.update(self._asked)
        entries = pickle.dumps(self._known)
        with suppress(OSError):  # a folder that cannot be written to
            self._path.parent.mkdir(exist_ok=True)
            write_atomically(self._path, _seal(entries) + entries)


def beside_byte_code() -> Path:
    """Return the default path of `Kept`, beside the byte code."""
    return Path(cache_from_source(__file__)).with_suffix(".pickle")


@cache
def _made_by() -> str:
    """Return a key for the summarizing code and for the Python version of its syntax trees."""
    return f"{sha256(Path(__file__).read_bytes() + Path(lazy_api.__file__).read_bytes()).hexdigest()} {sys.version}"


def _seal(entries: bytes) -> bytes:
    return sha256(_made_by().encode() + entries).digest()


def _entries(path: Path) -> dict[str, Source]:
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    seal, entries = content[:_SEAL], content[_SEAL:]
    return dict(pickle.loads(entries)) if seal == _seal(entries) else {}
