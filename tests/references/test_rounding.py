"""Interval arithmetic bounds the rounding errors of the sums that most references consist of."""

import math
from contextlib import nullcontext
from types import SimpleNamespace

import mpmath
import pytest

from references import laws
from references.test_errors import DIGITS

RATES = (0.3, 0.7)
LAWS = {
    "binomial": lambda p: laws.binomial(300, p),
    "poisson": lambda p: laws.poisson(40 * p),
    "negative binomial": lambda p: laws.negative_binomial(5, p),
}
SUMS = {
    **{
        name: lambda p, q, law=law: laws.hockey_stick(laws.moved(law(p), q), law(p), 0.2)
        for name, law in LAWS.items()
    },
    "labels": lambda p, q: laws.labels(q, (1 - q) / 2, laws.binomial(300, p), 0.2),
}


def intervals():
    """Return mpmath's functions for intervals, with the names that the laws use."""
    iv = mpmath.iv
    return SimpleNamespace(
        **{name: getattr(iv, name) for name in ("mpf", "exp", "log", "log1p", "loggamma", "inf")},
        fsum=lambda terms: sum(terms, iv.mpf(0)),
        floor=lambda x: mpmath.floor(x.mid if hasattr(x, "mid") else x),
        binomial=math.comb,
        workdps=lambda digits: nullcontext(),
    )


@pytest.mark.parametrize("name", SUMS)
def test_sums_have_fifty_digits(name, monkeypatch):
    with mpmath.workdps(DIGITS):
        found = SUMS[name](*map(mpmath.mpf, RATES))
    monkeypatch.setattr(mpmath.iv, "dps", laws.FairTails.DIGITS)
    monkeypatch.setattr(laws, "mpmath", intervals())
    true = SUMS[name](*map(mpmath.iv.mpf, RATES))
    with mpmath.workdps(laws.FairTails.DIGITS):
        assert true.delta < true.mid * mpmath.mpf(10) ** -60
        assert abs(found - true.mid) < true.mid * mpmath.mpf(10) ** -60
