"""Planned number of users of a protocol if the actual number is random."""

import math
from collections.abc import Callable
from typing import ClassVar, Protocol, TypeVar

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.privacy_profile import PrivacyProfile
from shuffledp.accounting.general.random_users import LeastNumbers, best_split, least_numbers, mean_delta
from shuffledp.numerics.roots import root_below
from shuffledp.populations.base import Law, Population
from shuffledp.tasks import Budget

#: Relative tolerance of the planned number; below the second number delta is also adjusted, because each user matters
#: more.
_TOLERANCE, _FEW = 5e-4, 30
#: Factor from which a number of users is far below another number.
_FAR = 4
#: Distance of a mean below its target, in logs, that is small enough.
_CLOSE = 0.01
#: Tolerance of the log of the adjusted delta, and the limits of the adjustment.
_XTOL, _LEAST_PART, _MOST_DELTA = 0.1, 1e-6, 0.999
#: Smallest delta of a profile for a random number of users that differs from 0.
_LEAST_DELTA = 1e-290

MIXED = "delta is averaged over the law of the number of users"
MIXED_BOUND = "delta is averaged over the smallest number of users that the population allows"


class Planned(Protocol):
    """What the search for a planned number reads of a protocol."""

    noise_shares: ClassVar[bool]

    @property
    def averages(self) -> bool:
        """True if delta is averaged over the number of users."""

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return the profile for this number of participants, None if unknown."""


T = TypeVar("T", bound=Planned)


def numbers_of(population: Population) -> LeastNumbers:
    """Return the stochastically smallest law of the number of other users, for a calibration and its profile."""
    return least_numbers(population, _LEAST_DELTA)


def planned_for(planned: Callable[[int, float], T], budget: Budget, population: Population) -> tuple[T, str]:
    """Return the protocol for the largest possible planned number of users, and the treatment of the random number.

    `planned` maps a number of users and delta to a protocol. Raises `Infeasible` if no protocol exists for a small
    number of users.
    """
    eps, delta = budget.largest_eps, budget.delta
    usual = 1 + math.floor(population.mean)
    if delta == 0:  # no other users needed: a guarantee without others holds with any number
        return planned(usual, delta), ""
    numbers = numbers_of(population)
    usually = planned(usual, delta)  # shows what kind of protocol it is; what it refuses is refused
    split = best_split(numbers, delta, noise_shares=usually.noise_shares)
    # Where a bound allows far fewer users, a mean over all of them gains little and takes long.
    worth_mixing = isinstance(population, Law) or _FAR * split.users >= usual
    if usually.averages and worth_mixing and usually.profile_for(usual) is not None:
        protocol = _mixed(planned, numbers, min(split.users, usual), usual, eps, delta)
        return protocol, MIXED if isinstance(population, Law) else MIXED_BOUND
    text = f"at least {split.users} users take part"
    if split.failure > 0:
        text += f" except with a probability of {split.failure:.2g}, which is taken out of delta"
    return planned(split.users, split.delta), text


def _mixed(
    planned: Callable[[int, float], T], numbers: LeastNumbers, sure: int, usual: int, eps: float, delta: float
) -> T:
    """Return the protocol for the largest planned number of users whose mean delta is within the budget."""
    refused: list[Infeasible] = []
    fitting: dict[tuple[int, float], T] = {}

    def excess(users: int, part: float) -> float:
        """Return ``log(mean delta / delta)``; ``-inf`` if the plan is infeasible and needs more users."""
        try:
            protocol = planned(users, part)
        except Infeasible as reason:
            refused.append(reason)
            return -math.inf
        mean = mean_delta(protocol.profile_for, numbers, eps, 1.1 * delta)
        value = math.log(mean / delta) if mean > 0 else -math.inf
        if value <= 0:
            fitting[(users, part)] = protocol
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
                "The number of users may be too small for this budget: their messages do not hide user 1 enough."
            )
        )
    # The one with the most room: what is planned for more users, or for a larger delta, is more accurate.
    return max(fitting.items(), key=lambda item: (item[0][0] / math.log(2 / item[0][1]), item[0]))[1]


def _largest(excess: Callable[[int], float], sure: int, usual: int) -> int:
    """Return the largest number of users up to `usual` whose excess is about 0 or less.

    `excess` grows with the number of users and is about 0 or less at `sure`.
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
    """Search for the delta at which the excess of `users` planned users is 0; steps of one user are coarse."""
    low, high = math.log(_LEAST_PART * delta), math.log(_MOST_DELTA)
    root_below(lambda part: excess(users, math.exp(part)), math.log(delta), low, high, xtol=_XTOL)
