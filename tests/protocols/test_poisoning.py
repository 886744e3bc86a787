"""Gain of fake users: published formulas, the analyzer's estimate, a simulation, and unknown gains."""

import math
from functools import cache

import numpy as np
import pytest

from shuffledp.accounting import local_budget
from shuffledp.guarantees import ENFORCED
from shuffledp.populations import Binomial, Fixed
from shuffledp.protocols import available, get
from shuffledp.tasks import (
    TASK_KINDS,
    Budget,
    Frequency,
    Participants,
    Public,
    Users,
)
from small_tasks import RANDOM, TASKS

N, K, FAKES = 100_000, 100, 1000
BUILT_INS = [(kind, name) for kind in TASK_KINDS for name in available(kind)]
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


def test_one_report_per_user():
    """The numbers are for n = 10^5, k = 100, eps 1 and delta 1e-8, with each protocol's local budget."""
    odds = math.exp(local_budget(Fixed(N - 1), 1.0, 1e-8))
    assert at_scale("grr_blanket") == pytest.approx(1057.4, abs=0.05)
    assert at_scale("grr_blanket", k=2) == pytest.approx(1000.6, abs=0.05)
    assert at_scale("amplified") == pytest.approx(1122.5, abs=0.05)
    assert at_scale("local") == pytest.approx(58_616, abs=0.5)
    optimized = get("frequency", "unary_rows")(
        n_users=N, domain_size=K, own_rate=0.5, other_rate=1 / (odds + 1)
    )
    assert optimized.poisoning_gain(FAKES) == pytest.approx(2002.5, abs=0.05)
    for cells, gain in ((2, 1002.5), (round(odds + 1), 2002.2)):
        hashed = get("frequency", "solh")(N, K, math.log(odds), cells)
        assert hashed.poisoning_gain(FAKES) == pytest.approx(gain, abs=0.3)
    row = get("frequency", "symmetric_rappor")(
        N, K, own_rate=1 - 1 / (1 + math.exp(14.77114 / 2)), other_rate=1 / (1 + math.exp(14.77114 / 2))
    )
    assert row.poisoning_gain(FAKES) == pytest.approx(1000.6, abs=0.05)
    one = math.exp(0.5)
    row = get("frequency", "symmetric_rappor")(N, K, own_rate=one / (1 + one), other_rate=1 / (1 + one))
    assert row.poisoning_gain(FAKES) == pytest.approx(2541, abs=0.6)
    one = get("frequency", "unary_rows")(n_users=N, domain_size=K, own_rate=0.5, other_rate=1 / (math.e + 1))
    assert one.poisoning_gain(FAKES) == pytest.approx(3164, abs=0.5)


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


@pytest.mark.parametrize(("kind", "name"), BUILT_INS)
def test_every_built_in_has_a_rule_or_states_that_it_is_unknown(kind, name):
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


def test_a_simulation_of_randomized_response():
    k, honest, fakes, repeats = 20, 400, 100, 400
    protocol = get("frequency", "local")(Fixed(honest - 1), k, 2.0)
    assert protocol.poisoning_gain(1) == pytest.approx(3.97384, abs=6e-6)
    rng = np.random.default_rng(5)
    values = np.arange(honest) % k
    public = Public(np.array([honest + fakes]))
    found = []
    for _ in range(repeats):
        reports = protocol.encode(Users(values), rng).payload
        sent = np.concatenate((reports, np.full(fakes, 3)))
        table = np.bincount(sent, minlength=k)[None, :]
        found.append((honest + fakes) * protocol.estimate(table, public)[0, 3])
    error = np.std(found) / math.sqrt(repeats)
    assert abs(np.mean(found) - honest / k - protocol.poisoning_gain(fakes, 3)) < 4 * error
    assert error < 0.01 * protocol.poisoning_gain(fakes)


def test_bad_fakes():
    protocol = calibrated("frequency", "amplified")
    with pytest.raises(ValueError, match="fakes must be"):
        protocol.poisoning_gain(-1)
    with pytest.raises(ValueError, match=r"target must be in \[0, 19\], got 20"):
        protocol.poisoning_gain(1, 20)
    with pytest.raises(ValueError, match="cap must be"):
        protocol.poisoning_gain(1, cap=0)
