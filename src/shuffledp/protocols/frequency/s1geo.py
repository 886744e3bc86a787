"""S1Geo-Shuffle: a trusted shuffler drops messages and adds one-sided geometric noise; delta is 0."""

from dataclasses import dataclass
from typing import Self

from shuffledp.guarantees import EXACT, under
from shuffledp.numerics.argument_ranges import Eps
from shuffledp.protocols.frequency.sageo import MOST_HALF, GeometricDummies, GeometricShuffle, least_share
from shuffledp.protocols.request import Request


def s1geo_dummies(eps: Eps) -> GeometricDummies:
    """Return the dummies per value of S1Geo-Shuffle, which is eps-private at delta 0.

    Parameters
    ----------
    eps : float
        Nats, > 0.

    Notes
    -----
    Murakami, Sei and Eriguchi, arXiv 2504.07362. Exact: no smaller eps has delta 0.
    """
    half = min(eps / 2, MOST_HALF)
    return GeometricDummies(half, least_share(2 * half), 0)


@dataclass(frozen=True)
class S1Geo(GeometricShuffle):
    """Counts whose shuffler drops messages and adds one-sided geometric noise; see `GeometricShuffle`."""

    name = "s1geo"
    task_kind = "frequency"
    label = "S1Geo-Shuffle"
    source = "Murakami, Sei and Eriguchi, arXiv 2504.07362"
    guarantees = under(printed=EXACT, exact=EXACT)

    @classmethod
    def fit(cls, request: Request) -> Self:
        """Find the noise of every value, see :func:`s1geo_dummies`; delta may be 0, and both accountings agree."""
        dummies = s1geo_dummies(request.eps)
        return cls(request.k, request.usual_users, dummies.share, dummies.half_eps, dummies.turn)
