"""The documentation agrees with what is computed, and the comparisons with the known numbers."""

from __future__ import annotations

import functools
import importlib
from pathlib import Path

import pandas as pd
import pytest

from shuffledp import claims
from shuffledp.claims import documents
from shuffledp.storage import damaged

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "random_population.md"
PAGES = {page.name: page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md"))}


dummy_gaps = functools.cache(claims.dummy_gaps)  # slow, and needed twice
variance_gaps = functools.cache(claims.variance_gaps)
multi_gaps = functools.cache(claims.multi_gaps)


@pytest.mark.parametrize("name", sorted(documents.TABLES))
def test_tables_of_the_page_are_up_to_date(name, monkeypatch):
    monkeypatch.setattr(documents, "dummy_gaps", dummy_gaps)
    monkeypatch.setattr(documents, "variance_gaps", variance_gaps)
    monkeypatch.setattr(documents, "multi_gaps", multi_gaps)
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->\n"
    text = next(page for page in PAGES.values() if begin in page)
    block = text[text.index(begin) : text.index(end) + len(end)]
    assert documents.refreshed(block) == block


def test_the_pages_have_every_table_once():
    for name in documents.TABLES:
        assert sum(page.count(f"<!-- begin {name} -->") for page in PAGES.values()) == 1, name
        assert sum(page.count(f"<!-- end {name} -->") for page in PAGES.values()) == 1, name
    assert sum(page.count("<!-- begin ") for page in PAGES.values()) == len(documents.TABLES)


def test_every_paper_has_its_errata_on_a_page():
    assert {f"errata {paper}" for paper in claims.papers()} <= set(documents.TABLES)
    assert {f"notes {paper}" for paper in claims.papers()} <= set(documents.TABLES)


def test_an_altered_number_is_noticed():
    text = PAGE.read_text(encoding="utf-8")
    start, stop = text.index("<!-- begin checkin"), text.index("<!-- end checkin")
    block = text[start:stop] + "<!-- end checkin -->\n"
    assert documents.refreshed(block) == block
    assert documents.refreshed(block.replace("1.65", "1.66")) == block


def test_the_review_lists_every_verdict():
    text = PAGES["errata_review.md"]
    assert all(f"- *{name}*: {meaning}" in text for name, meaning in claims.VERDICTS.items())


def test_the_page_lists_every_effect():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"- *{name}*: {meaning}" in text for name, meaning in claims.EFFECTS.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- begin budgets -->\n", "no matching end"),
        ("<!-- begin nothing -->\n<!-- end nothing -->\n", "No table is named nothing"),
    ],
)
def test_pages_with_wrong_marks_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        documents.refreshed(text)


def test_tables_of_a_paper():
    assert list(claims.TABLES["random_population"]) == ["table2"]
    assert claims.table("random_population", "table2").equals(claims.table_two())
    with pytest.raises(
        ValueError,
        match=r"No table 'table9' of claims about 'dump'\. Known: errata, reading_notes, table2, table3",
    ):
        claims.table("dump", "table9")


@pytest.mark.parametrize(("name", "rows"), [("errata", 21), ("reading_notes", 8), ("table2", 13)])
def test_script_writes_a_verified_table(name, rows, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "workflow" / "scripts"))
    script = importlib.import_module("claim_table")
    table, checksum = tmp_path / f"{name}.csv", tmp_path / f"{name}.sha256"
    script.main("random_population", name, table, checksum)
    assert damaged(checksum) == []
    written = pd.read_csv(table)
    assert len(written) == rows
    assert name == "table2" or written["shown"].all()


def test_an_unknown_table_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'table3'.*Known: errata, reading_notes, table2"):
        claims.table("random_population", "table3")
