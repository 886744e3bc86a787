"""One-sided negative binomial noise: sums over both counts, and the table of the specification."""

import pytest

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.count_pairs import settled_count_delta
from shuffledp.protocols import calibrations
from shuffledp.protocols.frequency.one_sided_noise import one_sided_noise


@pytest.mark.parametrize("eps", [0.2, 1.0, 8.0])
def test_no_other_shape_needs_fewer_dummies(eps):
    best = one_sided_noise(eps, 1e-6)
    assert settled_count_delta(best.count_at, eps) == pytest.approx(1e-6, rel=1e-8)
    for factor in (0.3, 0.8, 1.25, 3.0, 20.0):
        assert one_sided_noise(eps, 1e-6, shape=factor * best.shape).mean >= best.mean * (1 - 2e-3)


def test_noise_that_is_too_wide_is_refused():
    with pytest.raises(Infeasible, match="too wide"):
        one_sided_noise(1.0, 1e-6, shape=0.05)
    with pytest.raises(ValueError, match="shape"):
        calibrations.one_sided_noise(1.0, 1e-6, shape=0.0)
