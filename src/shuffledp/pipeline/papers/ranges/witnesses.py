"""Witness for a finding about the released code of reports by points."""

from __future__ import annotations

import math

from shuffledp.comparison.local_errors import local_report_error
from shuffledp.pipeline.claims.witness import Witness
from shuffledp.pipeline.formatters import number

#: Local budget, number of blocks and values of the released results, and a released error.
_EPS_LOCAL, _BLOCKS, _VALUES, _RELEASED = 5.0, 128, 22_000, 36.68


def whole_reports() -> Witness:
    """Return the witness of RA-E1: the weight of a report, and its integer part."""
    gained = math.expm1(_EPS_LOCAL)
    weight = (gained + 2 * _BLOCKS) / gained
    integer_share = math.floor(weight) / weight
    correct = local_report_error("recursive_hadamard", 1_000, _VALUES, _EPS_LOCAL)
    lone = integer_share**2 * correct
    return Witness(
        "mean estimate of the count of a value that one user holds, alone, eps_local 5, 22,000 values",
        integer_share,
        1.0,
        abs(lone / _RELEASED - 1) < 0.02,
        f"reports that meet no other have the squared error {number(lone, 4)} instead of {number(correct, 4)}; the "
        f"released error is {_RELEASED}",
    )
