"""Errata and reading notes: the data are valid, every witness shows its entry, and the values are the known ones."""

from __future__ import annotations

from importlib import resources

import pytest
import yaml

from shuffledp.pipeline.claims import errata_data

PAPER = "random_population"
TEXT = (resources.files("shuffledp.pipeline.papers") / PAPER / "errata.yaml").read_text()


def test_an_unknown_paper_is_named_with_the_known_ones():
    with pytest.raises(errata_data.ErratumError, match=r"'random_populaton'.*Known: .*random_population"):
        errata_data.errata("random_populaton")


def _changed(part: str = "errata", **change: object) -> str:
    """The file with RP-E4 or RP-N6 changed; None takes a key away."""
    content = yaml.safe_load(TEXT)
    entry = next(e for e in content[part] if e["id"] in ("RP-E4", "RP-N6"))
    for key, value in change.items():
        if value is None:
            del entry[key]
        else:
            entry[key] = value
    return yaml.safe_dump(content)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"severity": "high"}, "RP-E4: Additional properties.*severity"),
        ({"place": None}, "RP-E4: 'place' is a required property"),
        ({"place": " "}, "RP-E4: place: "),
        ({"quote": None}, "RP-E4: 'quote' is a required property"),
        ({"quote": []}, "RP-E4: quote: "),
        ({"quote": "a passage without a list"}, "RP-E4: quote: .*is not of type 'array'"),
        ({"quote": ["too short"]}, "RP-E4: quote: 0: 'too short' is too short"),
        ({"effect": "harmless"}, "RP-E4: effect: 'harmless'"),
        ({"id": "E4"}, "E4: id: 'E4'"),
        ({"id": "RP-E7"}, "id used more than once: RP-E7"),
        ({"id": "SG-E4"}, "several prefixes"),
        (
            {"witness": "no_such_function"},
            "RP-E4: no witness function 'no_such_function'. Known: .*stray_factor",
        ),
        ({"witness": "stray_factor"}, "witness used more than once: stray_factor"),
        ({"printed_is": "equal"}, "RP-E4: printed_is: 'equal'"),
        ({"explanation": 3}, "RP-E4: explanation: 3"),
        ({"part": "notes", "effect": "unsafe"}, "RP-N6: Additional properties.*effect"),
        ({"part": "notes", "printed": "as printed"}, "RP-N6: Additional properties.*printed"),
        ({"part": "notes", "why": None}, "RP-N6: 'why' is a required property"),
        ({"part": "notes", "id": "RP-E6"}, "RP-E6: id: 'RP-E6'"),
        ({"part": "notes", "formerly": "RP-E5"}, "formerly used more than once: RP-E5"),
        (
            {"part": "notes", "formerly": "RP-E7"},
            "RP-E7: a note has a part of it; say which under 'narrowed'",
        ),
        ({"part": "notes", "witness": "stray_factor"}, "witness used more than once: stray_factor"),
    ],
)
def test_invalid_entries_are_refused_with_their_place(change, message):
    with pytest.raises(errata_data.ErratumError, match=message):
        errata_data.parse(_changed(**change), PAPER, errata_data.witnesses(PAPER))


@pytest.mark.parametrize(
    ("withdrawn", "message"),
    [
        ([{"id": "RP-E3"}], "RP-E3: 'reason' is a required property"),
        ([{"id": "RP-E3", "reason": "It holds."}], "withdrawn and replaced by a note: RP-E3"),
        ([{"id": "RP-E4", "reason": "It holds."}], "id used more than once: RP-E4"),
    ],
)
def test_what_is_withdrawn_is_nothing_else(withdrawn, message):
    text = yaml.safe_dump({**yaml.safe_load(TEXT), "withdrawn": withdrawn})
    with pytest.raises(errata_data.ErratumError, match=message):
        errata_data.parse(text, PAPER, errata_data.witnesses(PAPER))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("paper: [", "not valid YAML"),
        ("[]", "random_population/errata.yaml: "),
        (TEXT.replace("paper: random_population", "paper: dump"), "is about 'dump'"),
        (
            TEXT.replace("    effect: safe\n", "    effect: safe\n    effect: unsafe\n", 1),
            "'effect' is given twice",
        ),
    ],
)
def test_invalid_files_are_refused(text, message):
    with pytest.raises(errata_data.ErratumError, match=message):
        errata_data.parse(text, PAPER, errata_data.witnesses(PAPER))
