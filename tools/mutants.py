"""Draw mutants of the accounting, the protocols and the audit, and run each against the tests that reach it.

`make -C tools mutants` first records the lines that every test reaches, and branch coverage, and then continues an
earlier run's table of mutants. Mutations and their places are from cosmic-ray. A mutant is killed if a test fails, or
takes more than a minute and three times its usual time. Survivors are printed. With --page the kill rate and the
coverage are written into docs/measured/.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, astuple, dataclass
from itertools import accumulate
from pathlib import Path
from queue import Queue
from xml.etree import ElementTree

import parso
from cosmic_ray.ast import Visitor
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from coverage import Coverage, CoverageData

from shuffledp.pipeline.resumable import Lines

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src/shuffledp"
PAGE = ROOT / "docs/measured/mutants.md"
#: Folder with the records of a run.
FOLDER = ROOT / "logs/mutants"
PACKAGES = ("accounting", "protocols", "pipeline/audit")
#: Mutations that change results; replacements that always fail, such as `*` by `&`, are omitted.
OPERATORS = (
    *(f"ReplaceBinaryOperator_{pair}" for pair in ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "Pow_Mul")),
    *(f"ReplaceBinaryOperator_{pair}" for pair in ("FloorDiv_Div", "Mod_FloorDiv", "LShift_RShift")),
    *(
        f"ReplaceComparisonOperator_{pair}"
        for pair in ("Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Lt_GtE", "Gt_LtE")
    ),
    *(f"ReplaceComparisonOperator_{pair}" for pair in ("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is")),
    *("ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "AddNot"),
    *("ReplaceUnaryOperator_Delete_Not", "ReplaceUnaryOperator_Delete_USub", "NumberReplacer"),
    *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ZeroIterationForLoop"),
)
#: CPU seconds of tests per mutant, the fastest tests first, and bytes that these tests may use.
MOST_SECONDS, MOST_BYTES = 60.0, 8 << 30
#: Seconds for the start of the tests.
START = 60.0


@dataclass(frozen=True)
class Place:
    """Mutation of a module: an operator, and the number of its occurrence."""

    module: str
    line: int
    operator: str
    occurrence: int


@dataclass(frozen=True)
class Judged:
    """Mutant with its outcome: killed, survived, or unreached if no test reaches the line."""

    place: Place
    before: str
    after: str
    outcome: str
    tests: int
    left_out: int
    seconds: float


class _Places(Visitor):
    """Visitor that collects the lines where an operator can mutate a module."""

    def __init__(self, name: str) -> None:
        self.operator = get_operator(f"core/{name}")()
        self.lines: list[int] = []

    def visit(self, node: parso.tree.NodeOrLeaf) -> parso.tree.NodeOrLeaf:
        """Add the places at this node."""
        self.lines += [start[0] for start, _ in self.operator.mutation_positions(node)]
        return node


def places() -> list[Place]:
    """Return every possible mutation of the three packages."""
    found = []
    for package in PACKAGES:
        for path in sorted((SOURCE / package).rglob("*.py")):
            tree = parso.parse(path.read_text(encoding="utf-8"))
            for name in OPERATORS:
                visitor = _Places(name)
                visitor.walk(tree)
                module = path.relative_to(SOURCE).as_posix()
                found += [Place(module, line, name, index) for index, line in enumerate(visitor.lines)]
    return found


class _Bare(ast.NodeTransformer):
    """Transformer that removes annotations and docstrings, whose mutations change no running code."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Return an argument without its annotation."""
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Return a function without the annotation of its return value."""
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Return an assignment without its annotation."""
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)


def mutated(place: Place) -> str | None:
    """Return the mutated module; None if the running code does not change."""
    text = (SOURCE / place.module).read_text(encoding="utf-8")
    changed = mutate_code(text, get_operator(f"core/{place.operator}")(), place.occurrence)
    if changed is None:
        return None
    try:
        same = ast.dump(_Bare().visit(ast.parse(changed))) == ast.dump(_Bare().visit(ast.parse(text)))
    except SyntaxError:
        return None
    return None if same else changed


def drawn(number: int, seed: int) -> Iterator[Place]:
    """Draw places without replacement until `number` of them give mutants."""
    every = places()
    random.Random(seed).shuffle(every)
    for place in every:
        if number and mutated(place) is not None:
            number -= 1
            yield place


class Reached:
    """Tests that reach each line, with their times."""

    def __init__(self, folder: Path) -> None:
        self._data = CoverageData(str(folder / "coverage"))
        self._data.read()
        self._seconds = {
            f"{case.get('file') or ''}::{case.get('name')}": float(case.get("time") or 0)
            for case in ElementTree.parse(folder / "times.xml").iter("testcase")
        }

    def tests(self, module: str, line: int) -> list[tuple[float, str]]:
        """Return the seconds and names of the tests that reach the line, fastest test first.

        Code outside of functions runs once for all tests; for such a line all tests that reach the module are returned.
        """
        contexts = self._data.contexts_by_lineno(str(SOURCE / module))
        tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
        lines = statement_lines(tree, line) or contexts
        names = {context.rpartition("|")[0] for at in lines for context in contexts.get(at, [])} - {""}
        return sorted((self._seconds.get(name, 1.0), name) for name in names)


def statement_lines(tree: ast.Module, line: int) -> range | None:
    """Return the lines of the statement around a line of a function, without nested statements; None elsewhere."""
    inside = [
        node
        for function in ast.walk(tree)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for top in function.body
        for node in ast.walk(top)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    if not inside:
        return None
    node = max(inside, key=lambda node: node.lineno)
    body = getattr(node, "body", None)
    return range(node.lineno, body[0].lineno if body else (node.end_lineno or node.lineno) + 1)


def record(folder: Path, workers: int) -> None:
    """Run all tests once, with a record of reached lines and times."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "-o", "junit_family=xunit1"]
    command += ["-m", "not whole_run and not slurm and not storage and not browser", "-p", "no:cacheprovider"]
    command += [f"--cov={SOURCE / package}" for package in PACKAGES]
    command += ["--cov-branch", "--cov-context=test", "--cov-report=", f"--junitxml={folder / 'times.xml'}"]
    environment = os.environ | {"COVERAGE_FILE": str(folder / "coverage")}
    if subprocess.run([*command, "tests"], cwd=ROOT, env=environment, check=False).returncode > 1:
        raise SystemExit("The tests did not run to their end: nothing is recorded.")


def judge(place: Place, reached: Reached, copy: Path) -> Judged:
    """Run the tests that reach a mutant, in a copy of the sources."""
    text, changed = (SOURCE / place.module).read_text(encoding="utf-8"), mutated(place)
    assert changed is not None
    lines = [(a, b) for a, b in zip(text.splitlines(), changed.splitlines(), strict=False) if a != b]
    before, after = lines[0] if lines else ("", "")
    every = reached.tests(place.module, place.line)
    inside = [total <= MOST_SECONDS for total in accumulate(seconds for seconds, _ in every)]
    chosen = [test for test, fits in zip(every, inside, strict=True) if fits] or every[:1]

    def judged(outcome: str, seconds: float) -> Judged:
        left = len(every) - len(chosen)
        return Judged(place, before.strip(), after.strip(), outcome, len(chosen), left, round(seconds, 1))

    if not chosen:
        return judged("unreached", 0.0)
    target = copy / "shuffledp" / place.module
    target.write_text(changed, encoding="utf-8")
    listed = copy / "tests.txt"
    listed.write_text("\n".join(name for _, name in chosen), encoding="utf-8")
    begin = time.monotonic()
    usual = sum(seconds for seconds, _ in chosen)
    options = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly")
    command = [sys.executable, "-m", "pytest", *options, f"@{listed}"]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=START + 3 * usual,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES)),
        )
        if (
            done.returncode == 4 and "found no collectors" not in done.stdout
        ):  # that a module cannot be imported
            raise SystemExit(f"pytest does not know the recorded tests any more:\n{done.stdout}")
        return judged("survived" if done.returncode == 0 else "killed", time.monotonic() - begin)
    except subprocess.TimeoutExpired:
        return judged("killed", time.monotonic() - begin)
    finally:
        target.write_text(text, encoding="utf-8")


def coverage_of(package: str, folder: Path) -> tuple[float, float]:
    """Return the shares of a package's lines and branches that tests reach."""
    report = folder / "coverage.json"
    if not report.is_file():
        found = Coverage(data_file=str(folder / "coverage"), branch=True)
        found.load()
        found.json_report(outfile=str(report))
    files = json.loads(report.read_text(encoding="utf-8"))["files"]
    of = [file["summary"] for name, file in files.items() if f"shuffledp/{package}/" in name]
    lines = sum(file["covered_lines"] for file in of) / sum(file["num_statements"] for file in of)
    branches = sum(file["covered_branches"] for file in of) / sum(file["num_branches"] for file in of)
    return lines, branches


def as_page(rows: list[Judged], seed: int, folder: Path) -> str:
    """Return the kill rates and the coverage by package as Markdown."""
    lines = [
        "| package | mutants | killed | rate | standard error | lines | branches |",
        "|---|---|---|---|---|---|---|",
    ]
    for package in (*PACKAGES, ""):
        of = [row for row in rows if row.place.module.startswith(package)]
        killed = sum(row.outcome == "killed" for row in of)
        rate = killed / max(1, len(of))
        error = math.sqrt(rate * (1 - rate) / max(1, len(of)))
        parts = [coverage_of(package, folder)] if package else []
        shares = " | ".join(f"{100 * share:.1f} %" for share in parts[0]) if parts else "| "
        name = f"`{package}`" if package else "all"
        lines.append(
            f"| {name} | {len(of)} | {killed} | {100 * rate:.1f} % | {100 * error:.1f} % | {shares} |"
        )
    return "\n".join([*lines, "", f"Seed {seed}.", ""])


def main() -> None:
    """Run the missing mutants of the table, and write the page with --page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=300, help="mutants (300)")
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m%d")), help="the date of the run")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--page", action="store_true", help="write docs/measured/")
    given = parser.parse_args()
    folder = FOLDER / str(given.seed)
    if not (folder / "times.xml").is_file():
        record(folder, given.workers)
    reached, lines = Reached(folder), Lines(folder / "mutants.jsonl")
    copies: Queue[Path] = Queue()
    for worker in range(given.workers):
        copy = folder / f"copy{worker}"
        shutil.copytree(
            SOURCE, copy / "shuffledp", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
        )
        copies.put(copy)

    def one(place: Place) -> Judged:
        copy = copies.get()
        try:
            return judge(place, reached, copy)
        finally:
            copies.put(copy)

    every = {json.dumps(astuple(place)): place for place in drawn(given.number, given.seed)}
    left = {key: place for key, place in every.items() if key not in lines.known}
    with ThreadPoolExecutor(given.workers) as pool:
        for key, row in zip(left, pool.map(one, left.values()), strict=True):
            lines.add(key, asdict(row))
            print(
                f"{len(lines.known)} of {given.number}: {row.outcome} {row.place.module}:{row.place.line} {row.after}",
                flush=True,
            )
    rows = [Judged(**row | {"place": Place(**row["place"])}) for row in lines.known.values()]
    if given.page:
        PAGE.write_text(as_page(rows, given.seed, folder), encoding="utf-8")


if __name__ == "__main__":
    main()
