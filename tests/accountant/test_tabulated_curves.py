"""Curves of a batch: the profile and the curves that follow from it, compared with known pairs of laws."""

import json

import numpy as np
import pytest

from shuffledp.accountant import amplification, curves
from shuffledp.accountant.tabulated_curves import ORDERS, Tabulated, lines
from shuffledp.accounting import GaussianRandomizer, clone_delta
from shuffledp.populations import Binomial, Fixed, MomentBounded, Poisson, SubGaussian


def test_delta_is_that_of_the_reduction():
    found = curves(1.0, 10**4)
    assert found.reduction == "clones"
    for eps, delta in list(zip(found.eps, found.delta, strict=True))[:-1]:
        exact = clone_delta(Fixed(9_999), 1.0, eps)
        assert exact * (1 - 1e-9) <= delta <= exact * 1.01
    assert amplification(1.0, 10**4, found.delta[12]).eps >= found.eps[12] * (1 - 1e-9)


def test_other_populations_and_randomizers(monkeypatch):
    assert curves(2.0, population=Poisson(2_000.0)).mu == pytest.approx(curves(2.0, 2_001).mu, rel=1e-2)
    monkeypatch.setattr("shuffledp.accountant.tabulated_curves._POINTS", 30)
    monkeypatch.setattr("shuffledp.accountant.tabulated_curves._BEHIND", 10)
    gaussian = curves(None, 2_000, randomizer=GaussianRandomizer(2.0))
    assert gaussian.orders == () == gaussian.renyi
    assert gaussian.mu > 0
    json.dumps(gaussian.as_dict(), allow_nan=False)
    assert curves(10.0, 2_000, randomizer="rappor", domain_size=4).reduction == "own"


def test_bound_profile_covers_every_allowed_law():
    """By Hoeffding's inequality, a sum of 10,000 fair coins is sub-Gaussian with scale 50."""
    bound, law = SubGaussian(5000.0, 50.0), Binomial(10_000, 0.5)
    found = curves(2.0, population=bound)
    for eps, delta in zip(found.eps[:-1:4], found.delta[:-1:4], strict=True):
        exact = clone_delta(law, 2.0, eps)
        assert exact <= delta <= max(3 * exact, 1e-3)
    answer = amplification(2.0, None, found.delta[12], population=bound).eps
    assert found.eps[12] == pytest.approx(answer, rel=0.02)
    true = curves(2.0, population=law)
    assert all(a <= b for a, b in zip(true.renyi, found.renyi, strict=True))
    assert true.mu <= found.mu < 1.1 * true.mu
    # Moments alone allow that nobody else comes, with some probability.
    assert curves(2.0, population=MomentBounded(10.0, 1.0)).mu > found.mu


def test_bound_rounds_are_of_least_number():
    """Rounds under a bound are those of a number of users that all rounds have."""
    bound = SubGaussian(5000.0, 50.0)
    found = curves(2.0, population=bound, rounds=2, crowd="fresh")
    true = curves(2.0, population=Binomial(10_000, 0.5), rounds=2, crowd="fresh")
    assert found.orders == () == found.renyi
    assert true.mu < found.mu
    at = np.interp(found.eps, true.eps, true.delta)
    assert all(a <= b * (1 + 1e-9) + 1e-12 for a, b in zip(at[:16], found.delta[:16], strict=True))
    answer = amplification(2.0, None, found.delta[10], population=bound, rounds=2, crowd="fresh").eps
    assert 0.98 * answer < found.eps[10] < 1.15 * answer


def test_chords_lie_above_the_values():
    table = Tabulated(np.array([0.0, 0.5, 1.0]), np.array([0.4, 0.1, 0.01]))
    assert table.delta([0.0, 0.5, 1.0, 7.0]).tolist() == [0.4, 0.1, 0.01, 0.01]
    assert 0.1 < float(table.delta(0.3)) < 0.4
    text = lines(curves(1.0, 100))
    assert text[0] == "Profile (clones):"
    assert len([line for line in text if line.startswith("  ")]) == 26 + 1 + len(ORDERS) + 7
