"""Multi-message protocols: numbers of the paper's setting, both levels of simulation, decoding and rejections."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import Infeasible, multi_expected_scale
from shuffledp.populations import Binomial, Fixed, Poisson
from shuffledp.protocols import get
from shuffledp.protocols.frequency import _secret_shares as shares
from shuffledp.protocols.messages import Messages
from shuffledp.tasks import Budget, Frequency, Public

NAMES = ("multi_union", "multi_expected", "multi_exact")
ADULT = Binomial(48841, 0.05)
TWENTY = Fixed(19)
BITS = Frequency(2)


def rng(seed=0):
    return np.random.default_rng([20230216, seed])


def calibrated(name, eps=1.0, delta=1e-3, population=TWENTY, **options):
    found = get("frequency", name)
    options.setdefault("accounting", found.accountings[0])
    return found.calibrate(Budget(eps, delta), population, BITS, **options)


# -- shares ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [2, 7, 2**24, 2**62 - 57])
@pytest.mark.parametrize("count", [1, 2, 40])
def test_shares_add_up(order, count):
    values = rng().integers(-(2**61), 2**61, size=50)
    parts = shares.split(values, count, order, rng(1))
    assert parts.shape == (50, count)
    assert parts.min() >= 0
    assert parts.max() < order
    for value, row in zip(values, parts, strict=True):
        assert sum(map(int, row)) % order == int(value) % order
        assert shares.sum_modulo(row, order) == int(value) % order


def test_every_share_is_uniform():
    """The chi-square test has 10 cells for each of 5 columns, with a false-alarm rate of 1e-6 each."""
    parts = shares.split(np.full(40_000, 3), 5, 10, rng(2))
    for column in parts.T:
        counts = np.bincount(column, minlength=10)
        assert np.sum((counts - 4000) ** 2 / 4000) < 46.0  # chi2.isf(1e-6, 9) = 46.0


def test_real_values_are_rounded_without_bias():
    values = np.full(100_000, 0.37)
    rounded = shares.discretize(values, 5, rng(3))
    assert set(np.unique(rounded)) == {1, 2}
    assert abs(rounded.mean() - 1.85) < 5 * math.sqrt(0.85 * 0.15 / 100_000)
    state = rng(4)
    assert np.array_equal(shares.discretize(np.array([0, 1, 1]), 7, state), [0, 7, 7])
    assert state.random() == rng(4).random()  # bits draw nothing
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        shares.discretize(np.array([0, 2]), 7, rng())


@pytest.mark.parametrize("name", NAMES)
def test_decoding_wraps_at_the_middle(name):
    protocol = calibrated(name)
    n, p, q = 20, protocol.precision, protocol.group_order
    middle = (n * p + q) // 2
    sums = np.array([0, n * p, middle, middle + 1, q - 1, q + 3])
    public = Public(np.full(sums.size, n))
    aggregate = np.column_stack((sums, np.full(sums.size, n * protocol.shares)))
    want = np.array([0, n * p, middle, middle + 1 - q, -1, 3]) / (n * p)
    assert_allclose(protocol.estimate(aggregate, public)[:, 1], want, rtol=1e-14)
    with pytest.raises(ValueError, match="from each participant"):
        protocol.estimate(aggregate, Public(np.full(sums.size, n + 1)))


def test_foreign_messages_are_refused():
    protocol = calibrated("multi_union")
    for bad in (-1, protocol.group_order):
        with pytest.raises(ValueError, match="messages must lie in"):
            protocol.aggregate(Messages(np.array([0, bad])))


# -- privacy -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, eps", [("multi_union", 1e-10), ("multi_expected", 1e-9)])
def test_noise_beyond_sampling_is_infeasible(name, eps):
    with pytest.raises(Infeasible, match="eps is too small"):
        calibrated(name, eps, 1e-5, ADULT)


def test_balle_shares_need_nineteen_users():
    with pytest.raises(Infeasible, match="19 users"):
        calibrated("multi_exact", population=Poisson(19.0), share_form="balle")


def summed_delta(n, tau, eps, shift):
    """Return the divergence of the sum of n discrete Gaussian variables and its shift, by convolution."""
    reach = math.ceil(40 * tau) + 2
    one = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * tau**2))
    one /= one.sum()
    law = one
    for _ in range(n - 1):
        law = np.convolve(law, one)
    pair = np.pad(law, (0, shift)), np.pad(law, (shift, 0))
    return float(np.sum(np.maximum(pair[0] - math.exp(eps) * pair[1], 0)))


@pytest.mark.parametrize("law", [Fixed(0), Fixed(1), Fixed(7), Binomial(9, 0.5)], ids=repr)
def test_integer_noise_meets_its_delta(law):
    """With tau from a normal law alone, MULTI-EXPECTED has up to 1.8 times its delta."""
    window, estimated = law.window(), []
    for eps, delta in ((0.2, 1e-6), (1.0, 1e-3), (1.0, 1e-6), (4.0, 0.1), (8.0, 1e-3)):
        protocol = get("frequency", "multi_expected").calibrate(Budget(eps, delta), law, Frequency(2))
        planned = multi_expected_scale(law, eps, delta, protocol.precision)

        def true(tau, eps=eps, shift=protocol.precision):
            deltas = [summed_delta(1 + int(others), tau, eps, shift) for others in window.support]
            return float(window.pmf @ deltas)

        assert 2 * true(protocol.tau) <= delta * (1 + 1e-9)
        estimated.append(2 * true(planned) / delta)
    assert max(estimated) > 1.0002


@pytest.mark.parametrize(
    "field, value, message",
    [
        ("group_order", 1, r"group order must be in \[2, 2\^62\), got 1\.$"),
        ("shares", 0, r"at least one share is needed, got 0\.$"),
    ],
)
def test_secure_sum_without_parties_is_refused(field, value, message):
    protocol = calibrated("multi_expected")
    with pytest.raises(ValueError, match=message):
        replace(protocol, **{field: value})
