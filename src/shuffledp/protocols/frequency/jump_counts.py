"""Counters with jumps: a counter per value, whose pairs of messages +1 and -1 come in numbers of our own."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.expected_errors.most_messages import CompoundPoisson
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.accounting.summation.jump_counters import JumpCounter, JumpCountersProfile, jump_counters
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import OpenUnit
from shuffledp.protocols._noise_shares import AtomNoise, JumpShare, NegativeBinomialShare
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.frequency._counters import NoisyCounters
from shuffledp.tasks import Floats


@dataclass(frozen=True)
class JumpCounts(NoisyCounters):
    """Histogram of counters with correlated noise of our own; a message names a value and a sign.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included; each sends its share of the noise.
    domain_size : int
        Values are 0..domain_size-1.
    eps_star : float
        Nats, of the noise that remains in a count.
    rate, center : float
        Of the jumps in the number of pairs that cancel.
    """

    n_users: int
    domain_size: int
    eps_star: float
    rate: float
    center: float

    name = "jump_counts"
    task_kind = "frequency"
    label = "correlated noise with jumps (ours)"
    source = "derived for this project, after Ghazi, Kumar, Manurangsi and Pagh, arXiv 2106.04247"
    guarantees = under(exact=UPPER)

    @classmethod
    @from_request
    def calibrate(cls, n: int, k: int, eps: float, delta: float, *, share: OpenUnit = 0.1) -> Self:
        """The noise of every counter, see :func:`shuffledp.accounting.summation.jump_counters.jump_counters`.

        Parameters
        ----------
        share : float
            In (0, 1), the part of eps that pays for the noise that cancels.

        Raises
        ------
        Infeasible
            If delta is 0, or the noise is too wide to account for.
        """
        noise = jump_counters(eps, delta, share=share)
        return cls(n, k, noise.eps_star, noise.rate, noise.center)

    @property
    def noise(self) -> JumpCounter:
        """The noise of one counter."""
        return JumpCounter(self.eps_star, self.rate, self.center)

    @property
    def _parts(self) -> list[CompoundPoisson]:
        """Messages sent alone, and pairs that cancel."""
        single = NegativeBinomialShare(2.0, -math.expm1(-self.eps_star))
        return [single, AtomNoise(JumpShare(self.rate, self.center), ((1, 1), (-1, 1)))]

    def _noise(self, shares: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        """Noise messages +1 and -1, (.., 2), of users who send the given shares of a counter's noise."""
        stop = -math.expm1(-self.eps_star)
        pairs = JumpShare(self.rate, self.center).draw(shares, rng)
        plus, minus = rng.negative_binomial(shares, stop) + pairs, rng.negative_binomial(shares, stop) + pairs
        return np.stack((plus, minus), axis=-1).astype(np.int64)

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """The two counters that change; nothing is claimed for less than all of the noise."""
        return None if users < self.n_users else JumpCountersProfile(self.noise)
