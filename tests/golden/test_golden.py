"""All results agree with the golden table; `make golden` writes it anew and lists the differences.

The table is for the locked versions on Python 3.11, on any processor. Other versions of Python have other versions of
NumPy and SciPy; there the parts in `SENSITIVE` are skipped.
"""

import sys

import pytest

from golden.parts import PARTS
from golden.tables import SENSITIVE, differences, parts_in, read
from shuffledp.pipeline.reference.comparator import report

ADVICE = "If this is meant to be so: `make golden`, and its lines go into the changelog."
LOCKED = sys.version_info[:2] == (3, 11)


def test_every_file_is_a_part():
    assert parts_in() <= set(PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_answers_are_as_before(part):
    if part not in parts_in():
        pytest.fail(f"The golden table has no answers of {part}: `make golden ONLY={part}` writes them.")
    if not LOCKED and part in SENSITIVE:
        pytest.skip(f"other versions than the locked ones: {SENSITIVE[part][1]}")
    found = differences(part, read(part), PARTS[part](), read(part, section="elsewhere"))
    assert not list(report(found)), "\n".join([*report(found), ADVICE])
