"""MULTI-EXPECTED: secret shares with discrete Gaussian noise, planned by its expected delta."""

import math
from dataclasses import dataclass
from typing import Annotated, Self

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.random_population.multi_message import multi_expected_plan
from shuffledp.accounting.random_population.secure_sum import ORDER_FORMS, group_order, most_users
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import one_of
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.samplers import LARGEST_SCALE
from shuffledp.populations import Law, Population
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.frequency._secret_shares import (
    GaussianShares,
    law_for_bits,
    secure_sum,
)
from shuffledp.protocols.frequency._share_profiles import GaussianSumProfile
from shuffledp.tasks import Budget, Task


@dataclass(frozen=True)
class MultiExpected(GaussianShares):
    """Every user scales its bit by p, about the root of the expected number of users, and adds a discrete Gaussian."""

    name = "multi_expected"
    label = "MULTI-EXPECTED"
    source = "Wang et al. 2023, Theorem 6, Proposition 2, Algorithms 1 and 2"
    guarantees = under(printed=UPPER, exact=UPPER)

    @classmethod
    @from_request
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        eps: float,
        *,
        accounting: str = "exact",
        order: Annotated[str, one_of(ORDER_FORMS)] = "safe",
        share_form: str | None = None,
    ) -> Self:
        """Half of delta pays for the noise, averaged over the number of users, the other half for the secure sum.

        Parameters
        ----------
        task : Frequency
            Of two values.
        accounting : {"printed", "exact"}
            ``printed``: Lemma 4 with its misprints put right. ``exact``: the hockey stick of the noise itself.
            With either, tau is raised a little where noise on integers protects less than its normal limit, which
            concerns a handful of users and large budgets only; elsewhere it is the planned one.
        order : {"safe", "printed"}
            Group order. The printed one leaves no room for the noise (reading note RP-N26): the estimate wraps around
            and can become useless, which is what it is kept for.
        share_form : {"printed", "balle", "any_n"}, optional
            Number of shares: as printed, after Balle et al. 2020 for a likely number of users, or proven for any.
            The default is ``printed`` for the printed accounting and ``any_n`` for the others.

        Raises
        ------
        Infeasible
            If the task has more than two values, delta is 0, or the population is not a law.
        """
        law, delta = law_for_bits(budget, population, task), budget.delta
        plan = multi_expected_plan(law, eps, delta, accounting=accounting, order=order)
        tau = _enough(law, eps, delta, plan.precision, plan.tau)
        modulus = plan.group_order
        if tau != plan.tau:
            modulus = group_order(law, plan.precision, tau, form=order)
        if tau * math.sqrt(most_users(law)) > LARGEST_SCALE:
            raise Infeasible(f"Noise of {tau:.3g} per user is beyond what is sampled: eps is too small.")
        form = share_form or ("printed" if accounting == "printed" else "any_n")
        sums = secure_sum(law, eps, delta, modulus, form=form)
        return cls(
            population=law,
            eps=eps,
            precision=plan.precision,
            shares=sums.shares,
            group_order=modulus,
            security_bits=sums.security_bits,
            unsecured=sums.unsecured,
            room=order == "safe",
            tau=tau,
        )


def _enough(law: Law, eps: float, delta: float, precision: int, tau: float) -> float:
    """The planned tau, or a little more where noise on integers protects less than its normal limit."""
    perfect = 1e6  # bits of security: what is lost is lost by the noise

    def excess(minus_log: float) -> float:
        lost = GaussianSumProfile(law, eps, math.exp(-minus_log), precision, perfect).at(eps)
        return math.log(2 * lost / delta) if lost > 0 else -math.inf

    if excess(-math.log(tau)) <= 0:
        return tau
    start = -math.log(tau)
    return math.exp(-root_below(excess, start - 1e-4, -math.inf, start, xtol=1e-11))
