"""Digests of code: the parameter ``code`` of a job, because Snakemake reruns a job only if its own script changes.

A key is the digest of whole packages, without comments, docstrings and layout of Python code. A job computes its keys
again from the files that it has imported. If they are not the planned ones, it publishes nothing.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from shuffledp.storage import write_atomically

PACKAGE = Path(__file__).resolve().parents[1]
#: File with the digest of each syntax tree by the sha256 of its file: to parse all code takes three seconds.
STORE = Path(".snakemake/shuffledp.code.json")
_SHARED = (
    *(
        f"{name}.py"
        for name in ("__init__", "guarantees", "lazy_api", "optional_dependencies", "outputs", "storage")
    ),
    "tasks.py",
    "identities.py",
    "identities.toml",
    *(f"pipeline/{name}.py" for name in ("__init__", "code_keys", "jobs", "table_files", "yaml_files")),
)
_LIBRARY = (
    *_SHARED,
    "accountant",
    "accounting",
    "designs",
    "numerics",
    "populations",
    "protocols",
    "sampling",
    "userdata",
    "pipeline/datasets",
    "pipeline/experiments",
    "pipeline/provenance.py",
)
_DRAWING = (
    *(*_SHARED, "pipeline/figures", "pipeline/manifest.py", "pipeline/provenance.py"),
    "pipeline/formatters.py",
    "pipeline/query.py",
    "pipeline/experiments/bundle.py",
    "pipeline/experiments/results.py",
    "numerics/rounding.py",
    "numerics/statements.py",
)
_CLAIMS = (
    *_LIBRARY,
    *(
        f"pipeline/{name}"
        for name in ("claims", "papers", "config", "learning", "manifest.py", "formatters.py", "query.py")
    ),
)
#: Folders and files of the package by the name of a key.
PARTS: Mapping[str, tuple[str, ...]] = {
    "data": (*_SHARED, "pipeline/datasets"),
    "results": _LIBRARY,
    "comparison": ("comparison",),  # of experiments with functions of this package
    # A change of other code does not train again, which may take hours.
    "training": ("pipeline/learning", "pipeline/datasets"),
    "audit": (*_LIBRARY, "pipeline/audit"),
    "claims": _CLAIMS,
    "figures": _DRAWING,
    "overall": (*_CLAIMS, *_DRAWING),
    "site": (
        *_SHARED,
        "pipeline/site",
        "pipeline/manifest.py",
        "numerics/rounding.py",
        "numerics/statements.py",
    ),
}


class ChangedCodeError(RuntimeError):
    """Error for a job whose code is not the code that the run was planned with."""


class CodeKeys:
    """Keys of the package's parts by name, and of protocols outside the library; the files of a name are read once.

    The name of a user's class is its file, relative to the project's folder, and the name of a protocol of an installed
    package is ``<task>.<name>``.

    Parameters
    ----------
    root : Path
        Folder of the project, in which users' files also find their modules.
    store : Path
        File with known digests, which `save` writes.
    """

    def __init__(self, root: Path, store: Path = STORE) -> None:
        self._root, self._store = root, store
        self._known: dict[str, str] = json.loads(store.read_text()) if store.is_file() else {}
        self._keys: dict[str, str] = {}

    def keys(self, *names: str) -> dict[str, str]:
        """Return the digest of each name in `PARTS`, of a user's file, or of an installed protocol."""
        for name in {*names} - {*self._keys}:
            self._keys[name] = self._digest(_files_of(name, self._root))
        return {name: self._keys[name] for name in names}

    def save(self) -> None:
        """Write the known digests, for the jobs and the next run."""
        write_atomically(self._store, json.dumps(self._known).encode())

    def _digest(self, files: Iterable[tuple[str, Path]]) -> str:
        lines = sorted(f"{name} {self._content(file)}" for name, file in files)
        return sha256("\n".join(lines).encode()).hexdigest()

    def _content(self, file: Path) -> str:
        content = file.read_bytes()
        digest = sha256(content).hexdigest()
        if file.suffix != ".py":
            return digest
        if digest not in self._known:
            self._known[digest] = tree_digest(content)
        return self._known[digest]


class PlannedCode:
    """Keys that a run was planned with; `check` compares them with the files of now.

    Parameters
    ----------
    planned : Mapping[str, str]
        Keys by name or path.
    root : Path
        Folder of the project.
    """

    def __init__(self, planned: Mapping[str, str], root: Path) -> None:
        self._planned, self._root = planned, root.absolute()
        self._store = STORE.absolute()
        self._files = [file for key in planned for _, file in _files_of(key, self._root)]
        self._compared: list[tuple[int, int, int, int]] = []

    def check(self) -> None:
        """Raise `ChangedCodeError` if a key is not the planned one; files are read only if their state has changed."""
        states = (file.stat() for file in self._files if file.is_file())
        state = [(about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino) for about in states]
        if state == self._compared:
            return
        current = CodeKeys(self._root, self._store).keys(*self._planned)
        changed = [name for name, digest in self._planned.items() if current[name] != digest]
        if changed:
            raise ChangedCodeError(
                f"code of this job ({', '.join(changed)}) was edited after the run had started, so the job publishes "
                "nothing. Start the run again."
            )
        self._compared = state


def _files_of(name: str, root: Path) -> Iterator[tuple[str, Path]]:
    """Yield each file of a key with its name in the digest."""
    if name in PARTS:
        yield from ((part, PACKAGE / part) for part in _part_files(name))
        return
    files = _user_files(root / name, root) if name.endswith(".py") else _package_files(name)
    yield from ((str(number), file) for number, file in enumerate(files))


def _package_files(name: str) -> Sequence[Path]:
    from shuffledp.protocols.registry import source_files  # other jobs do not import protocols

    kind, _, protocol = name.partition(".")
    return source_files(kind, protocol)


def _part_files(name: str) -> list[str]:
    paths = [PACKAGE / part for part in PARTS[name]]
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
    source_files = (file for file in files if file.suffix != ".pyc" and file.is_file())
    return sorted({file.relative_to(PACKAGE).as_posix() for file in source_files})


def _user_files(path: Path, root: Path) -> list[Path]:
    """Return a user's file with the files beside it or in `root` that it imports or names, at any depth."""
    files: dict[Path, None] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file in files:
            continue
        files[file] = None
        if file.suffix == ".py":
            tree = ast.parse(file.read_bytes())
            folders = (file.parent, root)
            waiting += (
                folder / name for name in _texts(tree) for folder in folders if (folder / name).is_file()
            )
            waiting += (near for module in _imports(tree) for near in _module_files(module, file, root))
    return list(files)


def _texts(tree: ast.Module) -> set[str]:
    """Return the text constants of a module that may be names of files."""
    texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return {text for text in texts if 0 < len(text) < 200 and "\0" not in text}


def _imports(tree: ast.Module) -> set[str]:
    """Return the imported modules with their packages; relative ones begin with dots."""
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            separator = "." if node.module else ""
            modules |= {base, *(f"{base}{separator}{alias.name}" for alias in node.names)}
    return modules | {module[:end] for module in modules for end, sign in enumerate(module) if sign == "."}


def _module_files(module: str, file: Path, root: Path) -> list[Path]:
    """Return the existing files of a module that `file` imports from its folder or `root`."""
    name = module.lstrip(".")
    if not name:
        return []
    level = len(module) - len(name)
    folders = [file.absolute().parents[level - 1]] if level else [file.parent, root]
    paths = [folder.joinpath(*name.split(".")) for folder in folders]
    both = (near for path in paths for near in (path.with_name(f"{path.name}.py"), path / "__init__.py"))
    return [near for near in both if near.is_file()]


@cache
def tree_digest(content: bytes) -> str:
    """Return the digest of the syntax tree of Python code without docstrings."""
    tree = ast.parse(content)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            del node.body[: ast.get_docstring(node, clean=False) is not None]
    return sha256(ast.dump(tree).encode()).hexdigest()
