"""Unit vectors along the axes: their sums and squares, and PrivUnit's closed form, which uses them."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.pipeline.experiments.participants import participants, typical
from shuffledp.pipeline.experiments.sources import source_from
from shuffledp.pipeline.experiments.sources.directions import USERS_AT_ONCE
from shuffledp.populations import Fixed
from shuffledp.protocols.vectors.privunit import PrivUnit
from shuffledp.tasks import Budget, Participants, Vectors

TASK = Vectors(3, 2.0, "l2")
LAW = Fixed(USERS_AT_ONCE + 100)
DATA = {"name": "axes"}


def directions(task=TASK):
    return source_from(DATA, task, Path("nowhere"))


def drawn(truth="participants"):
    return participants(TASK, directions(), LAW, repeats=4, seed=3, truth=truth)


def test_sums_are_of_users_vectors():
    who = drawn()
    assert who.users is not None
    for repeat in range(4):
        vectors = np.concatenate([chunk.values for chunk in who.users(repeat)])
        assert vectors.shape == (LAW.mean + 1, 3)
        assert_allclose(np.linalg.norm(vectors, axis=1), TASK.clip)
        assert_allclose(np.abs(vectors).sum(axis=1), TASK.clip)  # as long in either norm
        assert_allclose(who.counts[repeat], vectors.sum(axis=0))
        assert_allclose(who.squares[repeat], (vectors**2).sum(axis=0))
        assert_allclose(who.truth[repeat], vectors.mean(axis=0))
    assert_allclose(drawn("population").truth, 0)


def test_part_chooses_among_participants():
    who = drawn()
    everybody = who.public.n_users
    assert_allclose(who.some(everybody, np.random.default_rng(1)), who.counts)
    kept = who.some(everybody // 2, np.random.default_rng(1))
    assert np.all(np.abs(kept).sum(axis=1) <= TASK.clip * (everybody // 2) + 1e-9)


@pytest.mark.parametrize("dimension", [2, 5])
def test_privunit_error_ignores_direction(dimension):
    task = Vectors(dimension, 2.0, "l2")
    protocol = PrivUnit.calibrate(Budget(1.0, 1e-6), LAW, task)
    who = participants(task, directions(task), LAW, repeats=3, seed=3)
    fast = protocol.expected_variance(who)
    slow = protocol.expected_variance(Participants(who.public, who.counts, who.truth, who.users))
    assert_allclose(fast, slow, rtol=1e-12)
    each = protocol.report.error(LAW.mean + 1)
    assert_allclose(fast.sum(axis=1), task.clip**2 * each, rtol=1e-12)
    expected = protocol.expected_variance(typical(task, directions(task), LAW).participants)
    assert_allclose(expected.sum(axis=1), task.clip**2 * each, rtol=1e-12)
