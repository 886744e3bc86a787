"""Rules for sources that the import contracts in pyproject.toml do not cover; sources are parsed."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter

from scripts_by_file import ROOT

PACKAGE = ROOT / "src/shuffledp"
MAY_PRINT = {"cli", "protocols.client.files"}  # the latter is copied into programs


def paths():
    """Return every module of the package by its dotted name without the package: ``accounting.errors``, ``tasks``."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        found[".".join(parts)] = path
    return found


PATHS = paths()


@cache
def modules():
    """Return every module, parsed once for all tests."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in PATHS.items()}


def wrong(found, of=lambda module: True):
    """Return the places that a rule finds in modules, a line each."""
    return "\n".join(
        f"{module}, line {line}: {what}"
        for module, tree in modules().items()
        if of(module)
        for line, what in found(tree)
    )


def random_numbers(tree):
    """Return line and name of code that draws random numbers or takes a generator."""
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


def prints(tree):
    """Return line and name of code that writes to the terminal."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"print", "pprint"}
        ):
            yield node.lineno, node.func.id
        elif isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.stdout":
            yield node.lineno, "sys.stdout"


def imported(tree):
    """Return line and name of the package's modules that a module imports, in functions and for type checkers too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            inside = name.removeprefix("shuffledp.") if name.startswith("shuffledp.") else name
            if name != inside:
                yield node.lineno, inside if inside in PATHS else inside.rpartition(".")[0]


def test_no_circle_of_files():
    arrows = {module: {name for _, name in imported(tree)} - {module} for module, tree in modules().items()}
    TopologicalSorter(arrows).prepare()  # raises CycleError with the modules of a circle


def test_accounting_never_draws_random_numbers():
    found = wrong(random_numbers, lambda module: module.partition(".")[0] in {"accounting", "accountant"})
    assert not found, found


def test_only_the_command_line_prints():
    found = wrong(prints, lambda module: module not in MAY_PRINT)
    assert not found, "use logging instead:\n" + found


def test_package_imports_its_names_lazily():
    outside = [node for node in modules()[""].body if not isinstance(node, ast.If)]
    found = [n.module for node in outside for n in ast.walk(node) if isinstance(n, ast.ImportFrom)]
    assert [name for name in found if name and name.startswith("shuffledp")] == ["shuffledp.lazy_api"]


def test_architecture_page_shows_package_entries():
    """The package has at most 20 entries."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    block = re.search(r"^src/shuffledp/\n((?:    .*\n)+)", page, re.MULTILINE)
    assert block, "the page shows no tree of src/shuffledp/"
    lines = re.findall(r"^ {4}(\S.*)$", block[1], re.MULTILINE)  # descriptions go on further right
    shown = [n for line in lines for n in re.findall(r"\b(\w+)(?:/|\.py\b)", re.split(r" {2,}", line)[0])]
    entries = {path.stem for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    assert sorted(shown) == sorted(entries - {"__init__", "py"})
    assert len(entries - {"__main__"}) <= 20  # two lines, which Python looks for


REPLACED_BY_NOBODY = ("snakemake", "matplotlib", "multiprocessing", "workflow")


def of_other_packages(tree):
    """Return line and text of private names of other packages, and of assignments to their objects."""
    roots = {"workflow": "workflow"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            if getattr(node, "level", 0) or module.startswith("shuffledp"):
                continue
            for alias in node.names:
                roots[(alias.asname or alias.name).partition(".")[0]] = module or alias.name
                if re.search(r"(^|\.)_(?!_)", f"{module}.{alias.name}"):
                    yield node.lineno, ast.unparse(node)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and re.match(r"_(?!_)", node.attr)
            and node.attr not in own_private()
        ):
            yield node.lineno, ast.unparse(node)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            root = ast.unparse(target).partition(".")[0] if isinstance(target, ast.Attribute) else ""
            if roots.get(root, "").partition(".")[0] in REPLACED_BY_NOBODY:
                yield node.lineno, ast.unparse(target)


@cache
def own_private():
    """Return the private names that the project's code defines, and the public ones with an underscore."""
    code = "".join(path.read_text(encoding="utf-8") for path in python_files())
    own = re.findall(r"(?:def |class |self\.|cls\.|^ *)(_[A-Za-z]\w*)", code, re.MULTILINE)
    return frozenset(own) | {"_replace", "_asdict", "_fields", "_exit"}


def python_files():
    return [
        path for part in ("src", "workflow/scripts", "tools") for path in sorted((ROOT / part).rglob("*.py"))
    ]


def test_other_packages_are_used_by_interface():
    """Nothing of them is replaced, and no private name is used."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in python_files()}
    rules = [*ROOT.glob("workflow/rules/*.smk"), ROOT / "Snakefile", ROOT / "workflow/Snakefile"]
    found = [
        f"{path}: {line}: {what}" for path, tree in trees.items() for line, what in of_other_packages(tree)
    ]
    for path in rules:
        text = path.read_text(encoding="utf-8")
        found += re.findall(
            r"^ *(?:from|import) .*\b_\w+.*|^ *(?:workflow|snakemake)\.[\w.]+ *=.*", text, re.MULTILINE
        )
    assert not found, "\n".join(found)


#: Functions whose texts come from files, commands or tables, and are checked before or in the function.
OPEN_TEXTS = {
    *("law_of", "arrivals_named", "number_of", "place", "_text_of_type", "_broken", "left_out", "_values"),
    *("_text", "class_source", "_check", "check_atoms", "quick_design", "_checked", "_noise"),
}


def compared_texts(function):
    """Return the texts with which conditions compare each argument that is declared as a text."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    texts = {a.arg: set() for a in arguments if a.annotation and ast.unparse(a.annotation) == "str"}
    for node in ast.walk(function):
        for test in ast.walk(node.test) if isinstance(node, ast.If | ast.IfExp) else ():
            if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id in texts:
                texts[test.left.id] |= set(re.findall(r"'(\w\w+)'", ast.unparse(test.comparators[0])))
    return texts


def test_choice_between_names_is_literal():
    """A type checker then refuses an unknown name, and a public function does so at run time."""
    open_choices = [
        f"{module}.{node.name}: declare {name} as the Literal of {', '.join(sorted(texts))} and the other names."
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name not in OPEN_TEXTS
        for name, texts in compared_texts(node).items()
        if len(texts) > 1
    ]
    assert not open_choices, "\n".join(open_choices)
