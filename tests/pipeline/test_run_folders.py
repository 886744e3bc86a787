import os
import re
import subprocess
from pathlib import Path

import pytest

from shuffledp.pipeline import run_folders


@pytest.mark.parametrize(
    "folder, says",
    [
        ("there", None),
        ("file", "not a folder: '{}/file'"),
        ("file/below", "not a folder: '{}/file'"),
        ("fixed/a/b", "read-only: "),
    ],
)
def test_run_needs_writable_folders(tmp_path, monkeypatch, folder, says):
    (tmp_path / "there").mkdir()
    (tmp_path / "fixed").mkdir()
    (tmp_path / "file").touch()
    allowed = os.access
    monkeypatch.setattr(
        run_folders.os, "access", lambda path, mode: path.name != "fixed" and allowed(path, mode)
    )  # the system allows everything where tests run as root
    if says is None:
        run_folders.check_writable([tmp_path / folder, tmp_path / folder / "below"])
        return
    with pytest.raises(OSError, match=re.escape(says.format(tmp_path))):
        run_folders.check_writable([tmp_path / "there", tmp_path / folder])


def test_make_names_the_cache_variable(tmp_path):
    """Snakemake alone would end with a traceback."""
    root = Path(__file__).resolve().parents[2]
    command = ["make", "--makefile", str(root / "Makefile"), "-o", ".venv/.installed-run", "quick"]
    places = {"HOME": str(tmp_path / "file"), "PATH": os.environ["PATH"]}
    (tmp_path / "file").touch()
    done = subprocess.run(command, cwd=tmp_path, env=places, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    place = f"{tmp_path}/file/.cache"
    says = f"Snakemake cannot keep its cache in {place}: set HOME or XDG_CACHE_HOME to a folder that can be written."
    assert says in done.stderr.splitlines()
