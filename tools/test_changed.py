"""Check the changed files, and run the nearest tests by the graph of imports: ``make test-changed``.

``python tools/test_changed.py BRANCH``. Changed files are those that differ from the branch, and new files. Tests of a
changed module come first, then tests that import it, then tests of modules that import it, up to `MOST` files. The
names of changed protocols, papers and data sets, and of protocols that import a changed module, select cases of
`BY_NAME`.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
SOURCE, TESTS = ROOT / "src", ROOT / "tests"
#: Largest number of test files.
MOST = 12
#: Largest number of protocols that are looked up by name.
MOST_NAMES = 4
#: Tests of rules that any change can break.
GUARDS = tuple(
    f"tests/test_{name}.py" for name in ("completeness", "identities", "source_rules", "documents")
)
#: Tests that have a case per protocol, paper or data set.
BY_NAME = (
    "tests/protocols",
    "tests/golden",
    "tests/pipeline/audit",
    "tests/pipeline/datasets",
    "tests/doors",
)


def changed(base: str) -> list[str]:
    """Return the changed and the new files, relative to the root."""

    def git(*command: str) -> list[str]:
        done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    try:
        (fork,) = git("merge-base", base, "HEAD")
    except subprocess.CalledProcessError:
        sys.exit(
            f"There is no branch {base}: name the branch to compare with, as in `make test-changed SINCE=main`."
        )
    return sorted({*git("diff", "--name-only", fork), *git("ls-files", "--others", "--exclude-standard")})


def module_of(file: str) -> str:
    """Return the module of a source file; its package for a data file."""
    path = (ROOT / file).relative_to(SOURCE)
    parts = path.with_suffix("").parts if path.suffix == ".py" else path.parent.parts
    return ".".join(part for part in parts if part != "__init__")


def imported(path: Path) -> Iterator[str]:
    """Yield the names that a file imports from this library."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shuffledp"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class Imports:
    """Imports of the library's modules and of the tests; a public name stands for the module that defines it."""

    def __init__(self) -> None:
        self.graph = grimp.build_graph("shuffledp", exclude_type_checking_imports=True, cache_dir=None)
        self.doors: dict[str, str] = {}
        for door in SOURCE.rglob("__init__.py"):
            package = module_of(str(door.relative_to(ROOT)))
            self.doors |= {f"{package}.{name.rpartition('.')[2]}": name for name in imported(door)}
        self.of_tests = {
            path.relative_to(ROOT).as_posix(): {self.defining(name) for name in imported(path)}
            for path in sorted(TESTS.rglob("test_*.py"))
        }

    def defining(self, name: str) -> str:
        """Return the module that defines a name."""
        while self.doors.get(name, name) != name:
            name = self.doors[name]
        while name not in self.graph.modules:
            name = name.rpartition(".")[0]
        return name

    def nearest(self, modules: set[str]) -> tuple[list[str], list[str]]:
        """Return the test files that reach some modules, nearest first, and the protocols one step away."""
        known = modules & self.graph.modules
        above = known.union(*(self.graph.find_modules_that_directly_import(module) for module in known))
        own = [file for module in sorted(modules) for file in own_files(module)]
        direct, near = ([f for f, used in self.of_tests.items() if used & some] for some in (modules, above))
        names = [m.rpartition(".")[2] for m in (*sorted(known), *sorted(above - known)) if is_protocol(m)]
        return list(dict.fromkeys([*own, *direct, *near])), list(dict.fromkeys(names))


def is_protocol(module: str) -> bool:
    """Return whether a module is the file of a protocol."""
    return re.fullmatch(r"shuffledp\.(protocols\.\w+|designs)\.[a-z]\w+", module) is not None


def own_files(module: str) -> list[str]:
    """Return the test files of a module: of its name, else of its package."""
    path = TESTS / Path(*module.split(".")[1:])
    places = (path.parent / f"test_{path.name.lstrip('_')}.py", path.parent / "test_package.py")
    found = [place.relative_to(ROOT).as_posix() for place in places if place.is_file()]
    return found[:1]


def failing(commands: list[list[str]]) -> list[list[str]]:
    """Run commands and return those that fail; pytest without a test does not."""
    return [
        command
        for command in commands
        if subprocess.run(command, cwd=ROOT, check=False).returncode not in (0, 5)
    ]


def main(branch: str) -> int:
    """Print the selection, run linters, and then the tests if no linter fails; return the exit code."""
    files = [file for file in changed(branch) if (ROOT / file).is_file()]
    modules = {module_of(file) for file in files if file.startswith("src/")}
    tests = [file for file in files if re.match(r"tests/(.*/)?test_\w+\.py$", file)]
    papers = set(
        re.findall(r"(?:config/experiments|pipeline/papers)/([a-z_]+)(?:\.yaml|/)", "\n".join(files))
    )
    tests += [
        f"tests/pipeline/papers/{paper}"
        for paper in sorted(papers)
        if (TESTS / "pipeline/papers" / paper).is_dir()
    ]
    if any(file.startswith("config/") for file in files):
        tests += ["tests/pipeline/config"]
    reached, names = Imports().nearest(modules)
    left = len(reached) - len(chosen := reached[:MOST])
    tests = list(dict.fromkeys([*tests, *chosen, *GUARDS]))
    data = re.findall(r"datasets/sets/([a-z_]+)\.py", "\n".join(files))
    names = [*names[:MOST_NAMES], *sorted(papers), *data]
    print(
        f"{len(files)} files changed. Tests: {' '.join(tests)}; by name: {', '.join(names) or 'none'}",
        flush=True,
    )
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count()), "--dist", "loadscope"]
    marks = ["-m", "not whole_run and not slurm and not storage and not spark and not browser"]
    runs, checks = [[*pytest, *marks, *tests]], []
    if names:
        rest = [f"--ignore={file}" for file in tests if file.endswith(".py")]
        runs.append([*pytest, *marks, *rest, "-k", " or ".join(names), *BY_NAME])
    if code := [file for file in files if file.endswith(".py")]:
        ruff = [sys.executable, "-m", "ruff"]
        checks = [[*ruff, "check", *code], [*ruff, "format", "--check", *code]]
    if any(file.startswith("src/") for file in code):
        checks.append([sys.executable, "-m", "mypy"])
    failed = failing(checks) or failing(runs)
    if left > 0:
        print(f"`make test` has {left} further test files, of modules that import a changed one.")
    for run in failed:
        print(f"FAILED: {' '.join(run[2:])[:120]}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
