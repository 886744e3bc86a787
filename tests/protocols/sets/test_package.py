"""Protocols for sets: numbers of the paper's settings, exact laws of small cases, and rejections."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from shuffledp.populations import Fixed
from shuffledp.protocols import available, get
from shuffledp.protocols.calibrations import SubsetExponential
from shuffledp.protocols.sets import _set_protocol, _subset
from shuffledp.protocols.sets._subset import drawn_subsets
from shuffledp.tasks import Budget, Frequency, Participants, Public, Sets, Users

FALSE_ALARM = 1e-6  # of every chi-square test; the seeds are fixed
EPS = (0.5, 1.0, 2.0)


def calibrated(name, d, s, n, accounting="printed", eps=EPS, **options):
    return get("sets", name).calibrate(
        Budget(eps, 0.01 / n), Fixed(n - 1), Sets(d, s, 3), accounting=accounting, **options
    )


# -- exact laws --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d, s, k", [(5, 2, 1), (5, 2, 2), (6, 2, 3), (5, 3, 2), (7, 2, 4)])
def test_subsets_follow_their_definition(d, s, k):
    held = tuple(range(1, s + 1))
    mechanism = SubsetExponential(d, s, k, 1.3)
    weights = {z: math.exp(1.3 if set(z) & set(held) else 0) for z in itertools.combinations(range(d), k)}
    law = {z: w / sum(weights.values()) for z, w in weights.items()}
    shuffled_own = np.tile(held[::-1], (60_000, 1))
    drawn = np.sort(drawn_subsets(mechanism, shuffled_own, np.random.default_rng(3)), axis=1)
    seen = Counter(map(tuple, drawn.tolist()))
    assert set(seen) <= set(law)
    expected = [60_000 * p for p in law.values()]
    assert chisquare([seen[z] for z in law], expected).pvalue > FALSE_ALARM


def test_fast_law_keeps_repeats_apart():
    """Two repeats have different users; the counts of each repeat follow from its users' sets."""
    mechanism = get("sets", "subset_local").calibrate(Budget(50.0, 0.0), Fixed(3), Sets(5, 1, 1))
    values = [np.full((4, 1), 2), np.full((7, 1), 4)]
    counts = np.stack([np.bincount(v.ravel(), minlength=5)[None] for v in values])
    who = Participants(
        Public(np.array([4, 7])), counts, counts[:, 0] / 4, lambda repeat: iter([Users(values[repeat])])
    )
    assert np.array_equal(mechanism.sample_aggregate(who, np.random.default_rng(0)), counts[:, 0])
    with pytest.raises(ValueError, match="needs the users' sets"):
        mechanism.sample_aggregate(Participants(who.public, counts, counts[:, 0]), np.random.default_rng(0))


# -- padding, levels, refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in available("sets") if get("sets", n).multi_level])
def test_levels_must_match_the_budget(name):
    found, budget, task = get("sets", name), Budget((1.0, 2.0), 1e-3), Sets(5, 2, 2)
    with pytest.raises(ValueError, match="one eps per privacy level"):
        found.calibrate(Budget((1.0, 2.0, 3.0), 1e-3), Fixed(59), task)
    protocol = found.calibrate(budget, Fixed(59), task)
    with pytest.raises(ValueError, match=r"public\.level_counts is missing"):
        protocol.refine(Public(np.array([60])))
    with pytest.raises(ValueError, match="got 3"):
        protocol.refine(Public(np.array([60]), np.array([[20.0, 20.0, 20.0]])))
    with pytest.raises(ValueError, match=r"users\.levels is missing"):
        protocol.encode(Users(np.array([[0, 1]])), np.random.default_rng(0))
    uneven = protocol.refine(Public(np.array([60]), np.array([[60.0, 0.0]])))
    assert uneven.refine(Public(np.array([60]), np.array([[30.0, 30.0]]))) == protocol
    users = Users(np.tile([[0, 1]], (60, 1)), np.zeros(60, np.int64))
    assert len(uneven.encode(users, np.random.default_rng(0))) > 0


def test_many_subsets_are_counted_in_blocks(monkeypatch):
    protocol = get("sets", "subset_local").calibrate(Budget(2.0, 1e-6), Fixed(39), Sets(6, 2))
    sets = np.tile([[0, 1], [0, 3], [4, 2], [5, 1]], (10, 1))
    counts = np.bincount(sets.ravel(), minlength=6)[None, None]

    def users(repeat):
        yield Users(sets[:25])
        yield Users(sets[25:])

    who = Participants(Public(np.array([40]), np.array([[40.0]])), counts, counts[:, 0] / 40, users)
    whole = np.concatenate(
        [protocol.sample_aggregate(who, np.random.default_rng([1, i])) for i in range(600)]
    )
    monkeypatch.setattr(_subset, "_ITEMS", 7 * protocol.mechanism.subset_size)  # seven users at a time
    parts = np.concatenate(
        [protocol.sample_aggregate(who, np.random.default_rng([2, i])) for i in range(600)]
    )
    assert np.all(parts.sum(axis=1) == 40 * protocol.mechanism.subset_size)
    error = np.sqrt((whole.var(axis=0) + parts.var(axis=0)) / 600)
    assert np.all(np.abs(whole.mean(axis=0) - parts.mean(axis=0)) < 5.5 * error)


def test_wrong_shapes_and_levels_are_refused():
    public = Public(n_users=np.array([5.0, 5.0]))
    with pytest.raises(ValueError, match="Expected a sets task"):
        _set_protocol.sets_task(Frequency(3))
    with pytest.raises(ValueError, match=r"got shape \(2, 3\)"):
        _set_protocol.holders(Participants(public, np.zeros((2, 3)), np.zeros((2, 3))))
    with pytest.raises(ValueError, match="level_counts is missing"):
        _set_protocol.announced_sizes(public, 2)
    assert _set_protocol.announced_sizes(public, 1) == (5,)
