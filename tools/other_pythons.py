"""Run the unit tests on other Python versions, and with the lowest versions of the packages.

``python tools/other_pythons.py [VERSION ...] [-- pytest arguments]``; without a version, 3.12, 3.13 and ``lowest``: the
oldest versions of the direct dependencies in ``pyproject.toml``, on Python 3.11.

Every version has its own environment, ``.venv-3.12/`` and so on. The project's uv creates it from the lock files of
``.venv/``, so that the installation of the pinned versions is also tested. Tests of the pipeline, of notebooks and of
pages in a browser are skipped, as they start programs in ``.venv/`` or do not depend on the version of Python.

uv must find an interpreter, for example on the PATH. Only packages are downloaded. A version without an interpreter is
printed, and the script then fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.12", "3.13")
LOWEST, OLDEST_PYTHON = "lowest", "3.11"
LOCKS = ("test", "learning")
PYTEST = ("-m", "not pipeline and not browser", "--ignore=tests/notebooks")
SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def uv(*arguments: str) -> None:
    """Run the project's uv."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".tools"), "UV_PYTHON_DOWNLOADS": "never"}
    python = ROOT / ".venv/bin/python"
    subprocess.run([python, "-m", "uv", *arguments], check=True, env=environment, cwd=ROOT)


def environment_of(version: str) -> Path:
    """Return the Python of a version's environment, which is created anew if it is missing or outdated."""
    folder = ROOT / f".venv-{version}"
    python, stamp = folder / "bin/python", folder / ".installed"
    locks = [ROOT / f"locks/{name}.txt" for name in LOCKS]
    newest = max(path.stat().st_mtime for path in (*locks, ROOT / "pyproject.toml"))
    if stamp.exists() and stamp.stat().st_mtime >= newest:
        return python
    lowest = version == LOWEST
    uv("venv", "--quiet", "--clear", "--python", OLDEST_PYTHON if lowest else version, str(folder))
    install = ("pip", "install", "--quiet", "--python", str(python))
    if lowest:
        uv(*install, "--resolution", "lowest-direct", "--editable", ".[pipeline,test]")
    else:
        for lock in locks:
            uv(*install, "--require-hashes", "--requirement", str(lock))
        uv(*install, "--no-deps", "--editable", ".")
    stamp.touch()
    return python


def passes(version: str, arguments: Sequence[str]) -> bool:
    """Return whether the unit tests pass on a version; print the result and the reason of a failure."""
    try:
        python = environment_of(version)
    except subprocess.CalledProcessError:
        print(f"Python {version}: no environment. Is it installed, for example by `pyenv install {version}`?")
        return False
    # Old packages warn of newer ones; without JAX, training is not tested.
    others = ("-W", "default", "--ignore=tests/pipeline/learning") if version == LOWEST else ()
    done = subprocess.run(
        [python, "-m", "pytest", *PYTEST, *others, "-p", "no:cacheprovider", *arguments],
        check=False,
        cwd=ROOT,
        env={**os.environ, **SINGLE},
    )
    print(f"Python {version}: {'passed' if done.returncode == 0 else 'FAILED'}", flush=True)
    return done.returncode == 0


def main(arguments: Sequence[str]) -> int:
    """Run every version, even after a failure; return 0 if all pass."""
    given = list(arguments)
    cut = given.index("--") if "--" in given else len(given)
    versions, rest = given[:cut] or [*VERSIONS, LOWEST], given[cut + 1 :]
    passed = [passes(version, rest) for version in versions]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
