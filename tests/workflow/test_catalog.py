"""The smallest run in a separate folder, and the workflow as a module of another workflow."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from pipeline_project import ROOT, Project

pytestmark = pytest.mark.whole_run

OTHER = """
configfile: "{folder}/config/config.yaml"
config.update({changes})

module shuffledp:
    snakefile: "{folder}/workflow/Snakefile"
    config: config

use rule * from shuffledp as shuffledp_*

rule mine:
    default_target: True
    input: "theirs/runs/random_population/variance/amplified.cells.parquet"
    output: "copy.parquet"
    shell: "cp {{input}} {{output}}"
"""


def smallest() -> dict:
    return yaml.safe_load((ROOT / ".test/config/config.yaml").read_text())


def variances(table: Path) -> list[float]:
    return sorted({json.loads(point)["variance"] for point in pq.read_table(table)["point"].to_pylist()})


def test_the_smallest_run(project):
    shutil.copytree(ROOT / ".test/config", project.folder / ".test/config")
    where = ("--directory", ".test", "--configfile", ".test/config/config.yaml")
    project.succeeds("random_population_fig2", *where)
    results = project.folder / ".test/results"
    assert (results / "figures/random_population/fig2.png").is_file()
    assert variances(results / "runs/random_population/variance/amplified.cells.parquet") == [0, 5000, 10000]


def test_another_workflow_imports_this_one_and_overrides_its_configuration(project, tmp_path):
    other = Project(tmp_path / "other")
    other.folder.mkdir()
    changes = smallest() | {"results": "theirs"}
    (other.folder / "Snakefile").write_text(OTHER.format(folder=project.folder, changes=changes))
    other.succeeds()
    assert variances(other.folder / "copy.parquet") == [0, 5000, 10000]
    assert not (project.folder / "results").exists()
