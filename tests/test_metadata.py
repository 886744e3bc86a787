"""The metadata of catalogs and archives agree with CITATION.cff, pyproject.toml, CHANGELOG.md and the rules."""

import json
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
CFF = yaml.safe_load((ROOT / "CITATION.cff").read_text())
ABOUT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_catalogs_have_the_citation():
    code = json.loads((ROOT / "codemeta.json").read_text())
    crate = {one["@id"]: one for one in json.loads((ROOT / "ro-crate-metadata.json").read_text())["@graph"]}
    released, papers = CFF["date-released"], {f"https://doi.org/{one['doi']}" for one in CFF["references"]}
    root, workflow = crate["./"], crate["workflow/Snakefile"]
    assert [one["version"] for one in (CFF, code, workflow)] == [ABOUT["version"]] * 3
    assert (code["datePublished"], root["datePublished"]) == (released, released)
    assert (code["description"], root["description"]) == (CFF["abstract"], CFF["abstract"])
    assert (code["keywords"], root["keywords"]) == (CFF["keywords"], ", ".join(CFF["keywords"]))
    assert code["softwareRequirements"] == ABOUT["dependencies"]
    assert {one["id"] for one in code["referencePublication"]} == papers
    assert {one["@id"] for one in workflow["citation"]} == papers
    assert all((ROOT / one["@id"]).is_file() for one in root["hasPart"])
    (snakemake,) = (one for one in crate.values() if one.get("name") == "Snakemake")
    assert snakemake["version"] == version("snakemake")
    entry = (ROOT / "README.md").read_text().partition("```bibtex\n")[2].partition("```")[0]
    assert CFF["title"] in entry
    assert f"version = {{{CFF['version']}}},\n  year = {{{released[:4]}}}" in entry


def test_version_and_date_are_those_of_the_package_and_the_changelog():
    assert f"## {CFF['version']} ({CFF['date-released']})\n" in (ROOT / "CHANGELOG.md").read_text()
    assert CFF["license"] == ABOUT["license"]
    assert [one["name"] for one in CFF["authors"]] == [one["name"] for one in ABOUT["authors"]]


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
