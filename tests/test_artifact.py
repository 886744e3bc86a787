"""The appendix has every paper's main claim, and the commands that `make -C tools test-artifact` runs."""

import csv
import re
from pathlib import Path

import pytest
import yaml

from scripts_by_file import script
from shuffledp.pipeline.claims.stated_claims import claims

ROOT = Path(__file__).resolve().parents[1]
PAPERS = yaml.safe_load((ROOT / "config/quick.yaml").read_text())["papers"]


@pytest.fixture(scope="module")
def tool():
    return script("tools/artifact.py")


@pytest.mark.parametrize("paper", PAPERS)
def test_main_claim_is_measured(tool, paper):
    (main,) = (claim for claim in claims(paper) if claim.headline)
    rows = [row for row in tool.CLAIMS.read_text().splitlines() if row.startswith(f"| {main.id}: ")]
    assert len(rows) == 1, f"Write the row of {main.id}: make quick, then make -C tools appendix."
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", rows[0])[1:-1]]
    assert cells[0] == f"{main.id}: {main.statement}".replace("|", "\\|")
    assert f"{tool.RESULTS}/claims/{paper}/verdicts.csv " in cells[7]
    assert all(float(cell) > 0 for cell in cells[8:])


@pytest.mark.parametrize("paper", PAPERS)
def test_experiments_of_figures_are_measured(tool, paper):
    rows = csv.DictReader(tool.EXPERIMENTS.read_text().splitlines())
    measured = {row["experiment"] for row in rows if row["paper"] == paper and float(row["cpu_s"]) > 0}
    figures = yaml.safe_load((ROOT / f"config/experiments/{paper}.yaml").read_text())["figures"].values()
    assert {figure["experiment"] for figure in figures} <= measured
