"""LOCAL: randomized response in the local model."""

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.general.profiles import CountPair, PrivacyProfile
from shuffledp.protocols._schedules import LocalSchedule
from shuffledp.protocols.frequency._randomized_response import RandomizedResponse


@dataclass(frozen=True)
class Local(LocalSchedule, RandomizedResponse):
    """Randomized response without amplification: the local budget equals the central budget."""

    name = "local"
    source = "Warner 1965; as LOCAL in Wang et al. 2023, section VII-A"
    task_kind = "frequency"

    def privacy_profile(self) -> PrivacyProfile:
        """Return the exact profile of a single report."""
        keep = math.log(self.response.keep)
        lie = keep - self.eps_local  # lie = keep / E, also where E overflows
        rest = (
            [lie + math.log(self.domain_size - 2)] if self.domain_size > 2 else []
        )  # equally likely under both
        return CountPair(np.array([keep, lie, *rest]), np.array([lie, keep, *rest]), source=self.source)
