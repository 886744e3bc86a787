"""Calibration of a protocol for several releases to the same users, for eps and delta of all releases together.

The unit is the user: neighbors differ in the inputs of one user to all releases, which may depend on earlier releases.
Each release has fresh randomness. A protocol is calibrated for a smaller budget of one release, whose eps is searched:
the composition of the calibrated protocol's own privacy profile is the guarantee of all releases, see
:mod:`shuffledp.accounting.general.composition`. Hence any budget of one release is safe. A bound that is proven for one
eps and delta alone composes as randomized response that fails with probability delta, the worst such mechanism
(Kairouz, Oh and Viswanath 2015).

A random number of users that is the same in all releases, or only bounded, is treated by a smallest number: delta
includes the probability of fewer users. In releases with users drawn anew, each release averages over its number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from shuffledp.accountant.batches import MOST_ROUNDS
from shuffledp.accounting.baselines.noisy_counts import gaussian_ratio
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.composition import (
    ComposedProfile,
    composed_lower_bound,
    epsilon_at,
    infinite_mass,
)
from shuffledp.accounting.general.epsilon_search import limit_epsilon
from shuffledp.accounting.general.exports import MOST_EPS
from shuffledp.accounting.general.privacy_profile import PrivacyProfile
from shuffledp.accounting.general.profiles import Profile
from shuffledp.accounting.general.random_users import best_split, least_numbers
from shuffledp.comparison.error_references import expected
from shuffledp.comparison.setting import Setting
from shuffledp.guarantees import Guarantee
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.rounding import number_text
from shuffledp.populations.base import Fixed, Law
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.registry import get
from shuffledp.tasks import Budget

Status = Literal["exact", "upper", "point"]

#: Evaluated values of a profile while eps of one release is approached.
_COARSE = 30
#: Values for the eps of repeated releases.
_WARNING = 40
#: Parts of delta: the budget of one release has delta, or this fraction of its share if infinite losses matter.
_PARTS = (2.0, 10.0, 100.0)
#: Share of delta above which infinite losses of all releases matter.
_MATTERS = 1e-3
#: Range of the log of eps of one release, below an equal share of eps and above eps.
_BELOW, _ABOVE = 3.0, 0.5
#: Distance of the first guess in logs, tolerance of the log of eps while it is approached, and of the result.
_FAR, _NEAR, _PRECISION = 0.02, 2e-3, 1e-5


@dataclass(frozen=True)
class Releases:
    """Protocol calibrated for several releases.

    Parameters
    ----------
    protocol : ProtocolBase
        Protocol of every release.
    rounds : int
        Number of releases.
    eps_one, eps_all : float or None
        Eps of one release, and of all releases together, at the delta of the budget; nats, rounded up. None if unknown.
    eps_lower : float or None
        Lower bound on the eps of all releases; None if no data set is known that attains the bound.
    floor : float
        Upper bound on the probability that some release reveals a value, which no eps removes.
    status : {"exact", "upper", "point"}
        ``exact``: one pair of laws is the worst at every eps; ``point``: composed from one eps and delta of a release.
    """

    protocol: ProtocolBase
    rounds: int
    eps_one: float | None
    eps_all: float | None
    eps_lower: float | None
    floor: float
    status: Status

    @property
    def guarantee(self) -> Guarantee:
        """Label of the guarantee of all releases, at best ``upper`` unless one pair is the worst."""
        label = self.protocol.guarantee
        return "upper" if label == "exact" and self.status != "exact" else label

    def of_row(self) -> dict[str, Any]:
        """Return the fields of a row of a comparison."""
        return {
            "eps_one_round": self.eps_one,
            "eps_all_rounds": self.eps_all,
            "eps_all_rounds_lower": self.eps_lower,
            "delta_floor_all": self.floor,
            "rounds_status": self.status,
        }


def calibrate_releases(
    once: ProtocolBase, where: Setting, accounting: str, options: Mapping[str, Any] | None = None
) -> Releases:
    """Return a protocol calibrated for the releases of a setting, at least two.

    `once` is the protocol calibrated for one release with the same budget, accounting and options.

    Raises
    ------
    Infeasible
        With the reason, if no parameters meet the budget.
    """
    population, budget = where.population, where.budget
    if once.relies_on == "no other user" or isinstance(population, Fixed):
        return _calibrated(once, where, accounting, options or {})
    if getattr(once, "follows_announcement", False):
        raise Infeasible(
            "Its parameters follow the announced number of users: several releases need a fixed number."
        )
    if where.crowd == "fresh" and isinstance(population, Law):
        return _calibrated(once, where, accounting, options or {})
    # Numbers of users that are only bounded may differ: any of them may be too small.
    times = 1 if where.crowd == "shared" and isinstance(population, Law) else where.rounds
    each = budget.delta / times
    split = best_split(
        least_numbers(population, each), each, noise_shares=getattr(once, "noise_shares", False)
    )
    remaining_budget = replace(budget, delta=budget.delta - times * split.failure)
    releases = _calibrated(
        once,
        replace(where, population=Fixed(split.users - 1), budget=remaining_budget),
        accounting,
        options or {},
    )
    protocol = releases.protocol
    if isinstance(protocol, PlannedUsers):
        treatment = (
            f"at least {split.users} users take part in every release, except with a probability of "
            f"{times * split.failure:.2g} for all releases, which is taken out of delta"
        )
        protocol = replace(protocol, population=population, treatment=treatment)
    status: Status = "point" if releases.status == "point" else "upper"
    return replace(releases, protocol=protocol, eps_lower=None, status=status)


def repeated_epsilon(once: ProtocolBase, where: Setting, rounds: int) -> float | None:
    """Return the eps of several releases of a protocol to a known number of users, at the delta of the setting.

    None without a profile or a known number, and for profiles that take long. Few values of the profile suffice: the
    excess is below 1e-3.
    """
    profile = once.privacy_profile()
    has_known_users = isinstance(where.population, Fixed) or once.relies_on == "no other user"
    if profile is None or not has_known_users or where.budget.delta == 0 or once.profile_points < _WARNING:
        return None
    return ComposedProfile([profile], [rounds], where.budget.delta, points=_WARNING).epsilon(
        where.budget.delta
    )


def releases_within(profile: PrivacyProfile, eps: float, delta: float, protocol: ProtocolBase) -> int:
    """Return the largest number of releases of a protocol, up to 10^6, whose eps is at most `eps` at a delta; or 0."""
    epsilons: dict[int, float] = {}
    local = protocol.local_epsilon() if profile.neighbours == "replace_one" else None

    def excess(log_rounds: float) -> float:
        rounds = int(math.exp(log_rounds))
        if rounds not in epsilons:
            together = ComposedProfile([profile], [rounds], delta, points=protocol.profile_points)
            epsilons[rounds] = min(together.epsilon(delta), rounds * (math.inf if local is None else local))
        return math.log(epsilons[rounds] / eps) if epsilons[rounds] > 0 else -math.inf

    if excess(0.0) > 0:
        return 0
    most = math.log(MOST_ROUNDS + 0.5)
    guess = min(max(-2 * excess(0.0), 0.1), most - 0.1)  # normal losses grow as the root of the number
    return int(math.exp(root_below(excess, guess, 0.0, most, xtol=1e-7, slope=0.5, near=0.1)))


def _calibrated(once: ProtocolBase, where: Setting, accounting: str, options: Mapping[str, Any]) -> Releases:
    """Return the protocol with the least error, then the fewest messages, over the budgets that are tried."""
    if where.budget.delta == 0:
        return _by_pure_budgets(once, where, accounting, options)
    several = accounting == "printed" and len(once.accountings) > 1
    point = several or once.privacy_profile() is None
    by_profile = _ShareSearch if once.laplace_error else _ReleaseSearch
    search = (_PointSearch if point else by_profile)(type(once), where, accounting, options)
    best: tuple[tuple[float, float], ProtocolBase, PrivacyProfile] | None = None
    refused: Infeasible | None = None
    for part in search.parts:
        try:
            protocol, profile = search.largest(where.budget.delta / part)
        except _RevealingError as reason:
            refused = refused or reason
            continue
        except Infeasible as reason:  # a smaller delta needs more noise still
            refused = refused or reason
            break
        mse = expected(protocol, *where.usual)
        score = float(f"{math.inf if mse is None else mse:.6g}"), protocol.cost().messages_per_user
        if best is None or score < best[0]:
            best = score, protocol, profile
        if infinite_mass([profile], [where.rounds]) < _MATTERS * where.budget.delta:
            break
    if best is None:
        assert refused is not None
        raise refused
    return search.result(*best[1:])


def _by_pure_budgets(
    once: ProtocolBase, where: Setting, accounting: str, options: Mapping[str, Any]
) -> Releases:
    """Return the protocol with an equal share of eps, at delta 0."""
    eps, rounds = where.budget.largest_eps, where.rounds
    budget = replace(where.budget, eps=eps / rounds)
    protocol = type(once).calibrate(budget, where.population, where.task, accounting=accounting, **options)
    return Releases(protocol, rounds, eps / rounds, eps, None, 0.0, "upper")


class _RevealingError(Infeasible):
    """Infinite losses exceed the delta of all releases."""


class _ReleaseSearch:
    """Search for eps of one release, whose calibrated protocol composes to at most the budget."""

    status: Status = "upper"

    def __init__(
        self, kind: type[ProtocolBase], where: Setting, accounting: str, options: Mapping[str, Any]
    ) -> None:
        self.kind, self.where, self.accounting, self.options = kind, where, accounting, options
        self.rounds, self.eps, self.delta = where.rounds, where.budget.largest_eps, where.budget.delta
        self.parts: tuple[float, ...] = (1.0, *(part * self.rounds for part in _PARTS))
        self.known: dict[tuple[int, str], float] = {}
        self.start = limit_epsilon(gaussian_ratio(self.eps, self.delta) / math.sqrt(self.rounds), self.delta)[
            0
        ]

    def calibrated(self, eps: float, delta: float) -> ProtocolBase:
        """Return the protocol for a budget of one release."""
        where, budget = self.where, Budget(eps, delta, self.where.budget.neighbours)
        protocol = self.kind.calibrate(
            budget, where.population, where.task, accounting=self.accounting, **self.options
        )
        return protocol.refine(where.usual[0].public.of_repeat(0))

    def calibrate_with_profile(self, eps: float, delta: float) -> tuple[ProtocolBase, PrivacyProfile]:
        """Return the protocol for a budget of one release, and its profile."""
        protocol = self.calibrated(eps, delta)
        profile = protocol.privacy_profile()
        if profile is None:
            raise Infeasible("Its profile is unknown for the budget of one release.")
        return protocol, profile

    def composed(self, protocol: ProtocolBase, profile: PrivacyProfile, points: int) -> float:
        """Return eps of all releases together; ``inf`` if no eps is finite."""
        key = points, repr(protocol)
        if key not in self.known:
            together = ComposedProfile([profile], [self.rounds], self.delta, points=points)
            local = protocol.local_epsilon() if self.where.budget.neighbours == "replace_one" else None
            most = self.rounds * (math.inf if local is None else local)
            self.known[key] = min(together.epsilon(self.delta), most)
        return self.known[key]

    def largest(self, delta: float) -> tuple[ProtocolBase, PrivacyProfile]:
        """Return the protocol for the largest eps of one release at a delta. Raise Infeasible if there is none."""
        protocols: dict[float, tuple[ProtocolBase, PrivacyProfile]] = {}
        refused: list[Infeasible] = []

        def excess(log_eps: float, points: int) -> float:
            try:
                protocols[log_eps] = protocols.get(log_eps) or self.calibrate_with_profile(
                    math.exp(log_eps), delta
                )
            except Infeasible as reason:  # as a rule, a small eps needs too much noise
                refused.append(reason)
                return -math.inf
            eps = self.composed(*protocols[log_eps], points)
            return math.log(eps / self.eps) if eps > 0 else -math.inf

        ends = math.log(self.eps / self.rounds) - _BELOW, math.log(self.eps) + _ABOVE
        excess(self.start, _COARSE)
        if (
            self.start in protocols
            and infinite_mass([profile := protocols[self.start][1]], [self.rounds]) >= self.delta
        ):
            raise _RevealingError(self.reason(profile))
        near = root_below(
            partial(excess, points=_COARSE), self.start, *ends, xtol=_NEAR, ytol=_NEAR, slope=1.0, near=_FAR
        )
        if near not in protocols:
            raise refused[0] if refused else Infeasible(self.missing)
        points = self.kind.profile_points
        precision = min(max(_PRECISION, 2 / points**2), _NEAR / 4)  # not below the excess of the composition
        fine = partial(excess, points=points)
        best = root_below(fine, near, *ends, xtol=precision / 8, ytol=precision, slope=1.0, near=_NEAR)
        if best not in protocols or self.composed(*protocols[best], points) > self.eps:
            raise refused[0] if refused else Infeasible(self.missing)
        self.start = best
        return protocols[best]

    @property
    def missing(self) -> str:
        """Reason why there is no protocol."""
        return f"No budget of one release that was tried composes to eps = {self.eps:g}."

    def reason(self, profile: PrivacyProfile) -> str:
        """Return the reason why a profile with infinite losses composes to no finite eps."""
        reveal_rate = float(profile.delta(MOST_EPS))
        most = math.floor(math.log1p(-self.delta) / math.log1p(-reveal_rate)) + 1
        return (
            f"This protocol reveals the value with probability {number_text(reveal_rate, 'up', 2)} in every release; "
            f"{most:,} {'release exceeds' if most == 1 else 'releases exceed'} {self.delta:g}."
        )

    def result(self, protocol: ProtocolBase, profile: PrivacyProfile) -> Releases:
        """Return the protocol with the eps of one release and of all."""
        exact = self.status == "upper" and profile.kind == "exact" and profile.neighbours == "replace_one"
        points = protocol.profile_points
        return Releases(
            protocol,
            self.rounds,
            ComposedProfile([profile], [1], self.delta).epsilon(self.delta)
            if getattr(profile, "loss_parts", None)
            else epsilon_at(profile, self.delta),
            self.composed(protocol, profile, points),
            composed_lower_bound(profile, self.delta, rounds=self.rounds, points=points) if exact else None,
            infinite_mass([profile], [self.rounds]),
            "exact" if exact else self.status,
        )


class _ShareSearch(_ReleaseSearch):
    """Search for protocols with the error of discrete Laplace noise, and other noise for a share of eps.

    The error is that of a curator's discrete Laplace noise that meets the budget of all releases, up to the share. The
    other noise has the rest of the eps of one release, which is searched.
    """

    def __init__(
        self, kind: type[ProtocolBase], where: Setting, accounting: str, options: Mapping[str, Any]
    ) -> None:
        super().__init__(kind, where, accounting, options)
        curator = get(kind.task_kind, "central_laplace")
        once = curator.calibrate(where.budget, where.population, where.task)
        eps = calibrate_releases(once, where, "exact").protocol.parameters()["eps"]
        self.parts = (1.0, 2.0 * self.rounds)  # which have the same error
        self.kept = eps * (1 - options.get("share", kind.options()["share"].default))

    def calibrated(self, eps: float, delta: float) -> ProtocolBase:
        """Return the protocol for a budget of one release, with the part of eps that its error has."""
        if eps <= self.kept:
            raise Infeasible("No eps is left for the noise that cancels.")
        share = 1 - self.kept / eps
        where, budget = self.where, Budget(eps, delta, self.where.budget.neighbours)
        options = {**self.options, "share": share}
        return self.kind.calibrate(
            budget, where.population, where.task, accounting=self.accounting, **options
        )


class _PointSearch(_ReleaseSearch):
    """Search with the worst profile that has an eps and a delta."""

    status: Status = "point"

    def __init__(
        self, kind: type[ProtocolBase], where: Setting, accounting: str, options: Mapping[str, Any]
    ) -> None:
        super().__init__(kind, where, accounting, options)
        self.parts = self.parts[1:]

    def calibrate_with_profile(self, eps: float, delta: float) -> tuple[ProtocolBase, PrivacyProfile]:
        """Return the protocol for a budget of one release, and the worst profile."""
        return self.calibrated(eps, delta), point_profile(eps, delta, self.where.budget.neighbours)


def point_profile(eps: float, delta: float, neighbours: str = "replace_one") -> Profile:
    """Return the largest profile that is at most `delta` at `eps` (nats).

    It is the profile of randomized response that reveals the value with probability delta.
    """

    def delta_at(other: float) -> float:
        return delta + (1 - delta) * max(0.0, -math.expm1(other - eps)) / (1 + math.exp(-eps))

    return Profile(delta_at, "randomized response that fails", "upper", neighbours)
