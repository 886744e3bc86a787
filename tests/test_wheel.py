"""The wheel in a new environment with numpy, scipy and click: the library and its command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts_by_file import ROOT

BASE = {"click", "numpy", "scipy"}
#: Public functions that use dp-accounting, so that their examples need the extra.
CENTRAL = {f"accounting.{name}" for name in ("central_replacement_epsilon", "to_pld")}
ACCOUNT = ("account", "--eps-local", "4", "--users", "1000000", "--delta", "1e-6")
#: Variables of this process that programs and packages need, without paths of the checkout's packages.
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
}


def uv(*arguments):
    """Run the project's uv, which contains the build backend."""
    return subprocess.run(
        [sys.executable, "-m", "uv", *arguments],
        cwd=ROOT,
        env={**ENVIRONMENT, "PYTHONPATH": str(ROOT / ".tools"), "UV_PYTHON_DOWNLOADS": "never"},
        capture_output=True,
        text=True,
        check=False,
    )


def done(*arguments):
    process = uv(*arguments)
    assert process.returncode == 0, process.stderr


@dataclass(frozen=True)
class Environment:
    """Separate environment in a separate folder."""

    folder: Path

    @property
    def python(self) -> str:
        return str(self.folder / "bin/python")

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.folder / "bin" / program), *arguments],
            cwd=self.folder,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel from the source distribution, as `make wheel` does."""
    folder = tmp_path_factory.mktemp("dist")
    done("build", "--quiet", "--out-dir", str(folder), str(ROOT))
    assert len(list(folder.glob("*.tar.gz"))) == 1
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def alone(wheel, tmp_path_factory):
    """Return an environment with the wheel and its requirements, in the locked versions."""
    environment = Environment(tmp_path_factory.mktemp("alone") / "venv")
    done("venv", "--quiet", "--python", sys.executable, str(environment.folder))
    install = ["pip", "install", "--quiet", "--python", environment.python]
    locked = [*install, "--require-hashes", "--requirement", "locks/library.txt"]
    # The cache has them where this environment was made. Elsewhere they are downloaded; without a network this fails.
    if uv(*locked, "--offline").returncode != 0:
        done(*locked)
    done(*install, "--offline", str(wheel))  # finds all that it requires, or fails
    return environment


@pytest.fixture(scope="module")
def report(alone):
    found = alone.run("python", "-I", "-W", "error", str(ROOT / "tests/alone_in_its_environment.py"))
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def test_wheel_has_every_package_file(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    packed = {name for name in names if name.startswith("shuffledp/")}
    source = {
        path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*") if path.is_file()
    }
    assert packed == {name for name in source if "__pycache__" not in name and ".egg-info" not in name}
    assert {name.partition("/")[0] for name in names - packed} == {
        f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"
    }
    assert "shuffledp/accounting/summation/designs.json" in packed


def test_wheel_requires_three_packages(wheel):
    (name,) = (n for n in zipfile.ZipFile(wheel).namelist() if n.endswith(".dist-info/METADATA"))
    metadata = zipfile.ZipFile(wheel).read(name).decode()
    required = re.findall(r"^Requires-Dist: ([A-Za-z0-9._-]+)[^;\n]*$", metadata, re.M)
    assert set(required) == BASE
    assert {"central", "learning", "opendp", "pipeline"} <= set(
        re.findall(r"^Provides-Extra: (\S+)$", metadata, re.M)
    )


def test_only_requirements_are_installed(alone, report):
    """The checkout is not used."""
    platform_only = {"colorama"}
    assert set(report["installed"]) - platform_only == {*BASE, "shuffledp"}
    assert report["place"].startswith(str(alone.folder))


@pytest.mark.parametrize("when", ["by the accounting", "by protocols", "by their use", "by every module"])
def test_only_numpy_and_scipy_are_loaded(report, when):
    assert set(report[when]) == {"numpy", "scipy", "shuffledp"} | ({"click"} & set(report[when]))
    assert report["modules"] > 150


def test_the_examples_of_public_names_run(report):
    assert {name for name, error in report["examples"].items() if error} == CENTRAL
    assert len(report["examples"]) > 50


def test_shipped_design_calibrates_a_protocol(report):
    assert report["design"]["designs"] >= 10
    assert 1 < report["design"]["bits"] < 100


def test_the_conformance_checks_run(report):
    assert report["cases"] > 5


@pytest.mark.parametrize(
    "call, extra",
    [
        *((name, "central") for name in ("to_pld", "gaussian", "replacement")),
        ("to_opendp", "opendp"),
        ("datasets", "pipeline"),
    ],
)
def test_what_needs_more_names_the_extra(report, call, extra):
    assert report["needs more"][call].startswith("MissingExtra: ")
    assert report["needs more"][call].endswith(f"pip install '.[{extra}]'")


def test_the_accountant_answers(alone):
    said = alone.run("shuffledp", *ACCOUNT)
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.startswith(
        "eps = 0.0493071: 1,000,000 users with a local budget of 4, delta = 1e-06.\n"
    )
    plain = json.loads(alone.run("shuffledp", *ACCOUNT, "--json").stdout)
    assert plain["reduction"] == "clones"
    assert plain["eps"] == pytest.approx(0.0493071, abs=1e-7)


def test_protocols_are_compared(alone):
    setting = ("--users", "30000", "--domain-size", "20", "--eps", "1", "--delta", "1e-8")
    said = alone.run(
        "shuffledp", "compare", *setting, "--protocols", "grr_blanket,pure_dump", "--json", "--rows-only"
    )
    assert said.returncode == 0
    assert [row["status"] for row in json.loads(said.stdout)] == ["ok", "ok"]


def test_protocols_are_listed(alone):
    said = alone.run("shuffledp", "protocols")
    assert (said.returncode, said.stderr) == (0, "")
    assert len(said.stdout.splitlines()) > 30


@pytest.mark.parametrize(
    "arguments, extra",
    [
        *(((name,), "pipeline") for name in ("check", "data", "reference", "repair", "verify")),
        (("export", "tables"), "pipeline"),
        (("compare", "--data", __file__, "--column", "v", "--eps", "1", "--delta", "1e-6"), "data"),
        (("merge", __file__, "-o", "all.json"), "data"),
        (
            (
                *("compare", "--users", "900", "--domain-size", "4", "--eps", "1", "--delta", "1e-6"),
                *("--protocols", "local", "--plot", "a.png"),
            ),
            "pipeline",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_missing_extra_is_one_line(alone, arguments, extra):
    said = alone.run("shuffledp", *arguments)
    assert (said.returncode, said.stdout) == (1, "")
    (line,) = said.stderr.splitlines()
    assert line.startswith("Error: This needs the package ")
    assert line.endswith(f"pip install '.[{extra}]'")
