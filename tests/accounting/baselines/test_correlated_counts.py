"""Correlated noise of a counter: every budget gives an answer or a reason, and other sums confirm the privacy."""

import itertools
import math

import pytest

from shuffledp.accounting.baselines.correlated_counts import (
    CORRELATED_ACCOUNTINGS,
    both_counters_delta,
    correlated_noise,
    counter_delta,
)
from shuffledp.accounting.errors import Infeasible

EPS = (0.1, 0.5, 2.0, 8.0)
DELTAS = (0.9, 1e-6)
SHARES = (0.01, 0.5, 0.99)


@pytest.mark.parametrize("accounting", CORRELATED_ACCOUNTINGS)
@pytest.mark.parametrize("eps", EPS)
def test_every_answer_keeps_its_target(eps, accounting):
    """The answers are for every budget and share."""
    for delta, share in itertools.product(DELTAS, SHARES):
        noise = correlated_noise(eps, delta, accounting=accounting, share=share)
        assert counter_delta(eps / 2, noise) <= delta / 2
        assert both_counters_delta(eps, noise) <= delta
        assert math.isfinite(noise.messages) and noise.variance > 0


def test_too_wide_noise_is_refused():
    with pytest.raises(Infeasible, match=r"too wide: with 1e-05 of eps = 0\.01"):
        correlated_noise(0.01, 1e-9, accounting="exact", share=1e-5)
