"""Errata and reading notes as data: reading and validating ``errata.yaml`` of a paper.

An *erratum* quotes words that stand in the paper and are not right in their context. What rests on a formula that the
text at hand has lost, on a figure, on a supplement or on a statement that holds as it stands is a *reading note*: it
says what was read or reconstructed and what follows, and accuses nobody. An erratum about released code quotes that
code instead and names its version. A finding that was given up stays in the
file as *withdrawn*, so that the fate of every number ever used can be told (:mod:`shuffledp.pipeline.claims.review`).

To add an erratum or a note, add an entry to ``errata.yaml`` of the paper and a function that returns a `Witness` to
its ``witnesses.py``. To add a paper, add both files.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass, fields
from functools import cache
from importlib import import_module, resources
from inspect import isfunction
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from shuffledp.pipeline import yaml_files
from shuffledp.pipeline.claims.claim_jobs import modules
from shuffledp.pipeline.claims.witness import Witness, WitnessFunction

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

#: What happens to somebody who uses the printed form letter for letter.
EFFECTS: dict[str, str] = {
    "safe": "the guarantee holds, with more noise than needed or a needless restriction",
    "unsafe": "a guarantee is claimed that does not hold",
    "biased": "the estimate is wrong on average",
    "wrong_optimum": "the optimization returns a point that is not the optimum",
    "wrong_claim": "a statement about errors, messages, conditions or other work that is not true",
    "cosmetic": "a slip in the text, a remark or a proof; the result that is used is right",
}

_TEXT = {"type": "string", "minLength": 1, "pattern": r"\S"}
#: A shorter passage would be found in almost any text.
_QUOTE = {**_TEXT, "minLength": 20}
_NAME = {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"}
_NUMBER = r"[1-9][0-9]*(\.[1-9][0-9]*)*"
_ERRATUM_ID = {"type": "string", "pattern": rf"^[A-Z]{{2,4}}-E?{_NUMBER}$"}
_SIDE = {"enum": ["above", "below"]}


class ErratumError(Exception):
    """An errata file is not valid, or a witness does not show its erratum or reading note."""


def _number(key: str) -> tuple[int, ...]:
    return tuple(int(part) for part in key.rpartition("-")[2].lstrip("EN").split("."))


@dataclass(frozen=True)
class Numbered:
    """What has an id, for example ``RP-E1``."""

    id: str

    @property
    def number(self) -> tuple[int, ...]:
        """Number within the paper: (15,) for RP-E15, (6, 4, 1) for SEG-6.4.1."""
        return _number(self.id)


@dataclass(frozen=True)
class Entry(Numbered):
    """An erratum or a reading note."""

    place: str
    witness: str
    compute: WitnessFunction

    @property
    def side(self) -> str:
        """``above`` or ``below``: on which side of the second value of the witness the first one lies."""
        raise NotImplementedError

    def shown_by(self, witness: Witness) -> bool:
        """Whether a witness demonstrates this entry: its own condition holds, and the order of its values."""
        values = (witness.correct, witness.printed)
        smaller, larger = values if self.side == "above" else values[::-1]
        return bool(witness.shows and larger > smaller)


@dataclass(frozen=True)
class Erratum(Entry):
    """One error in a paper."""

    quote: tuple[str, ...]
    printed: str
    corrected: str
    effect: str
    explanation: str
    printed_is: str
    narrowed: str = ""
    code: str = ""

    @property
    def side(self) -> str:
        """On which side of the correct value the printed one lies."""
        return self.printed_is


@dataclass(frozen=True)
class ReadingNote(Entry):
    """Something that was read or reconstructed, with what follows from it. It says nothing against the paper."""

    read: str
    used: str
    why: str
    consequence: str
    read_is: str
    formerly: str = ""

    @property
    def side(self) -> str:
        """On which side of the value of the form used that of the form read lies."""
        return self.read_is


@dataclass(frozen=True)
class Withdrawn(Numbered):
    """An erratum that was given up: why the paper is right, or why nothing remains; its id is not used again."""

    reason: str


@dataclass(frozen=True)
class Findings:
    """All entries about one paper, each list by number."""

    errata: tuple[Erratum, ...]
    notes: tuple[ReadingNote, ...]
    withdrawn: tuple[Withdrawn, ...]


def _listed(kind: type[Numbered], **special: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a list of entries: the fields of the class, all of them texts but the special ones."""
    stated = [field for field in fields(kind) if field.name != "compute"]
    entry = {
        "type": "object",
        "additionalProperties": False,
        "required": [field.name for field in stated if field.default is MISSING],
        "properties": {field.name: special.get(field.name, _TEXT) for field in stated},
    }
    return {"type": "array", "items": entry}


_QUOTES = {"type": "array", "minItems": 1, "uniqueItems": True, "items": _QUOTE}
_EFFECT = {"enum": sorted(EFFECTS)}
_NOTE_ID = {"type": "string", "pattern": rf"^[A-Z]{{2,4}}-N{_NUMBER}$"}
_LISTS: dict[str, Any] = {
    "errata": {
        **_listed(Erratum, id=_ERRATUM_ID, quote=_QUOTES, effect=_EFFECT, witness=_NAME, printed_is=_SIDE),
        "minItems": 1,
    },
    "notes": _listed(ReadingNote, id=_NOTE_ID, formerly=_ERRATUM_ID, witness=_NAME, read_is=_SIDE),
    "withdrawn": _listed(Withdrawn, id=_ERRATUM_ID),
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["paper", "errata"],
    "properties": {"paper": _TEXT, **_LISTS},
}


def _folder() -> Traversable:
    return resources.files("shuffledp.pipeline.papers")


def papers() -> list[str]:
    """Return the papers that have errata, in alphabetical order."""
    return sorted(folder.name for folder in _folder().iterdir() if (folder / "errata.yaml").is_file())


@cache
def witnesses(paper: str) -> dict[str, WitnessFunction]:
    """Return the functions of the ``*witnesses.py`` of a paper that return a `Witness`, by name."""
    homes = [import_module(name) for name in modules(paper, "witnesses")]
    functions = [one for home in homes for one in vars(home).values() if isfunction(one)]
    return {one.__name__: one for one in functions if one.__annotations__.get("return") == "Witness"}


def findings(paper: str) -> Findings:
    """Return errata, reading notes and withdrawn errata of a paper."""
    if paper not in papers():
        raise ErratumError(f"No errata for a paper named {paper!r}. Known: {', '.join(papers())}.")
    return parse((_folder() / paper / "errata.yaml").read_text(encoding="utf-8"), paper, witnesses(paper))


def errata(paper: str) -> list[Erratum]:
    """Return the errata of a paper, by number; raises as :func:`findings` does."""
    return list(findings(paper).errata)


def reading_notes(paper: str) -> list[ReadingNote]:
    """Return the reading notes of a paper, by number; raises as :func:`findings` does."""
    return list(findings(paper).notes)


def parse(text: str, paper: str, witnesses: Mapping[str, WitnessFunction]) -> Findings:
    """Return the entries that a YAML text describes, by number."""
    where = f"{paper}/errata.yaml"
    try:
        content = yaml_files.parse(text, f"{where}: not valid YAML")
    except yaml_files.YamlError as error:
        raise ErratumError(str(error)) from None
    problem = best_match(Draft202012Validator(_SCHEMA).iter_errors(content))
    if problem is not None:
        raise ErratumError(f"{where}: {_place(problem.absolute_path, content)}{problem.message}.")
    if content["paper"] != paper:
        raise ErratumError(f"{where}: is about {content['paper']!r}, expected {paper!r}.")
    entries, notes, withdrawn = (content.get(part) or [] for part in _LISTS)
    _check_ids(where, entries, notes, withdrawn)
    _check_witnesses(where, [*entries, *notes], witnesses)
    for part in (entries, notes, withdrawn):
        part.sort(key=lambda entry: _number(entry["id"]))
    return Findings(
        tuple(Erratum(**_clean(e), compute=witnesses[e["witness"]]) for e in entries),
        tuple(ReadingNote(**_clean(e), compute=witnesses[e["witness"]]) for e in notes),
        tuple(Withdrawn(**_clean(e)) for e in withdrawn),
    )


def _check_ids(
    where: str, entries: list[dict[str, Any]], notes: list[dict[str, Any]], withdrawn: list[dict[str, Any]]
) -> None:
    """Every number has one fate: an id is used once, and a note replaces no erratum that was withdrawn."""
    _once(where, "id", [entry["id"] for entry in (*entries, *notes, *withdrawn)])
    former = [entry["formerly"] for entry in notes if "formerly" in entry]
    _once(where, "formerly", former)
    both = sorted(set(former) & {entry["id"] for entry in withdrawn})
    if both:
        raise ErratumError(f"{where}: withdrawn and replaced by a note: {', '.join(both)}.")
    for entry in entries:
        if entry["id"] in former and "narrowed" not in entry:
            raise ErratumError(
                f"{where}: {entry['id']}: a note has a part of it; say which under 'narrowed'."
            )
    ids = [*(entry["id"] for entry in (*entries, *notes, *withdrawn)), *former]
    prefixes = sorted({re.sub(r"[EN]?[0-9.]+$", "", key) for key in ids})
    if len(prefixes) > 1:
        raise ErratumError(f"{where}: the ids have several prefixes: {', '.join(prefixes)}.")


def _once(where: str, key: str, values: list[str]) -> None:
    twice = sorted({v for v in values if values.count(v) > 1})
    if twice:
        raise ErratumError(f"{where}: {key} used more than once: {', '.join(twice)}.")


def _check_witnesses(
    where: str, entries: list[dict[str, Any]], witnesses: Mapping[str, WitnessFunction]
) -> None:
    used = [entry["witness"] for entry in entries]
    _once(where, "witness", used)
    for entry in entries:
        if entry["witness"] not in witnesses:
            known = ", ".join(sorted(witnesses))
            raise ErratumError(
                f"{where}: {entry['id']}: no witness function {entry['witness']!r}. Known: {known}."
            )
    unused = sorted(set(witnesses) - set(used))
    if unused:
        raise ErratumError(f"{where}: no erratum or note uses the witness functions {', '.join(unused)}.")


def _clean(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Collapse the white space of all texts of an entry; lists become tuples."""
    return {
        key: " ".join(value.split()) if isinstance(value, str) else tuple(" ".join(v.split()) for v in value)
        for key, value in entry.items()
    }


def _place(path: Any, content: Any) -> str:
    """Name the entry that a validation error belongs to by its id, if it has one, and the key."""
    steps = list(path)
    if len(steps) < 2 or steps[0] not in _LISTS:
        return "".join(f"{step}: " for step in steps)
    entry = content[steps[0]][steps[1]]
    name = entry.get("id") if isinstance(entry, dict) else None
    steps[:2] = [str(name) if name else f"entry {steps[1] + 1}"]
    return "".join(f"{step}: " for step in steps)
