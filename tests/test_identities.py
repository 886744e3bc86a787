"""Identities: one per protocol of the library, told apart in every picture, in agreement with the classes."""

import re
from itertools import combinations

import numpy as np
import pytest

from color_vision import DEUTERANOPIA, PROTANOPIA, TRITANOPIA, contrast, seen
from shuffledp.guarantees import is_derived
from shuffledp.identities import colors, identities, identity_of, names_of
from shuffledp.protocols.registry import built_ins, get, label_of, name_of
from shuffledp.tasks import TASK_KINDS

PROTOCOLS = [(kind, name) for kind in TASK_KINDS for name in built_ins(kind)]
LINES = {"shuffler": "solid", "shuffler_adds": "dashdot"}
YEAR = re.compile(r"\b((?:19|20)\d\d)\b(?!\.\d)|arXiv (\d\d)\d\d\.\d{4,5}")


@pytest.mark.parametrize("kind, name", PROTOCOLS)
def test_identity_agrees_with_its_class(kind, name):
    identity, protocol = identity_of(kind, name), get(kind, name)
    assert identity is not None, f"Write the identity of {name} into src/shuffledp/identities.toml."
    line = LINES.get(protocol.trust, "dotted")
    assert identity.line == line, (
        f"Write the line {line} into the look of {name}: its trust is {protocol.trust}."
    )
    assert (identity.year is None) == is_derived(protocol.source)
    if identity.year is not None:
        year = YEAR.search(protocol.source)
        assert identity.year == int(year[1] or f"20{year[2]}"), protocol.source
    assert len(identity.sentence.split()) <= 22 and identity.sentence.endswith(".")
    assert "," not in identity.label, f"The label of {name} has a comma: {identity.label}."
    assert label_of(protocol) == identity.label


def test_every_identity_belongs_to_a_protocol():
    known = {name for _, name in PROTOCOLS} | {f"{kind}.{name}" for kind, name in PROTOCOLS}
    assert set(identities()) <= known


@pytest.mark.parametrize("kind", TASK_KINDS)
def test_protocols_of_task_look_different(kind):
    """They have different names, too."""
    looks = [(i.color, i.marker) for name in built_ins(kind) if (i := identity_of(kind, name))]
    assert len(set(looks)) == len(looks)
    names = [one for name in built_ins(kind) for one in {text.casefold() for text in names_of(kind, name)}]
    assert len(set(names)) == len(names)


def test_colors_are_dark_and_distinguishable():
    assert min(contrast(color) for color in colors().values()) >= 3
    for eyes in (np.eye(3).tolist(), PROTANOPIA, DEUTERANOPIA, TRITANOPIA):
        for one, other in combinations(colors().values(), 2):
            assert np.linalg.norm(seen(one, eyes) - seen(other, eyes)) >= 13, (one, other)


@pytest.mark.parametrize("text", ["pureDUMP", "puredump", "pure-dump", "pure_dump"])
def test_protocol_is_found_by_its_names(text):
    assert name_of("frequency", text) == "pure_dump"
    assert get("frequency", text) is get("frequency", "pure_dump")


def test_unknown_name_stays_the_same():
    assert name_of("frequency", "no such") == "no such"
