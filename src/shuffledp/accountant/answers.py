"""Results of accounting questions about a shuffled batch, with their guarantees."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from shuffledp.numerics.rounding import number_text
from shuffledp.optional_dependencies import needed
from shuffledp.outputs import wrapped

if TYPE_CHECKING:
    from pandas import DataFrame

Question = Literal["amplification", "budget", "batch"]
#: Bounds on the central eps that a configuration may request.
BOUNDS = ("upper", "lower")
#: End of the sentence on the bounds of one of several rounds.
ONE_ROUND = " (one round alone)"
_ROUNDS_WITH = {
    "fixed": "the number of users is known",
    "shared": "the number of users is random and the same in all rounds (shared crowd)",
    "fresh": "the number of users is drawn anew in every round (fresh crowd)",
}


def plain(value: Any) -> Any:
    """Return a result as plain data for JSON, with the texts ``inf`` and ``-inf`` for infinite numbers."""
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, float) and math.isinf(value) else value


class Tabular:
    """Base class of results that print as sentences and have a data frame of pandas."""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        raise NotImplementedError

    def lines(self) -> list[str]:
        """Return the result as lines of text, with every bound rounded to its side."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join(wrapped(self.lines()))

    def to_frame(self) -> DataFrame:
        """Return a data frame of pandas, a row per field; raise MissingExtra without pandas."""
        with needed():
            import pandas as pd
        return pd.DataFrame({"value": self.as_dict()})

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


@dataclass(frozen=True)
class Answer(Tabular):
    """Result of an accounting question about a shuffled batch.

    Parameters
    ----------
    question : {"amplification", "budget", "batch"}
    eps : float
        Proven central eps, nats, for all rounds together.
    eps_lower : float or None
        Lower bound on every valid eps, from data sets in which all other users hold the same value; for ``any``
        randomizer, from randomized response over three values. For several rounds, the bound of one round.
    eps_local : float
        Local budget, nats; ``inf`` for Gaussian noise.
    users : int or float
        Number of all users, user 1 and colluding users included; the mean if the number is random.
    delta : float
        Delta of all rounds together.
    reduction : str
        Reduction of `eps`; see :mod:`shuffledp.accountant.shuffled_rounds`.
    guarantee, note : str
        As in :class:`shuffledp.guarantees.Standing`.
    trust : str
        Trust model: the view of each party.
    neighbours : str
        ``replace_one``.
    population : str
        Description of the number of other users who are honest.
    randomizer : str
    rounds : int
    crowd : {"fixed", "shared", "fresh"}
        Number of other users over rounds: known, random and the same in all rounds, or drawn anew in every round.
    colluding : float
        Fraction of the users who reveal their reports to the analyzer.
    considered : tuple of (str, float)
        Finite results of all reductions: eps, the local budget, or users.
    """

    question: Question
    eps: float
    eps_lower: float | None
    eps_local: float
    users: float
    delta: float
    reduction: str
    guarantee: str
    note: str
    trust: str
    neighbours: str
    population: str
    randomizer: str
    rounds: int
    crowd: str
    colluding: float
    considered: tuple[tuple[str, float], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, with the text ``inf`` for infinite numbers."""
        return dict(plain(asdict(self) | {"considered": dict(self.considered)}))

    def lines(self) -> list[str]:
        """Return the answer as lines of text, the requested number first."""
        eps, eps_local = number_text(self.eps, "up"), number_text(self.eps_local, "down")
        mean = "" if "Fixed" in self.population else " on average"
        users = f"{_people(self.users)} users{mean}"
        local = "reports without a local budget" if eps_local == "inf" else f"a local budget of {eps_local}"
        first = {
            "amplification": f"eps = {eps}: {users} with {local}",
            "budget": f"eps_local = {eps_local}: {users} with this local budget have eps = {eps}",
            "batch": f"users = {_people(self.users)}{mean}: with {local}, eps = {eps}",
        }[self.question]
        about = "" if self.rounds == 1 else ONE_ROUND
        lines = [
            f"{first}, delta = {number_text(self.delta, 'up')}.",
            *bounds_lines(self.eps, self.eps_lower, about),
        ]
        lines.append(
            f"Randomizer: {self.randomizer}. Reduction: {self.reduction}. Guarantee: {self.guarantee}."
        )
        if self.note:
            lines.append(f"Note: {self.note}.")
        if self.rounds > 1:
            lines.append(f"Rounds: {self.rounds:,}, composed; {_ROUNDS_WITH[self.crowd]}.")
        lines.append(f"Neighbors differ in one user's input (replaced). Honest others: {self.population}.")
        lines.append(self.trust)
        return lines


def bounds_lines(eps: float, eps_lower: float | None, about: str = "") -> list[str]:
    """Return the sentence on both bounds on eps, nats; nothing without a lower bound."""
    if eps_lower is None:
        return []
    least = number_text(eps_lower, "down")
    return [f"Proven: eps = {number_text(eps, 'up')} holds, and no eps below {least} does{about}."]


def _people(users: float) -> str:
    """Return a number of users in full; a mean may have decimals."""
    return f"{users:,}" if isinstance(users, int) else f"{users:,.10g}"
