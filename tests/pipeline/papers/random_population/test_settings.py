"""The error with the best number of dummies, against known numbers."""

import pytest

from shuffledp.pipeline.papers.random_population.settings import dummies_error
from shuffledp.populations import Binomial

ADULT = Binomial(48_841, 0.05)


def test_dummies_gain_nothing_with_exact_accounting():
    assert dummies_error(ADULT, 0.001, "printed", adaptive=False) == pytest.approx(0.875, abs=5e-4)
    assert dummies_error(ADULT, 0.001, "corrected", adaptive=False) == pytest.approx(0.972, abs=5e-4)
    assert dummies_error(ADULT, 0.001, "exact", adaptive=False) == pytest.approx(1, abs=1e-9)
    assert dummies_error(ADULT, 0.001, "exact", adaptive=True) == pytest.approx(1, abs=1e-3)
