"""Public-coin protocol: a count-min sketch with binomial noise in every cell."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from shuffledp.accounting.baselines.public_coin import (
    BEYOND_PROOF,
    public_coin_rate,
    public_coin_rows,
    rows_delta,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, Standing, under
from shuffledp.numerics.argument_ranges import Count, OpenUnit
from shuffledp.numerics.windows import Window, binomial_window
from shuffledp.protocols._coins import coin_blocks
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.frequency._hashing import MOST_CELLS, hash_values
from shuffledp.protocols.frequency._value_counts import held_integers
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Floats, Ints, Participants, Public, Users

#: Mass that the law of the noise omits in closed forms, and the largest number of cells of values in all rows in
#: memory.
_TAIL, _MOST_AT_ONCE = 1e-25, 1 << 26


@dataclass(frozen=True)
class PublicCoin(PlannedUsers):
    """Rows of ``2 n`` cells: in every row a user marks the value's cell, and each cell with probability gamma.

    ``rows`` is tau, ``rate`` gamma, and ``hash_seed``, the public coin, determines the hash functions. The shuffler
    permutes; users rely on the marks of all users.
    """

    no_client = (
        "No client is written for rows of hashed cells; balls_into_bins has one for values as they are."
    )

    n_users: int
    domain_size: int
    rows: int
    rate: float
    hash_seed: int = 0
    outside_proof: bool = False

    name = "public_coin"
    task_kind = "frequency"
    label = "public-coin"
    source = "Ghazi, Golowich, Kumar, Pagh and Velingker 2019, Lemma 4.10; as a baseline in arXiv 2009.13738"
    trust = "shuffler"
    relies_on = "others' dummies"
    guarantees = under(printed=UPPER, exact=UPPER)
    biased = True

    @classmethod
    def fit(
        cls,
        request: Request,
        *,
        beta: OpenUnit = 0.1,
        beyond_proof: bool = False,
        hash_seed: Count = 0,
    ) -> Self:
        """Find the number of rows and the rate, see :func:`shuffledp.accounting.public_coin_rate`.

        ``beta`` in (0, 1) is the probability of a larger error than the analysis allows; it determines the number of
        rows. ``beyond_proof`` accepts a printed gamma in (1/2, 1), outside of the proof, as in the paper's figures.
        Raises `Infeasible` for too few or too many users, or if the printed lemma does not apply.
        """
        n = request.n
        if hash_seed >= 2**32:
            raise ValueError(f"hash_seed must be an integer in 0..2^32-1, got {hash_seed!r}.")
        if 2 * n > MOST_CELLS:
            raise Infeasible(f"{n} users need rows of more than 2^32 cells.")
        rows = public_coin_rows(request.k, beta)
        rate = public_coin_rate(
            n,
            rows,
            request.eps,
            request.delta,
            accounting=request.accounting,
            beyond_proof=bool(beyond_proof),
        )
        return cls(n, request.k, rows, rate, hash_seed, rate > 0.5)

    @property
    def standing(self) -> Standing:
        """Label of the guarantee, within the range of its proof."""
        return BEYOND_PROOF if self.outside_proof else super().standing

    @property
    def columns(self) -> int:
        """Number of cells per row."""
        return 2 * self.n_users

    def cells(self) -> Ints:
        """Return the cell of each value in each row, (tau, k), numbered through all rows."""
        rows = np.arange(self.rows)[:, None]
        hashed = hash_values(self.hash_seed * 2**16 + rows, np.arange(self.domain_size), self.columns)
        return hashed.astype(np.int64) + rows * self.columns

    def cost(self) -> Cost:
        """Return the cost of one message per row for the value, and of the marks from noise."""
        rows, columns = float(self.rows), self.columns
        mean, most = rows * (1 + columns * self.rate), rows * (1 + columns)
        return Cost(mean, message_bits(self.rows * columns), own_messages=rows, most_messages=most)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw the cells of each user's value, and every cell with probability gamma. Time grows with n^2."""
        user_cells = self.cells()[:, np.asarray(users.values, np.int64)]
        total = self.rows * self.columns
        noise = [np.nonzero(coins < self.rate)[1] for _, coins in coin_blocks(len(users), total, rng)]
        return Messages(np.concatenate([user_cells.ravel(), *noise]))

    def aggregate(self, messages: Messages) -> Array:
        """Return the marks in each value's cell of each row, (tau, k); several values may share a cell."""
        counts = np.bincount(messages.payload.astype(np.int64), minlength=self.rows * self.columns)
        return counts[self.cells()]

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the marks, (R, tau, k), from their exact law for the hash functions; values in a cell share noise."""
        true_counts = held_integers(participants, self.domain_size)
        by_row, places = zip(*self._row_totals(true_counts), strict=True)
        ends = np.cumsum([totals.shape[1] for totals in by_row])
        totals = np.concatenate(by_row, axis=1)
        del by_row  # each array of this size may be a large part of the memory
        totals += rng.binomial(participants.public.n_users[:, None], self.rate, totals.shape)
        marks = np.empty((len(true_counts), self.rows, self.domain_size), np.int64)
        for row, (some, place) in enumerate(zip(np.split(totals, ends[:-1], axis=1), places, strict=True)):
            marks[:, row] = some[:, place]
        return marks

    def _row_totals(self, true_counts: Ints) -> Iterator[tuple[Ints, NDArray[np.int32]]]:
        """Yield, for each row, the users per occupied cell, (R, U), and the index of each value's cell, (k,)."""
        values = np.arange(self.domain_size)
        for row in range(self.rows):
            cells = hash_values(np.array([self.hash_seed * 2**16 + row]), values, self.columns)
            order = np.argsort(cells, kind="stable")
            first = np.append(True, np.diff(cells[order]) > 0)
            place = np.empty(self.domain_size, np.int32)
            place[order] = np.cumsum(first) - 1
            totals = np.add.reduceat(true_counts[:, order], np.flatnonzero(first), axis=1)
            yield totals, place

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return biased relative frequencies, (R, k): the least count of a value's cells minus the mean noise, or 0."""
        n = public.users_column
        least = np.min(np.asarray(aggregate), axis=1).astype(float)
        return np.asarray(np.maximum(least - self.rate * n, 0.0) / n)

    @checked_inputs
    def expected_squared_error(self, participants: Participants) -> Floats:
        """Return the squared error of each frequency given the values, (R, k), exact for the hash functions."""
        if self.rows * self.domain_size > _MOST_AT_ONCE:
            raise Infeasible(
                f"Its error is too long a sum for {self.domain_size:,} values: at most "
                f"{_MOST_AT_ONCE // self.rows:,} in {self.rows} rows."
            )
        true_counts = held_integers(participants, self.domain_size)
        different, rows = np.unique(true_counts, axis=0, return_inverse=True)
        errors = np.stack([self._errors(row) for row in different])
        return errors[rows.reshape(-1)]

    def _errors(self, true_counts: Ints) -> Floats:
        n = int(true_counts.sum())
        noise = binomial_window(n, self.rate, _TAIL)
        at_least = np.cumsum(noise.pmf[::-1])[::-1]  # Pr[noise >= v]
        # (tau, k): users of other values in the same cell
        strangers = np.stack(
            [totals[0][place] - true_counts for totals, place in self._row_totals(true_counts[None, :])]
        )
        shared = np.any(strangers > 0, axis=0)
        errors = self._alone(noise, at_least, n, true_counts)
        for value in np.nonzero(shared)[0]:
            errors[value] = self._shared(noise, at_least, n, int(true_counts[value]), strangers[:, value])
        return errors / n**2

    def _alone(self, noise: Window, at_least: Floats, n: int, true_counts: Ints) -> Floats:
        """Return ``E[max(W - gamma n, -x)^2]`` for values alone in their cells, with W the least of tau noises."""
        least = -np.diff(np.append(at_least, 0.0) ** self.rows)
        surplus = noise.support - self.rate * n
        above = np.append(np.cumsum((least * surplus**2)[::-1])[::-1], 0.0)
        below = np.append(0.0, np.cumsum(least))
        place = np.searchsorted(surplus, -true_counts.astype(float), side="right")
        return np.asarray(above[place] + below[place] * true_counts.astype(float) ** 2)

    def _shared(self, noise: Window, at_least: Floats, n: int, true_count: int, strangers: Ints) -> float:
        """Return the squared error of a value that shares cells with users of other values."""
        v = np.arange(noise.start, noise.stop + int(strangers.min()) + 1)
        index = v - strangers[:, None] - noise.start
        padded = np.append(at_least, 0.0)
        tails = np.where(index <= 0, 1.0, padded[np.clip(index, 0, noise.pmf.size)])
        least = -np.diff(np.prod(tails, axis=0))
        return float(least @ np.maximum(v[:-1] - self.rate * n, -true_count) ** 2)

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return the profile of the two cells that change in every row."""
        return Profile(
            lambda eps: rows_delta(eps, users, self.rate, self.rows),
            "composition of two counts with binomial noise per row",
        )
