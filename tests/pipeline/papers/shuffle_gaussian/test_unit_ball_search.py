import math

import numpy as np
import pytest

from shuffledp.accounting.shuffle_gaussian.all_users import shuffle_gaussian_rdp
from shuffledp.pipeline.claims.search_results import LIMIT, largest
from shuffledp.pipeline.papers.shuffle_gaussian import unit_ball_search

SEARCH = (2, 2, (2, 8), (0.6, 3.0), 40, 20, "tests")


def test_triangle_corners_are_a_violation():
    """The corners have the ball's diameter as distance, but lie in no such ball: erratum SG-4."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(0.75)]])
    worse = unit_ball_search.ratio(2, corners[[0, 2]], corners[[1, 2]], 1.0)
    assert worse > 1.02
    assert worse == pytest.approx(
        unit_ball_search.common_place_ratio(2, corners[0] - corners[2], corners[1] - corners[2], 1.0)
    )
    assert largest([(worse, "corners")], LIMIT).beyond == 1


def test_pair_of_theorem_has_its_divergence():
    same, replaced = np.zeros((3, 1)), np.eye(3, 1)
    assert unit_ball_search.ratio(6, same, replaced, 1.5) == pytest.approx(1, rel=1e-6)


def test_too_small_bound_is_violated(monkeypatch):
    assert largest(unit_ball_search.few_users(*SEARCH), LIMIT).beyond == 0
    assert largest(unit_ball_search.many_users((50,), 2, "tests"), LIMIT).beyond == 0

    def smaller(*arguments):
        return 0.8 * shuffle_gaussian_rdp(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(unit_ball_search, "shuffle_gaussian_rdp", smaller)
    found = largest(unit_ball_search.few_users(*SEARCH), LIMIT)
    assert found.beyond > 0 and found.extreme > 1.1 and found.settings == 60


def test_too_large_grid_is_refused():
    with pytest.raises(ValueError, match="cells are too many"):
        unit_ball_search.shuffled_gaussian_rdp(8, np.zeros((4, 3)), np.eye(4, 3), 0.5)
