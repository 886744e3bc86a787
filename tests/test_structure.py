"""The table of packages, with their lines and imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts_by_file import script

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def structure():
    return script("benchmarks/structure.py")


def test_every_package_has_a_row_and_every_exception_a_module(structure):
    packages = {path.parent.name for path in (ROOT / "src/shuffledp").glob("*/__init__.py")}
    assert packages <= set(structure.LAYERS)
    assert all(structure.modules(layer) for layer in structure.LAYERS)
    assert all((structure.SOURCE / file).is_file() for file in structure.LONG)


def test_the_start_of_the_library_runs_and_loads_none_of_the_slow_modules_of_scipy(structure):
    """Slow modules are imported only where they are needed; docs/benchmarks.md has the time of the rest."""
    slow = "{'scipy.' + name for name in ('optimize', 'stats', 'signal', 'sparse', 'linalg', 'integrate')}"
    for program in structure.STARTS_OF_THE_LIBRARY.values():
        check = (
            f"{program}\nimport sys\nprint(sorted({slow} & set(sys.modules)), 'dp_accounting' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
        assert done.stdout == "[] False\n"
