import itertools
import math
import re

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.accounting.baselines.fragmented_rappor import rappor_flip_probability
from shuffledp.guarantees import RAPPOR_STANDINGS
from shuffledp.pipeline.claims.search_results import LIMIT, largest
from shuffledp.pipeline.papers.summation import rappor_search


def independent_delta(others, first, second, p, eps):
    """Return delta of both sums as a double sum over binomial laws."""

    def law(ones):
        kept, flipped = (binom.pmf(np.arange(m + 1), m, q) for m, q in ((ones, 1 - p), (others - ones, p)))
        return np.convolve(kept, flipped)

    def moved(ones):
        both = [np.convolve(law(ones), victim) for victim in ((p, 1 - p), (1 - p, p))]
        seen = both[0] + both[1] > 1e-20
        return both[0][seen], both[1][seen]

    (held, absent), (held_there, absent_there) = moved(first), moved(second)
    one, two = np.outer(held, absent_there), np.outer(absent, held_there)
    return float(
        max(np.maximum(one - math.exp(eps) * two, 0).sum(), np.maximum(two - math.exp(eps) * one, 0).sum())
    )


def test_data_sets_equal_binomial_sums():
    p, eps = 0.2, 0.6
    table = rappor_search.sums_deltas(2, p, eps)
    for first, second in itertools.product(range(3), repeat=2):
        if first + second > 2:
            assert np.isnan(table[first, second])
            continue
        wanted = independent_delta(2, first, second, p, eps)
        assert max(table[first, second], table[second, first]) == pytest.approx(wanted, rel=1e-12)


def test_few_users_have_worse_data_sets():
    assert largest(rappor_search.sums((1,), (0.1, 0.3)), LIMIT).beyond == 0
    found = largest(rappor_search.sums((2,), (0.3,)), LIMIT)
    assert found.beyond > 0 and "1 of them hold one of the two values and 0 the other" in found.where
    two = largest(rappor_search.sums((5,), (0.05,), third=False), LIMIT)
    assert two.settings == 5 and two.beyond > 0 and "2 of them hold one of the two values and 3" in two.where


def test_too_small_proven_bound_is_violated(monkeypatch):
    search = ((100,), (1.0,), (1e-3, 1e-6))
    sound = largest(rappor_search.many(*search), math.inf, floor=1 / LIMIT)
    assert sound.settings == 2 and sound.beyond == 0 and 1 <= sound.extreme < 1.2
    proven = rappor_search.proven_bits_delta
    monkeypatch.setattr(rappor_search, "proven_bits_delta", lambda *arguments: 0.8 * proven(*arguments))
    assert largest(rappor_search.many(*search), math.inf, floor=1 / LIMIT).beyond == 2


def test_zero_delta_is_no_violation():
    """Near twice the budget of a bit delta is 0, and the search once reported 0 over 1e-300."""
    for n, budget, target in ((100, 5.0, 1e-9), (100, 7.0, 1e-6), (100, 7.0, 1e-9), (1000, 7.0, 1e-6)):
        ((ratio, words),) = rappor_search.many((n,), (budget,), (target,))
        assert ratio == pytest.approx(1, rel=1e-6), words
    assert rappor_search.known_delta(100, 1e-3, 14.0) == 0


def test_many_users_have_worse_data_sets():
    """The data set is one user away from one of two corners of the square of data sets; the law is independent."""
    found = largest(rappor_search.beside((1000,), (1.0,), (1e-9,)), LIMIT)
    assert found.beyond == 1 and "998 of the others hold one of the two values and 0 the other" in found.where
    ((_, p, eps, known, _),) = rappor_search._many_users((1000,), (1.0,), (1e-9,))
    deltas = {held: independent_delta(999, *held, p, eps) for held in ((998, 0), (999, 0), (0, 999), (0, 0))}
    worse = deltas.pop((998, 0))
    assert max(deltas.values()) == pytest.approx(known, rel=1e-6)
    assert (
        worse / max(deltas.values())
        == pytest.approx(found.extreme, rel=1e-6)
        == pytest.approx(1.00214, rel=1e-5)
    )


def test_one_value_is_not_the_worst():
    """Flips are calibrated for others on one of the two values; another data set has a larger delta, as noted."""
    standing, factors = RAPPOR_STANDINGS["worst_case"], []
    for n, eps, delta, held, true in (
        (5, 1.0, 0.01, (0, 3), 0.012428),
        (3, 1.0, 0.3, (0, 0), 0.37195),
        (1000, 0.1, 1e-6, (998, 0), 1.0021e-6),
        (3000, 8.0, 0.3, (0, 0), 0.3964),
    ):
        p = rappor_flip_probability(n, eps, delta, calibration="worst_case")
        assert independent_delta(n - 1, n - 1, 0, p, eps) == pytest.approx(delta, rel=1e-7)
        worse = independent_delta(n - 1, *held, p, eps)
        assert worse == pytest.approx(true, rel=1e-4)
        for calibration in ("proven", "sound"):
            safe = rappor_flip_probability(n, eps, delta, calibration=calibration)
            assert independent_delta(n - 1, *held, safe, eps) <= delta
        if f"for {n:,} users, eps {eps:g} and delta {delta:g}" in standing.note:
            factors.append(f"{worse / delta:.3g}")
    assert standing.guarantee == "violated" and re.findall(r"([\d.]+) times", standing.note) == factors
    assert len(factors) == 2
