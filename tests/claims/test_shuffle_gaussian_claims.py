"""Table 1 of the shuffle Gaussian paper: every entry, verdicts that can fail, the page, and the captions."""

from __future__ import annotations

from pathlib import Path

import pytest

from shuffledp import claims
from shuffledp.claims import documents, shuffle_gaussian
from shuffledp.experiments.config import read_yaml
from shuffledp.figures.selection import load_settings

ROOT = Path(__file__).parents[2]


def test_every_printed_entry_comes_out():
    table = claims.table("shuffle_gaussian", "table1")
    assert len(table) == 14
    assert set(table["verdict"]) == {"agrees"}
    assert list(table["paper"]) == list(table["computed"])
    assert list(table["paper"][7:]) == [
        *("0.18623", "0.38461", "0.59516", "0.79355", "1.02241", "1.22689", "1.43138")
    ]


def test_another_entry_would_not_agree(monkeypatch):
    monkeypatch.setattr(shuffle_gaussian, "PRINTED_OURS", ("0.22821", *shuffle_gaussian.PRINTED_OURS[1:]))
    table = shuffle_gaussian.table_one()
    assert table["verdict"][0] == "0.22820 comes out"
    assert set(table["verdict"][1:]) == {"agrees"}


@pytest.mark.parametrize(("constant", "value"), [("MOST_ORDER", 31), ("CLONES_SIGMA", 9.48)])
def test_the_entries_need_their_settings(monkeypatch, constant, value):
    monkeypatch.setattr(shuffle_gaussian, constant, value)
    assert (shuffle_gaussian.table_one()["verdict"] != "agrees").sum() == 7


def test_on_equal_terms_the_method_is_lower_everywhere():
    table = shuffle_gaussian.table_one().astype({"equal terms": float}).set_index(["row", "rounds"])
    ours, clones = table.loc["Ours", "equal terms"], table.loc["Clones", "equal terms"]
    assert (ours < clones / 50).all()
    assert ours[1] == pytest.approx(0.00141, abs=6e-6) and ours[7] == pytest.approx(0.00251, abs=6e-6)


def test_there_are_thirteen_errata_in_order():
    assert [e.id for e in claims.errata("shuffle_gaussian")] == [f"SG-{i}" for i in range(1, 14)]


def test_the_page_is_up_to_date():
    text = (ROOT / "docs/shuffle_gaussian.md").read_text(encoding="utf-8")
    assert documents.refreshed(text) == text
    assert text.count("<!-- begin ") == 2


def test_the_paper_has_the_tables_that_its_file_lists():
    config = read_yaml(ROOT / "config/config.yaml") | {"papers": ["shuffle_gaussian"], "learning": "skip"}
    paper = load_settings(config, ROOT).papers["shuffle_gaussian"]
    assert set(paper.claims) == {"table1", "errata"}
    captions = ROOT / "workflow/report/shuffle_gaussian"
    drawn = {**paper.figures, **paper.tables, **paper.claims}
    assert {entry["caption"] for entry in drawn.values()} == {p.name for p in captions.iterdir()}
