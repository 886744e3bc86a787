"""Two counters with jumps: the sum over all messages, and the saving over negative binomial noise."""

import math

import numpy as np
import pytest

from shuffledp.accounting import Infeasible
from shuffledp.accounting.summation.jump_noise import jump_law
from shuffledp.designs import JumpCounter, JumpCountersProfile, jump_counters, jump_counters_delta


def law_of_a_counter(noise, most):
    """Return Pr[messages +1, messages -1] of one counter's noise."""
    alone = -math.expm1(-noise.eps_star) * np.exp(-noise.eps_star * np.arange(most))
    pairs, _ = jump_law(noise.rate, noise.center, most)
    law = np.zeros((most, most))
    for times, chance in enumerate(pairs):
        rest = most - times
        law[times:, times:] += chance * np.outer(alone[:rest], alone[:rest])
    return law


@pytest.mark.parametrize("eps", [3.5, 4.0, 6.0])
def test_delta_sums_over_all_messages(eps):
    noise, most = JumpCounter(1.5, 1.0, 0.7), 26
    law = law_of_a_counter(noise, most)
    more = np.zeros_like(law)
    more[1:] = law[:-1]
    p = np.outer(more.ravel(), law.ravel())
    q = np.outer(law.ravel(), more.ravel())
    want = float(np.maximum(p - math.exp(eps) * q, 0).sum())
    found = jump_counters_delta(noise, eps)
    assert want * (1 - 1e-6) <= found <= want * 1.01 + 1e-9


@pytest.mark.parametrize("eps, delta", [(1.0, 1e-6), (4.0, 1e-3), (1.0, 0.5), (0.2, 0.05)])
def test_calibrated_noise_meets_its_budget(eps, delta):
    noise = jump_counters(eps, delta)
    assert noise.eps_star == pytest.approx(0.45 * eps)
    assert jump_counters_delta(noise, eps) <= delta
    profile = JumpCountersProfile(noise).delta([eps, 1.5 * eps])
    assert profile[0] <= delta and profile[1] < profile[0]


@pytest.mark.parametrize("eps, delta", [(1.0, 1e-12), (5.0, 1e-15)])
def test_budget_below_rounding_is_infeasible(eps, delta):
    with pytest.raises(Infeasible, match=f"leaves more than delta = {delta:g}"):
        jump_counters(eps, delta)


def test_bad_arguments_are_refused():
    with pytest.raises(Infeasible, match="window"):
        jump_counters_delta(JumpCounter(0.4, 500.0, 60_000.0), 1.0)
    # An error so small that its law underflows.
    assert jump_counters_delta(JumpCounter(1000.0, 5.0, 2.0), 2100.0) < 0.02
