"""Fragmented RAPPOR: one randomized bit per value, and each one-bit is a separate message."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from shuffledp.accounting.baselines.fragmented_rappor import RapporCalibration, rappor_flip_probability
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import RAPPOR_STANDINGS, Standing
from shuffledp.numerics.argument_ranges import check_choice
from shuffledp.protocols._inputs import checked_inputs
from shuffledp.protocols.frequency._unary_bits import FlippedBits
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.tasks import Users

#: Calibrations of each accounting, the default first.
_CALIBRATIONS: Mapping[str, tuple[RapporCalibration, ...]] = {
    "printed": ("optimistic",),
    "exact": ("proven", "sound", "worst_case"),
}


@dataclass(frozen=True)
class FragmentedRappor(FlippedBits):
    """Values with bit 1 as messages, after each user flips each of k bits with probability p, one bit per value.

    The shuffler permutes the messages. Users rely on all other users' bits. ``calibration`` names the assumption on the
    other users' values, see `calibrate`. The task ``summation`` has a protocol of the same name and messages.
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
        """Label of the guarantee: ``violated`` if p is for one data set of the other users, otherwise ``upper``."""
        return RAPPOR_STANDINGS[self.calibration]

    @classmethod
    def fit(cls, request: Request, *, calibration: str | None = None) -> Self:
        """Find the smallest flip probability, for all data sets of the other users or for one.

        ``calibration`` is described in :func:`shuffledp.accounting.rappor_flip_probability`. Under ``exact``,
        ``proven`` (default) and ``sound`` are for all data sets; for ``worst_case`` all others hold one of the two
        values. Under ``printed``, all others hold a third value (``optimistic``; corrected, see reading note SUM-N4).
        ``worst_case`` and ``optimistic`` violate the budget for other data sets. Raises `Infeasible` for one user.
        """
        n = request.n
        calibrations = _CALIBRATIONS[request.accounting]
        chosen = check_choice(
            f"{cls.name}: calibration under {request.accounting}",
            calibration or calibrations[0],
            calibrations,
        )
        if n < 2:
            raise Infeasible(
                "At least one other user is needed: the bits of a user hide among the bits of others."
            )
        p = rappor_flip_probability(n, request.eps, request.delta, calibration=chosen)
        return cls(n, request.k, 1 - p, p, chosen)

    @property
    def alphabet_size(self) -> int:
        """Number of different messages, one per value."""
        return self.domain_size

    def cost(self) -> Cost:
        """Return the expected number of one-bits among the k bits of a user."""
        p = self.flip_probability
        own_rate = 1 - p
        k = self.domain_size
        return Cost(own_rate + (k - 1) * p, message_bits(k), own_messages=own_rate, most_messages=k)

    @checked_inputs
    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """Draw the values whose bit is 1 in the rows of all users."""
        return Messages(np.nonzero(self.rows(users, rng))[1])

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return an upper bound for every data set of the other users; None if calibrated for one data set."""
        return super().profile_for(users) if self.calibration in ("proven", "sound") else None
