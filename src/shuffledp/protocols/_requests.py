"""What protocols of several tasks ask of a budget and a population before they calibrate."""

from __future__ import annotations

from shuffledp.accounting.errors import Infeasible
from shuffledp.populations import Fixed, Law, Population
from shuffledp.tasks import Budget


def law_of(population: Population) -> Law:
    """The population, if it is a law.

    Raises
    ------
    Infeasible
        If it is a mere bound on the number of users, which cannot be simulated.
    """
    if not isinstance(population, Law):
        raise Infeasible(
            f"{type(population).__name__} bounds the number of users but is not a law that can be sampled."
        )
    return population


def fixed_users(population: Population) -> int:
    """Number of users, user 1 included, where the guarantee counts on what everybody sends.

    Raises
    ------
    Infeasible
        If the number is random or only bounded.
    """
    if not isinstance(population, Fixed):
        raise Infeasible(
            f"The guarantee counts on the messages of a fixed number of users, and {type(population).__name__} "
            "leaves their number open."
        )
    return population.others + 1


def positive_delta(budget: Budget) -> float:
    """The delta of a budget, where privacy comes from hiding among the messages of others.

    Raises
    ------
    Infeasible
        If delta is 0: there may be nobody, or nothing, to hide among.
    """
    if budget.delta == 0:
        raise Infeasible("Hiding among shuffled messages needs delta > 0.")
    return budget.delta
