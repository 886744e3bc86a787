"""Parts of NumPy that nothing here uses are not loaded by SciPy's special functions, and work when they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

PARTS = ("numpy.f2py.crackfortran", "numpy.testing._private.utils")


def output(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


# Modules with which jobs begin, and one that loads SciPy itself before anything of numerics.
@pytest.mark.parametrize(
    "module",
    ["numerics.tails", "accounting.baselines.split_and_mix", "experiments.simulated", "claims.dump"],
)
def test_special_functions_come_without_them(module):
    program = f"import sys, shuffledp.{module}\nprint('scipy.special' in sys.modules, *sys.modules)"
    first, *loaded = output(program).split()
    assert first == "True"
    assert not set(PARTS) & set(loaded)


@pytest.mark.parametrize(
    "program",
    [
        "import numpy as np; np.testing.assert_allclose(1, 1); print(np.f2py.__name__)",
        "import numpy.testing; numpy.testing.assert_allclose(1, 1); import numpy.f2py as f; print(f.__name__)",
        "from numpy.testing import assert_allclose; from numpy import f2py; f2py.get_include; print(f2py.__name__)",
        "import numpy.testing as t; from numpy import testing as s; assert s is t; print('numpy.f2py')",
        "import numpy as np; list(map(repr, vars(np).values())); print(np.f2py.__name__)",
    ],
)
def test_they_work_when_they_are_used(program):
    assert output(f"import shuffledp.numerics.tails; {program}").strip() == "numpy.f2py"


def test_what_they_do_not_have_is_said_to_be_missing():
    program = "import shuffledp.numerics, numpy as np\ntry: np.testing.nothing\nexcept AttributeError as e: print(e)"
    assert output(program).strip() == "module 'numpy.testing' has no attribute 'nothing'"
