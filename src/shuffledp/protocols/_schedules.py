"""Schedules of the single-message protocols, local budget and dummies, for any kind of report.

A schedule fixes the local budget and the dummies; a task's folder adds the local randomizer, such as randomized
response or Laplace noise, which is a `OneReport`. A protocol derives from one of each:
``class Amplified(AmplifiedSchedule, RandomizedResponse)``. The clones reduction holds for every local randomizer, so
that a schedule does not depend on its randomizer. `shuffledp.protocols._checkin` has one more schedule.
"""

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.general.clones import ClonesProfile, OtherReports
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.accounting.random_population.amplification import local_budget
from shuffledp.guarantees import EXACT, SIMPLIFIED, UPPER, Reliance, under
from shuffledp.numerics.argument_ranges import Count
from shuffledp.populations.base import Fixed, Law
from shuffledp.protocols._inputs import checked_inputs
from shuffledp.protocols._requests import remaining
from shuffledp.protocols.base import ProtocolBase, Trust
from shuffledp.protocols.messages import Cost, Messages
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Ints, Public, Users


class OneReport(ProtocolBase):
    """One report per user with a local budget, bounded by the clones reduction; the shuffler may add dummies.

    Dummies are ``dummy_count`` reports of a fixed public input. If ``adaptive``, dummies are added only until they and
    the other users' reports together number ``dummy_count``. ``population`` is the law of the number of *other* users,
    ``eps_local`` is in nats. A local randomizer derives from this class, has these fields, and defines ``estimate`` and
    the abstract methods.
    """

    population: Law
    eps_local: float

    dummy_count = 0
    adaptive = False
    trust: ClassVar[Trust] = "shuffler_adds"
    reduction = "clones"
    # Closed forms are bounds on the reduction, and it is one for every local randomizer.
    guarantees = under(printed=UPPER, simplified=SIMPLIFIED, corrected=UPPER, exact=UPPER)
    relies_on: ClassVar[Reliance] = "others' reports"
    #: Quantity that the best number of dummies minimizes, see `shuffledp.accounting.optimal_dummies`.
    objective: ClassVar[str] = "randomized_response"

    def counted_on(self) -> str:
        """Name all other users, with their expected number."""
        return f"all other users, of whom {self.population.mean:,.12g} are expected"

    @classmethod
    @abstractmethod
    def scheduled(cls, request: Request, eps_local: float, **schedule: Any) -> Self:
        """Return the protocol for a request and a schedule; the keywords are fields of the schedule."""

    @abstractmethod
    def fixed_inputs(self, count: int) -> Array:
        """Return `count` copies of the public input of dummies, as ``Users.values``."""

    @abstractmethod
    def reports(self, values: Array, rng: Generator) -> Array:
        """Draw one randomized report per value, (n,) or (n, width)."""

    @abstractmethod
    def report_bits(self) -> float:
        """Return the bits of one report."""

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw one randomized report per user."""
        return Messages(self.reports(users.values, rng))

    def dummies_added(self, n_users: Ints) -> Ints:
        """Return the number of dummies for each number of users, (R,)."""
        if self.adaptive:
            return np.maximum(self.dummy_count - (n_users - 1), 0)
        return np.full_like(n_users, self.dummy_count)

    def dummies(self, public: Public, rng: Generator) -> Messages | None:
        """Draw randomized reports of the fixed input."""
        number = int(self.dummies_added(public.n_users)[0])
        return self.encode(Users(self.fixed_inputs(number)), rng) if number else None

    def cost(self) -> Cost:
        """Return the cost of one message per user, and the expected number of dummies."""
        return Cost(1.0, self.report_bits(), shuffler_messages=self._expected_dummies(), most_messages=1.0)

    def _expected_dummies(self) -> float:
        if not self.adaptive or self.dummy_count == 0:
            return float(self.dummy_count)
        window = self.population.window()
        return float(window.pmf @ np.maximum(self.dummy_count - window.support, 0))

    def privacy_profile(self) -> PrivacyProfile | None:
        """Return the clones bound, which holds for every local randomizer (Wang et al. 2023, Lemmas 1 and 2)."""
        return ClonesProfile(OtherReports(self.population, self.dummy_count, self.adaptive), self.eps_local)

    def profile_without(self, share: float, *, colluding: bool) -> PrivacyProfile | None:
        """Return the clones bound for the remaining users and the dummies.

        The shuffler counts colluding users among those who need no dummy: of k adaptive dummies and N - 1 other users,
        at least ``k - ceil(share (k + 1))`` hide user 1.
        """
        if share == 0 or self.relies_on == "no other user":
            return self.privacy_profile()
        dummies = self.dummy_count
        if self.adaptive and colluding:
            dummies = max(dummies - math.ceil(Fraction(str(share)) * (dummies + 1)), 0)

        def left(users: int) -> PrivacyProfile:
            others = Fixed(remaining(users, share) - 1)
            return ClonesProfile(OtherReports(others, dummies, self.adaptive), self.eps_local)

        if isinstance(self.population, Fixed):
            return left(1 + self.population.others)
        from shuffledp.accounting.general.random_users import mean_delta
        from shuffledp.protocols._planned_numbers import numbers_of

        numbers = numbers_of(self.population)
        return Profile(lambda eps: mean_delta(left, numbers, eps), "clones among the remaining users")

    def parameters(self) -> dict[str, float]:
        """Return the local budget and the number of dummies."""
        return {"eps_local": self.eps_local, "dummies": float(self.dummy_count)}

    @classmethod
    def _amplified(
        cls,
        request: Request,
        dummies: int | None,
        *,
        adaptive: bool = False,
        stray_factor: bool = False,
    ) -> Self:
        """Return the protocol with the largest local budget for a number of dummies, by default the best number."""
        law, eps, delta, accounting = request.law, request.eps, request.delta, request.accounting
        if dummies is None:
            from shuffledp.accounting.random_population.best_dummies import optimal_dummies

            plan = optimal_dummies(
                law,
                eps,
                delta,
                adaptive=adaptive,
                accounting=accounting,
                objective=cls.objective,
                stray_factor=stray_factor,
            )
            eps_local, count = plan.eps_local, plan.dummies
        elif stray_factor:
            raise ValueError(f"{cls.name}: stray_factor only matters when dummies is left out, got both.")
        else:
            count = dummies
            eps_local = local_budget(law, eps, delta, dummies=count, adaptive=adaptive, accounting=accounting)
        return cls.scheduled(request, eps_local, dummy_count=count, adaptive=adaptive)


class LocalSchedule(OneReport):
    """LOCAL: one report per user, with no use of the shuffler."""

    label = "LOCAL"
    trust = "local"
    relies_on = "no other user"
    reduction = "local"
    accountings = ("printed", "exact")
    guarantees = under(printed=EXACT, exact=EXACT)

    @classmethod
    def fit(cls, request: Request) -> Self:
        """Set ``eps_local = eps`` for any delta and accounting; the guarantee of a report is exact."""
        return cls.scheduled(request, request.eps)


class AmplifiedSchedule(OneReport):
    """AMPLIFIED: one report per user, with the largest local budget that shuffling with other users allows."""

    label = "AMPLIFIED"
    source = "Wang et al. 2023, Theorems 1 and 2"
    trust = "shuffler"

    @classmethod
    def fit(cls, request: Request) -> Self:
        """Find the largest local budget, at least eps, whose clones bound under this accounting meets (eps, delta)."""
        return cls._amplified(request, dummies=0)


class NonAdaptiveSchedule(OneReport):
    """NON-ADAPTIVE: the shuffler adds k dummies, for any number of users.

    Dummies amplify like reports of users, but each adds the variance of a report, so that a best number exists. A party
    who knows the dummies' reports could subtract these reports.
    """

    label = "NON-ADAPTIVE"
    source = "Wang et al. 2023, Theorem 4 and equation (6)"

    @classmethod
    def fit(cls, request: Request, *, dummies: Count | None = None) -> Self:
        """Find the number of dummies with the smallest expected error for two values, and the largest local budget.

        ``dummies`` fixes the number instead. The search tries ``k = 0, h, 2h, ..`` up to the number of potential users.
        The step ``h`` is the square root of this number, or a ten-thousandth of the number above 1e8 users. ``k = 0``
        is Theorems 1 and 2 (reading note RP-N9).
        """
        return cls._amplified(request, dummies)


class AdaptiveSchedule(OneReport):
    """ADAPTIVE: the shuffler adds ``max(k - (N - 1), 0)`` dummies, so that at least k other reports hide user 1."""

    label = "ADAPTIVE"
    source = "Wang et al. 2023, equation (7); clone bound derived, its Appendix C being unavailable"

    @classmethod
    def fit(cls, request: Request, *, dummies: Count | None = None, stray_factor: bool = False) -> Self:
        """Find the number k with the smallest expected error, and the largest local budget for k; ``dummies`` fixes k.

        ``stray_factor`` minimizes equation (7) as printed, with a factor k before the expectation, for which k = 0 is
        the best choice as in the paper's figures; the default is corrected (erratum RP-E15).
        """
        return cls._amplified(request, dummies, adaptive=True, stray_factor=stray_factor)
