import math
from dataclasses import replace

import numpy as np
import pytest
from learning_problem import NETWORK, TESTED, USERS, plan, problem
from numpy.testing import assert_allclose, assert_array_equal

from shuffledp.pipeline.learning import (
    LearningData,
    Network,
    Point,
    TrainingCurve,
    checkpoint as checkpoints,
)
from shuffledp.pipeline.learning.clipping import plain_clipped_sum
from shuffledp.pipeline.learning.training import accuracy, noise, participants, train

DATA = problem()


def states(settings, path):
    """Return the state after each round from the checkpoints."""
    found = []

    def progress(done):
        found.append(checkpoints.load(path, settings, DATA.digest, {}))

    train(settings, DATA, checkpoint=path, progress=progress, every_seconds=0)
    return found


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


# -- participants and noise --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed, t", [(11, 3), (2**90 + 1, 7)])
def test_streams_do_not_change_between_versions(seed, t):
    """Batches are redrawn in each round, and the noise is normal."""

    def stream(kind):
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(kind, t))))

    settings = plan(seed=seed)
    joined = np.flatnonzero(stream(1).random(USERS) < 0.25)
    assert_array_equal(participants(plan(kind="checkin", seed=seed), USERS, t), joined)
    assert_array_equal(participants(settings, USERS, t), stream(1).choice(USERS, 8, replace=False))
    normal = stream(2).standard_normal(NETWORK.size, np.float32)
    for count in (1, 8, 6000):
        assert_allclose(noise(settings, count, t), normal * math.sqrt(count) * 0.3 * 0.4, rtol=1e-6)


# -- training ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        plan(decay="linear", rounds=3, evaluate_every=1, clip=0.2),
        plan(kind="checkin", rounds=3, evaluate_every=1),
    ],
    ids=["shuffle_sgd", "checkin"],
)
def test_round_steps_along_noisy_mean(settings, tmp_path):
    run = states(settings, tmp_path / "run")
    drawn = [participants(settings, USERS, t) for t in (1, 2, 3)]
    assert [point.participants for point in run[-1].points] == [0, *map(len, drawn)]
    for t, who in enumerate(drawn[1:], 2):
        images = ((DATA.train_images[who] / 255 - 0.1307) / 0.3081).astype(np.float32)
        before = run[t - 2].parameters
        total = np.asarray(plain_clipped_sum(NETWORK, before, images, DATA.train_labels[who], settings.clip))
        want = before - settings.step(t) * (total + noise(settings, len(who), t)) / len(who)
        assert_allclose(run[t - 1].parameters, want, rtol=0, atol=1e-6)
        assert np.linalg.norm(want - before) > 0.01


def test_noiseless_training_learns():
    curve = train(plan(noise_multiplier=0, rounds=90, evaluate_every=40, clip=1), DATA)
    assert [point.round for point in curve.points] == [0, 40, 80, 90]
    assert [point.participants for point in curve.points] == [0, 8, 8, 8]
    assert curve.points[0].accuracy < 0.7
    assert curve.points[-1].accuracy > 0.95
    assert curve.points[-1].loss < 0.5 * curve.points[0].loss
    assert (curve.points[-1].accuracy * TESTED) % 1 == pytest.approx(0, abs=1e-9)


def test_best_point_is_earliest_maximum():
    points = tuple(Point(t, value, 1.0, 8) for t, value in ((0, 0.1), (10, 0.7), (20, 0.7), (30, 0.6)))
    assert TrainingCurve(points).best == points[1]


def test_a_round_without_participants_changes_nothing(tmp_path):
    settings = plan(kind="checkin", rate=1e-9, rounds=2, evaluate_every=1)
    run = states(settings, tmp_path / "run")
    assert_array_equal(run[0].parameters, run[1].parameters)
    assert [point.participants for point in run[1].points] == [0, 0, 0]


def test_sampled_gradients_stand_for_all():
    # When all users hold the same, a sample has the mean of all.
    same = replace(
        DATA, train_images=DATA.train_images[[0] * USERS], train_labels=DATA.train_labels[[0] * USERS]
    )
    settings = plan(kind="checkin", rounds=2, evaluate_every=1)
    whole, some = (train(replace(settings, sampled=m), same) for m in (None, 2))
    assert_allclose([p.loss for p in some.points], [p.loss for p in whole.points], rtol=1e-5)
    assert whole.points[2].loss != pytest.approx(whole.points[0].loss, rel=0.01)


def test_average_weighs_iterates_geometrically(tmp_path):
    settings = plan(averaging=0.5, rounds=3, evaluate_every=1)
    run = states(settings, tmp_path / "run")
    plain = states(replace(settings, averaging=0), tmp_path / "plain")
    iterates = [state.parameters for state in plain]
    assert_array_equal(iterates[2], run[2].parameters)  # averaging does not touch training
    average = (iterates[0] + 2 * iterates[1] + 4 * iterates[2].astype(float)) / 7
    shown = accuracy(NETWORK, average.astype(np.float32), DATA)
    assert run[2].points[3].loss == pytest.approx(shown[1], rel=1e-6)
    assert run[2].points[3].loss != pytest.approx(plain[2].points[3].loss, rel=1e-4)


def test_accuracy_and_loss_count_images_once():
    ones = LearningData(*(getattr(DATA, name) for name in ("train_images", "train_labels")), *tail(7))
    parameters = np.zeros(NETWORK.size, np.float32)
    parameters[-2] = 1.0  # bias of class 1: the logits are (0, 1, 0)
    right, loss = accuracy(NETWORK, parameters, ones)
    assert right == pytest.approx(np.mean(ones.test_labels == 1), abs=1e-12)
    want = math.log(2 + math.e) - np.mean(ones.test_labels == 1)
    assert loss == pytest.approx(want, rel=1e-6)


def tail(count):
    return DATA.test_images[:count], DATA.test_labels[:count]
