"""The comparison with 50-digit sums is right for a case by hand, and finds results on the wrong side."""

import math

import mpmath
import pytest

from scripts_by_file import script


@pytest.fixture(scope="module")
def tool():
    return script("tools/accountant_check.py")


def test_divergence_of_a_lone_report_and_of_two(tool):
    binary = tool.CASES[1]
    e, factor = math.e, math.exp(0.5)
    with mpmath.workdps(tool.DIGITS):
        alone = tool.divergence(binary.lower(1.0)[0], 1, mpmath.mpf("0.5"))
        assert float(alone) == pytest.approx((e - factor) / (e + 1), rel=1e-14)
        # Two reports, the other user holding the first value: (1, 1) has the probability p^2 against p q.
        p, q = e / (e + 1), 1 / (e + 1)
        both = tool.divergence(binary.lower(1.0)[0], 2, mpmath.mpf("0.5"))
        mixed = p * q + q * p - factor * (q * q + p * p)
        assert float(both) == pytest.approx(p * p - factor * p * q + max(mixed, 0), rel=1e-14)
