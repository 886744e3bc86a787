"""Randomizers by name."""

import pytest

from shuffledp.accountant.families import Family
from shuffledp.accounting import (
    SubsetSelection,
)


def test_default_subset_size_is_near_best():
    assert Family("subset", 100).make_randomizer(1.0) == SubsetSelection(1.0, 100, 27)
    assert Family("subset", 5).make_randomizer(9.0) == SubsetSelection(9.0, 5, 1)


@pytest.mark.parametrize(
    "args, message",
    [
        (("olh",), "randomizer must be one of any, grr, binary, laplace, subset, rappor; got 'olh'"),
        (("grr",), "grr needs a domain_size"),
        (("binary", 5), "binary has no domain_size, got 5"),
        (("grr", 5, 2), "grr has no subset_size, got 2"),
        (("grr", 1), "domain_size must be an integer"),
    ],
)
def test_mistakes_are_named(args, message):
    with pytest.raises(ValueError, match=message):
        Family(*args)
