"""Gain of fake users: published formulas, the analyzer's estimate, a simulation, and unknown gains."""

import math
from functools import cache

import numpy as np
import pytest

from shuffledp.guarantees import ENFORCED
from shuffledp.populations import Binomial, Fixed
from shuffledp.protocols import available, get
from shuffledp.tasks import (
    Budget,
    Frequency,
    Participants,
    Public,
)
from small_tasks import BUILT_INS, RANDOM, TASKS

N, K, FAKES = 100_000, 100, 1000
INFINITE = {"multi_exact", "multi_expected", "multi_union", "skellam", "split_and_mix"}
UNKNOWN = {
    "frequency": {"hashed_balls_into_bins", "private_coin", "public_coin", "random_checkin", "truncation"},
    "summation": {"fragmented_rappor", "unary_bits"},
    "sets": set(available("sets")),
    "vectors": set(available("vectors")),
}


@cache
def calibrated(kind, name, users=3000, k=None, delta=1e-6, **options):
    protocol = get(kind, name)
    accounting = next(a for a in ("exact", "corrected", "printed") if a in protocol.accountings)
    law = Binomial(2 * users, 0.5) if name in RANDOM else Fixed(users - 1)
    task = TASKS.get(name, TASKS[kind]) if k is None else Frequency(k)
    options |= {"levels": 2} if name == "real_sum" else {}
    return protocol.calibrate(Budget(1.0, delta), law, task, accounting=accounting, **options)


def at_scale(name, k=K, **options):
    return calibrated("frequency", name, N, k, 1e-8, **options).poisoning_gain(FAKES)


def test_messages_are_capped():
    assert at_scale("pure_dump") == 2 * FAKES, "one dummy per user at most"
    coins = calibrated("frequency", "balls_into_bins", N, K, 1e-8)
    assert coins.poisoning_gain(FAKES, cap=1) == pytest.approx(FAKES * (1 - coins.rate))
    assert coins.poisoning_gain(FAKES) == pytest.approx(FAKES * (K + 1 - coins.rate))
    silent = calibrated("frequency", "silent_users", N, K, 1e-8)
    assert silent.poisoning_gain(FAKES, cap=3) == pytest.approx(
        FAKES * (3 - silent.dummy_mean / N) / silent.rate
    )
    for name in ("sageo", "s1geo", "sbin", "central_laplace", "central_gaussian"):
        assert calibrated("frequency", name).poisoning_gain(FAKES, cap=5) == FAKES


@pytest.mark.parametrize("kind, name", BUILT_INS)
def test_built_ins_have_poisoning_rules(kind, name):
    """A rule may be that the gain is unknown."""
    protocol = calibrated(kind, name)
    gain = protocol.poisoning_gain(1)
    assert (protocol.poisoning == "unknown") == (name in UNKNOWN[kind]) == math.isnan(gain)
    assert protocol.enforced() == ENFORCED[protocol.poisoning]
    assert protocol.poisoning_gain(0) == 0
    if name in INFINITE:
        assert (gain, protocol.poisoning) == (math.inf, "range of shares")
    elif not math.isnan(gain):
        assert 1 <= gain < math.inf


@pytest.mark.parametrize(
    "name",
    sorted(
        set(available("frequency"))
        - INFINITE
        - UNKNOWN["frequency"]
        - {"central_laplace", "central_gaussian", "sageo", "s1geo", "sbin"}
    ),
)
def test_the_analyzer_estimates_as_many_more(name):
    """The target's count changes by the gain if the fake messages join any honest messages."""
    protocol = calibrated("frequency", name)
    target, honest, fakes = 7, 10_000, 13
    most = int(protocol.cost().most_messages)
    counts = np.random.default_rng(3).multinomial(honest, np.full(20, 0.05))
    seen = protocol.sample_aggregate(Participants.from_counts(counts), np.random.default_rng(4))
    more = np.array(seen)
    more[0, 2 * target if more.shape[1] == 40 else target] += fakes * most  # counters: +1 before -1
    before, after = (
        users * protocol.estimate(table, Public(np.array([users])))[0, target]
        for users, table in ((honest, seen), (honest + fakes, more))
    )
    assert after - before == pytest.approx(protocol.poisoning_gain(fakes, target), rel=1e-9)


@pytest.mark.parametrize("name", ["bit_sum", "single_message_sum", "correlated_sum"])
def test_sums_move_as_much(name):
    protocol = calibrated("summation", name)
    honest, fakes = 10_000, 13
    counts = np.array([[4000, 3000, 2000, 1000]])
    seen = protocol.sample_aggregate(Participants.from_counts(counts), np.random.default_rng(4))
    more = np.array(seen)
    more[0, -1] += fakes * int(protocol.cost().most_messages)
    before, after = (
        protocol.estimate(table, Public(np.array([users])))[0]
        for users, table in ((honest, seen), (honest + fakes, more))
    )
    assert after - before == pytest.approx(protocol.poisoning_gain(fakes), rel=1e-9)
    assert calibrated("summation", "central_laplace").poisoning_gain(fakes) == 3 * fakes


def test_bad_fakes():
    protocol = calibrated("frequency", "amplified")
    with pytest.raises(ValueError, match="fakes must be"):
        protocol.poisoning_gain(-1)
    with pytest.raises(ValueError, match=r"target must be in \[0, 19\], got 20"):
        protocol.poisoning_gain(1, 20)
    with pytest.raises(ValueError, match="cap must be"):
        protocol.poisoning_gain(1, cap=0)
