import math

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting.general.rdp import (
    gaussian_rdp,
    rdp_to_epsilon,
)
from shuffledp.accounting.shuffle_gaussian.all_users import (
    enough_orders,
    log_central_moments,
    shuffle_gaussian_epsilon,
    shuffle_gaussian_epsilons,
    shuffle_gaussian_rdp,
)
from shuffledp.numerics.logs import log_binomials
from shuffledp.pipeline.papers.shuffle_gaussian import witnesses

N = 60_000


def moments(orders, n, sigma):
    """Return moments of the likelihood ratio."""
    orders = np.asarray(orders)
    return np.exp((orders - 1) * shuffle_gaussian_rdp(orders, n, sigma))


# Theorem 1


def test_divergence_agrees_with_quadrature_in_two_dimensions():
    sigma, (x, w) = 1.3, np.polynomial.hermite_e.hermegauss(120)
    ratio = np.exp((2 * sigma * x - 1) / (2 * sigma**2))
    mean = (ratio[:, None] + ratio) / 2
    weights = np.outer(w, w) / (2 * math.pi)
    want = [float(np.sum(weights * mean**order)) for order in (2, 3, 5)]
    assert_allclose(moments([2, 3, 5], 2, sigma), want, rtol=1e-11)


@pytest.mark.parametrize("sigma", [0.3, 2.0, 20.0])
def test_one_report_is_the_gaussian_mechanism(sigma):
    orders = np.arange(2, 301)
    assert_allclose(shuffle_gaussian_rdp(orders, 1, sigma), orders / (2 * sigma**2), rtol=1e-12)
    assert_allclose(gaussian_rdp(orders, sigma), orders / (2 * sigma**2), rtol=1e-15)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 9.48])
def test_more_reports_are_more_private_at_every_order(sigma):
    orders = np.arange(2, 101)
    values = np.array(
        [shuffle_gaussian_rdp(orders, n, sigma) for n in (*range(1, 30), 200, 10**3, 10**6, 10**9)]
    )
    assert np.all(np.diff(values, axis=0) < 0)  # Corollary 1 is the first row
    assert np.all(np.diff(values, axis=1) > 0)


@pytest.mark.parametrize("sigma", [1e-100, 1e-3, 1e6, 1e100])
def test_extreme_noise_and_sizes(sigma):
    orders = np.array([2, 3, 50])
    got = np.array([shuffle_gaussian_rdp(orders, n, sigma) for n in (1, 2, 2**53)])
    assert np.all(np.isfinite(got)) and np.all(got > 0)
    assert_allclose(got[0], gaussian_rdp(orders, sigma), rtol=1e-13)
    if sigma >= 1e6:  # order (q - 1) / (2 n)
        assert_allclose(got[1:], got[0] / np.array([[2], [2**53]]), rtol=1e-9)


def test_order_and_repetition_of_orders_do_not_matter():
    assert_allclose(
        shuffle_gaussian_rdp([7, 2, 7], N, 2.0), shuffle_gaussian_rdp(np.arange(2, 8), N, 2.0)[[5, 0, 5]]
    )


def test_binomials_are_good_to_the_last_place_where_they_weigh_most():
    row = log_binomials(999)
    assert row.size == 1000
    want = [float(mp.log(math.comb(999, k))) for k in range(1000)]
    assert_allclose(row, want, rtol=3e-14, atol=0)
    assert_allclose(row[1:4], want[1:4], rtol=5e-16)
    for trials in range(1, 9):
        assert_allclose(np.exp(log_binomials(trials)), [math.comb(trials, k) for k in range(trials + 1)])


def test_central_moments_are_those_of_the_mean():
    n, sigma = 3, 1.5
    got = np.exp(log_central_moments(np.array([n]), sigma, 6)[:, 0])
    raw = [1.0, 1.0, *moments(range(2, 7), n, sigma)]
    want = [sum(math.comb(k, j) * (-1) ** (k - j) * raw[j] for j in range(k + 1)) for k in range(7)]
    assert_allclose(got, want, rtol=1e-10, atol=1e-12)


# Direction and other users: what Theorem 1 does not say


@pytest.mark.parametrize("n", [2, 30, N])
def test_the_pair_of_theorem_1_is_a_common_place(n):
    got = witnesses.common_place_rdp(n, 0.8, changed=1, original=0, product=0)
    assert_allclose(got, shuffle_gaussian_rdp([2], n, 0.8)[0], rtol=1e-9, atol=3e-11)


def test_the_triangle_agrees_with_simulation():
    """The false-alarm rate is 1e-6 (4.9 standard errors of the mean of 4 million draws)."""
    rng, sigma, size = np.random.default_rng(8), 1.0, 1_000_000
    u, v = np.array([1.0, 0.0]), np.array([0.5, math.sqrt(0.75)])  # the third corner is the origin
    values = []
    for _ in range(4):
        y = rng.normal(scale=sigma, size=(2, size, 2))
        y[0] += u  # one of the two reports; their order does not matter, as the ratio is symmetric

        def mixture(place, y=y):
            return np.exp((y @ place - place @ place / 2) / sigma**2).mean(axis=0)

        values.append((mixture(v) / mixture(u)) ** 2)
    ratio = np.concatenate(values)
    want = math.exp(witnesses.common_place_rdp(2, sigma, changed=1, original=1, product=0.5))
    assert abs(ratio.mean() - want) < 4.9 * ratio.std() / math.sqrt(ratio.size)


@pytest.mark.parametrize("sigma, delta", [(1.0, 1e-5), (9.48, 1e-10)])
def test_enough_orders_are_enough(sigma, delta):
    orders = np.arange(2, 3001)
    rdp = shuffle_gaussian_rdp(orders, N, sigma)
    for rounds in (1, 10_000):
        last = enough_orders(N, sigma, delta, rounds)
        assert last == 20 + math.ceil(
            max(2 * sigma**2 * math.log(N), 1 + sigma * math.sqrt(2 * math.log(1 / delta) / rounds))
        )
        few = orders <= last
        assert rdp_to_epsilon(orders[few], rounds * rdp[few], delta) == rdp_to_epsilon(
            orders, rounds * rdp, delta
        )
    assert enough_orders(10**9, 100.0, 1e-5) == 4096
    assert enough_orders(1, sigma, delta) == 20 + math.ceil(1 + sigma * math.sqrt(2 * math.log(1 / delta)))


def test_curves_over_rounds_are_those_of_each():
    row = shuffle_gaussian_epsilons(N, 4.74, [1, 50], 1 / N)
    assert row[1] == shuffle_gaussian_epsilon(n=N, sigma=4.74, rounds=50, delta=1 / N) > row[0]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: shuffle_gaussian_rdp([1], 10, 1.0), r"orders must be .* \[2, 4096\], got \[1\]"),
        (lambda: shuffle_gaussian_rdp([2, 5000], 10, 1.0), "orders must be"),
        (lambda: rdp_to_epsilon([2, 3], [0.1], 0.1), "the same shape"),
        (lambda: rdp_to_epsilon([1, 3], [0.1, 0.1], 0.1), "above 1"),
        (lambda: rdp_to_epsilon([2, 3], [0.1, -0.1], 0.1), "rdp must be >= 0"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
