"""LOCAL: Laplace noise in the local model."""

from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.general.profiles import CountPair, PrivacyProfile
from shuffledp.protocols._schedules import LocalSchedule
from shuffledp.protocols.vectors._laplace import LaplaceNoise


@dataclass(frozen=True)
class Local(LocalSchedule, LaplaceNoise):
    """Laplace noise without amplification: the local budget equals the central budget."""

    name = "local"
    source = "Dwork, McSherry, Nissim and Smith 2006; as LOCAL in Wang et al. 2023, section VII-A"
    task_kind = "vectors"

    def privacy_profile(self) -> PrivacyProfile:
        """Return an upper bound for one eps-DP report, the exact profile of randomized response over two values."""
        keep = -np.logaddexp(0.0, -self.eps_local)
        pair = np.array([keep, keep - self.eps_local])
        return CountPair(pair, pair[::-1], source=self.source, kind="upper")
