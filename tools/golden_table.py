"""Write the golden table anew and list the differences: ``make golden``.

    python tools/golden_table.py                          all parts
    python tools/golden_table.py --only protocols/sets    parts whose names begin with this text
    python tools/golden_table.py --check                  list only; 1 if there is a difference

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
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from golden import tables  # noqa: E402
from golden.parts import PARTS  # noqa: E402
from golden.values import Rows  # noqa: E402

WITHOUT_AVX512 = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR", "OPENBLAS_CORETYPE": "Haswell"}
"""Environment in which NumPy and OpenBLAS compute as on a processor without AVX-512."""
Parts = Mapping[str, Callable[[], Rows]]


def renew(
    parts: Parts,
    folder: Path = tables.FOLDER,
    *,
    only: str = "",
    check: bool = False,
    workers: int = 1,
    elsewhere: Callable[[], Mapping[str, Rows]] = dict,
) -> int:
    """Compute parts, print their differences from the files, and write them; `check` returns 1 instead.

    `parts` has the function of each part; only parts whose names begin with `only` are computed. Files of removed parts
    are removed from `folder`. Before writing, `elsewhere` returns the parts on another processor.
    """
    names = {name for name in {*parts, *tables.parts_in(folder)} if name.startswith(only)}
    if not names:
        print(f"No part begins with {only!r}. Known: {', '.join(parts)}.")
        return 2
    after = computed({name: parts[name] for name in sorted(names) if name in parts}, workers)
    found = [
        one
        for name in sorted(names)
        for one in tables.differences(
            name,
            tables.read(name, folder),
            after.get(name, {}),
            tables.read(name, folder, "elsewhere"),
        )
    ]
    for line in tables.summary(found):
        print(line)
    kinds = Counter(one.kind for one in found)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "Nothing differs.")
    if check:
        return 1 if found else 0
    others = elsewhere()
    for name in names:
        if name in after:
            different = tables.only_different(after[name], others.get(name, after[name]))
            tables.write(name, after[name], folder, different)
        else:
            tables.path_of(name, folder).unlink()
    return 0


def computed(parts: Parts, workers: int) -> dict[str, Rows]:
    """Compute parts in several processes."""
    if workers == 1:
        return {name: compute() for name, compute in parts.items()}
    with ProcessPoolExecutor(workers) as pool:
        waiting = {name: pool.submit(compute) for name, compute in parts.items()}
        return {name: one.result() for name, one in waiting.items()}


def without_avx512(only: str, workers: int) -> Mapping[str, Rows]:
    """Compute parts in a process without AVX-512 instructions."""
    with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
        command = [sys.executable, __file__, "--only", only, "--workers", str(workers), "--rows", file.name]
        subprocess.run(command, check=True, env={**os.environ, **WITHOUT_AVX512})
        found: Mapping[str, Rows] = pickle.loads(Path(file.name).read_bytes())
        return found


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="beginning of the names of parts")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if anything differs")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--rows", type=Path, help="write the rows into this file and nothing else")
    given = parser.parse_args()
    if given.rows:
        wanted = {name: compute for name, compute in PARTS.items() if name.startswith(given.only)}
        given.rows.write_bytes(pickle.dumps(computed(wanted, given.workers)))
        return 0
    started = time.monotonic()
    code = renew(
        PARTS,
        only=given.only,
        check=given.check,
        workers=given.workers,
        elsewhere=partial(without_avx512, given.only, given.workers),
    )
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
