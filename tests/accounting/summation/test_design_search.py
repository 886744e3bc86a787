"""Designs of correlated noise and their search, with certificates from the exact accountant."""

import json

import pytest

from shuffledp.accounting.summation.design_search import certified_design, search_design
from shuffledp.accounting.summation.joint_noise import (
    correlated_noise_delta,
)
from shuffledp.accounting.summation.noise_design import (
    NoiseDesign,
)


@pytest.mark.parametrize(
    "size, eps, delta, eps_star, atoms, hubs, known",
    [
        (1, 1.0, 1e-6, 0.9, "star", None, 600),
        (2, 1.0, 1e-6, 0.9, "halving", None, 2137),
        (4, 2.0, 1e-7, 1.5, "halving", None, 2027),
    ],
)
def test_certified_designs_need_few_messages(size, eps, delta, eps_star, atoms, hubs, known):
    found = search_design(size, eps, delta, eps_star, atoms=atoms, hubs=hubs)
    design, bound = certified_design(found)
    assert 0.85 * known <= design.messages <= known
    assert 0.999 * delta <= bound <= delta
    assert correlated_noise_delta(design, eps) == bound
    assert correlated_noise_delta(design, eps, bound="lower") >= 0.98 * delta
    assert NoiseDesign.from_dict(json.loads(json.dumps(design.to_dict()))) == design


def test_search_resumes_and_only_improves():
    states = []
    full = search_design(2, 1.0, 1e-6, 0.9, progress=states.append)
    costs = [s["messages"] for s in states]
    assert costs == sorted(costs, reverse=True)
    assert states[-1]["stage"] == "done"
    assert {s["stage"] for s in states} == {"linear", "quadratic", "done"}
    middle = json.loads(json.dumps(states[len(states) // 2]))
    assert search_design(2, 1.0, 1e-6, 0.9, state=middle) == full
    assert search_design(2, 1.0, 1e-6, 0.9, state=states[-1]) == full
    again = search_design(2, 1.0, 1e-6, 0.9, state={"design": full.to_dict()})
    assert again.messages <= full.messages * 1.0001
    with pytest.raises(ValueError, match="state must belong to the same arguments"):
        search_design(2, 1.0, 1e-6, 0.8, state=middle)
    assert search_design(2, 1.0, 1e-6, 0.9, iterations=2).messages >= full.messages
