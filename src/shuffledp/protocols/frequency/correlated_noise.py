"""Correlated noise: a counter per value, whose messages +1 and -1 carry noise that mostly cancels."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.correlated_counts import (
    CORRELATED_CONSTANTS,
    WITHDRAWN_CONSTANTS,
    CounterNoise,
    both_counters_delta,
    correlated_noise,
)
from shuffledp.accounting.baselines.correlated_pair import correlated_pair_noise, counter_pair
from shuffledp.accounting.expected_errors.most_messages import CompoundPoisson
from shuffledp.accounting.general.count_pairs import settled_count_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import EXACT, UPPER, Standing, under
from shuffledp.numerics.argument_ranges import check_choice
from shuffledp.protocols._noise_shares import AtomNoise, NegativeBinomialShare
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.frequency._counters import NoisyCounters
from shuffledp.tasks import Floats


@dataclass(frozen=True)
class CorrelatedNoise(NoisyCounters):
    """Histogram of counters with correlated noise; a message names a value and a sign.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included; each sends its share of the noise.
    domain_size : int
        Values are 0..domain_size-1.
    eps_geometric : float
        eps_1, nats, of the noise that remains.
    shape : float
        r of the noise that cancels, a real number; 0 where delta alone hides a user, and nothing cancels.
    decay : float
        ``-ln p`` of the noise that cancels.
    constants : {"corrected", "conference"}
        Of the printed accounting.
    together : bool
        Whether both counters that change were accounted for together, or each with half of the budget.
    """

    n_users: int
    domain_size: int
    eps_geometric: float
    shape: float
    decay: float
    constants: str = "corrected"
    together: bool = True

    name = "correlated_noise"
    task_kind = "frequency"
    label = "correlated noise"
    source = "Ghazi, Kumar, Manurangsi and Pagh, arXiv 2106.04247; as a baseline in arXiv 2009.13738"
    guarantees = under(printed=UPPER, exact=EXACT)

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
        share: float = 0.1,
        constants: str = "corrected",
        together: bool = True,
    ) -> Self:
        """The noise of every counter.

        See :func:`shuffledp.accounting.baselines.correlated_pair.correlated_pair_noise` for ``exact``, and
        :func:`shuffledp.accounting.baselines.correlated_counts.correlated_noise` for ``printed`` and one counter.

        Parameters
        ----------
        share : float
            g, in (0, 1), the part of eps that pays for the noise that cancels.
        constants : {"corrected", "conference"}
            Of the printed accounting.
        together : bool
            Exact: both counters that change together. Otherwise each gets (eps/2, delta/2), as printed, which takes
            about twice as many messages for the same error.

        Raises
        ------
        Infeasible
            If delta is 0; exact: if the noise is too wide to account for.
        """
        check_choice("constants", constants, CORRELATED_CONSTANTS)
        both = accounting == "exact" and bool(together)
        noise = (
            correlated_pair_noise(eps, delta, share=share)
            if both
            else correlated_noise(eps, delta, accounting=accounting, share=share, constants=constants)
        )
        used = constants if accounting == "printed" else "corrected"
        return cls(n, k, noise.eps_geometric, noise.shape, noise.decay, used, both)

    @property
    def standing(self) -> Standing:
        """That of the accounting, an upper bound for one counter at a time; unless the constants were withdrawn."""
        if self.constants == "conference":
            return WITHDRAWN_CONSTANTS
        return super().standing if self.together else UPPER

    @property
    def noise(self) -> CounterNoise:
        """The noise of one counter."""
        return CounterNoise(self.eps_geometric, self.shape, self.decay)

    @property
    def _parts(self) -> list[CompoundPoisson]:
        """Messages sent alone, and pairs that cancel."""
        single = NegativeBinomialShare(2.0, -math.expm1(-self.eps_geometric))
        pairs = NegativeBinomialShare(self.shape, -math.expm1(-self.decay))
        return [single, AtomNoise(pairs, ((1, 1), (-1, 1)))]

    def _noise(self, shares: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        """Noise messages +1 and -1, (.., 2), of users who send the given shares of a counter's noise."""
        stop = -math.expm1(-self.eps_geometric)
        # numpy has no negative binomial of shape 0, which is 0.
        pairs = rng.negative_binomial(self.shape * shares, -math.expm1(-self.decay)) if self.shape > 0 else 0
        plus = rng.negative_binomial(shares, stop) + pairs
        minus = rng.negative_binomial(shares, stop) + pairs
        return np.stack((plus, minus), axis=-1).astype(np.int64)

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """The two counters that change; nothing is claimed for less than all of the noise."""
        if users < self.n_users:
            return None
        if not self.together:
            return Profile(
                lambda eps: both_counters_delta(eps, self.noise), "exact counter with correlated noise, twice"
            )
        return Profile(
            partial(settled_count_delta, partial(counter_pair, self.noise)),
            "the two counters that change, each with correlated noise",
            "exact",
        )

    def parameters(self) -> dict[str, float]:
        """Users, values and the noise of a counter."""
        return {name: value for name, value in super().parameters().items() if name != "together"}
