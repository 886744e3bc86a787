"""Runs whose files storage providers of Snakemake keep: the same bytes, and jobs in separate folders."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from urllib.request import Request

import pytest

from pipeline_project import SNAKEMAKE, Project, copy_of_project
from s3_server import BUCKET, opened, s3
from shuffledp.userdata import files
from slurm_machine import Slurm, slurm, what_is_missing

CONFIG = os.environ.get("STORAGE_CONFIG", "config/tiny.yaml")
NEEDED = ("snakemake_storage_plugin_fs", "snakemake_storage_plugin_s3", "moto")
MISSING = [name for name in NEEDED if find_spec(name) is None] + ["rsync"] * (shutil.which("rsync") is None)
pytestmark = [
    pytest.mark.pipeline,
    pytest.mark.storage,
    pytest.mark.skipif(
        bool(MISSING), reason=f"not installed: {', '.join(MISSING)} (make storage; apt-get install rsync)"
    ),
]
#: One output of each kind of job of the tiny paper; the search for open questions reads no file.
BY_RULE = {
    "dataset_adult": "data/prepared/adult.sha256",
    "experiment_tiny_adult": "results/quick/runs/tiny/adult/local.sha256",
    "draw_tiny": "results/quick/figures/tiny/figures.sha256",
    "audit_share": "results/quick/claims/audit/sets.sha256",
    "audit": "results/quick/claims/audit.sha256",
    "claims": "results/quick/claims/claims.sha256",
    "pages": "results/quick/site.sha256",
}


@dataclass(frozen=True)
class Stored(Project):
    """Project whose runs keep all files with a storage provider."""

    options: tuple[str, ...]

    def environment(self) -> dict[str, str]:
        keys = {f"SNAKEMAKE_STORAGE_S3_{name}_KEY": "none" for name in ("ACCESS", "SECRET")}
        return super().environment() | keys | {"no_proxy": "127.0.0.1"}

    def command(self, *arguments: str) -> list[str]:
        return super().command(*self.options, "--shared-fs-usage", "none", *arguments)


@dataclass(frozen=True)
class StoredByCluster(Stored):
    """Project like `Stored` whose jobs run on Slurm: they share the run's folder, but no results."""

    cluster: Slurm

    def environment(self) -> dict[str, str]:
        return super().environment() | self.cluster.environment

    def command(self, *arguments: str) -> list[str]:
        shared = ("--shared-fs-usage", "persistence", "software-deployment", "sources", "source-cache")
        profile = ("--workflow-profile", "profiles/slurm")
        return [str(SNAKEMAKE), *profile, *self.options, *shared, *arguments]


def in_folder(folder):
    return "--default-storage-provider", "fs", "--default-storage-prefix", str(folder)


def kept(folder):
    """Return files of results and prepared data by name."""
    files = [path for top in ("results", "data/prepared") for path in (folder / top).rglob("*")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files if path.is_file()}


def uploaded(address, name):
    """Return the content of a file in the bucket; the server accepts any key, but requires one."""
    request = Request(f"{address}/{BUCKET}/a/run/{name}", headers={"Authorization": "AWS none:none"})
    with opened(request) as answer:
        return bytes(answer.read())


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    local = copy_of_project(tmp_path_factory.mktemp("local"))
    local.succeeds("--configfile", CONFIG)
    files = kept(local.folder)
    assert len(files) > 60
    return files


@pytest.fixture(scope="module")
def folder_run(tmp_path_factory):
    """Return the folder of the storage, and the run's output."""
    top = tmp_path_factory.mktemp("stored")
    project = Stored(copy_of_project(top / "project").folder, in_folder(top / "store"))
    output = project.succeeds("--configfile", CONFIG)
    assert not kept(project.folder)
    return top / "store", output


def test_other_folder_gives_same_bytes(folder_run, expected):
    store, _ = folder_run
    assert kept(store) == expected


def test_s3_gives_same_bytes(expected, tmp_path):
    with s3(tmp_path / "server.log") as address:
        there = ("--default-storage-provider", "s3", "--default-storage-prefix", f"s3://{BUCKET}/a/run")
        options = (*there, "--storage-s3-endpoint-url", address)
        project = Stored(copy_of_project(tmp_path / "project").folder, options)
        project.succeeds("--configfile", CONFIG)
        assert not kept(project.folder)
        assert [name for name, content in expected.items() if uploaded(address, name) != content] == []


@pytest.mark.slurm
@pytest.mark.skipif(CONFIG != "config/tiny.yaml", reason="needs the tiny paper")
@pytest.mark.skipif((lacking := what_is_missing()) is not None, reason=f"no Slurm: {lacking}")
@pytest.mark.parametrize("provider", ["fs", "s3"])
def test_slurm_with_storage_gives_same_bytes(provider, expected, tmp_path, monkeypatch):
    (tmp_path / "slurm").mkdir()
    runs = {name: content for name, content in expected.items() if "/runs/" in name or "prepared/" in name}
    with slurm(tmp_path / "slurm") as cluster, s3(tmp_path / "server.log") as address:
        monkeypatch.setenv("SNAKEMAKE_STORAGE_S3_ENDPOINT_URL", address)
        there = ("--default-storage-provider", "s3", "--default-storage-prefix", f"s3://{BUCKET}/a/run")
        options = in_folder(tmp_path / "store") if provider == "fs" else there
        project = StoredByCluster(copy_of_project(tmp_path / "project").folder, options, cluster)
        project.succeeds("--configfile", CONFIG, "--", "runs")
        assert set(cluster.jobs().values()) == {"COMPLETED"}
        assert not kept(project.folder)
        if provider == "fs":
            assert kept(tmp_path / "store") == runs
        else:
            assert [name for name, content in runs.items() if uploaded(address, name) != content] == []


@pytest.mark.skipif(CONFIG != "config/tiny.yaml", reason="needs the tiny paper")
def test_changed_s3_data_are_read_anew(tmp_path, monkeypatch):
    own = f"{{name: file, path: 's3://{BUCKET}/visits', column: color}}"
    project = copy_of_project(tmp_path / "project")
    paper = project.folder / "config/experiments/tiny.yaml"
    data = "{name: adult, column: sex, draw: without_replacement}"
    text = (
        paper.read_text()
        .replace(data, own)
        .replace("{law: binomial, trials: 48841, rate: 0.05}", "{users: 500}")
    )
    paper.write_text(text)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "none")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with s3(tmp_path / "server.log") as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        target = ("runs", "--configfile", CONFIG)
        for rows in (600, 700):
            with files.s3().open(f"s3://{BUCKET}/visits/day.csv", "wb") as upload:
                upload.write(b"color\n" + b"0\n1\n" * rows)
            assert project.jobs_of(project.succeeds(*target)) == {"local", "amplified"}
        assert "Nothing to be done" in project.succeeds(*target)
    (about,) = (project.folder / "data/prepared").glob("file_*.json")
    assert '"users": 1400' in about.read_text()


@pytest.mark.skipif(CONFIG != "config/tiny.yaml", reason="needs the tiny paper")
@pytest.mark.parametrize("rule", BY_RULE)
def test_inputs_alone_give_same_bytes(rule, folder_run, expected, tmp_path):
    store, _ = folder_run
    project = Stored(copy_of_project(tmp_path / "project").folder, in_folder(store))
    target = BY_RULE[rule]
    before = (store / target).stat().st_mtime_ns
    alone = ("--configfile", CONFIG, "--rerun-triggers", "mtime", "--force", "--", target)
    assert f"{rule} " in project.succeeds(*alone)
    assert (store / target).stat().st_mtime_ns > before
    assert kept(store) == expected
