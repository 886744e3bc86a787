import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shuffledp.accounting import ClonesProfile, CountPair, WorstOf, hockey_stick
from shuffledp.accounting.general.clones import OtherReports
from shuffledp.populations import Fixed

PAIR = CountPair(np.log([0.8, 0.2]), np.log([0.4, 0.6]))


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: hockey_stick([0.0, 0.0], [0.0, 0.0, 0.0], 0.0),
            r"\(2,\) but log_q has \(3,\)",
        ),
        (lambda: CountPair([0.0], [0.0, -1.0]), "must be"),
        (lambda: CountPair([0.0, 0.0], [-1.0, -1.0]), "log_p has a total mass of 2.0"),
        (lambda: CountPair([-1.0, -1.0], [0.1, -math.inf]), "log_q has a total mass"),
        (
            lambda: WorstOf((PAIR, replace(PAIR, neighbours="add_remove"))),
            "one kind of neighbours, got add_remove, replace_one",
        ),
        (lambda: WorstOf(()), "at least one"),
    ],
)
def test_invalid_laws_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_worst_of_is_the_pointwise_maximum():
    second = CountPair(np.log([0.6, 0.4]), np.log([0.5, 0.5]))
    worst = WorstOf((PAIR, second))
    eps = np.linspace(0, 1, 5)
    assert_allclose(worst.delta(eps), np.maximum(PAIR.delta(eps), second.delta(eps)), rtol=0)
    assert (worst.kind, worst.neighbours, worst.view) == ("exact", "replace_one", "analyzer")
    assert worst.source == "enumeration"


def test_worst_of_keeps_side_of_error():
    lower, upper = (replace(PAIR, kind=kind) for kind in ("lower", "upper"))
    assert WorstOf((PAIR, ClonesProfile(OtherReports(Fixed(3)), 1.0))).kind == "upper"
    assert WorstOf((PAIR, lower)).kind == "lower"
    assert WorstOf((lower, upper)).kind == "approximate"
