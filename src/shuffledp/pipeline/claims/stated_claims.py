"""Checkable claims of the papers: texts in ``claims.yaml`` of a paper, and functions that decide them.

To add a claim, add its text to ``claims.yaml``, with the name of a function in ``papers/<paper>/*_claims.py`` and the
options of this function (docs/architecture.md, "Figures, captions, claims"). Only the outcome that was expected before
any run is stated; measured values and verdicts are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from shuffledp.pipeline.claims.case import Verdict
from shuffledp.pipeline.claims.claim_jobs import content, functions
from shuffledp.pipeline.claims.general_rules import erratum
from shuffledp.pipeline.query import Outcome

Accounting = Literal["printed", "simplified", "corrected", "exact", "-"]
#: Reference of an error: the frequencies of the participants, or of the population from which they are drawn.
Target = Literal["participants", "population", "-"]
#: Function of a case and of the claim's options by name.
Rule = Callable[..., Verdict]
Words = Annotated[str, Field(min_length=1)]
#: Functions that decide claims of any paper.
_GENERAL: Mapping[str, Rule] = {"erratum": erratum}


class ClaimError(ValueError):
    """Error of a file of claims, or of a claim without a text or without a function."""


class Claim(BaseModel):
    """Claim of a paper, or ordering that follows from its claims.

    ``place`` is the place in the paper, ``statement`` the claim in the project's words, ``stated`` the value in the
    paper. ``expected`` is the outcome expected before any run, from reference calculations, or ``open``. The claim is
    decided under each of ``accountings`` and for each of ``targets`` of the error, which are ``-`` if it does not
    depend on them. ``figure`` is the drawing of the claim, or empty. ``errata`` has the errata and reading notes about
    the claim. ``headline`` is True for the paper's main claim. ``wrong`` explains an unexpected outcome: the error is
    in the text, in the measurement, or in neither. The function ``rule`` decides the claim, with ``options``. A text
    without a function either has the ids of the claims that it ``follows``, whose verdicts give its verdict, or is
    ``untestable`` for a reason.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    id: Words
    place: Words
    statement: Words
    stated: Words
    expected: Outcome | Literal["open"] = "holds"
    accountings: tuple[Accounting, ...] = ("-",)
    targets: tuple[Target, ...] = ("-",)
    figure: str = ""
    errata: str = ""
    headline: bool = False
    wrong: str = ""
    follows: tuple[str, ...] = ()
    untestable: str = ""
    rule: str = ""
    options: Mapping[str, Any] = {}
    paper: str = ""

    @property
    def kind(self) -> str:
        """``claim``, or ``ordering`` for an ordering that follows from claims."""
        return "ordering" if self.id.startswith("O-") else "claim"

    @property
    def decide(self) -> Rule:
        """Function that decides the claim."""
        return rules(self.paper)[self.rule]


def rules(paper: str) -> Mapping[str, Rule]:
    """Return the functions that decide claims of a paper, by name."""
    return {**_GENERAL, **functions(paper, "_claims", "Verdict")}


def claims(paper: str) -> tuple[Claim, ...]:
    """Return a paper's claims by number, followed by the orderings of its results.

    Raises ClaimError for a file that does not have the required form, and for a text or a function without the other.
    """
    where, entries = f"{paper}/claims.yaml", content(paper)["claims"]
    try:
        texts = TypeAdapter(list[Claim]).validate_python([{**entry, "paper": paper} for entry in entries])
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ClaimError(f"{where}: {place}: {first['msg']}, got {first['input']!r}.") from None
    decided = {text.id: text.rule for text in texts if not (text.follows or text.untestable)}
    if alone := sorted(set(decided.values()).union(_GENERAL) ^ set(rules(paper))):
        raise ClaimError(f"{where}: no function, or no claim, has the rule {', '.join(map(repr, alone))}.")
    if unknown := sorted({id for text in texts for id in text.follows} - set(decided)):
        raise ClaimError(f"{where}: an entry follows {', '.join(unknown)}, which no function decides.")
    return tuple(sorted(texts, key=attrgetter("kind", "id")))
