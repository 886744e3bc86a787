"""SAGeo-Shuffle: a trusted shuffler adds asymmetric two-sided geometric noise to every count."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.accounting.baselines.sageo import sageo_dummies
from shuffledp.accounting.baselines.sbin import AUGMENTED_ACCOUNTINGS
from shuffledp.guarantees import EXACT, UPPER, Standing
from shuffledp.populations import Population
from shuffledp.protocols._random_users import users_until_announced
from shuffledp.protocols._requests import positive_delta
from shuffledp.protocols.frequency._geometric_shuffle import GeometricShuffle
from shuffledp.protocols.frequency._randomized_response import domain_size_of
from shuffledp.tasks import Budget, Task


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
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "exact",
        beta: float | None = None,
    ) -> Self:
        """The noise of every value, see :func:`shuffledp.accounting.baselines.sageo.sageo_dummies`.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Population
            Number of other users; only the default of `beta` depends on its mean.
        task : Frequency
        accounting : {"printed", "exact"}
        beta : float, optional
            In ``[1 - e^(-eps/2), 1]``; the one with the least error for equally frequent values if left out.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If delta is 0; S1Geo-Shuffle needs none.
        """
        cls.check_request(budget, task, accounting)
        k, delta, n = domain_size_of(task), positive_delta(budget), users_until_announced(population)
        found = sageo_dummies(n, k, budget.largest_eps, delta, accounting=accounting, beta=beta)
        return cls(k, n, found.share, found.half_eps, found.turn, calibrated_under=accounting)
