"""SegMM: users report items with a probability that depends on the privacy level, among blanket messages."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.accounting.segmented.plan_search import segmented_choices, segmented_plan
from shuffledp.accounting.segmented.plans import SegmentedPlan
from shuffledp.accounting.segmented.profile import SegmentedProfile
from shuffledp.guarantees import NUMBER_OF_MESSAGES, UPPER, Standing, under, weakest
from shuffledp.numerics.argument_ranges import Positive, one_of
from shuffledp.numerics.saddlepoint import ErrorLaw, poisson_term
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.protocols.sets._first_round import FirstRound, announced_privately, check_first_round
from shuffledp.protocols.sets._set_protocol import (
    SetProtocol,
    announced_sizes,
    assignment_error,
    blanket_counts,
    blanket_variance,
    blankets_sent,
    check_levels,
    holders,
    levels_of,
    most_blankets,
    sets_task,
    shape_of,
    shares,
)
from shuffledp.tasks import Array, Budget, Floats, Participants, Public, Users, even_sizes

OBJECTIVES = ("bound", "error")
#: Number of announcements over which expectations are averaged, and the fixed stream for their draws.
_ANNOUNCEMENTS = 2**15
_STREAM = 20240719


@dataclass(frozen=True)
class Segmented(SetProtocol, PlannedUsers):
    """Items of users of level k with probability lambda_k, and m expected blanket messages per user.

    Users announce their levels, the server chooses m and the probabilities, and users send data. An exact announcement
    makes levels public. With a ``first_round``, a frequency protocol announces levels, and its budget is subtracted
    from the budget of every level. Then (eps_k, delta) covers a change of a user's items and announcement; the user
    reports with the probability of the true level. Estimates are unbiased over a random assignment of levels. A private
    first round adds a small bias, as the estimate divides by noisy numbers of users. If ``blankets`` (m) is None, m
    minimizes the ``objective``.
    """

    plan: SegmentedPlan
    blankets: float | None = None
    objective: str = "bound"
    first_round: FirstRound | None = None
    announcing: ProtocolBase | None = None

    name = "segmented"
    task_kind = "sets"
    label = "SegMM"
    source = "Wang et al. 2024 (arXiv 2407.19639), Algorithms 1 and 2"
    trust = "shuffler"
    relies_on = "others' dummies"
    guarantees = under(printed=NUMBER_OF_MESSAGES, corrected=UPPER, exact=UPPER)
    multi_level = True
    follows_announcement = True

    @classmethod
    def fit(
        cls,
        request: Request,
        *,
        blankets: Positive | None = None,
        objective: Annotated[str, one_of(OBJECTIVES)] = "bound",
        first_round: Annotated[Mapping[str, Any] | FirstRound, check_first_round] | None = None,
    ) -> Self:
        """Find the reporting probabilities, and the number m of blanket messages if ``blankets`` does not fix it.

        The budget, one eps per level, is for both rounds. ``printed`` has binomial blanket messages, the others Poisson
        ones. ``objective`` is the paper's ``bound`` or the expected ``error`` for equally frequent items, the largest
        possible error. ``first_round``, by default exact, is ``{protocol, eps, delta, accounting, options}``. Raises
        `Infeasible` if nothing is left for the data round, or the search needs too many messages.
        """
        budget, delta = request.budget, request.delta
        sets = sets_task(request.task)
        check_levels(cls.name, budget, sets)
        first = None if first_round is None else FirstRound.from_config(first_round)
        announcing = (
            None if first is None else first.calibrated(budget, request.population, request.accounting)
        )
        data = Budget(budget.levels, delta) if first is None else first.left(budget)
        spread = _spread(sets.domain_size, sets.set_size) if objective == "error" else None
        plan = segmented_plan(
            even_sizes(request.usual_users, sets.levels),
            data.levels,
            data.delta,
            sets.domain_size,
            sets.set_size,
            blankets=blankets,
            accounting=request.accounting,
            spread=spread,
        )
        return cls(*shape_of(sets), plan, blankets, objective, first, announcing)

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        """Check the first round with its budget."""
        if (first := options.get("first_round")) is not None:
            FirstRound.from_config(first)

    @property
    def standing(self) -> Standing:
        """Label of the guarantee, the weaker label of both rounds; the data round is proven if users send all items."""
        certain = all(self.level_profile(level).kind == "upper" for level in range(len(self.plan.rates)))
        data = UPPER if certain else self.guarantees[self.plan.accounting]
        if self.announcing is None:
            return data
        why = self.announcing.guarantee_note or "as the protocol of the first round has it"
        return weakest((data, Standing(self.announcing.guarantee, why)))

    # -- the first round --------------------------------------------------------------------------------------------

    def announce(self, participants: Participants, rng: Generator) -> Public:
        """Return the number of users of each level, exact or from the private histogram of the first round."""
        if self.announcing is None:
            return participants.public
        return announced_privately(self.announcing, participants.public, rng)

    def refine(self, public: Public) -> Self:
        """Return the protocol with the server's parameters for the announced numbers of users."""
        sizes = announced_sizes(public, len(self.plan.eps))
        if sizes == self.plan.level_sizes:
            return self
        old = self.plan
        spread = _spread(self.domain_size, self.set_size) if self.objective == "error" else None
        plan = segmented_plan(
            sizes,
            old.eps,
            old.delta,
            self.domain_size,
            self.set_size,
            blankets=self.blankets,
            accounting=old.accounting,
            spread=spread,
        )
        return replace(self, plan=plan)

    # -- the data round ---------------------------------------------------------------------------------------------

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw the reported items and blanket messages."""
        rates = np.array(self.plan.rates)[levels_of(users, len(self.plan.rates))]
        is_reported = rng.random(users.values.shape) < rates[:, None]
        blankets = blankets_sent(self.plan, len(users), rng)
        return Messages(np.concatenate((users.values[is_reported].astype(np.int64), blankets)))

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the messages per item, (R, d), from their exact law, at a cost independent of n."""
        reports = rng.binomial(holders(participants).astype(np.int64), np.array(self.plan.rates)[:, None])
        return np.asarray(reports.sum(axis=1) + blanket_counts(self.plan, participants.public.n_users, rng))

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return shares of holders, (R, d - padding_items)."""
        blankets = public.n_users * self.plan.blankets / self.domain_size
        return self.real((aggregate - blankets[:, None]) / self.plan.reports)

    def error_law(self, participants: Participants) -> ErrorLaw | None:
        """Return a law with the squared error, in steps of a message."""
        squared, step = self.expected_squared_error(participants), 1 / self.plan.reports
        return None if squared is None else ErrorLaw([poisson_term(squared, step)], step)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats | None:
        """Return the variance of each share given the users' items and levels; None after a private first round."""
        if self.announcing is not None:
            return None
        rates = np.array(self.plan.rates)[:, None]
        coins = (holders(participants) * (rates * (1 - rates))).sum(axis=1)
        blankets = blanket_variance(self.plan, participants.public.n_users)[:, None]
        return self.real((coins + blankets) / self.plan.reports**2)

    @checked_inputs
    def expected_squared_error(self, participants: Participants) -> Floats | None:
        """Return the mean squared error of each share over the noise and a random assignment of levels.

        After a private first round the error is also a mean over 32,768 fixed announcements, drawn from their exact
        law. The standard error of this mean is below 1 %, even if the announcement causes most of the error. If the
        server searches m, `shuffledp.accounting.segmented.plan_search.segmented_choices` approximates the choice.
        """
        if self.announcing is not None:
            return self._error_after_announcement(self.announcing, participants)
        pairs = list(zip(self.plan.level_sizes, self.plan.rates, strict=True))
        coins = shares(participants) * sum(n * rate * (1 - rate) for n, rate in pairs)
        blankets = blanket_variance(self.plan, participants.public.n_users)[:, None]
        squares = sum(n * rate**2 for n, rate in pairs) / self.plan.reports**2
        noise = (coins + blankets) / self.plan.reports**2
        return self.real(noise + assignment_error(squares, participants))

    def _error_after_announcement(self, announcing: ProtocolBase, participants: Participants) -> Floats:
        """Return `expected_squared_error` over the law of the announcement, which scales all estimates."""
        true = np.array(announced_sizes(participants.public, len(self.plan.eps)))
        n = int(true.sum())
        announcements = Public(np.full(_ANNOUNCEMENTS, n), np.tile(true.astype(float), (_ANNOUNCEMENTS, 1)))
        announced_counts = announced_privately(
            announcing, announcements, np.random.default_rng(_STREAM)
        ).level_counts
        assert announced_counts is not None
        chosen = segmented_choices(
            announced_counts,
            self.plan.eps,
            self.plan.delta,
            self.domain_size,
            self.set_size,
            blankets=self.blankets,
            accounting=self.plan.accounting,
            spread=_spread(self.domain_size, self.set_size) if self.objective == "error" else None,
        )
        rates, divisor = chosen.rates, (announced_counts * chosen.rates).sum(axis=1)
        factor = rates @ true / divisor
        coins = np.mean((rates * (1 - rates)) @ true / divisor**2)
        blankets = np.mean(n * chosen.blanket_variances / divisor**2)
        assignment = np.mean(rates**2 @ true / divisor**2 - factor**2 / n) * n / max(n - 1, 1)
        w = shares(participants)
        return self.real(coins * w + blankets + assignment * w * (1 - w) + np.mean((factor - 1) ** 2) * w**2)

    def counted_on(self) -> str:
        """Name the users who send dummies."""
        return f"all other users, of {self.plan.n:,} in all"

    def cost(self) -> Cost:
        """Return the cost of reported items and blanket messages in the data round."""
        own_messages = self.set_size * self.plan.reports / self.plan.n
        most, certain = most_blankets([self.plan], self.population)
        most += self.set_size
        bits = message_bits(self.domain_size)
        return Cost(
            own_messages + self.plan.blankets, bits, own_messages, most_messages=most, most_certain=certain
        )

    def level_profile(self, level: int) -> SegmentedProfile:
        """Return the profile of the data round for a user of this level, under the accounting."""
        return SegmentedProfile(self.plan, level)

    def privacy_profile(self) -> PrivacyProfile | None:
        """Return the profile of the most private level; None after a private first round or without a proven bound."""
        profile = self.level_profile(0)
        return profile if profile.kind == "upper" and self.announcing is None else None

    @property
    def planned_users(self) -> int:
        """Number of users of all levels."""
        return self.plan.n

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return `privacy_profile` for the blanket messages of another number of users; their levels do not matter."""
        if self.privacy_profile() is None:
            return None
        return replace(self, plan=replace(self.plan, level_sizes=(users,))).level_profile(0)

    def parameters(self) -> dict[str, float]:
        """Return blanket messages, rate and budget of each level, the flat range of the search, and the first round."""
        plan = self.plan
        numbers = {"blankets": plan.blankets, "delta_data": plan.delta}
        for level, (rate, eps) in enumerate(zip(plan.rates, plan.eps, strict=True), 1):
            numbers |= {f"rate_{level}": rate, f"eps_data_{level}": eps}
        if plan.flat is not None:
            numbers |= {"flat_low": plan.flat[0], "flat_high": plan.flat[1]}
        if self.first_round is not None and self.announcing is not None:
            cost = self.announcing.cost()
            numbers |= {
                "eps_first": self.first_round.eps,
                "delta_first": self.first_round.delta,
                "messages_first": cost.messages_per_user,
                "bits_first": cost.bits_per_user,
            }
        return numbers


def _spread(domain_size: int, set_size: int) -> float:
    return set_size * (1 - set_size / domain_size)
