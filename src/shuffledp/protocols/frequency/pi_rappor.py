"""PI-RAPPOR, pairwise-independent RAPPOR: an affine function over a prime field with one wanted result per value.

A report is ``(u, b)``, with u in ``F_q^t`` and b in ``F_q`` for a prime q. Value x is a nonzero vector of ``F_q^t``,
for the smallest t with ``q^t - 1 >= k``, and favors the reports with ``<u, x> + b = q - 1``. The results for two values
are independent: ``r = 1/q`` and ``s = 1/q^2``, as in local hashing with q cells. A message needs ``(t + 1) log2(q)``
bits and no seed.
"""

import math
from dataclasses import dataclass
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

#: Number of pairs of a report and a value that are compared together.
_PAIRS = 2**16
#: Candidates per factor of two, and the largest prime.
_FINE, _MOST = 2, 2**16


@dataclass(frozen=True)
class PiRappor(PairwiseDesign, PureReports):
    """Affine function over the field of ``prime`` elements, more often one whose result at the value is q - 1."""

    prime: int

    reported = ("eps_local", "prime", "dimension")
    name = "pi_rappor"
    label = "PI-RAPPOR"
    source = "Feldman and Talwar 2021"

    @classmethod
    def fit(cls, request: Request, *, target: Target = "average", prime: FromTwo | None = None) -> Self:
        """Find the largest local budget under the exact blanket, for a given ``prime`` or a nearly best prime.

        ``target`` is the error: ``average`` over values of equally many users, or of a ``frequent`` value, which a
        tenth of the users hold.
        """
        if prime is not None and not (prime <= _MOST and is_prime(prime)):
            raise ValueError(f"prime must be a prime number of at most {_MOST}, got {prime!r}.")
        most = min(_MOST, 8 * request.n)
        powers = range(_FINE, math.floor(_FINE * math.log2(most)))
        primes = [prime_above(round(2 ** (i / _FINE)) - 1) for i in powers] if prime is None else [prime]
        return cls.best_of([cls(request.n, request.k, 1.0, each) for each in primes], request, target)

    @property
    def dimension(self) -> int:
        """Dimension t, the smallest with a nonzero vector for each value."""
        return next(t for t in range(1, 65) if self.prime**t > self.domain_size)

    @property
    def alphabet_size(self) -> int:
        """Number of reports, q^(t + 1)."""
        return int(self.prime ** (self.dimension + 1))

    @property
    def share(self) -> float:
        """Part of the reports that a value favors."""
        return 1 / self.prime

    @property
    def overlap(self) -> float:
        """Part of the reports that two values favor both."""
        return 1 / self.prime**2

    def results(self, points: Ints, values: Ints) -> Ints:
        """Return ``<u, x> + b`` of reports and values, arrays that broadcast."""
        rest, result = np.divmod(points, self.prime)
        vector = values + 1
        for _ in range(self.dimension):
            rest, digit = np.divmod(rest, self.prime)
            vector, entry = np.divmod(vector, self.prime)
            result = (result + digit * entry) % self.prime
        return np.asarray(result, np.int64)

    def favors(self, points: Ints, values: Ints) -> NDArray[np.bool_]:
        """Return whether the results of reports at values are q - 1, (points, values)."""
        return np.asarray(self.results(points[:, None], values) == self.prime - 1)

    def favored_points(self, values: Ints, rng: Generator) -> Ints:
        """Draw a uniform function, with the b for which the result at each value is q - 1."""
        functions = self.prime * rng.integers(0, self.prime**self.dimension, len(values))
        return functions + self.prime - 1 - self.results(functions, values)

    def aggregate(self, messages: Messages) -> Array:
        """Return the number of reports whose result at each value is q - 1, (k,)."""
        points, values = np.asarray(messages.payload, np.int64), np.arange(self.domain_size)
        counts = np.zeros(self.domain_size, np.int64)
        step = max(1, _PAIRS // self.domain_size)
        for begin in range(0, len(points), step):
            counts += np.count_nonzero(self.favors(points[begin : begin + step], values), axis=0)
        return counts
