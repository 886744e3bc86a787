"""No number that a run computes is typed in a page's prose: digits are references, settings or generated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: Pages whose digits are facts about something else, with the test or tool that checks them.
OTHERS = {
    "data.md": "sizes and dates of published data sets; tests count what ships and what is prepared",
    "accountant.md": "commands with their settings, formulas and citations; what a command answers is not repeated",
    "architecture.md": "rules of the code, of which the limits of figures are a part",
    "glossary.md": "definitions",
    "installation.md": "versions and rough sizes of software",
    "numerics.md": "a table that `make numerical-errors` measures",
    "reference.md": "limits and exit codes of `shuffledp verify`; a test compares its table with the code",
    "benchmarks.md": "tables that `make benchmarks` and `make time-table` measure, and the settings of their rows",
}
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").glob("*.md") if p.name not in OTHERS)]

#: Patterns of generated text, code and addresses, which are no prose.
NO_PROSE = [
    r"^ *[0-9]+\. (?=\S)",  # of a list
    r"<!-- begin (?P<block>[a-z0-9_ ]+) -->.*?<!-- end (?P=block) -->",
    r"<!-- value [a-z0-9_ :]+ -->.*?<!-- end -->",
    r"<!-- measured (?P<measured>[a-z ]+) -->.*?<!-- measured (?P=measured) end -->",
    r"^```.*?^```",
    r"`[^`\n]*`",
    r"\]\([^)]*\)",
    r"https?://\S+",
]
#: Tables of settings: the sections, and the columns that may have digits. All other columns are checked.
SETTINGS = {
    "## Regenerated results": (0, 1, 2, 3),
    "## Open settings": (0, 1),
    "## Claims": (0, 1),  # figure and what the paper claims
}
_N = r"(?:10\^[0-9]|[0-9][0-9,.e/^-]*[0-9]|[0-9])"
_PLACE = "[0-9][0-9a-z.]*"
_SAID = rf"{_N}(?: %| \(| and| of| on|(?=\. |\.$))"
#: Digits that no run computes.
ALLOWED = [
    # references
    rf"\b(?:[Ff]igure|[Tt]able|[Tt]heorem|Lemma|[Pp]roposition|[Ss]ection)s? {_PLACE}(?:(?:,| and| to) {_PLACE})*",
    r"\b[Ee]quations? \([0-9]+\)",
    r"\b(?:RP|OQ|SUM|DUMP|SG|SEG)-[EN]?[0-9.]*[0-9]",
    r"arXiv:? ?[0-9]{4}\.[0-9]{5}|\bdoi:[0-9./A-Z]+|\b(?:ICML|TPDS) 20[0-9]{2}|et al\. 20[0-9]{2}",
    # settings, as "name = value", and sizes of what they are about
    rf"[\w*')`] = {_N}(?:(?:,| to| and) {_N})*(?! %| times| bits)",
    rf"\b{_N} (?:of {_N} )?(?:users|values|items|others|rounds|epochs)\b",
    # what the paper says
    rf"\b[Tt]he paper (?:says|reports|finds|has)\b[^.;|]{{0,60}}? {_SAID}(?:[^.;|]{{0,40}}? {_SAID})*",
    # names that have digits, and formulas
    r"\bx86-64\b|\b[A-Za-z_]+[0-9]+\b|\bMovieLens 20M\b|\b1970\b|\b1-sparse\b|\bPython 3\.1[0-9]( and 3\.1[0-9])?",
    r"\b[Uu]ser 1\b|\bN [-−] 1\b|\b2C\b|\b0\.\.Delta\b|\(0, 1\]|\bBinomial\([0-9]+, \w+\)|\bdelta/2",
    r"\b1/\(1 − 1/e\)|\b1 − 1/d\b|\b1/e(?:ps\*|\b)|\b1/mean",
]
#: Factors in words, which are results like factors in digits.
WORDS = (
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|twenty|hundred|thousand|twice)\b(?: to \w+)? times\b"
    r"|\b\w{3,}fold\b"
)


def without_settings(text: str) -> str:
    """Return a page without the columns of its tables of settings."""
    kept, columns = [], ()
    for line in text.splitlines():
        if line.startswith("## "):
            columns = SETTINGS.get(line, ())
        if columns and line.startswith("|"):
            line = "|".join(cell for i, cell in enumerate(line.strip("|").split("|")) if i not in columns)
        kept.append(line)
    return "\n".join(kept)


def typed(text: str) -> list[str]:
    """Return numbers in a page's prose that are not generated."""
    text = without_settings(text)
    for pattern in NO_PROSE:
        text = re.sub(pattern, " x ", text, flags=re.DOTALL | re.MULTILINE)
    prose = " ".join(text.split())
    for pattern in ALLOWED:
        prose = re.sub(pattern, " x ", prose)
    return re.findall(r"\S*[0-9]\S*", prose) + re.findall(WORDS, prose)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_number_is_typed(page):
    assert typed(page.read_text(encoding="utf-8")) == []


def test_every_page_is_read_or_excepted():
    assert all((ROOT / "docs" / name).exists() for name in OTHERS)
    assert len(PAGES) + len(OTHERS) == 1 + len(list((ROOT / "docs").glob("*.md")))


def test_a_generated_number_does_not_begin_a_line():
    """Such a number would begin a block of HTML and end the sentence."""
    for page in PAGES:
        assert (
            re.findall(r"^\s*(?:[*-] )?<!-- value .*$", page.read_text(encoding="utf-8"), re.MULTILINE) == []
        )
