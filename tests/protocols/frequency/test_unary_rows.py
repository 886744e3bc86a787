"""Rows of bits: the blanket by enumeration, equality with local hashing, and the best rates."""

from __future__ import annotations

import itertools
from collections import Counter

import mpmath
import numpy as np
import pytest

from shuffledp.accounting import PrivacyProfile, hockey_stick
from shuffledp.protocols.frequency._pure_reports import pure_mse
from shuffledp.protocols.frequency.unary_rows import RowRates, UnaryRows, row_rates


def rows_profile(n: int, rates: RowRates) -> PrivacyProfile:
    return UnaryRows(n, 2, rates.own_rate, rates.other_rate).profile_for(n)


def row_law(value: int, k: int, p: float, q: float) -> dict[tuple[int, ...], float]:
    rates = [p if v == value else q for v in range(k)]
    return {
        bits: float(np.prod([r if bit else 1 - r for r, bit in zip(rates, bits, strict=True)]))
        for bits in itertools.product((0, 1), repeat=k)
    }


def shuffled(laws: list[dict[tuple[int, ...], float]]) -> Counter[tuple[tuple[int, ...], ...]]:
    """Return the law of three users' unordered rows."""
    view: Counter[tuple[tuple[int, ...], ...]] = Counter()
    for sent in itertools.product(*(law.items() for law in laws)):
        view[tuple(sorted(row for row, _ in sent))] += float(np.prod([chance for _, chance in sent]))
    return view


@pytest.mark.parametrize(("eps", "true", "bound"), [(0.2, 0.22532, 0.25069), (0.6, 0.12220, 0.16141)])
def test_three_rows_are_enumerated(eps: float, true: float, bound: float) -> None:
    laws = [row_law(v, 3, 0.6, 0.25) for v in range(3)]
    worst = 0.0
    for others in itertools.combinations_with_replacement(range(3), 2):
        views = [shuffled([laws[v], *(laws[o] for o in others)]) for v in (0, 1)]
        logs = [np.log([view[row] for row in sorted(views[0])]) for view in views]
        worst = max(worst, float(hockey_stick(logs[0], logs[1], eps)))
    assert round(worst, 5) == true
    assert round(float(rows_profile(3, RowRates(0.6, 0.25)).delta(eps)), 5) == bound


@pytest.mark.parametrize(
    ("n", "k", "eps", "delta"), [(10**4, 5000, 1.0, 1e-6), (40, 5, 1.0, 1e-2), (1, 4, 0.5, 1e-3)]
)
def test_no_other_rate_is_much_better(n: int, k: int, eps: float, delta: float) -> None:
    rates = row_rates(n, k, eps, delta)
    best = pure_mse(n, k, rates.own_rate, rates.other_rate)
    for form in ("symmetric", "optimized"):
        other = row_rates(n, k, eps, delta, form=form)
        assert best < pure_mse(n, k, other.own_rate, other.other_rate) * 1.001


@pytest.mark.parametrize("form", ["best", "symmetric", "optimized"])
@pytest.mark.parametrize("bound", ["blanket", "clones"])
def test_a_row_alone_keeps_a_budget_as_small_as_rounding(form, bound):
    """The two bits of a lone row lose ``p (1 - q) - e^eps q (1 - p)``; rates are rounded by about delta."""
    delta = 1e-15
    with mpmath.workdps(50):
        for eps in (0.0137, 0.29, 0.731, 1.77, 3.3, 5.9):
            rates = row_rates(1, 7, eps, delta, form=form, bound=bound)
            p, q = mpmath.mpf(rates.own_rate), mpmath.mpf(rates.other_rate)
            assert p * (1 - q) - mpmath.exp(mpmath.mpf(eps)) * q * (1 - p) <= delta
            assert rates.eps_local == pytest.approx(eps, rel=1e-9)
