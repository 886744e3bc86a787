"""The documentation agrees with what is computed, and the comparisons with the known numbers."""

from __future__ import annotations

import functools
import importlib
from pathlib import Path

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from shuffledp import claims
from shuffledp.accounting import inverse_moments, local_budget, optimal_dummies
from shuffledp.claims import comparisons, documents
from shuffledp.populations import Binomial
from shuffledp.storage import damaged

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "random_population.md"


dummy_gaps = functools.cache(claims.dummy_gaps)  # slow, and needed twice
variance_gaps = functools.cache(claims.variance_gaps)


@pytest.mark.parametrize("name", sorted(documents.TABLES))
def test_tables_of_the_page_are_up_to_date(name, monkeypatch):
    monkeypatch.setattr(documents, "dummy_gaps", dummy_gaps)
    monkeypatch.setattr(documents, "variance_gaps", variance_gaps)
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->\n"
    text = PAGE.read_text(encoding="utf-8")
    block = text[text.index(begin) : text.index(end) + len(end)]
    assert documents.refreshed(block) == block


def test_the_page_has_every_table_once():
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("<!-- begin ") == text.count("<!-- end ") == len(documents.TABLES)


def test_an_altered_number_is_noticed():
    text = PAGE.read_text(encoding="utf-8")
    start, stop = text.index("<!-- begin checkin"), text.index("<!-- end checkin")
    block = text[start:stop] + "<!-- end checkin -->\n"
    assert documents.refreshed(block) == block
    assert documents.refreshed(block.replace("1.65", "1.66")) == block


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


def test_amplification_against_local():
    table = claims.budget_gaps().set_index("population")
    percent = (100 * table).round(0)
    assert list(percent["printed"]) == [83, 88, 92, 95, 73, 89, 95, 98]
    assert list(percent["simplified"])[:4] == [68, 77, 83, 89]
    assert (table["exact"] > table["corrected"]).all() and (table["corrected"] > table["printed"]).all()


def test_dummies_gain_nothing_with_exact_accounting():
    table = dummy_gaps().set_index(["population", "eps"])
    assert_allclose(table.loc[("Adult, rate 0.05", 0.001), "non-adaptive printed"], 0.125, atol=5e-4)
    assert_allclose(table.loc[("Adult, rate 0.05", 0.001), "non-adaptive corrected"], 0.028, atol=5e-4)
    large = table[[name not in {f"Poisson, mean {m}" for m in (100, 30, 12)} for name, _ in table.index]]
    assert large["non-adaptive exact"].abs().max() < 1e-9
    assert large["adaptive exact"].abs().max() < 1e-3
    assert table.loc[("Poisson, mean 12", 0.05), "adaptive exact"] > 0.05


def test_setting_of_figure_3():
    law = Binomial(5000, 0.2)
    assert_allclose(inverse_moments(law), (9.998000e-4, 1.0004011e-6), rtol=1e-7)
    plan, none = optimal_dummies(law, 0.05, 1e-5), optimal_dummies(law, 0.05, 1e-5, grid=[0])
    assert_allclose(plan.objective / none.objective, 0.8606, atol=5e-5)
    assert_allclose(local_budget(law, 0.05, 1e-5, accounting="exact"), 0.44518, atol=5e-6)
    tighter = local_budget(law, 0.05, 1e-5, accounting="exact", reduction="randomized_response")
    assert_allclose(tighter, 0.4868, atol=5e-5)


def test_adaptive_against_non_adaptive_with_printed_bounds():
    law = comparisons.POPULATIONS["Poisson, mean 1000"]
    ratios = [
        (1 - comparisons._dummies_gain(law, eps, "printed", True))
        / (1 - comparisons._dummies_gain(law, eps, "printed", False))
        for eps in comparisons.EPS
    ]
    assert_allclose([min(ratios), max(ratios)], [1 - 0.013, 1.030], atol=5e-4)


def test_checkin_ratio_is_a_constant_with_equal_accounting():
    table = claims.checkin_gaps()
    assert_allclose(table[["exact least", "exact most"]], 1.58, atol=0.005)
    assert_allclose(table["printed least"], [1.25, 1.32, 1.38, 1.44], atol=0.006)
    assert_allclose(table["printed most"], [2.37, 2.85, 3.5, 4.5], rtol=0.02)


def test_variance_beyond_which_nothing_is_amplified():
    table = variance_gaps().set_index("variance")
    assert (table["printed, delta 1e-4"] == 0.5).all()
    assert_allclose(table.loc[0, "printed, delta 1e-3"], 0.0566, atol=5e-5)
    assert table.loc[8700, "printed, delta 1e-3"] < 0.5 == table.loc[20_000, "printed, delta 1e-3"]
    assert 0.02 < table.loc[8700, "exact, delta 1e-4"] <= 0.03
    assert 0.2 < table.loc[20_000, "exact, delta 1e-4"] <= 0.3


def test_printed_theorems_keep_their_promise():
    assert (claims.safety_margins()["largest"] < 1e-3).all()


def test_script_writes_a_verified_table(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "workflow" / "scripts"))
    script = importlib.import_module("errata")
    table, checksum = tmp_path / "errata.csv", tmp_path / "errata.sha256"
    script.main("random_population", table, checksum)
    assert damaged(checksum) == []
    written = pd.read_csv(table)
    assert len(written) == 15 and written["shown"].all()
