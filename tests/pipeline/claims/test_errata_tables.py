"""Tables of errata and reading notes: their rows and columns, and the check of every witness."""

import dataclasses
import math

import pytest

from shuffledp.pipeline.claims import claim_tables, errata_data

PAPER = "random_population"
ERRATA = errata_data.errata(PAPER)
NOTES = errata_data.reading_notes(PAPER)
ALL = [*ERRATA, *NOTES]
WITNESSES = errata_data.witnesses(PAPER)


def by_id(key):
    return next(e for e in ALL if e.id == key)


@pytest.mark.parametrize("name", ["errata", "reading_notes"])
def test_published_table_uses_its_witnesses(name, monkeypatch):
    calls: list[str] = []

    def counted(key, compute):
        return lambda: calls.append(key) or compute()

    for key, compute in WITNESSES.items():
        monkeypatch.setitem(WITNESSES, key, counted(key, compute))
    table = claim_tables.table(PAPER, name)
    entries = ERRATA if name == "errata" else NOTES
    assert list(table["id"]) == [e.id for e in entries]
    assert sorted(calls) == sorted(e.witness for e in entries)
    first = entries[0].compute()
    assert table.iloc[0, -4:-2].tolist() == [first.printed, first.correct]


@pytest.mark.parametrize("name", ["errata", "reading_notes"])
def test_failing_witness_prevents_the_table(name, monkeypatch):
    first = ERRATA[0] if name == "errata" else NOTES[0]
    broken = dataclasses.replace(first.compute(), shows=False)
    monkeypatch.setitem(WITNESSES, first.witness, lambda: broken)
    with pytest.raises(errata_data.ErratumError, match=rf"{first.id} .*condition fails"):
        claim_tables.table(PAPER, name)


def test_infinite_value_is_an_error(monkeypatch):
    broken = dataclasses.replace(by_id("RP-N5").compute(), printed=math.inf)
    monkeypatch.setitem(WITNESSES, "two_sided_hoeffding", lambda: broken)
    with pytest.raises(errata_data.ErratumError, match="finite"):
        claim_tables.table(PAPER, "reading_notes")
