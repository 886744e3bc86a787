"""The digest of a job's code covers all code that the job loads, and no other code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from shuffledp.pipeline.claims import claim_jobs, claim_tables as claims
from shuffledp.pipeline.config.config_files import merged, read_yaml
from shuffledp.pipeline.experiments.entry_points import entries
from shuffledp.pipeline.figures.selection import load_settings
from shuffledp.pipeline.rerun_digests.digest import Code
from shuffledp.pipeline.rerun_digests.source_summaries import PACKAGE, read_source

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "workflow/scripts"
SOURCES = sorted(PACKAGE.rglob("*.py"))


# -- one file ------------------------------------------------------------------------------------------------------

PLAIN = '''"""About."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def f(x: int) -> int:
    """More."""
    return x + 1
'''


def digest_of(text: str) -> str:
    return read_source(text.encode()).digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    return x", "    # why\n\n    return x"),
        ('"""About."""', '"""About something else."""'),
        ('    """More."""\n', ""),
        ("import Mapping", "import Mapping, Sequence"),
        ("return x + 1", "return (x+1)"),
    ],
)
def test_what_does_not_run_does_not_count(old, new):
    assert old in PLAIN
    assert digest_of(PLAIN.replace(old, new)) == digest_of(PLAIN)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x + 1", "x + 2"),
        ("x + 1", "x - 1"),
        ("def f", "def g"),
        ("(x: int)", "(x: int = 0)"),
        ("x + 1", "x + 1.0"),
        ("    return x + 1", "    if x:\n        return x + 1"),
        ("x + 1", "True + 1"),
    ],
)
def test_what_runs_counts(old, new):
    assert old in PLAIN
    assert digest_of(PLAIN.replace(old, new)) != digest_of(PLAIN)


def test_docstrings_count_where_the_module_reads_them():
    looking = PLAIN + "\nTEXT = f.__doc__\n"
    assert digest_of(looking.replace("More", "Less")) != digest_of(looking)


def test_a_text_that_is_no_docstring_counts():
    assert digest_of("x = 1\n'a'\n") != digest_of("x = 1\n'b'\n")


# -- from file to file, in a package made for it ---------------------------------------------------------------------

TREE = {
    "shuffledp/__init__.py": "",
    "shuffledp/door/__init__.py": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n"
        "    from shuffledp.door.red import paint\n"
        "    from shuffledp.door.blue import draw as sketch\n"
        "else:\n"
        "    __getattr__ = lambda name: name\n"
        "__all__ = ['paint', 'sketch']\n"
    ),
    "shuffledp/door/red.py": "from . import green\ndef paint(): ...\n",
    "shuffledp/door/blue.py": "PACKAGE_DATA = ('table.json',)\ndef draw(): ...\n",
    "shuffledp/door/table.json": "[1]",
    "shuffledp/door/green.py": "",
    "shuffledp/late.py": "def f():\n    from .door.red import paint\n",
    "shuffledp/typed.py": (
        "import typing\nif typing.TYPE_CHECKING:\n    import shuffledp.door.blue\nelse:\n    import shuffledp.late\n"
    ),
    "mine/plugin.py": "",
    "mine/helper.py": "from other import x\n",
    "mine/weights.csv": "1,2\n",
    "other/__init__.py": "x = 1\n",
}


def written(folder: Path, **changed: str) -> Code:
    for name, text in {**TREE, **changed}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Code(folder, package=folder / "shuffledp")


def reached(folder: Path, plugin: str) -> set[str]:
    found = written(folder, **{"mine/plugin.py": plugin}).reach(folder / "mine/plugin.py")
    files = {str(f.relative_to(folder.resolve())) for f in found.files} - {"mine/plugin.py"}
    return {name.partition(".")[2] or name for name in found.modules} | files


RED = {"shuffledp", "door", "door.red", "door.green"}
BLUE = {"shuffledp", "door", "door.blue", "shuffledp/door/table.json"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from shuffledp.door import paint", RED),
        ("from shuffledp.door import sketch", BLUE),
        ("from shuffledp.door import *", RED | BLUE),
        ("from shuffledp import door", RED | BLUE),
        ("import shuffledp.door as d", RED | BLUE),
        ("import shuffledp.door.green", {"shuffledp", "door", "door.green"}),
        ("from shuffledp.door import green", {"shuffledp", "door", "door.green"}),
        ("import shuffledp\nshuffledp.door.green.x", {"shuffledp", "door", "door.green"}),
        ("import shuffledp\ny = shuffledp.door.paint(1)", RED),
        ("import shuffledp.late", {"late"} | RED),
        ("import shuffledp.typed", {"typed", "late"} | RED),
        ("import importlib\nimportlib.import_module('shuffledp.late')", {"late"} | RED),
        ("def f():\n    from shuffledp.door.red import paint", RED),
        ("import numpy, json", set()),
        ("from helper import y", {"mine/helper.py", "other/__init__.py"}),
        ("import mine.helper", {"mine/helper.py", "other/__init__.py"}),
        ("open('weights.csv')", {"mine/weights.csv"}),
        ("load('helper.py')", {"mine/helper.py", "other/__init__.py"}),
        ("open('nowhere.csv')", set()),
    ],
)
def test_what_a_plugin_reaches(tmp_path, source, expected):
    assert reached(tmp_path, source) == expected


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("mine/helper.py", "from other import x\ny = 1\n"),
        ("mine/weights.csv", "1,3\n"),
        ("other/__init__.py", "x = 2\n"),
        ("shuffledp/door/red.py", "from . import green\ndef paint(): return 1\n"),
        (
            "shuffledp/door/__init__.py",
            TREE["shuffledp/door/__init__.py"].replace("red import", "blue import"),
        ),
    ],
)
def test_a_change_of_anything_reached_changes_the_digest(tmp_path, change, text):
    plugin = {"mine/plugin.py": "import helper\nfrom shuffledp.door import paint\nopen('weights.csv')\n"}
    before = written(tmp_path, **plugin).digest(tmp_path / "mine/plugin.py")
    after = written(tmp_path, **plugin, **{change: text}).digest(tmp_path / "mine/plugin.py")
    assert after != before


def test_package_data_counts(tmp_path):
    before = written(tmp_path).digest("shuffledp.door.blue")
    assert written(tmp_path, **{"shuffledp/door/table.json": "[2]"}).digest("shuffledp.door.blue") != before


def test_one_more_name_at_a_door_changes_nothing_for_those_who_do_not_use_it(tmp_path):
    before = written(tmp_path).digest("shuffledp.late")
    longer = TREE["shuffledp/door/__init__.py"].replace(
        "    from shuffledp.door.red", "    from shuffledp.door.green import z\n    from shuffledp.door.red"
    )
    longer = longer.replace("['paint',", "['paint', 'z',")
    assert written(tmp_path, **{"shuffledp/door/__init__.py": longer}).digest("shuffledp.late") == before


def test_the_digest_does_not_depend_on_where_the_folder_lies(tmp_path):
    plugin = {"mine/plugin.py": "import helper\nfrom shuffledp.door import sketch\n"}
    one, other = (
        written(tmp_path / name, **plugin).digest(tmp_path / name / "mine/plugin.py") for name in "ab"
    )
    assert one == other


def test_an_entry_that_does_not_exist_is_an_error(tmp_path):
    code = written(tmp_path)
    with pytest.raises(ValueError, match=r"no module 'shuffledp\.nothing'"):
        code.reach("shuffledp.nothing")
    with pytest.raises(ValueError, match=r"no file .*nothing\.py"):
        code.reach(tmp_path / "nothing.py")


# -- the real jobs ---------------------------------------------------------------------------------------------------


@cache
def settings():
    whole = read_yaml(ROOT / "config/config.yaml")
    config = merged(whole, read_yaml(ROOT / "config/quick.yaml"))
    return load_settings(merged(config, {"learning": "skip", "papers": whole["papers"]}), ROOT)


def method_jobs():
    """Return the plain data of every method's job."""
    return [
        experiment.job(method, 1)
        for paper in settings().papers.values()
        for experiment in paper.experiments.values()
        for method in experiment.methods
    ]


JOBS = method_jobs()
CLAIMS = [(paper.key, name) for paper in settings().papers.values() for name in paper.claims]


def starts() -> dict[str, tuple]:
    """Return the entries of every job by name; jobs with equal entries count once."""
    found: dict[tuple, str] = {}
    for job in JOBS:
        name = f"{job['paper']}.{job['experiment']}.{job['method']}"
        found.setdefault((SCRIPTS / "run_method.py", *entries(job, ROOT)), name)
    for paper, name in CLAIMS:
        found.setdefault((SCRIPTS / "claim_table.py", *claims.entries(paper, name)), f"claims {paper} {name}")
    for paper in claim_jobs.papers(settings().papers):
        found.setdefault((SCRIPTS / "verdicts.py", *claim_jobs.entries(paper)), f"verdicts {paper}")
    for script in ("draw_paper", "claims", "pages", "prepare_dataset", "train"):
        found[(SCRIPTS / f"{script}.py",)] = script
    return {name: start for start, name in found.items()}


STARTS = starts()
# Imports these in a process of its own, and says which modules of the package it then has. Starts that begin with the
# same modules branch off from one process that has imported these and nothing else.
DRIVER = """
import gc, importlib, json, os, sys
gc.disable()  # it would write to all that the processes share
import numpy, scipy.special, scipy.fft, pyarrow.parquet.core  # once for all; they hold no module of ours
sys.path.insert(0, sys.argv[1])
heavy = {"pandas", "requests", "docutils", "sklearn", "pydantic", "jsonschema", "matplotlib", "scipy.stats"}

def say(place):
    ours = sorted(m for m in sys.modules if m.partition(".")[0] == "shuffledp")
    print(json.dumps([place, ours, sorted(heavy & set(sys.modules))]), flush=True)

def branch(left):
    for first in dict.fromkeys(modules[0] for _, modules in left if modules):
        if os.fork() == 0:
            importlib.import_module(first)
            rest = [(place, modules[1:]) for place, modules in left if modules[:1] == [first]]
            for place, modules in rest:
                if not modules:
                    say(place)
            branch(rest)
            os._exit(0)
        if os.wait()[1]:
            os._exit(1)

branch(list(enumerate(json.load(sys.stdin))))
"""


def as_module(entry) -> str:
    if not isinstance(entry, Path):
        return entry
    if entry.is_relative_to(PACKAGE):
        return ".".join(["shuffledp", *entry.relative_to(PACKAGE).with_suffix("").parts])
    return entry.stem


@pytest.fixture(scope="module")
def loaded():
    """Return the modules of the package, and the slow libraries, that each start loads."""
    wanted = [[as_module(e) for e in start if not str(e).endswith(".yaml")] for start in STARTS.values()]
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(SCRIPTS)],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    answers = sorted(json.loads(line) for line in done.stdout.splitlines())
    assert [place for place, _, _ in answers] == list(range(len(STARTS)))
    return {name: (set(ours), heavy) for name, (_, ours, heavy) in zip(STARTS, answers, strict=True)}


def test_every_kind_of_job_is_looked_at():
    assert len(JOBS) > 100
    assert {"draw_paper", "claims", "pages", "prepare_dataset", "train"} < set(STARTS)
    assert any(name.startswith("claims") for name in STARTS)


METHODS = {name: start for name, start in STARTS.items() if start[0].name == "run_method.py"}


#: Modules that functions import only in rare cases; a digest includes them, as a job may need them.
IN_FUNCTIONS = {
    "shuffledp.accountant.wording",
    "shuffledp.accounting.general.clones",
    "shuffledp.accounting.general.exports",
    "shuffledp.accounting.general.gaussian",
    "shuffledp.accounting.general.opendp_export",
    "shuffledp.accounting.general.random_users",
    "shuffledp.accounting.general.rdp",
    "shuffledp.accounting.general.renyi_curve",
    "shuffledp.accounting.general.spent",
    "shuffledp.accounting.general.worst_population",
    "shuffledp.accounting.public_functions",
    "shuffledp.accounting.random_population.best_dummies",
    "shuffledp.accounting.random_population.report_errors",
    "shuffledp.accounting.user_functions",
    "shuffledp.numerics.repeated_indices",
    "shuffledp.protocols._planned_numbers",
    "shuffledp.protocols.streaming",
    *(f"shuffledp.sampling{part}" for part in ("", ".bits", ".clients", ".coins", ".laws", ".rationals")),
}


def test_a_digest_covers_every_module_that_the_job_loads(loaded):
    code = Code(ROOT)
    for name, start in STARTS.items():
        missed = loaded[name][0] - code.reach(*start).modules
        assert not missed, f"{name}: {sorted(missed)}"


def test_a_method_reaches_the_modules_that_it_loads_and_no_others(loaded):
    """Only a method's own closure has the modules that it imports at run time; imports inside functions are listed."""
    code = Code(ROOT)
    later = set()
    for name, start in METHODS.items():
        more = code.reach(*start).modules - loaded[name][0]
        assert more <= IN_FUNCTIONS, f"{name}: {sorted(more - IN_FUNCTIONS)}"
        later |= more
    assert later == IN_FUNCTIONS


def test_an_edit_of_any_module_changes_the_digest_of_a_method_that_loads_it_and_of_no_other(loaded):
    """Each module is edited once, with one method of each kind; another test compares what all methods load."""
    content_of = cache(Path.read_bytes)
    known = Code(ROOT, read=content_of)
    before = {name: known.digest(*start) for name, start in METHODS.items()}
    for changed in SOURCES:
        module = as_module(changed).removesuffix(".__init__")

        def read(path: Path, changed: Path = changed) -> bytes:
            return content_of(path) + b"\n_changed = 1\n" if path == changed else content_of(path)

        code = Code(ROOT, read=read)
        code._module_file = known._module_file  # there are as many files as before
        for loads in (True, False):
            if not loads and module in IN_FUNCTIONS:
                continue
            name = next((name for name in METHODS if (module in loaded[name][0]) is loads), None)
            if name is not None:
                rerun = code.digest(*METHODS[name]) != before[name]
                assert rerun is loads, f"{name} after an edit of {module}"


def test_an_edit_of_the_accounting_of_solh_reruns_solh_only():
    code, file = Code(ROOT), "shuffledp.accounting.baselines.solh"
    users = {job["method"] for job in JOBS if file in code.reach(*entries(job, ROOT)).modules}
    assert users == {"solh"}


def test_an_edit_of_what_a_claim_states_reruns_the_verdicts_of_its_paper_only():
    """Arguments of a decorator count, and no other job reaches a module that declares claims."""
    code = Code(ROOT)
    for paper in claim_jobs.papers(settings().papers):
        for module in claim_jobs.modules(paper, "_claims"):
            source = PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py").read_bytes()
            edited = re.sub(rb'\(\s*"[A-Z]+-', rb"\g<0>0", source, count=1)
            assert read_source(edited).digest != read_source(source).digest, module
            users = {name for name, start in STARTS.items() if module in code.reach(*start).modules}
            assert users == {f"verdicts {paper}"}


def test_no_method_job_loads_slow_libraries(loaded):
    slow = {
        name: heavy
        for name, (_, heavy) in loaded.items()
        if heavy and STARTS[name][0].name == "run_method.py"
    }
    assert not slow


def test_a_job_that_runs_loads_nothing_but_what_its_digest_covers(tmp_path):
    """One small job of each kind runs to its end in a process of its own."""
    program = (
        "import json, sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "import run_method\n"
        "from shuffledp.pipeline.experiments.bundle import Bundle\n"
        "for job in json.load(sys.stdin):\n"
        "    where = Bundle.of(Path(sys.argv[2]), job['paper'], job['experiment'], job['method'])\n"
        "    run_method.main(job, Path('nowhere'), Path('.'), Path(sys.argv[2]), where)\n"
        "print(json.dumps([m for m in sys.modules if m.partition('.')[0] == 'shuffledp']))\n"
    )
    small = [
        {**job, "repeats": 2, "grid": {name: values[:1] for name, values in job["grid"].items()}}
        for job in JOBS
        if (job["paper"], job["experiment"], job["method"])
        in {
            ("random_population", "poisson_even", "amplified"),
            ("random_population", "variance", "amplified"),
            ("dump", "synthetic", "solh"),
            ("segmented", "uniform", "balls_into_bins"),
            ("summation", "users", "central_laplace"),
            ("shuffle_gaussian", "sgd", "shuffle_c"),
        }
    ]
    assert len(small) >= 5
    code = Code(ROOT)
    for job in small:
        done = subprocess.run(
            [sys.executable, "-c", program, str(SCRIPTS), str(tmp_path)],
            input=json.dumps([job]),
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
        )
        assert done.returncode == 0, done.stderr
        ran = set(json.loads(done.stdout))
        covered = code.reach(SCRIPTS / "run_method.py", *entries(job, ROOT)).modules
        assert ran <= covered, f"{job['method']}: {sorted(ran - covered)}"


def test_every_data_file_of_the_package_belongs_to_a_job():
    """Templates of captions are inputs of drawing jobs."""
    code = Code(ROOT)
    owned = set().union(*(code.reach(*start).files for start in STARTS.values()))
    files = {
        path
        for path in PACKAGE.rglob("*")
        if path.is_file()
        and path.parent.name not in {"__pycache__", "captions"}
        and path.suffix != ".py"
        and path.name != "py.typed"
    }
    assert files <= owned, sorted(files - owned)


def test_no_module_imports_one_by_a_name_that_no_entry_gives():
    """Imports by a computed name are invisible in sources; all of them are known, and `entries` lists their modules."""
    known = {
        "lazy_api.py",
        "numerics/argument_ranges.py",  # classes in annotations, which a module imports for type checkers
        "protocols/base.py",  # the writer of clients, which no job calls
        "protocols/registry.py",
        "pipeline/experiments/runner.py",
        "pipeline/experiments/sources/__init__.py",
    }
    known |= {
        "pipeline/claims/claim_tables.py",
        "pipeline/claims/errata_data.py",
        "pipeline/claims/stated_claims.py",
    }
    found = {
        str(path.relative_to(PACKAGE))
        for path in SOURCES
        if "import_module(" in path.read_text(encoding="utf-8") and path.parent.name != "rerun_digests"
    }
    assert found == known
