"""Checkable claims of the papers as data: reading and validating ``stated/<paper>.yaml``.

To add a claim, add an entry to the paper's file and, if no rule of the paper decides it, a rule to ``rules/<paper>.py``
(docs/architecture.md, Claims). Nothing about its outcome stands in the file but what was expected beforehand: measured
values and verdicts are computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from shuffledp.pipeline import yaml_files
from shuffledp.pipeline.claims.outcomes import OUTCOMES, Outcome

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

NO_ACCOUNTING: Final = "-"
"""The accounting, or the target, of a claim that depends on none."""
ACCOUNTINGS: Final = ("printed", "simplified", "corrected", "exact")
TARGETS: Final = ("participants", "population")
"""What an error is measured from: the frequencies of those who take part, or of all from whom they are drawn."""
PAPERS: Final = ("random_population", "dump", "summation", "shuffle_gaussian", "segmented")
PREFIXES: Final = {
    "random_population": "RP",
    "shuffle_gaussian": "SG",
    "dump": "DU",
    "summation": "SU",
    "segmented": "SE",
}
ORDERING: Final = "O"
COUNTS: Final = {"RP": 48, "SG": 33, "DU": 44, "SU": 36, "SE": 37, ORDERING: 26}
"""How many claims and orderings there are: ids are numbered from 1."""
WRONG: Final = ("the catalogue", "the measurement", "neither")
"""Which side a difference from what was expected is the fault of."""

_TEXT = {"type": "string", "minLength": 1, "pattern": r"\S"}
_NAME = {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["paper", "claims"],
    "properties": {
        "paper": {"enum": list(PAPERS)},
        "claims": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id", "where", "says", "stated", "expected", "rule"],
                "properties": {
                    "id": {"type": "string", "pattern": "^([A-Z]{2}|O)-[0-9]{2}$"},
                    "where": _TEXT,
                    "says": _TEXT,
                    "stated": _TEXT,
                    "accounting": {
                        "type": "array",
                        "minItems": 1,
                        "uniqueItems": True,
                        "items": {"enum": list(ACCOUNTINGS)},
                    },
                    "targets": {
                        "type": "array",
                        "minItems": 1,
                        "uniqueItems": True,
                        "items": {"enum": list(TARGETS)},
                    },
                    "expected": {"enum": [*OUTCOMES, "open"]},
                    "figure": _NAME,
                    "errata": {"type": "array", "minItems": 1, "uniqueItems": True, "items": _TEXT},
                    "rule": _NAME,
                    "with": {"type": "object", "minProperties": 1, "propertyNames": _NAME},
                    "headline": {"const": True},
                    "difference": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["wrong", "why"],
                        "properties": {"wrong": {"enum": list(WRONG)}, "why": _TEXT},
                    },
                },
            },
        },
    },
}


class ClaimError(Exception):
    """A file of claims is not valid."""


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, or an ordering that follows from its claims.

    Attributes
    ----------
    id, paper : str
        Number of the claim, and key of the paper.
    where : str
        Place in the paper.
    says : str
        What it claims, in our words.
    stated : str
        The value that it states.
    expected : str
        Outcome that was expected before any run, by the reference calculations of the catalogue; ``open`` if none was.
    rule : str
        Name of the function of ``rules/<paper>.py`` that decides it.
    options : mapping
        Its parameters.
    accountings : tuple of str
        Those under which it is judged; `NO_ACCOUNTING` alone if it depends on none.
    targets : tuple of str
        Targets of the error; likewise.
    figure : str
        The drawing that it belongs to; may be empty.
    errata : tuple of str
        Errata and reading notes that bear on it.
    headline : bool
        Whether the paper claims this first of all.
    wrong, difference : str
        If the outcome is another than expected: which of the two is wrong, and why.
    """

    id: str
    paper: str
    where: str
    says: str
    stated: str
    expected: str
    rule: str
    options: Mapping[str, Any] = field(default_factory=dict)
    accountings: tuple[str, ...] = (NO_ACCOUNTING,)
    targets: tuple[str, ...] = (NO_ACCOUNTING,)
    figure: str = ""
    errata: tuple[str, ...] = ()
    headline: bool = False
    wrong: str = ""
    difference: str = ""

    @property
    def kind(self) -> str:
        """``claim``, or ``ordering`` for what lies between claims."""
        return "ordering" if self.id.startswith(f"{ORDERING}-") else "claim"


def known() -> tuple[str, ...]:
    """Keys of the papers that have a file of claims."""
    return tuple(paper for paper in PAPERS if _file(paper).is_file())


@cache
def claims(paper: str) -> tuple[Claim, ...]:
    """The claims of a paper, then the orderings that are about its results, in the order of the file.

    Raises
    ------
    ClaimError
        If there is no such file, or it is not valid.
    """
    path = _file(paper)
    if not path.is_file():
        raise ClaimError(f"There are no claims of {paper!r}. Known: {', '.join(known())}.")
    return parsed(path.read_text(encoding="utf-8"), paper)


def _file(paper: str) -> Traversable:
    return resources.files("shuffledp.pipeline.papers") / paper / "stated_claims.yaml"


def parsed(text: str, paper: str) -> tuple[Claim, ...]:
    """The claims of a text in YAML.

    Raises
    ------
    ClaimError
        If it does not have the agreed form, an id is unknown, belongs to another paper or is given twice, or there is
        not exactly one headline.
    """
    place = f"claims of {paper}"
    try:
        content = yaml_files.parse(text, f"{place}: not valid YAML")
    except yaml_files.YamlError as error:
        raise ClaimError(str(error)) from None
    problem = best_match(Draft202012Validator(_SCHEMA).iter_errors(content))
    if problem is not None:
        raise ClaimError(f"{place}: {'.'.join(map(str, problem.path)) or 'file'}: {problem.message}")
    if content["paper"] != paper:
        raise ClaimError(f"{place}: the file says it is about {content['paper']!r}.")
    found = tuple(_claim(paper, raw) for raw in content["claims"])
    ids = [claim.id for claim in found]
    if twice := sorted({one for one in ids if ids.count(one) > 1}):
        raise ClaimError(f"{place}: given twice: {', '.join(twice)}.")
    if wrong := [one for one in ids if one.partition("-")[0] not in (PREFIXES[paper], ORDERING)]:
        raise ClaimError(f"{place}: {', '.join(wrong)} belong to another paper.")
    if unknown := [one for one in ids if not 1 <= int(one[-2:]) <= COUNTS[one.partition("-")[0]]]:
        raise ClaimError(f"{place}: the catalogue has no {', '.join(unknown)}.")
    if (count := sum(claim.headline for claim in found)) != 1:
        raise ClaimError(f"{place}: {count} headline claims, expected one.")
    return found


def _claim(paper: str, raw: Mapping[str, Any]) -> Claim:
    difference = raw.get("difference", {})
    return Claim(
        id=raw["id"],
        paper=paper,
        where=raw["where"].strip(),
        says=raw["says"].strip(),
        stated=raw["stated"].strip(),
        expected=raw["expected"],
        rule=raw["rule"],
        options=raw.get("with", {}),
        accountings=tuple(raw.get("accounting", (NO_ACCOUNTING,))),
        targets=tuple(raw.get("targets", (NO_ACCOUNTING,))),
        figure=raw.get("figure", ""),
        errata=tuple(raw.get("errata", ())),
        headline=raw.get("headline", False),
        wrong=difference.get("wrong", ""),
        difference=difference.get("why", "").strip(),
    )


def outcome_expected(claim: Claim) -> Outcome | None:
    """The outcome that was expected, if one was."""
    return None if claim.expected == "open" else next(o for o in OUTCOMES if o == claim.expected)
