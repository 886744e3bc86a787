"""Checkable claims of the papers: each is declared at the function that decides it.

To add a claim, decorate a function of ``papers/<paper>/*_claims.py`` with the `catalogue` of the paper
(docs/architecture.md, "Figures, captions, claims"). Only the outcome that was expected beforehand is declared: measured
values and verdicts are computed.
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

    Attributes
    ----------
    id, paper : str
        Number of the claim, and key of the paper.
    where : str
        Place in the paper.
    says : str
        The claim in the project's words.
    stated : str
        The stated value.
    expected : str
        Outcome that was expected before any run, by the reference calculations of the catalogue; ``open`` if none was.
    rule : callable
        Function that decides the claim.
    options : mapping
        Parameters of the rule.
    accountings : tuple of str
        Accountings under which it is judged; ``-`` alone if it depends on none.
    targets : tuple of str
        Targets of the error; likewise.
    figure : str
        The drawing that it belongs to; may be empty.
    errata : str
        Errata and reading notes that bear on it.
    headline : bool
        True for the main claim of the paper.
    wrong : str
        If the outcome is another than expected: which side is wrong (the catalogue, the measurement, neither), and why.
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
    """Claims of a paper in the order of declaration; as a decorator, the catalogue declares a claim.

    Attributes
    ----------
    paper : str
        Key of the paper.
    accountings : tuple of str
        Accountings of the claims that it declares.
    claims : list
        All that were declared.
    """

    paper: str
    accountings: tuple[Accounting, ...] = ("-",)
    claims: list[Claim] = field(default_factory=list)

    def under(self, *accountings: Accounting) -> Catalogue:
        """Return the decorator of claims that are judged under these accountings, in the same catalogue."""
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
        """Declare a claim that the decorated function decides, with these options.

        Parameters are the attributes of `Claim`.
        """

        def declare(rule: AnyRule) -> AnyRule:
            more = (options, self.accountings, targets, figure, errata, headline, wrong)
            self.claims.append(Claim(key, self.paper, where, says, stated, expected, rule, *more))
            return rule

        return declare


@cache
def catalogue(paper: str) -> Catalogue:
    """Return the catalogue of a paper, in which its modules declare their claims."""
    return Catalogue(paper)


def claims(paper: str) -> tuple[Claim, ...]:
    """Return the claims of a paper by number, then the orderings of its results."""
    for module in modules(paper, "_claims"):
        import_module(module)
    found = catalogue(paper).claims
    if not found:
        raise ValueError(f"There are no claims of {paper!r}.")
    return tuple(sorted(found, key=attrgetter("kind", "id")))
