"""Tables of the DUMP paper: known numbers, verdicts, and conditions that can fail."""

import math

import pytest

from shuffledp.pipeline.claims import claim_tables
from shuffledp.pipeline.papers.dump import computed_tables


def test_table_3_agrees_in_all_cells():
    table = claim_tables.table("dump", "table3")
    assert (table["verdict"] == "agrees").all() and len(table) == 16
    assert table["delta of the paper's entry"].max() <= 1.4e-21
    assert (table["exact"] < table["ours"]).all() and (table["corrected"] >= table["ours"]).all()


@pytest.fixture(scope="module")
def table_4():
    return claim_tables.table("dump", "table4")


def test_table_4_agrees_but_for_one(table_4):
    odd = table_4[table_4["verdict"] != "agrees"]
    assert odd[["eps", "k", "rate", "paper", "ours"]].to_numpy().tolist() == [[1.0, 500, 0.001, 72, 73]]
    assert odd["verdict"].item() == "formula rounds up to 73"
    assert table_4["formula"].iloc[-1] == pytest.approx(72.035, abs=5e-4)
    assert (table_4["delta of the paper's entry"] <= computed_tables.DELTA).all()
    assert "delta" in table_4  # which all numbers of a checked table depend on


def test_table_2_is_complete():
    table = claim_tables.table("dump", "table2")
    assert len(table) == 4 * 8 * 2
    printed = table[table["accounting"] == "printed"].set_index(["setting", "protocol"])
    failed = printed[printed["mse"].isna()]
    assert [protocol for _, protocol in failed.index] == ["public-coin"] * 3
    assert all(text.startswith("not met: The lemma holds for gamma <= 1/2") for text in failed["condition"])
    exact = table[table["accounting"] == "exact"].set_index(["setting", "protocol"])
    # With exact accounting the constants are gone: three protocols have one error.
    for name in computed_tables.SETTINGS:
        errors = exact.loc[name].loc[["pureDUMP", "private-coin", "truncation-based"], "mse"]
        assert errors.max() / errors.min() < 1.12
    assert exact.loc["Ratings", "correlated noise"]["messages"] == pytest.approx(5.8, abs=0.05)
    assert math.isfinite(exact["mse"].max())
