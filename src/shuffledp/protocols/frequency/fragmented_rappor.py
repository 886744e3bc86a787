"""Fragmented RAPPOR: one randomized bit per value, each one-bit a separate message."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

import numpy as np

from shuffledp.accounting.baselines.fragmented_rappor import rappor_flip_probability
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import RAPPOR_STANDINGS, Standing
from shuffledp.numerics.argument_ranges import check_choice
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost, Messages, message_bits
from shuffledp.protocols.frequency._unary_bits import FlippedBits
from shuffledp.tasks import Users

#: Calibrations of each accounting, the default first.
_CALIBRATIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"printed": ("optimistic",), "exact": ("proven", "sound", "worst_case")}
)


@dataclass(frozen=True)
class FragmentedRappor(FlippedBits):
    """Messages are the values whose bits are set after every bit was flipped with probability p.

    The shuffler permutes the messages of all users. Users rely on the bits of all others. The task ``summation`` has a
    protocol of the same name and messages.

    Parameters
    ----------
    calibration : {"proven", "sound", "worst_case", "optimistic"}
        Assumption on the other users' values for p, see `calibrate`.
    """

    calibration: str

    name = "fragmented_rappor"
    task_kind = "frequency"
    label = "fragmented RAPPOR"
    source = "Erlingsson et al. 2020; printed: calibrated as in Ghazi et al. 2021, arXiv 2106.04247"
    trust = "shuffler"
    relies_on = "others' reports"
    poisoning = "capped messages"
    accountings = ("printed", "exact")
    reduction = "own"

    @property
    def standing(self) -> Standing:
        """``upper`` if p suits every data set of the others, ``violated`` if it was found for one."""
        return RAPPOR_STANDINGS[self.calibration]

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
        calibration: str | None = None,
    ) -> Self:
        """Find the smallest flip probability for all data sets of the other users, or for one of them.

        Parameters
        ----------
        population : Population
            Number of other users, at least 1.
        accounting : {"printed", "exact"}
            ``printed`` assumes other users who are not the worst case (corrected, see reading note SUM-N4): the budget
            is violated for other data sets. ``exact`` holds for all of them, but for ``worst_case``.
        calibration : {"optimistic", "proven", "sound", "worst_case"}, optional
            Assumption on the other users' values, see :func:`shuffledp.accounting.rappor_flip_probability`. ``printed``
            has ``optimistic`` alone: a third value. ``exact`` has ``proven``, the default, and ``sound``, bounds for
            all data sets, and ``worst_case``: one of the two values; the budget is violated for other data sets.

        Raises
        ------
        Infeasible
            If there is one user only, or delta is 0.
        """
        known = _CALIBRATIONS[accounting]
        chosen = check_choice(f"{cls.name}: calibration under {accounting}", calibration or known[0], known)
        if n < 2:
            raise Infeasible(
                "At least one other user is needed: the bits of a user hide among the bits of others."
            )
        p = rappor_flip_probability(n, eps, delta, calibration=chosen)
        return cls(n, k, 1 - p, p, chosen)

    @property
    def alphabet_size(self) -> int:
        """Number of kinds of message, one per value."""
        return self.domain_size

    def cost(self) -> Cost:
        """Return the cost of the expected one-bits of k bits."""
        p = self.flip_probability
        own = 1 - p
        k = self.domain_size
        return Cost(own + (k - 1) * p, message_bits(k), own_messages=own, most_messages=k)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """Return the values whose bits are set, of all users."""
        return Messages(np.nonzero(self.rows(users, rng))[1])

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return an upper bound for every data set of the others; None for calibrations that assume one."""
        return super().profile_for(users) if self.calibration in ("proven", "sound") else None
