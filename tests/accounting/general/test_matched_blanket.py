import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from enumerated_reports import histogram, stick
from shuffledp.accounting import Infeasible
from shuffledp.accounting.general.matched_blanket import (
    blanketed_delta,
    matched_delta,
    matched_rate,
    mixed_matched_delta,
)
from shuffledp.numerics import Window, binomial_window

EPS = (0.0, 0.1, 0.29, 0.7, math.log(2), 1.5, 3.9, 20.0)


def hashed_row(value, cells, eps_local):
    """Return the law of a user's messages (H(0), H(1), y) over all hash functions of two values and all reports."""
    odds = [
        math.exp(eps_local) if message[value] == message[2] else 1.0
        for message in itertools.product(range(cells), repeat=3)
    ]
    return np.array(odds) / sum(odds)


@pytest.mark.parametrize("others", [(0, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("eps_local", [0.6, 2.5])
def test_averaged_blanket_bounds_shuffled_reports(others, eps_local):
    rows = [hashed_row(value, 2, eps_local) for value in (0, 1)]
    views = [histogram([row, *(rows[o] for o in others)]) for row in rows]
    for eps in EPS:
        truth = max(stick(p, q, eps) for p, q in (views, views[::-1]))
        bound = blanketed_delta(eps, len(others), 0.5, eps_local)
        assert truth <= bound + 1e-15
        if eps < 0.5 * eps_local:
            assert bound < 2.5 * truth  # close, so that a wrong constant shows


def test_mass_outside_law_is_lost():
    whole = mixed_matched_delta(Window(30, np.ones(1)), 0.3, 0.5, 2.0, 1e-20)
    assert mixed_matched_delta(Window(30, np.array([0.9]), 0.1), 0.3, 0.5, 2.0, 1e-20) > whole


def test_too_many_messages_are_refused():
    with pytest.raises(Infeasible, match="too many"):
        matched_delta(0.1, 2**52, 0.5)


# -- overlapping matches -------------------------------------------------------------------------------------------


def matching_row(value, rate, both, eps_local):
    """Return the law of a report's matches with x and x'; a match with `value` is e^eps_local times as likely."""
    matches = np.array([(1, 0), (0, 1), (1, 1), (0, 0)])[:, value]
    row = np.array([rate - both, rate - both, both, 1 - 2 * rate + both])
    row *= matches if math.isinf(eps_local) else np.exp(eps_local * matches)
    return row / row.sum()


@pytest.mark.parametrize(
    "rate, both", [(0.3, 0.0), (0.5, 0.0), (0.3, 0.05), (0.4, 0.3), (0.7, 0.4), (0.3, 0.09)]
)
@pytest.mark.parametrize("eps_local", [0.9, 3.0, math.inf])
@pytest.mark.parametrize("messages", [0, 1, 4])
def test_any_overlap_equals_the_enumeration(rate, both, eps_local, messages):
    uniform = matching_row(0, rate, both, 0.0)
    views = [
        histogram([matching_row(value, rate, both, eps_local), *[uniform] * messages]) for value in (0, 1)
    ]
    for eps in EPS:
        got = matched_delta(eps, messages, rate, eps_local, both_rate=both)
        assert_allclose(got, stick(*views, eps), rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("both", [-0.01, 0.31, math.nan])
def test_impossible_overlaps_are_refused(both):
    with pytest.raises(ValueError, match="both_rate must be"):
        matched_delta(1.0, 5, 0.3, both_rate=both)
    with pytest.raises(ValueError, match=r"in \[0.4, match_rate"):
        blanketed_delta(0.5, 5, 0.7, 1.0, both_rate=0.3)


def test_overlapping_blanket_is_a_mean():
    rate, both, eps, eps_local = 0.2, 0.03, 0.4, 2.0
    law = binomial_window(40, matched_rate(rate, eps_local), 1e-30)
    want = law.pmf @ [matched_delta(eps, int(m), rate, eps_local, both_rate=both) for m in law.support]
    assert_allclose(blanketed_delta(eps, 40, rate, eps_local, both_rate=both), want, rtol=1e-9)


@pytest.mark.parametrize("prime", [7, 11, 13, 521, 1009])
def test_independent_matches_have_one_sum(prime):
    given = blanketed_delta(0.4, 400, 1 / prime, 2.0, both_rate=1 / prime**2)
    assert given == blanketed_delta(0.4, 400, 1 / prime, 2.0)
