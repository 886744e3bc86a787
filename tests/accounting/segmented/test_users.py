from numpy.testing import assert_allclose

from shuffledp.accounting.segmented.users import (
    user_level_blankets,
    user_level_delta,
    user_level_reporting_rate,
)

# -- whole users ----------------------------------------------------------------------------------------------


def test_overlapping_sets_differ_in_fewer_items():
    assert user_level_delta(0.3, 0.6, 50, 1.0, 10, 8) == user_level_delta(0.3, 0.6, 50, 1.0, 10, 2)
    assert user_level_delta(0.3, 0.6, 50, 1.0, 10, 10) == 0
    assert user_level_reporting_rate(50, 1.0, 10, 10, 0.3, 1e-6) == 1
    assert user_level_blankets(50, 10, 10, 0.3, 1e-6) == 0


def test_user_level_delta_without_blankets():
    assert_allclose(user_level_delta(0.3, 0.2, 5, 0.0, 10, 3), 1 - 0.8**3)
    assert user_level_delta(0.3, 1.0, 5, 0.0, 10, 3) == 1
    assert_allclose(user_level_reporting_rate(5, 0.0, 10, 3, 0.3, 1e-4), 1 - (1 - 1e-4) ** (1 / 3))
