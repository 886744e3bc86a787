"""Sizes of the source's modules, and the times to import them: ``python benchmarks/structure.py [--modules]``.

One row per package has its modules, lines, longest module, and the CPU seconds of a fresh process that imports all its
modules with their dependencies. A second table has, for each protocol, the lines that serve only this protocol, and the
files that its import loads. Both tables are written into docs/benchmarks.md; ``--modules`` prints every module instead.
"""

import argparse
import ast
import io
import os
import platform
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

from shuffledp.lazy_api import is_type_checking
from shuffledp.pipeline.doc_blocks import write_block
from shuffledp.protocols.registry import built_ins, module_path
from shuffledp.tasks import TASK_KINDS

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
PAGE = ROOT / "docs/benchmarks.md"
STARTS = 5
MOST_LINES = 450
#: Largest number of lines of a simple protocol.
MOST_ALONE = 250
#: Longer modules, with the reasons why they are not divided.
LONG = {
    "shuffledp/pipeline/config/grammar.py": "the grammar of the configuration, with all keys in one place",
    "shuffledp/pipeline/figures/captions.py": "all functions for captions",
    "shuffledp/pipeline/audit/finite_laws.py": "all kinds of laws with bounds on their rounding",
    "shuffledp/pipeline/audit/frequency.py": "the views of one task in one file",
    "shuffledp/pipeline/figures/paper.py": "all files of a paper, made by one job",
    "shuffledp/pipeline/audit/views.py": "the views of all tasks in one file, because they are compared",
    "shuffledp/accounting/__init__.py": "the list of public names",
    "shuffledp/accounting/general/blanket.py": "delta and its inverse, which share a cache",
    "shuffledp/accounting/training/random_allocation.py": "one quantity, for two directions and two kinds of steps",
    "shuffledp/accounting/random_population/multi_message.py": "all forms of one noise, mostly descriptions",
    "shuffledp/designs/coarse_search.py": "one search, mostly descriptions of parameters",
    "shuffledp/pipeline/papers/summation/theorem_claims.py": "a rule per claim of one paper",
    "shuffledp/userdata/counting.py": "one public function, with its domains and tallies",
    "shuffledp/cli.py": "all commands, each a call of the library",
}
#: Layers from the bottom to the top, as in docs/architecture.md.
LAYERS = (
    *("numerics", "sampling", "userdata", "populations", "tasks", "guarantees"),
    *(
        "accounting.expected_errors",
        "accounting.general",
        "accounting",
        "accountant",
        "protocols",
        "comparison",
        "designs",
    ),
    *(
        "pipeline.datasets",
        "pipeline.learning",
        "pipeline.experiments",
        "pipeline.config",
    ),
    *("pipeline.figures", "pipeline.claims", "pipeline.papers", "pipeline.reference", "pipeline.audit"),
    *("pipeline.site", "pipeline", "cli"),
)
IMPORT = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
#: Largest CPU seconds of the third start below on a quiet machine: slow modules are imported only where they are
#: needed.
MOST_START = 0.35
#: Beginning of a program without a package that numpy imports if it is installed.
ALONE = "import sys\nsys.modules['charset_normalizer'] = None\n"
#: Starts of users who need only the library; names are loaded at their first use.
STARTS_OF_THE_LIBRARY = {
    "`import numpy, scipy.special`": "import numpy, scipy.special",
    "`import shuffledp.accounting, shuffledp.protocols`": "import shuffledp.accounting, shuffledp.protocols",
    "the same, and `amplification`, `budget`, `smallest_batch`, `ClonesProfile`, `BlanketProfile`, `get` (at most "
    f"{MOST_START} s)": (
        "import shuffledp.accountant as q, shuffledp.accounting as a, shuffledp.protocols as p\n"
        "q.amplification, q.budget, q.smallest_batch, a.ClonesProfile, a.BlanketProfile, p.get"
    ),
    "all names of both": "from shuffledp.accounting import *\nfrom shuffledp.protocols import *",
}


@dataclass(frozen=True)
class Module:
    """Module of the source: its file below src/, its number of lines, and its number of lines with code."""

    file: str
    lines: int
    code: int

    @property
    def name(self) -> str:
        """Name of the module in imports."""
        return self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def module(path: Path, source: Path = SOURCE) -> Module:
    text = path.read_text(encoding="utf-8")
    return Module(path.relative_to(source).as_posix(), len(text.splitlines()), len(code_lines(text)))


def code_lines(text: str) -> set[int]:
    """Return the numbers of the lines with code, without blank lines, comments and docstrings."""
    tree = ast.parse(text)
    lines = text.splitlines()
    code = {i for i, line in enumerate(lines, 1) if line.strip() and not line.strip().startswith("#")}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
            continue
        if isinstance(node.value.value, str):
            code -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return code


def modules(layer: str, source: Path = SOURCE) -> list[Module]:
    """Return the modules of a package, or the single module with this name."""
    place = source / "shuffledp" / layer.replace(".", "/")
    paths = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    return [module(path, source) for path in paths]


def unexplained(found: Sequence[Module]) -> list[Module]:
    """Return the modules that exceed the permitted length without a reason."""
    return [one for one in found if one.lines > MOST_LINES and one.file not in LONG]


def import_seconds(names: Sequence[str]) -> float:
    """Return the least CPU seconds over several new processes that import these modules."""
    return min(_started([sys.executable, "-c", IMPORT, *names]) for _ in range(STARTS))


def start_seconds() -> dict[str, float]:
    """Return the least CPU seconds of each start of the library, over many rounds."""
    least = dict.fromkeys(STARTS_OF_THE_LIBRARY, float("inf"))
    for _ in range(4 * STARTS):
        for what, program in STARTS_OF_THE_LIBRARY.items():
            least[what] = min(least[what], _started([sys.executable, "-c", ALONE + program]))
    return least


def _started(command: Sequence[str]) -> float:
    process = subprocess.Popen(command, cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"This process failed: {command}")
    return usage.ru_utime + usage.ru_stime


# -- protocols -------------------------------------------------------------------------------------------------

Object = tuple[str, str]
"""Module, and a name that the module defines at its top level."""
LAYOUT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
LOADED = r"""
import importlib, sys
importlib.import_module(sys.argv[1])
ours = [m for n, m in sys.modules.items() if n.startswith("shuffledp.") and not hasattr(m, "__path__")]
print(*(m.__file__ for m in ours), sep="\n")
"""


@dataclass(frozen=True)
class Defined:
    """Definitions of a module: their lines, the names in them, and the origins of imported names."""

    lines: Mapping[str, range]
    uses: Mapping[str, frozenset[str]]
    imported: Mapping[str, Object]


@cache
def defined(name: str) -> Defined:
    """Return the definitions and imports of a module of the package; empty without such a file."""
    path = SOURCE / f"{name.replace('.', '/')}.py"
    path = path if path.is_file() else path.with_suffix("") / "__init__.py"
    if not path.is_file():
        return Defined({}, {}, {})
    lines, uses, imported = {}, {}, {}
    body = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if not is_type_checking(node)]
    for node in body:
        inner = list(ast.walk(node))
        imported |= {
            alias.asname or alias.name: (one.module or "", alias.name)
            for one in inner
            if isinstance(one, ast.ImportFrom)
            for alias in one.names
        }
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        for found in (getattr(node, "name", None), *(getattr(target, "id", None) for target in targets)):
            if found:
                lines[found] = range(first, (node.end_lineno or first) + 1)
                uses[found] = frozenset(one.id for one in inner if isinstance(one, ast.Name))
    return Defined(lines, uses, imported)


def reached(name: str) -> set[Object]:
    """Return the objects of the package that a module defines or uses, directly or indirectly."""
    seen: set[Object] = set()
    waiting = [(name, one) for one in defined(name).lines]
    while waiting:
        module_name, one = waiting.pop()
        here = defined(module_name)
        if one in here.lines and (module_name, one) not in seen:
            seen.add((module_name, one))
            waiting += [(module_name, used) for used in here.uses[one]]
        elif one in here.imported:
            waiting.append(here.imported[one])
    return seen


def lines_alone(protocols: Sequence[str]) -> dict[str, int]:
    """Return the number of lines that serve only one protocol: its file, and code that no other protocol reaches."""
    every = {name: reached(name) for name in protocols}
    times = Counter(one for found in every.values() for one in found)
    alone = {}
    for name, found in every.items():
        shared = {i for m, one in found if m == name and times[m, one] > 1 for i in defined(m).lines[one]}
        others = sum(len(defined(m).lines[one]) for m, one in found if m != name and times[m, one] == 1)
        file = SOURCE / f"{name.replace('.', '/')}.py"
        alone[name] = len(file.read_text(encoding="utf-8").splitlines()) - len(shared) + others
    return alone


@cache
def tokens(path: str) -> int:
    """Return the number of tokens of a file without comments, docstrings and layout."""
    text = Path(path).read_text(encoding="utf-8")
    code = code_lines(text)
    found = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type not in LAYOUT and token.start[0] in code for token in found)


def loaded(name: str) -> list[str]:
    """Return the package's files that a new process loads with a module; package files are omitted."""
    command = [sys.executable, "-c", LOADED, name]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def protocol_table() -> Iterator[str]:
    """Yield the table of protocols in Markdown."""
    names = {
        ".".join(module_path(kind, name).relative_to(SOURCE).with_suffix("").parts): f"{kind}.{name}"
        for kind in TASK_KINDS
        for name in built_ins(kind)
    }
    alone, files = lines_alone(list(names)), {name: loaded(name) for name in names}
    sizes = {name: sum(map(tokens, found)) for name, found in files.items()}
    yield (
        f"The median of {len(names)} protocols has {median(alone.values()):.0f} lines of its own, and loads "
        f"{median(map(len, files.values())):.0f} modules with {median(sizes.values()):,.0f} tokens. "
        f"{sum(lines > MOST_ALONE for lines in alone.values())} protocols have more than {MOST_ALONE} "
        f"lines of their own."
    )
    yield ""
    yield "| protocol | own lines | modules loaded | tokens of these modules |"
    yield "|---|---:|---:|---:|"
    for name, short in names.items():
        yield f"| `{short}` | {alone[name]:,} | {len(files[name])} | {sizes[name]:,} |"


def table() -> Iterator[str]:
    """Yield the table in Markdown."""
    load = os.getloadavg()[0]
    yield "| package | modules | lines | of code | longest module | import, CPU |"
    yield "|---|---:|---:|---:|---|---:|"
    yield f"| an empty process | | | | | {import_seconds([]):.2f} s |"
    for layer in LAYERS:
        found = modules(layer)
        longest = max(found, key=lambda one: one.lines)
        seconds = import_seconds([one.name for one in found])
        short = longest.file.removeprefix("shuffledp/")
        numbers = f"{len(found)} | {sum(m.lines for m in found):,} | {sum(m.code for m in found):,}"
        yield f"| `{layer}` | {numbers} | `{short}` ({longest.lines}) | {seconds:.2f} s |"
    yield ""
    yield "| start of the library | CPU |"
    yield "|---|---:|"
    for what, seconds in start_seconds().items():
        yield f"| {what} | {seconds:.2f} s |"
    yield ""
    yield f"Modules longer than {MOST_LINES} lines, with the reason:"
    yield ""
    every = [module(path) for path in sorted(SOURCE.rglob("*.py"))]
    for one in sorted(every, key=lambda one: -one.lines):
        if one.lines > MOST_LINES:
            yield f"- `{one.file}`, {one.lines} lines, {one.code} of code: {LONG.get(one.file, 'no reason given')}."
    yield ""
    yield f"The run used Python {platform.python_version()}. The load of the machine before the run was {load:.1f}."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", action="store_true", help="print every module, and change nothing")
    every = [module(path) for path in sorted(SOURCE.rglob("*.py"))]
    if parser.parse_args().modules:
        for one in every:
            print(f"{one.lines:5} {one.code:5}  {one.file}")
    else:
        write_block(PAGE, "structure", "\n".join(table()))
        write_block(PAGE, "protocols", "\n".join(protocol_table()))
    for one in unexplained(every):
        print(
            f"{one.file} has {one.lines} lines, more than {MOST_LINES}, and no reason in {Path(__file__).name}."
        )
    return 1 if unexplained(every) else 0


if __name__ == "__main__":
    sys.exit(main())
