"""Protocols whose guarantee relies on the number of users.

`PlannedUsers` is written for a fixed number of users. For a random number its parameters are calibrated for a
*planned* number of users, the largest number that the guarantee allows:

- *mixed*: delta, averaged over the law of the number of users, is at most the delta of the budget;
- *split*: delta includes the probability that fewer users than planned take part.

See :mod:`shuffledp.accounting.general.random_users` for the proofs of both, and that more users than planned do not
weaken the guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, cast

import numpy as np

from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import Guarantee
from shuffledp.populations.base import Fixed, Population
from shuffledp.protocols._planned_numbers import numbers_of, planned_for
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.request import Request, usual_number
from shuffledp.tasks import Floats, Ints, Public

if TYPE_CHECKING:
    from shuffledp.accounting.general.random_users import LeastNumbers


def divisor_of(planned_users: int | None, public: Public) -> Floats:
    """Return the numbers of users, (R, 1), by which counts are divided: planned ones, or those who take part."""
    number = public.users_column
    return number if planned_users is None else np.full_like(number, planned_users)


#: Number of different numbers of users that a coarse profile distinguishes, up to the planned number.
_PARTS = 16
_SOURCE = "mean over the number of users"

ANNOUNCED = "parameters are chosen for the number of users that take part, and delta holds for every number"


class Numbered(Protocol):
    """Protocol with a field for the planned number of users."""

    @property
    def n_users(self) -> int:
        """Planned number of users."""


@dataclass(frozen=True)
class PlannedUsers(ProtocolBase):
    """Protocol for any law of the number of users, calibrated for a planned number ``n_users`` or the announced number.

    Both numbers include user 1. ``fit`` is written for a :class:`Fixed` population unless parameters follow the
    announcement. ``population`` is the law of the number of *other* users if it is random, and ``treatment`` describes
    how the guarantee treats it.
    """

    population: Population | None = field(default=None, kw_only=True)
    treatment: str = field(default="", kw_only=True)

    #: True if the number of users is announced and `refine` uses it, so that no number is planned.
    follows_announcement: ClassVar[bool] = False
    #: True if users send shares of one noise, so that no guarantee holds for fewer users than planned.
    noise_shares: ClassVar[bool] = False
    #: Accountings under which delta is averaged; other accountings have a formula for one number of users.
    mixed_under: ClassVar[tuple[str, ...]] = ("exact",)
    #: True if an average of delta over every number of users takes too long. Then delta includes the probability of
    #: fewer users than planned, and a profile rounds the number of users down to one of a few numbers.
    few_numbers: ClassVar[bool] = False

    @property
    def guarantee(self) -> Guarantee:
        """Label of the guarantee, at best ``upper`` for a random number of users."""
        label = super().guarantee
        return "upper" if label == "exact" and self.population is not None else label

    @property
    def guarantee_note(self) -> str:
        """Unproven assumption or witness of the guarantee, and the treatment of a random number of users."""
        return "; ".join(filter(None, (super().guarantee_note, self.treatment)))

    @classmethod
    def fit_random(cls, request: Request, options: Mapping[str, Any]) -> Self:
        """Return the protocol for the planned number of users, or for the announced number."""
        if cls.follows_announcement:
            return replace(cls.fit(request, **options), population=request.population, treatment=ANNOUNCED)

        def planned(users: int, delta: float) -> PlannedUsers:
            budget = replace(request.budget, delta=delta)
            fitted = cls.fit(replace(request, budget=budget, population=Fixed(users - 1)), **options)
            return replace(fitted, calibrated_under=request.accounting)

        fitted, treatment = planned_for(planned, request.budget, request.population)
        return cast(Self, replace(fitted, population=request.population, treatment=treatment))

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return the profile for this number of participants, None if unknown. More users never increase delta."""
        return None

    @property
    def planned_users(self) -> int:
        """Number of users that the parameters are calibrated for, by default the field ``n_users``."""
        return cast(Numbered, self).n_users

    def counted_on(self) -> str:
        """Name the other users and their planned number; all users if they share one noise."""
        shared = self.relies_on == "shares of the noise"
        noun, number = ("users", self.planned_users) if shared else ("other users", self.planned_users - 1)
        return (
            f"all {number:,} {noun}"
            if self.population is None
            else f"all {noun}, {number:,} of whom are planned for"
        )

    @property
    def usual_users(self) -> int:
        """Fixed number of users, or the mean of a random number, rounded down."""
        return self.planned_users if self.population is None else usual_number(self.population)

    @property
    def expected_users(self) -> float:
        """Fixed or mean number of users, for a union bound over the users."""
        return self.planned_users if self.population is None else 1 + self.population.mean

    @property
    def averages(self) -> bool:
        """True if the calibration evaluates ``profile_for``, so that delta can be averaged over the number of users."""
        return self.calibrated_under in self.mixed_under and not (self.noise_shares or self.few_numbers)

    def privacy_profile(self) -> PrivacyProfile | None:
        """Return the profile for the planned number of users, averaged over the law of a random number."""
        if self.population is None:
            return self.profile_for(self.planned_users)
        planned = self.profile_for(self.planned_users)
        if planned is None or planned.kind not in ("exact", "upper"):
            return None
        from shuffledp.accounting.general.random_users import mean_delta

        numbers = numbers_of(self.population)
        return Profile(
            lambda eps: mean_delta(self._profile_for_others, numbers, eps), f"{_SOURCE}: {planned.source}"
        )

    def profile_without(self, share: float, *, colluding: bool) -> PrivacyProfile | None:
        """Return the profile for the users who remain, averaged over the law of a random number.

        A number n of participants becomes n less ``share * n``, rounded down.
        """
        if share == 0 or self.relies_on == "no other user":
            return self.privacy_profile()
        if self.population is None or self.follows_announcement:
            users = self.planned_users
            return self.profile_among(users, remaining(users, share), colluding=colluding)
        from shuffledp.accounting.general.random_users import mean_delta

        planned = self.profile_of_any(remaining(self.planned_users, share))
        if planned is None or planned.kind not in ("exact", "upper"):
            return None
        numbers = numbers_of(self.population)

        def left(users: int) -> PrivacyProfile | None:
            return self._profile_for_others(remaining(users, share), self.profile_of_any)

        return Profile(lambda eps: mean_delta(left, numbers, eps), f"{_SOURCE}: {planned.source}")

    def profile_among(self, users: int, honest: int, *, colluding: bool) -> PrivacyProfile | None:
        """Return the profile of `users` participants if only `honest` of them, user 1 included, hide a value."""
        return self.profile_for(honest)

    def profile_of_any(self, honest: int) -> PrivacyProfile | None:
        """Return a bound on `profile_among` for any number of participants and any choice of the honest ones."""
        return self.profile_for(honest)

    def _profile_for_others(
        self, users: int, profile_for: Callable[[int], PrivacyProfile | None] | None = None
    ) -> PrivacyProfile | None:
        profile_for = profile_for or self.profile_for
        if self.few_numbers:
            part = min(users * _PARTS // self.planned_users, _PARTS)
            return profile_for(part * self.planned_users // _PARTS) if part else None
        if not self.noise_shares:
            return profile_for(users)
        # More shares than planned are the planned noise and independent noise on top.
        return profile_for(self.planned_users) if users >= self.planned_users else None


def remaining(users: int, share: float) -> int:
    """Return the number of users, user 1 included, who remain if a share drops out: rounded down, at least 1."""
    return max(users - math.ceil(Fraction(str(share)) * users), 1)


def seats_left(seats: int, users: int, honest: int) -> LeastNumbers:
    """Return the law of the number of honest users on `seats` seats if user 1 has no seat and dropouts are random."""
    from scipy.special import gammaln

    from shuffledp.accounting.general.random_users import LeastNumbers

    others, honest_others = users - 1, honest - 1
    seats = min(seats, others)
    seated = np.arange(max(0, honest_others - (others - seats)), min(seats, honest_others) + 1)

    def log_choices(of: int, number: Ints | int) -> Any:
        return gammaln(of + 1) - gammaln(np.add(number, 1)) - gammaln(np.subtract(of + 1, number))

    log_mass = (
        log_choices(seats, seated)
        + log_choices(others - seats, honest_others - seated)
        - log_choices(others, honest_others)
    )
    return LeastNumbers(seated, np.exp(log_mass))
