"""S1Geo-Shuffle: a trusted shuffler drops messages and adds one-sided geometric noise; delta is 0."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.accounting.baselines.sageo import s1geo_dummies
from shuffledp.accounting.baselines.sbin import AUGMENTED_ACCOUNTINGS
from shuffledp.guarantees import EXACT, Standing
from shuffledp.populations import Population
from shuffledp.protocols._random_users import users_until_announced
from shuffledp.protocols.frequency._geometric_shuffle import GeometricShuffle
from shuffledp.protocols.frequency._randomized_response import domain_size_of
from shuffledp.tasks import Budget, Task


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
    def calibrate(
        cls, budget: Budget, population: Population, task: Task, *, accounting: str = "exact"
    ) -> Self:
        """The noise of every value, see :func:`shuffledp.accounting.baselines.sageo.s1geo_dummies`.

        Parameters
        ----------
        budget : Budget
            One eps, replacement neighbours; delta may be 0 and is not used.
        population : Population
            Number of other users, who do not matter.
        task : Frequency
        accounting : {"printed", "exact"}
            The same: the printed noise is exactly what is needed.

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        """
        cls.check_request(budget, task, accounting)
        found = s1geo_dummies(budget.largest_eps)
        n = users_until_announced(population)
        return cls(
            domain_size_of(task), n, found.share, found.half_eps, found.turn, calibrated_under=accounting
        )
