"""The smallest run in a separate folder, and the workflow as a module of another workflow."""

import json
import os
import shutil
import subprocess

import pyarrow.parquet as pq
import pytest
import yaml

from pipeline_project import ROOT, SNAKEMAKE, Project

pytestmark = pytest.mark.whole_run

OTHER = """
configfile: "{folder}/config/config.yaml"
config.update({changes})

module shuffledp:
    snakefile: {snakefile}
    config: config

use rule * from shuffledp as shuffledp_*

rule mine:
    default_target: True
    input: "theirs/runs/random_population/variance/amplified.cells.parquet"
    output: "copy.parquet"
    shell: "cp {{input}} {{output}}"
"""


def smallest():
    return yaml.safe_load((ROOT / ".test/config/config.yaml").read_text())


def variances(table):
    return sorted({json.loads(point)["variance"] for point in pq.read_table(table)["point"].to_pylist()})


def test_the_smallest_run(project):
    shutil.copytree(ROOT / ".test/config", project.folder / ".test/config")
    where = ("--directory", ".test", "--configfile", ".test/config/config.yaml")
    project.succeeds("random_population_fig2", *where)
    results = project.folder / ".test/results"
    assert (results / "figures/random_population/fig2.png").is_file()
    assert variances(results / "runs/random_population/variance/amplified.cells.parquet") == [0, 5000, 10000]


@pytest.mark.parametrize("fetched", [False, True], ids=["folder", "fetched"])
def test_another_workflow_imports_this_one(project, tmp_path, monkeypatch, fetched):
    other = Project(tmp_path / "other")
    other.folder.mkdir()
    snakefile = f'"{project.folder}/workflow/Snakefile"'
    if fetched:  # from a repository of this machine in place of the host's
        commit = committed(project.folder)
        snakefile = f'github("somebody/{project.folder.name}", path="workflow/Snakefile", commit="{commit}")'
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.file://{project.folder.parent}/.insteadOf")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://github.com/somebody/")
    changes = smallest() | {"results": "theirs"}
    (other.folder / "Snakefile").write_text(
        OTHER.format(folder=project.folder, snakefile=snakefile, changes=changes)
    )
    if not fetched:  # which jobs: the fetched workflow has the same, and runs them
        assert "experiment_random_population_variance" in other.succeeds("--dry-run")
        return
    other.succeeds()
    assert variances(other.folder / "copy.parquet") == [0, 5000, 10000]
    assert not (project.folder / "results").exists()
    assert "Nothing to be done" in other.succeeds()


def committed(folder):
    """Return the commit of a new repository with all files of a folder."""
    author = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    for command in (["init", "--quiet"], ["add", "."], [*author, "commit", "--quiet", "--message", "All"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_catalog_reads_workflow_with_snakemake_alone(project, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import pathlib, sys\n"
        "sys.path[:] = [p for p in sys.path if not pathlib.Path(p, 'shuffledp').is_dir()]\n"
    )
    alone = os.environ | {"PYTHONPATH": str(tmp_path)}

    def run(*arguments):
        command = [str(SNAKEMAKE), *arguments]
        return subprocess.run(
            command, cwd=project.folder, env=alone, capture_output=True, text=True, check=False
        )

    lint = run("--lint")
    assert lint.returncode == 0, lint.stderr
    started = run("--cores", "1")
    assert started.returncode == 1
    assert "pip install '.[pipeline]'" in started.stderr + started.stdout
