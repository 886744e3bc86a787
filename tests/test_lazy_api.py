"""Public packages offer all their names, and load nothing before a name is used."""

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

import shuffledp
from shuffledp.lazy_api import behind, homes, offered

PACKAGE = Path(shuffledp.__file__).parent
DOORS = sorted(
    ".".join(["shuffledp", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
    for path in PACKAGE.glob("*/**/*.py")
    if re.search(r"door\(\s*__name__", path.read_text(encoding="utf-8"))
)


def run(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("door", DOORS)
def test_every_name_is_its_homes_object(door):
    module = import_module(door)
    assert sorted(homes(door)) == module.__all__
    for name, (home, original) in homes(door).items():
        offered_there, own = getattr(module, name), getattr(import_module(home), original)
        assert own is behind(door, name)
        if isinstance(offered_there, FunctionType):  # its arguments are checked on the way
            offered_there, own = inspect.unwrap(offered_there), inspect.unwrap(own)
        assert offered_there is own
    assert dir(module) == module.__all__


def test_package_offers_only_main_names():
    assert dir(shuffledp) == shuffledp.__all__
    assert shuffledp.amplification is import_module("shuffledp.accountant").amplification
    for name in shuffledp.__all__:
        value = getattr(shuffledp, name)
        assert value.__name__ in (name, f"shuffledp.{name}")


@pytest.mark.parametrize("door", DOORS)
def test_no_name_hides_a_module(door):
    modules = {path.stem for path in PACKAGE.joinpath(*door.split(".")[1:]).glob("*.py")}
    assert not modules & set(homes(door))


TOPICS = [f"accounting.{path.parent.name}" for path in sorted(PACKAGE.glob("accounting/*/__init__.py"))]


@pytest.mark.parametrize("topic", TOPICS)
def test_topic_offers_only_public_names(topic):
    module, public = import_module(f"shuffledp.{topic}"), import_module("shuffledp.accounting")
    assert dir(module)
    assert set(dir(module)) < set(public.__all__)
    modules = {path.stem for path in (PACKAGE / topic.replace(".", "/")).glob("*.py")}
    assert not modules & set(dir(module))
    assert all(getattr(module, name) is getattr(public, name) for name in dir(module))
    with pytest.raises(AttributeError, match="has no attribute 'clone_dleta'"):
        _ = module.clone_dleta


def test_topics_cover_the_accounting():
    public = import_module("shuffledp.accounting")
    offered_by_topics = {name for topic in TOPICS for name in dir(import_module(f"shuffledp.{topic}"))}
    assert set(public.__all__) - offered_by_topics == {"Infeasible"}


def test_import_loads_nothing_before_first_use():
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


def test_named_protocol_loads_no_other():
    printed = run(
        "import sys\nfrom shuffledp.protocols import get\nget('frequency', 'solh')\n"
        "print(sorted(m for m in sys.modules if m.startswith('shuffledp.protocols.frequency.') and '._' not in m))"
    )
    assert printed.strip() == "['shuffledp.protocols.frequency.solh']"


def test_star_import_and_submodule_import():
    run(
        "from shuffledp.accounting import *\nassert callable(clone_delta) and callable(hockey_stick)\n"
        "import shuffledp.accounting.segmented.plans\nfrom shuffledp.accounting import segmented_plan\n"
        "assert callable(segmented_plan)"
    )


def test_unknown_name_is_attribute_error():
    accounting = import_module("shuffledp.accounting")
    with pytest.raises(AttributeError, match="no attribute 'clone_dleta'"):
        _ = accounting.clone_dleta
    assert not hasattr(accounting, "door_of_another_house")


#: Packages with the packages above them that now have some of their former names.
FORMER = {
    "shuffledp.accounting": ("shuffledp.accountant", "shuffledp.protocols.calibrations", "shuffledp.designs"),
}


@pytest.mark.parametrize("old, new", [(old, new) for old, places in FORMER.items() for new in places])
def test_former_name_warns_of_new_place(old, new):
    former, current = import_module(old), import_module(new)
    assert not set(dir(former)) & set(dir(current))
    for name in dir(current):
        with pytest.warns(
            DeprecationWarning, match=f"Import {name} from {new}; {old}.{name} ends with"
        ) as seen:
            assert getattr(former, name) is getattr(current, name)
        assert seen[0].filename == __file__


def test_nothing_here_uses_a_former_name():
    """The warning is no error in tests, so that older programs run beside them."""
    root = PACKAGE.parents[1]
    former = {
        f"{old}.{name}"
        for old, places in FORMER.items()
        for new in places
        for name in dir(import_module(new))
    }
    used = {
        f"{path.relative_to(root)}: {node.module}.{alias.name}"
        for folder in ("src", "tests", "tools", "benchmarks", "notebooks", "docs", "workflow")
        for path in (root / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if f"{node.module}.{alias.name}" in former
    }
    assert not used


def test_only_type_checking_imports_are_offered():
    tree = ast.parse(
        "from a import b\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from c import d as e\nelse:\n    from f import g\n"
    )
    assert offered(tree) == {"e": ("c", "d")}
