"""Tables of claims by name; those of errata and reading notes need all their witnesses."""

import dataclasses
import math

import pandas as pd
import pytest

from scripts_by_file import script
from shuffledp.pipeline.claims import claim_tables, errata_data
from shuffledp.pipeline.papers.random_population import lower_bounds
from shuffledp.storage import verified

PAPER = "random_population"
ERRATA = errata_data.errata(PAPER)
NOTES = errata_data.reading_notes(PAPER)
WITNESSES = errata_data.witnesses(PAPER)


@pytest.mark.parametrize("name, entries", [("errata", ERRATA), ("reading_notes", NOTES)])
def test_published_table_needs_its_witnesses(name, entries, monkeypatch):
    calls = []

    def counted(key, compute):
        return lambda: calls.append(key) or compute()

    for key, compute in WITNESSES.items():
        monkeypatch.setitem(WITNESSES, key, counted(key, compute))
    table = claim_tables.table(PAPER, name)
    assert list(table["id"]) == [e.id for e in entries]
    assert sorted(calls) == sorted(e.witness for e in entries)
    first = entries[0]
    witness = first.compute()
    assert table.iloc[0, -4:-2].tolist() == [witness.printed, witness.correct]
    monkeypatch.setitem(WITNESSES, first.witness, lambda: dataclasses.replace(witness, shows=False))
    with pytest.raises(errata_data.ErratumError, match=rf"{first.id} .*condition fails"):
        claim_tables.table(PAPER, name)


def test_infinite_value_is_an_error(monkeypatch):
    broken = dataclasses.replace(next(e for e in NOTES if e.id == "RP-N5").compute(), printed=math.inf)
    monkeypatch.setitem(WITNESSES, "two_sided_hoeffding", lambda: broken)
    with pytest.raises(errata_data.ErratumError, match="finite"):
        claim_tables.table(PAPER, "reading_notes")


def test_tables_of_a_paper():
    assert claim_tables.table(PAPER, "table2").equals(lower_bounds.table_two())
    known = r"No table 'table9' of claims about 'dump'\. Known: errata, reading_notes, table2, table3"
    for paper, message in (("dump", known), ("visits", r"No table 'table9' of claims about 'visits'")):
        with pytest.raises(ValueError, match=message):
            claim_tables.table(paper, "table9")


@pytest.mark.parametrize("name, rows", [("errata", 21), ("reading_notes", 8), ("table2", 13)])
def test_script_writes_a_verified_table(name, rows, tmp_path):
    table = tmp_path / f"{name}.csv"
    script("workflow/scripts/claim_tables.py").main(PAPER, name, table)
    written = pd.read_csv(verified(table, table.with_suffix(".sha256")))
    assert len(written) == rows
    assert name == "table2" or written["shown"].all()
