"""Contours instead of tables over matches: above the tables, by no more than the documented margin."""

import math

import pytest

from shuffledp.accounting import blanket_local_budget, grr_blanket_delta, grr_blanket_epsilon
from shuffledp.accounting.general import matched_contour
from shuffledp.accounting.general.matched_blanket import blanketed_delta, matched_delta
from shuffledp.accounting.general.matched_contour import contour_delta, is_long
from shuffledp.numerics.memoize import forget_all
from shuffledp.protocols.frequency.subset_selection import subset_delta, subset_report


@pytest.mark.parametrize(
    "eps, others, rate, eps_local, both",
    [
        (0.1, 300, 0.2, 2.0, 0.0),
        (0.3, 500, 0.02, 4.0, 0.0004),
        (1.0, 200, 0.1, math.inf, 0.01),
        (0.2, 100, 0.5, math.inf, 0.2),
        (0.5, 1, 0.3, math.inf, 0.3),
    ],
)
def test_contour_exceeds_table_by_its_gap(eps, others, rate, eps_local, both):
    if eps_local < math.inf:
        table = blanketed_delta(eps, others, rate, eps_local, both_rate=both)
    else:
        table = matched_delta(eps, others, rate, eps_local, both_rate=both)
    found = contour_delta(eps, others, rate, eps_local, both)
    assert table * (1 - 1e-11) <= found <= table * (1 + 1e-6) + 1e-300
    assert contour_delta(eps_local, others, rate, eps_local, both) == 0


def test_contour_budgets_equal_table_budgets(monkeypatch):
    forget_all()
    table = blanket_local_budget(120_000, 1000, 0.2, 1e-6)
    eps = grr_blanket_epsilon(120_000, 1000, 1e-6, table)
    assert not is_long(120_000, 1e-3, table)
    forget_all()
    monkeypatch.setattr(matched_contour, "_MOST_CELLS", 0)
    found = blanket_local_budget(120_000, 1000, 0.2, 1e-6)
    assert table * (1 - 1e-6) <= found <= table
    assert eps * (1 - 1e-9) <= grr_blanket_epsilon(120_000, 1000, 1e-6, table) <= eps * (1 + 1e-5)
    forget_all()


def test_billion_reports_keep_the_budget():
    for values in (10, 1000):
        budget = blanket_local_budget(10**9, values, 1e-3, 1e-12)
        assert grr_blanket_delta(1e-3, 10**9, values, budget) <= 1e-12
        assert grr_blanket_delta(1e-3, 10**9, values, budget * (1 + 1e-5)) > 1e-12
    report = subset_report(10**8, 20, 1e-3, 1e-6, size=3)
    assert 0.999e-6 <= subset_delta(1e-3, 10**8, report) <= 1e-6
    assert blanket_local_budget(10**9, 10, 250.0, 1e-6) >= 250
