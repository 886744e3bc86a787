"""The comparison of answers with 50-digit sums: on a case by hand, and that it finds answers on the wrong side."""

import math
from dataclasses import replace

import mpmath
import pytest

from scripts_by_file import script
from shuffledp.accounting import amplification


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


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, []),
        ({"eps": 0.999}, ["too small"]),
        ({"eps": 1.001}, ["larger than needed"]),
        ({"eps_lower": 1.001}, ["lost by none"]),
        ({"eps_lower": 0.999}, ["smaller than needed"]),
    ],
)
def test_answers_on_the_wrong_side_are_found(tool, monkeypatch, changed, found):
    def answered(*args, **asked):
        answer = amplification(*args, **asked)
        return replace(answer, **{name: getattr(answer, name) * factor for name, factor in changed.items()})

    monkeypatch.setattr(tool, "amplification", answered)
    with mpmath.workdps(tool.DIGITS):
        texts = tool.checked(tool.CASES[2], 2.0, 7, 1e-4)
    assert len(texts) == len(found)
    assert all(part in text for part, text in zip(found, texts, strict=True))
