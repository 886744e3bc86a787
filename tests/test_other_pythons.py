"""The script for unit tests on other versions of Python fails without an interpreter."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

import scripts_by_file

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def script():
    return scripts_by_file.script("tools/other_pythons.py")


def test_a_version_that_is_missing_is_named_and_fails(script, capsys):
    assert script.main(["3.99"]) == 1
    assert "Python 3.99: no environment" in capsys.readouterr().out


def test_the_tested_versions_start_at_the_lowest_supported_one(script):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    jobs = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))["jobs"]
    versions = jobs["tests"]["strategy"]["matrix"]["python"]
    assert versions == ["3.11", *script.VERSIONS]
    assert project["requires-python"] == f">={versions[0]}"
