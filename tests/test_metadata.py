"""The metadata are current, and agree with pyproject.toml, CHANGELOG.md and the configuration."""

import re
from pathlib import Path

import pytest

from scripts_by_file import script

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def tool():
    return script("tools/metadata.py")


def test_files_are_what_the_tool_writes(tool):
    assert {name: (ROOT / name).read_text() for name in tool.texts()} == tool.texts()
    assert "@software{shuffledp" in tool.readme()


def test_version_and_date_are_those_of_the_package_and_the_changelog(tool):
    cff, about = tool.citation(), tool.project()
    assert str(cff["version"]) == about["version"]
    assert f"## {cff['version']} ({cff['date-released']})\n" in (ROOT / "CHANGELOG.md").read_text()
    assert cff["license"] == about["license"]
    assert [one["name"] for one in cff["authors"]] == [one["name"] for one in about["authors"]]


def test_the_graph_has_the_rules_of_the_workflow():
    drawn = set(
        re.findall(
            r"class=\"node\">\s*<title>([a-z_]+)</title>", (ROOT / "docs/images/rulegraph.svg").read_text()
        )
    )
    rules = {
        name
        for path in (ROOT / "workflow").rglob("*")
        if path.name == "Snakefile" or path.suffix == ".smk"
        for name in re.findall(r"^rule (\w+):", path.read_text(), re.MULTILINE)
    }
    assert rules - drawn == {"own_data", "runs", "summaries"}  # no part of the target `all`
    assert drawn <= rules
