"""Rows of bits: the blanket by enumeration, equality with local hashing, and the best rates."""

import mpmath
import pytest

from shuffledp.protocols.frequency.unary_rows import row_rates


@pytest.mark.parametrize("form", ["best", "symmetric", "optimized"])
@pytest.mark.parametrize("bound", ["blanket", "clones"])
def test_single_row_keeps_tiny_budget(form, bound):
    """The two bits of a lone row lose ``p (1 - q) - e^eps q (1 - p)``; rates are rounded by about delta."""
    delta = 1e-15
    with mpmath.workdps(50):
        for eps in (0.0137, 0.29, 0.731, 1.77, 3.3, 5.9):
            rates = row_rates(1, 7, eps, delta, form=form, bound=bound)
            p, q = mpmath.mpf(rates.own_rate), mpmath.mpf(rates.other_rate)
            assert p * (1 - q) - mpmath.exp(mpmath.mpf(eps)) * q * (1 - p) <= delta
            assert rates.eps_local == pytest.approx(eps, rel=1e-9)
