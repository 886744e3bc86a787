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


def test_the_start_of_the_library_runs_and_loads_none_of_the_slow_modules_of_scipy(structure):
    """Slow modules are imported only where they are needed; docs/benchmarks.md has the time of the rest."""
    slow = "{'scipy.' + name for name in ('optimize', 'stats', 'signal', 'sparse', 'linalg', 'integrate')}"
    for program in structure.STARTS_OF_THE_LIBRARY.values():
        check = (
            f"{program}\nimport sys\nprint(sorted({slow} & set(sys.modules)), 'dp_accounting' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
        assert done.stdout == "[] False\n"
