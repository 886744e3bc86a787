"""Hadamard designs: a point is a block of values and a column of a Hadamard matrix of order b, in Sylvester's order.

A value is a row of the matrix of its block, and favors the columns of this block in which the row is +1. With B blocks
the share is ``1/(2 B)``. Two values of a block have the overlap ``1/(4 B)``, values of different blocks have none. T is
+1 for a report in the set of x, -1 for a report in the rest of its block, and 0 otherwise. ``mean(T) / (1 - lambda)``
is an unbiased frequency. If a part g of the users has a value of the block, its variance with ``Z = E - 1 + 2 B`` is

.. math:: \\left( Z \\, \\frac{g (E + 1) + 2 (1 - g)}{(E - 1)^2} - f_x \\right) / n .

A fast Walsh-Hadamard transform of the counts of all points returns the sums of T for all values.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shuffledp.numerics.argument_ranges import FromOne
from shuffledp.numerics.saddlepoint import ErrorLaw, poisson_term
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols.frequency._binary_subspaces import hadamard_transformed, parity
from shuffledp.protocols.frequency._designs import DesignReports, Target
from shuffledp.protocols.frequency._value_counts import held_counts, held_integers
from shuffledp.protocols.messages import Messages
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Floats, Ints, Participants, Public


@dataclass(frozen=True)
class HadamardReports(DesignReports):
    """Column of the Hadamard matrix of a block of values, for a number of ``blocks`` that is a power of two."""

    blocks: int

    reported = ("eps_local", "blocks", "order")
    #: Largest number of blocks, as a part of the smallest power of two from k on.
    largest_share: ClassVar[float]

    @property
    @abstractmethod
    def order(self) -> int:
        """Order b of the matrices, a power of two."""

    @property
    @abstractmethod
    def first_row(self) -> int:
        """First of the rows that are values; the values of a block are all rows from here on."""

    @classmethod
    def fit(cls, request: Request, *, target: Target = "average", blocks: FromOne | None = None) -> Self:
        """Find the largest local budget under the exact blanket, for given ``blocks`` or the number of least error.

        ``target`` is the error: ``average`` over values of equally many users, or of a ``frequent`` value, which a
        tenth of the users hold.
        """
        most = round(cls.largest_share * 2 ** (request.k - 1).bit_length())
        powers = [2**i for i in range(most.bit_length())]
        if blocks is not None and blocks not in powers:
            raise ValueError(f"blocks must be a power of two in [1, {most}], got {blocks!r}.")
        chosen = powers if blocks is None else [blocks]
        return cls.best_of([cls(request.n, request.k, 1.0, each) for each in chosen], request, target)

    @property
    def alphabet_size(self) -> int:
        """Number of points, B b."""
        return self.blocks * self.order

    @property
    def share(self) -> float:
        """Part of the points that a value favors, half of a block."""
        return 0.5 / self.blocks

    @property
    def overlap(self) -> float:
        """Overlap of values of different blocks, or of one block if there is no other."""
        return 0.25 if self.blocks == 1 else 0.0

    def places(self, values: Ints) -> tuple[Ints, Ints]:
        """Return block and row of values."""
        block, row = np.divmod(values, self.order - self.first_row)
        return block, row + self.first_row

    def favors(self, points: Ints, values: Ints) -> NDArray[np.bool_]:
        """Return whether the column is in the block of a value, and +1 in its row, (points, values)."""
        (block, row), points = self.places(values), points[:, None]
        return np.asarray((points // self.order == block) & ~parity(points % self.order & row))

    def favored_points(self, values: Ints, rng: Generator) -> Ints:
        """Draw a column of the block that is +1 in the row of each value."""
        block, row = self.places(values)
        column = rng.integers(0, self.order, len(values))
        column ^= parity(column & row) * (row & -row)  # a bit of the row turns -1 into +1
        return np.asarray(block * self.order + column, np.int64)

    def sums(self, counts: Ints) -> Ints:
        """Return the sums of T for all values, (R, k), from the counts of all points, (R, B b)."""
        table = hadamard_transformed(counts.reshape(-1, self.blocks, self.order))
        block, row = self.places(np.arange(self.domain_size))
        return np.asarray(table[:, block, row])

    def aggregate(self, messages: Messages) -> Array:
        """Return the sums of T for all values, (k,)."""
        return np.asarray(self.sums(super().aggregate(messages)[None])[0])

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the sums of T for all values, (R, k), from the counts of all points, at a cost independent of n."""
        true_counts = held_integers(participants, self.domain_size)
        certain = rng.binomial(true_counts, self.certain_rate)
        uniform = participants.public.n_users - certain.sum(axis=1)
        counts = rng.multinomial(uniform, np.full(self.alphabet_size, 1 / self.alphabet_size))
        columns, half = np.arange(self.order), 2 / self.order
        for value, (block, row) in enumerate(zip(*self.places(np.arange(self.domain_size)), strict=True)):
            favored = block * self.order + columns[~parity(columns & row)]
            counts[:, favored] += rng.multinomial(certain[:, value], np.full(len(favored), half))
        return self.sums(counts)

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased relative frequencies, (R, k)."""
        return np.asarray(aggregate / (public.users_column * self.certain_rate))

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return a Poisson law of the variance, in steps of one report."""
        step = 1 / (participants.public.users_column * self.certain_rate)
        return ErrorLaw([poisson_term(self.expected_variance(participants), step)], step)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each frequency given the values, (R, k)."""
        n, true_counts = participants.public.users_column, held_counts(participants, self.domain_size)
        block, _ = self.places(np.arange(self.domain_size))
        starts = np.flatnonzero(np.diff(block, prepend=-1))
        inside = np.add.reduceat(true_counts, starts, axis=1)[:, block] / n  # the part g of the users
        certain = self.certain_rate
        mean_square = certain * inside + (1 - certain) / self.blocks  # the mean of T^2
        return np.asarray((mean_square / certain**2 - true_counts / n) / n)

    def gain_per_fake(self, most: float) -> float:
        """Return the gain of reports in the set of the target."""
        return most / self.certain_rate
