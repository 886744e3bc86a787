"""SBin-Shuffle: a trusted shuffler adds fair coins to every count."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.sageo import AugmentedProfile
from shuffledp.accounting.baselines.sbin import AUGMENTED_ACCOUNTINGS, BinomialDummies, sbin_dummies
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import EXACT, UPPER, Standing
from shuffledp.populations import Population
from shuffledp.protocols._random_users import users_until_announced
from shuffledp.protocols._requests import positive_delta
from shuffledp.protocols.frequency._noisy_counts import ShufflerNoise
from shuffledp.protocols.frequency._randomized_response import domain_size_of
from shuffledp.tasks import Budget, Floats, Ints, Task


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
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "exact",
        beta: float | None = None,
    ) -> Self:
        """The coins of every value, see :func:`shuffledp.accounting.baselines.sbin.sbin_dummies`.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Population
            Number of other users; only the default of `beta` depends on its mean.
        task : Frequency
        accounting : {"printed", "exact"}
        beta : float, optional
            In (0, 1]; the one with the least error for equally frequent values if left out.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If delta is 0.
        """
        cls.check_request(budget, task, accounting)
        k, delta, n = domain_size_of(task), positive_delta(budget), users_until_announced(population)
        found = sbin_dummies(n, k, budget.largest_eps, delta, accounting=accounting, beta=beta)
        return cls(k, n, found.share, found.coins, calibrated_under=accounting)

    def noise_moments(self, users: NDArray[Any]) -> tuple[Floats, Floats]:
        """``M / 2`` and ``M / 4``, whoever takes part."""
        return np.full(len(users), self.coins / 2), np.full(len(users), self.coins / 4)

    def draw_noise(self, users: NDArray[Any], rng: np.random.Generator) -> Ints:
        """Binomial, (R, k)."""
        return rng.binomial(self.coins, 0.5, (len(users), self.domain_size))

    def privacy_profile(self) -> PrivacyProfile:
        """The two counts that change."""
        return AugmentedProfile(
            BinomialDummies(self.share, self.coins), "upper" if self.others_hide else "exact"
        )
