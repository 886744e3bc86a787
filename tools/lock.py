"""Resolve the lock files: ``make -C tools lock``.

The locks have versions and hashes for every platform and no index address. ``run`` has the library and the pipeline's
dependencies, ``library`` the library alone, and each other lock one extra on top of ``run``. All are resolved with the
versions of ``run``, so that a package has the same version in every lock. ``uv`` has the installer alone.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = os.environ | {"PYTHONPATH": str(ROOT / ".tools")}


def pins(lock: Path) -> str:
    """Return the versions in a lock without hashes, as constraints for another lock."""
    text = re.sub(r" \\\n( +--hash=\S+( \\\n)?)+", "", lock.read_text())
    return "\n".join(line for line in text.splitlines() if re.match(r"^[a-z0-9]", line)) + "\n"


def extras(name: str) -> tuple[str, ...]:
    """Return the extras in a lock, besides the library's dependencies."""
    return {"uv": (), "library": (), "run": ("pipeline",)}.get(name, ("pipeline", name))


def compile_lock(name: str) -> None:
    """Write locks/<name>.txt."""
    base, target = ROOT / "locks/run.txt", ROOT / f"locks/{name}.txt"
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
    command += [
        "--python-version",
        "3.11",
        "--no-emit-index-url",
        "--custom-compile-command",
        "make -C tools lock",
    ]
    command += ["--no-annotate", *(f"--extra={extra}" for extra in extras(name))]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        # The storage plug-in of Snakemake for S3 needs an older version of it than the other packages.
        constraints.write(pins(base) if name != "run" else "python-dateutil<3\n")
        constraints.flush()
        command += ["--constraint", constraints.name]
        source = "-" if name == "uv" else "pyproject.toml"
        command += [source, "-o", str(target)]
        subprocess.run(command, check=True, cwd=ROOT, env=TOOLS, input="uv\n", text=True)


if __name__ == "__main__":
    for lock_name in sys.argv[1:]:
        compile_lock(lock_name)
