"""Version and date are the same in all files of metadata, and the graph has the rules of the workflow."""

import json
import re
import tomllib

import yaml

from scripts_by_file import ROOT

CFF = yaml.safe_load((ROOT / "CITATION.cff").read_text())


def test_version_and_date_agree():
    code = json.loads((ROOT / "codemeta.json").read_text())
    crate = {
        entity["@id"]: entity
        for entity in json.loads((ROOT / "ro-crate-metadata.json").read_text())["@graph"]
    }
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version, date = package["version"], CFF["date-released"]
    assert [entry["version"] for entry in (CFF, code, crate["workflow/Snakefile"])] == [version] * 3
    assert [code["datePublished"], crate["./"]["datePublished"]] == [date, date]
    assert f"## {version} ({date})\n" in (ROOT / "CHANGELOG.md").read_text()
    assert f"version = {{{version}}},\n  year = {{{date[:4]}}}" in (ROOT / "README.md").read_text()


def test_graph_has_rules_of_workflow():
    graph = (ROOT / "docs/images/rulegraph.svg").read_text()
    nodes = set(re.findall(r"class=\"node\">\s*<title>([a-z_]+)</title>", graph))
    files = [ROOT / "workflow/Snakefile", *(ROOT / "workflow").rglob("*.smk")]
    rules = {name for path in files for name in re.findall(r"^rule (\w+):", path.read_text(), re.MULTILINE)}
    assert rules - nodes == {"own_data", "runs", "summaries"}  # no part of the target `all`
    assert nodes <= rules
