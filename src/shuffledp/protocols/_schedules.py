"""How much each single-message protocol lets a report reveal, whatever kind of report it is.

A schedule fixes the local budget and the dummies; a task's folder adds the local randomizer (randomized response,
Laplace noise, ..). A protocol is one of each: ``class Amplified(AmplifiedSchedule, RandomizedResponse)``. The clones
reduction holds for every local randomizer, which is why the schedules need not know theirs.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.doubts import OWN_COIN, SIMPLIFIED
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.clones import ClonesProfile, OtherReports
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.accounting.random_population.amplification import local_budget
from shuffledp.accounting.random_population.checkin import checkin_local_budget
from shuffledp.accounting.random_population.dummies import optimal_dummies
from shuffledp.accounting.standing import EXACT, UPPER, Standing
from shuffledp.numerics.checks import check_choice, check_count
from shuffledp.populations import Binomial, Fixed, Law, Population
from shuffledp.protocols._requests import positive_delta
from shuffledp.protocols.base import Cost, Messages, ProtocolBase, Trust
from shuffledp.tasks import Budget, Ints, Public, Task, Users

Threat = Literal["conditional", "own_coin"]


def law_of(population: Population) -> Law:
    """The population, if it is a law; a mere bound on its tail cannot be simulated."""
    if not isinstance(population, Law):
        raise Infeasible(
            f"{type(population).__name__} bounds the number of users but is not a law that can be sampled."
        )
    return population


#: How the clones reduction is evaluated: closed forms are bounds on it, and it is one for every local randomizer.
_CLONES: Mapping[str, Standing] = {
    "printed": UPPER,
    "simplified": SIMPLIFIED,
    "corrected": UPPER,
    "exact": UPPER,
}


# -- one report per user, and dummies -----------------------------------------------------------------------------


class SingleReport(ProtocolBase):
    """One report per user with the same local budget; the shuffler may add reports of a fixed public input.

    A local randomizer derives from this, is a dataclass with these four fields among its own, and writes ``scheduled``,
    ``fixed_inputs``, ``encode``, ``estimate`` and ``report_bits``.
    """

    population: Law
    eps_local: float
    dummy_count: int
    adaptive: bool

    objective: ClassVar[str] = "randomized_response"
    """What the best number of dummies minimises, see `shuffledp.accounting.optimal_dummies`."""

    @classmethod
    @abstractmethod
    def scheduled(
        cls, task: Task, population: Law, eps_local: float, dummies: int = 0, *, adaptive: bool = False
    ) -> Self:
        """The protocol for a task once its schedule is known."""

    @abstractmethod
    def fixed_inputs(self, count: int) -> NDArray[Any]:
        """The public input of the dummies, ``count`` times, as ``Users.values``."""

    @abstractmethod
    def report_bits(self) -> float:
        """Size of a report in bits."""

    def dummies_added(self, n_users: Ints) -> Ints:
        """Dummies that the server adds when N users take part, (R,)."""
        if self.adaptive:
            return np.maximum(self.dummy_count - (n_users - 1), 0)
        return np.full_like(n_users, self.dummy_count)

    def dummies(self, public: Public, rng: np.random.Generator) -> Messages | None:
        """Randomized reports of the fixed input."""
        added = int(self.dummies_added(public.n_users)[0])
        return self.encode(Users(self.fixed_inputs(added)), rng) if added else None

    def cost(self) -> Cost:
        """One message per user; the server's dummies in expectation over the population."""
        return Cost(1.0, self.report_bits(), shuffler_messages=self._expected_dummies())

    def _expected_dummies(self) -> float:
        if not self.adaptive or self.dummy_count == 0:
            return float(self.dummy_count)
        window = self.population.window()
        return float(window.pmf @ np.maximum(self.dummy_count - window.support, 0))

    def dominating_pair(self) -> PrivacyProfile:
        """Clones: an upper bound for every local randomizer with this budget (Wang et al. 2023, Lemmas 1 and 2)."""
        return ClonesProfile(OtherReports(self.population, self.dummy_count, self.adaptive), self.eps_local)

    def parameters(self) -> dict[str, float]:
        """Local budget and dummies."""
        return {"eps_local": self.eps_local, "dummies": float(self.dummy_count)}


class LocalSchedule(SingleReport):
    """LOCAL: the shuffler is ignored."""

    label = "LOCAL"
    source = "Wang et al. 2023, section VII-A"
    trust: ClassVar[Trust] = "local"
    accountings = ("printed", "exact")
    reduction = "local"
    guarantees: ClassVar[Mapping[str, Standing]] = {"printed": EXACT, "exact": EXACT}

    @classmethod
    def calibrate(
        cls, budget: Budget, population: Population, task: Task, *, accounting: str = "exact"
    ) -> Self:
        """``eps_local = eps``; both accountings agree, since the guarantee of the report itself is exact.

        Parameters
        ----------
        budget : Budget
            One eps, replacement neighbours; any delta, as delta = 0 already holds.
        population : Law
            Number of other users.
        task : Task
            Of the protocol's kind.
        accounting : {"printed", "exact"}

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If the population is not a law, or for other neighbours.
        """
        cls.check_request(budget, task, accounting)
        found = cls.scheduled(task, law_of(population), budget.largest_eps)
        return replace(found, calibrated_under=accounting)


class AmplifiedSchedule(SingleReport):
    """AMPLIFIED: the local budget that shuffling with a random number of other users allows."""

    label = "AMPLIFIED"
    source = "Wang et al. 2023, Theorems 1 and 2"
    trust: ClassVar[Trust] = "shuffler"
    accountings = ("printed", "simplified", "corrected", "exact")
    reduction = "clones"
    guarantees: ClassVar[Mapping[str, Standing]] = _CLONES

    @classmethod
    def calibrate(
        cls, budget: Budget, population: Population, task: Task, *, accounting: str = "exact"
    ) -> Self:
        """The largest local budget whose central guarantee meets (eps, delta); never below eps.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Law
            Number of other users.
        task : Task
            Of the protocol's kind.
        accounting : {"printed", "simplified", "corrected", "exact"}
            How the clones reduction is evaluated.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If the population is not a law, delta is 0, or the accounting says nothing about this population.
        """
        cls.check_request(budget, task, accounting)
        law, delta = law_of(population), positive_delta(budget)
        eps_local = local_budget(law, budget.largest_eps, delta, accounting=accounting)
        return replace(cls.scheduled(task, law, eps_local), calibrated_under=accounting)


class NonAdaptiveSchedule(SingleReport):
    """NON-ADAPTIVE: k dummies, however many users take part.

    The shuffler adds the dummies: whoever knew their reports could subtract them. They amplify like reports of
    users, but each of them adds the variance of a report, so that there is a best number of them.
    """

    label = "NON-ADAPTIVE"
    source = "Wang et al. 2023, Theorem 4 and equation (6)"
    trust: ClassVar[Trust] = "shuffler_adds"
    accountings = ("printed", "simplified", "corrected", "exact")
    reduction = "clones"
    guarantees: ClassVar[Mapping[str, Standing]] = _CLONES

    @classmethod
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "exact",
        dummies: int | None = None,
    ) -> Self:
        """The number of dummies with the smallest expected error, and the local budget it allows.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Law
            Number of other users.
        task : Task
            Of the protocol's kind. For frequencies the error that is minimised is that of two values; with more
            of them the guarantee is the same and the number of dummies only nearly the best.
        accounting : {"printed", "simplified", "corrected", "exact"}
            How the clones reduction is evaluated.
        dummies : int, optional
            Use this number instead, at least 0.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If the population is not a law, delta is 0, or the accounting says nothing about this population.

        Notes
        -----
        Tried are ``k = 0, h, 2h, ..`` up to the number of potential users, ``h`` its square root; 0 stands for
        Theorems 1 and 2 (reading note RP-N9). Where dummies help, with the printed constants, the curve is flat.
        """
        cls.check_request(budget, task, accounting)
        law, delta, eps = law_of(population), positive_delta(budget), budget.largest_eps
        if dummies is None:
            plan = optimal_dummies(law, eps, delta, accounting=accounting, objective=cls.objective)
            eps_local, count = plan.eps_local, plan.dummies
        else:
            count = check_count("dummies", dummies)
            eps_local = local_budget(law, eps, delta, dummies=count, accounting=accounting)
        return replace(cls.scheduled(task, law, eps_local, count), calibrated_under=accounting)


class AdaptiveSchedule(SingleReport):
    """ADAPTIVE: ``max(k - (N - 1), 0)`` dummies, added by the shuffler.

    User 1 always hides among at least k others, and no dummies are spent when enough users take part.
    """

    label = "ADAPTIVE"
    source = "Wang et al. 2023, equation (7); clone bound derived, its Appendix C being unavailable"
    trust: ClassVar[Trust] = "shuffler_adds"
    accountings = ("printed", "simplified", "corrected", "exact")
    reduction = "clones"
    guarantees: ClassVar[Mapping[str, Standing]] = _CLONES

    @classmethod
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "exact",
        dummies: int | None = None,
        stray_factor: bool = False,
    ) -> Self:
        """The number k with the smallest expected error, and the local budget it allows.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Law
            Number of other users.
        task : Task
            Of the protocol's kind. For frequencies the error that is minimised is that of two values; with more
            of them the guarantee is the same and k only nearly the best.
        accounting : {"printed", "simplified", "corrected", "exact"}
            How the clones reduction is evaluated.
        dummies : int, optional
            Use this k instead, at least 0.
        stray_factor : bool
            Minimise equation (7) as printed, with a factor k in front of the expectation (corrected by default,
            see errata RP-E15). It makes k = 0 the best choice, which is what the paper's figures show.

        Raises
        ------
        ValueError
            If the request does not fit this protocol, or both `dummies` and `stray_factor` are given.
        Infeasible
            If the population is not a law, delta is 0, or the accounting says nothing about this population.
        """
        cls.check_request(budget, task, accounting)
        law, delta, eps = law_of(population), positive_delta(budget), budget.largest_eps
        if dummies is None:
            plan = optimal_dummies(
                law,
                eps,
                delta,
                adaptive=True,
                accounting=accounting,
                objective=cls.objective,
                stray_factor=stray_factor,
            )
            eps_local, count = plan.eps_local, plan.dummies
        elif stray_factor:
            raise ValueError("adaptive: stray_factor only matters when dummies is left out, got both.")
        else:
            count = check_count("dummies", dummies)
            eps_local = local_budget(law, eps, delta, dummies=count, adaptive=True, accounting=accounting)
        found = cls.scheduled(task, law, eps_local, count, adaptive=True)
        return replace(found, calibrated_under=accounting)


# -- random check-in ----------------------------------------------------------------------------------------------


class CheckinSchedule(ProtocolBase):
    """Random check-in with a fixed window.

    Every participant sends a slot and a randomized report. Each slot keeps one of its reports, uniformly at random;
    an empty slot gets a randomized report of a fixed public input. The analyzer sees the m reports, shuffled, and how
    many slots were filled, but not which.

    A local randomizer is added by a dataclass with these four fields among its own, that writes ``scheduled``,
    ``fixed_inputs``, ``reports``, ``aggregate``, ``estimate`` and ``message_bits``.
    """

    population: Binomial
    eps_local: float
    slots: int
    threat: Threat

    label = "RandomCheckin"
    source = "Balle, Kairouz, McMahan, Thakkar and Thakurta 2020, fixed window; constants re-derived"
    trust: ClassVar[Trust] = "shuffler_adds"
    accountings = ("printed", "exact")
    reduction = "clones"
    guarantees: ClassVar[Mapping[str, Standing]] = {"printed": UPPER, "exact": UPPER}
    streamable = False  # a slot keeps one report of all chunks

    @classmethod
    @abstractmethod
    def scheduled(
        cls, task: Task, population: Binomial, eps_local: float, slots: int, threat: Threat
    ) -> Self:
        """The protocol for a task once its schedule is known."""

    @abstractmethod
    def fixed_inputs(self, count: int) -> NDArray[Any]:
        """The public input of the fillers, ``count`` times, as ``Users.values``."""

    @abstractmethod
    def reports(self, values: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """One randomized report per value, (n,) or (n, width)."""

    @abstractmethod
    def message_bits(self) -> float:
        """Size of a message in bits: slot and report."""

    @classmethod
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "exact",
        threat: Threat = "conditional",
    ) -> Self:
        """As many slots as other users are expected, rounded down, and the local budget that they allow.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Binomial
            Number of other users.
        task : Task
            Of the protocol's kind.
        accounting : {"printed", "exact"}
            ``printed``: the closed form. ``exact``: the slots are shuffled, hence clones among m - 1 others.
        threat : {"conditional", "own_coin"}
            ``conditional`` (the default): the guarantee is for a user who takes part, as for all other protocols
            here. ``own_coin``: user 1's coin counts too, and the closed form gets its participation rate; a
            weaker promise with far larger local budgets, not comparable with the others. It presumes that the
            analyzer does not learn from the number of filled slots who takes part; no proven exact value is
            known, so ``exact`` is infeasible and there is no dominating pair.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If the population is not binomial, there is no slot, delta is 0, or nothing is proven.
        """
        cls.check_request(budget, task, accounting)
        check_choice("random_checkin: threat", threat, get_args(Threat))
        delta = positive_delta(budget)
        if not isinstance(population, Binomial):
            kind = type(population).__name__
            raise Infeasible(f"Random check-in needs users who each decide by a coin (Binomial), not {kind}.")
        # 100 * 0.29 is 28.999..: the product is rounded at the scale of its own error first.
        slots = math.floor(population.mean * (1 + 1e-12))
        if slots < 1:
            raise Infeasible(
                f"Fewer than one other user is expected ({population.mean:g}): there is no slot."
            )
        if threat == "own_coin" and accounting == "exact":
            raise Infeasible("No exact value is proven when user 1's own coin counts as protection.")
        rate = population.rate if threat == "own_coin" else 1.0
        eps_local = checkin_local_budget(slots, budget.largest_eps, delta, rate=rate, accounting=accounting)
        found = cls.scheduled(task, population, eps_local, slots, threat)
        return replace(found, calibrated_under=accounting)

    @property
    def standing(self) -> Standing:
        """A proven bound for a user who takes part; with ``own_coin`` a presumption is left."""
        return OWN_COIN if self.threat == "own_coin" else super().standing

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """(n, 1 + width): a uniform slot and a randomized report."""
        slots = rng.integers(0, self.slots, size=len(users))
        return Messages(np.column_stack((slots, self.reports(users.values, rng))))

    def shuffle(self, messages: Messages, public: Public, rng: np.random.Generator) -> Messages:
        """Keep one report per slot and fill the empty slots, (m, width + 1): report, and a tally of filled slots.

        The tally is not linked to the reports: the last column only carries how many slots were filled.
        """
        mixed = messages.payload[rng.permutation(len(messages))]
        slots, first = np.unique(mixed[:, 0], return_index=True)  # the first after mixing is a uniform one
        fillers = self.reports(self.fixed_inputs(self.slots - len(slots)), rng)
        kept = np.concatenate((mixed[first, 1:], fillers.reshape(len(fillers), mixed.shape[1] - 1)))
        return Messages(np.column_stack((rng.permutation(kept), np.arange(self.slots) < len(slots))))

    def filled_slots(self, n_users: Ints, rng: np.random.Generator) -> Ints:
        """How many slots hold a report, (R,). Which users are kept does not depend on what they hold."""
        return np.array([np.count_nonzero(np.bincount(rng.integers(0, self.slots, size=n))) for n in n_users])

    def cost(self) -> Cost:
        """One message per user: slot and report. Fillers in expectation over the population."""
        missed = 1 - 1 / self.slots
        # User 1 misses a given slot, and so does every other user who takes part.
        empty = missed * (1 - self.population.rate / self.slots) ** self.population.trials
        return Cost(1.0, self.message_bits(), shuffler_messages=self.slots * empty)

    def dominating_pair(self) -> PrivacyProfile | None:
        """Clones among the other m - 1 slots: user 1's report is in one slot or was dropped. None for own_coin."""
        if self.threat != "conditional":
            return None
        return ClonesProfile(OtherReports(Fixed(self.slots - 1)), self.eps_local)
