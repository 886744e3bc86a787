"""The metadata are current, and agree with pyproject.toml, CHANGELOG.md and the configuration."""

import base64
import json
import re
from pathlib import Path

import pytest

from scripts_by_file import script
from shuffledp.pipeline.config.config_files import read_yaml

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


def test_every_paper_is_cited_with_the_authors_of_its_configuration(tool):
    papers = [
        read_yaml(path)["paper"]
        for path in (ROOT / "config/experiments").glob("*.yaml")
        if "\npaper:" in "\n" + path.read_text()
    ]
    cited = {
        (one["doi"], ", ".join(who["family-names"] for who in one["authors"]), one["title"].lower())
        for one in tool.citation()["references"]
    }
    assert cited == {(one["doi"], one["citation"].partition(". ")[0], one["title"].lower()) for one in papers}
    assert len(cited) == 5


def references(part):
    if isinstance(part, list):
        return {name for one in part for name in references(one)}
    if isinstance(part, dict):
        own = {part["@id"]} if set(part) == {"@id"} else set()
        return own | {name for one in part.values() for name in references(one)}
    return set()


def check_crate(folder):
    """Return the entities of a crate, after checks that references lead to entities and files exist."""
    graph = json.loads((folder / "ro-crate-metadata.json").read_text())["@graph"]
    entities = {one["@id"]: one for one in graph}
    assert len(entities) == len(graph)
    assert {name for name in references(graph) - set(entities) if not name.startswith("https://")} == set()
    files = [one["@id"] for one in graph if "File" in one["@type"]]
    assert [name for name in files if not (folder / name).is_file()] == []
    return entities


def test_the_crate_of_the_workflow_leads_to_files_and_papers(tool):
    entities = check_crate(ROOT)
    assert "ComputationalWorkflow" in entities[entities["./"]["mainEntity"]["@id"]]["@type"]
    assert len(entities["workflow/Snakefile"]["citation"]) == 5


def test_the_crate_of_a_run_has_its_inputs_results_and_times(tool, tmp_path):
    for name in ("config.yaml", "data/prepared/adult.json", "results/tiny/index.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    records = tmp_path / ".snakemake/metadata"
    records.mkdir(parents=True)
    for output, begin in (("results/tiny/index.html", 60), ("results/other/index.html", 0)):
        name = base64.urlsafe_b64encode(output.encode()).decode()
        (records / name).write_text(json.dumps({"starttime": begin, "endtime": begin + 60}))
    tool.write_run_crate("results/tiny", ["config.yaml"], tmp_path)
    tool.write_run_crate("results/tiny", ["config.yaml"], tmp_path)
    entities = check_crate(tmp_path / "results/tiny")
    run = entities["#run"]
    assert (run["startTime"], run["endTime"]) == ("1970-01-01T00:01:00+00:00", "1970-01-01T00:02:00+00:00")
    assert {one["@id"] for one in run["object"]} == {"inputs/config.yaml", "inputs/adult.json"}
    assert [one["@id"] for one in run["result"]] == ["index.html"]
    assert entities["index.html"]["contentSize"] == "23"


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
