import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import ClonesProfile, CountPair, WorstOf, hockey_stick
from shuffledp.accounting.general.clones import OtherReports
from shuffledp.populations import Fixed


def test_hockey_stick_refuses_different_shapes():
    with pytest.raises(ValueError, match=r"\(2,\) but log_q has \(3,\)"):
        hockey_stick([0.0, 0.0], [0.0, 0.0, 0.0], 0.0)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([0.0], [0.0, -1.0]), "must be"),
        (([-1.0], [-1.0], -0.1), "omitted must be >= 0"),
        (([0.0, 0.0], [-1.0, -1.0]), "log_p has a total mass of 2.0"),
        (([-1.0, -1.0], [0.1, -math.inf]), "log_q has a total mass"),
    ],
)
def test_count_pair_refuses_invalid_laws(arguments, message):
    with pytest.raises(ValueError, match=message):
        CountPair(*arguments)


def test_worst_of_is_the_pointwise_maximum():
    first = CountPair(np.log([0.8, 0.2]), np.log([0.4, 0.6]))
    second = CountPair(np.log([0.6, 0.4]), np.log([0.5, 0.5]))
    worst = WorstOf((first, second))
    eps = np.linspace(0, 1, 5)
    assert_allclose(worst.delta(eps), np.maximum(first.delta(eps), second.delta(eps)), rtol=0)
    assert (worst.kind, worst.neighbours, worst.view) == ("exact", "replace_one", "analyzer")
    assert worst.source == "enumeration"


def test_worst_of_keeps_side_of_error():
    def pair(kind):
        return CountPair(np.log([0.8, 0.2]), np.log([0.4, 0.6]), kind=kind)

    assert WorstOf((pair("exact"), ClonesProfile(OtherReports(Fixed(3)), 1.0))).kind == "upper"
    assert WorstOf((pair("exact"), pair("lower"))).kind == "lower"
    assert WorstOf((pair("lower"), pair("upper"))).kind == "approximate"


def test_worst_of_refuses_mixtures_and_nothing():
    pair = CountPair(np.log([0.8, 0.2]), np.log([0.4, 0.6]))
    other = CountPair(pair.log_p, pair.log_q, neighbours="add_remove")
    with pytest.raises(ValueError, match="one kind of neighbours, got add_remove, replace_one"):
        WorstOf((pair, other))
    with pytest.raises(ValueError, match="at least one"):
        WorstOf(())
