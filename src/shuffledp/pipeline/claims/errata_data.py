"""Errata and reading notes as data, read from ``errata.yaml`` of a paper and validated.

An *erratum* quotes words of the paper that are not right in their context. A *reading note* records an interpretation
and its consequence, without criticism. A reading note concerns a formula that the available text omits, a figure, a
supplement, or a statement that holds as printed. An erratum about released code quotes the code and names its version.
A withdrawn finding stays in the file, so that every id has a history (:mod:`shuffledp.pipeline.claims.review`).

To add an erratum or a note, add an entry to ``errata.yaml`` of the paper and a function that returns a `Witness` to its
``witnesses.py``. To add a paper, add both files.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from shuffledp.pipeline import yaml_files
from shuffledp.pipeline.claims.claim_jobs import PAPERS, functions
from shuffledp.pipeline.claims.witness import Witness, WitnessFunction

#: Consequence of the printed form for its users, by effect.
EFFECTS: Final = {
    "safe": "the guarantee holds, with more noise than needed or a needless restriction",
    "unsafe": "the claimed guarantee does not hold",
    "biased": "the mean of the estimate is wrong",
    "wrong_optimum": "the optimization returns a point that is not the optimum",
    "wrong_claim": "a statement about errors, messages, conditions or other work is not true",
    "cosmetic": "a slip in the text, a remark or a proof; the result in use is right",
}
_ON_ONE_LINE = AfterValidator(lambda text: " ".join(text.split()))
Line = Annotated[str, _ON_ONE_LINE]
_NUMBER = r"[1-9][0-9]*(\.[1-9][0-9]*)*"
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), _ON_ONE_LINE]
#: Quoted passage; a shorter passage would occur in almost any text.
Quote = Annotated[str, StringConstraints(strip_whitespace=True, min_length=20), _ON_ONE_LINE]
ErratumId = Annotated[str, Field(pattern=rf"^[A-Z]{{2,4}}-E?{_NUMBER}$")]
NoteId = Annotated[str, Field(pattern=rf"^[A-Z]{{2,4}}-N{_NUMBER}$")]
Side = Literal["above", "below"]
_entry = dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))


class ErratumError(Exception):
    """Error for an invalid errata file, or for a witness that does not demonstrate its erratum or reading note."""


@_entry
class Numbered:
    """Base class of entries with an id, for example ``RP-E1``."""

    id: str

    @property
    def number(self) -> tuple[int, ...]:
        """Number within the paper: (15,) for RP-E15, (6, 4, 1) for SEG-6.4.1."""
        return tuple(int(part) for part in self.id.rpartition("-")[2].lstrip("EN").split("."))


@_entry
class Entry(Numbered):
    """Erratum or reading note; its witness is a function in the paper's ``witnesses.py``."""

    place: Text
    witness: str
    compute: WitnessFunction

    @property
    def side(self) -> Side:
        """Position of the witness's first value relative to the second value, ``above`` or ``below``."""
        raise NotImplementedError

    def shown_by(self, witness: Witness) -> bool:
        """Return whether the witness's condition holds and its values are in the stated order."""
        values = (witness.correct, witness.printed)
        smaller, larger = values if self.side == "above" else values[::-1]
        return bool(witness.shows and larger > smaller)


@_entry
class Erratum(Entry):
    """Error in a paper or, if ``code`` has a repository and commit, in released code, which is then quoted.

    ``narrowed`` is the part of an earlier version of the entry that the paper's words do not support.
    """

    id: ErratumId
    quote: Annotated[tuple[Quote, ...], Field(min_length=1)]
    printed: Text
    corrected: Text
    effect: Literal["safe", "unsafe", "biased", "wrong_optimum", "wrong_claim", "cosmetic"]
    explanation: Text
    printed_is: Side
    narrowed: Line = ""
    code: Line = ""

    @property
    def side(self) -> Side:
        """``above`` if the printed value exceeds the correct value, otherwise ``below``."""
        return self.printed_is


@_entry
class ReadingNote(Entry):
    """Interpretation or reconstruction of a passage, without criticism; ``formerly`` is the replaced erratum."""

    id: NoteId
    read: Text
    used: Text
    why: Text
    consequence: Text
    read_is: Side
    formerly: ErratumId | Literal[""] = ""

    @property
    def side(self) -> Side:
        """``above`` if the text's form gives a larger value than the form used here, otherwise ``below``."""
        return self.read_is


@_entry
class Withdrawn(Numbered):
    """Erratum that was withdrawn, and the reason; no other entry gets its id."""

    id: ErratumId
    reason: Text


@_entry
class Findings:
    """All entries about one paper, each list ordered by number."""

    paper: str
    errata: list[Erratum]
    notes: list[ReadingNote] = Field(default_factory=list)
    withdrawn: list[Withdrawn] = Field(default_factory=list)


def papers() -> list[str]:
    """Return the papers that have errata, in alphabetical order."""
    return sorted(path.parent.name for path in PAPERS.glob("*/errata.yaml"))


def witnesses(paper: str) -> Mapping[str, WitnessFunction]:
    """Return the functions in ``*witnesses.py`` of a paper that return a `Witness`, by name."""
    return functions(paper, "witnesses", "Witness")


def findings(paper: str) -> Findings:
    """Return errata, reading notes and withdrawn errata of a paper."""
    if paper not in papers():
        raise ErratumError(f"No errata for a paper named {paper!r}. Known: {', '.join(papers())}.")
    return parse((PAPERS / paper / "errata.yaml").read_text(encoding="utf-8"), paper, witnesses(paper))


def errata(paper: str) -> list[Erratum]:
    """Return the errata of a paper, by number; raises the errors of :func:`findings`."""
    return findings(paper).errata


def reading_notes(paper: str) -> list[ReadingNote]:
    """Return the reading notes of a paper, by number; raises the errors of :func:`findings`."""
    return findings(paper).notes


def parse(text: str, paper: str, witnesses: Mapping[str, WitnessFunction]) -> Findings:
    """Return the entries of a YAML text, by number. Raise `ErratumError` for invalid entries or unused witnesses."""
    where = f"{paper}/errata.yaml"
    try:
        content = yaml_files.parse(text, f"{where}: not valid YAML")
        entries = [*content["errata"], *content.get("notes", ())]
        if strange := sorted({entry["witness"] for entry in entries} ^ set(witnesses)):
            raise ErratumError(f"{where}: no witness function, or no entry, is named {', '.join(strange)}.")
        for entry in entries:
            entry["compute"] = witnesses[entry["witness"]]
        result = TypeAdapter(Findings).validate_python(content)
    except yaml_files.YamlError as error:
        raise ErratumError(str(error)) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ErratumError(f"{where}: {place}: {first['msg']}, got {first['input']!r}.") from None
    for part in (result.errata, result.notes, result.withdrawn):
        part.sort(key=attrgetter("number"))
    return result
