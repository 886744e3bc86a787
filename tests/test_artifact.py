"""The appendix has main claims as stated; `make -C tools appendix-check` finds those that it lacks."""

import re

import pytest
import yaml

from scripts_by_file import ROOT, script
from shuffledp.pipeline.claims.stated_claims import claims

PAPERS = yaml.safe_load((ROOT / "config/quick.yaml").read_text())["papers"]


@pytest.fixture(scope="module")
def tool():
    return script("tools/artifact.py")


def test_rows_are_main_claims_as_stated(tool):
    stated = {claim.id: claim.statement for paper in PAPERS for claim in claims(paper) if claim.headline}
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in tool.CLAIMS.read_text().splitlines()[2:]]
    assert len(rows) >= 5
    for row in rows:
        name, _, statement = row[0].strip().partition(": ")
        assert statement == stated[name].replace("|", "\\|")
        assert f"{tool.RESULTS}/claims/" in row[7] and all(float(cell) > 0 for cell in row[8:])


def test_missing_main_claim_is_named(tool, tmp_path, monkeypatch):
    before = tool.missing_rows()
    lines = tool.CLAIMS.read_text().splitlines(keepends=True)
    (tmp_path / "claims.md").write_text("".join(lines[:-1]))
    monkeypatch.setattr(tool, "CLAIMS", tmp_path / "claims.md")
    assert {*tool.missing_rows()} == {*before, lines[-1][2:].partition(":")[0]}
