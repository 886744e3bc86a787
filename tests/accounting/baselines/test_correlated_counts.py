"""Correlated noise of a counter: every budget gives an answer or a reason, and other sums confirm the privacy."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import nbinom

from shuffledp.accounting.baselines.correlated_counts import (
    CORRELATED_ACCOUNTINGS,
    both_counters_delta,
    correlated_noise,
    counter_delta,
)
from shuffledp.accounting.errors import Infeasible

EPS = (0.1, 0.5, 2.0, 8.0)
DELTAS = (0.9, 1e-2, 1e-6)
SHARES = (0.01, 0.1, 0.5, 0.99)


@pytest.mark.parametrize("accounting", CORRELATED_ACCOUNTINGS)
@pytest.mark.parametrize("eps", EPS)
def test_every_budget_and_share_has_an_answer_that_keeps_its_target(eps, accounting):
    for delta, share in itertools.product(DELTAS, SHARES):
        noise = correlated_noise(eps, delta, accounting=accounting, share=share)
        assert counter_delta(eps / 2, noise) <= delta / 2
        assert both_counters_delta(eps, noise) <= delta
        assert math.isfinite(noise.messages) and noise.variance > 0


@pytest.mark.parametrize("eps, delta, share", [(0.001, 1e-15, 0.01)])
def test_noise_too_wide_to_account_for_is_refused_with_a_reason(eps, delta, share):
    with pytest.raises(Infeasible, match=f"too wide: with {share} of eps = {eps}"):
        correlated_noise(eps, delta, accounting="exact", share=share)


# -- privacy by other sums -----------------------------------------------------------------------------------------


def by_joint_law(eps, noise, size):
    """Return the hockey-stick divergence of a counter's messages +1 and -1, from the laws of its three noises."""
    q = math.exp(-noise.eps_geometric)
    z = np.arange(size)
    alone = (1 - q) * q**z
    pairs = nbinom.pmf(z, noise.shape, -math.expm1(-noise.decay)) if noise.shape else (z == 0).astype(float)
    law = np.zeros((size + 1, size))  # one more user at most
    for common in range(size):
        if pairs[common] > 0:
            law[common:-1, common:] += pairs[common] * np.outer(
                alone[: size - common], alone[: size - common]
            )
    with_user = np.zeros_like(law)
    with_user[1:] = law[:-1]
    first = np.maximum(law - math.exp(eps) * with_user, 0).sum()
    return max(first, np.maximum(with_user - math.exp(eps) * law, 0).sum())


@pytest.mark.parametrize(
    "eps, delta, share",
    [
        (8.0, 1e-4, 0.1),
        (4.0, 1e-3, 0.5),
        (4.0, 0.9, 0.01),
        (2.0, 0.3, 0.5),
        (8.0, 0.3, 0.9),
        (6.0, 1e-6, 0.75),
        (0.5, 0.3, 0.1),  # few pairs, nearly Poisson
        (0.5, 0.3, 0.75),  # no pairs
        (1.0, 0.75, 0.1),  # hardly any
    ],
)
def test_targets_are_kept_by_the_joint_law_of_the_messages(eps, delta, share):
    noise = correlated_noise(eps, delta, accounting="exact", share=share)
    got = by_joint_law(eps / 2, noise, 400)
    assert got <= delta / 2 * (1 + 1e-9)
    assert_allclose(counter_delta(eps / 2, noise), got, rtol=1e-9)
    if noise.shape:
        assert got >= delta / 2 * (1 - 1e-6)


# -- no pairs ------------------------------------------------------------------------------------------------------
