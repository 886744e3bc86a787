"""Central DP-SGD by dp_accounting: Figure 1a's central curves, and exact deltas of small data sets.

Each eps from dp_accounting is compared with data sets of clipped records, C = 1, whose noisy sums have a known law. The
sensitivity then follows from the records and is not assumed.
"""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from shuffledp.accounting import central_gaussian_epsilon, central_replacement_epsilon
from shuffledp.accounting.baselines.gaussian_clones import gaussian_local_epsilon
from shuffledp.accounting.general.gaussian import log_gaussian_delta

DELTA = 1e-5


def subset_sums(records, m):
    """Return the sums of m records, drawn without replacement, with their probabilities."""
    subsets = list(itertools.combinations(records, m))
    return [(sum(subset), 1 / len(subsets)) for subset in subsets]


def poisson_sums(records, rate):
    """Return the sums of records that are each sampled with probability `rate`, with their probabilities."""
    return [
        (np.dot(taken, records), math.prod(rate if t else 1 - rate for t in taken))
        for taken in itertools.product((0, 1), repeat=len(records))
    ]


def noisy_delta(first, second, noise, eps):
    """Return the divergence of two laws with Gaussian noise, in the worse direction, by the trapezoidal rule."""
    places = [value for value, _ in first + second]
    x = np.linspace(min(places) - 12 * noise, max(places) + 12 * noise, 40_001)
    p, q = (sum(weight * norm.pdf(x, value, noise) for value, weight in law) for law in (first, second))
    return max(float(np.trapezoid(np.maximum(a - math.exp(eps) * b, 0), x)) for a, b in ((p, q), (q, p)))


# -- replacement, all users in the sum: a Gaussian mechanism of sensitivity 2 C, whose curve is known ---------------


@pytest.mark.parametrize(
    "noise, rounds",
    [(0.5, 1), (2.0, 1), (50.0, 1), (20.0, 100), (50.0, 10_000)],
)
def test_replacement_in_all_doubles_clipping_norm(noise, rounds):
    """The sum of all users is a Gaussian that is shifted by twice the clipping norm."""
    eps = central_replacement_epsilon(n=100, m=100, noise_multiplier=noise, rounds=rounds, delta=DELTA)
    single = noise / math.sqrt(rounds)  # rounds of the same shift are one with less noise
    assert log_gaussian_delta(2 / single, eps) <= math.log(DELTA)
    exact = gaussian_local_epsilon(single, DELTA, sensitivity=2)
    assert exact <= eps <= 1.13 * exact


# -- replacement, m of n users: real data sets, the law of the sum by enumeration of the subsets --------------------


@pytest.mark.parametrize("m, noise", [(1, 0.5), (3, 2.0), (4, 2.0)])
def test_no_pair_exceeds_replacement_budget(m, noise):
    eps = central_replacement_epsilon(n=4, m=m, noise_multiplier=noise, rounds=1, delta=DELTA)
    whole = central_replacement_epsilon(n=4, m=4, noise_multiplier=noise, rounds=1, delta=DELTA)
    assert eps == whole if m == 4 else eps < whole
    for others in ((-1.0, -1.0, -1.0), (0.0, 0.0, 0.0), (-1.0, 0.5, 1.0)):
        kept, changed = subset_sums((-1.0, *others), m), subset_sums((1.0, *others), m)
        assert noisy_delta(kept, changed, noise, eps) <= DELTA


# -- adding or removing a record: sensitivity C ---------------------------------------------------------------------


@pytest.mark.parametrize("method", ["pld", "rdp", "rdp_to_63"])
@pytest.mark.parametrize("noise", [1.0, 2.0])
def test_no_pair_exceeds_addition_budget(noise, method):
    """The pairs of data sets differ by a record that is added or removed."""
    eps = central_gaussian_epsilon(rate=0.1, noise_multiplier=noise, rounds=1, delta=DELTA, method=method)
    for others in ((0.0, 0.0), (1.0, 1.0), (-1.0, 0.5, 1.0)):
        without, grown = poisson_sums(others, 0.1), poisson_sums((1.0, *others), 0.1)
        assert noisy_delta(without, grown, noise, eps) <= DELTA * (1 + 1e-6)


# -- the tests' own tools, and that no event is left out ------------------------------------------------------------


def test_hardly_any_noise_hides_nothing():
    assert central_replacement_epsilon(n=9, m=3, noise_multiplier=1e-200, rounds=1, delta=1e-5) == math.inf


def test_batch_is_within_the_data_set():
    with pytest.raises(ValueError, match="m must be at most n = 5"):
        central_replacement_epsilon(n=5, m=6, noise_multiplier=1.0, rounds=1, delta=1e-5)
