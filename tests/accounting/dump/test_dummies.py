import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import (
    Infeasible,
    blanket_delta,
    dummy_count,
    dummy_delta,
    dummy_epsilon,
    mix_dummy_count,
)
from shuffledp.accounting.dump.dummies import smallest_count
from shuffledp.accounting.general import dummy_blanket
from shuffledp.accounting.general.dummy_blanket import (
    binary_blanket_deltas,
    lone_delta,
    mixed_blanket_delta,
    point_blanket_deltas,
    remembered_mean,
)
from shuffledp.numerics import Window


@pytest.mark.parametrize("excess", [lambda x, least: least - 0.5 - x, lambda x, least: least / (x + 0.5) - 1])
def test_the_search_finds_the_smallest_count(excess):
    for least, factor, slope in itertools.product((1, 2, 7, 1000), (0.0, 0.7, 1.0, 9.0), (-1.0, -0.01, 0.0)):
        assert smallest_count(lambda x, of=least: excess(x, of), factor * least, slope) == least


@pytest.mark.parametrize(
    "first, values, eps, eps_local, tail",
    [
        (40_000, 50, 0.4, 8.0, 1e-30),  # j rarely changes with m
        (40_000, 50, 0.05, 0.4, 1e-30),  # and often
        (900, 3, 0.2, 1.0, 1e-30),
        (900, 3, 0.02, 0.03, 1e-320),  # masses beyond a product of three factors
        (0, 5, 0.5, 3.0, 1e-40),
        (700, 2, 0.1, 2.0, 1e-30),
    ],
)
def test_mixed_deltas_equal_single_ones(first, values, eps, eps_local, tail):
    weights = 1 + np.random.default_rng(1).random(256)
    weights /= weights.sum()
    want = [
        mixed_blanket_delta(Window(first + i, np.ones(1)), values, eps, eps_local, tail) for i in range(256)
    ]
    got = mixed_blanket_delta(Window(first, weights), values, eps, eps_local, tail)
    assert_allclose(got, weights @ want, rtol=1e-12)
    together = point_blanket_deltas(range(first, first + 256), values, eps, eps_local, tail)
    assert_allclose(together, want, rtol=1e-13)
    for part in (slice(3, 40), slice(100, 256)):  # the second from numbers that are known by now
        law = Window(first + part.start, weights[part], 1e-9)
        kept = remembered_mean(law, values, eps, eps_local, tail)
        assert kept is None or kept == pytest.approx(
            weights[part] @ want[part] + 1e-9 * lone_delta(eps, values, eps_local), rel=1e-11
        )
        if first != 900:  # between: some blocks of numbers have few values of T, and some have not
            assert (kept is None) == (first == 40_000)


def test_sufficient_local_budget_needs_no_messages():
    assert point_blanket_deltas((0, 10**12), 5, 1.0, 1.0, 1e-30) == [0.0, 0.0]
    assert point_blanket_deltas((), 5, 0.5, 1.0, 1e-30) == []
    assert blanket_delta(1.0, 7, 5, 1.0) == 0
    assert binary_blanket_deltas(np.array([[0, 7]]), 1.0, 0.9).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(
    "ask",
    [
        lambda: dummy_count(9, 1.01, 1e-6, accounting="printed"),
        lambda: dummy_count(9, 0.5, 0.291, accounting="printed"),
        lambda: dummy_epsilon(9, 10, 1e-6, accounting="printed"),
        lambda: dummy_epsilon(9, 1, 1e-6, accounting="printed"),
        lambda: dummy_epsilon(9, 10**6, 0.291, accounting="printed"),
        lambda: mix_dummy_count(100, 9, 1.01, 1e-6, 8.0, accounting="printed"),
        lambda: mix_dummy_count(100, 9, 0.5, 0.582, 8.0, accounting="printed"),
        lambda: dummy_epsilon(9, 10, 1e-6, accounting="exact"),
        lambda: dummy_count(9, 1e-9, 1e-6, accounting="printed"),
        lambda: dummy_delta(3, 2**53, 0.1),
    ],
)
def test_uncovered_requests_are_refused(ask):
    with pytest.raises(Infeasible) as refusal:
        ask()
    assert refusal.value.reason


def test_many_reports_need_no_sum(monkeypatch):
    # 10^9 users: the sum over the number of uniform reports and of pairs has 10^9 terms.
    monkeypatch.setattr(dummy_blanket, "_total", lambda *given: pytest.fail("the sum is taken"))
    assert mix_dummy_count(10**9, 10, 1.0, 1e-10, 8.0) == 0
