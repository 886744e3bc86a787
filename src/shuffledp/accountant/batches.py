"""Arguments of accounting questions, checked and converted to randomizers, rounds and laws of the other users."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Literal, cast, get_args

from shuffledp.accountant.families import Family, Maker
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.randomizers import Randomizer, check_randomizer
from shuffledp.numerics.argument_ranges import check_choice, check_count, check_open_unit, check_positive
from shuffledp.populations.base import Fixed, Law, Population
from shuffledp.populations.laws import Binomial, Poisson

Crowd = Literal["fixed", "shared", "fresh"]
CROWDS: tuple[str, ...] = get_args(Crowd)
ARRIVALS: tuple[str, ...] = ("fixed", "poisson", "binomial")
MOST_EPS_LOCAL = 100.0
#: Of more rounds the loss distribution does not fit into memory.
MOST_ROUNDS = 10**6


@dataclass(frozen=True)
class BatchSetting:
    """Randomizer, delta and number of rounds of an accounting question."""

    family: Family
    randomizer: Randomizer | None  # given as it is, in place of the family
    delta: float
    rounds: int
    crowd: Crowd = "fixed"

    def make_randomizer(self, eps_local: float) -> Randomizer | None:
        """Return the randomizer with a local budget; None for the family of any randomizer."""
        return self.randomizer or self.family.make_randomizer(eps_local)

    @property
    def is_shared(self) -> bool:
        """True for several rounds with one random number of users."""
        return self.rounds > 1 and self.crowd == "shared"

    @property
    def is_binary(self) -> bool:
        """True for the family of binary randomized response."""
        return self.randomizer is None and self.family.kind == "binary"

    @property
    def has_blanket(self) -> bool:
        """True if the randomizer or the family has a privacy blanket: all but the family of any randomizer."""
        return self.randomizer is not None or self.family.kind != "any"

    @property
    def clone_rates(self) -> tuple[str, ...]:
        """Reductions to clones that are proven for the setting, as in :mod:`shuffledp.accounting.general.clones`."""
        if self.randomizer is None:
            return self.family.clone_reductions
        return ("clones",) if self.randomizer.eps_local <= MOST_EPS_LOCAL else ()


def setting_of(
    randomizer: str | Randomizer | Maker,
    domain_size: int | None,
    subset_size: int | None,
    delta: float,
    rounds: int,
    crowd: Crowd = "fixed",
) -> BatchSetting:
    """Return the setting of a question; raise ValueError if its parts are inconsistent."""
    delta, rounds = check_open_unit("delta", delta), checked_rounds(rounds)
    if isinstance(randomizer, str):
        return BatchSetting(Family(randomizer, domain_size, subset_size), None, delta, rounds, crowd)
    if domain_size is not None or subset_size is not None:
        raise ValueError(
            "domain_size and subset_size must be left out if randomizer is an object, got "
            f"domain_size={domain_size!r}, subset_size={subset_size!r}."
        )
    if isinstance(randomizer, FunctionType):
        return BatchSetting(Family("own", make=randomizer), None, delta, rounds, crowd)
    check_randomizer(randomizer)
    return BatchSetting(Family("any"), cast("Randomizer", randomizer), delta, rounds, crowd)


def crowd_of(crowd: str | None, *, random: bool) -> Crowd:
    """Return what a number of other users is over rounds: ``fixed`` if it is known, else ``shared`` or ``fresh``.

    By default a random number is ``shared``: drawn once, for all rounds. Raise ValueError for a contradiction.
    """
    if crowd is None:
        return "shared" if random else "fixed"
    check_choice("crowd", crowd, CROWDS)
    if random and crowd == "fixed":
        raise ValueError("crowd must be shared or fresh for a random number of users, got 'fixed'.")
    return cast("Crowd", crowd)


def checked_rounds(rounds: int) -> int:
    """Return `rounds` if it is an integer in [1, 10^6], else raise ValueError."""
    try:
        number = check_count("rounds", rounds, 1)
    except ValueError:
        number = 0
    if not 1 <= number <= MOST_ROUNDS:
        raise ValueError(f"rounds must be an integer in [1, 10^6], got {rounds!r}.")
    return number


def eps_local_of(eps_local: float | None, setting: BatchSetting) -> float:
    """Return the local budget, nats, from the argument or the randomizer. Raise ValueError for both or neither."""
    if setting.randomizer is not None:
        if eps_local is not None:
            raise ValueError(
                f"eps_local must be left out if randomizer is an object, which has its own, got {eps_local!r}."
            )
        return setting.randomizer.eps_local
    if eps_local is None:
        raise ValueError("eps_local is missing; it must be a positive number (nats).")
    number = check_positive("eps_local", eps_local)
    if number > MOST_EPS_LOCAL:
        raise ValueError(f"eps_local must be at most {MOST_EPS_LOCAL:g}, got {eps_local!r}.")
    setting.family.make_randomizer(number)  # its own checks
    return number


def checked_fraction(colluding: float) -> float:
    """Return the fraction of colluding users if it is in [0, 1), else raise ValueError."""
    if isinstance(colluding, bool) or not isinstance(colluding, (int, float)) or not 0 <= colluding < 1:
        raise ValueError(f"colluding must be in [0, 1), got {colluding!r}.")
    return float(colluding)


def crowd_in(crowd: str | None, population: Population | None) -> Crowd:
    """Return what the number of other users is over rounds; `crowd` requires a population."""
    if population is None and crowd not in (None, "fixed"):
        raise ValueError(
            f"crowd must be left out without population: users is one known number, got {crowd!r}."
        )
    if isinstance(population, Fixed):  # one known number, whatever it is called
        crowd_of(crowd, random=False)
        return "fixed"
    return crowd_of(crowd, random=population is not None)


def people_of(users: int | None, population: Population | None, colluding: float) -> tuple[float, Population]:
    """Return the number of all users, and the population of the other users who do not collude."""
    if (users is None) == (population is None):
        raise ValueError(f"Give either users or population, got users={users!r}, population={population!r}.")
    if population is None:
        population = Fixed(check_count("users", users or 0, 1) - 1)
    if not isinstance(population, Population):
        raise ValueError(f"population must be a Population, such as Poisson(1000.0), got {population!r}.")
    return 1 + population.mean, honest_of(population, checked_fraction(colluding))


def honest_of(others: Population, colluding: float) -> Population:
    """Return the population of the other users who do not collude; user 1 is honest."""
    if colluding == 0:
        return others
    if isinstance(others, Fixed):
        return Fixed(max(math.floor((1 - colluding) * (others.others + 1)) - 1, 0))
    if isinstance(others, Binomial):
        return Binomial(max(math.floor((1 - colluding) * (others.trials + 1)) - 1, 0), others.rate)
    if isinstance(others, Poisson):
        return Poisson((1 - colluding) * others.mean)
    raise Infeasible(
        f"colluding must be 0 for a {type(others).__name__} population, got a fraction. "
        "Fixed, Binomial and Poisson populations take one."
    )


def law_of(arrivals: str, rate: float | None) -> Callable[[int], Law]:
    """Return the map from the number of other users (known, mean or potential) to the law of this number."""
    if arrivals not in ARRIVALS:
        raise ValueError(f"arrivals must be one of {', '.join(ARRIVALS)}; got {arrivals!r}.")
    if (rate is not None) != (arrivals == "binomial"):
        raise ValueError(
            f"rate must be given if and only if arrivals is 'binomial', got rate={rate!r}, arrivals={arrivals!r}."
        )
    if arrivals == "fixed":
        return Fixed
    if arrivals == "poisson":
        return lambda number: Poisson(float(number))
    if rate is None or not 0 < rate <= 1:
        raise ValueError(f"rate must be in (0, 1], got {rate!r}.")
    return lambda number: Binomial(number, rate)
