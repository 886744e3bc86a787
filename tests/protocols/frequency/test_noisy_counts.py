"""Values with noise on every count: the trusted shuffler's dummies."""

import numpy as np
import pytest
from scipy.stats import chisquare

from shuffledp.accounting import Infeasible
from shuffledp.populations import Fixed, Poisson
from shuffledp.protocols import get
from shuffledp.tasks import Budget, Frequency, Participants

N, K = 70_187, 900
COUNTS = np.full(K, N // K) + (np.arange(K) < N % K)


def calibrated(name, eps=1.0, delta=1e-6, n=N, k=K, **options):
    return get("frequency", name).calibrate(Budget(eps, delta), Fixed(n - 1), Frequency(k), **options)


@pytest.mark.parametrize(
    ("name", "accounting", "error", "forwarded"),
    [
        ("sbin", "printed", "2.6034e-08", "4.2891"),
        ("sbin", "exact", "7.5108e-09", "1.9489"),
        ("sageo", "printed", "1.5905e-09", "1.3462"),
        ("sageo", "exact", "1.5903e-09", "1.3206"),
        ("s1geo", "exact", "2.5681e-08", "0.40125"),
    ],
)
def test_the_shufflers_errors_and_messages_are_those_of_the_specification(name, accounting, error, forwarded):
    protocol = calibrated(name, accounting=accounting)
    assert f"{protocol.expected_mse(COUNTS):.5g}" == error
    assert f"{protocol.parameters()['forwarded_per_user']:.5g}" == forwarded
    cost = protocol.cost()
    assert (cost.messages_per_user, cost.bits_per_message) == (1, 10)
    assert cost.shuffler_messages == pytest.approx(K * protocol.noise_per_value)


def test_only_one_of_them_does_without_delta():
    protocol = calibrated("s1geo", delta=0.0)
    assert protocol.guarantee == "exact"
    assert protocol.privacy_profile().delta([0.999, 1.0])[1] == 0 < protocol.privacy_profile().delta(0.999)
    for name in ("sbin", "sageo"):
        with pytest.raises(Infeasible, match="delta > 0"):
            calibrated(name, delta=0.0)


def test_of_two_values_each_is_one_of_the_two_that_change():
    """Then the others' sampled messages are noise on both, and the exact delta of lone counts is a bound."""
    assert calibrated("s1geo", k=2).guarantee == "upper"
    assert calibrated("s1geo", k=2).privacy_profile().kind == "upper"
    assert calibrated("sbin", n=100, k=3, beta=0.5).guarantee == "exact"
    assert calibrated("sbin", n=100, k=2, beta=0.5).guarantee == "upper"


def test_the_sampler_is_that_of_the_law_and_not_of_a_table_that_ends():
    """Wrong once in a million by chance; the seed is fixed."""
    protocol = calibrated("sageo", n=50, k=40_000, eps=1.5, delta=1e-3, beta=0.8)
    noise, rng = protocol.noise, np.random.default_rng(3)
    drawn = protocol.draw_noise(np.array([50, 50]), rng).ravel()
    z = np.arange(drawn.max() + 1)
    law = np.where(z < noise.turn, noise.left ** np.maximum(noise.turn - z, 0), 1.0)
    law = law * noise.right ** np.maximum(z - noise.turn, 0) * noise.right_mass * (1 - noise.right)
    seen, few = np.bincount(drawn), law * drawn.size < 10
    seen = np.append(seen[~few], seen[few].sum())
    expected = np.append(law[~few], 1 - law[~few].sum()) * drawn.size
    assert chisquare(seen, expected * seen.sum() / expected.sum()).pvalue > 1e-6
    assert law.sum() == pytest.approx(1, abs=1e-4)


def test_the_shuffler_does_not_mind_how_many_take_part():
    fixed, law = (
        get("frequency", "sageo").calibrate(Budget(1.0, 1e-6), population, Frequency(5))
        for population in (Fixed(2000), Poisson(2000.0))
    )
    assert fixed == law
    counts = np.array([[3, 0, 1, 0, 0], [900, 800, 300, 1, 0]])
    who = Participants.from_counts(counts)
    variance = law.expected_variance(who) * who.public.n_users[:, None] ** 2
    assert np.allclose(variance, law.noise.variance)
