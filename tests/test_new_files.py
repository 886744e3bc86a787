"""A new paper and a new protocol, as the commands write them, pass their tests unchanged."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts_by_file import ROOT
from shuffledp.pipeline import new_files

LEFT_OUT = {".git", ".venv", ".tools", ".snakemake", "raw", "prepared"}
TESTS_OF_A_PAPER = (
    "tests/pipeline/papers/coin_flips/test_claims.py",
    "tests/pipeline/claims/test_stated_claims.py",
    "tests/pipeline/claims/test_errata_data.py",
    "tests/pipeline/config/test_package.py",
    "tests/pipeline/figures/test_captions.py",
    "tests/golden/test_golden.py",
    "tests/golden/test_expected_errors.py",
    "tests/test_completeness.py",
    "tests/test_config_schema.py",
    "tests/test_documents.py",
    "tests/test_site.py",
)
#: Names of the tests of one paper, and of tests of all papers that a new one may fail.
NAMED_FOR_A_PAPER = (
    "coin_flips or schemas_are_what or files_of_the_project or every_page_is_in or (links_lead and README)"
)
TESTS_OF_A_PROTOCOL = (
    *("tests/protocols", "tests/golden/test_golden.py", "tests/accounting/test_package.py"),
    "tests/pipeline/audit",
    "tests/test_identities.py",
    "tests/test_completeness.py",
)


def left_out(folder, names):
    """Return the names in a folder that are no files of the repository."""
    made = set(names) - {"README.md"} if Path(folder) == ROOT / "results" else set()
    return made | (LEFT_OUT & set(names)) | {name for name in names if name.endswith("_cache")}


@pytest.fixture
def checkout(tmp_path):
    """Return a copy of the repository; compiled files stay valid, as the times of sources are copied."""
    return shutil.copytree(ROOT, tmp_path / "copy", ignore=left_out)


def python(checkout, *arguments):
    """Run Python in the copy, with the package of the copy; return its output."""
    found = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=checkout, env=found, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.whole_run
def test_a_new_paper_passes_its_tests(checkout):
    named = ["--title", "Coin flips", "--citation", "Doe and Roe. arXiv 2401.00001", "--prefix", "CF"]
    assert "wrote docs/coin_flips.md" in python(
        checkout, "-m", "shuffledp", "new-paper", "coin_flips", *named
    )
    tests = ["-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    python(checkout, *tests, "-k", NAMED_FOR_A_PAPER, *TESTS_OF_A_PAPER)
    assert "coin_flips" in python(checkout, "-m", "shuffledp", "check")


@pytest.mark.whole_run
def test_a_new_protocol_passes_its_tests(checkout):
    """The command writes one family; the files of the others are written without the comparison, which takes long."""
    for family, name in (("noisy_counts", "my_counts"), ("randomized_reports", "my_reports")):
        other = f"list(new_files.write('protocol/{family}', new_files.names_of_protocol('{name}')))"
        python(checkout, "-c", f"from shuffledp.pipeline import new_files; {other}")
        python(checkout, "tools/golden_table.py", "--only", f"protocols/frequency.{name}")
    command = ["-m", "shuffledp", "new-protocol", "my_dummies", "--family", "fixed_dummies"]
    assert "wrote src/shuffledp/protocols/frequency/my_dummies.py" in python(checkout, *command)
    tests = ["-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    python(
        checkout, *tests, "-k", "my_counts or my_reports or my_dummies or [comparison]", *TESTS_OF_A_PROTOCOL
    )


def test_taken_or_invalid_name_is_refused(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    names = {"title": "A", "citation": "B", "prefix": "XX"}
    with pytest.raises(ValueError, match=r"dump/claims\.yaml.*: exists already"):
        list(new_files.write("paper", {"id": "dump", **names}))
    with pytest.raises(ValueError, match="got 'Dump'"):
        list(new_files.write("paper", {"id": "Dump", **names}))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="run the command in the folder of the repository"):
        list(new_files.write("paper", {"id": "coins", **names}))
