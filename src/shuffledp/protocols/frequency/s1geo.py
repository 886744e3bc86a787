"""S1Geo-Shuffle: a trusted shuffler drops messages and adds one-sided geometric noise; delta is 0."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.accounting.baselines.sageo import s1geo_dummies
from shuffledp.accounting.baselines.sbin import AUGMENTED_ACCOUNTINGS
from shuffledp.guarantees import EXACT, Standing
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.frequency._geometric_shuffle import GeometricShuffle


@dataclass(frozen=True)
class S1Geo(GeometricShuffle):
    """Geometric noise from 0 on, and messages dropped to match it; see `GeometricShuffle` for trust."""

    name = "s1geo"
    task_kind = "frequency"
    label = "S1Geo-Shuffle"
    source = "Murakami, Sei and Eriguchi, arXiv 2504.07362"
    accountings = AUGMENTED_ACCOUNTINGS
    guarantees: ClassVar[Mapping[str, Standing]] = {"printed": EXACT, "exact": EXACT}

    @classmethod
    @from_request
    def calibrate(cls, usual_users: int, k: int, eps: float) -> Self:
        """The noise of every value, see :func:`shuffledp.accounting.baselines.sageo.s1geo_dummies`.

        Parameters
        ----------
        budget : Budget
            One eps, replacement neighbours; delta may be 0 and is not used.
        population : Population
            Number of other users, who do not matter.
        accounting : {"printed", "exact"}
            The same: the printed noise is exactly what is needed.
        """
        found = s1geo_dummies(eps)
        return cls(k, usual_users, found.share, found.half_eps, found.turn)
