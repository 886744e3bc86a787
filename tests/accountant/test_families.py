"""Randomizers by name."""

import pytest

from shuffledp.accountant.families import FAMILIES, Family
from shuffledp.accounting import (
    GRR,
    BinaryRandomizedResponse,
    LaplaceRandomizer,
    SubsetSelection,
    SymmetricRAPPOR,
)


def test_names_give_randomizers_with_the_local_budget_asked_for():
    assert Family("grr", 7).at(1.5) == GRR(1.5, 7)
    assert Family("binary").at(1.5) == BinaryRandomizedResponse(1.5)
    assert Family("laplace").at(1.5) == LaplaceRandomizer(1.5)
    assert Family("subset", 7, 2).at(1.5) == SubsetSelection(1.5, 7, 2)
    assert Family("rappor", 7).at(1.5) == SymmetricRAPPOR(0.75, 7)
    assert Family("any").at(1.5) is None
    for kind in FAMILIES:
        family = Family(kind, 7) if kind in ("grr", "subset", "rappor") else Family(kind)
        made = family.at(1.5)
        assert made is None or made.eps_local == 1.5


def test_subsets_have_about_the_best_size_if_none_is_given():
    assert Family("subset", 100).at(1.0) == SubsetSelection(1.0, 100, 27)
    assert Family("subset", 5).at(9.0) == SubsetSelection(9.0, 5, 1)


@pytest.mark.parametrize(
    ("args", "message"),
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
