import math

import pytest

from shuffledp.pipeline.claims.search_results import Found, largest, named_rng


def test_search_reports_maximum_and_violations():
    values = [(0.5, "a"), (1.5, "b"), (1.2, "c"), (1.5, "d"), (0.1, "e")]
    assert largest(values, 1.0) == Found(5, 1.5, "b", 3)
    assert largest(values, math.inf, floor=0.2) == Found(5, 1.5, "b", 1)
    assert largest(values, 2.0).beyond == 0


def test_search_needs_settings_and_numbers():
    with pytest.raises(ValueError, match="needs a setting"):
        largest([], 1.0)
    with pytest.raises(ValueError, match="at here is not a number"):
        largest([(1.0, "there"), (math.nan, "here")], 1.0)


def test_random_numbers_go_with_the_name():
    assert named_rng("a").random() == named_rng("a").random() != named_rng("b").random()
