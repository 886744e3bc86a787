"""The profile that a calibrated protocol states, at random budgets: at most the delta that was asked for."""

import math
from dataclasses import replace

import numpy as np
import pytest

from shuffledp.accounting import Infeasible
from shuffledp.protocols import available, conformance, get
from shuffledp.tasks import TASK_KINDS, Budget

PROTOCOLS = [(kind, name) for kind in TASK_KINDS for name in available(kind)]
#: Calibrations that are tried, and profiles that are checked: fewer where each takes about a second.
TRIES = 60
ENOUGH = {"frequency": 12, "vectors": 12, "sets": 4, "summation": 2}


def random_budget(rng, like):
    """A budget of as many levels: eps from 0.05 to 8, delta from 1e-9 to 0.5, or 0 where that is asked for."""
    eps = sorted(np.exp(rng.uniform(math.log(0.05), math.log(8), len(like.levels))).tolist())
    delta = math.exp(rng.uniform(math.log(1e-9), math.log(0.5))) if like.delta > 0 else 0.0
    return Budget(tuple(eps) if isinstance(like.eps, tuple) else eps[0], delta, like.neighbours)


@pytest.mark.parametrize(("kind", "name"), PROTOCOLS, ids=["-".join(p) for p in PROTOCOLS])
def test_the_profile_keeps_the_delta_of_its_calibration(kind, name):
    protocol_class = get(kind, name)
    rng = np.random.default_rng([5, *name.encode()])
    cases = conformance.default_cases(protocol_class)
    feasible = checked = 0
    for i in rng.permutation(TRIES):
        case = cases[i % len(cases)]
        case = replace(case, budget=random_budget(rng, case.budget))
        try:
            protocol = case.calibrate(protocol_class)
        except Infeasible:
            continue
        feasible += 1
        pair = protocol.privacy_profile()
        if pair is None:
            continue
        checked += 1
        delta = float(pair.delta(case.budget.levels[0]))
        assert 0 <= delta <= case.budget.delta * (1 + 1e-9), f"{case}: {delta!r}"
        if checked == ENOUGH[kind]:
            break
    assert feasible, "no budget was feasible: nothing was checked"
