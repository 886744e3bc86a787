"""Counters with jumps: a counter per value, whose pairs of messages +1 and -1 have a compound Poisson number."""

from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.accounting.summation.jump_laws import JumpCounter, JumpCountersProfile, jump_counters
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import OpenUnit
from shuffledp.protocols._noise_shares import JumpShare
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.frequency._counters import NoisyCounters


@dataclass(frozen=True)
class JumpCounts(NoisyCounters):
    """Histogram of counters with correlated noise from jumps; a message names a value and a sign.

    Parameters
    ----------
    eps_star : float
        Nats, of the noise that remains in a count.
    rate, center : float
        Parameters of the jumps in the number of pairs that cancel.
    """

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
        """Find the noise of every counter, see :func:`shuffledp.accounting.summation.jump_laws.jump_counters`.

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
        """Noise of one counter."""
        return JumpCounter(self.eps_star, self.rate, self.center)

    @property
    def remaining_eps(self) -> float:
        """eps_star."""
        return self.eps_star

    @property
    def pairs(self) -> JumpShare:
        """Law of the pairs: sums of jumps."""
        return JumpShare(self.rate, self.center)

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return the profile of the two counters that change; None if part of the noise is missing."""
        return None if users < self.n_users else JumpCountersProfile(self.noise)
