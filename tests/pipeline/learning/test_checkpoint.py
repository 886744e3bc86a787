import logging
from dataclasses import replace

import numpy as np
import pytest
from learning_problem import NETWORK, plan, problem
from numpy.testing import assert_array_equal

from shuffledp.pipeline.learning import (
    CheckpointError,
    Point,
    checkpoint as checkpoints,
)
from shuffledp.pipeline.learning.training import train

DATA = problem()


class StopHereError(Exception):
    pass


def stop_after(number):
    def progress(done):
        if done.round >= number:
            raise StopHereError

    return progress


# -- stopping and going on ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [plan(averaging=0.9), plan(kind="checkin", evaluate_every=2, sampled=5)],
    ids=["shuffle_sgd", "checkin"],
)
def test_stopped_run_ends_with_same_bytes(settings, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    curve = train(settings, DATA, checkpoint=whole)
    for stop in (1, 4):
        with pytest.raises(StopHereError):
            train(settings, DATA, checkpoint=parts, progress=stop_after(stop), every_seconds=0)
    assert parts.read_bytes() != whole.read_bytes()
    assert train(settings, DATA, checkpoint=parts) == curve
    assert parts.read_bytes() == whole.read_bytes()
    assert train(settings, DATA) == curve
    assert train(settings, DATA, checkpoint=parts, progress=stop_after(0)) == curve  # nothing left to do
    assert sorted(tmp_path.iterdir()) == [parts, whole]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "run"
    points = (Point(0, 0.1, 2.5, 0),)
    parameters = np.arange(NETWORK.size, dtype=np.float32)
    state = checkpoints.State(2, parameters, parameters / 3.0, points)
    checkpoints.save(path, plan(), DATA.digest, state, {"processors": 2})
    return path, state


def test_checkpoint_restores_the_saved_state(saved, caplog):
    path, state = saved
    with caplog.at_level(logging.WARNING):
        found = checkpoints.load(path, plan(), DATA.digest, {"processors": 2})
        assert not caplog.records
        checkpoints.load(path, plan(), DATA.digest, {"processors": 4})
    assert "may differ in their last digits" in caplog.text
    assert (found.round, found.points) == (state.round, state.points)
    for name in ("parameters", "average"):
        assert getattr(found, name).dtype == getattr(state, name).dtype
        assert_array_equal(getattr(found, name), getattr(state, name))
    assert checkpoints.load(path.with_name("none"), plan(), DATA.digest, {}) is None


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"noise_multiplier": 0.5}, r"plan\.noise_multiplier \(0\.4 there, 0\.5 here\)"),
        ({"seed": 12}, r"plan\.seed"),
        ({"rounds": 7}, r"plan\.rounds"),
        ({"network": replace(NETWORK, activation="relu")}, r"plan\.network\.activation \('tanh' there"),
        ({"kind": "checkin"}, r"plan\.batch \(8 there, None here\), plan\.kind"),
    ],
)
def test_another_plans_checkpoint_is_refused(saved, changes, named):
    with pytest.raises(
        CheckpointError, match=f"of another run, which differs in {named}.*Delete .*run to train"
    ):
        train(plan(**changes), DATA, checkpoint=saved[0])


def test_another_data_sets_checkpoint_is_refused(saved):
    with pytest.raises(CheckpointError, match="differs in data"):
        train(plan(), problem(seed=4), checkpoint=saved[0])


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[:5000] + bytes([content[5000] ^ 1]) + content[5001:],
        lambda content: bytes([content[60] ^ 1]).join([content[:60], content[61:]]),
        lambda content: content + b"x",
    ],
    ids=["empty", "end", "bit", "checksum", "longer"],
)
def test_a_damaged_checkpoint_is_refused(saved, damage):
    path, _ = saved
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(
        CheckpointError, match=r"run: damaged, its content does not match its checksum\. Delete"
    ):
        train(plan(), DATA, checkpoint=path)
