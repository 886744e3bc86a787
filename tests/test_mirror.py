"""The tests mirror the sources: tests/X/test_Y.py is about src/shuffledp/X/Y.py.

``test_package.py`` is about several modules of its folder's package, and a leading underscore is omitted.
"""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src/shuffledp"

PAPERS = ("dump", "random_population", "segmented", "shuffle_gaussian", "summation")
#: Files or folders of tests about no single module, with their topics.
ELSEWHERE = {
    "golden": "answers as they were",
    "notebooks": "notebooks/",
    "workflow": "Snakefile and workflow/",
    "doors": "sentences, columns and files that users meet",
    "properties": "bad configurations and bad files of data",
    "accounting/test_docstrings.py": "docstrings of shuffledp.accounting",
    "accounting/test_ranges.py": "ranges of arguments in shuffledp.accounting",
    "accounting/test_delta_order.py": "functions of shuffledp.accounting that return an eps at a delta",
    "pipeline/claims/test_quotes.py": "quotations in the papers' texts",
    "pipeline/config/test_experiments_of_papers.py": "config/experiments/",
    **{f"pipeline/papers/{key}/test_claims.py": "claim rules of a paper" for key in PAPERS},
    "pipeline/papers/test_claim_rules.py": "claim rules of all papers",
    "protocols/test_poisoning.py": "fake users, in all protocols",
    "protocols/test_absence.py": "users who collude or drop out, in all protocols",
    "test_accountant_check.py": "tools/accountant_check.py",
    "test_comparison_rule.py": "tools/comparison_rule.py",
    "test_config_schema.py": "tools/config_schema.py",
    "test_artifact.py": "tools/artifact.py and ARTIFACT-APPENDIX.md",
    "test_documents.py": "README.md, CONTRIBUTING.md, CHANGELOG.md and docs/",
    "test_faults.py": "tools/faults.py",
    "test_gallery.py": "tools/gallery.py",
    "test_guides.py": "code and files of the pages of docs/",
    "test_outside_auditors.py": "tools/outside_auditors.py",
    "test_scale.py": "benchmarks/scale.py and benchmarks/scale_picture.py",
    "test_numerical_errors.py": "tools/numerical_errors.py",
    "test_paper.py": "tools/paper.py and paper/",
    "test_site.py": "docs/hooks/",
    "test_environment.py": "Makefile, locks and environment.yml",
    "test_source_rules.py": "sources, by docs/architecture.md",
    "test_metadata.py": "tools/metadata.py, CITATION.cff and what is made from it",
    "test_mirror.py": "the tests",
    "test_structure.py": "benchmarks/structure.py",
    "test_time_table.py": "benchmarks/pipeline.py",
    "test_typed_numbers.py": "README.md and docs/",
    "test_wheel.py": "the wheel",
    "test_words.py": "docstrings, pages and captions",
    "test_other_pythons.py": "tools/other_pythons.py",
}

CLOCKS = {"time", "monotonic", "perf_counter", "process_time", "thread_time"}
CLOCKS |= {f"{name}_ns" for name in CLOCKS}


def files(folder: Path, pattern: str) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob(pattern))


def own_file(module: str) -> str:
    """Return the test file of a module."""
    path = Path(module)
    return (path.parent / f"test_{path.stem.lstrip('_')}.py").as_posix()


def package_file(module: str) -> str:
    return (Path(module).parent / "test_package.py").as_posix()


MODULES = [module for module in files(SOURCE, "*.py") if not module.endswith("__init__.py")]
PACKAGES = [module for module in files(SOURCE, "*.py") if module.endswith("__init__.py")]
TEST_FILES = files(TESTS, "test_*.py")


def elsewhere(file: str) -> bool:
    return file in ELSEWHERE or file.partition("/")[0] in ELSEWHERE


def test_every_test_file_stands_where_its_module_stands():
    places = {own_file(m) for m in MODULES} | {package_file(p) for p in PACKAGES}
    lost = [file for file in TEST_FILES if file not in places and not elsewhere(file)]
    assert not lost, "no module or package of src/shuffledp has these names: " + ", ".join(lost)


def test_the_exceptions_exist():
    assert all((TESTS / name).exists() for name in ELSEWHERE)


# -- no test measures time ------------------------------------------------------------------------------------------


def clocks(tree: ast.AST) -> list[str]:
    """Return the reads of a clock in a file; measurements belong into benchmarks/, as ratios."""
    found = [
        f"line {node.lineno}: time.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "time" and node.attr in CLOCKS
    ]
    found += [
        f"line {node.lineno}: from time import {alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "time"
        for alias in node.names
        if alias.name in CLOCKS
    ]
    return found + [
        f"line {node.lineno}: timeit"
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and "timeit" in ast.unparse(node)
    ]


def test_no_test_reads_a_clock():
    """Only the helper for waiting reads a clock; see ``waiting.wait_until``."""
    found = {file: clocks(ast.parse((TESTS / file).read_text("utf-8"))) for file in files(TESTS, "*.py")}
    assert {file for file, lines in found.items() if lines} == {"waiting.py"}, found
