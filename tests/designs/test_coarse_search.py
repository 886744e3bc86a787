"""Coarse designs: their search, the shipped designs, and designs that a call makes."""

import json

import pytest

from shuffledp.accounting import Infeasible, shipped_design
from shuffledp.designs import (
    coarse_noise_delta,
    coarse_start,
    finished_design,
    quick_coarse,
    search_coarse,
    shipped_coarse,
    shipped_coarse_designs,
)
from shuffledp.designs.coarse_losses import COARSE, joint_losses, loss_grid
from shuffledp.designs.coarse_noise import all_pairs, certify
from shuffledp.designs.coarse_search import (
    polished_design,
    scaled_design,
    worst_delta,
)
from shuffledp.designs.coarse_shipped import ShippedCoarse

SETTING = (1.0, 1e-6, 0.9)
#: Largest number of messages of certified designs, by D.
MOST = {1: 450, 2: 790, 3: 1230, 5: 2120, 10: 5000, 15: 8100, 20: 11800, 32: 20900, 64: 48200, 100: 89800}


@pytest.mark.parametrize("size, most", list(MOST.items()))
def test_certified_totals(size, most):
    shipped = shipped_coarse(size, *SETTING)
    assert shipped.design.messages <= most
    assert shipped.certificate.delta <= 1e-6 == shipped.design.delta
    assert shipped.certificate.pairs == size * (size + 1) and shipped.all_pairs
    assert 0 < shipped.certificate.margin < 3e-8
    # Less than half of what negative binomials need, but for D = 1.
    before = shipped_design(size, *SETTING).design.messages
    assert shipped.design.messages < before * (0.76 if size == 1 else 0.5)
    assert len(shipped.design_digest) == len(shipped.code_digest) == 16


def test_a_shipped_design_is_certified_again():
    shipped = shipped_coarse(2, *SETTING)
    again = certify(shipped.design, 1.0)
    assert again.delta == pytest.approx(shipped.certificate.delta, rel=1e-9)
    assert again.margin == pytest.approx(shipped.certificate.margin, rel=1e-3)
    assert again.worst == shipped.certificate.worst
    # With two percent less noise it fails.
    less = certify(shipped.design.moved(center=-2e-2), 1.0, [shipped.certificate.worst], COARSE)
    assert less.delta - less.margin > 1.05e-6


def test_file_is_sorted_and_valid():
    shipped = shipped_coarse_designs()
    sizes = [s.design.max_value for s in shipped]
    assert sizes == sorted(set(sizes)) and set(MOST) <= set(sizes)
    for one in shipped:
        assert ShippedCoarse.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    with pytest.raises(ValueError, match="keys"):
        ShippedCoarse.from_dict({"design": {}})


def test_only_exact_setting_has_a_design():
    assert shipped_coarse(5, 1.0, 1e-6, 0.9 * (1 + 1e-12)) is not None
    for other in ((1.001, 1e-6, 0.9), (1.0, 1.01e-6, 0.9), (1.0, 1e-6, 0.91)):
        assert shipped_coarse(5, *other) is None
    assert shipped_coarse(7, *SETTING) is None


@pytest.mark.parametrize("size, eps, delta", [(1, 1.0, 1e-6), (2, 2.0, 1e-2), (3, 4.0, 1e-3)])
def test_quick_designs_are_certified(size, eps, delta):
    found = quick_coarse(size, eps, delta, 0.9 * eps)
    assert 0.97 * delta < found.certificate.delta <= delta
    assert found.certificate.pairs == size * (size + 1)
    assert coarse_noise_delta(found.design, eps) <= delta
    assert found is quick_coarse(size, eps, delta, 0.9 * eps)  # remembered


def test_what_takes_long_is_refused():
    with pytest.raises(
        Infeasible, match=r"make designs.*Shipped are max_value 1, 2, 3, 5, 10.* at eps = 1, delta = 1e-06"
    ):
        quick_coarse(4, *SETTING)
    with pytest.raises(Infeasible, match=r"outcomes.*make designs"):
        quick_coarse(3, 0.1, 1e-6, 0.09)
    with pytest.raises(Infeasible, match="eps_star must be below"):
        quick_coarse(2, 1.0, 1e-6, 1.0)


def test_polishing_changes_only_independent_parts():
    """The joint law stays fixed; messages decrease, and a certificate of the whole design confirms the bound."""
    start = coarse_start(5, 6.0, 1e-2, 5.4)
    ends = start.with_noise([6.0, 6.0, 6.0, 6.0, 7.0], [5.0, 2.0, 2.5, 3.0, 7.0])
    joint = joint_losses(ends, all_pairs(5), COARSE, loss_grid(ends, 6.0, COARSE))
    design, certificate = polished_design(ends, joint, iterations=6)
    assert 0.97e-2 < certificate.delta <= 1e-2 and certificate.pairs == 30
    assert certify(design, 6.0, precision=COARSE) == certificate
    for place in (0, 4):
        assert design.rates[place] == ends.rates[place] and design.centers[place] == ends.centers[place]
    scaled = scaled_design(ends, all_pairs(5), COARSE, estimate=False)
    assert design.messages < 0.97 * scaled.messages or design.messages < 0.97 * ends.messages
    weak = ends.with_noise(ends.rates, [0.5, *ends.centers[1:4], 0.5])
    joint = joint_losses(weak, all_pairs(5), COARSE, loss_grid(weak, 6.0, COARSE))
    with pytest.raises(Infeasible, match="for all choices of the other atoms"):
        polished_design(weak, joint, iterations=1)


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
