"""Participants that follow from counts, against their raw inputs."""

import numpy as np
import pytest

from shuffledp.comparison import setting as module
from shuffledp.comparison.setting import holding
from shuffledp.protocols.vectors._participants import spread_of, squares_of
from shuffledp.tasks import Participants, Sets, Vectors


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(module, "_TOGETHER", 12)


def inputs(who, repeat):
    chunks = list(who.users(repeat))
    assert [chunk.offset for chunk in chunks] == np.cumsum([0, *map(len, chunks[:-1])]).tolist()
    assert len(chunks) > 1
    return np.concatenate([chunk.values for chunk in chunks])


def test_sets_have_distinct_items():
    task = Sets(5, 3, padding_items=1)
    counts = np.array([[20, 13, 7, 19, 1], [18, 18, 18, 0, 6]])
    who = holding(task, np.array([20, 20]), counts)
    assert who.counts.shape == (2, 1, 5)
    assert who.truth.tolist() == (counts[:, :4] / 20).tolist()
    for repeat in range(2):
        sets = inputs(who, repeat)
        assert sets.shape == (20, 3)
        assert all(len(set(row)) == 3 for row in sets.tolist())
        assert np.bincount(sets.ravel(), minlength=5).tolist() == counts[repeat].tolist()


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_vector_shortcuts_equal_plain_vectors(norm):
    task = Vectors(3, clip=2.0, norm=norm)
    who = holding(task, np.array([10, 12]), np.array([[5, 4, 1], [0, 2, 10]]))
    plain = Participants(who.public, who.counts, who.truth, who.users)
    for repeat, n in enumerate((10, 12)):
        vectors = inputs(who, repeat)
        assert vectors.shape == (n, 3)
        assert np.linalg.norm(vectors, ord=int(norm[1]), axis=1).tolist() == [2.0] * n
        assert vectors.sum(axis=0).tolist() == who.counts[repeat].tolist()
    assert np.allclose(spread_of(who, task), spread_of(plain, task), rtol=1e-12)
    assert np.allclose(squares_of(who, task), squares_of(plain, task), rtol=1e-12)
    some = who.some(np.array([10, 5]), np.random.default_rng(1))
    assert some[0].tolist() == who.counts[0].tolist()
    assert some[1].sum() == 10
