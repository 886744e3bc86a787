"""Tables of errata and reading notes: their rows and columns, and the check of every witness."""

import dataclasses
import math

import pytest

from shuffledp.pipeline.claims import claim_tables, errata_data

PAPER = "random_population"
ERRATA = errata_data.errata(PAPER)
NOTES = errata_data.reading_notes(PAPER)
WITNESSES = errata_data.witnesses(PAPER)


@pytest.mark.parametrize("name, entries", [("errata", ERRATA), ("reading_notes", NOTES)])
def test_published_table_needs_its_witnesses(name, entries, monkeypatch):
    calls: list[str] = []

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
