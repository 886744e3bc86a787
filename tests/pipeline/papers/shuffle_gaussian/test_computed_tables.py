"""Table 1 of the shuffle Gaussian paper: every entry, verdicts that can fail, the page and the captions."""

import pytest

from scripts_by_file import ROOT
from shuffledp.pipeline.claims import claim_tables
from shuffledp.pipeline.config import read_yaml
from shuffledp.pipeline.papers.shuffle_gaussian import computed_tables


def test_every_printed_entry_comes_out():
    table = claim_tables.table("shuffle_gaussian", "table1")
    assert len(table) == 14
    assert set(table["verdict"]) == {"agrees"}
    assert list(table["paper"]) == list(table["computed"])


@pytest.mark.parametrize("constant, value", [("MOST_ORDER", 31), ("CLONES_SIGMA", 9.48)])
def test_the_entries_need_their_settings(monkeypatch, constant, value):
    monkeypatch.setattr(computed_tables, constant, value)
    assert (computed_tables.table_one()["verdict"] != "agrees").sum() == 7


def test_method_is_lower_on_equal_terms():
    table = computed_tables.table_one().astype({"equal terms": float}).set_index(["row", "rounds"])
    ours, clones = table.loc["Ours", "equal terms"], table.loc["Clones", "equal terms"]
    assert (ours < clones / 50).all()
    assert ours[1] == pytest.approx(0.00141, abs=6e-6) and ours[7] == pytest.approx(0.00251, abs=6e-6)


def test_shuffling_costs_22_or_102_times():
    """The ratio is 22 on like terms, and 102 on unlike ones."""
    table = claim_tables.table("shuffle_gaussian", "shuffling_cost")
    numbers = table[["shuffled eps", "central eps", "ratio"]].astype(float)
    assert numbers["ratio"].to_numpy() == pytest.approx(
        (numbers["shuffled eps"] / numbers["central eps"]).to_numpy(), rel=0.01
    )
    like, unlike = table["terms"] == "like", table["terms"].str.startswith("unlike: replacement, add/remove")
    assert (like | unlike).all()
    assert list(table["ratio"][like]) == ["22.3", "44.5"]
    assert list(table["ratio"][unlike]) == ["102", "111", "45.1", "11.5", "5.07"]
    shared = [
        {"2C", "C"} & set(row.replace(",", "").split()) for row in table["shuffled"] + " " + table["central"]
    ]
    assert [len(distances) == 1 for distances in shared] == [True, True, False, False, False, True, True]


def test_checkin_budgets_fall_in_order():
    budgets = computed_tables.checkin_budgets()
    assert budgets["eps"].is_monotonic_decreasing
    assert list(budgets["accountant"].iloc[-2:]) == ["convexity of the divergence", "the pair of Theorem 1"]
    half = computed_tables.checkin_budgets(computed_tables.CHECKIN_SIGMA / 2).set_index("accountant")["eps"]
    assert (half >= budgets.set_index("accountant")["eps"] * (1 - 1e-9)).all()


def test_shuffling_cost_has_figure_settings():
    experiment = read_yaml(ROOT / "config/experiments/shuffle_gaussian.yaml")["experiments"]["sgd"]
    methods = {name: method["arguments"] for name, method in experiment["methods"].items()}
    central = methods["central_replacement"]
    assert (central["n"], central["m"], central["delta"]) == (
        computed_tables.USERS,
        computed_tables.BATCH,
        computed_tables.FIGURE_DELTA,
    )
    assert f"{computed_tables.SUM_NOISE:.4f}" == str(central["noise_multiplier"])
    assert methods["central_rdp"]["noise_multiplier"] == central["noise_multiplier"]
    assert methods["shuffle_c"]["sigma"] == computed_tables.REPORT_NOISE
    assert methods["shuffle_2c"]["sigma"] == computed_tables.REPORT_NOISE / 2
