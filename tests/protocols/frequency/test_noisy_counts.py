"""Values with noise on every count, from a trusted shuffler or from the users."""

import numpy as np
import pytest
from scipy.stats import chisquare

from shuffledp.accounting import Infeasible
from shuffledp.populations import Fixed, Poisson
from shuffledp.protocols import get
from shuffledp.tasks import Budget, Frequency, Participants, Users

N, K = 70_187, 900


def calibrated(name, eps=1.0, delta=1e-6, n=N, k=K, **options):
    return get("frequency", name).calibrate(Budget(eps, delta), Fixed(n - 1), Frequency(k), **options)


def test_only_one_of_them_does_without_delta():
    protocol = calibrated("s1geo", delta=0.0)
    assert protocol.guarantee == "exact"
    assert protocol.privacy_profile().delta([0.999, 1.0])[1] == 0 < protocol.privacy_profile().delta(0.999)
    for name in ("sbin", "sageo"):
        with pytest.raises(Infeasible, match="delta > 0"):
            calibrated(name, delta=0.0)


def test_of_two_values_each_is_one_of_the_two_that_change():
    """The others' sampled messages then randomize both counts, and the exact delta of single counts is a bound."""
    assert calibrated("s1geo", k=2).guarantee == "upper"
    assert calibrated("s1geo", k=2).privacy_profile().kind == "upper"
    assert calibrated("sbin", n=100, k=3, beta=0.5).guarantee == "exact"
    assert calibrated("sbin", n=100, k=2, beta=0.5).guarantee == "upper"


def test_the_sampler_is_that_of_the_law_and_not_of_a_table_that_ends():
    """The false-alarm rate is one in a million; the seed is fixed."""
    protocol = calibrated("sageo", n=50, k=40_000, eps=1.5, delta=1e-3, beta=0.8)
    noise, rng = protocol.law, np.random.default_rng(3)
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
    assert np.allclose(variance, law.law.variance)


# -- dummies of the users ------------------------------------------------------------------------------------------


def test_the_search_says_where_it_finds_too_few():
    for n, label in ((5_000, "violated"), (10**5, "upper")):
        protocol = calibrated("balls_into_bins", 0.2, 1e-8, n, 3, accounting="printed", search=True)
        assert protocol.guarantee == label
        assert bool(protocol.guarantee_note) == (label == "violated")
        assert (protocol.privacy_profile().delta(0.2) > 1e-8) == (label == "violated")


def test_users_who_may_collude_are_replaced_by_others():
    alone, more = (calibrated("designated_coins", n=2_000, k=3, colluding=t) for t in (0, 10))
    assert more.designated == alone.designated + 10
    assert (alone.guarantee, more.guarantee) == ("exact", "upper")
    assert more.privacy_profile().delta(1.0) == alone.privacy_profile().delta(1.0)
    with pytest.raises(Infeasible, match="148 users have to be designated, there are 147"):
        calibrated("designated_coins", n=147, k=3)
    with pytest.raises(ValueError, match="colluding"):
        calibrated("designated_coins", n=2_000, k=3, colluding=-1)


def test_only_the_first_users_of_the_list_add_coins():
    protocol = calibrated("designated_coins", n=2_000, k=3)
    rng = np.random.default_rng(4)
    first, rest = (protocol.encode(Users(np.zeros(1_000, int), offset=at), rng) for at in (0, 1_000))
    assert len(rest) == 1_000 < len(first)
    assert len(protocol.encode(Users(np.zeros(10, int), offset=147), rng)) <= 13


def test_frequent_values_pay_for_the_silence():
    protocol = calibrated("silent_users", n=10_000, k=5_000)
    assert protocol.rate < 0.5
    held = np.zeros((1, 5_000), int)
    held[0, 0], held[0, 1] = 1_000, 9_000
    variance = protocol.expected_variance(Participants.from_counts(held))[0] * 10_000**2
    silence = (1 - protocol.rate) / protocol.rate
    assert variance[0] - variance[-1] == pytest.approx(1_000 * silence)
    assert variance[-1] == pytest.approx(protocol.dummy_mean / protocol.rate**2)
