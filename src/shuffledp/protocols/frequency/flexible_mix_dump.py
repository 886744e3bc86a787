"""Flexible mixDUMP: randomized values among dummies of some users."""

from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.dump.flexible import RANDOM_SENDERS
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import Eps, Rate
from shuffledp.protocols.frequency._flexible_dummies import Estimator, FlexibleDummies, flexible_plan
from shuffledp.protocols.request import Request


@dataclass(frozen=True)
class FlexibleMixDump(FlexibleDummies):
    """Reports of generalized randomized response, and dummies that each user sends with some probability."""

    name = "flexible_mix_dump"
    task_kind = "frequency"
    label = "mixDUMP, flexible"
    source = "Li et al. 2020, Theorem 5.12"
    guarantees = under(printed=RANDOM_SENDERS, corrected=UPPER, exact=UPPER)

    @classmethod
    def fit(
        cls,
        request: Request,
        *,
        eps_local: Eps = 8.0,
        rate: Rate | None = None,
        estimator: Estimator = "expected",
    ) -> Self:
        """Find the smallest number of dummies per sender, with uniform reports of budget ``eps_local`` besides.

        ``printed`` is Theorem 5.12, which is not proven, and ``corrected`` the closest proven form, both for eps <= 1.
        ``exact`` is the hockey stick, averaged over the numbers of senders and of uniform reports. The default ``rate``
        is `default_rate`; ``estimator`` is the number of dummies to subtract. Raises `Infeasible` if too few users send
        dummies.
        """
        return cls(
            request.n,
            request.k,
            eps_local,
            *flexible_plan(
                request.n,
                request.k,
                request.eps,
                request.delta,
                accounting=request.accounting,
                rate=rate,
                estimator=estimator,
                eps_local=eps_local,
            ),
        )
