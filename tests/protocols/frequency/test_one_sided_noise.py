"""One-sided negative binomial noise: sums over both counts, and the table of the specification."""

import pytest

from shuffledp.accounting.errors import Infeasible
from shuffledp.protocols import calibrations
from shuffledp.protocols.frequency.one_sided_noise import one_sided_noise


def test_too_wide_noise_is_refused():
    with pytest.raises(Infeasible, match="too wide"):
        one_sided_noise(1.0, 1e-6, shape=0.05)
    with pytest.raises(ValueError, match="shape"):
        calibrations.one_sided_noise(1.0, 1e-6, shape=0.0)
