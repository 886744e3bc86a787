"""Write the golden table anew and list the differences: ``make golden``.

    python tools/golden_table.py                          all parts
    python tools/golden_table.py --only protocols/sets    parts whose names begin with this text, or with one of several

The table (``tests/golden/table/``) has results of every protocol, of the accountant, of a tiny run of every experiment,
of claims and errata. Tests compare the results of the code with the table. Copy the printed lines into the changelog.

NumPy and OpenBLAS use the instructions of the processor, so that optima and differences of nearly equal numbers depend
on it beyond 12 digits. The table is computed twice: on this processor, and without AVX-512. A quantity that differs is
stored with both values.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from golden import tables  # noqa: E402
from golden.parts import PARTS  # noqa: E402
from golden.values import Rows  # noqa: E402
from shuffledp.pipeline.reference.comparator import report  # noqa: E402

#: Environment in which NumPy and OpenBLAS compute as on a processor without AVX-512.
WITHOUT_AVX512 = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR", "OPENBLAS_CORETYPE": "Haswell"}


def computed(names: Sequence[str], workers: int) -> dict[str, Rows]:
    """Compute parts in several processes."""
    with ProcessPoolExecutor(workers) as pool:
        waiting = {name: pool.submit(PARTS[name]) for name in names}
        return {name: one.result() for name, one in waiting.items()}


def without_avx512(only: Sequence[str], workers: int) -> Mapping[str, Rows]:
    """Compute parts in a process without AVX-512 instructions."""
    with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
        command = [sys.executable, __file__, "--workers", str(workers), "--rows", file.name]
        asked = [f"--only={beginning}" for beginning in only]
        subprocess.run([*command, *asked], check=True, env={**os.environ, **WITHOUT_AVX512})
        found: Mapping[str, Rows] = pickle.loads(Path(file.name).read_bytes())
        return found


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], help="beginning of the names of parts")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--rows", type=Path, help="write the rows into this file and nothing else")
    given = parser.parse_args()
    beginnings = tuple(given.only) or ("",)
    names = sorted(name for name in {*PARTS, *tables.parts_in()} if name.startswith(beginnings))
    if not names:
        sys.exit(f"No part begins with {' or '.join(beginnings)}. Known: {', '.join(PARTS)}.")
    after = computed([name for name in names if name in PARTS], given.workers)
    if given.rows:
        given.rows.write_bytes(pickle.dumps(after))
        return
    others = without_avx512(given.only, given.workers)
    moved = 0
    for name in names:
        before, other = tables.read(name), tables.read(name, section="elsewhere")
        comparison = tables.differences(name, before, after.get(name, {}), other)
        lines = list(report(comparison))
        for line in lines:
            print(f"{name}: {line}")
        if lines and name in after:
            rows = tables.merge_rows(before, after[name], comparison)
            tables.write(name, rows, elsewhere=tables.only_different(rows, others[name]))
        elif lines:
            tables.path_of(name).unlink()
        moved += bool(lines)
    print(f"{moved} of {len(names)} parts differ and are written anew.")


if __name__ == "__main__":
    main()
