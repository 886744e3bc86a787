"""Registry of protocols: built-ins, protocols of installed packages, and plug-ins by ``path/to/file.py:Class``.

A built-in is ``protocols/<task>/<name>.py`` and defines exactly one protocol of that name. An installed package names
its protocols by entry points ``<task>.<name>`` of the group ``shuffledp.protocols``. So the list of protocols needs no
import, and a workflow can be checked without loading them.
"""

import ast
import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from hashlib import sha256
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, get_args
from weakref import WeakSet

from shuffledp.guarantees import GUARANTEES, Standing
from shuffledp.identities import Identity, bibtex_entries, identity_of, names_of
from shuffledp.protocols.base import ProtocolBase, Trust
from shuffledp.tasks import TASK_KINDS

HERE = Path(__file__).resolve().parent
#: Group of the entry points of installed packages; the name of an entry is ``<task>.<name>``.
GROUP = "shuffledp.protocols"


class UnknownProtocol(ValueError):  # noqa: N818  # a public name
    """Error for an unknown protocol; its message has the known names and the form of a plug-in's name."""


def available(task_kind: str) -> tuple[str, ...]:
    """Return the names of the protocols of a task, built-in or of installed packages, sorted.

    Raises
    ------
    ValueError
        If the task kind is unknown.
    UnknownProtocol
        If an installed package gives its protocol a name that is taken or is no name.
    """
    if task_kind not in TASK_KINDS:
        raise ValueError(f"No task kind named {task_kind!r}. Known: {', '.join(TASK_KINDS)}.")
    return tuple(sorted((*_in_folder(task_kind), *_installed()[task_kind])))


def built_ins(task_kind: str) -> tuple[str, ...]:
    """Return the names of the protocols of a task that are part of this library, sorted."""
    names, entries = available(task_kind), _installed()[task_kind]
    return tuple(name for name in names if name not in entries or _is_own(entries[name]))


@cache
def _in_folder(task_kind: str) -> tuple[str, ...]:
    return tuple(sorted(p.stem for p in (HERE / task_kind).glob("[a-z]*.py")))


@cache
def _installed() -> Mapping[str, Mapping[str, EntryPoint]]:
    """Return the entry points of installed packages by task and name. Raise `UnknownProtocol` for a wrong name."""
    entries: dict[str, dict[str, EntryPoint]] = {kind: {} for kind in TASK_KINDS}
    for entry in entry_points(group=GROUP):
        kind, _, name = entry.name.partition(".")
        offer = f"The installed protocol {entry.value} has the name {entry.name!r}"
        if kind not in TASK_KINDS or not name.isidentifier():
            raise UnknownProtocol(
                f"{offer}. Expected <task>.<name>: one of {', '.join(TASK_KINDS)}, and letters, digits, underscores."
            )
        if name in _in_folder(kind):
            raise UnknownProtocol(f"{offer}, which is the name of a built-in protocol.")
        if name in entries[kind]:
            raise UnknownProtocol(f"{offer}, which is also the name of {entries[kind][name].value}.")
        entries[kind][name] = entry
    return entries


def _is_own(entry: EntryPoint) -> bool:
    """Return whether an entry point belongs to this library."""
    return entry.module.startswith("shuffledp.")


def name_of(task_kind: str, text: str) -> str:
    """Return the name of the protocol that has this name, label or other name (`identities`), else the text itself.

    Case does not matter, nor whether words are joined by blanks, hyphens or underscores.
    """
    names = available(task_kind)
    return next((name for name in names if _joined(text) in map(_joined, names_of(task_kind, name))), text)


def class_identity(protocol: type[ProtocolBase]) -> Identity | None:
    """Return the identity of a protocol's class; None for a class outside the library."""
    inside = protocol.__module__.startswith("shuffledp.")
    return identity_of(protocol.task_kind, protocol.name) if inside else None


def bibtex_of(text: str) -> str:
    """Return the BibTeX entries of the sources of the protocols with a name, or a comment if there is none.

    Raises
    ------
    UnknownProtocol
        If no protocol of any task has this name.
    """
    names = {kind: name_of(kind, text) for kind in TASK_KINDS}
    built_in_names = {kind: name for kind, name in names.items() if name in built_ins(kind)}
    if not built_in_names:
        hint = next(filter(None, (_hint(kind, text) for kind in TASK_KINDS)), "")
        raise UnknownProtocol(
            f"No protocol of the library is named {text!r}.{hint} `shuffledp protocols` lists all."
        )
    identities = [
        identity for kind, name in built_in_names.items() if (identity := identity_of(kind, name)) is not None
    ]
    keys = dict.fromkeys(identity.cite for identity in identities if identity.cite)
    if not keys:
        return f"% {identities[0].label}: derived in this project; cite shuffledp.\n"
    return "\n\n".join(entry for key, entry in bibtex_entries().items() if key in keys) + "\n"


def label_of(protocol: type[ProtocolBase]) -> str:
    """Return the label of a protocol's identity, or the label of a class outside the library."""
    identity = class_identity(protocol)
    return protocol.label if identity is None else identity.label


def _joined(text: str) -> str:
    return re.sub(r"[-\s]+", "_", text.strip().casefold())


def is_plugin(name: str) -> bool:
    """Return whether the name has the form ``path/to/file.py:Class``."""
    return ".py:" in name


def module_path(task_kind: str, name: str, *, root: Path | None = None) -> Path:
    """Return the file that defines a protocol, without importing it.

    Parameters
    ----------
    task_kind, name : str
        Arguments of `get`.
    root : Path, optional
        Folder that a plug-in's relative path starts from; the working directory by default.

    Raises
    ------
    UnknownProtocol
        If the file or the class in it does not exist.
    """
    names = available(task_kind)
    if not is_plugin(name):
        if name in _in_folder(task_kind):
            return HERE / task_kind / f"{name}.py"
        if name in names:
            return _installed_file(_installed()[task_kind][name])
        raise UnknownProtocol(
            f"No {task_kind} protocol named {name!r}.{_hint(task_kind, name)} `shuffledp protocols` lists all "
            f"{len(names)}. A protocol of your own is named by its file and class, as in 'my_baselines/mine.py:Mine'."
        )
    file, _, class_name = name.rpartition(":")
    path = (root or Path()) / file
    if not path.is_file():
        hint = " Separate folders by '/', on every system." if "\\" in file else ""
        raise UnknownProtocol(f"Protocol {name!r}: there is no file {path}.{hint}")
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    except SyntaxError as error:
        raise UnknownProtocol(f"Protocol {name!r}: {path}, line {error.lineno}: {error.msg}.") from error
    except ValueError as error:  # not UTF-8, or null bytes
        raise UnknownProtocol(f"Protocol {name!r}: {path} is not a Python file: {error}.") from error
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    if class_name not in classes:
        raise UnknownProtocol(
            f"Protocol {name!r}: {path} defines no class {class_name!r}. It defines: {', '.join(classes) or 'none'}."
        )
    return path


def _hint(task_kind: str, text: str) -> str:
    """Return a sentence on the protocols with nearly this name, or on the option that gives a protocol this name."""
    names, searched = available(task_kind), _joined(text)
    for name in names:
        identity = identity_of(task_kind, name)
        for variant, option in identity.variants.items() if identity is not None else ():
            if _joined(variant) == searched:
                return f" It is {name} with `{option}`, an option of methods in experiments."
    begin = [name for name in names if name.startswith(searched)]
    hold = [name for name in names if searched in name]
    owners = {_joined(each): name for name in reversed(names) for each in names_of(task_kind, name)}
    close = begin or hold or [owners[each] for each in get_close_matches(searched, owners, n=3)]
    listed = " or ".join(map(repr, dict.fromkeys(close[:3])))
    return f" Did you mean {listed}?" if searched and listed else ""


def _installed_file(entry: EntryPoint) -> Path:
    """Return the file with the module of an entry point, without importing its packages."""
    first, *inner = entry.module.split(".")
    spec = importlib.util.find_spec(first)
    for name in inner:
        spec = spec and PathFinder.find_spec(name, spec.submodule_search_locations)
    if spec is None or spec.origin is None:
        raise UnknownProtocol(f"Protocol {entry.name!r}: there is no module {entry.module}.")
    return Path(spec.origin)


def source_files(task_kind: str, name: str, *, root: Path | None = None) -> tuple[Path, ...]:
    """Return the files on which the results of a protocol depend besides this library, sorted.

    These are the file of a plug-in, or all files of the package of an installed protocol. Arguments and errors are
    those of `module_path`.
    """
    name = name if is_plugin(name) else name_of(task_kind, name)
    path = module_path(task_kind, name, root=root)
    if is_plugin(name):
        return (path,)
    entry = _installed()[task_kind].get(name)
    if entry is None or _is_own(entry):
        return ()
    depth = entry.module.count(".") + (path.name == "__init__.py")
    if not depth:
        return (path,)
    files = (file for file in path.parents[depth - 1].rglob("*") if file.is_file())
    return tuple(sorted(file for file in files if "__pycache__" not in file.parts))


def get(task_kind: str, name: str, *, root: Path | None = None) -> type[ProtocolBase]:
    """Return the protocol class of a name.

    Parameters
    ----------
    task_kind : {"frequency", "summation", "sets", "vectors"}
        Task of the protocol.
    name : str
        Name, label or other name of a built-in, name of a protocol of an installed package, or
        ``path/to/file.py:Class``.
    root : Path, optional
        Folder that a plug-in's relative path starts from; the working directory by default.

    Raises
    ------
    UnknownProtocol
        If there is no such protocol, it cannot be imported, or the class does not implement the interface.
    """
    name = name if is_plugin(name) else name_of(task_kind, name)
    path = module_path(task_kind, name, root=root)
    if is_plugin(name):
        protocol_class = getattr(_load_file(path), name.rpartition(":")[2])
    elif name in _installed()[task_kind]:
        entry = _installed()[task_kind][name]
        with _importing(entry.value):
            protocol_class = entry.load()
    else:
        protocol_class = _only_protocol(
            importlib.import_module(f"shuffledp.protocols.{task_kind}.{name}"), name
        )
    return _checked(protocol_class, task_kind, name)


def plugin(name: str, *, root: Path | None = None) -> type[ProtocolBase]:
    """Return the protocol class of ``path/to/file.py:Class``, for any task. Raise `UnknownProtocol` without one."""
    if not is_plugin(name):
        raise UnknownProtocol(f"{name!r} names no class in a file: write it as 'mine/x.py:X'.")
    protocol_class = getattr(_load_file(module_path(TASK_KINDS[0], name, root=root)), name.rpartition(":")[2])
    return _checked(protocol_class, str(getattr(protocol_class, "task_kind", "")), name)


def _module_name(path: Path) -> str:
    resolved = path.resolve()
    digest = sha256(str(resolved).encode() + b"\0" + resolved.read_bytes()).hexdigest()[:12]
    return f"shuffledp_plugin_{re.sub(r'[^0-9A-Za-z]', '_', resolved.stem)}_{digest}"


def _load_file(path: Path) -> ModuleType:
    """Import a file once per content; an edited file is imported again."""
    resolved = path.resolve()
    module_name = _module_name(path)
    if module_name in sys.modules:
        return sys.modules[module_name]
    spec = importlib.util.spec_from_file_location(module_name, resolved)
    if spec is None or spec.loader is None:
        raise UnknownProtocol(f"{path} cannot be imported as a Python module.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses look their own module up here
    try:
        with _importing(str(path)):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]  # or the next call would find half a module
        raise
    return module


@contextmanager
def _importing(what: str) -> Iterator[None]:
    """Turn an error of foreign code into `UnknownProtocol`, with the error as its cause."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a file may call sys.exit(), too
        step = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(step.filename).name}, line {step.lineno}"
        text = f"{what} cannot be imported: {type(error).__name__}: {error} ({place})"
        raise UnknownProtocol(text) from error


def _only_protocol(module: ModuleType, name: str) -> Any:
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, ProtocolBase) and value.__module__ == module.__name__
    ]
    matching = [value for value in classes if getattr(value, "name", None) == name]
    if len(matching) != 1:
        raise UnknownProtocol(f"{module.__name__} must define one protocol with name = {name!r}.")
    return matching[0]


#: Classes that are already checked: a configuration may name the same class a thousand times.
_FOLLOWING: WeakSet[type] = WeakSet()


def _checked(protocol_class: Any, task_kind: str, name: str) -> type[ProtocolBase]:
    if not (isinstance(protocol_class, type) and issubclass(protocol_class, ProtocolBase)):
        raise UnknownProtocol(
            f"Protocol {name!r}: {protocol_class!r} is not a subclass of shuffledp.protocols.ProtocolBase."
        )
    if protocol_class not in _FOLLOWING:
        faults = interface_faults(protocol_class)
        if faults:
            raise UnknownProtocol(f"Protocol {name!r} {'; it '.join(faults)}.")
        _FOLLOWING.add(protocol_class)
    if not is_plugin(name) and protocol_class.name != name:
        raise UnknownProtocol(f"Protocol {name!r} sets name to {protocol_class.name!r}, expected {name!r}.")
    if protocol_class.task_kind != task_kind:
        raise UnknownProtocol(
            f"Protocol {name!r} solves {protocol_class.task_kind!r}, but the experiment's task is {task_kind!r}."
        )
    return protocol_class


def interface_faults(protocol_class: type[ProtocolBase]) -> list[str]:
    """Return the faults in a class's interface, each a clause that follows the class's name."""
    faults = []
    missing = sorted(getattr(protocol_class, "__abstractmethods__", ()))
    if not protocol_class.has_calibration():
        missing.append("fit")
    if missing:
        faults.append(f"lacks {', '.join(missing)}")
    unset = [a for a in ("name", "task_kind", "label", "source", "trust") if not hasattr(protocol_class, a)]
    if unset:
        return [*faults, f"does not set {', '.join(unset)}"]
    for attribute in ("name", "label", "source", "reduction"):
        value = getattr(protocol_class, attribute)
        if not (isinstance(value, str) and value.strip()):
            faults.append(f"sets {attribute} to {value!r}, expected a text")
    for attribute, allowed_values in (
        ("task_kind", TASK_KINDS),
        ("trust", get_args(Trust)),
        ("streamable", (True, False)),
        ("biased", (True, False)),
        ("joint_law", (True, False)),
        ("multi_level", (True, False)),
    ):
        if isinstance(getattr(protocol_class, attribute), property):
            continue  # each calibrated protocol says it for itself
        if getattr(protocol_class, attribute) not in allowed_values:
            allowed = ", ".join(map(str, allowed_values))
            faults.append(
                f"sets {attribute} to {getattr(protocol_class, attribute)!r}, expected one of {allowed}"
            )
    for attribute in ("accountings", "neighbours"):
        value = getattr(protocol_class, attribute)
        # ("printed") is a text: without this check every letter of it would be an accounting.
        if not (isinstance(value, tuple) and value and all(isinstance(v, str) for v in value)):
            faults.append(f"sets {attribute} to {value!r}, expected a tuple of texts such as ('printed',)")
    faults += _guarantee_faults(protocol_class)
    known_fields = {f.name for f in fields(protocol_class)}
    for base in protocol_class.__mro__:
        # Annotations are texts or types, depending on `from __future__ import annotations`.
        declared = [
            a for a, kind in vars(base).get("__annotations__", {}).items() if "ClassVar" not in str(kind)
        ]
        forgotten = [a for a in declared if issubclass(base, ProtocolBase) and a not in known_fields]
        if forgotten:
            faults.append(
                f"declares {', '.join(forgotten)} but {base.__name__} lacks @dataclass(frozen=True)"
            )
    return faults


def _guarantee_faults(protocol_class: type[ProtocolBase]) -> list[str]:
    """Return the faults in a class's labels, which are one label for all accountings or one per accounting."""
    faults = []
    label, table = inspect.getattr_static(protocol_class, "guarantee"), protocol_class.guarantees
    if isinstance(label, str) and label not in GUARANTEES:
        faults.append(f"sets guarantee to {label!r}, expected one of {', '.join(GUARANTEES)}")
    elif not isinstance(label, str | property):
        faults.append(f"sets guarantee to {label!r}, expected a text or a property")
    if not (isinstance(table, Mapping) and all(isinstance(v, Standing) for v in table.values())):
        return [*faults, f"sets guarantees to {table!r}, expected a Standing per accounting"]
    if table and set(table) != set(protocol_class.accountings):
        faults.append(
            f"states guarantees for {', '.join(table)}, but its accountings are {', '.join(protocol_class.accountings)}"
        )
    return faults
