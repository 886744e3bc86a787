"""Shuffled batches: the reference table, quadrature for a few batches, and monotonicity."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from enumerated_reports import both_sides
from shuffledp.accounting import shuffled_batches_delta, shuffled_batches_epsilon
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.accounting.training import shuffled_batches
from shuffledp.accounting.training.shuffled_batches import (
    _OMITTED,
    WAYS,
    _Clones,
    _divergences,
    _epochs,
    _tangents,
)
from shuffledp.pipeline.experiments.configurable_functions import NAMED_FUNCTIONS

DELTA, STEPS = 1e-8, 1000


def test_reference_table():
    """The reference rounds losses of the largest release down by up to 5e-4, and has chords of ratio 1.02."""
    lower, upper, permutation = 5.1064, 5.6395, 5.7761
    found, above = both_sides(shuffled_batches_epsilon, STEPS, 1.0, DELTA, 1)
    assert lower - 5e-5 <= found <= lower + 4e-4
    assert upper * (1 - 2e-4) <= above <= upper * (1 + 4e-4)
    assert known(1.0, permutation) == pytest.approx(DELTA, rel=2e-3)
    assert found < above < permutation


def known(sigma, eps):
    return math.exp(log_gaussian_delta(1 / sigma, eps))


def pair(sigma, steps, eps, points):
    """Return both deltas of the mean of N(2 e_j) against the mean of N(e_j), by the midpoint rule in all dimensions."""
    low, length = -5 * sigma, 2 + 10 * sigma

    def grid(count):
        y = low + length / count * (np.arange(count) + 0.5)
        densities = [np.exp((2 * theta * y - theta**2) / (2 * sigma**2)) / steps for theta in (2, 1)]
        return *densities, length / count * norm.pdf(y, scale=sigma)

    p, q, weight = grid(points)
    # All dimensions but one are alike: sorted points, with the number of their orders.
    places = np.array(list(itertools.combinations_with_replacement(range(points), steps - 1)))
    orders = np.array([0, 1, 3, 6])[1 + np.sum(np.diff(places, axis=1) > 0, axis=1)] if steps == 4 else 1.0
    mass = orders * np.prod(weight[places], axis=1)
    p, q = p[places].sum(axis=1), q[places].sum(axis=1)
    deltas = np.zeros(2)
    for p_last, q_last, w in zip(*grid(10 * points), strict=True):  # finer, as the kink is not smoothed there
        present, absent = p + p_last, q + q_last
        for way, (own, other) in enumerate(((present, absent), (absent, present))):
            deltas[way] += w * float(mass @ np.maximum(own - math.exp(eps) * other, 0))
    return deltas


@pytest.mark.parametrize("sigma, steps, eps", [(1.0, 2, 0.5), (2.0, 4, 0.5)])
def test_a_few_batches_by_quadrature(sigma, steps, eps):
    """Pair <= null clones <= Gaussian; adaptive queries exceed the pair, which is therefore no upper bound."""
    forward, backward = pair(sigma, steps, eps, 300 if steps == 2 else 60)
    clones = [_Clones(steps, sigma, way, DELTA).least(eps, 600) for way in WAYS]
    lower = shuffled_batches_delta(steps, sigma, eps, side="lower")
    assert 0.9 * forward < lower <= forward * (1 + 2e-3) < clones[0] <= known(sigma, eps)
    assert backward < clones[1]


@pytest.fixture
def coarse(monkeypatch):
    monkeypatch.setattr(shuffled_batches, "_LOSSES", 100)
    monkeypatch.setattr(shuffled_batches, "_CHOICES", 13)


def test_few_batches_over_two_epochs(coarse):
    """The pair of two steps, composed by quadrature, lies between the bounds, also on a coarse grid of losses."""
    sigma, eps = 1.0, 1.0
    y = np.arange(-5, 7, 0.25) + 0.125
    weight = 0.25 * norm.pdf(y)
    present, absent = (np.exp(t * y - t**2 / 2) for t in (2, 1))
    p, q = (0.5 * np.add.outer(x, x).ravel() for x in (present, absent))
    mass = np.multiply.outer(weight, weight).ravel()
    value = sum(
        w * float(mass @ np.maximum(a * p - math.exp(eps) * b * q, 0))
        for w, a, b in zip(mass, p, q, strict=True)
    )
    lower, upper = both_sides(shuffled_batches_delta, 2, sigma, eps, 2)
    assert lower < value < upper
    assert lower > 0.8 * value


def test_one_step_is_the_gaussian_mechanism():
    for epochs in (1, 4):
        lower, upper = both_sides(shuffled_batches_epsilon, 1, 2.0, 1e-6, epochs)
        assert known(2 / math.sqrt(epochs), upper) == pytest.approx(1e-6, rel=1e-5)
        assert upper * (1 - 1e-3) < lower <= upper


def test_delta_and_eps_agree():
    for side in ("upper", "lower"):
        eps = shuffled_batches_epsilon(STEPS, 2.0, DELTA, side=side)
        assert shuffled_batches_delta(STEPS, 2.0, eps, side=side) == pytest.approx(DELTA, rel=0.05)


def test_loss_laws_omit_little(coarse):
    for side in ("upper", "lower"):
        _, laws = _epochs(5, 2.0, 2, side, _OMITTED * DELTA / 2)
        for law in laws:
            assert np.all(law.pmf >= 0)
            assert law.omitted < 1e-12
            assert law.pmf.sum() + law.omitted >= 1 - 1e-9 if side == "upper" else law.pmf.sum() <= 1 + 1e-9


def test_tangents_stay_below_a_divergence():
    own, other = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    law = _tangents(*_divergences(own, other), 0.1, 3.0)
    for eps in (0.0, 0.3, 0.6):
        true = np.maximum(own - math.exp(eps) * other, 0).sum()
        found = law.pmf @ np.maximum(1 - np.exp(eps - 0.1 * law.support), 0)
        assert 0.95 * true < found <= true * (1 + 1e-12)


def test_guarantee_in_a_configuration():
    named = NAMED_FUNCTIONS["shuffled_batches_epsilon"]
    found = named.standing({"steps": 10, "sigma": 1.0, "delta": 1e-6})
    assert found.guarantee == "upper"
    assert "manuscript unreviewed" in found.note
    lower = named.standing({"steps": 10, "sigma": 1.0, "delta": 1e-6, "side": "lower"})
    assert lower.guarantee == "violated"
