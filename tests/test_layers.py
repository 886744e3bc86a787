"""Imports point the way docs/architecture.md says; nothing is imported to find out, the source is parsed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src/shuffledp"
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")

# What the modules of a layer may import from the package, besides their own layer and, where it has one, its door. None
# stands for everything.
ALLOWED: dict[str, set[str] | None] = {
    "child": set(),
    "numerics": set(),
    "sampling": set(),
    "storage": set(),
    "outputs": {"storage"},
    "repair": {"storage"},
    "extras": set(),
    "doors": {"extras"},
    "columns": set(),
    "measured_blocks": set(),
    "code_sources": {"doors", "storage"},
    "code_digest": {"code_sources"},
    "yamlfile": set(),
    "jobs": {"storage"},
    "main_process": {"jobs", "storage"},
    "provenance": set(),
    "datasets": {"columns", "storage"},
    "populations": {"numerics"},
    "tasks": {"numerics"},
    "utility": {"numerics", "populations"},
    "accounting": {"doors", "extras", "numerics", "populations", "tasks", "utility"},
    "protocols": {"accounting", "child", "numerics", "populations", "tasks", "utility"},
    "records": {"extras", "numerics"},
    "comparison": {
        "accounting",
        "child",
        "extras",
        "numerics",
        "outputs",
        "populations",
        "protocols",
        "records",
        "tasks",
        "utility",
    },
    "audit": {
        "accounting",
        "doors",
        "experiments",
        "numerics",
        "populations",
        "protocols",
        "storage",
        "tasks",
    },
    "learning": {"numerics", "storage"},
    "experiments": {
        "code_digest",
        "accounting",
        "columns",
        "datasets",
        "learning",
        "numerics",
        "populations",
        "protocols",
        "records",
        "storage",
        "doors",
        "tasks",
        "yamlfile",
    },
    "figures": {"experiments", "storage"},
    "claims": {
        "utility",
        "accounting",
        "datasets",
        "experiments",
        "numerics",
        "populations",
        "storage",
        "yamlfile",
    },
    "reference": {"columns", "experiments", "storage"},
    "pages": {"storage"},
    "cli": None,
}
MAY_PRINT = {"cli"}
# "selection.py and drawings.py turn the checked configuration [..] into plain data [..], and the rest draws from such
# data and the reader of results."
FIGURES_MAY_USE = {"experiments.results", "experiments.bundle"}
# Claims that results decide read them, and know nothing of how they came about.
READS_RESULTS = "claims.evidence"
PLANS_FIGURES = {"figures.drawings", "figures.selection"}


# -- reading the source ----------------------------------------------------------------------------------------


def paths() -> dict[str, Path]:
    """Every module below the package by its dotted name there: ``accounting.errors``, ``accounting``, ``tasks``."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


PATHS = paths()


@cache
def modules() -> dict[str, ast.Module]:
    """Every module, parsed: by the first test that asks, not by every process that collects the tests."""
    return {
        name: ast.parse(path.read_text(encoding="utf-8"), filename=path.name) for name, path in PATHS.items()
    }


PACKAGES = {".".join(p.parent.relative_to(PACKAGE).parts) for p in PACKAGE.rglob("__init__.py")}
DOORS = {p.parent.name for p in PACKAGE.glob("*/__init__.py") if "shuffledp.lazy_api" in p.read_text("utf-8")}
LAYERS = sorted({name.partition(".")[0] for name in PATHS} - {""})


def layer_of(module: str) -> str:
    return module.partition(".")[0]


def of_layer(layer: str) -> dict[str, ast.Module]:
    return {name: tree for name, tree in modules().items() if layer_of(name) == layer}


def imported(tree: ast.AST, module: str = "", *, package: bool = False) -> Iterator[tuple[int, str]]:
    """Line and dotted name, without the leading ``shuffledp.``, of everything imported from this package.

    Sees imports at any depth (in functions, under ``TYPE_CHECKING``), relative ones, attributes of a bare ``import
    shuffledp``, and names handed to ``import_module`` and its like.
    """
    here = module.split(".") if module else []
    if not package:
        here = here[:-1]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = here[: len(here) - (node.level - 1)]
                base = ".".join(["shuffledp", *above, *([base] if base else [])])
            # `from shuffledp import x` names a layer; `from shuffledp.layer import x` may name a module of it.
            names = [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names = [f"{node.value.id}.{node.attr}"]
        elif isinstance(node, ast.Call) and node.args:
            names = _named_modules(node)
        for name in names:
            first, _, rest = name.partition(".")
            if first == "shuffledp" and layer_of(rest) in LAYERS:
                yield getattr(node, "lineno", 0), rest


def _named_modules(call: ast.Call) -> list[str]:
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if function not in {"import_module", "__import__", "find_spec", "run_module", "files"}:
        return []
    text = call.args[0]
    if isinstance(text, ast.JoinedStr) and text.values:  # the fixed beginning of an f-string names the layer
        text = text.values[0]
    return [text.value] if isinstance(text, ast.Constant) and isinstance(text.value, str) else []


def random_numbers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of everything that draws random numbers, or is handed what draws them."""
    libraries = {"random", "secrets", "uuid", "numpy.random"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, a.name) for a in node.names if a.name in libraries)
        elif isinstance(node, ast.ImportFrom):
            names = {node.module or "", *(f"{node.module}.{a.name}" for a in node.names)}
            yield from ((node.lineno, name) for name in sorted(names) if name in libraries)
        elif isinstance(node, ast.Attribute) and node.attr in {"random", "rvs", "sample", "urandom"}:
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg) and node.arg == "rng":
            yield node.lineno, "rng"


def prints(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of everything that writes to the terminal."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"print", "pprint"}
        ):
            yield node.lineno, node.func.id
        elif isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.stdout":
            yield node.lineno, "sys.stdout"


# -- the rules ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_point_down(layer):
    allowed = ALLOWED[layer]
    if allowed is None:
        return
    wrong = [
        f"{module}, line {line}: imports {name}"
        for module, tree in of_layer(layer).items()
        for line, name in imported(tree, module, package=module in PACKAGES)
        if layer_of(name) not in allowed | {layer} | ({"doors"} if module in PACKAGES else set())
    ]
    assert not wrong, f"{layer} may import from {sorted(allowed)} only:\n" + "\n".join(wrong)


def test_package_itself_offers_what_a_user_asks_first_and_imports_no_layer_but_through_its_door():
    found = {name for _, name in imported(modules()[""], package=True)}
    assert found == {"doors.door", "comparison.comparing.compare"}
    outside = [node for node in modules()[""].body if not isinstance(node, ast.If)]
    assert {n for node in outside for _, n in imported(node, package=True)} == {"doors.door"}


def through_a_door(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name of what is imported through the public door of a layer instead of from where it is defined."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in (n.removeprefix("shuffledp.") for n in names if n.startswith("shuffledp.")):
            if name in DOORS or (name.rpartition(".")[0] in DOORS and name not in PATHS):
                yield getattr(node, "lineno", 0), name


def test_the_library_never_imports_through_a_public_door():
    assert {"accounting", "protocols", "datasets", "numerics"} <= DOORS
    wrong = [
        f"{module}, line {line}: {name}"
        for module, tree in modules().items()
        for line, name in through_a_door(tree)
    ]
    assert not wrong, "import from the module that defines it:\n" + "\n".join(wrong)


def test_figures_read_results_and_nothing_else_of_experiments_and_plan_from_the_configuration():
    wrong = [
        f"{module}, line {line}: imports {name}"
        for module, tree in of_layer("figures").items()
        for line, name in imported(tree, module, package=module in PACKAGES)
        if (layer_of(name) == "experiments" or name.startswith(tuple(PLANS_FIGURES)))
        and ".".join(name.split(".")[:2])
        not in (FIGURES_MAY_USE | ({"experiments.config"} if module in PLANS_FIGURES else set()))
    ]
    assert not wrong, "\n".join(wrong)


def test_claims_read_results_in_one_place_and_nothing_else_of_experiments():
    wrong = [
        f"{module}, line {line}: imports {name}"
        for module, tree in of_layer("claims").items()
        for line, name in imported(tree, module, package=module in PACKAGES)
        if layer_of(name) == "experiments"
        and not (module == READS_RESULTS and ".".join(name.split(".")[:2]) in FIGURES_MAY_USE)
    ]
    assert not wrong, "\n".join(wrong)


def test_accounting_never_draws_random_numbers():
    wrong = [
        f"{module}, line {line}: {what}"
        for module, tree in of_layer("accounting").items()
        for line, what in random_numbers(tree)
    ]
    assert not wrong, "\n".join(wrong)


def test_only_the_command_line_prints():
    wrong = [
        f"{module}, line {line}: {what}"
        for module, tree in modules().items()
        if layer_of(module) not in MAY_PRINT
        for line, what in prints(tree)
    ]
    assert not wrong, "use logging instead:\n" + "\n".join(wrong)


# -- the table itself ---------------------------------------------------------------------------------------------


def test_every_layer_is_in_the_table():
    assert sorted(ALLOWED) == LAYERS


def test_table_has_no_circle():
    TopologicalSorter({layer: allowed or () for layer, allowed in ALLOWED.items()}).prepare()


def test_architecture_page_shows_the_layers_that_exist():
    block = re.search(r"^    src/shuffledp/\n((?:        .*\n)+)", PAGE, re.MULTILINE)
    assert block, "the page shows no tree of src/shuffledp/"
    # Eight spaces and a name; descriptions that go on in the next line stand further right.
    lines = re.findall(r"^ {8}(\S.*)$", block[1], re.MULTILINE)
    shown = [
        name for line in lines for name in re.findall(r"\b(\w+)(?:/|\.py\b)", re.split(r" {2,}", line)[0])
    ]
    assert sorted(shown) == LAYERS


def test_architecture_page_places_every_layer_in_the_order_of_imports():
    rule = PAGE.partition("Imports point down this list only:")[2].partition("## ")[0]
    missing = {layer for layer in LAYERS if not re.search(rf"\b{layer}\b", rule)}
    alone = {"jobs", "main_process", "provenance"}  # import each other at most, and serve the workflow only
    assert missing <= alone, f"the page does not say where {sorted(missing - alone)} stand"
    users = {m for m, tree in modules().items() for _, name in imported(tree, m) if layer_of(name) in alone}
    assert users <= alone, f"{sorted(users)} import what the page does not place"


PAPERS = {"random_population", "dump", "segmented", "summation", "shuffle_gaussian"}
#: Within accounting: what holds for any protocol, then a package per paper, what the papers compare with, questions.
ACCOUNTING_MAY_USE = {
    "general": set(),
    **{p: {"general"} for p in PAPERS},
    "baselines": {"general", *PAPERS},
    "questions": {"general", "baselines", *PAPERS},
}


def test_packages_of_accounting_point_down_too():
    packages = {name.split(".")[1] for name in PACKAGES if name.startswith("accounting.")}
    assert packages == set(ACCOUNTING_MAY_USE)
    wrong = [
        f"{module}, line {line}: imports {name}"
        for module, tree in of_layer("accounting").items()
        for line, name in imported(tree, module, package=module in PACKAGES)
        for own, _, other in [(module.split(".")[1] if "." in module else "", "", name.split(".")[1:2])]
        if own in ACCOUNTING_MAY_USE
        and layer_of(name) == "accounting"
        and set(other) & packages - ACCOUNTING_MAY_USE[own] - {own}
    ]
    assert not wrong, "\n".join(wrong)


# -- the reading finds what it should ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "module", "package", "found"),
    [
        ("import shuffledp.protocols", "figures.plotter", False, ["protocols"]),
        ("import shuffledp.protocols.base as b", "figures.plotter", False, ["protocols.base"]),
        ("from shuffledp import protocols, __version__", "figures.plotter", False, ["protocols"]),
        ("from shuffledp.protocols import get", "figures.plotter", False, ["protocols.get"]),
        ("def f():\n    from shuffledp.pipeline.claims import check", "tasks", False, ["claims.check"]),
        ("if TYPE_CHECKING:\n    from shuffledp.tasks import Task", "numerics.roots", False, ["tasks.Task"]),
        ("from ..protocols import get", "figures.plotter", False, ["protocols.get"]),
        ("from .. import protocols", "figures", True, ["protocols"]),
        ("from . import protocols", "tasks", False, ["protocols"]),
        ("from .style import looks", "figures.plotter", False, ["figures.style.looks"]),
        ("from .style import looks", "figures", True, ["figures.style.looks"]),
        ("import shuffledp\nshuffledp.cli.main()", "tasks", False, ["cli"]),
        ("import_module('shuffledp.protocols.base')", "figures.plotter", False, ["protocols.base"]),
        ("importlib.import_module(f'shuffledp.pipeline.claims.{x}')", "figures.plotter", False, ["claims."]),
        ("import numpy, shuffledp\nprint(shuffledp.__version__)", "tasks", False, []),
        ("from tasks import protocols", "tasks", False, []),
    ],
)
def test_imports_are_found(source, module, package, found):
    assert [name for _, name in imported(ast.parse(source), module, package=package)] == found


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "from random import gauss",
        "from numpy import random",
        "from numpy.random import default_rng",
        "x = np.random.default_rng(1)",
        "def f(rng): ...",
        "n = law.sample(source)",
        "x = binom(3, 0.5).rvs()",
    ],
)
def test_random_numbers_are_found(source):
    assert list(random_numbers(ast.parse(source)))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from shuffledp.accounting import Infeasible", ["accounting.Infeasible"]),
        ("from shuffledp.accounting import *", ["accounting.*"]),
        ("from shuffledp import accounting", ["accounting"]),
        ("import shuffledp.accounting as a", ["accounting"]),
        ("from shuffledp.accounting import general", []),
        ("from shuffledp.accounting.errors import Infeasible", []),
        ("import shuffledp.accounting.errors", []),
    ],
)
def test_doors_are_found(source, found):
    assert [name for _, name in through_a_door(ast.parse(source))] == found


@pytest.mark.parametrize("source", ["print(1)", "print('x', file=log)", "sys.stdout.write('x')"])
def test_prints_are_found(source):
    assert list(prints(ast.parse(source)))
