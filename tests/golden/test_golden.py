"""Every answer is as the golden table has it; `make golden` writes the table anew and lists what moved.

The table is for the locked versions of Python 3.11, with and without AVX-512. Other versions of Python come with other
versions of NumPy and SciPy: there, parts are left out in which these move a number beyond 12 digits.
"""

import sys

import pytest

from golden.parts import PARTS
from golden.tables import differences, parts_in, read, summary

ADVICE = "If this is meant to be so: `make golden`, and its lines go into the changelog."
LOCKED = sys.version_info[:2] == (3, 11)
SEARCHED = "noise that a search finds: its optimum is flat"
BY_VERSION = {
    "accounting/functions": "certified deltas are small differences of sums",
    "experiments/comparison": SEARCHED,
    "experiments/dump": "NumPy draws the stand-in for MovieLens, and its errors are small differences",
    "experiments/segmented": "a plan that a search finds: its optimum is flat",
    "experiments/shuffle_gaussian": "a discretized privacy loss",
    "experiments/summation": SEARCHED,
    "protocols/frequency.jump_counts": SEARCHED,
    "protocols/summation.coarse_correlated_sum": SEARCHED,
    "protocols/summation.correlated_sum": SEARCHED,
    "protocols/summation.real_sum": SEARCHED,
    "protocols/summation.sparse_sum": SEARCHED,
}
"""Parts that depend on the versions of NumPy and SciPy, and why."""


def test_every_file_is_a_part():
    assert parts_in() <= set(PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_answers_are_as_before(part):
    if part not in parts_in():
        pytest.fail(f"The golden table has no answers of {part}: `make golden ONLY={part}` writes them.")
    if not LOCKED and part in BY_VERSION:
        pytest.skip(f"other versions than the locked ones: {BY_VERSION[part]}")
    found = list(differences(part, read(part), PARTS[part](), read(part, section="elsewhere")))
    told = [*map(str, found[:20]), *summary(found)]
    assert not found, "\n".join([f"{len(found)} quantities differ.", *told, ADVICE])
