# ruff: noqa: E501  (one case per line)
import ast
import re
import subprocess
import sys
import tomllib
from types import SimpleNamespace

import pytest
from snakemake.parser import parse

from scripts_by_file import ROOT
from shuffledp.optional_dependencies import MissingExtra, needed

RULES = [ROOT / "Snakefile", ROOT / "workflow/Snakefile", *sorted((ROOT / "workflow/rules").glob("*.smk"))]
PIN = re.compile(r"^([a-z0-9._-]+)==(\S+)( ; .*?)? \\\n((?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.M)


def pins(lock):
    """Return the versions of each package, several if they depend on Python or the platform."""
    found: dict[str, set[str]] = {}
    for name, version, *_ in PIN.findall(lock.read_text()):
        found.setdefault(name, set()).add(version)
    return found


def requirements(names):
    return [re.match(r"[A-Za-z0-9._-]+", name)[0].lower() for name in names]  # type: ignore[index]


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


#: Locks of extras that have no lock of the same name.
LOCK_OF = {"pipeline": "run", "central": "run", "data": "run", "s3": "run", "opendp": "test"}


@pytest.mark.parametrize("extra", project()["optional-dependencies"])
def test_direct_dependencies_are_locked_with_hashes(extra):
    locked = {name.replace("_", "-") for name in pins(ROOT / f"locks/{LOCK_OF.get(extra, extra)}.txt")}
    assert declared(extra) - locked == set()


# -- what is imported is declared, and the other way round ------------------------------------------------------

# Packages that are imported under another name than they are installed by.
INSTALLED_AS = {
    "PIL": "pillow",
    "griffe": "griffelib",
    "sklearn": "scikit-learn",
    "xdist": "pytest-xdist",
    "yaml": "pyyaml",
}


def source(*folders):
    """Return all Python source in some folders."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield ast.parse(path.read_text(encoding="utf-8"))


def translated(path):
    """Return a rule file as the Python code that Snakemake generates from it."""
    given = SimpleNamespace(get_path_or_uri=lambda secret_free: str(path))
    workflow = SimpleNamespace(sourcecache=SimpleNamespace(open=lambda source: path.open()))
    code: str = parse(given, workflow, {})[0]
    return code


def third_parties(trees):
    """Return the packages that code imports at any depth, under the names by which they are installed."""
    found = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    names = found - set(sys.stdlib_module_names) - {"shuffledp"}
    return {INSTALLED_AS.get(name, name).replace("_", "-").lower() for name in names}


def declared(*extras):
    wanted = list(project()["dependencies"])
    for extra in extras:
        wanted += project()["optional-dependencies"][extra]
    return {name.replace("_", "-") for name in requirements(wanted)}


def test_pipeline_imports_are_exactly_declared():
    used = third_parties(source("src", "workflow", "tools")) | third_parties(
        ast.parse(translated(path)) for path in RULES
    )
    checks = {
        "grimp",
        "mpmath",
        "hypothesis",
        "pytest",
    }  # make test-changed, make -C tools bad-arguments, property-tests
    modules = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "tools").glob("*.py")]
    # Modules and folders of the tests that targets run (make -C tools faults, make golden), and of the tools.
    ours = {
        *(path.stem.replace("_", "-") for path in modules),
        "properties",
        "golden",
        *(path.name for path in (ROOT / "tools").iterdir() if path.is_dir()),
    }
    mutants = {"cosmic-ray", "coverage", "parso"}  # make -C tools mutants
    auditors = {"numba", "pystatdp"}  # make -C tools outside-auditors
    assert used - {"jax", "opendp"} - checks - mutants - auditors - {"typst"} - ours == declared("pipeline")
    assert auditors == declared("auditors") - declared("pipeline")
    assert checks <= declared("test")
    assert mutants == {name for name in declared("mutants") if not name.startswith("pytest")} - declared(
        "pipeline"
    )
    assert declared("paper") - declared() == {"typst"}
    assert declared("learning") - declared() == {"jax"}
    assert declared("opendp") - declared() == {"opendp"}
    assert declared("central") - declared() == {"dp-accounting"}
    assert declared("data") - declared() == {"duckdb", "pydantic"}
    assert declared("central") | declared("data") <= declared("pipeline")


#: Packages in the wheel that work without an extra; all other packages belong to the pipeline.
LIBRARY = ("accountant", "accounting", "designs", "numerics", "populations", "protocols", "sampling")
LIBRARY_FILES = (
    "cli.py",
    "guarantees.py",
    "lazy_api.py",
    "optional_dependencies.py",
    "storage.py",
    "tasks.py",
)


def top_level(tree):
    """Return a module with only the imports that run when it is imported."""
    return ast.Module([node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], [])


def test_library_imports_only_its_requirements():
    """An extra of the library may add packages."""
    folders = list(source(*(f"src/shuffledp/{name}" for name in LIBRARY)))
    files = [ast.parse((ROOT / "src/shuffledp" / name).read_text(encoding="utf-8")) for name in LIBRARY_FILES]
    extras = {"dp-accounting", "matplotlib", "opendp", "pandas"}
    assert third_parties(folders) - extras == {"numpy", "scipy"}
    assert third_parties(map(top_level, [*folders, *files])) == declared() == {"click", "numpy", "scipy"}


@pytest.mark.parametrize("package, extra", [("pandas.core", "pipeline"), ("dp_accounting", "central")])
def test_a_missing_package_names_its_extra(package, extra):
    with (
        pytest.raises(MissingExtra, match=re.escape(f"pip install '.[{extra}]'")) as caught,
        needed(),
    ):
        raise ModuleNotFoundError("No module", name=package)
    assert caught.value.extra == extra
    assert isinstance(caught.value, ImportError)
    with pytest.raises(MissingExtra), needed(), needed():
        raise ModuleNotFoundError("No module", name=package)


# Put together here, so that this file does not contain what it looks for.
FORBIDDEN = {
    "a path of one machine": "|".join(f"(?<![\\w.:/])/{top}/" for top in ("wo" + "rk", "ho" + "me", "ro" + "ot", "Us" + "ers")),
    "a folder beside the project": r"\.\./" + "shared",
    "a package index": "|".join(("py" + r"pi\.(org|python)", "pythonho" + "sted", "arti" + "factory", "nex" + "us/repo")),
    "an index option": "--(extra-)?index" + "-url[ =]",
}  # fmt: skip


# .ci/ belongs to the machine that checks the project; nothing in it is needed to use the project.
def tracked():
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git repository")
    return [
        ROOT / name
        for name in done.stdout.decode().split("\0")
        if name and not name.startswith(".ci/") and (ROOT / name).is_file()
    ]


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_names_one_machine(what):
    pattern = re.compile(FORBIDDEN[what])
    found = []
    for path in tracked():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        found += [
            f"{path.relative_to(ROOT)}:{i}: {line[:100]}"
            for i, line in enumerate(lines, 1)
            if pattern.search(line)
        ]
    assert found == []
