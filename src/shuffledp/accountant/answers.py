"""An answer about a shuffled batch: numbers, and what stands behind them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

Question = Literal["amplification", "budget", "batch"]


@dataclass(frozen=True)
class Answer:
    """What is known about a shuffled batch.

    Parameters
    ----------
    question : {"amplification", "budget", "batch"}
    eps : float
        Central eps that is proven, nats, for all rounds together.
    eps_lower : float or None
        No smaller eps holds: of data sets in which all others hold the same; for any randomizer, those of randomized
        response over three values. For several rounds that of a single one. None where nothing is known.
    eps_local : float
        Local budget, nats; ``inf`` for Gaussian noise.
    users : float
        All users, user 1 and colluding ones included; the mean if the number is random.
    delta : float
        Of all rounds together.
    reduction : str
        Which one gave `eps`; see :mod:`shuffledp.accountant.deployments`.
    guarantee, note : str
        As in :class:`shuffledp.guarantees.Standing`.
    trust : str
        Who sees what.
    neighbours : str
        ``replace_one``.
    population : str
        The number of other users who are honest.
    randomizer : str
    rounds : int
    colluding : float
        Fraction of the users who tell the analyzer their reports.
    considered : tuple of (str, float)
        What every reduction gives for the question: eps, the local budget, or users; without those that say nothing.
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
    colluding: float
    considered: tuple[tuple[str, float], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, with None for what is infinite."""
        plain = asdict(self) | {"considered": dict(self.considered)}
        return {
            key: None if isinstance(value, float) and math.isinf(value) else value
            for key, value in plain.items()
        }
