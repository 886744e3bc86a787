import itertools
import math
from collections import Counter

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import CountPair, Infeasible
from shuffledp.accounting.general.matched_blanket import (
    blanketed_delta,
    matched_delta,
    matched_rate,
    mixed_matched_delta,
)
from shuffledp.numerics import Window, binomial_window

EPS = (0.0, 0.1, 0.29, 0.7, math.log(2), 1.5, 3.9, 20.0)


def pair_of(views):
    """Return the two laws of the unordered messages as a pair."""
    outcomes = sorted(set(views[0]) | set(views[1]))
    with np.errstate(divide="ignore"):
        return CountPair(*(np.log([view.get(o, 0.0) for o in outcomes]) for view in views))


def shuffled(laws):
    """Return the law of the unordered messages of senders, each with a law of messages."""
    view = Counter()
    for sent in itertools.product(*(law.items() for law in laws)):
        view[tuple(sorted(m for m, _ in sent))] += math.prod(p for _, p in sent)
    return view


def hashed_law(value, cells, eps_local):
    """Return the law of a user's messages (H(0), H(1), y) over all hash functions of two values and all reports."""
    total = math.exp(eps_local) + cells - 1
    return {
        (*h, y): (math.exp(eps_local) if h[value] == y else 1.0) / total / cells**2
        for h in itertools.product(range(cells), repeat=2)
        for y in range(cells)
    }


def uniform(messages):
    return dict.fromkeys(messages, 1 / len(messages))


@pytest.mark.parametrize("cells, messages", [(2, 0), (2, 1), (2, 3), (3, 0), (3, 1)])
@pytest.mark.parametrize("eps_local", [0.3, 1.0, 4.0])
def test_local_hashing_equals_the_enumeration_of_all_hash_functions(cells, messages, eps_local):
    laws = [hashed_law(value, cells, eps_local) for value in (0, 1)]
    blanket = [uniform(laws[0])] * messages
    pair = pair_of([shuffled([law, *blanket]) for law in laws])
    for eps in EPS:
        assert_allclose(
            matched_delta(eps, messages, 1 / cells, eps_local), pair.delta(eps), rtol=1e-10, atol=1e-15
        )


@pytest.mark.parametrize("others", [(0, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("eps_local", [0.6, 2.5])
def test_the_averaged_blanket_bounds_the_shuffled_reports_of_all_users(others, eps_local):
    laws = [hashed_law(value, 2, eps_local) for value in (0, 1)]
    pair = pair_of([shuffled([law, *(laws[o] for o in others)]) for law in laws])
    for eps in EPS:
        truth = float(pair.delta(eps))
        bound = blanketed_delta(eps, len(others), 0.5, eps_local)
        assert truth <= bound + 1e-15
        if eps < 0.5 * eps_local:
            assert bound < 2.5 * truth  # close, so that a wrong constant shows


def precise_delta(messages, rate, eps, eps_local):
    """Return the multinomial sum over matches of the first value, the second and both, with 40 digits."""
    mp.mp.dps = 40
    total, r, growth = messages + 1, mp.mpf(rate), mp.exp(mp.mpf(eps))
    lam = mp.mpf(0) if math.isinf(eps_local) else 1 / (1 + r * (mp.exp(eps_local) - 1))
    result = mp.mpf(0)
    for c, b, a in itertools.product(range(total + 1), repeat=3):
        rest = total - a - b - c
        if rest < 0:
            continue
        gain = lam + (1 - lam) * (a + c) / (r * total) - growth * (lam + (1 - lam) * (b + c) / (r * total))
        if gain > 0:
            ways = mp.factorial(total) / mp.factorial(a) / mp.factorial(b)
            ways /= mp.factorial(c) * mp.factorial(rest)
            result += ways * (r * (1 - r)) ** (a + b) * r ** (2 * c) * (1 - r) ** (2 * rest) * gain
    return result


@pytest.mark.parametrize("messages, rate", [(12, 0.5), (14, 0.07)])
@pytest.mark.parametrize("eps_local", [0.8, 3.0, math.inf])
@pytest.mark.parametrize("eps", [0.01, 0.75, 2.5])
def test_delta_agrees_with_forty_digits(messages, rate, eps_local, eps):
    want = float(precise_delta(messages, rate, eps, eps_local)) if eps < eps_local else 0.0
    assert_allclose(matched_delta(eps, messages, rate, eps_local), want, rtol=1e-10, atol=1e-300)


def test_mass_outside_of_the_law_counts_as_lost():
    whole = mixed_matched_delta(Window(30, np.ones(1)), 0.3, 0.5, 2.0, 1e-20)
    assert mixed_matched_delta(Window(30, np.array([0.9]), 0.1), 0.3, 0.5, 2.0, 1e-20) > whole


def test_too_many_messages_are_refused():
    with pytest.raises(Infeasible, match="too many"):
        matched_delta(0.1, 2**52, 0.5)


# -- overlapping matches -------------------------------------------------------------------------------------------


def matching_law(value, rate, both, eps_local):
    """Return the law of a report's matches with x and x'; a match with `value` is e^eps_local times as likely."""
    base = {(1, 0): rate - both, (0, 1): rate - both, (1, 1): both, (0, 0): 1 - 2 * rate + both}
    if value is None:
        return base
    if math.isinf(eps_local):
        return {m: p / rate for m, p in base.items() if m[value]}
    total = 1 + rate * (math.exp(eps_local) - 1)
    return {m: p * (math.exp(eps_local) if m[value] else 1) / total for m, p in base.items()}


@pytest.mark.parametrize(
    ("rate", "both"), [(0.3, 0.0), (0.5, 0.0), (0.3, 0.05), (0.4, 0.3), (0.7, 0.4), (0.3, 0.09)]
)
@pytest.mark.parametrize("eps_local", [0.9, 3.0, math.inf])
@pytest.mark.parametrize("messages", [0, 1, 4])
def test_any_overlap_equals_the_enumeration(rate, both, eps_local, messages):
    uniform_law = matching_law(None, rate, both, eps_local)
    pair = pair_of(
        [
            shuffled([matching_law(value, rate, both, eps_local), *[uniform_law] * messages])
            for value in (0, 1)
        ]
    )
    for eps in EPS:
        got = matched_delta(eps, messages, rate, eps_local, both_rate=both)
        assert_allclose(got, pair.delta(eps), rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("both", [-0.01, 0.31, math.nan])
def test_impossible_overlaps_are_refused(both):
    with pytest.raises(ValueError, match="both_rate must be"):
        matched_delta(1.0, 5, 0.3, both_rate=both)
    with pytest.raises(ValueError, match=r"in \[0.4, match_rate"):
        blanketed_delta(0.5, 5, 0.7, 1.0, both_rate=0.3)


def test_the_blanket_of_overlapping_reports_is_the_mean_over_their_number():
    rate, both, eps, eps_local = 0.2, 0.03, 0.4, 2.0
    law = binomial_window(40, matched_rate(rate, eps_local), 1e-30)
    want = law.pmf @ [matched_delta(eps, int(m), rate, eps_local, both_rate=both) for m in law.support]
    assert_allclose(blanketed_delta(eps, 40, rate, eps_local, both_rate=both), want, rtol=1e-9)
