"""Inputs, counts and aggregates of another task: every method of every built-in protocol refuses them by name."""

import math
from dataclasses import replace

import numpy as np
import pytest

from shuffledp.protocols import get
from shuffledp.protocols.conformance import default_cases
from shuffledp.protocols.conformance.running import feasible
from small_tasks import BUILT_INS

METHODS = ("expected_variance", "expected_squared_error", "expected_absolute_error")


@pytest.mark.parametrize("kind, name", BUILT_INS)
def test_inputs_of_other_task_are_refused(kind, name):
    protocol_class = get(kind, name)
    cases = sorted(
        default_cases(protocol_class), key=lambda case: -case.budget.largest_eps
    )  # few messages first
    case, protocol, _ = next(feasible(protocol_class, cases))
    users, who, rng = case.users(), case.participants(3), np.random.default_rng(1)
    values, aggregate = users.values, protocol.sample_aggregate(who, rng)
    beyond = np.add(values, math.inf if kind == "vectors" else 10**9)
    pairs = np.stack((values, values), axis=-1)
    others = [replace(who, counts=np.concatenate((who.counts, who.counts[..., :1]), axis=-1))]
    if kind != "vectors":
        others.append(replace(who, counts=-1 - who.counts))
    attempts = [
        *(
            lambda wrong=wrong: protocol.encode(replace(users, values=wrong), rng)
            for wrong in (beyond, pairs)
        ),
        *(
            lambda wrong=wrong: protocol.encode(users=replace(users, values=wrong), rng=rng)
            for wrong in (pairs,)
        ),
        *(lambda wrong=wrong: protocol.sample_aggregate(wrong, rng) for wrong in others),
        *(
            lambda wrong=wrong, method=method: getattr(protocol, method)(wrong)
            for wrong in others
            for method in METHODS
        ),
        lambda: protocol.estimate(aggregate[:2], who.public),
        lambda: protocol.estimate(aggregate=aggregate[:2], public=who.public),
    ]
    for attempt in attempts:
        with pytest.raises(ValueError, match=f"^{name}: "):
            attempt()
