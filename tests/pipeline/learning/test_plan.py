from dataclasses import replace

import pytest
from learning_problem import NETWORK, plan, problem
from numpy.testing import assert_allclose

from shuffledp.pipeline.learning import (
    Network,
)
from shuffledp.pipeline.learning.training import train

DATA = problem()


# -- plans -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"kind": "sgd"}, "kind must be one of shuffle_sgd, checkin"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"clip": -1}, "clip"),
        ({"noise_multiplier": -0.1}, "noise_multiplier"),
        ({"rounds": 0}, "rounds"),
        ({"evaluate_every": 0}, "evaluate_every"),
        ({"seed": -1}, "seed must be an integer >= 0, got -1"),
        ({"seed": 1.0}, "seed"),
        ({"batch": None}, "batch must be given for kind 'shuffle_sgd'"),
        ({"rate": 0.1}, "rate has no meaning for kind 'shuffle_sgd', got 0.1"),
        ({"kind": "checkin", "rate": 1.0}, "rate"),
        ({"decay": "cosine"}, "decay"),
        ({"averaging": 1.0}, "averaging must be in"),
        ({"sampled": 0}, "sampled"),
    ],
)
def test_impossible_plans_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        plan(**changes)


def test_plans_must_fit_the_data():
    with pytest.raises(ValueError, match="batch must be at most 40, the number of users of the data, got 41"):
        train(plan(batch=41), DATA)
    with pytest.raises(ValueError, match=r"images \(28, 28, 1\), the data have \(16, 16, 1\)"):
        train(plan(network=Network()), DATA)
    with pytest.raises(ValueError, match="Labels go up to 2, but the network has 2 outputs"):
        train(plan(network=replace(NETWORK, classes=2)), DATA)


def test_linear_decay_ends_with_one_part():
    decaying = plan(decay="linear", learning_rate=0.5, rounds=5)
    assert_allclose([decaying.step(t) for t in range(1, 6)], [0.5, 0.4, 0.3, 0.2, 0.1], rtol=1e-15)
    assert [plan().step(t) for t in (1, 6)] == [0.5, 0.5]
