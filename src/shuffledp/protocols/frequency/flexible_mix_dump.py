"""Flexible mixDUMP: randomized values among dummies from some of the users."""

from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.dump.flexible import RANDOM_SENDERS
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import check_positive
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.frequency._flexible_dummies import FlexibleDummies, flexible_plan


@dataclass(frozen=True)
class FlexibleMixDump(FlexibleDummies):
    """Reports of generalized randomized response and, with some probability per user, dummies."""

    name = "flexible_mix_dump"
    task_kind = "frequency"
    label = "mixDUMP, flexible"
    source = "Li et al. 2020, Theorem 5.12"
    guarantees = under(printed=RANDOM_SENDERS, corrected=UPPER, exact=UPPER)

    @classmethod
    @from_request
    def calibrate(
        cls,
        n: int,
        k: int,
        eps: float,
        delta: float,
        *,
        accounting: str = "exact",
        eps_local: float = 8.0,
        rate: float | None = None,
        estimator: str = "expected",
    ) -> Self:
        """Find the smallest number of dummies per sender, in addition to reports that are uniform.

        Parameters
        ----------
        accounting : {"printed", "corrected", "exact"}
            Theorem 5.12, which is not a proof; its closest proven form; or the hockey stick, averaged over the
            numbers of senders and of uniform reports. The first two for eps <= 1.
        eps_local : float
            Budget of a report, nats. No dummies are needed where it is at most eps.
        rate : float, optional
            Probability of sending dummies, in (0, 1]. By default 0.01, or more for up to some thousand users, all of
            whom could fail to send.
        estimator : {"expected", "observed"}
            Number of dummies that the analyzer subtracts.

        Raises
        ------
        Infeasible
            If too few users send, or the theorem does not hold here.
        """
        eps_local = check_positive(f"{cls.name}: eps_local", eps_local)
        return cls(
            n,
            k,
            eps_local,
            *flexible_plan(
                n, k, eps, delta, accounting=accounting, rate=rate, estimator=estimator, eps_local=eps_local
            ),
        )
