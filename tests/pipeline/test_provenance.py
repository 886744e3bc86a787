import platform
import subprocess

import numpy as np

from shuffledp.pipeline import provenance


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_commit_of_changed_files_is_marked(tmp_path):
    assert provenance.commit(tmp_path) == ""
    git(tmp_path, "init")
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-m", "first")
    head = provenance.commit(tmp_path)
    assert len(head) == 12
    (tmp_path / "new").write_text("untracked files do not count")
    assert provenance.commit(tmp_path) == head
    (tmp_path / "a").write_text("2")
    assert provenance.commit(tmp_path) == f"{head}+"


def test_provenance_has_job_versions_and_data(tmp_path):
    job = {"seed": 7, "method": "local"}
    about = provenance.of_job(job, "abc", {"source": "mirror", "note": ""}, tmp_path)
    assert about["job"] == job
    assert (about["seed"], about["config_sha256"]) == (7, "abc")
    assert about["data"]["source"] == "mirror"
    assert about["versions"]["python"] == platform.python_version()
    assert about["versions"]["numpy"] == np.__version__
