"""Dummy points under the privacy blanket: limits of the theorems, options, and quick bounds."""

import numpy as np
import pytest

from shuffledp.accounting import Infeasible
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.tasks import Budget, Frequency

FIXED = ("pure_dump", "mix_dump", "grr_blanket")
FLEXIBLE = ("flexible_pure_dump", "flexible_mix_dump")
NAMES = FIXED + FLEXIBLE


def calibrated(name, n, k, eps, delta=1e-6, **options):
    return get("frequency", name).calibrate(
        Budget(eps, delta), Fixed(n - 1), Frequency(k), **{"accounting": "printed", **options}
    )


def uniform_counts(n, k):
    counts = np.full(k, n // k)
    counts[: n % k] += 1
    return counts


@pytest.mark.parametrize("name", NAMES)
def test_printed_theorems_end_at_one(name):
    """Budgets with delta = 0 are refused."""
    with pytest.raises(Infeasible, match="eps <= 1"):
        calibrated(name, 1000, 5, 1.2)
    assert calibrated(name, 1000, 5, 1.2, accounting="exact") is not None
    with pytest.raises(Infeasible, match="delta > 0"):
        calibrated(name, 1000, 5, 0.5, 0.0)


@pytest.mark.parametrize("accounting", ["printed", "exact"])
def test_small_report_budget_needs_no_dummies(accounting):
    for eps, eps_local in ((0.5, 0.5), (3.0, 2.0)):
        protocol = calibrated("mix_dump", 100, 5, eps, 0.0, accounting=accounting, eps_local=eps_local)
        assert protocol.dummies_in_all == 0
        assert protocol.cost().messages_per_user == 1
        assert float(protocol.privacy_profile().delta(eps)) == 0
        flexible = calibrated("flexible_mix_dump", 100, 5, eps, accounting=accounting, eps_local=eps_local)
        assert flexible.per_sender == 0
    counts = uniform_counts(100, 5)
    same = calibrated("local", 100, 5, 0.5).expected_mse(counts)
    small = calibrated("mix_dump", 100, 5, 0.5, eps_local=0.5, accounting=accounting)
    assert small.expected_mse(counts) == pytest.approx(same, rel=1e-12)


def test_options_are_checked():
    with pytest.raises(ValueError, match="eps_local must be"):
        calibrated("mix_dump", 100, 5, 0.5, eps_local=-1.0)
    with pytest.raises(ValueError, match="rate must be"):
        calibrated("flexible_pure_dump", 100, 5, 0.5, rate=1.5)
    with pytest.raises(ValueError, match="estimator must be one of expected, observed"):
        calibrated("flexible_mix_dump", 100, 5, 0.5, estimator="both")
    with pytest.raises(Infeasible, match="rate is too small"):
        calibrated("flexible_pure_dump", 100, 5, 0.5, rate=0.01)


@pytest.mark.parametrize("name, options", [("mix_dump", {}), ("flexible_mix_dump", {"rate": 0.1})])
@pytest.mark.parametrize("eps", [0.3, 1.0])
def test_quick_bound_is_close(name, options, eps):
    protocol = get("frequency", name).calibrate(
        Budget(0.5, 1e-6), Fixed(1_000), Frequency(30), accounting="exact", **options
    )
    profile = protocol.privacy_profile()
    assert 1 <= profile.bound(eps, 0.01) / float(profile.delta(eps)) <= 1.01
    assert profile.bound(9.0, 0.01) == 0  # beyond the local budget
