"""Fragmented RAPPOR: one randomized bit per value, and each one-bit is a separate message."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.baselines.fragmented_rappor import (
    RapporCalibration,
    rappor_delta,
    rappor_flip_probability,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.sums import RAPPOR_ESTIMATORS, rappor_mse
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import RAPPOR_STANDINGS, Standing
from shuffledp.numerics.argument_ranges import check_choice, one_of
from shuffledp.numerics.saddlepoint import ErrorLaw, poisson_term
from shuffledp.protocols._coins import coin_blocks
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.protocols.summation._sums import SumReports, numbers_of
from shuffledp.tasks import Array, Floats, Ints, Participants, Public, Users

#: Calibrations of each accounting, the default first.
_CALIBRATIONS: Mapping[str, tuple[RapporCalibration, ...]] = {
    "printed": ("optimistic",),
    "exact": ("sound", "worst_case"),
}


@dataclass(frozen=True)
class FragmentedRappor(SumReports):
    """Values with bit 1 as messages, after each user flips each bit with probability p, one bit per value.

    With the estimator ``plain`` the value 0 has no bit. With ``centred`` the value 0 has a bit, and weights are values
    less D / 2.
    """

    no_client = (
        "No client is written for reports with a bit per value; single_message_sum has one for levels."
    )

    flip_probability: float
    estimator: str
    calibration: str

    name = "fragmented_rappor"
    label = "fragmented RAPPOR"
    source = "Erlingsson et al. 2020; printed: calibrated as in Ghazi et al. 2021, arXiv 2106.04247"
    accountings = ("printed", "exact")
    reduction = "own"

    @property
    def standing(self) -> Standing:
        """Label of the guarantee: ``violated`` if p is for one data set of the other users, otherwise ``upper``."""
        return RAPPOR_STANDINGS[self.calibration]

    @classmethod
    def fit(
        cls,
        request: Request,
        *,
        estimator: Annotated[str, one_of(RAPPOR_ESTIMATORS)] = "plain",
        calibration: str | None = None,
    ) -> Self:
        """Find the smallest flip probability, for all data sets of the other users or for one.

        ``calibration`` is described in :func:`shuffledp.accounting.rappor_flip_probability`. Under ``exact``, ``sound``
        (default) is for all data sets; for ``worst_case`` all others hold one of the two values. Under ``printed``, all
        others hold a third value (``optimistic``; corrected, see reading note SUM-N4). ``worst_case`` and
        ``optimistic`` violate the budget for other data sets. Raises `Infeasible` for one user.
        """
        n = request.n
        numbers = numbers_of(request.task)
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
        return cls(n, numbers, p, estimator, chosen)

    @property
    def averages(self) -> bool:
        """True for ``sound``, which calibrates for every data set of the other users."""
        return self.calibration == "sound"

    @property
    def first(self) -> int:
        """Smallest value with a bit."""
        return 1 if self.estimator == "plain" else 0

    @property
    def bits(self) -> int:
        """Number of bits."""
        return self.numbers.max_value + 1 - self.first

    @property
    def weights(self) -> Floats:
        """Contribution of each bit to the sum in steps, (bits,)."""
        values = np.arange(self.first, self.numbers.max_value + 1, dtype=float)
        return values if self.estimator == "plain" else values - self.numbers.max_value / 2

    def local_epsilon(self) -> float:
        """Return the local eps of a user's bits; at most two bits depend on the user's number."""
        p = self.flip_probability
        return min(self.bits, 2) * (math.log1p(-p) - math.log(p))

    def cost(self) -> Cost:
        """Return the expected number of one-bits of a user whose value has a bit."""
        p = self.flip_probability
        mean, bits = 1 - p + (self.bits - 1) * p, message_bits(self.bits)
        return Cost(mean, bits, own_messages=1 - p, most_messages=self.bits)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw the values whose bit is 1, numbered from the smallest value with a bit."""
        _, number = self.numbers.inputs(users)
        sent = []
        for block, coins in coin_blocks(len(number), self.bits, rng):
            ones = coins < self.flip_probability
            ones ^= np.arange(self.first, self.numbers.max_value + 1) == number[block, None]
            sent.append(np.nonzero(ones)[1])
        return Messages(np.concatenate(sent) if sent else np.zeros(0, np.int64))

    @property
    def alphabet_size(self) -> int:
        """Number of bits."""
        return self.bits

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the number of one-bits of each value, (R, bits), from their exact law."""
        true_counts = self.numbers.held(participants).astype(np.int64)
        own_bits: Ints = true_counts[:, self.first :]
        others = participants.public.n_users[:, None] - own_bits
        p = self.flip_probability
        return rng.binomial(own_bits, 1 - p) + rng.binomial(others, p)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased sums, (R,)."""
        n, p = public.n, self.flip_probability
        users = (aggregate - n[:, None] * p) / (1 - 2 * p)
        offset = 0.0 if self.estimator == "plain" else n * self.numbers.max_value / 2
        return (users @ self.weights + offset) * self.numbers.step

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return a law with the variance, in steps of the bit with the largest weight."""
        unit = self.numbers.step / (1 - 2 * self.flip_probability)
        variance = self.expected_variance(participants)[:, None]
        return ErrorLaw([poisson_term(variance, unit * np.abs(self.weights).max())], unit)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of the sum, (R,), which is the same for all data."""
        n, p = participants.public.n, self.flip_probability
        user_variance = p * (1 - p) / (1 - 2 * p) ** 2 * float(self.weights @ self.weights)
        return n * user_variance * self.numbers.step**2

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return a bound for every data set of the other users; None if the calibration is not ``sound``."""
        if self.calibration != "sound" or users < 2:
            return None
        return Profile(
            lambda eps: rappor_delta(users, self.flip_probability, eps, calibration="sound"),
            "two counts among fair bits, the others' being told from their randomized bits",
        )

    def parameters(self) -> dict[str, float]:
        """Return the flip probability and the root mean squared error of the sum."""
        mse = rappor_mse(
            self.usual_users, self.numbers.max_value, self.flip_probability, estimator=self.estimator
        )
        return {
            "flip_probability": self.flip_probability,
            "noise_rmse": math.sqrt(mse) * self.numbers.step,
        }
