"""Errata as data: reading and validating ``errata/<paper>.yaml``.

To add an erratum, add an entry to the paper's YAML file and a function to ``witnesses/<paper>.py`` and its
``WITNESSES``. To add a paper, add both files.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from shuffledp import yamlfile
from shuffledp.claims.witness import Witness, WitnessFunction

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

#: What happens to somebody who uses the printed form letter for letter.
EFFECTS: dict[str, str] = {
    "safe": "the guarantee holds, with more noise than needed or a needless restriction",
    "unsafe": "a guarantee is claimed that does not hold",
    "biased": "the estimate is wrong on average",
    "wrong_optimum": "the optimisation returns a point that is not the optimum",
    "wrong_claim": "a statement about errors, messages, conditions or other work that is not true",
    "cosmetic": "a slip in the text, a remark or a proof; the result that is used is right",
}

_TEXT = {"type": "string", "minLength": 1, "pattern": r"\S"}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["paper", "errata"],
    "properties": {
        "paper": _TEXT,
        "errata": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": [
                    "id",
                    "place",
                    "printed",
                    "corrected",
                    "effect",
                    "explanation",
                    "witness",
                    "printed_is",
                ],
                "properties": {
                    "id": {"type": "string", "pattern": r"^[A-Z]{2,4}-E?[1-9][0-9]*(\.[1-9][0-9]*)*$"},
                    "place": _TEXT,
                    "printed": _TEXT,
                    "corrected": _TEXT,
                    "effect": {"enum": sorted(EFFECTS)},
                    "explanation": _TEXT,
                    "witness": {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"},
                    "printed_is": {"enum": ["above", "below"]},
                },
            },
        },
    },
}


class ErratumError(Exception):
    """An errata file is not valid, or a witness does not show its erratum."""


@dataclass(frozen=True)
class Erratum:
    """One error in a paper.

    Parameters
    ----------
    id : str
        For example ``RP-E1``.
    place : str
        Theorem, equation, figure or section of the paper.
    printed, corrected : str
        The form as printed and as it should be, as plain text.
    effect : str
        One of :data:`EFFECTS`.
    explanation : str
        A sentence or two.
    witness : str
        Name of the function that computes the witness, in ``witnesses/<paper>.py``.
    printed_is : {"above", "below"}
        On which side of the correct value the printed value of the witness lies.
    compute : callable
        That function.
    """

    id: str
    place: str
    printed: str
    corrected: str
    effect: str
    explanation: str
    witness: str
    printed_is: str
    compute: WitnessFunction

    @property
    def number(self) -> tuple[int, ...]:
        """Number within the paper: (15,) for RP-E15, (6, 4, 1) for SEG-6.4.1."""
        return tuple(int(part) for part in self.id.rpartition("-")[2].lstrip("E").split("."))

    def shown_by(self, witness: Witness) -> bool:
        """Whether a witness demonstrates this erratum: its own condition holds, and the order of its values."""
        larger, smaller = witness.printed, witness.correct
        if self.printed_is == "below":
            larger, smaller = smaller, larger
        return bool(witness.shows and larger > smaller)


def _folder() -> Traversable:
    return resources.files("shuffledp.claims") / "errata"


def papers() -> list[str]:
    """Return the papers that have errata, in alphabetical order."""
    return sorted(Path(f.name).stem for f in _folder().iterdir() if f.name.endswith(".yaml"))


def errata(paper: str) -> list[Erratum]:
    """Return the errata of a paper, by number.

    Parameters
    ----------
    paper : str
        A key, for example ``random_population``.

    Raises
    ------
    ErratumError
        If there is no such paper, or its file is not valid.
    """
    if paper not in papers():
        raise ErratumError(f"No errata for a paper named {paper!r}. Known: {', '.join(papers())}.")
    module = importlib.import_module(f"shuffledp.claims.witnesses.{paper}")
    return parse((_folder() / f"{paper}.yaml").read_text(encoding="utf-8"), paper, module.WITNESSES)


def parse(text: str, paper: str, witnesses: Mapping[str, WitnessFunction]) -> list[Erratum]:
    """Return the errata that a YAML text describes, by number.

    Parameters
    ----------
    text : str
        Content of the file.
    paper : str
        The paper it must be about.
    witnesses : mapping of str to callable
        Witness functions by name. Every one must belong to exactly one erratum.

    Raises
    ------
    ErratumError
        Naming the entry and what is wrong with it.
    """
    where = f"errata/{paper}.yaml"
    try:
        content = yamlfile.parse(text, f"{where}: not valid YAML")
    except yamlfile.YamlError as error:
        raise ErratumError(str(error)) from None
    problem = best_match(Draft202012Validator(_SCHEMA).iter_errors(content))
    if problem is not None:
        raise ErratumError(f"{where}: {_place(problem.absolute_path, content)}{problem.message}.")
    if content["paper"] != paper:
        raise ErratumError(f"{where}: is about {content['paper']!r}, expected {paper!r}.")
    entries: list[dict[str, str]] = content["errata"]
    for key in ("id", "witness"):
        values = [entry[key] for entry in entries]
        twice = sorted({v for v in values if values.count(v) > 1})
        if twice:
            raise ErratumError(f"{where}: {key} used more than once: {', '.join(twice)}.")
    prefixes = sorted({re.sub(r"[0-9.]+$", "", entry["id"]) for entry in entries})
    if len(prefixes) > 1:
        raise ErratumError(f"{where}: the ids have several prefixes: {', '.join(prefixes)}.")
    for entry in entries:
        if entry["witness"] not in witnesses:
            known = ", ".join(sorted(witnesses))
            raise ErratumError(
                f"{where}: {entry['id']}: no witness function {entry['witness']!r}. Known: {known}."
            )
    unused = sorted(set(witnesses) - {entry["witness"] for entry in entries})
    if unused:
        raise ErratumError(f"{where}: no erratum uses the witness functions {', '.join(unused)}.")
    found = [
        Erratum(**{k: " ".join(v.split()) for k, v in e.items()}, compute=witnesses[e["witness"]])
        for e in entries
    ]
    return sorted(found, key=lambda erratum: erratum.number)


def _place(path: Any, content: Any) -> str:
    """Name the entry that a validation error belongs to by its id, if it has one, and the key."""
    steps = list(path)
    if len(steps) < 2 or steps[0] != "errata":
        return "".join(f"{step}: " for step in steps)
    entry = content["errata"][steps[1]]
    name = entry.get("id") if isinstance(entry, dict) else None
    steps[:2] = [str(name) if name else f"entry {steps[1] + 1}"]
    return "".join(f"{step}: " for step in steps)
