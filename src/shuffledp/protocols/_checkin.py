"""Random check-in for any kind of report: every participant chooses one of m slots, each of which keeps one report."""

import math
from typing import Literal, Self, get_args

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.clones import ClonesProfile, OtherReports
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.accounting.random_population.checkin import checkin_local_budget
from shuffledp.guarantees import OWN_COIN, UPPER, Standing, under
from shuffledp.numerics.argument_ranges import check_choice
from shuffledp.populations.base import Fixed
from shuffledp.populations.laws import Binomial
from shuffledp.protocols._inputs import checked_inputs
from shuffledp.protocols._occupancy import filled
from shuffledp.protocols._schedules import OneReport
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.tasks import Ints, Public, Users

Threat = Literal["conditional", "own_coin"]


class CheckinSchedule(OneReport):
    """Random check-in with a fixed window: every participant sends one of m slots and a randomized report.

    Each slot keeps one of its reports, uniformly at random; an empty slot gets a randomized report of a fixed public
    input. The analyzer sees the m reports, shuffled, and the number of filled slots. ``population`` is the law of the
    number of *other* users. With the threat ``own_coin`` the guarantee includes user 1's random participation; with
    ``conditional`` user 1 always takes part. A protocol derives from this class and from a local randomizer
    (`OneReport`), and has these fields.
    """

    population: Binomial
    slots: int
    threat: Threat

    label = "RandomCheckin"
    source = "Balle, Kairouz, McMahan, Thakkar and Thakurta 2020, fixed window; constants re-derived"
    trust = "shuffler_adds"
    reduction = "clones"
    accountings = ("printed", "exact")
    guarantees = under(printed=UPPER, exact=UPPER)
    streamable = False  # a slot keeps one report of all chunks

    def slot_bits(self) -> float:
        """Return the bits of a message, which are a slot and a report."""
        return message_bits(self.slots) + self.report_bits()

    @classmethod
    def fit(cls, request: Request, *, threat: Threat = "conditional") -> Self:
        """Find the largest local budget for m slots; m is the mean number of other users, rounded down.

        ``exact`` evaluates clones among the m - 1 other slots, ``printed`` a closed form. ``threat="own_coin"`` is a
        weaker guarantee with far larger local budgets: its closed form uses the participation rate, and assumes that
        the number of filled slots does not reveal who takes part. Raises `Infeasible` for a population that is not
        binomial, for no slot, and for ``own_coin`` under ``exact``, where no bound is proven.
        """
        population = request.population
        check_choice("random_checkin: threat", threat, get_args(Threat))
        if not isinstance(population, Binomial):
            kind = type(population).__name__
            raise Infeasible(f"Random check-in needs users who each decide by a coin (Binomial), not {kind}.")
        # 100 * 0.29 is 28.999..: the product is rounded at the scale of its own error first.
        slots = math.floor(population.mean * (1 + 1e-12))
        if slots < 1:
            raise Infeasible(
                f"Fewer than one other user is expected ({population.mean:g}): there is no slot."
            )
        if threat == "own_coin" and request.accounting == "exact":
            raise Infeasible("No exact value is proven when user 1's own coin counts as protection.")
        rate = population.rate if threat == "own_coin" else 1.0
        eps_local = checkin_local_budget(
            slots, request.eps, request.delta, rate=rate, accounting=request.accounting
        )
        return cls.scheduled(request, eps_local, slots=slots, threat=threat)

    @property
    def standing(self) -> Standing:
        """Label of the guarantee, a proven bound for a user who takes part; ``own_coin`` has an unproven assumption."""
        return OWN_COIN if self.threat == "own_coin" else super().standing

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw a uniform slot and a randomized report per user, (n, 1 + width)."""
        slots = rng.integers(0, self.slots, size=len(users))
        return Messages(np.column_stack((slots, self.reports(users.values, rng))))

    def shuffle(self, messages: Messages, public: Public, rng: Generator) -> Messages:
        """Keep one report per slot and fill empty slots, (m, width + 1); the last column is 1 in filled rows."""
        mixed = messages.payload[rng.permutation(len(messages))]
        slots, first = np.unique(mixed[:, 0], return_index=True)  # the first after mixing is a uniform one
        fillers = self.reports(self.fixed_inputs(self.slots - len(slots)), rng)
        reports = np.concatenate((mixed[first, 1:], fillers.reshape(len(fillers), mixed.shape[1] - 1)))
        return Messages(np.column_stack((rng.permutation(reports), np.arange(self.slots) < len(slots))))

    def filled_slots(self, n_users: Ints, rng: Generator) -> Ints:
        """Draw the number of slots that hold a user's report, (R,). Time grows with the number of users."""
        return np.array([filled(int(n), self.slots, rng) for n in n_users])

    def cost(self) -> Cost:
        """Return the cost of a slot and a report per user, and the expected number of empty slots."""
        missed = 1 - 1 / self.slots
        # User 1 misses a given slot, and so does every other user who takes part.
        empty = missed * (1 - self.population.rate / self.slots) ** self.population.trials
        return Cost(1.0, self.slot_bits(), shuffler_messages=self.slots * empty, most_messages=1.0)

    def privacy_profile(self) -> PrivacyProfile | None:
        """Return the clones profile for reports in the other m - 1 slots; None for ``own_coin``."""
        if self.threat != "conditional":
            return None
        return ClonesProfile(OtherReports(Fixed(self.slots - 1)), self.eps_local)

    def profile_without(self, share: float, *, colluding: bool) -> PrivacyProfile | None:
        """Return the profile if a share of the users drops out, as before; None if they collude and may fill slots."""
        return self.privacy_profile() if share == 0 or not colluding else None

    parameters = ProtocolBase.parameters
