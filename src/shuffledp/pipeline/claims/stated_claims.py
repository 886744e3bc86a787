"""Checkable claims of the papers: each is declared at the function that decides it.

To add a claim, decorate a function of ``papers/<paper>/*_claims.py`` with the `catalogue` of the paper
(docs/architecture.md, "Figures, captions, claims"). Only the outcome that was expected before any run is declared;
measured values and verdicts are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any, Final, Literal, TypeVar

from shuffledp.pipeline.claims.claim_jobs import modules
from shuffledp.pipeline.claims.outcomes import Outcome, Verdict

Accounting = Literal["printed", "simplified", "corrected", "exact", "-"]
Target = Literal["participants", "population", "-"]
"""Reference of an error: the frequencies of the participants, or of the population from which they are drawn."""
Rule = Callable[..., Verdict]
"""Called with a case, and with the options of the claim by name."""
AnyRule = TypeVar("AnyRule", bound=Rule)
TARGETS: Final[tuple[Target, ...]] = ("participants", "population")


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, or an ordering that follows from its claims.

    ``where`` is the place in the paper, ``says`` the claim in the project's words, ``stated`` the value in the paper.
    ``expected`` is the outcome expected before any run, from the reference calculations of the catalogue, or ``open``.
    ``rule`` decides the claim with the parameters ``options``, under each of ``accountings`` and for each of
    ``targets`` of the error; ``-`` alone if the claim does not depend on them. ``figure`` is the drawing of the claim,
    empty without one, and ``errata`` the errata and reading notes about it. ``headline`` is True for the paper's main
    claim. ``wrong`` explains an unexpected outcome: the error is in our expectation, in the measurement, or in neither.
    """

    id: str
    paper: str
    where: str
    says: str
    stated: str
    expected: Outcome | Literal["open"]
    rule: Rule
    options: Mapping[str, Any] = field(default_factory=dict)
    accountings: tuple[Accounting, ...] = ("-",)
    targets: tuple[Target, ...] = ("-",)
    figure: str = ""
    errata: str = ""
    headline: bool = False
    wrong: str = ""

    @property
    def kind(self) -> str:
        """``claim``, or ``ordering`` for an ordering that follows from claims."""
        return "ordering" if self.id.startswith("O-") else "claim"


@dataclass(frozen=True)
class Catalogue:
    """Claims of a paper in the order of declaration; as a decorator, the catalogue declares a claim."""

    paper: str
    accountings: tuple[Accounting, ...] = ("-",)
    claims: list[Claim] = field(default_factory=list)

    def under(self, *accountings: Accounting) -> Catalogue:
        """Return a decorator for claims under these accountings, in the same catalogue."""
        return replace(self, accountings=accountings)

    def __call__(
        self,
        key: str,
        where: str,
        says: str,
        stated: str,
        expected: Outcome | Literal["open"] = "holds",
        /,
        *,
        targets: tuple[Target, ...] = ("-",),
        figure: str = "",
        errata: str = "",
        headline: bool = False,
        wrong: str = "",
        **options: Any,
    ) -> Callable[[AnyRule], AnyRule]:
        """Declare a claim that the decorated function decides; the parameters are attributes of `Claim`."""

        def declare(rule: AnyRule) -> AnyRule:
            more = (options, self.accountings, targets, figure, errata, headline, wrong)
            self.claims.append(Claim(key, self.paper, where, says, stated, expected, rule, *more))
            return rule

        return declare


@cache
def catalogue(paper: str) -> Catalogue:
    """Return the catalogue in which a paper's modules declare their claims."""
    return Catalogue(paper)


def decorators(paper: str) -> tuple[Catalogue, Catalogue, Catalogue]:
    """Return the decorators of claims without accounting, under the printed one, and under printed and exact."""
    found = catalogue(paper)
    return found, found.under("printed"), found.under("printed", "exact")


def claims(paper: str) -> tuple[Claim, ...]:
    """Return the claims of a paper by number, then the orderings of its results."""
    for module in modules(paper, "_claims"):
        import_module(module)
    found = catalogue(paper).claims
    if not found:
        raise ValueError(f"There are no claims of {paper!r}.")
    return tuple(sorted(found, key=attrgetter("kind", "id")))
