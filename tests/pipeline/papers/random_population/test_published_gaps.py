"""Comparisons with the published gaps, against known numbers."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from shuffledp.accounting import (
    polya_mean_absolute,
)
from shuffledp.pipeline.papers.random_population import multi_message_gaps, published_gaps
from shuffledp.populations import Poisson

dummy_gaps = published_gaps.dummy_gaps
variance_gaps = published_gaps.variance_gaps


def test_dummies_gain_nothing_with_exact_accounting():
    table = dummy_gaps().set_index(["population", "eps"])
    assert_allclose(table.loc[("Adult, rate 0.05", 0.001), "non-adaptive printed"], 0.125, atol=5e-4)
    assert_allclose(table.loc[("Adult, rate 0.05", 0.001), "non-adaptive corrected"], 0.028, atol=5e-4)
    large = table[[name not in {f"Poisson, mean {m}" for m in (100, 30, 12)} for name, _ in table.index]]
    assert large["non-adaptive exact"].abs().max() < 1e-9
    assert large["adaptive exact"].abs().max() < 1e-3
    assert table.loc[("Poisson, mean 12", 0.05), "adaptive exact"] > 0.05


def test_checkin_leaves_out_users():
    table = published_gaps.checkin_gaps()
    assert_allclose(table["all users least"], 1.58, atol=0.005)
    assert_allclose(table["all users most"], [1.71, 2.05, 2.40, 2.97, 4.24], atol=0.006)


def test_sampling_error_of_checkin_is_that_of_a_random_subset():
    rng = np.random.default_rng(20)
    ones, n, kept = 300, 900, 569
    drawn = rng.hypergeometric(ones, n - ones, kept, 200_000) / kept
    share = ones / n
    assert_allclose(drawn.var(), share * (1 - share) / kept * (n - kept) / (n - 1), rtol=0.02)


def test_expected_error_over_a_random_number_of_users():
    law = Poisson(1000.0)
    window = law.window(1e-13)
    n = window.support + 1.0
    direct = [2 * float(polya_mean_absolute(x / 840, 0.2)) / x for x in n]
    assert_allclose(multi_message_gaps._union_error(law, 840, 0.2), window.pmf @ direct, rtol=1e-8)


def test_variance_beyond_which_nothing_is_amplified():
    table = variance_gaps().set_index("variance")
    assert (table["printed, delta 1e-4"] == 0.5).all()
    assert_allclose(table.loc[0, "printed, delta 1e-3"], 0.0566, atol=5e-5)
    assert table.loc[8700, "printed, delta 1e-3"] < 0.5 == table.loc[20_000, "printed, delta 1e-3"]
    assert 0.02 < table.loc[8700, "exact, delta 1e-4"] <= 0.03
    assert 0.2 < table.loc[20_000, "exact, delta 1e-4"] <= 0.3


def test_printed_theorems_keep_their_promise():
    assert (published_gaps.safety_margins()["largest"] < 1e-3).all()
