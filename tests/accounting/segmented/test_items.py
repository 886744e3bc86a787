from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multinomial

from shuffledp.accounting import Infeasible
from shuffledp.accounting.segmented.item_calibration import (
    blankets_for_full_reporting,
    reporting_rate,
)
from shuffledp.accounting.segmented.items import (
    all_counts_delta,
    blanket_slots,
    segmented_delta,
)
from shuffledp.accounting.segmented.users import (
    user_level_blankets,
    user_level_delta,
)


def all_counts_by_enumeration(eps: float, rate: float, messages: int, used: float, items: int) -> float:
    """Return the divergence of all items' counts over all contents of the slots; the victim holds item 0 or 1."""
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
    "n, blankets, items", [(8, 1.0, 3), (3, 2.0, 4), (6, 0.6, 3), (4, 1.5, 3), (7, 0.9, 2)]
)
@pytest.mark.parametrize("rate", [0.15, 0.5, 1.0])
def test_divergence_of_counts_equals_enumeration(n, blankets, items, rate):
    slots = blanket_slots(blankets)
    for eps in (0.0, 0.2, 0.7):
        want = all_counts_by_enumeration(eps, rate, n * slots.count, slots.rate, items)
        assert_allclose(all_counts_delta(eps, rate, n, blankets, items), want, rtol=1e-9, atol=1e-15)
        pair = segmented_delta(eps, rate, n, blankets, items)
        assert pair <= want * (1 + 1e-9) + 1e-15
        if rate == 1:
            assert_allclose(pair, want, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("law", ["binomial", "poisson"])
def test_delta_of_one_item_at_ends(law):
    assert segmented_delta(0.1, 0.0, 10, 1.0, 5, blanket_law=law) == 0
    assert segmented_delta(0.1, 0.3, 10, 0.0, 5, blanket_law=law) == 0.3
    assert reporting_rate(10, 0.0, 5, 0.1, 1e-3, blanket_law=law) == 1e-3
    assert reporting_rate(10_000, 5.0, 5, 0.5, 1e-6, blanket_law=law) == 1.0
    rates = [segmented_delta(0.1, r, 100, 0.7, 5, blanket_law=law) / r for r in np.linspace(0.02, 1, 30)]
    assert np.all(np.diff(rates) >= 0)  # delta is convex in the rate


# -- arguments --------------------------------------------------------------------------------------------------


def test_too_many_messages_are_refused():
    with pytest.raises(Infeasible, match="too many"):
        segmented_delta(0.1, 0.5, 2**40, 2.0**12, 3)
    with pytest.raises(Infeasible):
        blankets_for_full_reporting(1, 10**6, 3, 1e-5, 1e-9)
    with pytest.raises(Infeasible):
        user_level_blankets(1, 10**6, 3, 1e-4, 1e-9)
    with pytest.raises(Infeasible, match="too many"):
        user_level_delta(0.1, 0.5, 2**40, 2.0**12, 3, 1)
