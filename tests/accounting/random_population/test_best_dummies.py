"""Optimal numbers of dummies, and the errors behind the published figures."""

import numpy as np
import pytest

from shuffledp.accounting import (
    DummyPlan,
    Infeasible,
    dummy_grid,
    error_factor,
    local_budget,
    optimal_dummies,
    report_variance,
)
from shuffledp.accounting.random_population import best_dummies as search_module
from shuffledp.numerics.memoize import forget_all
from shuffledp.populations import Binomial, Empirical, MomentBounded, Poisson

D = 1e-5
FIG3 = Binomial(5000, 0.2)


EMPIRICAL = Empirical.of([700, 720, 745, 745, 760, 781, 802, 930])
SCANNED = [
    # Theorem 4b at k > 0 is worse than Theorem 2: a jump down at 0.
    (Poisson(5000), 0.3, "printed", {}),
    (Poisson(1000), 0.05, "printed", {"adaptive": True, "stray_factor": True}),
    (Poisson(1000), 0.02, "corrected", {"objective": "laplace"}),
    (FIG3, 0.05, "simplified", {}),
    (FIG3, 0.3, "exact", {"adaptive": True, "objective": "laplace"}),
    (FIG3, 0.05, "exact", {"adaptive": True, "grid": [960, 40, 960, 3000, 5, 910, 970, 0, 940]}),
    (FIG3, 0.05, "printed", {"grid": []}),
    (Poisson(12), 0.1, "exact", {"grid": range(25), "reduction": "randomized_response"}),
    (Poisson(3), 2.0, "exact", {"adaptive": True, "grid": range(40)}),
    (EMPIRICAL, 0.1, "exact", {"adaptive": True}),
]


def full_scan(law, eps, accounting, adaptive=False, grid=None, objective="randomized_response", **how):
    """Return the smallest candidate whose error is within 1e-9 of the least error, and all plans."""
    stray = how.pop("stray_factor", False)
    plans = []
    for k in sorted({0, *(dummy_grid(law) if grid is None else grid)}):
        budget = local_budget(law, eps, D, dummies=int(k), adaptive=adaptive, accounting=accounting, **how)
        factor = error_factor(law, int(k), adaptive=adaptive, stray_factor=stray)
        plans.append(DummyPlan(int(k), budget, report_variance(budget, objective) * factor))
    least = min(plan.objective for plan in plans)
    return next(plan for plan in plans if plan.objective <= least * (1 + 1e-9)), plans


@pytest.mark.parametrize("law, eps, accounting, how", SCANNED)
def test_search_equals_a_full_scan(law, eps, accounting, how, monkeypatch):
    best, plans = full_scan(law, eps, accounting, **how)
    evaluated: list[int] = []
    plan_of = search_module._DummySearch.plan
    monkeypatch.setattr(
        search_module._DummySearch,
        "plan",
        lambda self, k, *rest: evaluated.append(k) or plan_of(self, k, *rest),
    )
    forget_all()
    plan = optimal_dummies(law, eps, D, accounting=accounting, **how)
    assert plan.dummies == best.dummies
    assert plan.eps_local == pytest.approx(best.eps_local, rel=1e-10)
    assert plan.objective == pytest.approx(best.objective, rel=1e-9)
    assert len(set(evaluated)) == len(evaluated) <= len(plans)
    if accounting == "exact" and len(plans) > 20:
        assert len(evaluated) <= len(plans) / 3
    # What the search relies on.
    assert np.all(np.diff([p.eps_local for p in plans[1:]]) >= -1e-10 * best.eps_local)


def test_unhashable_populations_are_accepted():
    class Unhashable(Poisson):
        __hash__ = None

    law, same = Unhashable(50), Poisson(50)
    for adaptive in (False, True):
        how = {"accounting": "exact", "adaptive": adaptive, "dummies": 40}
        assert local_budget(law, 0.1, D, **how) == local_budget(same, 0.1, D, **how)
    assert optimal_dummies(law, 0.1, D, grid=[30, 50], accounting="printed") == optimal_dummies(
        same, 0.1, D, grid=[30, 50], accounting="printed"
    )


def test_a_bound_is_no_law():
    with pytest.raises(Infeasible, match="population must be a law"):
        optimal_dummies(MomentBounded(10, 1), 0.1, D, accounting="printed")


# Expected total variation error, noise only: 2 sqrt(2 / pi) E[sqrt(v (n + D)) / n].
