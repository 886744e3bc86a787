"""Hashed balls into bins: values that messages count for, and errors of the specification."""

import itertools

import numpy as np
import pytest

from shuffledp.numerics.memoize import forget_all
from shuffledp.populations import Binomial, Fixed
from shuffledp.protocols import get
from shuffledp.protocols.conformance import Case, check_one_law, running, statistics
from shuffledp.protocols.frequency import hashed_balls_into_bins as hashed_balls
from shuffledp.protocols.frequency._hashing import prime_above
from shuffledp.protocols.frequency.hashed_balls_into_bins import (
    HashFamily,
    dummies_in_bins,
    hashed_balls_delta,
)
from shuffledp.tasks import Budget, Frequency, Participants, Users


def calibrated(n, k, eps=1.0, delta=1e-6, **options):
    return get("frequency", "hashed_balls_into_bins").calibrate(
        Budget(eps, delta), Fixed(n - 1), Frequency(k), accounting="exact", **options
    )


@pytest.mark.parametrize("seed", [3, 4])
def test_few_value_counts_have_joint_law(monkeypatch, seed):
    """Values in one bin exclude each other; independent draws of the counts fail for every second seed."""
    monkeypatch.setattr(statistics, "SEED", seed)
    protocol = get("frequency", "hashed_balls_into_bins")
    case = Case(Budget(1.0, 1e-3), Binomial(236, 0.25), Frequency(5), "exact", (30, 0, 1, 15, 14))
    assert running.calibrated(protocol, case).joint_law
    check_one_law(protocol, [case])


@pytest.mark.parametrize("k, joint", [(6, True), (40, False)])
def test_correlations_are_of_hash_functions(k, joint):
    """Otherwise they are declared as omitted."""
    found = calibrated(400, k, delta=0.1, bins=3)
    assert found.joint_law == joint
    held = np.zeros(k, np.int64)
    held[0] = 400
    rng, family = np.random.default_rng(8), found.family
    drawn = found.sample_aggregate(Participants.from_counts(np.tile(held, (20_000, 1))), rng)[:, 1:]
    both = np.corrcoef(drawn.T)[np.triu_indices(k - 1, 1)]
    assert np.mean(both) == pytest.approx(-0.16 if joint else 0.0, abs=0.01)
    own = 400 * family.collision_rate + found.dummies_in_all / 3
    assert np.allclose(drawn.mean(axis=0), own, rtol=5e-3)


def test_first_users_send_one_dummy_more():
    found = calibrated(50, 23, delta=0.1, bins=3)
    each, more = divmod(found.dummies_in_all, 50)
    assert more
    rng = np.random.default_rng(5)
    for first in (0, more - 1, more, 49):
        sent = found.encode(Users(np.array([1]), offset=first), rng)
        assert len(sent) == 1 + each + (first < more)


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match="bins"):
        calibrated(50, 3, bins=1)
    with pytest.raises(ValueError, match="bins must be one of"):
        calibrated(50, 3, bins="all")


# -- calibration --------------------------------------------------------------------------------------------------


def hashed(u, v, x, family):
    return (u * x + v) % family.prime % family.bins


@pytest.mark.parametrize(
    "k, b, q", [(4, 2, 5), (3, 2, 5), (2, 2, 3), (5, 3, 7), (2, 10, 11), (20, 7, 23), (6, 16, 17)]
)
def test_collisions_are_those_of_all_functions(k, b, q):
    family = HashFamily(k, b)
    assert family.prime == q
    functions = list(itertools.product(range(1, q), range(q)))
    for x in range(1, k):
        share = np.mean([hashed(u, v, 0, family) == hashed(u, v, x, family) for u, v in functions])
        assert family.collision_rate == pytest.approx(float(share), rel=1e-13)
    if (q, b) == (5, 2):
        assert family.collision_rate == 0.4


def test_primes():
    assert [prime_above(x) for x in (1, 2, 3, 7, 13, 5000, 8685, 2**31 - 1)] == [
        2, 3, 5, 11, 17, 5003, 8689, 2147483659,
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", [(1, 5), (5, 1), (2**31 + 1, 5), (5, 2**31 + 1)])
def test_impossible_families_are_refused(wrong):
    with pytest.raises(ValueError, match=r"domain_size|bins"):
        HashFamily(*wrong)


def test_contour_of_large_tables_is_upper(monkeypatch):
    family = HashFamily(50, 21)
    table = dummies_in_bins(family, 0.5, 1e-6)
    exact = hashed_balls_delta(0.5, family, table)
    forget_all()
    monkeypatch.setattr(hashed_balls, "_MOST_CELLS", 0)
    assert table <= dummies_in_bins(family, 0.5, 1e-6) <= table * (1 + 1e-5) + 1
    assert exact <= hashed_balls_delta(0.5, family, table) <= exact * (1 + 2e-6)
    forget_all()
