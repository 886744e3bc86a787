"""SBin-Shuffle: a trusted shuffler adds fair coins to every count."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.sbin import AUGMENTED_ACCOUNTINGS, BinomialDummies, sbin_dummies
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import EXACT, UPPER, Standing
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.frequency._noisy_counts import ShufflerNoise
from shuffledp.tasks import Floats, Ints


@dataclass(frozen=True)
class SBin(ShufflerNoise):
    """Values in the clear to a shuffler that drops some of them and adds ``Bin(M, 1/2)`` of every value.

    The shuffler must be honest: it sees what it adds, and it and the analyzer together see everything. Nothing depends
    on what other users send.

    Parameters
    ----------
    coins : int
        M.
    """

    coins: int

    name = "sbin"
    task_kind = "frequency"
    label = "SBin-Shuffle"
    source = "Murakami, Sei and Eriguchi, arXiv 2504.07362"
    accountings = AUGMENTED_ACCOUNTINGS
    guarantees: ClassVar[Mapping[str, Standing]] = {"printed": UPPER, "exact": EXACT}

    @classmethod
    @from_request
    def calibrate(
        cls,
        usual_users: int,
        k: int,
        eps: float,
        delta: float,
        *,
        accounting: str = "exact",
        beta: float | None = None,
    ) -> Self:
        """The coins of every value, see :func:`shuffledp.accounting.baselines.sbin.sbin_dummies`.

        Parameters
        ----------
        population : Population
            Number of other users; only the default of `beta` depends on its mean.
        beta : float, optional
            In (0, 1]; the one with the least error for equally frequent values if left out.
        """
        found = sbin_dummies(usual_users, k, eps, delta, accounting=accounting, beta=beta)
        return cls(k, usual_users, found.share, found.coins)

    def noise_moments(self, users: NDArray[Any]) -> tuple[Floats, Floats]:
        """``M / 2`` and ``M / 4``, whoever takes part."""
        return np.full(len(users), self.coins / 2), np.full(len(users), self.coins / 4)

    def draw_noise(self, users: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Binomial, (R, k)."""
        return rng.binomial(self.coins, 0.5, (len(users), self.domain_size))

    def privacy_profile(self) -> PrivacyProfile:
        """The two counts that change."""
        return Profile(
            BinomialDummies(self.share, self.coins).delta,
            "the two counts that change, each with the shuffler's dummies",
            "upper" if self.others_hide else "exact",
        )
