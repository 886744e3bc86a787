"""Writer of environment.yml and workflow/envs/ for ``make -C tools lock``, from pyproject.toml and locks/."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = """\
# For users of conda or mamba:
#   conda env create --file environment.yml && conda activate shuffledp && pip install --no-deps --editable .
# The same versions as locks/run.txt (made by `make -C tools lock`; a test compares them).
name: shuffledp
"""
HEAD_OF_RULES = """\
# For `snakemake --software-deployment-method conda`: the versions of locks/{lock}.txt (made by `make -C tools lock`).
# The file beside it installs shuffledp itself. Not run: no channel was reachable where the project is tested.
"""
#: Extras of the environment of the rules, by the name of its lock.
ENVIRONMENTS = {"run": ("pipeline",), "learning": ("pipeline", "learning")}
POST_DEPLOY = """\
# In the activated environment; SHUFFLEDP_SOURCE is the folder of the project where it is not the working directory.
pip install --no-deps "${SHUFFLEDP_SOURCE:-.}"
"""


def pinned(lock: str) -> dict[str, str]:
    """Return the version of each package in a lock for Python 3.11; the first version if several are listed."""
    found: dict[str, str] = {}
    text = (ROOT / f"locks/{lock}.txt").read_text()
    for name, version in re.findall(r"^([a-z0-9._-]+)==(\S+)", text, flags=re.M):
        found.setdefault(name, version)
    return found


def content(lock: str = "run", head: str = HEAD) -> str:
    """Return an environment: the direct dependencies of the library and its extras, in the locked versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = pinned(lock)
    wanted = [name for extra in ENVIRONMENTS[lock] for name in project["optional-dependencies"][extra]]
    found = {}
    for requirement in project["dependencies"] + wanted:
        match = re.match(r"([A-Za-z0-9._-]+)(\[[a-z,]+\])?", requirement)
        assert match is not None
        name = match[1].lower()
        found[name] = f"      - {name}{match[2] or ''}=={pins[name]}"
    top = "channels: [conda-forge, bioconda]\ndependencies:\n  - python=3.11\n  - pip\n  - pip:\n"
    return head + top + "\n".join(found[name] for name in sorted(found)) + "\n"


def texts() -> dict[str, str]:
    """Return all files by name."""
    found = {"environment.yml": content()}
    for lock in ENVIRONMENTS:
        found[f"workflow/envs/{lock}.yaml"] = content(lock, HEAD_OF_RULES.format(lock=lock))
        found[f"workflow/envs/{lock}.post-deploy.sh"] = POST_DEPLOY
    return found


if __name__ == "__main__":
    for file, text in texts().items():
        (ROOT / file).parent.mkdir(exist_ok=True)
        (ROOT / file).write_text(text)
