"""The appendix has every paper's main claim, and the commands that `make test-artifact` runs."""

import re
from pathlib import Path

import pytest
import yaml

from scripts_by_file import script
from shuffledp.pipeline.claims.stated_claims import claims
from shuffledp.pipeline.doc_blocks import read_block

ROOT = Path(__file__).resolve().parents[1]
PAPERS = yaml.safe_load((ROOT / "config/quick.yaml").read_text())["papers"]


@pytest.fixture(scope="module")
def tool():
    return script("tools/artifact.py")


@pytest.mark.parametrize("paper", PAPERS)
def test_the_main_claim_of_a_paper_is_measured(tool, paper):
    (main,) = (claim for claim in claims(paper) if claim.headline)
    rows = [row for row in read_block(tool.PAGE, "claims").splitlines() if row.startswith(f"| {main.id}: ")]
    assert len(rows) == 1
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", rows[0])[1:-1]]
    assert cells[0] == f"{main.id}: {main.says}".replace("|", "\\|")
    assert f"{tool.RESULTS}/claims/{paper}/verdicts.csv " in cells[7]
    assert all(float(cell) > 0 for cell in cells[8:])


def test_the_tolerance_of_main_claims_is_that_of_closed_forms(tool):
    row = next(
        line
        for line in (ROOT / "docs/reference.md").read_text().splitlines()
        if line.startswith("| `expected` |")
    )
    assert row.split("|")[2].strip() == tool.TOLERANCE


def test_a_trial_compares_what_it_found_with_the_appendix(tool, tmp_path):
    table = tmp_path / tool.RESULTS / "claims/random_population/verdicts.csv"
    table.parent.mkdir(parents=True)
    table.write_text("id,accounting,measured,headline\nRP-01,exact,87.8 % to 97.0 %,yes\nRP-02,exact,1,\n")
    assert tool.compare(tmp_path) == ["RP-01, exact: 87.8 % to 97.0 %, as in the appendix"]
    table.write_text("id,accounting,measured,headline\nRP-01,exact,87.9 % to 97.0 %,yes\n")
    with pytest.raises(ValueError, match=r"87\.9 % to 97\.0 % is not in the appendix"):
        tool.compare(tmp_path)


def test_the_first_commands_install_from_the_archive_alone(tool):
    commands = tool.commands()
    assert commands.splitlines()[0] == "sha256sum --quiet --check SHA256SUMS"
    assert "UV_OFFLINE=1" in commands and "PIP_NO_INDEX=1" in commands
    assert tool.name() == f"shuffledp-{script('tools/metadata.py').citation()['version']}-artifact"


def test_an_image_has_nothing_that_a_run_makes():
    """Patterns in .dockerignore begin at the root, and patterns in .gitignore match in every folder."""
    ignored, left_out = (
        [line for line in (ROOT / name).read_text().splitlines() if line and line[0] not in "#"]
        for name in (".gitignore", ".dockerignore")
    )
    anywhere = {"__pycache__", "*.egg-info"}
    wanted = [re.sub(r"^(!?)/", r"\1", line).rstrip("/") for line in ignored]
    assert left_out == [".git", *(f"**/{name}" if name in anywhere else name for name in wanted)]
