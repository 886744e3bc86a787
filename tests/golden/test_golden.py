"""Every answer is as the golden table has it; `make golden` writes the table anew and lists what moved."""

import pytest

from golden.parts import PARTS
from golden.tables import differences, parts_in, read, summary

ADVICE = "If this is meant to be so: `make golden`, and its lines go into the changelog."


def test_every_part_has_a_file_and_every_file_is_a_part():
    assert parts_in() == set(PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_answers_are_as_before(part):
    found = list(differences(part, read(part), PARTS[part](), read(part, section="elsewhere")))
    told = [*map(str, found[:20]), *summary(found)]
    assert not found, "\n".join([f"{len(found)} quantities differ.", *told, ADVICE])
