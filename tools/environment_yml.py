"""Writer of environment.yml from pyproject.toml and locks/run.txt, for ``make lock``; a test compares."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = """\
# For users of conda or mamba:
#   conda env create --file environment.yml && conda activate shuffledp && pip install --no-deps --editable .
# The same versions as locks/run.txt (made by `make lock`; a test compares them).
name: shuffledp
channels: [conda-forge, bioconda]
dependencies:
  - python=3.11
  - pip
  - pip:
"""


def pinned() -> dict[str, str]:
    """Return the version of each package of the run lock for Python 3.11; the first one if several are listed."""
    found: dict[str, str] = {}
    for name, version in re.findall(
        r"^([a-z0-9._-]+)==(\S+)", (ROOT / "locks/run.txt").read_text(), flags=re.M
    ):
        found.setdefault(name, version)
    return found


def content() -> str:
    """Return environment.yml: the direct dependencies of library and pipeline, with the locked versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = pinned()
    found = {}
    for requirement in project["dependencies"] + project["optional-dependencies"]["pipeline"]:
        match = re.match(r"([A-Za-z0-9._-]+)(\[[a-z,]+\])?", requirement)
        assert match is not None
        name = match[1].lower()
        found[name] = f"      - {name}{match[2] or ''}=={pins[name]}"
    lines = [found[name] for name in sorted(found)]
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / "environment.yml").write_text(content())
