"""The start of the library loads no slow modules."""

import subprocess
import sys

SLOW = {f"scipy.{name}" for name in ("optimize", "stats", "signal", "sparse", "linalg", "integrate")} | {
    "dp_accounting"
}
START = """
import sys
import shuffledp.accountant as q, shuffledp.accounting as a, shuffledp.protocols as p
q.amplification, q.budget, q.smallest_batch, a.ClonesProfile, a.BlanketProfile, p.get
from shuffledp.accounting import *
from shuffledp.protocols import *
print(*sys.modules)
"""


def test_slow_modules_are_imported_when_needed():
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & SLOW == set()
