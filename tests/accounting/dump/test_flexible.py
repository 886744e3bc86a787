"""Dummies from some users: Tables 3 and 4, sums with known numbers of senders, and the printed errors."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.accounting import Infeasible, blanket_delta
from shuffledp.accounting.dump import flexible_profile as module
from shuffledp.accounting.dump.flexible import (
    FLEXIBLE_ACCOUNTINGS,
    flexible_dummies,
    flexible_dummy_delta,
)
from shuffledp.accounting.general import dummy_blanket as blanket
from shuffledp.accounting.general.composition import ComposedProfile
from shuffledp.accounting.general.dummy_blanket import blanket_rate
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.tasks import Budget, Frequency

N = 500_000


@pytest.mark.parametrize("n, values, dummies, rate", [(1, 3, 4, 0.7), (12, 5, 7, 0.2)])
@pytest.mark.parametrize("eps_local", [1.5, math.inf])
def test_delta_averages_senders_and_reports(n, values, dummies, rate, eps_local):
    senders = binom.pmf(np.arange(n + 1), n, rate)
    uniform = binom.pmf(np.arange(n), n - 1, blanket_rate(values, eps_local))
    for eps in (0.0, 0.4):
        deltas = [
            [blanket_delta(eps, i * dummies + j, values, eps_local) for j in range(n)] for i in range(n + 1)
        ]
        got = flexible_dummy_delta(eps, n, values, dummies, rate, eps_local=eps_local)
        assert got == pytest.approx(senders @ deltas @ uniform, rel=1e-9)


def test_long_law_bounds_within_two_percent(monkeypatch):
    setting = (0.4, 9000, 50, 9, 0.02)
    full = flexible_dummy_delta(*setting, eps_local=6.0)
    monkeypatch.setattr(module, "_MANY_CELLS", 0)
    assert flexible_dummy_delta(*setting, eps_local=6.0) == full
    monkeypatch.setattr(module, "_NEGLIGIBLE", 1.03 * full)
    assert full < flexible_dummy_delta(*setting, eps_local=6.0) <= full / (1 - 0.02) * (1 + 1e-9)
    monkeypatch.setattr(module, "_NEGLIGIBLE", 0)
    monkeypatch.setattr(module, "_MOST_CELLS", 0)
    rough = flexible_dummy_delta(*setting, eps_local=6.0)
    assert full < rough <= full / (1 - 0.02) * (1 + 1e-9)


def test_plain_value_bounds_within_two_percent(monkeypatch):
    setting = (0.4, 9000, 50, 30, 0.02)
    full = flexible_dummy_delta(*setting)
    monkeypatch.setattr(module, "_MOST_CELLS", 0)
    assert full < flexible_dummy_delta(*setting) <= full / (1 - 0.02) * (1 + 1e-9)


def test_single_dummies_are_one_sum(monkeypatch):
    """With one dummy of each of many senders, delta is a single sum."""
    setting = (0.4, 100_000, 50, 1, 0.05)
    full = flexible_dummy_delta(*setting)
    assert full > 1e-10
    monkeypatch.setattr(module, "_MANY_SENDERS", 10)
    monkeypatch.setattr(module, "pair_window", None)  # one for every number of senders
    monkeypatch.setattr(module, "_negligible", lambda *_: 1e-30)
    assert flexible_dummy_delta(*setting) == pytest.approx(full, rel=1e-11)


def test_random_message_mean_has_few_terms(monkeypatch):
    # D9: a minute for every delta where each number of messages had all values of T.
    law = blanket.Window(4 * 10**9, np.array([0.25, 0.5, 0.25]), 1e-9)
    deltas = blanket.point_blanket_deltas(law.support.tolist(), 5, 1e-4, 3.0, 1e-30)
    found = blanket.mixed_blanket_delta(law, 5, 1e-4, 3.0, 1e-30)
    assert found == pytest.approx(
        float(law.pmf @ deltas) + 1e-9 * blanket.lone_delta(1e-4, 5, 3.0), rel=1e-12
    )
    monkeypatch.setattr(blanket, "_total", lambda *_: pytest.fail("all values of T are summed"))
    assert blanket.mixed_blanket_delta(law, 5, 1e-4, 3.0, 1e-30) == found


@pytest.mark.parametrize("accounting", FLEXIBLE_ACCOUNTINGS)
def test_no_dummies_where_the_reports_suffice(accounting):
    assert flexible_dummies(10, 5, 0.8, 1e-6, 0.001, accounting=accounting, eps_local=0.8) == 0
    assert flexible_dummies(N, 50, 1.0, 1e-6, 1e-8, accounting=accounting, eps_local=6.0) == 0
    assert flexible_dummy_delta(0.8, 10, 5, 0, 0.5, eps_local=0.8) == 0
    assert flexible_dummy_delta(0.8, 10, 5, 0, 0.5) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("k, eps, delta, eps_local", [(5, 1.0, 1e-3, 8.0), (20, 0.3, 1e-2, 3.0)])
def test_fewest_dummies_of_few_senders_suffice(k, eps, delta, eps_local):
    """Numbers of messages of different senders are far apart, so that the search begins at typical reports."""
    found = flexible_dummies(10, k, eps, delta, 0.5, eps_local=eps_local)
    fewer, enough = (
        flexible_dummy_delta(eps, 10, k, each, 0.5, eps_local=eps_local) for each in (found - 1, found)
    )
    assert enough <= delta < fewer


@pytest.mark.parametrize(
    "setting, eps_local, accounting, reason",
    [
        ((100, 5, 1.01, 1e-6, 0.5), math.inf, "printed", "eps <= 1"),
        ((100, 5, 1.01, 1e-6, 0.5), 8.0, "corrected", "eps <= 1"),
        ((100, 5, 0.5, 0.3, 0.5), math.inf, "printed", "delta <= 0.290711"),
        ((100, 5, 0.5, 0.6, 0.5), 8.0, "printed", "delta <= 0.581423"),
        ((100, 5, 0.5, 0.6, 0.5), math.inf, "corrected", "delta <= 0.290711"),
        ((60, 5, 0.5, 1e-6, 0.01), math.inf, "printed", "rate is too small"),
        ((60, 5, 0.5, 1e-6, 0.01), 8.0, "printed", "rate is too small"),
        ((60, 5, 0.5, 1e-6, 0.01), math.inf, "exact", "rate is too small"),
        ((60, 5, 0.5, 1e-6, 0.01), 8.0, "exact", "rate is too small"),
        ((60, 5, 0.5, 1e-6, 0.3), math.inf, "corrected", "no number of senders is certain"),
        ((60, 5, 1e-9, 1e-6, 0.3), math.inf, "printed", "more than 2\\^53"),
    ],
)
def test_unreachable_targets_are_refused(setting, eps_local, accounting, reason):
    with pytest.raises(Infeasible, match=reason):
        flexible_dummies(*setting, accounting=accounting, eps_local=eps_local)


def test_losses_of_large_numbers_are_kept():
    protocol = get("frequency", "flexible_mix_dump").calibrate(Budget(1, 1e-6), Fixed(99_999), Frequency(100))
    profile = protocol.privacy_profile()
    assert 1 < ComposedProfile([profile], [30], 1e-6, points=40).epsilon(1e-6) < 30
