"""Comparisons of multi-message protocols, against known numbers."""

from __future__ import annotations

import functools
import math

import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import (
    best_polya_shape,
    multi_expected_scale,
    population_lower_bound,
)
from shuffledp.pipeline.papers.random_population import multi_message_gaps, published_gaps
from shuffledp.populations import Binomial, Fixed

multi_gaps = functools.cache(multi_message_gaps.multi_gaps)


def test_multi_expected_against_multi_union():
    table = multi_gaps().set_index("population")
    assert (table["printed least"] > 3.4).all() and (table["printed most"] < 4.11).all()
    assert (table["exact least"] > 1.3).all() and (table["exact most"] < 3.05).all()
    assert (table["exact Polya"] < 1).all() and (table["exact Polya"] > 0.95).all()
    assert_allclose(
        table.loc[[f"Adult, rate {rate}" for rate in (0.01, 0.05, 0.2, 0.5)], "loses below"],
        [0.25, 0.14, 0.08, 0.06],
        atol=0.005,
    )
    assert_allclose(table[["union saves", "expected saves"]].mean(axis=1), 0.6, atol=0.08)


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.1, 0.2, 0.5])
def test_multi_union_on_the_unsafe_bound_keeps_its_delta(rate):
    law = Binomial(48841, rate)
    printed = population_lower_bound(law, 5e-6, form="printed")
    assert all(best_polya_shape(law, eps, 1e-5) > printed for eps in (0.001, 0.5))


@pytest.mark.parametrize("name", multi_message_gaps.MULTI_POPULATIONS)
def test_multi_exact_is_the_best(name):
    law = multi_message_gaps.MULTI_POPULATIONS[name]
    for eps in published_gaps.EPS:
        best = multi_message_gaps._union_error(law, best_polya_shape(law, eps, 1e-5), eps)
        assert best < multi_message_gaps._amplified_error(law, eps, "exact")
        assert best < multi_message_gaps._expected_error(law, eps, "exact")


def test_table_two():
    table = multi_message_gaps.table_two().set_index("law")
    verdicts = table["verdict"]
    assert list(verdicts.iloc[:6]) == ["unsafe"] * 4 + ["safe"] * 2
    assert list(verdicts.iloc[6:]) == ["safe"] * 4 + ["open", "right", "safe"]
    row = table.loc["Binomial(48841, 0.05)"]
    assert_allclose([row["printed bound"], row["corrected bound"]], [2270.4, 2198.9], atol=0.06)
    assert row["exact quantile"] == 2233
    row = table.loc["Poisson(1000)"]
    assert_allclose([row["printed bound"], row["corrected bound"]], [809.6, 844.8], atol=0.06)
    assert row["exact quantile"] == 864
    assert (table["corrected bound"].iloc[:10] <= table["exact quantile"].iloc[:10]).all()


def test_savings_of_the_multi_message_protocols_on_adult():
    """MULTI-UNION saves 76 to 90 % of the error of AMPLIFIED as printed, and MULTI-EXPECTED saves 9 to 62 %."""
    union, expected, simplified = [], [], []
    for rate in (0.01, 0.05, 0.1, 0.2, 0.5):
        law = Binomial(48841, rate)
        users = int(population_lower_bound(law, multi_message_gaps.DELTA / 2, form="printed"))
        for eps in published_gaps.EPS:
            error = multi_message_gaps._expected_error(law, eps, "printed")
            single = multi_message_gaps._amplified_error(law, eps, "printed")
            union.append(1 - multi_message_gaps._union_error(law, users, eps) / single)
            expected.append(1 - error / single)
            simplified.append(1 - error / multi_message_gaps._amplified_error(law, eps, "simplified"))
    assert_allclose([min(union), max(union)], [0.767, 0.899], atol=1e-3)
    assert_allclose([min(expected), max(expected)], [0.093, 0.622], atol=1e-3)
    assert_allclose([min(simplified), max(simplified)], [0.658, 0.769], atol=1e-3)


@pytest.mark.parametrize("name", multi_message_gaps.MULTI_POPULATIONS)
def test_the_expected_bound_beats_a_gaussian_union_bound_by_one_to_ten_percent(name):
    """The union baseline is Gaussian noise for Table II's printed n1 users, at the same delta."""
    law = multi_message_gaps.MULTI_POPULATIONS[name]
    precision = math.ceil(math.sqrt(law.mean + 1))
    users = int(population_lower_bound(law, multi_message_gaps.DELTA / 2, form="printed"))
    for eps in (0.001, 0.5):
        expected = multi_expected_scale(law, eps, multi_message_gaps.DELTA, precision, accounting="printed")
        union = multi_expected_scale(
            Fixed(users - 1), eps, multi_message_gaps.DELTA, precision, accounting="printed"
        )
        assert 0.005 < 1 - expected / union < 0.105
