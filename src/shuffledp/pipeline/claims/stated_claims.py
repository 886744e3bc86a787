"""Checkable claims of the papers: texts in ``claims.yaml`` of a paper, and a function that decides each of them.

To add a claim, add its text to ``claims.yaml`` and decorate a function of ``papers/<paper>/*_claims.py`` with the
`catalogue` of the paper (docs/architecture.md, "Figures, captions, claims"). Only the outcome that was expected before
any run is stated; measured values and verdicts are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, resources
from operator import attrgetter
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from shuffledp.pipeline import yaml_files
from shuffledp.pipeline.claims.claim_jobs import modules
from shuffledp.pipeline.claims.outcomes import Verdict
from shuffledp.pipeline.claims.results_read import papers_with_claims
from shuffledp.pipeline.query import Outcome

Accounting = Literal["printed", "simplified", "corrected", "exact", "-"]
#: Reference of an error: the frequencies of the participants, or of the population from which they are drawn.
Target = Literal["participants", "population", "-"]
#: Function of a case and of the claim's options by name.
Rule = Callable[..., Verdict]
AnyRule = TypeVar("AnyRule", bound=Rule)
Words = Annotated[str, Field(min_length=1)]
_FOLDER = resources.files("shuffledp.pipeline.papers")


class ClaimError(ValueError):
    """Error of a file of claims, or of a claim without a text or without a function."""


class ClaimText(BaseModel):
    """Text of a claim of a paper, or of an ordering that follows from its claims.

    ``place`` is the place in the paper, ``statement`` the claim in the project's words, ``stated`` the value in the
    paper. ``expected`` is the outcome expected before any run, from reference calculations, or ``open``. The claim is
    decided under each of ``accountings`` and for each of ``targets`` of the error, which are ``-`` if it does not
    depend on them. ``figure`` is the drawing of the claim, or empty. ``errata`` has the errata and reading notes about
    the claim. ``headline`` is True for the paper's main claim. ``wrong`` explains an unexpected outcome: the error is
    in the text, in the measurement, or in neither. A text without a function either has the ids of the claims that it
    ``follows``, whose verdicts give its verdict, or is ``untestable`` for a reason.
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

    @property
    def kind(self) -> str:
        """``claim``, or ``ordering`` for an ordering that follows from claims."""
        return "ordering" if self.id.startswith("O-") else "claim"


class Claim(ClaimText):
    """A claim with the function that decides it, if there is one, and the parameters of this function."""

    paper: str
    rule: Rule | None = None
    options: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Catalogue:
    """Functions that decide the claims of a paper, with their options by id; as a decorator, it adds a function."""

    paper: str
    rules: dict[str, tuple[Rule, Mapping[str, Any]]] = field(default_factory=dict)

    def __call__(self, id: str, /, **options: Any) -> Callable[[AnyRule], AnyRule]:
        """Declare that the decorated function decides a claim with these options."""

        def declare(rule: AnyRule) -> AnyRule:
            self.rules[id] = rule, options
            return rule

        return declare


@cache
def catalogue(paper: str) -> Catalogue:
    """Return the catalogue in which a paper's modules declare the functions of their claims."""
    return Catalogue(paper)


def claims(paper: str) -> tuple[Claim, ...]:
    """Return a paper's claims by number, followed by the orderings of its results.

    Raises ClaimError for a file that does not have the required form, and for a text or a function without the other.
    """
    if paper not in (papers := papers_with_claims()):
        raise ClaimError(f"There are no claims of {paper!r}. Known: {', '.join(papers)}.")
    for module in modules(paper, "_claims"):
        import_module(module)
    texts, rules = claim_texts(paper), catalogue(paper).rules
    decided = {text.id for text in texts if not (text.follows or text.untestable)}
    if alone := sorted(decided ^ set(rules)):
        raise ClaimError(f"{paper}/claims.yaml: no function, or no text, has the id {', '.join(alone)}.")
    if unknown := sorted({id for text in texts for id in text.follows} - decided):
        raise ClaimError(
            f"{paper}/claims.yaml: an entry follows {', '.join(unknown)}, which no function decides."
        )
    all_claims = (Claim(**dict(text), paper=paper, **_decision(rules, text.id)) for text in texts)
    return tuple(sorted(all_claims, key=attrgetter("kind", "id")))


def _decision(rules: Mapping[str, tuple[Rule, Mapping[str, Any]]], id: str) -> dict[str, Any]:
    return dict(zip(("rule", "options"), rules.get(id, ()), strict=False))


def claim_texts(paper: str) -> list[ClaimText]:
    """Return the texts of a paper's claims; raise ClaimError with the place of a mistake."""
    where = f"{paper}/claims.yaml"
    try:
        content = yaml_files.parse((_FOLDER / paper / "claims.yaml").read_text(encoding="utf-8"), where)
        return TypeAdapter(list[ClaimText]).validate_python(content["claims"])
    except yaml_files.YamlError as error:
        raise ClaimError(str(error)) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ClaimError(f"{where}: {place}: {first['msg']}, got {first['input']!r}.") from None
