"""Subset selection: what is sent, and the law of the counts."""

from __future__ import annotations

import numpy as np
import pytest

from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.protocols.conformance import Case, check_cost, check_one_law, check_unbiased, check_variance
from shuffledp.tasks import Budget, Frequency, Users


@pytest.mark.parametrize(("k", "size", "counts"), [(5, 2, (20, 0, 1, 9, 0)), (12, 7, (9, *[1] * 11))])
def test_subsets_of_several_values_conform(k, size, counts):
    """(12, 7) has too many subsets to be listed."""
    protocol = get("frequency", "subset_selection")
    options = (("size", size),)
    case = Case(Budget(2.0, 0.05), Fixed(sum(counts) - 1), Frequency(k), "exact", counts, options)
    checks = (check_cost, check_unbiased, check_variance, *((check_one_law,) if k == 5 else ()))
    for check in checks:
        check(protocol, [case])


def test_subsets_are_of_the_size_and_hold_the_value_as_often_as_they_should():
    found = get("frequency", "subset_selection").calibrate(
        Budget(1.0, 0.05), Fixed(1999), Frequency(9), accounting="exact", size=4
    )
    sent = found.encode(Users(np.full(2000, 3)), np.random.default_rng(2)).payload
    assert sent.shape == (2000, 4)
    assert np.all(np.diff(sent, axis=1) > 0)
    share = np.mean(np.any(sent == 3, axis=1))
    assert abs(share - found.report.own_rate) < 5 * 0.5 / np.sqrt(2000)
    with pytest.raises(ValueError, match=r"Values must lie in 0\.\.8"):
        found.encode(Users(np.array([9])), np.random.default_rng(1))
