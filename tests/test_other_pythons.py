"""The script that runs the unit tests on other versions of Python finds interpreters and never passes without one."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

import scripts_by_file

ROOT = Path(__file__).resolve().parents[1]
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture(scope="module")
def script():
    return scripts_by_file.script("tools/other_pythons.py")


def test_an_interpreter_is_found_on_the_path_or_under_pyenv(script, tmp_path):
    for folder in ("bin", f".pyenv/versions/{HERE}.1/bin"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"python{HERE}").symlink_to(sys.executable)
    on_path, pyenv = tmp_path / "bin", tmp_path / f".pyenv/versions/{HERE}.1/bin"
    assert script.find(HERE, str(on_path), tmp_path) == on_path / f"python{HERE}"
    assert script.find(HERE, "", tmp_path) == pyenv / f"python{HERE}"


def test_what_does_not_start_or_is_another_version_is_passed_over(script, tmp_path):
    broken = tmp_path / f"python{HERE}"
    broken.write_text("#!/bin/sh\necho 'not installed' >&2\nexit 127\n")
    broken.chmod(0o755)
    (tmp_path / "python3.99").symlink_to(sys.executable)
    assert script.find(HERE, str(tmp_path), tmp_path) is None
    assert script.find("3.99", str(tmp_path), tmp_path) is None


def test_a_version_that_is_missing_is_named_and_fails(script, capsys):
    assert script.main(["3.99"]) == 1
    assert "Python 3.99: no interpreter found" in capsys.readouterr().out


def test_the_versions_are_those_that_are_supported(script):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    low, high = (int(n) for n in re.findall(r"3\.(\d+)", project["requires-python"]))
    assert {f"3.{n}" for n in range(low, high)} == {"3.11", *script.VERSIONS}
