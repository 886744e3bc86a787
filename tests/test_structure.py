"""The table of packages, their lines and imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts_by_file import script

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def structure():
    return script("benchmarks/structure.py")


def test_code_is_what_is_neither_blank_nor_comment_nor_docstring(structure):
    text = '"""A module.\n\nOf two functions.\n"""\n\nX = """text,\nno docstring"""\n\n# a comment\n'
    text += 'def f(x):\n    """One."""\n    return x  # more\n'
    assert structure.code_lines(text) == {6, 7, 10, 12}


def test_modules_are_counted_by_package(structure, tmp_path):
    package = tmp_path / "shuffledp/a"
    (package / "b").mkdir(parents=True)
    for file in ("__init__.py", "b/__init__.py", "b/c.py"):
        (package / file).write_text("X = 1\n")
    (tmp_path / "shuffledp/alone.py").write_text("X = 1\n" * 451)
    assert [one.name for one in structure.modules("a", tmp_path)] == [
        "shuffledp.a",
        "shuffledp.a.b",
        "shuffledp.a.b.c",
    ]
    (alone,) = structure.modules("alone", tmp_path)
    assert (alone.lines, alone.code) == (451, 451)
    assert structure.unexplained([alone]) == [alone]


def test_lines_of_one_protocol_alone_are_those_that_no_other_uses(structure, tmp_path, monkeypatch):
    monkeypatch.setattr(structure, "SOURCE", tmp_path)
    (tmp_path / "both.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from one import Own\n"
        "\n\ndef shared():\n    return RATE\n\n\nRATE = 1\n\n\n@staticmethod\ndef rare():\n    pass\n"
    )
    (tmp_path / "one.py").write_text(
        "from both import shared\n\n\nclass Own:\n    def f(self):\n"
        "        from both import rare\n        return shared, rare\n"
    )
    (tmp_path / "two.py").write_text("from both import shared\nfrom one import Own\nX = shared\nY = Own\n")
    assert structure.reached("one") == {
        ("one", "Own"),
        *(("both", name) for name in ("shared", "RATE", "rare")),
    }
    assert structure.lines_alone(["one"]) == {"one": 7 + 2 + 1 + 3}
    assert structure.lines_alone(["one", "two"]) == {"one": 3, "two": 4}
    (tmp_path / "three.py").write_text("from both import shared\nX = shared\n")
    assert structure.lines_alone(["one", "three"]) == {"one": 7 + 3, "three": 2}


def test_a_protocol_loads_its_file_and_the_interface(structure):
    found = structure.loaded("shuffledp.protocols.frequency.local")
    assert {"local.py", "base.py", "tasks.py"} <= {Path(file).name for file in found}
    assert not any(file.endswith("__init__.py") for file in found)
    assert structure.tokens(str(ROOT / "src/shuffledp/accounting/errors.py")) < 60


def test_every_package_has_a_row_and_every_exception_a_module(structure):
    packages = {path.parent.name for path in (ROOT / "src/shuffledp").glob("*/__init__.py")}
    assert packages <= set(structure.LAYERS)
    assert all(structure.modules(layer) for layer in structure.LAYERS)
    assert all((structure.SOURCE / file).is_file() for file in structure.LONG)


def test_an_import_is_measured_in_a_fresh_process(structure, monkeypatch):
    monkeypatch.setattr(structure, "STARTS", 1)
    assert 0 < structure.import_seconds(["shuffledp.numerics.argument_ranges"]) < 30
    with pytest.raises(RuntimeError, match="no_such_module"):
        structure.import_seconds(["no_such_module"])


def test_the_start_of_the_library_runs_and_loads_none_of_the_slow_modules_of_scipy(structure):
    """What takes long to import is imported where it is needed; how long the rest takes is in docs/benchmarks.md."""
    slow = "{'scipy.' + name for name in ('optimize', 'stats', 'signal', 'sparse', 'linalg', 'integrate')}"
    for program in structure.STARTS_OF_THE_LIBRARY.values():
        check = (
            f"{program}\nimport sys\nprint(sorted({slow} & set(sys.modules)), 'dp_accounting' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
        assert done.stdout == "[] False\n"


def test_every_start_is_measured(structure, monkeypatch):
    monkeypatch.setattr(structure, "STARTS", 1)
    monkeypatch.setattr(structure, "STARTS_OF_THE_LIBRARY", {"nothing": "pass"})
    assert 0 < structure.start_seconds()["nothing"] < 30
