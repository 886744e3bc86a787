"""Single-message protocols of Wang et al. 2023, against numbers from their formulas."""

import math
from itertools import product

import numpy as np
import pytest

from shuffledp.accounting import Infeasible, checkin_epsilon, report_variance
from shuffledp.populations import Binomial
from shuffledp.protocols import _occupancy, get
from shuffledp.protocols._occupancy import filled_moments, inverse_filled
from shuffledp.tasks import Budget, Frequency, Participants, Public, Users

BITS = Frequency(2)
ADULT = Binomial(48841, 0.05)


def calibrated(name, eps, population=ADULT, accounting="printed", delta=1e-5, task=BITS, **options):
    protocol = get("frequency", name)
    return protocol.calibrate(Budget(eps, delta), population, task, accounting=accounting, **options)


FIG3 = Binomial(5000, 0.2)


def test_options_are_validated():
    with pytest.raises(ValueError, match="stray_factor only matters"):
        calibrated("adaptive", 0.1, FIG3, dummies=3, stray_factor=True)
    with pytest.raises(ValueError, match="threat must be one of conditional, own_coin"):
        calibrated("random_checkin", 0.1, threat="none")


# -- random check-in -------------------------------------------------------------------------------------------


def test_random_checkin_needs_a_slot():
    for population in (Binomial(0, 0.5), Binomial(10, 0.0), Binomial(10, 0.09), Binomial(1000, 1e-9)):
        with pytest.raises(Infeasible, match="there is no slot"):
            calibrated("random_checkin", 0.1, population)


def test_numbers_of_slots_ignore_rounding():
    assert calibrated("random_checkin", 0.1, Binomial(100, 0.29)).slots == 29  # 100 * 0.29 = 28.999..
    assert calibrated("random_checkin", 0.1, Binomial(100, 0.2899)).slots == 28


@pytest.mark.parametrize("accounting", ["printed", "exact"])
@pytest.mark.parametrize("eps", [1e-6, 0.5, 20.0])
def test_a_single_slot_works(accounting, eps):
    """The slot keeps one of all reports, whose local budget is (nearly) the central budget."""
    protocol = calibrated("random_checkin", eps, Binomial(10, 0.1), accounting)
    assert protocol.slots == 1
    assert protocol.eps_local == pytest.approx(eps, abs=3e-5)
    who = Participants.from_counts([[1, 0], [3, 4], [0, 1]])
    assert np.all(protocol.sample_aggregate(who, np.random.default_rng(0))[:, -1] == 1)
    # A lone report of one of seven, four of whom hold 1: the randomizer's variance and the choice of the user.
    report = report_variance(protocol.eps_local)
    assert protocol.expected_variance(who)[:, 1] == pytest.approx([report, report + 12 / 49, report])
    assert protocol.cost().shuffler_messages == 0


def test_threat_models_differ():
    population = Binomial(48841, 0.01)
    known, coin = (
        calibrated("random_checkin", 0.001, population, threat=t) for t in ("conditional", "own_coin")
    )
    assert calibrated("amplified", 0.001, population).eps_local == pytest.approx(0.0027, rel=0.02)
    assert known.eps_local == pytest.approx(0.00458, rel=1e-3)
    assert coin.eps_local == pytest.approx(0.330, rel=5e-3)
    assert coin.privacy_profile() is None
    assert checkin_epsilon(
        coin.slots, coin.eps_local, 1e-5, rate=0.01, accounting="printed"
    ) == pytest.approx(0.001)
    with pytest.raises(Infeasible, match="own coin"):
        calibrated("random_checkin", 0.001, population, "exact", threat="own_coin")


def test_tally_hides_the_reports():
    """If row i had the mark of its report, the fillers would be known."""
    protocol = calibrated("random_checkin", 60.0, Binomial(10, 0.5))
    users, rng = Users(np.ones(3, np.int64)), np.random.default_rng(2)
    rows = [
        protocol.shuffle(protocol.encode(users, rng), Public(np.array([3])), rng).payload for _ in range(2000)
    ]
    kept = [row for row in rows if row[:, 1].sum() == 2]
    share = np.mean([row[0, 0] for row in kept])  # the first row is always marked as filled
    assert share == pytest.approx(2 / 5, abs=5 * math.sqrt(0.24 / len(kept)))


def brute_force(users, slots):
    filled = np.array([len(set(choice)) for choice in product(range(slots), repeat=users)], float)
    return filled.mean(), filled.var(), (1 / filled).mean(), (1 / filled**2).mean()


@pytest.mark.parametrize("users, slots", [(1, 1), (5, 1), (1, 4), (2, 2), (3, 2), (6, 3), (4, 5), (7, 4)])
def test_filled_slots_by_enumeration(users, slots):
    mean, variance, inverse, inverse_square = brute_force(users, slots)
    n = np.array([users])
    assert [x[0] for x in filled_moments(n, slots)] == pytest.approx([mean, variance], abs=1e-12)
    assert [x[0] for x in inverse_filled(n, slots)] == pytest.approx([inverse, inverse_square], rel=1e-12)


@pytest.mark.parametrize("slots", [513, 1000])
def test_expansion_for_slots_is_accurate(slots, monkeypatch):
    n = np.array([1, 2, 3, 10, 50, 512, 513, slots // 4, slots // 2, slots, 2 * slots, 5 * slots, 20 * slots])
    approximate = inverse_filled(n, slots)
    assert inverse_filled(n[-1:], slots)[0] == approximate[0][-1]  # of many users alone
    monkeypatch.setattr(_occupancy, "ENUMERATED", slots)
    for got, exact in zip(approximate, inverse_filled(n, slots), strict=True):
        assert got == pytest.approx(exact, rel=1e-5)
