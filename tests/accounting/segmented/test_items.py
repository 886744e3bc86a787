from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multinomial

from printed_numbers import half_digit
from shuffledp.accounting import Infeasible
from shuffledp.accounting.general.variation_ratio import variation_ratio_delta
from shuffledp.accounting.segmented.item_calibration import (
    blankets_for_full_reporting,
    gaussian_noise,
    reporting_rate,
)
from shuffledp.accounting.segmented.items import (
    all_counts_delta,
    blanket_slots,
    item_delta,
    segmented_delta,
)
from shuffledp.accounting.segmented.users import (
    user_level_blankets,
    user_level_delta,
)

EPS = (0.5, 1.0, 2.0)
SETTINGS = [(17, 4), (128, 4), (128, 8)]


def all_counts_by_enumeration(eps: float, rate: float, messages: int, used: float, items: int) -> float:
    """The divergence of the counts of all items, over all ways to fill the slots; the victim holds item 0 or 1."""
    blanket = {
        counts: float(
            multinomial.pmf((*counts, messages - sum(counts)), messages, [*[used / items] * items, 1 - used])
        )
        for counts in itertools.product(range(messages + 1), repeat=items)
        if sum(counts) <= messages
    }
    views: list[dict[tuple[int, ...], float]] = []
    for item in (0, 1):
        view: dict[tuple[int, ...], float] = {}
        for counts, mass in blanket.items():
            more = tuple(c + (j == item) for j, c in enumerate(counts))
            view[counts] = view.get(counts, 0.0) + (1 - rate) * mass
            view[more] = view.get(more, 0.0) + rate * mass
        views.append(view)
    return sum(max(mass - math.exp(eps) * views[1].get(o, 0.0), 0.0) for o, mass in views[0].items())


# -- one item -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "blankets, slots, rate", [(0.3, 1, 0.3), (1.0, 1, 1.0), (1.2, 2, 0.6), (4.0, 4, 1.0)]
)
def test_slots(blankets, slots, rate):
    for m in (blankets, blankets + 1e-13):
        got = blanket_slots(m)
        assert got.count == slots
        assert_allclose(got.rate, rate)
        assert got.rate <= 1


@pytest.mark.parametrize(
    "n, blankets, items", [(8, 1.0, 3), (3, 2.0, 4), (6, 0.6, 3), (4, 1.5, 3), (7, 0.9, 2)]
)
@pytest.mark.parametrize("rate", [0.15, 0.5, 1.0])
def test_the_divergence_of_all_counts_equals_enumeration(n, blankets, items, rate):
    slots = blanket_slots(blankets)
    for eps in (0.0, 0.2, 0.7):
        want = all_counts_by_enumeration(eps, rate, n * slots.count, slots.rate, items)
        assert_allclose(all_counts_delta(eps, rate, n, blankets, items), want, rtol=1e-9, atol=1e-15)
        pair = segmented_delta(eps, rate, n, blankets, items)
        assert pair <= want * (1 + 1e-9) + 1e-15
        if rate == 1:
            assert_allclose(pair, want, rtol=1e-9, atol=1e-15)


def test_the_smallest_counter_example_of_lemma_3():
    assert abs(segmented_delta(0.2, 0.5, 8, 1.0, 3) - 0.092786) < 5e-7
    assert abs(all_counts_delta(0.2, 0.5, 8, 1.0, 3) - 0.132920) < 5e-7


@pytest.mark.parametrize(
    "items, blankets, rate, ratio",
    [
        (17, 0.5, ".27", "1.01"),
        (17, 0.9, ".36", "1.11"),
        (17, 0.99, ".38", "2.5"),
        (17, 1.0, ".38", "3.2e3"),
        (17, 1.5, ".47", "1.01"),
        (17, 1.99, ".54", "1.7"),
        (17, 2.0, ".54", "6.4e2"),
        (17, 3.0, ".66", "1.5e2"),
        (128, 3.5, ".26", "1.03"),
        (128, 4.0, ".28", "7.6e3"),
    ],
)
def test_how_far_the_pair_is_from_all_counts(items, blankets, rate, ratio):
    delta = item_delta(0.5, 0.01 / 5000, 4)
    got = reporting_rate(5000, blankets, items, 0.125, delta)
    value, slack = half_digit(rate)
    assert abs(got - value) <= slack
    value, slack = half_digit(ratio)
    assert abs(all_counts_delta(0.125, got, 5000, blankets, items) / delta - value) <= slack
    sound = reporting_rate(5000, blankets, items, 0.125, delta, blanket_law="poisson")
    assert abs(sound / got - 1) < 5e-4


def test_binomial_blankets_are_the_variation_ratio_pair_with_infinite_p():
    n, blankets, items, rate = 700, 1.3, 9, 0.4
    slots = blanket_slots(blankets)
    want = variation_ratio_delta(0.3, math.inf, rate, items * rate / slots.rate, n * slots.count, sound=False)
    assert_allclose(segmented_delta(0.3, rate, n, blankets, items), want, rtol=1e-12)


def test_poisson_blankets_are_the_limit_of_many_slots():
    want = segmented_delta(0.2, 0.4, 50, 3.0, 5, blanket_law="poisson")
    slots = 10**6
    got = variation_ratio_delta(0.2, math.inf, 0.4, 5 * 0.4 * 50 * slots / 150, 50 * slots, sound=False)
    assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("law", ["binomial", "poisson"])
def test_delta_of_one_item_at_the_ends(law):
    assert segmented_delta(0.1, 0.0, 10, 1.0, 5, blanket_law=law) == 0
    assert segmented_delta(0.1, 0.3, 10, 0.0, 5, blanket_law=law) == 0.3
    assert reporting_rate(10, 0.0, 5, 0.1, 1e-3, blanket_law=law) == 1e-3
    assert reporting_rate(10_000, 5.0, 5, 0.5, 1e-6, blanket_law=law) == 1.0
    rates = [segmented_delta(0.1, r, 100, 0.7, 5, blanket_law=law) / r for r in np.linspace(0.02, 1, 30)]
    assert np.all(np.diff(rates) >= 0)  # delta is convex in the rate


@pytest.mark.parametrize("law", ["binomial", "poisson"])
@pytest.mark.parametrize("n, blankets, items", [(5000, 0.2, 17), (50_000, 7.0, 128), (30, 2.0, 4)])
def test_the_reporting_rate_is_the_largest_that_holds(n, blankets, items, law):
    eps, delta = 0.125, 1e-7
    rate = reporting_rate(n, blankets, items, eps, delta, blanket_law=law)
    assert segmented_delta(eps, rate, n, blankets, items, blanket_law=law) <= delta * (1 + 1e-9)
    if rate < 1:
        assert segmented_delta(eps, rate * (1 + 1e-8), n, blankets, items, blanket_law=law) > delta
    noise, _ = gaussian_noise(eps, delta)
    if n > 100:
        assert_allclose(rate, min(1.0, math.sqrt(n * blankets / (2 * items)) / noise), rtol=0.05)


# Section 7: m_1, m_2, m_3 of n = 5,000 and 50,000.
FULL = {
    (17, 4): (("6.80", "1.95", ".596"), (".854", ".240", ".0713")),
    (128, 4): (("51.2", "14.7", "4.49"), ("6.43", "1.81", ".537")),
    (128, 8): (("204", "58.0", "17.2"), ("25.6", "7.12", "2.06")),
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("n", [5000, 50_000])
def test_blankets_for_full_reporting_are_those_of_the_specification(setting, n):
    for eps, text in zip(EPS, FULL[setting][n > 5000], strict=True):
        value, slack = half_digit(text)
        got = blankets_for_full_reporting(n, *setting, eps, 0.01 / n)
        assert abs(got - value) <= slack
        items, s = setting
        delta = item_delta(eps, 0.01 / n, s)
        assert reporting_rate(n, got, items, eps / s, delta) == 1
        assert reporting_rate(n, got * (1 - 1e-6), items, eps / s, delta) < 1
        tight = blankets_for_full_reporting(n, *setting, eps, 0.01 / n, composition="tight")
        assert 0.024 < 1 - tight / got < 0.10
        sound = blankets_for_full_reporting(n, *setting, eps, 0.01 / n, blanket_law="poisson")
        assert_allclose(sound, got, rtol=2e-3)


# -- arguments --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask",
    [
        lambda: user_level_delta(0.1, 0.5, 10, 1.0, 5, 6),
    ],
)
def test_arguments_outside_their_range_are_rejected(ask):
    with pytest.raises(ValueError, match="must be"):
        ask()


def test_too_many_messages_are_refused():
    with pytest.raises(Infeasible, match="too many"):
        segmented_delta(0.1, 0.5, 2**40, 2.0**12, 3)
    with pytest.raises(Infeasible):
        blankets_for_full_reporting(1, 10**6, 3, 1e-5, 1e-9)
    with pytest.raises(Infeasible):
        user_level_blankets(1, 10**6, 3, 1e-4, 1e-9)
    with pytest.raises(Infeasible, match="too many"):
        user_level_delta(0.1, 0.5, 2**40, 2.0**12, 3, 1)
