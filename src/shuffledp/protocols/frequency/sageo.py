"""SAGeo-Shuffle: a trusted shuffler adds asymmetric two-sided geometric noise to every count."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.accounting.baselines.sageo import sageo_dummies
from shuffledp.accounting.baselines.sbin import AUGMENTED_ACCOUNTINGS
from shuffledp.guarantees import EXACT, UPPER, Standing
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.frequency._geometric_shuffle import GeometricShuffle


@dataclass(frozen=True)
class SAGeo(GeometricShuffle):
    """Geometric noise around nu, as accurate as central discrete Laplace noise; see `GeometricShuffle` for trust."""

    name = "sageo"
    task_kind = "frequency"
    label = "SAGeo-Shuffle"
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
        """The noise of every value, see :func:`shuffledp.accounting.baselines.sageo.sageo_dummies`.

        Parameters
        ----------
        population : Population
            Number of other users; only the default of `beta` depends on its mean.
        beta : float, optional
            In ``[1 - e^(-eps/2), 1]``; the one with the least error for equally frequent values if left out.

        Raises
        ------
        Infeasible
            If delta is 0; S1Geo-Shuffle needs none.
        """
        found = sageo_dummies(usual_users, k, eps, delta, accounting=accounting, beta=beta)
        return cls(k, usual_users, found.share, found.half_eps, found.turn)
