"""Users who collude or drop out: reference numbers, laws by enumeration, monotonicity, and limits of every rule."""

import itertools
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import nbinom

from enumerated_reports import data_sets, responses, stick, worst_delta
from protocols.test_poisoning import calibrated
from shuffledp.accounting import composed_epsilon
from shuffledp.accounting.general.spent import PRECISION, spent_epsilon
from shuffledp.guarantees import ABSENCE
from shuffledp.populations import Binomial, Fixed
from shuffledp.protocols import get
from shuffledp.tasks import Budget, Frequency
from small_tasks import BUILT_INS

BUDGET = Budget(1.0, 1e-6)
#: Built-in protocols with noise in shares, but without a bound for missing shares.
UNKNOWN = {"coarse_correlated_sum", "correlated_sum", "real_sum", "sparse_sum"}
NAMED = {"designated_coins", "hashed_balls_into_bins", "mix_dump", "pure_dump"}
#: Protocols whose rules are those of others here, and whose profiles take seconds.
SLOW = {"flexible_mix_dump", "coarse_correlated_sum"}


@pytest.mark.parametrize("kind, name", [one for one in BUILT_INS if one[1] not in SLOW])
def test_every_built_in(kind, name):
    """Bounds grow with the share from the spent eps to at most the local eps; unknown bounds are nan."""
    protocol = calibrated(kind, name)
    assert protocol.when_absent().startswith(ABSENCE[protocol.relies_on])
    spent, local = spent_epsilon(protocol.privacy_profile(), BUDGET), protocol.local_epsilon()
    shares = (0.1, 1.0)
    of_a_tenth = {}
    for colluding in (True, False):
        assert protocol.remaining_epsilon(0.0, BUDGET, colluding=colluding) == spent
        found = [protocol.remaining_epsilon(share, BUDGET, colluding=colluding) for share in shares]
        of_a_tenth[colluding] = found[0]
        if name in UNKNOWN:
            assert all(map(math.isnan, found))
            continue
        assert spent <= found[0]
        assert all(a <= b * (1 + PRECISION) for a, b in itertools.pairwise(found))
        assert local is None or found[-1] <= local
        if protocol.relies_on == "no other user" or (name == "random_checkin" and not colluding):
            assert set(found) == {spent}
        else:
            assert found[0] > 1.02 * spent or (name in ("adaptive", "non_adaptive"))
    if name in NAMED | {"random_checkin"}:
        assert of_a_tenth[False] < of_a_tenth[True]
    elif name not in UNKNOWN:
        assert of_a_tenth[False] <= of_a_tenth[True]


def hockey(p, q, eps):
    return max(stick(p, q, eps), stick(q, p, eps))


def two_coins(coins, eps):
    """Return delta of two counts with this many fair coins each; one count has user 1's value."""
    law = [math.comb(coins, j) / 2**coins for j in range(coins + 1)]
    p, q = Counter(), Counter()
    for (a, x), (b, y) in itertools.product(enumerate(law), repeat=2):
        p[a + 1, b] += x * y
        q[a, b + 1] += x * y
    return hockey(p, q, eps)


@pytest.mark.parametrize("eps", [0.2, 0.9])
def test_designated_coins_by_enumeration(eps):
    """Of 7 users the first 4 flip coins; user 1 is the last in the list, and 2 of the other 6 are absent."""
    protocol = get("frequency", "designated_coins")(5, n_users=7, designated=4)
    gone = list(itertools.combinations(range(6), 2))
    mean = np.mean([two_coins(4 - sum(user < 4 for user in two), eps) for two in gone])
    dropped = protocol.profile_without(2 / 7, colluding=False)
    assert dropped.delta(eps) == pytest.approx(mean, rel=1e-9)
    worst = max(two_coins(4 - sum(user < 4 for user in two), eps) for two in gone)
    assert protocol.profile_without(2 / 7, colluding=True).delta(eps) == pytest.approx(worst, rel=1e-9)


def uniform_points(dummies, k, eps):
    """Return delta of user 1's value among uniform dummies if all other messages are known."""
    p, q = Counter(), Counter()
    for points in itertools.product(range(k), repeat=dummies):
        a, b = points.count(0), points.count(1)
        p[a + 1, b] += k**-dummies
        q[a, b + 1] += k**-dummies
    return hockey(p, q, eps)


@pytest.mark.parametrize("eps", [0.3, 1.0])
def test_dummy_points_by_enumeration(eps):
    """Six users send 8 dummies: the first two users of the list send two each, the others one each."""
    protocol = get("frequency", "pure_dump")(n_users=6, domain_size=3, eps_local=math.inf, dummies_in_all=8)
    sent = [2, 2, 1, 1, 1]  # by the others; user 1 is the last of the list and sends one
    left = [1 + sum(sent) - sum(two) for two in itertools.combinations(sent, 2)]
    found = [protocol.profile_without(1 / 3, colluding=told).delta(eps) for told in (True, False)]
    assert found[0] == pytest.approx(max(uniform_points(n, 3, eps) for n in left), rel=1e-9)
    assert found[1] == pytest.approx(np.mean([uniform_points(n, 3, eps) for n in left]), rel=1e-9)


@pytest.mark.parametrize("eps", [0.3, 0.8])
def test_reports_by_enumeration(eps):
    """Of 5 users with randomized response two are absent; no data set of the others exceeds the bound."""
    protocol, table = get("frequency", "grr_blanket")(5, 3, 1.5, 0), responses(3, 1.5)
    worst = worst_delta(table, data_sets(table, 2), eps)
    for colluding in (True, False):
        bound = protocol.profile_without(0.4, colluding=colluding).delta(eps)
        assert worst <= bound * (1 + 1e-12)
        assert bound < 1.6 * worst + 1e-3


@pytest.mark.parametrize("eps", [0.7, 1.5])
def test_counters_by_enumeration(eps):
    """With 6 of 10 users a counter's noise has 0.6 of every shape."""
    protocol = get("frequency", "correlated_noise")(10, 4, 0.8, 2.0, 0.9)
    size, part = 60, 0.6
    single = nbinom.pmf(np.arange(size), part, -math.expm1(-0.8))
    pairs = nbinom.pmf(np.arange(size), 2 * part, -math.expm1(-0.9))
    law = np.zeros((size + 1, size))
    for both, mass in enumerate(pairs):
        law[both:size, both:] += mass * np.outer(single, single)[: size - both, : size - both]
    absent = law.ravel()
    held = np.roll(law, 1, axis=0).ravel()  # one message +1 more; the last row was empty
    worst = sum(
        np.maximum(a * held - math.exp(eps) * h * absent, 0).sum()
        for a, h in zip(absent, held, strict=True)
        if max(a, h) > 1e-9
    )
    found = float(protocol.profile_without(0.4, colluding=True).delta(eps))
    assert found == pytest.approx(worst, rel=1e-4)


def test_a_wide_counter_has_no_bound():
    protocol = calibrated("frequency", "correlated_noise")
    wide = replace(protocol, eps_geometric=1e-4)
    assert math.isnan(wide.remaining_epsilon(0.1, BUDGET, colluding=True))


def test_shares_of_a_secure_sum():
    """Noise of more users than planned suffices; shares for fewer users may not suffice."""
    protocol = calibrated("frequency", "multi_exact")
    assert protocol.remaining_epsilon(1e-9, BUDGET, colluding=True) < 1.01
    few = replace(protocol, shares=3)
    assert few.profile_without(0.1, colluding=True) is None
    assert few.remaining_epsilon(0.1, BUDGET, colluding=True) == protocol.local_epsilon()
    gaussian = calibrated("frequency", "multi_expected")
    tenth, half = (gaussian.remaining_epsilon(share, BUDGET, colluding=True) for share in (0.1, 0.5))
    assert 1.05 < tenth < 1.1
    assert 1.4 < half < 1.6


def test_a_random_number_of_users():
    """Delta is averaged over the remaining numbers for every number of participants."""
    law, share = Binomial(200, 0.5), 0.25
    protocol = get("frequency", "balls_into_bins").calibrate(Budget(1.0, 1e-4), law, Frequency(4))
    window = law.window()
    mean = sum(
        mass * float(protocol.profile_for(1 + n - math.ceil((1 + n) / 4)).delta(1.5))
        for n, mass in zip(window.support, window.pmf, strict=True)
    )
    found = float(protocol.profile_without(share, colluding=True).delta(1.5))
    assert mean <= found <= 1.02 * mean
    named = get("frequency", "designated_coins").calibrate(Budget(1.0, 1e-4), law, Frequency(4))
    assert named.remaining_epsilon(share, Budget(1.0, 1e-4), colluding=False) == math.inf


def test_shuffler_replaces_dropped_users():
    """Without 6 of 21 users, 30 reports hide user 1; if the 6 collude, 24 reports do, and the rule counts only 22."""
    protocol = get("frequency", "adaptive")(Fixed(20), 4, 2.0, dummy_count=30, adaptive=True)
    alone = get("frequency", "amplified")
    for colluding, left in ((False, 30), (True, 22)):
        found = protocol.profile_without(0.25, colluding=colluding).delta(0.5)
        assert found == pytest.approx(
            float(alone(Fixed(left), 4, 2.0).privacy_profile().delta(0.5)), rel=1e-12
        )
        assert left <= 30 - (6 if colluding else 0)


def test_bad_shares():
    protocol = calibrated("frequency", "amplified")
    for share in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="share must be in"):
            protocol.remaining_epsilon(share, BUDGET, colluding=True)


def test_absent_users_of_several_rounds():
    """Rounds are composed: of the same absent users ten rounds reveal more than one."""
    protocol, budget = get("frequency", "grr_blanket")(1000, 4, 1.0, 0), Budget(1.0, 1e-6)
    profile = protocol.profile_without(0.1, colluding=True)
    found = protocol.remaining_epsilon(0.1, budget, colluding=True, rounds=10)
    assert found == pytest.approx(composed_epsilon([profile], 1e-6, rounds=[10]), rel=1e-3)
    assert found > 1.5 * protocol.remaining_epsilon(0.1, budget, colluding=True)
