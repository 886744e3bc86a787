"""Protocols whose guarantee counts on what a number of users send, for any population of users.

Such a protocol is written for a fixed number. For a random one its parameters are those for a *planned* number of
users, chosen beforehand as large as the guarantee allows:

- *mixed*: delta, averaged over the law of the number of users, is at most that of the budget;
- *split*: the planned number is reached but for a probability that is taken out of delta.

See :mod:`shuffledp.accounting.general.random_users` for both, and for why more users than planned do no harm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self, cast

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.accounting.general.random_users import (
    LeastNumbers,
    best_split,
    least_numbers,
    mean_delta,
)
from shuffledp.guarantees import Guarantee
from shuffledp.numerics.roots import root_below
from shuffledp.populations import Fixed, Law, Population
from shuffledp.protocols._requests import users_until_announced
from shuffledp.protocols.base import ProtocolBase
from shuffledp.tasks import Budget

#: Relative tolerance of the planned number; below this number delta is adjusted as well, as a user more matters.
_TOLERANCE, _FEW = 5e-4, 30
#: Numbers of users up to the planned one that a coarse profile tells apart.
_PARTS = 16
#: A number of users is far below another one from this factor on.
_FAR = 4
#: A mean so little below its target, in logs, is good enough.
_CLOSE = 0.01
#: Tolerance of the log of the adjusted delta, and how far it is adjusted.
_XTOL, _LEAST_PART, _MOST_DELTA = 0.1, 1e-6, 0.999
#: Deltas down to which a profile for a random number of users is told from 0.
_LEAST_DELTA = 1e-290
_SOURCE = "mean over the number of users"

MIXED = "delta is averaged over the law of the number of users"
MIXED_BOUND = "delta is averaged over the smallest number of users that the population allows"
ANNOUNCED = "parameters are chosen for the number of users that take part, and delta holds for every number"


@dataclass(frozen=True)
class PlannedUsers(ProtocolBase):
    """A protocol that can be calibrated for a random number of users.

    Its parameters are made for a planned number of users, user 1 included, its field ``n_users``; or they follow the
    announced number.
    ``calibrate`` is written for a :class:`Fixed` population, unless parameters follow the announcement.

    Parameters
    ----------
    population : Population, optional
        Number of *other* users, if it is not fixed.
    treatment : str
        How the guarantee deals with a random number.
    """

    population: Population | None = field(default=None, kw_only=True)
    treatment: str = field(default="", kw_only=True)

    follows_announcement: ClassVar[bool] = False
    """Whether the number of users is announced and `refine` follows it, so that nothing is planned."""
    noise_shares: ClassVar[bool] = False
    """Whether users send shares of one noise, so that nothing is claimed for fewer than planned."""
    mixed_under: ClassVar[tuple[str, ...]] = ("exact",)
    """Accountings under which delta is averaged; under the others there is a formula for one number at a time."""
    few_numbers: ClassVar[bool] = False
    """Whether delta takes too long to be averaged over every number of users.

    Then the planned number is reached but for a probability that is taken out of delta, and a profile rounds the number
    of users down to one of a few.
    """

    @property
    def guarantee(self) -> Guarantee:
        """The label of the claim; at best an upper bound where the number of users is random."""
        label = super().guarantee
        return "upper" if label == "exact" and self.population is not None else label

    @property
    def guarantee_note(self) -> str:
        """What is open, or the witness; and how a random number of users is dealt with."""
        return "; ".join(filter(None, (super().guarantee_note, self.treatment)))

    @classmethod
    def for_population(
        cls, fitted: Callable[[Budget, Population], Self], budget: Budget, population: Population
    ) -> Self:
        """The protocol for a fixed number of users, or for the number that is planned for."""
        if isinstance(population, Fixed):
            return fitted(budget, population)
        if cls.follows_announcement:
            return replace(fitted(budget, population), population=population, treatment=ANNOUNCED)
        found = planned_for(
            lambda users, delta: fitted(replace(budget, delta=delta), Fixed(users - 1)), budget, population
        )
        return cast(Self, found)

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Profile if so many users take part, whatever was planned; does not grow with the number.

        None, the default, where nothing is known, or nothing is claimed.
        """
        return None

    @property
    def planned_users(self) -> int:
        """Users that the parameters are made for."""
        return int(getattr(self, "n_users"))  # noqa: B009  (a field of the protocol)

    def counted_on(self) -> str:
        """All other users, with the number that the parameters are made for."""
        others = self.planned_users - 1
        if self.population is None:
            return f"all {others:,} other users"
        return f"all other users, {others:,} of whom are planned for"

    def all_users(self) -> str:
        """All users, with the number that the parameters are made for."""
        if self.population is None:
            return f"all {self.planned_users:,} users"
        return f"all users, {self.planned_users:,} of whom are planned for"

    @property
    def usual_users(self) -> int:
        """Users that take part as a rule: all of a fixed number, or the mean."""
        return self.planned_users if self.population is None else users_until_announced(self.population)

    @property
    def expected_users(self) -> float:
        """All of a fixed number of users, or the mean: by the union bound a random number counts with its mean."""
        return self.planned_users if self.population is None else 1 + self.population.mean

    @property
    def averages(self) -> bool:
        """Whether ``profile_for`` is what the calibration evaluates, so that it may be averaged."""
        return self.calibrated_under in self.mixed_under and not (self.noise_shares or self.few_numbers)

    def privacy_profile(self) -> PrivacyProfile | None:
        """The profile for the planned number of users; averaged over the law of their number if that is random."""
        if self.population is None:
            return self.profile_for(self.planned_users)
        planned = self.profile_for(self.planned_users)
        if planned is None or planned.kind not in ("exact", "upper"):
            return None
        numbers = _numbers(self.population)
        return Profile(
            lambda eps: mean_delta(self._profile_for_others, numbers, eps), f"{_SOURCE}: {planned.source}"
        )

    def _profile_for_others(self, users: int) -> PrivacyProfile | None:
        if self.few_numbers:
            part = min(users * _PARTS // self.planned_users, _PARTS)
            return self.profile_for(part * self.planned_users // _PARTS) if part else None
        if not self.noise_shares:
            return self.profile_for(users)
        # More shares than planned are the planned noise and independent noise on top.
        return self.profile_for(self.planned_users) if users >= self.planned_users else None


def _numbers(population: Population) -> LeastNumbers:
    """The same for a calibration and for the profile of what it finds."""
    return least_numbers(population, _LEAST_DELTA)


Planned = Callable[[int, float], PlannedUsers]


def planned_for(planned: Planned, budget: Budget, population: Population) -> PlannedUsers:
    """The protocol for the largest number of users to plan for.

    Parameters
    ----------
    planned : callable
        Number of users and delta -> protocol for a fixed number of users.
    budget : Budget
        One eps.
    population : Population
        Not fixed.

    Raises
    ------
    Infeasible
        If there is no protocol for few enough users.
    """
    eps, delta = budget.largest_eps, budget.delta
    usual = 1 + math.floor(population.mean)
    if delta == 0:  # nobody to hide among: what holds without others holds with any
        return replace(planned(usual, delta), population=population, treatment="")
    numbers = _numbers(population)
    usually = planned(usual, delta)  # shows what kind of protocol it is; what it refuses is refused
    split = best_split(numbers, delta, noise_shares=usually.noise_shares)
    # Where a bound allows far fewer users, a mean over all of them gains little and takes long.
    known = isinstance(population, Law) or _FAR * split.users >= usual
    if usually.averages and known and usually.profile_for(usual) is not None:
        found = _mixed(planned, numbers, min(split.users, usual), usual, eps, delta)
        text = MIXED if isinstance(population, Law) else MIXED_BOUND
        return replace(found, population=population, treatment=text)
    text = f"at least {split.users} users take part"
    if split.failure > 0:
        text += f" except with a probability of {split.failure:.2g}, which is taken out of delta"
    return replace(planned(split.users, split.delta), population=population, treatment=text)


def _mixed(
    planned: Planned, numbers: LeastNumbers, sure: int, usual: int, eps: float, delta: float
) -> PlannedUsers:
    """The protocol for the largest planned number at which the mean delta is that of the budget, or less."""
    refused: list[Infeasible] = []
    fitting: dict[tuple[int, float], PlannedUsers] = {}

    def excess(users: int, part: float) -> float:
        """Log of the mean delta over its target; ``-inf`` where nothing is planned, which needs more users."""
        try:
            found = planned(users, part)
        except Infeasible as reason:
            refused.append(reason)
            return -math.inf
        mean = mean_delta(found.profile_for, numbers, eps, 1.1 * delta)
        value = math.log(mean / delta) if mean > 0 else -math.inf
        if value <= 0:
            fitting[(users, part)] = found
        return value

    users = _largest(lambda n: excess(n, delta), sure, usual)
    if users < _FEW and fitting:
        _adjusted(excess, users, delta)
    if not fitting:  # smaller numbers are refused
        _adjusted(excess, users + 1, delta)
    if not fitting:
        raise (
            refused[0]
            if refused
            else Infeasible(
                "Too few users may take part: their messages hide user 1 less than the budget asks for."
            )
        )
    # The one with the most room: what is planned for more users, or for a larger delta, is more accurate.
    return max(fitting.items(), key=lambda item: (item[0][0] / math.log(2 / item[0][1]), item[0]))[1]


def _largest(excess: Callable[[int], float], sure: int, usual: int) -> int:
    """The largest number of users with an excess of at most 0, or nearly; `usual` if that has one.

    Parameters
    ----------
    excess : callable
        Number of users -> a number that grows with it.
    sure : int
        Where about the excess is 0 or less.
    usual : int
        The most that are planned for, at least `sure`.
    """
    low, at_low, high, at_high = 0, -math.inf, usual, math.inf
    n, turn = (usual if _FAR * sure >= usual else sure), 0
    while high - low > max(1, _TOLERANCE * high) or math.isinf(at_high):
        value = excess(n)
        if value <= 0:
            if n == usual or value > -_CLOSE:
                return n
            low, at_low = n, value
        else:
            high, at_high = n, value
        turn += 1
        if math.isinf(at_high):  # from far below: in steps that double
            n = min(2 * low, usual)
            continue
        n = low
        if turn <= 6 and math.isfinite(
            at_low
        ):  # the log of delta is close to a multiple of the number of users
            n = round(low + (high - low) * at_low / (at_low - at_high) - 0.3 * _TOLERANCE * high)
        elif turn <= 6 and low == 0:
            n = round(high * (1 - min(0.5, 0.1 * turn * at_high)))
        if not low < n < high:
            n = min(max((low + high) // 2, low + 1), high - 1)
    return max(low, 1)


def _adjusted(excess: Callable[[int, float], float], users: int, delta: float) -> None:
    """Try other deltas for a few planned users: a user more or less is a coarse step."""
    low, high = math.log(_LEAST_PART * delta), math.log(_MOST_DELTA)
    root_below(lambda part: excess(users, math.exp(part)), math.log(delta), low, high, xtol=_XTOL)
