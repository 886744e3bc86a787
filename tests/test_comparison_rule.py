"""The rule of thumb in tools/comparison_rule.py, in some of its settings."""

from __future__ import annotations

import math

import pytest

from scripts_by_file import script


@pytest.fixture(scope="module")
def rule():
    return script("tools/comparison_rule.py")


@pytest.mark.parametrize(
    ("users", "domain_size", "eps", "expected"),
    [
        (100_000, 2, 1.0, ["grr_blanket", "correlated_noise", "correlated_noise", "correlated_noise"]),
        (100_000, 500, 1.0, ["grr_blanket", "designated_coins", "correlated_noise", "correlated_noise"]),
    ],
)
def test_the_rule_picks_the_best(rule, users, domain_size, eps, expected):
    found = list(rule.checked(users, domain_size, eps))
    assert [one.messages for one in found] == [1, 2, 10, math.inf]
    assert [one.picked.protocol for one in found] == expected
    assert all(one.ratio <= rule.MOST for one in found)
    assert all(one.best.messages_per_user <= one.messages + rule.ROUNDING for one in found)
