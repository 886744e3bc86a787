"""Dummy points under the privacy blanket: specified errors and messages, exact laws, and guarantees for few users."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from shuffledp.accounting import Infeasible, hockey_stick
from shuffledp.accounting.dump.errors import printed_dump_mse
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.tasks import Budget, Frequency, Participants, Public

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
@pytest.mark.parametrize("k, per_sender, rate", [(2, 3, 0.3), (3, 2, 0.8), (2, 4, 1.0)])
def test_the_profile_of_flexible_dummies_is_safe_and_exact_without_noise(eps_local, k, per_sender, rate):
    protocol = get("frequency", "flexible_pure_dump")(3, k, eps_local, per_sender, rate)
    for eps in (0.1, 0.6, 1.5):
        real, claimed = truth(protocol, 3, eps), float(protocol.privacy_profile().delta(eps))
        assert real <= claimed * (1 + 1e-9) + 1e-15
        if eps_local == math.inf:
            assert claimed == pytest.approx(real, rel=1e-9)


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


@pytest.mark.parametrize(("name", "options"), [("mix_dump", {}), ("flexible_mix_dump", {"rate": 0.1})])
@pytest.mark.parametrize("eps", [0.3, 1.0])
def test_the_quick_bound_of_reports_among_dummies(name, options, eps):
    protocol = get("frequency", name).calibrate(
        Budget(0.5, 1e-6), Fixed(1_000), Frequency(30), accounting="exact", **options
    )
    profile = protocol.privacy_profile()
    assert 1 <= profile.bound(eps, 0.01) / float(profile.delta(eps)) <= 1.01
    assert profile.bound(9.0, 0.01) == 0  # beyond the local budget
