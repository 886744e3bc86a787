"""Summation: errata, Figure 1 point by point, and designs, against known numbers."""

import dataclasses

import numpy as np
import pytest

from shuffledp.pipeline.papers.summation import computed_tables

# -- Figure 1 -------------------------------------------------------------------------------------------------------


def test_verdicts():
    points = computed_tables.figure_points().set_index(["panel", "curve"]).sort_index()
    agreeing = [("b", "IKOS"), ("c", "IKOS"), ("b", "RAPPOR"), ("c", "RAPPOR"), ("c", "central")]
    for key in agreeing:
        assert set(points.loc[key, "verdict"]) == {"agrees"}
    assert set(points.loc[("a", "RAPPOR"), "verdict"]) == {"within 0.6 % of sqrt(2) times ours (SUM-N3)"}
    ours = points.loc[("c", "correlated noise")].set_index("Delta")
    assert list(ours["verdict"]) == [
        "agrees",
        "agrees",
        "the paper has 1.07 times ours",
        "the paper has 2 times ours",
        "the paper has 5.61 times ours",
    ]
    assert np.allclose(ours["ours"], [2.03, 3.16, 4.57, 7.48, 9.61], atol=0.005)
    assert (ours["other"] < [2.005, 3.01, 4.025, 5.075, 5.125]).all()


# -- designs --------------------------------------------------------------------------------------------------------


def test_designs_are_certified(monkeypatch):
    """The slow largest designs are omitted; `make -C tools designs-check` and every pipeline run certify them."""
    few = tuple(one for one in computed_tables.shipped_designs() if one.design.max_value <= 10)
    coarse = tuple(one for one in computed_tables.shipped_coarse_designs() if one.design.max_value in (1, 10))
    monkeypatch.setattr(computed_tables, "shipped_designs", lambda: few)
    monkeypatch.setattr(computed_tables, "shipped_coarse_designs", lambda: coarse)
    table = computed_tables.designs()
    assert set(table["verdict"]) == {"certified"} and len(table) == len(few) + 2 >= 18
    assert (table["certified delta"] <= 1e-6).all() and (table["certified delta"][:-1] > 0.999e-6).all()
    known = [*(one.certified_delta for one in few), *(one.certificate.delta for one in coarse)]
    assert list(table["certified delta"]) == pytest.approx(known, rel=1e-6)


def test_cheaper_noise_has_coarse_designs():
    table = computed_tables.cheaper().set_index("Delta")
    assert list(table.index) == [one.design.max_value for one in computed_tables.shipped_coarse_designs()]
    assert (table.loc[2:, "times fewer"] > 2).all() and table.loc[1, "times fewer"] > 1.33
    assert (table["certified delta"] <= computed_tables.DELTA).all()
    assert 200 < computed_tables.messages_floor() < table.loc[1, "coarse"] / 2


def test_too_little_noise_is_noticed(monkeypatch):
    one = computed_tables.best_design(3)
    weak = dataclasses.replace(one, design=one.design.moved(scale=-0.01))
    monkeypatch.setattr(computed_tables, "shipped_designs", lambda: (weak,))
    monkeypatch.setattr(computed_tables, "shipped_coarse_designs", lambda: ())
    assert list(computed_tables.designs()["verdict"]) == ["too large"]
