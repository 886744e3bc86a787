from __future__ import annotations

import pytest

from shuffledp.pipeline.figures.names import in_natural_order


def test_names_sort_by_their_numbers() -> None:
    names = ["fig10", "fig2", "fig3b", "fig3a", "fig12", "table4", "table2", "errata"]
    shown = in_natural_order(names)
    assert sorted(names)[1:4] == ["fig10", "fig12", "fig2"]  # what is to be cured
    assert sorted(names, key=lambda name: shown[name]) == [
        *("errata", "fig2", "fig3a", "fig3b", "fig10", "fig12"),
        *("table2", "table4"),
    ]
    assert len(set(shown.values())) == len(names)


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["fig2", "fig9"], ["fig2", "fig9"]),
        (["fig2", "fig10"], ["fig02", "fig10"]),
        (["fig2", "table10"], ["fig2", "table10"]),
        (["fig1a_simulated", "fig11"], ["fig01a_simulated", "fig11"]),
        (["budgets", "best_m_msnbc"], ["budgets", "best_m_msnbc"]),
    ],
)
def test_zeros_are_added_where_numbers_of_the_kind_need_them(names: list[str], shown: list[str]) -> None:
    assert list(in_natural_order(names).values()) == shown
