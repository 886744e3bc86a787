"""Errata and reading notes: the data are valid, and invalid data are rejected."""

import dataclasses
from importlib import resources

import pytest
import yaml

from shuffledp.pipeline.claims import errata_data

PAPER = "random_population"
TEXT = (resources.files("shuffledp.pipeline.papers") / PAPER / "errata.yaml").read_text()


def test_unknown_paper_is_named():
    with pytest.raises(errata_data.ErratumError, match=r"'random_populaton'.*Known: .*random_population"):
        errata_data.errata("random_populaton")


def _changed(part="errata", **change):
    """Return the file with a change in RP-E4 or RP-N6; None removes a key."""
    content = yaml.safe_load(TEXT)
    entry = next(e for e in content[part] if e["id"] in ("RP-E4", "RP-N6"))
    for key, value in change.items():
        if value is None:
            del entry[key]
        else:
            entry[key] = value
    return yaml.safe_dump(content)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"severity": "high"}, r"errata\.\d+\.severity: Unexpected keyword argument, got 'high'"),
        ({"place": " "}, r"errata\.\d+\.place: .*at least 1 character"),
        ({"quote": None}, r"errata\.\d+\.quote: Field required"),
        ({"quote": []}, r"errata\.\d+\.quote: .*at least 1 item"),
        ({"quote": ["too short"]}, r"errata\.\d+\.quote\.0: .*at least 20 characters, got 'too short'"),
        ({"effect": "harmless"}, r"errata\.\d+\.effect: Input should be 'safe', .*got 'harmless'"),
        ({"id": "E4"}, r"errata\.\d+\.id: .*got 'E4'"),
        ({"witness": "no_such_function"}, "no witness function, or no entry, is named .*no_such_function"),
        ({"printed_is": "equal"}, r"errata\.\d+\.printed_is: .*got 'equal'"),
        ({"explanation": 3}, r"errata\.\d+\.explanation: .*valid string, got 3"),
        ({"part": "notes", "effect": "unsafe"}, r"notes\.\d+\.effect: Unexpected"),
        ({"part": "notes", "why": None}, r"notes\.\d+\.why: Field required"),
        ({"part": "notes", "id": "RP-E6"}, r"notes\.\d+\.id: .*got 'RP-E6'"),
    ],
)
def test_invalid_entries_are_located(change, message):
    with pytest.raises(errata_data.ErratumError, match=message):
        errata_data.parse(_changed(**change), PAPER, errata_data.witnesses(PAPER))


@pytest.mark.parametrize(
    "text, message",
    [
        ("paper: [", "not valid YAML"),
        ("paper: random_population\nerrata: []\n", "no witness function, or no entry, is named "),
        (TEXT + "withdrawn: [{id: RP-E3}]\n", r"withdrawn\.0\.reason: Field required"),
        (
            TEXT.replace("    effect: safe\n", "    effect: safe\n    effect: unsafe\n", 1),
            "'effect' is given twice",
        ),
    ],
)
def test_invalid_files_are_refused(text, message):
    with pytest.raises(errata_data.ErratumError, match=message):
        errata_data.parse(text, PAPER, errata_data.witnesses(PAPER))


@pytest.mark.parametrize("paper", errata_data.papers())
def test_witnesses_show_their_entries(paper):
    for entry in (*errata_data.errata(paper), *errata_data.reading_notes(paper)):
        witness = entry.compute()
        assert entry.shown_by(witness), entry.id
        assert not entry.shown_by(
            dataclasses.replace(witness, printed=witness.correct, correct=witness.printed)
        ), entry.id
        assert not entry.shown_by(dataclasses.replace(witness, shows=False)), entry.id
