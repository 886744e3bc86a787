"""How the source is cut, and what importing it costs: ``python benchmarks/structure.py [--modules]``.

One row per package: modules, lines, the longest module, and the CPU seconds of a fresh process that imports all of its
modules, with everything below them. The table goes into docs/benchmarks.md; ``--modules`` prints every module instead.
"""

import argparse
import ast
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shuffledp.pipeline.doc_blocks import write_block

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
PAGE = ROOT / "docs/benchmarks.md"
STARTS = 5
MOST_LINES = 450
#: Modules that are longer, and why they are not cut.
LONG = {
    "shuffledp/pipeline/config/grammar.py": "the grammar of the configuration: every key is looked up in one place",
    "shuffledp/pipeline/figures/captions.py": "all that a caption may ask",
    "shuffledp/pipeline/audit/finite_laws.py": "every kind of law with its bound of rounding",
    "shuffledp/pipeline/audit/frequency.py": "the views of one task beside each other",
    "shuffledp/pipeline/figures/paper.py": "all files of a paper, made by one job",
    "shuffledp/pipeline/audit/views.py": "the views of all tasks beside each other, as they are compared",
    "shuffledp/accounting/__init__.py": "the list of what the door offers",
    "shuffledp/accounting/general/blanket.py": "delta and its inverse, which share what they remember",
    "shuffledp/accounting/general/random_allocation.py": "two directions and two kinds of steps of one quantity",
    "shuffledp/accounting/random_population/multi_message.py": "all forms of one noise, most of it descriptions",
    "shuffledp/accounting/summation/coarse_search.py": "one search, most of it descriptions of parameters",
    "shuffledp/pipeline/papers/summation/theorem_claims.py": "a rule per claim of one paper",
    "shuffledp/userdata/reading.py": "the formats of files beside each other, behind one door",
    "shuffledp/cli.py": "the commands beside each other, each a call of the library",
}
#: From the bottom up, as docs/architecture.md has them.
LAYERS = (
    *("numerics", "sampling", "userdata", "populations", "tasks", "guarantees"),
    *(
        "accounting.expected_errors",
        "accounting.general",
        "accounting",
        "accountant",
        "protocols",
        "comparison",
    ),
    *(
        "pipeline.datasets",
        "pipeline.learning",
        "pipeline.rerun_digests",
        "pipeline.experiments",
        "pipeline.config",
    ),
    *("pipeline.figures", "pipeline.claims", "pipeline.papers", "pipeline.reference", "pipeline.audit"),
    *("pipeline.site", "pipeline", "cli"),
)
IMPORT = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
#: The third start below is to take at most so long on a quiet machine: what is slow is imported where it is needed.
MOST_START = 0.35
#: numpy loads it where it is installed; the library alone does without.
ALONE = "import sys\nsys.modules['charset_normalizer'] = None\n"
#: What somebody waits for who uses the library alone: names that are loaded when they are first used.
STARTS_OF_THE_LIBRARY = {
    "`import numpy, scipy.special`": "import numpy, scipy.special",
    "`import shuffledp.accounting, shuffledp.protocols`": "import shuffledp.accounting, shuffledp.protocols",
    "the same, and `amplification`, `budget`, `smallest_batch`, `ClonesProfile`, `BlanketProfile`, `get` (at most "
    f"{MOST_START} s)": (
        "import shuffledp.accounting as a, shuffledp.protocols as p\n"
        "a.amplification, a.budget, a.smallest_batch, a.ClonesProfile, a.BlanketProfile, p.get"
    ),
    "all names of both": "from shuffledp.accounting import *\nfrom shuffledp.protocols import *",
}


@dataclass(frozen=True)
class Module:
    """A module of the source: its file below src/, its lines, and those that are code."""

    file: str
    lines: int
    code: int

    @property
    def name(self) -> str:
        """As it is imported."""
        return self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def module(path: Path, source: Path = SOURCE) -> Module:
    text = path.read_text(encoding="utf-8")
    return Module(path.relative_to(source).as_posix(), len(text.splitlines()), len(code_lines(text)))


def code_lines(text: str) -> set[int]:
    """Numbers of the lines with code: no blank ones, no comments, no docstrings."""
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
    """The modules of a package, or the one of that name."""
    place = source / "shuffledp" / layer.replace(".", "/")
    paths = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    return [module(path, source) for path in paths]


def unexplained(found: Sequence[Module]) -> list[Module]:
    """Modules that are longer than allowed, with no reason given."""
    return [one for one in found if one.lines > MOST_LINES and one.file not in LONG]


def import_seconds(names: Sequence[str]) -> float:
    """CPU seconds of a fresh process that imports these modules: the least of several."""
    return min(_started([sys.executable, "-c", IMPORT, *names]) for _ in range(STARTS))


def start_seconds() -> dict[str, float]:
    """CPU seconds of each start of the library: the least of many, taken in turn, as other work comes and goes."""
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


def table() -> Iterator[str]:
    """The table in Markdown."""
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
    yield f"Longer than {MOST_LINES} lines:"
    yield ""
    every = [module(path) for path in sorted(SOURCE.rglob("*.py"))]
    for one in sorted(every, key=lambda one: -one.lines):
        if one.lines > MOST_LINES:
            yield f"- `{one.file}`, {one.lines} lines, {one.code} of code: {LONG.get(one.file, 'no reason given')}."
    yield ""
    yield f"Python {platform.python_version()}; load of the machine before the run: {load:.1f}."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", action="store_true", help="print every module, and change nothing")
    every = [module(path) for path in sorted(SOURCE.rglob("*.py"))]
    if parser.parse_args().modules:
        for one in every:
            print(f"{one.lines:5} {one.code:5}  {one.file}")
    else:
        text = "\n".join(table())
        print(text)
        write_block(PAGE, "structure", text)
    for one in unexplained(every):
        print(
            f"{one.file} has {one.lines} lines, more than {MOST_LINES}, and no reason in {Path(__file__).name}."
        )
    return 1 if unexplained(every) else 0


if __name__ == "__main__":
    sys.exit(main())
