"""Counters with jumps: a counter per value, with a compound Poisson number of pairs of messages +1 and -1."""

from dataclasses import dataclass
from typing import Self

from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.designs.jump_laws import JumpCounter, JumpCountersProfile, jump_counters
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import OpenUnit
from shuffledp.protocols._noise_shares import JumpShare
from shuffledp.protocols.frequency._counters import NoisyCounters
from shuffledp.protocols.request import Request


@dataclass(frozen=True)
class JumpCounts(NoisyCounters):
    """Histogram of counters with correlated noise from jumps; a message is a value and a sign.

    ``eps_star`` (nats) belongs to the noise that remains; ``rate`` and ``center`` belong to the jumps of the number of
    pairs.
    """

    eps_star: float
    rate: float
    center: float

    name = "jump_counts"
    task_kind = "frequency"
    label = "correlated noise with jumps"
    source = "derived for this project, after Ghazi, Kumar, Manurangsi and Pagh, arXiv 2106.04247"
    proof = "shuffledp.designs.jump_laws"
    guarantees = under(exact=UPPER)

    @classmethod
    def fit(cls, request: Request, *, share: OpenUnit = 0.1) -> Self:
        """Find the noise of every counter with :func:`shuffledp.designs.jump_laws.jump_counters`.

        ``share`` in (0, 1) is the part of eps for the noise that cancels. Raises `Infeasible` if the noise is too wide.
        """
        noise = jump_counters(request.eps, request.delta, share=share)
        return cls(request.n, request.k, noise.eps_star, noise.rate, noise.center)

    @property
    def noise(self) -> JumpCounter:
        """Noise of one counter."""
        return JumpCounter(self.eps_star, self.rate, self.center)

    @property
    def remaining_eps(self) -> float:
        """Parameter eps_star in nats."""
        return self.eps_star

    @property
    def pairs(self) -> JumpShare:
        """Law of the number of pairs, a sum of jumps."""
        return JumpShare(self.rate, self.center)

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return the profile of the two counters that change; None if fewer users than planned send noise."""
        return None if users < self.n_users else JumpCountersProfile(self.noise)
