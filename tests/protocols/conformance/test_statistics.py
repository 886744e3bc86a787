"""False-alarm rates of the comparisons, also for rare events, and their power."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from shuffledp.populations import Fixed
from shuffledp.protocols import conformance
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.conformance import running, statistics
from shuffledp.protocols.conformance.statistics import (
    SIGMAS,
    contradicted,
    laws_p_value,
    mean_and_error,
)
from shuffledp.protocols.frequency.local import Local
from shuffledp.protocols.messages import Cost, Messages
from shuffledp.tasks import Budget, Frequency


class Slow(Local):
    """Randomized response without a fast law, so that there are few repeats."""

    sample_aggregate = ProtocolBase.sample_aggregate


def test_right_formula_passes_every_seed(monkeypatch):
    case = conformance.Case(Budget(6.0, 1e-2), Fixed(0), Frequency(2), "exact", (0, 1))
    monkeypatch.setattr(running, "MESSAGE_REPEATS", 300)
    for seed in range(0, 40, 3):  # of all 40, nine were rejected
        monkeypatch.setattr(statistics, "SEED", seed)
        running.estimates.cache_clear()
        conformance.check_variance(Slow, [case])
    running.estimates.cache_clear()


@pytest.mark.parametrize("rate", [1e-4, 1e-3, 0.01, 0.3])
def test_no_right_variance_is_contradicted(rate):
    for seed in range(50):
        hits = np.random.default_rng([seed, 9]).random((600, 1)) < rate
        squares = (hits - rate) ** 2.0
        small, large = contradicted(squares, np.array([rate * (1 - rate)]), 1.0)
        assert not small[0]
        assert not large[0]


def test_wrong_variances_are_contradicted():
    errors = np.random.default_rng(5).standard_normal((10_000, 1))
    assert contradicted(errors**2, np.array([0.9]), 0.1)[0][0]
    assert contradicted(errors**2, np.array([1.2]), 0.1)[1][0]
    assert not np.any(contradicted(errors**2, np.array([1.0]), 0.1))


def test_few_draws_have_valid_errors():
    """With the plain error of 30 draws, one mean in 40,000 fails; with Student's law, one in two million."""
    sample = np.random.default_rng(7).standard_normal((30, 400_000))
    mean, error = mean_and_error(sample)
    plain = sample.std(axis=0, ddof=1) / np.sqrt(30)
    assert np.count_nonzero(np.abs(mean) > SIGMAS * plain) >= 5
    assert np.count_nonzero(np.abs(mean) > SIGMAS * error) <= 2


class MostlyThree(Local):
    """Two messages per user, and mostly a third message."""

    rate = 0.997
    stated = 2.997

    def encode(self, users, rng):
        return Messages(np.repeat(users.values, 2 + (rng.random(len(users)) < self.rate)))

    def cost(self):
        return Cost(messages_per_user=self.stated, bits_per_message=1)


def test_rarely_omitted_message_is_no_fault(monkeypatch):
    """If all users of a sample send three messages the error is 0, but a mean slightly below 3 is not rejected."""
    case = conformance.Case(Budget(1.0, 1e-2), Fixed(59), Frequency(2), "exact", (30, 30))
    for seed in (28, 110, 204, 368, *range(40)):
        monkeypatch.setattr(statistics, "SEED", seed)
        conformance.check_cost(MostlyThree, [case])
    monkeypatch.setattr(MostlyThree, "stated", 2.9)
    with pytest.raises(AssertionError, match="messages per user, sent and stated"):
        conformance.check_cost(MostlyThree, [case])


def test_least_p_value_of_columns_counts():
    first, second = np.random.default_rng(6).normal(size=(2, 700, 3))
    assert laws_p_value(first, second) > 1e-3
    second[:, 1] += 0.5
    assert laws_p_value(first, second) == ks_2samp(first[:, 1], second[:, 1], method="asymp").pvalue < 1e-9
