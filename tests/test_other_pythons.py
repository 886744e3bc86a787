"""The script for unit tests on other versions of Python fails without an interpreter."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import scripts_by_file

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def script():
    return scripts_by_file.script("tools/other_pythons.py")


def test_a_version_that_is_missing_is_named_and_fails(script, capsys):
    assert script.main(["3.99"]) == 1
    assert "Python 3.99: no environment" in capsys.readouterr().out


def test_the_versions_are_those_that_are_supported(script):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    low, high = (int(n) for n in re.findall(r"3\.(\d+)", project["requires-python"]))
    assert {f"3.{n}" for n in range(low, high)} == {"3.11", *script.VERSIONS}
