"""Digests of the code that a job reaches, found by reading sources.

A workflow reruns a job when its script changes, but not when a module that the script imports does. The digest of all
reached code is therefore a parameter of the job: an edit reruns the jobs that depend on the edited code, and no others.

Nothing is imported for the digest. Imports are followed from some entries (modules by name, files by path) at any
depth, also inside functions, but not under ``TYPE_CHECKING``. A package counts with its ``__init__``, a name of a lazy
public package (`shuffledp.lazy_api`) with the module that defines it. Code that is chosen while a job runs (a protocol
by its name, a function that the configuration names) must be an entry. Files that a module reads are listed in its
constant ``PACKAGE_DATA``, as texts relative to its folder.

A file outside the package, such as a plug-in, reaches the modules that it imports from its folder or the root. It also
reaches the files in its folder whose names are string constants in it.
`shuffledp.pipeline.rerun_digests.source_summaries` defines the counted parts of a file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from shuffledp.pipeline.rerun_digests.source_summaries import PACKAGE, Imported, Kept, Source, read_source

Entry = str | Path
"""A module by its dotted name, or a file."""
Found = tuple[frozenset[Path], frozenset[str]]
"""Files, and names of lazy packages with their definitions."""


@dataclass(frozen=True)
class Reach:
    """Modules and other files that some entries reach, and a digest that does not depend on the project's folder."""

    modules: frozenset[str]
    files: frozenset[Path]
    digest: str


@cache
def _resolved(path: Path) -> Path:
    return path.resolve()


class Code:
    """Reader of imports from file to file; names of files outside the package are relative to `root`."""

    def __init__(
        self,
        root: Path,
        *,
        package: Path = PACKAGE,
        read: Callable[[Path], bytes] = Path.read_bytes,
        kept: Kept | None = None,
    ) -> None:
        self._root = root.resolve()
        self._package = package.resolve()
        self._read = read
        self._kept = kept
        # Every question is asked once; a method that is cached for all objects would keep these alive.
        self._reached = cache(self._reach)
        self._module_file = cache(self._found_module)
        self._source = cache(self._read_source)
        self._own_name = cache(self._module_name)
        self._named = cache(self._name_and_line)
        self._step = cache(self._looked_up)
        self._imported = cache(self._looked_for)

    def reach(self, *entries: Entry) -> Reach:
        """Return the modules and files that entries reach: dotted modules of the package, and files."""
        return self._reached(*entries)

    def _reach(self, *entries: Entry) -> Reach:
        waiting: list[Path] = []
        edges: set[str] = set()
        for entry in entries:
            if isinstance(entry, Path):
                if not entry.is_file():
                    raise ValueError(f"There is no file {entry}.")
                waiting.append(entry.resolve())
                continue
            found, links = self._imported(entry)
            if not found or self._module_file(entry) is None:
                raise ValueError(f"There is no module {entry!r} in {self._package}.")
            waiting += found
            edges |= links
        seen: set[Path] = set()
        while waiting:
            file = waiting.pop()
            if file in seen:
                continue
            seen.add(file)
            step = self._step(file)
            waiting += step[0]
            edges |= step[1]
        named = {file: self._named(file) for file in seen}
        lines = sorted([*(line for _, line in named.values()), *edges])
        if self._kept is not None:
            self._kept.save()
        return Reach(
            frozenset(module for module, _ in named.values() if module),
            frozenset(file for file, (module, _) in named.items() if not module),
            sha256("\n".join(lines).encode()).hexdigest(),
        )

    def digest(self, *entries: Entry) -> str:
        """Return the digest of the code that these entries reach, see `reach`."""
        return self.reach(*entries).digest

    # -- names and contents --

    def _found_module(self, name: str) -> Path | None:
        first, *rest = name.split(".")
        if first != self._package.name:
            return None
        base = "/".join((str(self._package), *rest))
        candidates = [f"{base}/__init__.py", *([f"{base}.py"] if rest else [])]
        return next((path for path in map(Path, candidates) if path.is_file()), None)

    def _module_name(self, file: Path) -> str:
        if file.suffix != ".py" or not file.is_relative_to(self._package):
            return ""
        parts = [self._package.name, *file.relative_to(self._package).with_suffix("").parts]
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _label(self, file: Path) -> str:
        if file.is_relative_to(self._package):
            return f"{self._package.name}/{file.relative_to(self._package).as_posix()}"
        return file.relative_to(self._root).as_posix() if file.is_relative_to(self._root) else file.name

    def _read_source(self, file: Path) -> Source:
        read = read_source if self._kept is None else self._kept.read
        return read(self._read(file), str(file))

    def _name_and_line(self, file: Path) -> tuple[str, str]:
        """Return a file's dotted module name (empty for other files), and its line, name and content, in the digest."""
        content = self._source(file).digest if file.suffix == ".py" else sha256(self._read(file)).hexdigest()
        return self._own_name(file), f"{self._label(file)} {content}"

    # -- one step --

    def _looked_up(self, file: Path) -> Found:
        """Return the files that a file reaches in one step, and the names of lazy packages that it uses."""
        if file.suffix != ".py":
            return frozenset(), frozenset()
        source, own = self._source(file), self._own_name(file)
        files: set[Path] = {file.parent / name for name in source.data}
        edges: set[str] = set()
        for item in source.imports:
            base = self._absolute(item, file, own)
            if base.partition(".")[0] == self._package.name:
                found, links = self._imported(base, item.name)
                files |= found
                edges |= links
            elif not own:
                files |= self._beside(base, item.name, file)
        for dotted in source.attributes:
            found, links = self._attribute(dotted)
            files |= found
            edges |= links
        if not own:
            files |= {file.parent / text for text in source.texts if self._is_file(file.parent, text)}
        return frozenset(_resolved(path) for path in files), frozenset(edges)

    def _absolute(self, item: Imported, file: Path, own: str) -> str:
        if not item.level:
            return item.module
        here = own.split(".")
        above = here[: len(here) - item.level + (file.name == "__init__.py")]
        return ".".join([*above, *([item.module] if item.module else [])])

    def _looked_for(self, module: str, name: str = "") -> Found:
        """Return the files that ``from module import name`` reads: the module, its packages, the defining module."""
        file = self._module_file(module)
        if file is None:
            return frozenset(), frozenset()
        parts = module.split(".")
        files = {f for n in range(1, len(parts) + 1) if (f := self._module_file(".".join(parts[:n])))}
        source = self._source(file)
        if name == "*" or (not name and source.offers):
            wanted = list(source.offers)
        else:
            wanted = [name] if name in source.offers else []
        edges: set[str] = set()
        for one in wanted:
            home, original = source.offers[one]
            edges.add(f"{module}.{one} is {home}.{original}")
            found, links = self._imported(home, original)
            files |= found
            edges |= links
        if name and not wanted and self._module_file(f"{module}.{name}"):
            found, links = self._imported(f"{module}.{name}")
            files |= found
            edges |= links
        return frozenset(files), frozenset(edges)

    def _attribute(self, dotted: str) -> Found:
        """Return the files of a dotted name: of the longest module in the name, and of the attribute that follows."""
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            if self._module_file(".".join(parts[:length])):
                rest = parts[length : length + 1]
                return self._imported(".".join(parts[:length]), rest[0] if rest else "")
        return frozenset(), frozenset()

    def _beside(self, module: str, name: str, file: Path) -> set[Path]:
        """Return the files of a module and its packages, in the folder of an outside file or at the root."""
        for folder in dict.fromkeys((file.parent, self._root)):
            found: set[Path] = set()
            place = folder
            for part in [*module.split("."), name]:
                if not part:
                    continue
                as_module, as_package = place / f"{part}.py", place / part / "__init__.py"
                if as_module.is_file():
                    found.add(as_module)
                    break
                if not (place / part).is_dir():
                    break
                if as_package.is_file():
                    found.add(as_package)
                place = place / part
            if found:
                return found
        return set()

    @staticmethod
    def _is_file(folder: Path, text: str) -> bool:
        try:
            return (folder / text).is_file()
        except (OSError, ValueError):  # no name of a file at all
            return False
