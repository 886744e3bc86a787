"""Tables of claims by name."""

import importlib

import pandas as pd
import pytest

from scripts_by_file import ROOT
from shuffledp.pipeline.claims import claim_tables
from shuffledp.pipeline.papers.random_population import lower_bounds
from shuffledp.storage import damaged


def test_tables_of_a_paper():
    assert claim_tables.table("random_population", "table2").equals(lower_bounds.table_two())
    with pytest.raises(
        ValueError,
        match=r"No table 'table9' of claims about 'dump'\. Known: errata, reading_notes, table2, table3",
    ):
        claim_tables.table("dump", "table9")
    with pytest.raises(ValueError, match=r"No table 'table9' of claims about 'visits'"):
        claim_tables.table("visits", "table9")


@pytest.mark.parametrize("name, rows", [("errata", 21), ("reading_notes", 8), ("table2", 13)])
def test_script_writes_a_verified_table(name, rows, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "workflow" / "scripts"))
    script = importlib.import_module("claim_tables")
    table, checksum = tmp_path / f"{name}.csv", tmp_path / f"{name}.sha256"
    script.main("random_population", name, table)
    assert damaged(checksum) == []
    written = pd.read_csv(table)
    assert len(written) == rows
    assert name == "table2" or written["shown"].all()
