"""E|X - Y| of negative binomial noise against direct summation."""

import numpy as np
import pytest

from shuffledp.accounting import polya_mean_absolute


def test_shape_one_is_geometric_law():
    for eps in (1e-3, 0.1, 2.0):
        assert float(polya_mean_absolute(1.0, eps)) == pytest.approx(1 / np.sinh(eps), rel=1e-10)


def test_small_shapes_tend_to_rare_one():
    """For small shapes, and for large eps, the noise tends to a rare 1."""
    for shape, eps in ((1e-12, 50.0), (0.5, 349.0), (0.5, 351.0)):
        assert float(polya_mean_absolute(shape, eps)) == pytest.approx(
            2 * shape * np.exp(-eps), rel=1e-9, abs=0
        )
    assert float(polya_mean_absolute(1e100, 1500.0)) == 0.0


@pytest.mark.parametrize("shape, eps, name", [(1e100, 1e-300, "eps"), (0.0, 1.0, "shape")])
def test_infinite_means_are_refused(shape, eps, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        polya_mean_absolute(shape, eps)
