"""Dummy points under the privacy blanket: specified errors and messages, exact laws, and guarantees for few users."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom, chi2

from shuffledp.accounting import Infeasible, dummy_count, hockey_stick
from shuffledp.accounting.dump.errors import printed_dump_mse
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.protocols.frequency.mix_dump import MixDump
from shuffledp.tasks import Budget, Frequency, Participants, Public, Users

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
@pytest.mark.parametrize("accounting", ["printed", "exact"])
def test_the_mean_error_does_not_depend_on_the_data(name, accounting):
    n, k = 30_000, 40
    protocol = calibrated(name, n, k, 0.7, accounting=accounting)
    skewed = np.zeros(k, np.int64)
    skewed[3], skewed[4] = n - 1, 1
    assert protocol.expected_mse(skewed) == pytest.approx(
        protocol.expected_mse(uniform_counts(n, k)), rel=1e-12
    )


def test_theorem_on_the_error_of_pure_dump_is_exact_and_that_of_mix_dump_lacks_a_term():
    n, k = 500_000, 500
    counts = uniform_counts(n, k)
    pure, mix = calibrated("pure_dump", n, k, 0.6), calibrated("mix_dump", n, k, 0.6)
    assert pure.expected_mse(counts) == pytest.approx(printed_dump_mse(n, k, pure.dummies_in_all), rel=1e-12)
    missing = (k - 2) / (k * n * math.expm1(8.0))
    printed = printed_dump_mse(n, k, mix.dummies_in_all, eps_local=8.0)
    assert mix.expected_mse(counts) == pytest.approx(printed + missing, rel=1e-12)


# -- laws ---------------------------------------------------------------------------------------------------------


def message_law(protocol, inputs):
    """Return the probabilities of all messages' counts, by adding one message at a time."""
    k, n = protocol.domain_size, len(inputs)
    response = protocol.response
    laws = {(0,) * k: 1.0}

    def add(laws, chances):
        moved = {}
        for counts, mass in laws.items():
            for value, chance in enumerate(chances):
                if chance > 0:
                    outcome = tuple(c + (v == value) for v, c in enumerate(counts))
                    moved[outcome] = moved.get(outcome, 0.0) + mass * chance
        return moved

    for held in inputs:
        laws = add(laws, [response.keep if v == held else response.lie for v in range(k)])
    if hasattr(protocol, "rate"):
        mixture, sent = {}, laws
        for senders in range(n + 1):
            for outcome, mass in sent.items():
                weight = float(binom.pmf(senders, n, protocol.rate))
                mixture[outcome] = mixture.get(outcome, 0.0) + mass * weight
            for _ in range(protocol.per_sender):
                sent = add(sent, [1 / k] * k)
        return mixture
    for _ in range(int(protocol.dummies_of(np.array([n]))[0])):
        laws = add(laws, [1 / k] * k)
    return laws


def small_protocols():
    for eps_local in (1.0, math.inf):
        fixed = get("frequency", "pure_dump")(4, 3, eps_local, 6)
        flexible = get("frequency", "flexible_pure_dump")(4, 3, eps_local, 2, 0.6)
        yield from (fixed, flexible, replace(flexible, estimator="observed"))


def chi_square(rows, law):
    """Return the p-value of observed outcomes for given probabilities; rare outcomes are merged."""
    outcomes = sorted(law, key=law.get)
    place = {outcome: i for i, outcome in enumerate(outcomes)}
    seen = np.bincount([place[tuple(row)] for row in rows.tolist()], minlength=len(place))
    expected = np.array([law[o] for o in outcomes]) * len(rows)
    group = np.minimum(np.cumsum(expected) // 30, np.inf).astype(int)
    a, b = np.bincount(group, seen), np.bincount(group, expected)
    a, b = a[b > 10], b[b > 10]
    return float(chi2.sf(np.sum((a - b) ** 2 / b), len(a) - 1))


@pytest.mark.parametrize("protocol", list(small_protocols()), ids=str)
def test_both_levels_have_the_exact_law(protocol):
    """The false-alarm rate is 1e-6 for each of two tests of six protocols."""
    counts = np.array([2, 0, 2])
    law = message_law(protocol, [0, 0, 2, 2])
    assert sum(law.values()) == pytest.approx(1)
    rng = np.random.default_rng(11)
    who = Participants.from_counts(np.tile(counts, (20_000, 1)))
    assert chi_square(protocol.sample_aggregate(who, rng), law) > 1e-6
    users, public = next(who.users(0)), who.public.of_repeat(0)
    slow = np.stack([protocol.simulate_messages(users, public, rng) for _ in range(6000)])
    assert chi_square(slow, law) > 1e-6


@pytest.mark.parametrize("protocol", list(small_protocols()), ids=str)
def test_mean_and_variance_over_the_exact_law(protocol):
    inputs = [0, 0, 0, 1]
    law = message_law(protocol, inputs)
    outcomes, masses = np.array(list(law)), np.array(list(law.values()))
    who = Participants.from_counts(np.array([3, 1, 0]))
    estimates = protocol.estimate(outcomes, Public(np.full(len(outcomes), 4)))
    mean = masses @ estimates
    assert_allclose(mean, [0.75, 0.25, 0.0], atol=1e-12)
    assert_allclose(masses @ (estimates - mean) ** 2, protocol.expected_variance(who)[0], rtol=1e-10)


def test_the_observed_number_of_dummies_helps_when_they_come_in_blocks():
    expected = get("frequency", "flexible_pure_dump")(1000, 10, math.inf, 50, 0.1)
    observed = replace(expected, estimator="observed")
    counts = uniform_counts(1000, 10)
    gain = (1 - 0.1 + 50 * 0.9 / 10) / (1 - 0.1)
    assert expected.expected_mse(counts) / observed.expected_mse(counts) == pytest.approx(gain, rel=1e-12)


def test_chunks_of_users_send_what_all_of_them_do():
    protocol = get("frequency", "pure_dump")(10, 4, math.inf, 37)
    rng = np.random.default_rng(3)
    values = rng.integers(0, 4, 10)
    assert len(protocol.encode(Users(values), rng)) == 47
    sent = [len(protocol.encode(Users(values[i : i + 3], offset=i), rng)) for i in range(0, 10, 3)]
    assert sent == [15, 15, 13, 4]  # seven users send four dummies, three send three
    one_by_one = [len(protocol.encode(Users(values[i : i + 1], offset=i), rng)) - 1 for i in range(10)]
    assert one_by_one == [4] * 7 + [3] * 3


def test_multinomial_dummies_of_large_domains():
    """The mean squared error of simulations has a false-alarm rate of about 1e-6 at five standard errors."""
    n, k = 50_000, 200
    counts = np.tile(uniform_counts(n, k), (400, 1))
    for name in FIXED:
        protocol = calibrated(name, n, k, 0.9)
        errors = (protocol.simulate(counts, np.random.default_rng(5)) - counts / n) ** 2
        spread = errors.mean(axis=1).std() / math.sqrt(400)
        assert abs(errors.mean() - protocol.expected_mse(counts[0])) <= 5 * spread


# -- privacy ------------------------------------------------------------------------------------------------------


def truth(protocol, n, eps):
    """Return the exact delta against the analyzer, over all inputs of the others and both directions."""
    worst = 0.0
    for others in itertools.combinations_with_replacement(range(protocol.domain_size), n - 1):
        views = [message_law(protocol, (own, *others)) for own in (0, 1)]
        outcomes = sorted(set(views[0]) | set(views[1]))
        with np.errstate(divide="ignore"):
            p, q = (np.log([view.get(o, 0.0) for o in outcomes]) for view in views)
        worst = max(worst, float(hockey_stick(p, q, eps)), float(hockey_stick(q, p, eps)))
    return worst


@pytest.mark.parametrize("eps_local", [0.8, 3.0, math.inf])
@pytest.mark.parametrize("k, dummies", [(2, 0), (2, 8), (3, 5)])
def test_the_profile_of_fixed_dummies_is_safe_and_exact_without_noise(eps_local, k, dummies):
    protocol = get("frequency", "pure_dump")(3, k, eps_local, dummies)
    for eps in (0.1, 0.6, 1.5):
        real, claimed = truth(protocol, 3, eps), float(protocol.privacy_profile().delta(eps))
        assert real <= claimed * (1 + 1e-9) + 1e-15
        if eps_local == math.inf:
            assert claimed == pytest.approx(real, rel=1e-9)
    assert protocol.privacy_profile().kind == ("exact" if eps_local == math.inf else "upper")


@pytest.mark.parametrize("eps_local", [0.8, 3.0, math.inf])
@pytest.mark.parametrize("k, per_sender, rate", [(2, 3, 0.3), (3, 2, 0.8), (2, 4, 1.0)])
def test_the_profile_of_flexible_dummies_is_safe_and_exact_without_noise(eps_local, k, per_sender, rate):
    protocol = get("frequency", "flexible_pure_dump")(3, k, eps_local, per_sender, rate)
    for eps in (0.1, 0.6, 1.5):
        real, claimed = truth(protocol, 3, eps), float(protocol.privacy_profile().delta(eps))
        assert real <= claimed * (1 + 1e-9) + 1e-15
        if eps_local == math.inf:
            assert claimed == pytest.approx(real, rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_an_exact_calibration_meets_its_budget_and_no_more_than_that(name):
    n, k, eps, delta = 4, 2, 2.0, 0.05
    options = {"eps_local": 4.0} if "mix" in name else {}
    options |= {"rate": 0.7} if name in FLEXIBLE else {}
    protocol = calibrated(name, n, k, eps, delta, accounting="exact", **options)
    assert truth(protocol, n, eps) <= delta
    if name == "grr_blanket":
        weaker = replace(protocol, eps_local=1.5 * protocol.eps_local)
    elif name in FLEXIBLE:
        weaker = replace(protocol, per_sender=protocol.per_sender // 2)
    else:
        weaker = replace(protocol, dummies_in_all=protocol.dummies_in_all // 2)
    assert truth(weaker, n, eps) > delta


def test_profiles_take_arrays_of_any_shape():
    profile = MixDump(50, 4, 2.0, 30).privacy_profile()
    grid = np.array([[0.1, 0.5], [1.0, 3.0]])
    assert profile.delta(grid).shape == (2, 2)
    assert profile.delta(0.5).shape == ()
    assert profile.delta(grid)[0, 1] == profile.delta(0.5)
    assert profile.delta(3.0) == 0


# -- refusals and corners -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_printed_theorems_end_at_one_and_pure_budgets_are_refused(name):
    with pytest.raises(Infeasible, match="eps <= 1"):
        calibrated(name, 1000, 5, 1.2)
    assert calibrated(name, 1000, 5, 1.2, accounting="exact") is not None
    with pytest.raises(Infeasible, match="delta > 0"):
        calibrated(name, 1000, 5, 0.5, 0.0)


@pytest.mark.parametrize("accounting", ["printed", "exact"])
def test_reports_with_a_small_budget_need_no_dummies(accounting):
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


def test_parameters_say_what_was_calibrated():
    pure = calibrated("pure_dump", 1000, 5, 0.5).parameters()
    assert pure["dummies"] == dummy_count(5, 0.5, 1e-6, accounting="printed")
    assert set(pure) == {"dummies", "dummies_per_user"}
    assert set(calibrated("mix_dump", 1000, 5, 0.5).parameters()) == {*pure, "eps_local"}
    assert set(calibrated("grr_blanket", 1000, 5, 0.5).parameters()) == {"eps_local"}
    flexible = calibrated("flexible_mix_dump", 1000, 5, 0.5, rate=0.25)
    numbers = flexible.parameters()
    assert set(numbers) == {"eps_local", "dummies", "dummies_per_user", "dummies_per_sender", "rate"}
    assert numbers["dummies"] == 1000 * numbers["dummies_per_user"] == 250 * numbers["dummies_per_sender"]
    assert flexible.cost().extra_messages == pytest.approx(numbers["dummies_per_user"], rel=1e-12)


def test_message_bits_are_whole():
    for k, bits in ((2, 1), (4, 2), (5, 3), (900, 10), (2000, 11)):
        assert calibrated("pure_dump", 1000, k, 0.5).cost().bits_per_message == bits


@pytest.mark.parametrize(("name", "options"), [("mix_dump", {}), ("flexible_mix_dump", {"rate": 0.1})])
@pytest.mark.parametrize("eps", [0.3, 1.0])
def test_the_quick_bound_of_reports_among_dummies(name, options, eps):
    protocol = get("frequency", name).calibrate(
        Budget(0.5, 1e-6), Fixed(1_000), Frequency(30), accounting="exact", **options
    )
    profile = protocol.privacy_profile()
    assert 1 <= profile.bound(eps, 0.01) / float(profile.delta(eps)) <= 1.01
    assert profile.bound(9.0, 0.01) == 0  # beyond the local budget
