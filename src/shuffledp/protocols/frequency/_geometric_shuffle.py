"""What SAGeo- and S1Geo-Shuffle share: two-sided geometric dummies of a trusted shuffler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.sageo import GeometricDummies
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.protocols.frequency._noisy_counts import ShufflerNoise
from shuffledp.tasks import Floats, Ints


@dataclass(frozen=True)
class GeometricShuffle(ShufflerNoise):
    """Values in the clear to a shuffler that drops some of them and adds geometric noise to every count.

    The shuffler must be honest: it sees what it adds, and it and the analyzer together see everything. Nothing depends
    on what other users send.

    Parameters
    ----------
    half_eps : float
        h, nats, half of the budget.
    turn : int
        nu, the mode of the noise.
    """

    half_eps: float
    turn: int

    @property
    def noise(self) -> GeometricDummies:
        """The law of the dummies of a value."""
        return GeometricDummies(self.half_eps, self.share, self.turn)

    def noise_moments(self, users: NDArray[Any]) -> tuple[Floats, Floats]:
        """Mean and variance of the finite law, whoever takes part."""
        noise = self.noise
        return np.full(len(users), noise.mean), np.full(len(users), noise.variance)

    def draw_noise(self, users: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Exact in distribution, (R, k): a geometric law from nu on, or one that ends at 0 below it.

        Exponential numbers keep the relative precision of small probabilities, which uniform ones round to 2^-53. A
        geometric number modulo nu has the law that ends.
        """
        (right, left, below), size = self.noise.rates, (len(users), self.domain_size)
        above = self.turn + np.floor(rng.standard_exponential(size) / right).astype(np.int64)
        if self.turn == 0:
            return above
        steps = np.floor(rng.standard_exponential(size) / left).astype(np.int64) % self.turn
        return np.where(rng.standard_exponential(size) < below, above, self.turn - 1 - steps)

    def privacy_profile(self) -> PrivacyProfile:
        """The two counts that change."""
        return Profile(
            self.noise.delta,
            "the two counts that change, each with the shuffler's dummies",
            "upper" if self.others_hide else "exact",
        )
