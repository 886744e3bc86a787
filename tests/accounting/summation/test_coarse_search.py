"""Coarse designs: the search for them, what is shipped, and what is made when nothing is."""

import json

import pytest

from shuffledp.accounting import (
    Infeasible,
    coarse_noise_delta,
    coarse_start,
    finished_design,
    quick_coarse,
    search_coarse,
    shipped_coarse,
    shipped_coarse_designs,
    shipped_design,
)
from shuffledp.accounting.summation.coarse_noise import COARSE, all_pairs, certify
from shuffledp.accounting.summation.coarse_search import worst_delta
from shuffledp.accounting.summation.coarse_shipped import ShippedCoarse

SETTING = (1.0, 1e-6, 0.9)
#: Messages that certified designs must not exceed, by D.
MOST = {1: 450, 2: 790, 3: 1230, 5: 2180, 10: 5650}


@pytest.mark.parametrize(("size", "most"), list(MOST.items()))
def test_certified_totals(size, most):
    shipped = shipped_coarse(size, *SETTING)
    assert shipped.design.messages <= most
    assert shipped.certificate.delta <= 1e-6 == shipped.design.delta
    assert shipped.certificate.pairs == size * (size + 1)
    assert 0 < shipped.certificate.margin < 2e-9
    # At most half of what negative binomials need, but for D = 1.
    before = shipped_design(size, *SETTING).design.messages
    assert shipped.design.messages < before * (0.76 if size == 1 else 0.45)


def test_a_shipped_design_is_certified_again():
    shipped = shipped_coarse(2, *SETTING)
    again = certify(shipped.design, 1.0)
    assert again.delta == pytest.approx(shipped.certificate.delta, rel=1e-9)
    assert again.margin == pytest.approx(shipped.certificate.margin, rel=1e-3)
    assert again.worst == shipped.certificate.worst
    # With two percent less noise it fails.
    less = certify(shipped.design.moved(center=-2e-2), 1.0, [shipped.certificate.worst], COARSE)
    assert less.delta - less.margin > 1.05e-6


def test_the_file_is_in_order_and_holds_what_it_says():
    shipped = shipped_coarse_designs()
    sizes = [s.design.max_value for s in shipped]
    assert sizes == sorted(set(sizes)) and set(MOST) <= set(sizes)
    for one in shipped:
        assert ShippedCoarse.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    with pytest.raises(ValueError, match="keys"):
        ShippedCoarse.from_dict({"design": {}})


def test_only_a_design_for_the_same_setting_is_returned():
    assert shipped_coarse(5, 1.0, 1e-6, 0.9 * (1 + 1e-12)) is not None
    for other in ((1.001, 1e-6, 0.9), (1.0, 1.01e-6, 0.9), (1.0, 1e-6, 0.91)):
        assert shipped_coarse(5, *other) is None
    assert shipped_coarse(7, *SETTING) is None


@pytest.mark.parametrize(("size", "eps", "delta"), [(1, 1.0, 1e-6), (2, 2.0, 1e-2), (3, 4.0, 1e-3)])
def test_quick_designs_are_certified(size, eps, delta):
    found = quick_coarse(size, eps, delta, 0.9 * eps)
    assert 0.97 * delta < found.certificate.delta <= delta
    assert found.certificate.pairs == size * (size + 1)
    assert coarse_noise_delta(found.design, eps) <= delta
    assert found is quick_coarse(size, eps, delta, 0.9 * eps)  # remembered


def test_what_takes_long_is_refused():
    with pytest.raises(Infeasible, match="make designs"):
        quick_coarse(4, *SETTING)
    with pytest.raises(Infeasible, match=r"outcomes.*make designs"):
        quick_coarse(3, 0.1, 1e-6, 0.09)
    with pytest.raises(Infeasible, match="eps_star must be below"):
        quick_coarse(2, 1.0, 1e-6, 1.0)


def test_the_search_resumes_and_only_improves():
    start = coarse_start(2, 6.0, 1e-2, 5.4)
    states = []
    full = search_coarse(start, progress=states.append, iterations=4)
    costs = [s["messages"] for s in states]
    assert costs == sorted(costs, reverse=True) and len(states) == 4
    kept = json.loads(json.dumps(states[1]))
    assert search_coarse(start, state=kept, iterations=4) == full
    assert costs[-1] < 0.99 * costs[0]
    assert max(worst_delta(full, all_pairs(2), COARSE)) == pytest.approx(1e-2, rel=0.02)
    design, certificate = finished_design(full)
    assert 0.98e-2 < certificate.delta <= 1e-2 and certificate.pairs == 6
    assert design.messages == pytest.approx(full.messages, rel=0.01)
    with pytest.raises(ValueError, match="same setting"):
        search_coarse(coarse_start(2, 6.0, 1e-2, 5.3), state=kept)
