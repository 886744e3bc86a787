"""Fair coins of a trusted shuffler: the table of the specification, sums over outcomes, and the closed form."""

import pytest

from shuffledp.protocols.frequency.sbin import sbin_dummies


@pytest.mark.parametrize("eps, delta, beta", [(4.0, 0.3, 0.1), (0.5, 0.1, 0.05), (2000.0, 1e-6, 1.0)])
def test_closed_form_holds_at_corners(eps, delta, beta):
    """The corners include zero coins, where the kept messages need no noise."""
    printed = sbin_dummies(10, 2, eps, delta, accounting="printed", beta=beta)
    assert printed.delta(eps) <= delta
    assert sbin_dummies(10, 2, eps, delta, beta=beta).coins <= printed.coins
