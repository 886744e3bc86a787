"""Public doors offer every name of a package and load nothing before it is used."""

from __future__ import annotations

import ast
import inspect
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

import shuffledp
from shuffledp.doors import behind, homes, offered

PACKAGE = Path(shuffledp.__file__).parent
DOORS = sorted(
    f"shuffledp.{path.parent.name}"
    for path in PACKAGE.glob("*/__init__.py")
    if "shuffledp.doors" in path.read_text(encoding="utf-8")
)


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_rooms_with_a_door():
    assert {"shuffledp.accounting", "shuffledp.protocols", "shuffledp.datasets"} <= set(DOORS)


@pytest.mark.parametrize("door", DOORS)
def test_every_name_is_there_and_is_that_of_its_home(door):
    module = import_module(door)
    assert sorted(homes(door)) == sorted(module.__all__)
    for name, (home, original) in homes(door).items():
        offered_there = getattr(module, name)
        if isinstance(offered_there, FunctionType):  # its arguments are checked on the way
            offered_there = inspect.unwrap(offered_there)
        assert offered_there is getattr(import_module(home), original) is behind(door, name)
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("door", DOORS)
def test_no_name_is_that_of_a_module_which_would_take_its_place(door):
    modules = {path.stem for path in (PACKAGE / door.partition(".")[2]).glob("*.py")}
    assert not modules & set(homes(door))


def test_a_door_loads_nothing_until_a_name_is_used():
    ours = "sorted(m for m in sys.modules if m.startswith('shuffledp.accounting'))"
    printed = run(
        f"import sys, shuffledp.accounting as a\nprint({ours})\na.Infeasible\nprint({ours})\n"
        "print('numpy' in sys.modules)"
    ).splitlines()
    assert printed == [
        "['shuffledp.accounting']",
        "['shuffledp.accounting', 'shuffledp.accounting.errors']",
        "False",
    ]


def test_a_protocol_by_its_name_loads_no_other_protocol():
    printed = run(
        "import sys\nfrom shuffledp.protocols import get\nget('frequency', 'solh')\n"
        "print(sorted(m for m in sys.modules if m.startswith('shuffledp.protocols.frequency.') and '._' not in m))"
    )
    assert printed.strip() == "['shuffledp.protocols.frequency.solh']"


def test_everything_at_once_and_a_module_behind_a_name():
    run(
        "from shuffledp.accounting import *\nassert callable(clone_delta) and callable(hockey_stick)\n"
        "import shuffledp.accounting.segmented.plans\nfrom shuffledp.accounting import segmented_plan\n"
        "assert callable(segmented_plan)"
    )


def test_an_unknown_name_is_an_attribute_error():
    accounting = import_module("shuffledp.accounting")
    with pytest.raises(AttributeError, match="no attribute 'clone_dleta'"):
        _ = accounting.clone_dleta
    assert not hasattr(accounting, "door_of_another_house")


def test_only_imports_for_type_checkers_are_offered():
    tree = ast.parse(
        "from a import b\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from c import d as e\nelse:\n    from f import g\n"
    )
    assert offered(tree) == {"e": ("c", "d")}


# Forgets what is ours before every import; libraries stay loaded, and hold no module of ours.
DRIVER = """
import importlib, json, sys
for module in json.load(sys.stdin):
    for name in [name for name in sys.modules if name.partition(".")[0] == "shuffledp"]:
        del sys.modules[name]
    try:
        importlib.import_module(module)
    except BaseException as error:
        print(f"{module}: {type(error).__name__}: {error}", flush=True)
"""


def test_every_module_can_be_imported_first():
    """No module counts on another one having been imported before it."""
    modules = [
        ".".join(["shuffledp", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
        for path in sorted(PACKAGE.rglob("*.py"))
        if "jax" not in path.read_text(encoding="utf-8")
    ]
    assert len(modules) > 150
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps(modules),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.stdout == ""
