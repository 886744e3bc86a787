r"""Projective geometry response: a value favors the points of a projective space that are orthogonal to its point.

The ``K = (q^t - 1)/(q - 1)`` points of the space are the vectors of ``F_q^t`` whose first nonzero entry is 1, for a
prime q and a dimension t. Value x is point x. A value favors ``m_1 = (q^(t-1) - 1)/(q - 1)`` points, and two values
favor ``m_2 = (q^(t-2) - 1)/(q - 1)`` points both, so that ``r = m_1 / K`` and ``s = m_2 / K``.

The number of reports in the set of every value follows from one Fourier transform over ``F_q^t``. Let g count a report
at every nonzero multiple of its vector. Then ``G(x) = q C_x - n`` for the transform G and the number C_x of reports
that are orthogonal to x.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shuffledp.numerics.argument_ranges import FromTwo
from shuffledp.protocols.frequency._designs import PairwiseDesign, Target
from shuffledp.protocols.frequency._hashing import is_prime, prime_above
from shuffledp.protocols.frequency._pure_reports import PureReports
from shuffledp.protocols.messages import Messages
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Ints

#: Largest number of vectors of a space that is transformed.
_MOST_VECTORS = 2**26


def points_of(prime: int, dimension: int) -> int:
    """Return the number of points of a projective space, 0 for the dimension 0."""
    return int(prime**dimension - 1) // (prime - 1)


def _least_dimension(prime: int, values: int) -> int:
    """Return the smallest dimension, from 3 on, with a point for each value."""
    return next(t for t in range(3, 99) if points_of(prime, t) >= values)


def _smallest_spaces(values: int) -> Iterator[int]:
    """Yield the smallest prime with a point for each value, for the dimensions 3, 4, .. down to the prime 2."""
    dimension, prime = 3, 0
    while prime != 2:
        prime = 2
        while points_of(prime, dimension) < values:
            prime = prime_above(prime)
        if prime**dimension <= _MOST_VECTORS:
            yield prime
        dimension += 1


@dataclass(frozen=True)
class Pgr(PairwiseDesign, PureReports):
    """Point of a projective space over the field of ``prime`` elements, more often one orthogonal to the value's."""

    prime: int

    reported = ("eps_local", "prime", "dimension")
    name = "pgr"
    label = "projective geometry response"
    source = "Feldman et al. 2022"

    @classmethod
    def fit(cls, request: Request, *, target: Target = "average", prime: FromTwo | None = None) -> Self:
        """Find the largest local budget under the exact blanket, for a given ``prime`` or the prime of least error.

        The dimension is the smallest, from 3 on, with a point for each value. Candidates are the smallest spaces of
        every dimension. ``target`` is the error: ``average`` over values of equally many users, or of a ``frequent``
        value, which a tenth of the users hold.
        """
        if prime is not None and not is_prime(prime):
            raise ValueError(f"prime must be a prime number, got {prime!r}.")
        if prime is not None and prime ** _least_dimension(prime, request.k) > _MOST_VECTORS:
            raise ValueError(f"prime must give at most 2^26 vectors, got {prime!r}.")
        primes = _smallest_spaces(request.k) if prime is None else [prime]
        return cls.best_of((cls(request.n, request.k, 1.0, each) for each in primes), request, target)

    @property
    def dimension(self) -> int:
        """Dimension t of the vectors."""
        return _least_dimension(self.prime, self.domain_size)

    @property
    def alphabet_size(self) -> int:
        """Number K of points."""
        return points_of(self.prime, self.dimension)

    @property
    def share(self) -> float:
        """Part of the points that a value favors."""
        return points_of(self.prime, self.dimension - 1) / self.alphabet_size

    @property
    def overlap(self) -> float:
        """Part of the points that two values favor both."""
        return points_of(self.prime, self.dimension - 2) / self.alphabet_size

    def vectors(self, points: Ints) -> Ints:
        """Return the vectors of points, (n, t)."""
        return _vectors(self.prime, self.dimension)[points]

    def favors(self, points: Ints, values: Ints) -> NDArray[np.bool_]:
        """Return whether the vectors of points and values are orthogonal, (points, values)."""
        return np.asarray(self.vectors(points) @ self.vectors(values).T % self.prime == 0)

    def favored_points(self, values: Ints, rng: Generator) -> Ints:
        """Draw a uniform point that is orthogonal to the point of each value."""
        q, user_vectors, rows = self.prime, self.vectors(values), np.arange(len(values))
        points, empty = np.zeros_like(user_vectors), rows
        while empty.size:
            points[empty] = rng.integers(0, q, (len(empty), self.dimension))
            first = np.argmax(user_vectors[empty] != 0, axis=1)  # this entry is 1: it corrects the product
            points[empty, first] -= np.sum(points[empty] * user_vectors[empty], axis=1)
            points[empty] %= q
            empty = empty[~points[empty].any(axis=1)]
        inverses = np.array([0, *(pow(a, -1, q) for a in range(1, q))])
        places = np.argmax(points != 0, axis=1)
        points = points * inverses[points[rows, places]][:, None] % q
        free = self.dimension - 1 - places  # entries after the 1, which are the digits of a number
        digits = points @ q ** np.arange(self.dimension)[::-1]
        return np.asarray((q**free - 1) // (q - 1) + digits - q**free, np.int64)

    def aggregate(self, messages: Messages) -> Array:
        """Return the number of reports in the set of each value, (k,)."""
        q, shape = self.prime, (self.prime,) * self.dimension
        counts = super().aggregate(messages)
        sent_points, table = np.flatnonzero(counts), np.zeros(shape)
        for factor in range(1, q):
            table[tuple((factor * self.vectors(sent_points) % q).T)] = counts[sent_points]
        transform = np.fft.fftn(table).real[tuple(self.vectors(np.arange(self.domain_size)).T)]
        return np.asarray(np.rint((transform + counts.sum()) / q), np.int64)


@lru_cache(maxsize=8)
def _vectors(prime: int, dimension: int) -> Ints:
    """Return the vectors of all points, (K, t): by the number of entries after the first 1, then by these entries."""
    parts = []
    for free in range(dimension):
        numbers = prime**free + np.arange(prime**free)  # the leading digit is 1
        parts.append(numbers[:, None] // prime ** np.arange(dimension)[::-1] % prime)
    return np.concatenate(parts)
