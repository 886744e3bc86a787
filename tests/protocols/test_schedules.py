"""Single-message protocols of Wang et al. 2023, against numbers from their formulas."""

import math
from itertools import product

import numpy as np
import pytest

from shuffledp.accounting import Infeasible, checkin_epsilon, inverse_moments, report_variance
from shuffledp.populations import Binomial, Empirical, Fixed, Poisson
from shuffledp.protocols import Messages, _occupancy, get
from shuffledp.protocols._occupancy import filled_moments, inverse_filled
from shuffledp.tasks import Budget, Frequency, Participants, Public, Users

BITS = Frequency(2)
ADULT = Binomial(48841, 0.05)
MEN = 16192 / 48842


def calibrated(name, eps, population=ADULT, accounting="printed", delta=1e-5, task=BITS, **options):
    protocol = get("frequency", name)
    return protocol.calibrate(Budget(eps, delta), population, task, accounting=accounting, **options)


def expected_tve(protocol):
    """Return the expectation over the number of participants, in the normal limit of the errors."""
    window = protocol.population.window(1e-15)
    n = window.support + 1
    ones = np.rint(n * MEN).astype(np.int64)
    variance = protocol.expected_variance(Participants.from_counts(np.column_stack((n - ones, ones))))
    return float(window.pmf @ (math.sqrt(2 / math.pi) * np.sqrt(variance).sum(axis=1)))


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_with_equal_accounting_random_checkin_pays_for_the_reports_it_drops(rate):
    population = Binomial(48841, rate)
    checkin = calibrated("random_checkin", 0.001, population, "exact")
    amplified = calibrated("amplified", 0.001, population, "exact")
    share = filled_moments(np.array([checkin.slots]), checkin.slots)[0][0] / checkin.slots
    assert share == pytest.approx(0.632, abs=5e-4)
    assert expected_tve(checkin) / expected_tve(amplified) == pytest.approx(1.58, abs=0.01)


def test_non_adaptive_dummies_help_only_with_the_printed_constants():
    gain = {}
    for accounting in ("printed", "corrected", "exact"):
        with_dummies = expected_tve(calibrated("non_adaptive", 0.001, accounting=accounting))
        gain[accounting] = 1 - with_dummies / expected_tve(
            calibrated("amplified", 0.001, accounting=accounting)
        )
    assert gain["printed"] == pytest.approx(0.125, abs=1e-3)
    assert gain["corrected"] == pytest.approx(0.028, abs=1e-3)
    assert gain["exact"] == 0
    assert calibrated("non_adaptive", 0.001).dummy_count == 221 * 221  # the end of the grid


FIG3 = Binomial(5000, 0.2)


def noise(protocol):
    """Return the expected squared l2 error of the randomization."""
    window = protocol.population.window(1e-15)
    n = window.support + 1
    counts = np.column_stack((n - n // 2, n // 2))
    return float(window.pmf @ protocol.expected_variance(Participants.from_counts(counts)).sum(axis=1))


def test_best_numbers_of_dummies():
    without = noise(calibrated("amplified", 0.05, FIG3))
    fixed, filling = calibrated("non_adaptive", 0.05, FIG3), calibrated("adaptive", 0.05, FIG3)
    assert fixed.eps_local == pytest.approx(0.4214, abs=5e-3)
    assert noise(fixed) / without == pytest.approx(0.8606, rel=5e-4)
    assert noise(filling) / without == pytest.approx(0.8607, rel=5e-4)
    assert calibrated("adaptive", 0.05, FIG3, stray_factor=True).dummy_count == 0
    for accounting in ("corrected", "simplified", "exact"):
        assert calibrated("non_adaptive", 0.05, FIG3, accounting).dummy_count == 0
    alone = calibrated("amplified", 0.05, FIG3, "exact")
    assert alone.eps_local == pytest.approx(0.44518, abs=1e-5)
    assert calibrated("adaptive", 0.05, FIG3, "exact", dummies=960).eps_local == pytest.approx(
        0.44542, abs=1e-5
    )
    # The search counts max(k - N, 0) dummies as in equation (7), one less than are added: it may lose 1/N.
    assert noise(calibrated("adaptive", 0.05, FIG3, "exact")) / noise(alone) == pytest.approx(1, abs=5e-4)


def test_adaptive_dummies_fill_the_others_up():
    protocol = calibrated("adaptive", 0.5, Poisson(20), "exact", dummies=15)
    added = protocol.dummies_added(np.array([1, 10, 15, 16, 17, 1000]))
    assert added.tolist() == [15, 6, 1, 0, 0, 0]
    window = Poisson(20).window()
    assert protocol.cost().shuffler_messages == pytest.approx(window.pmf @ np.maximum(15 - window.support, 0))


def test_options_are_validated():
    for name in ("non_adaptive", "adaptive"):
        for bad in (-1, 2.5, math.nan, "many"):
            with pytest.raises(ValueError, match=r"dummies must be (an integer|a number or None)"):
                calibrated(name, 0.1, FIG3, dummies=bad)
    with pytest.raises(ValueError, match="stray_factor only matters"):
        calibrated("adaptive", 0.1, FIG3, dummies=3, stray_factor=True)
    with pytest.raises(ValueError, match="threat must be one of conditional, own_coin"):
        calibrated("random_checkin", 0.1, threat="none")


# -- random check-in -------------------------------------------------------------------------------------------


def test_random_checkin_needs_coins_and_a_slot():
    for population in (Fixed(100), Poisson(100.0), Empirical((0.5, 0.5))):
        with pytest.raises(Infeasible, match=f"not {type(population).__name__}"):
            calibrated("random_checkin", 0.1, population)
    for population in (Binomial(0, 0.5), Binomial(10, 0.0), Binomial(10, 0.09), Binomial(1000, 1e-9)):
        with pytest.raises(Infeasible, match="there is no slot"):
            calibrated("random_checkin", 0.1, population)


def test_numbers_of_slots_do_not_suffer_from_rounding():
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


def test_the_two_threat_models_differ_as_they_should():
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


def test_a_slot_keeps_one_report_and_empty_slots_are_filled():
    protocol = calibrated("random_checkin", 60.0, Binomial(10, 0.5))  # reports are the values but for e^-60
    sent = Messages(np.array([[3, 1], [3, 1], [0, 1], [3, 1]]))
    shuffled = protocol.shuffle(sent, Public(np.array([4])), np.random.default_rng(0))
    assert shuffled.payload.shape == (5, 2)
    assert protocol.aggregate(shuffled).tolist() == [3, 2, 2]
    # Whose report stays is a fair choice.
    mixed = Messages(np.array([[2, 0], [2, 1], [2, 1]]))
    rng = np.random.default_rng(1)
    ones = sum(
        int(protocol.aggregate(protocol.shuffle(mixed, Public(np.array([3])), rng))[1]) for _ in range(3000)
    )
    assert ones / 3000 == pytest.approx(2 / 3, abs=5 * math.sqrt(2 / 9 / 3000))


def test_the_tally_of_filled_slots_does_not_point_at_reports():
    """If row i had the mark of its report, the fillers would be known."""
    protocol = calibrated("random_checkin", 60.0, Binomial(10, 0.5))
    users, rng = Users(np.ones(3, np.int64)), np.random.default_rng(2)
    rows = [
        protocol.shuffle(protocol.encode(users, rng), Public(np.array([3])), rng).payload for _ in range(2000)
    ]
    kept = [row for row in rows if row[:, 1].sum() == 2]
    share = np.mean([row[0, 0] for row in kept])  # the first row is always marked as filled
    assert share == pytest.approx(2 / 5, abs=5 * math.sqrt(0.24 / len(kept)))


def test_messages_and_fillers_are_counted():
    protocol = calibrated("random_checkin", 0.5, Binomial(40, 0.25), task=Frequency(3))
    cost, rng = protocol.cost(), np.random.default_rng(3)
    assert cost.bits_per_message == 5  # one of 30
    empty = []
    for others in Binomial(40, 0.25).sample(rng, 2000):
        who = Users(np.zeros(1 + others, np.int64))
        shuffled = protocol.shuffle(protocol.encode(who, rng), Public(np.array([1 + others])), rng)
        empty.append(10 - protocol.aggregate(shuffled)[-1])
    assert np.mean(empty) == pytest.approx(cost.shuffler_messages, abs=5 * np.std(empty) / math.sqrt(2000))


def brute_force(users, slots):
    filled = np.array([len(set(choice)) for choice in product(range(slots), repeat=users)], float)
    return filled.mean(), filled.var(), (1 / filled).mean(), (1 / filled**2).mean()


@pytest.mark.parametrize(("users", "slots"), [(1, 1), (5, 1), (1, 4), (2, 2), (3, 2), (6, 3), (4, 5), (7, 4)])
def test_filled_slots_by_enumeration(users, slots):
    mean, variance, inverse, inverse_square = brute_force(users, slots)
    n = np.array([users])
    assert [x[0] for x in filled_moments(n, slots)] == pytest.approx([mean, variance], abs=1e-12)
    assert [x[0] for x in inverse_filled(n, slots)] == pytest.approx([inverse, inverse_square], rel=1e-12)


@pytest.mark.parametrize("slots", [513, 1000])
def test_the_expansion_for_many_slots_is_as_accurate_as_stated(slots, monkeypatch):
    n = np.array([1, 2, 3, 10, 50, 512, 513, slots // 4, slots // 2, slots, 2 * slots, 5 * slots, 20 * slots])
    approximate = inverse_filled(n, slots)
    monkeypatch.setattr(_occupancy, "ENUMERATED", slots)
    for got, exact in zip(approximate, inverse_filled(n, slots), strict=True):
        assert got == pytest.approx(exact, rel=1e-5)


def test_inverse_moments_of_participants():
    assert inverse_moments(FIG3) == pytest.approx((9.997998e-4, 1.0004011e-6), rel=1e-6)
