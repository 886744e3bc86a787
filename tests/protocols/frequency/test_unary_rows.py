"""Rows of bits: the blanket by enumeration, equality with local hashing, and the best rates."""

from __future__ import annotations

import itertools
from collections import Counter

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import PrivacyProfile, hockey_stick, local_budget
from shuffledp.accounting.baselines.solh import solh_mse, solh_report
from shuffledp.populations import Fixed
from shuffledp.protocols.frequency._pure_reports import pure_mse
from shuffledp.protocols.frequency.solh import Solh
from shuffledp.protocols.frequency.unary_rows import RowRates, UnaryRows, row_rates
from shuffledp.tasks import Budget, Frequency


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


@pytest.mark.parametrize("cells", [2, 40, 700])
def test_rows_are_local_hashing_with_cells_of_any_number(cells: int) -> None:
    n, k, eps, delta = 20_000, 60, 0.8, 1e-6
    report = solh_report(n, k, eps, delta, cells=cells)
    decay = np.exp(-report.eps_local)
    rates = RowRates(1 / (1 + (cells - 1) * decay), 1 / cells)
    assert rates.eps_local == pytest.approx(report.eps_local, rel=1e-12)
    assert pure_mse(n, k, rates.own_rate, rates.other_rate) == pytest.approx(
        solh_mse(n, k, cells, report.eps_local), rel=1e-11
    )
    assert_allclose(
        rows_profile(n, rates).delta(0.5),
        Solh(n, k, report.eps_local, cells).profile_for(n).delta(0.5),
        rtol=1e-9,
    )


def test_free_rates_are_no_worse_than_the_best_number_of_cells() -> None:
    for n, k, eps in [(10**5, 100, 1.0), (5_000, 20, 0.5)]:
        report, rates = solh_report(n, k, eps, 1e-8), row_rates(n, k, eps, 1e-8)
        best = pure_mse(n, k, rates.own_rate, rates.other_rate)
        assert 0.99 < best / solh_mse(n, k, report.cells, report.eps_local) < 1.001


@pytest.mark.parametrize(
    ("n", "k", "eps", "delta"), [(10**4, 5000, 1.0, 1e-6), (40, 5, 1.0, 1e-2), (1, 4, 0.5, 1e-3)]
)
def test_no_other_rate_is_much_better(n: int, k: int, eps: float, delta: float) -> None:
    rates = row_rates(n, k, eps, delta)
    best = pure_mse(n, k, rates.own_rate, rates.other_rate)
    for form in ("symmetric", "optimized"):
        other = row_rates(n, k, eps, delta, form=form)
        assert best < pure_mse(n, k, other.own_rate, other.other_rate) * 1.001


@pytest.mark.parametrize(
    ("n", "k", "eps", "delta"),
    [(1, 3, 1.458, 0.0538), (1, 10, 1.458, 0.3), (3, 2, 1.0, 0.3), (3, 1000, 8.0, 1e-6)],
)
def test_a_handful_of_users_has_free_rates(n: int, k: int, eps: float, delta: float) -> None:
    """The least estimate may be at an end beside minima that are far worse, and parabolas may lead far away."""
    free = row_rates(n, k, eps, delta, form="best", bound="blanket")
    assert rows_profile(n, free).delta(eps) <= delta * (1 + 1e-9)
    for form in ("symmetric", "optimized"):
        other = row_rates(n, k, eps, delta, form=form, bound="blanket")
        assert pure_mse(n, k, free.own_rate, free.other_rate) <= 1.02 * pure_mse(
            n, k, other.own_rate, other.other_rate
        )


def test_clones_give_the_local_budget_of_any_randomizer() -> None:
    budget = local_budget(Fixed(999), 0.5, 1e-6, accounting="exact")
    for form in ("best", "symmetric", "optimized"):
        assert row_rates(1000, 9, 0.5, 1e-6, form=form, bound="clones").eps_local == pytest.approx(budget)
    symmetric = row_rates(1000, 9, 0.5, 1e-6, form="symmetric", bound="clones")
    assert symmetric.own_rate + symmetric.other_rate == pytest.approx(1, rel=1e-15)
    assert row_rates(1000, 9, 0.5, 1e-6, form="optimized", bound="clones").own_rate == 0.5
    with pytest.raises(ValueError, match="form"):
        UnaryRows.calibrate(Budget(0.5, 1e-6), Fixed(999), Frequency(9), form="odd")


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
