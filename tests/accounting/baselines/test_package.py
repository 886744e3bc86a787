import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from shuffledp.accounting import Infeasible, hockey_stick
from shuffledp.accounting.baselines.private_coin import (
    private_coin_tuples,
)
from shuffledp.accounting.baselines.public_coin import (
    public_coin_rate,
    rows_delta,
)
from shuffledp.accounting.baselines.solh import solh_report
from shuffledp.accounting.baselines.truncation import truncation_miss_rate

N = 500_000
DELTA = 1e-6


# -- brute force -----------------------------------------------------------------------------------------------


def two_bins(n, rate):
    """Return the two joint laws of the two counts, flattened, from the full table."""
    noise = np.append(binom.pmf(np.arange(n + 1), n, rate), 0.0)
    one_more = np.roll(noise, 1)
    return np.outer(one_more, noise).ravel(), np.outer(noise, one_more).ravel()


def stick(p, q, eps):
    with np.errstate(divide="ignore"):
        return float(hockey_stick(np.log(p), np.log(q), eps))


@pytest.mark.parametrize("n, rate, rows", [(3, 0.5, 3), (5, 0.2, 2), (30, 0.4, 1)])
def test_rows_equal_the_full_table(n, rate, rows):
    p, q = two_bins(n, rate)
    law, other = p, q
    for _ in range(rows - 1):
        law, other = np.outer(law, p).ravel(), np.outer(other, q).ravel()
    for eps in (0.0, 0.2, 1.0, 2.5):
        want = stick(law, other, eps)
        assert want <= rows_delta(eps, n, rate, rows) * (1 + 1e-11)
        assert_allclose(rows_delta(eps, n, rate, rows), want, rtol=2e-4)


# -- profiles, ranges, refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask",
    [
        lambda: solh_report(N, 50, 1.01, DELTA, accounting="printed"),
        lambda: solh_report(N, 50, 0.5, 0.3, accounting="printed"),
        lambda: solh_report(60, 50, 1.0, DELTA, accounting="printed"),
        lambda: solh_report(N, 50, 1.0, DELTA, accounting="printed", cells=10_000),
        lambda: truncation_miss_rate(N, 2.01, DELTA, accounting="printed"),
        lambda: truncation_miss_rate(6_000, 1.0, DELTA, accounting="printed"),
        lambda: truncation_miss_rate(100, 0.05, DELTA, accounting="exact"),
        lambda: private_coin_tuples(N, 1.01, DELTA, accounting="printed"),
        lambda: private_coin_tuples(100, 1.0, DELTA, accounting="printed", entries=8),
        lambda: private_coin_tuples(N, 1e-9, DELTA, accounting="printed"),
        lambda: public_coin_rate(N, 10, 1.01, DELTA, accounting="printed"),
        lambda: public_coin_rate(N, 10, 0.6, DELTA, accounting="printed"),
        lambda: public_coin_rate(N, 10, 0.54, DELTA, accounting="printed", beyond_proof=True),
        lambda: public_coin_rate(100, 10, 0.05, DELTA, accounting="exact"),
    ],
)
def test_uncovered_requests_are_refused(ask):
    with pytest.raises(Infeasible) as refusal:
        ask()
    assert refusal.value.reason
