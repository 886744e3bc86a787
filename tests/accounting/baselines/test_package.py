import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom, nbinom

from shuffledp.accounting import Infeasible, hockey_stick
from shuffledp.accounting.baselines.correlated_counts import (
    CounterNoise,
    correlated_noise,
    counter_delta,
)
from shuffledp.accounting.baselines.private_coin import (
    default_entries,
    private_coin_mse,
    private_coin_tuples,
)
from shuffledp.accounting.baselines.public_coin import (
    _composed,
    public_coin_rate,
    public_coin_rows,
    rows_delta,
)
from shuffledp.accounting.baselines.solh import solh_mse, solh_report
from shuffledp.accounting.baselines.truncation import truncation_miss_rate, two_bins_delta
from shuffledp.accounting.general.matched_blanket import blanketed_delta, matched_delta
from shuffledp.protocols.frequency.correlated_noise import CorrelatedNoise
from shuffledp.protocols.frequency.private_coin import PrivateCoin
from shuffledp.protocols.frequency.public_coin import PublicCoin
from shuffledp.protocols.frequency.solh import Solh
from shuffledp.protocols.frequency.truncation import Truncation

N = 500_000
DELTA = 1e-6


def digits(number: float) -> float:
    """Three significant digits, as the tables print."""
    return float(f"{number:.3g}")


# Section 5.1: (n, k), then by eps SOLH MSE, untruncated MSE and messages, private-coin MSE and messages, correlated
# MSE and messages; None outside of the range.
TABLE = {
    (500_000, 50): (
        (0.2, 1.6e-07, 2.58e-07, 43.4, 5.91e-08, 1.48e4, 9.87e-10, 886),
        (0.4, 5.42e-08, 7.31e-08, 49.1, 1.42e-08, 3.54e3, 2.46e-10, 227),
        (0.6, 3.51e-08, 3.32e-08, 50.2, 6.13e-09, 1.53e3, 1.09e-10, 103),
        (0.8, 2.85e-08, 1.88e-08, 50.5, 3.39e-09, 847, 6.11e-11, 60.4),
        (1.0, 2.54e-08, 1.21e-08, 50.7, 2.14e-09, 534, 3.88e-11, 39.6),
    ),
    (500_000, 500): (
        (0.2, 1.43e-07, 2.58e-07, 425, 5.91e-08, 1.48e4, 9.87e-10, 8.85e3),
        (0.4, 3.65e-08, 7.31e-08, 482, 1.42e-08, 3.54e3, 2.46e-10, 2.26e3),
        (0.6, 1.73e-08, 3.32e-08, 493, 6.13e-09, 1.53e3, 1.09e-10, 1.02e3),
        (0.8, 1.06e-08, 1.88e-08, 496, 3.39e-09, 847, 6.11e-11, 595),
        (1.0, 7.49e-09, 1.21e-08, 498, 2.14e-09, 534, 3.88e-11, 387),
    ),
    (70_187, 900): (
        (0.2, 8.75e-06, None, None, 3e-06, 1.48e4, 5.01e-08, 1.13e5),
        (0.4, 1.84e-06, 2.81e-06, 657, 7.19e-07, 3.54e3, 1.25e-08, 2.89e4),
        (0.6, 8e-07, 1.51e-06, 793, 3.11e-07, 1.53e3, 5.54e-09, 1.31e4),
        (0.8, 4.48e-07, 8.99e-07, 840, 1.72e-07, 847, 3.1e-09, 7.62e3),
        (1.0, 2.89e-07, 5.9e-07, 862, 1.08e-07, 534, 1.97e-09, 4.95e3),
    ),
    (494_352, 2000): (
        (0.2, 1.45e-07, 2.63e-07, 1.69e3, 6.05e-08, 1.48e4, 1.01e-09, 3.58e4),
        (0.4, 3.58e-08, 7.48e-08, 1.92e3, 1.45e-08, 3.54e3, 2.52e-10, 9.13e3),
        (0.6, 1.61e-08, 3.4e-08, 1.97e3, 6.28e-09, 1.53e3, 1.12e-10, 4.14e3),
        (0.8, 9.29e-09, 1.93e-08, 1.98e3, 3.47e-09, 847, 6.25e-11, 2.4e3),
        (1.0, 6.12e-09, 1.24e-08, 1.99e3, 2.19e-09, 534, 3.97e-11, 1.56e3),
    ),
}
ROWS = [(n, k, *row) for (n, k), rows in TABLE.items() for row in rows]


@pytest.mark.parametrize("n, k, eps, solh, untruncated, ones, private, tuples, correlated, signs", ROWS)
def test_the_expected_values_of_the_specification(
    n, k, eps, solh, untruncated, ones, private, tuples, correlated, signs
):
    report = solh_report(n, k, eps, DELTA, accounting="printed")
    assert digits(solh_mse(n, k, report.cells, report.eps_local)) == solh
    if untruncated is None:
        with pytest.raises(Infeasible, match="users"):
            truncation_miss_rate(n, eps, DELTA, accounting="printed")
    else:
        miss = truncation_miss_rate(n, eps, DELTA, accounting="printed")
        assert digits(miss * (1 - miss) / n) == untruncated
        assert digits(1 + k * (1 - miss)) == ones
    rho = 36 / eps**2 * math.log(math.e / (eps * DELTA))
    assert private_coin_tuples(10**7, eps, DELTA, accounting="printed") == math.ceil(rho)
    assert digits(private_coin_mse(n, k, rho)) == private
    assert digits(1 + rho) == tuples
    noise = correlated_noise(eps, DELTA, accounting="printed")
    assert digits(noise.variance / n**2) == correlated
    assert digits(1 + k * noise.messages / n) == signs


# -- needed noise, section 6 -----------------------------------------------------------------------------------


def test_private_coin_needs_a_twelfth_of_the_printed_tuples():
    # rho n / 2^tau, with one uniform tuple per user and a match rate that is no power of two.
    assert matched_delta(1.0, N, 42.6 / N) > DELTA > matched_delta(1.0, N, 42.7 / N)
    entries = default_entries(N)
    rho = private_coin_tuples(N, 1.0, DELTA, accounting="exact")
    assert (
        matched_delta(1.0, rho * N, 2.0**-entries) <= DELTA < matched_delta(1.0, (rho - 1) * N, 2.0**-entries)
    )
    assert (rho - 1) * N / 2**entries < 42.7 < rho * N / 2**entries
    lemma = private_coin_tuples(N, 1.0, DELTA, accounting="printed", constant="lemma")
    assert lemma == math.ceil(36 * math.log(1 / DELTA)) == 498


def test_truncation_needs_about_43_missing_ones():
    miss = truncation_miss_rate(N, 1.0, DELTA, accounting="exact")
    assert abs(miss * N - 42.656) < 0.001
    assert digits(N * truncation_miss_rate(N, 1.0, DELTA, accounting="printed")) == 3040
    assert two_bins_delta(1.0, N, miss) <= DELTA < two_bins_delta(1.0, N, miss * (1 - 1e-9))


def test_public_coin_needs_about_359_marks_per_cell():
    rate = public_coin_rate(N, 10, 1.0, DELTA, accounting="exact")
    assert abs(rate * N - 359) < 1
    assert rows_delta(1.0, N, rate, 10) <= DELTA * (1 + 1e-12)
    assert public_coin_rows(50) == 10
    printed = public_coin_rate(N, 10, 1.0, DELTA, accounting="printed")
    assert round(printed * N) == 151_301
    assert digits(printed) == 0.303


@pytest.mark.parametrize(
    "share, corrected, conference, exact",
    [(0.01, 14_409, None, None), (0.1, 1562, 31, 5.8), (1 / 6, 1010, None, None), (0.5, 538, None, 2.1)],
)
def test_correlated_noise_on_ratings(share, corrected, conference, exact):
    n, k = 494_352, 2000
    messages = [
        1 + k * correlated_noise(1.0, DELTA, accounting="printed", share=share, constants=c).messages / n
        for c in ("corrected", "conference")
    ]
    assert round(messages[0]) == corrected
    if conference is not None:
        assert round(messages[1] / messages[0]) == conference
    if exact is not None:
        noise = correlated_noise(1.0, DELTA, accounting="exact", share=share)
        assert round(1 + k * noise.messages / n, 1) == exact
        assert counter_delta(0.5, noise) <= DELTA / 2
        assert (
            counter_delta(0.5, CounterNoise(noise.eps_geometric, noise.shape * (1 - 1e-6), noise.decay))
            > DELTA / 2
        )


def test_the_printed_correlated_noise_is_far_too_much():
    noise = correlated_noise(1.0, DELTA, accounting="printed")
    assert digits(noise.pairs) == 193_000
    assert 1e-102 < counter_delta(0.5, noise) < 1e-100
    assert noise.pairs > 300 * correlated_noise(1.0, DELTA, accounting="exact").pairs
    assert abs(correlated_noise(1.0, DELTA, accounting="exact").pairs - 594) < 2
    flat = CounterNoise(noise.eps_geometric, 14.8, -math.log(0.9756))
    assert_allclose(counter_delta(0.5, flat), DELTA / 2, rtol=0.1)  # the specification's r and p


def test_local_hashing_needs_a_blanket_of_less_than_43_reports_per_cell():
    for k in (50, 2000):
        report = solh_report(N, k, 1.0, DELTA, accounting="exact")
        blanket = (N - 1) / (math.exp(report.eps_local) + report.cells - 1)
        assert blanket < 43
        delta = blanketed_delta(1.0, N - 1, 1 / report.cells, report.eps_local)
        assert 0.999 * DELTA < delta <= DELTA * (1 + 1e-9)


@pytest.mark.parametrize("n, k, eps", [(500_000, 50, 1.0), (70_187, 900, 0.4), (300, 20, 2.0)])
def test_the_chosen_number_of_cells_has_nearly_the_least_error(n, k, eps):
    best = solh_report(n, k, eps, DELTA, accounting="exact")
    least = solh_mse(n, k, best.cells, best.eps_local)
    for factor in (0.5, 0.8, 0.9, 0.97, 1.03, 1.1, 1.25, 2.0):
        cells = max(2, round(best.cells * factor))
        other = solh_report(n, k, eps, DELTA, accounting="exact", cells=cells)
        assert least <= 1.001 * solh_mse(n, k, cells, other.eps_local)
    if eps <= 1:
        printed = solh_report(n, k, eps, DELTA, accounting="printed")
        assert least < solh_mse(n, k, printed.cells, printed.eps_local)


# -- brute force -----------------------------------------------------------------------------------------------


def two_bins(n, rate):
    """Both joint laws of the two counts, flat, by the full table."""
    noise = np.append(binom.pmf(np.arange(n + 1), n, rate), 0.0)
    one_more = np.roll(noise, 1)
    return np.outer(one_more, noise).ravel(), np.outer(noise, one_more).ravel()


def stick(p, q, eps):
    with np.errstate(divide="ignore"):
        return float(hockey_stick(np.log(p), np.log(q), eps))


@pytest.mark.parametrize("n, rate", [(1, 0.5), (4, 0.3), (40, 0.9), (60, 0.04)])
def test_two_bins_equal_the_full_table_in_both_directions(n, rate):
    p, q = two_bins(n, rate)
    for eps in (0.0, 0.2, math.log(2), 1.0, 3.0, 30.0):
        got = two_bins_delta(eps, n, rate)
        for law, other in ((p, q), (q, p)):
            assert_allclose(got, stick(law, other, eps), rtol=1e-9, atol=1e-15)
        assert_allclose(got, two_bins_delta(eps, n, 1 - rate), rtol=1e-9)


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


@pytest.mark.parametrize("eps, rate", [(1.0, 359 / N), (0.3, 4000 / N)])
def test_a_finer_grid_of_losses_changes_delta_by_less_than_a_ten_thousandth(eps, rate):
    coarse, fine = (_composed(eps, N, rate, 10, 1e-20, fineness) for fineness in (200, 600))
    assert fine < coarse < fine * (1 + 1e-4)
    # One row has an exact sum of its own.
    one = two_bins_delta(eps / 4, N, rate)
    assert one <= rows_delta(eps / 4, N, rate, 1) < one * (1 + 1e-3)


@pytest.mark.parametrize("shape, ratio", [(0.4, 0.6), (1.0, 0.5), (3.7, 0.8), (6.0, 0.3)])
@pytest.mark.parametrize("eps_one", [0.2, 0.9])
def test_a_counter_equals_the_full_table_in_both_directions(shape, ratio, eps_one):
    size = 330
    q = math.exp(-eps_one)
    z = np.arange(size)
    geometric, common = (1 - q) * q**z, nbinom.pmf(z, shape, 1 - ratio)
    table = np.zeros((size, size))
    for hidden in range(size):
        table[hidden:, hidden:] += common[hidden] * np.outer(
            geometric[: size - hidden], geometric[: size - hidden]
        )
    with_one = np.vstack((np.zeros((1, size)), table[:-1]))
    for eps in (eps_one, eps_one + 0.1, 1.3, 3.0):
        want = max(stick(table.ravel(), with_one.ravel(), eps), stick(with_one.ravel(), table.ravel(), eps))
        noise = CounterNoise(eps_one, shape, -math.log(ratio))
        assert_allclose(counter_delta(eps, noise), want, rtol=1e-8, atol=1e-13)


# -- profiles, ranges, refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "protocol, eps",
    [
        (Solh(1000, 20, 2.0, 5), (0.1, 0.5, 1.5)),
        (Truncation(1000, 20, 0.05), (0.1, 0.5, 1.5)),
        (PrivateCoin(1000, 20, 1, 4), (0.1, 0.5, 1.5)),
        (PublicCoin(1000, 20, 3, 0.3), (0.1, 0.5, 1.5)),
        (CorrelatedNoise(1000, 20, 0.3, 4.0, 0.05, together=False), (0.1, 0.7, 1.5)),
    ],
)
def test_profiles_fall_with_eps_and_keep_the_shape(protocol, eps):
    profile = protocol.profile_for(1000)
    delta = profile.delta(np.array([eps, eps]))
    assert delta.shape == (2, 3)
    assert np.all(np.diff(delta, axis=1) < 0)
    assert profile.neighbours == "replace_one"
    assert profile.delta(eps[0]).shape == ()


@pytest.mark.parametrize(
    "ask",
    [
        lambda: solh_report(N, 50, 1.01, DELTA, accounting="printed"),
        lambda: solh_report(N, 50, 0.5, 0.3, accounting="printed"),
        lambda: solh_report(60, 50, 1.0, DELTA, accounting="printed"),
        lambda: solh_report(N, 50, 1.0, DELTA, accounting="printed", cells=10_000),
        lambda: truncation_miss_rate(N, 2.01, DELTA, accounting="printed"),
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
def test_what_no_theorem_covers_is_refused_with_a_reason(ask):
    with pytest.raises(Infeasible) as refusal:
        ask()
    assert refusal.value.reason


def test_the_paper_leaves_the_proof_of_public_coin_between_eps_055_and_078():
    assert public_coin_rate(N, 10, 0.78, DELTA, accounting="printed") < 0.5
    with pytest.raises(Infeasible):
        public_coin_rate(N, 10, 0.77, DELTA, accounting="printed")
    assert 0.5 < public_coin_rate(N, 10, 0.77, DELTA, accounting="printed", beyond_proof=True) < 1
    assert public_coin_rate(N, 10, 0.551, DELTA, accounting="printed", beyond_proof=True) < 1


WRONG = list(
    itertools.chain.from_iterable(
        (
            lambda f=f: f(0.0, DELTA),
            lambda f=f: f(1.0, 1.0),
        )
        for f in (
            lambda e, d: solh_report(9, 3, e, d, accounting="exact"),
            lambda e, d: truncation_miss_rate(9, e, d, accounting="exact"),
            lambda e, d: private_coin_tuples(9, e, d, accounting="exact"),
            lambda e, d: public_coin_rate(9, 2, e, d, accounting="exact"),
            lambda e, d: correlated_noise(e, d, accounting="exact"),
        )
    )
)


@pytest.mark.parametrize(
    "ask",
    [
        *WRONG,
        lambda: solh_report(9, 3, 1.0, 0.1, accounting="loose"),
        lambda: solh_report(9, 3, 1.0, 0.1, accounting="exact", cells=1),
        lambda: truncation_miss_rate(9, 1.0, 0.1, accounting="loose"),
        lambda: private_coin_tuples(9, 1.0, 0.1, accounting="exact", entries=61),
        lambda: private_coin_tuples(9, 1.0, 0.1, accounting="printed", constant="loose"),
        lambda: correlated_noise(1.0, 0.1, accounting="printed", share=1.0),
        lambda: correlated_noise(1.0, 0.1, accounting="printed", constants="loose"),
        lambda: counter_delta(0.1, CounterNoise(0.2, 1.0, 0.1)),
        lambda: public_coin_rows(50, 1.0),
    ],
)
def test_arguments_outside_their_range_are_rejected(ask):
    with pytest.raises(ValueError, match="must be"):
        ask()
