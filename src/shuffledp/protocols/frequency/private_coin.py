"""Private-coin protocol: tuples of Hadamard codeword entries among uniform tuples."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.baselines.private_coin import (
    default_entries,
    private_coin_tuples,
)
from shuffledp.accounting.general.matched_blanket import matched_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import check_count, one_of
from shuffledp.numerics.saddlepoint import ErrorLaw, Term
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.frequency._binary_subspaces import (
    all_subspaces,
    kernel_bases,
    kernel_law,
    parity,
    random_subspaces,
    spans,
    subspace_count,
)
from shuffledp.protocols.frequency._value_counts import held_counts, held_integers
from shuffledp.protocols.messages import Cost, Messages
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Floats, Ints, Participants, Public, Users

#: Number of elements of subspaces, or of matrices, per pass.
_CELLS = 2**20
#: Number of subspaces of one dimension up to which all are listed.
_FEW_SUBSPACES = 200


@dataclass(frozen=True)
class PrivateCoin(PlannedUsers):
    """Multi-message Hadamard response: tau entries of a codeword as a message, among rho uniform tuples per user.

    Value v is the vector v + 1. Its codeword has the vectors that are orthogonal to it; a tuple counts for every value
    to whose vector all its entries are orthogonal. ``tuples`` is rho, ``entries`` tau. The shuffler permutes; users
    rely on all users' tuples.
    """

    no_client = (
        "No client is written for Hadamard response; balls_into_bins has one for counts with binomial noise."
    )

    n_users: int
    domain_size: int
    tuples: int
    entries: int

    name = "private_coin"
    task_kind = "frequency"
    label = "private-coin"
    source = "Ghazi, Golowich, Kumar, Pagh and Velingker 2019, Theorem 4.3; as a baseline in arXiv 2009.13738"
    trust = "shuffler"
    relies_on = "others' dummies"
    guarantees = under(printed=UPPER, exact=UPPER)
    reduction = "blanket"

    @classmethod
    def fit(
        cls,
        request: Request,
        *,
        entries: Annotated[int, partial(check_count, least=1, most=60)] | None = None,
        constant: Annotated[str, one_of(("theorem", "lemma"))] = "theorem",
    ) -> Self:
        """Find the uniform tuples per user, see :func:`shuffledp.accounting.private_coin_tuples`.

        ``entries`` is tau, by default ``log2 n`` rounded down; ``constant`` names the constants of the printed theorem.
        """
        n = request.n
        entries = default_entries(n) if entries is None else entries
        tuples = private_coin_tuples(
            n, request.eps, request.delta, accounting=request.accounting, entries=entries, constant=constant
        )
        return cls(n, request.k, tuples, int(entries))

    @property
    def bits(self) -> int:
        """Number of bits of one entry, ``log2(2 B)``, B the least power of two that is at least k."""
        return (self.domain_size - 1).bit_length() + 1

    @property
    def chance(self) -> float:
        """Probability that a uniform tuple counts for a given value, ``2^-tau``."""
        return 2.0**-self.entries

    @property
    def _kind(self) -> type[np.uint16 | np.uint32 | np.uint64]:
        if self.bits <= 16:
            return np.uint16
        return np.uint32 if self.bits <= 32 else np.uint64

    def counted_on(self) -> str:
        """Name the users who send dummies."""
        return f"{super().counted_on()}, {self.tuples:,} uniform tuples each"

    def cost(self) -> Cost:
        """Return the cost of the user's tuple and of rho uniform tuples."""
        sent = 1.0 + self.tuples
        return Cost(sent, self.entries * self.bits, most_messages=sent)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw a tuple from each user's codeword, and rho uniform tuples per user, (n (1 + rho), tau)."""
        values = np.asarray(users.values, np.int64)
        vectors = (values + 1)[:, None]
        user_tuples = rng.integers(0, 2**self.bits, size=(len(vectors), self.entries), dtype=self._kind)
        # Flipping a bit that the vector has makes an entry orthogonal, and leaves it uniform among those.
        user_tuples ^= np.where(parity(user_tuples & vectors), vectors & -vectors, 0).astype(self._kind)
        others = rng.integers(
            0, 2**self.bits, size=(self.tuples * len(vectors), self.entries), dtype=self._kind
        )
        return Messages(np.concatenate((user_tuples, others)))

    def aggregate(self, messages: Messages) -> Array:
        """Return the number of tuples that count for each value, (k,): the value's vector is in their kernel."""
        counts = np.zeros((1, self.domain_size), np.int64)
        step = max(1, _CELLS // max(self.bits, self.entries))
        for begin in range(0, len(messages), step):
            bases, dimensions = kernel_bases(messages.payload[begin : begin + step], self.bits)
            counts += np.count_nonzero(dimensions == self.bits)  # counts for every value
            for dimension in range(1, self.bits):
                chosen = bases[dimensions == dimension, :dimension]
                for part in _parts(len(chosen), 2**dimension):
                    self._add(counts, np.zeros(len(chosen[part]), np.int64), spans(chosen[part])[:, 1:])
        return np.asarray(counts[0])

    def _add(self, counts: Ints, repeats: Ints, vectors: Ints) -> None:
        """Add one to the counts of the given values' vectors, (M, w), in the given repeats, (M,); no vector is 0."""
        size, vectors = 2**self.bits, vectors.T  # as they lie in memory
        if vectors.size * 8 < counts.size:
            row, place = np.nonzero(vectors <= self.domain_size)
            np.add.at(counts, (repeats[place], vectors[row, place] - 1), 1)
        else:  # all that are not 0: sorting out those of no value takes longer
            occurrences = np.bincount((vectors + repeats * size).ravel(), minlength=len(counts) * size)
            counts += occurrences.reshape(len(counts), size)[:, 1 : self.domain_size + 1]

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the counts, (R, k), from their exact joint law, by the tuples' kernels. Time grows with rho and k.

        The kernel of a uniform tuple is a uniform subspace of random dimension; the kernel of a user's tuple contains
        the value.
        """
        true_counts = held_integers(participants, self.domain_size)
        counts = true_counts.copy()
        self._sample_uniform(counts, self.tuples * participants.public.n_users, rng)
        self._sample_own(counts, true_counts, rng)
        return counts

    def _sample_uniform(self, counts: Ints, tuples: Ints, rng: Generator) -> None:
        law = kernel_law(self.entries, self.bits)
        by_dimension = rng.multinomial(tuples, law[::-1])[:, ::-1]  # the most likely one, 0, last
        counts += by_dimension[:, self.bits :]
        lines = np.full(self.domain_size + 1, 1 / (2**self.bits - 1))
        lines[-1] = 1 - self.domain_size * lines[0]
        counts += rng.multinomial(by_dimension[:, 1], lines)[:, :-1]
        for dimension in range(2, self.bits):
            numbers = by_dimension[:, dimension]
            subspaces = subspace_count(dimension, self.bits)
            if subspaces <= _FEW_SUBSPACES:  # how often each one occurs, however many tuples there are
                holds = all_subspaces(dimension, self.bits)[:, 1 : self.domain_size + 1]
                counts += rng.multinomial(numbers, np.full(subspaces, 1 / subspaces)) @ holds
                continue
            ends = np.cumsum(numbers)
            for part in _parts(int(ends[-1]), 2**dimension):
                repeats_of = np.searchsorted(
                    ends, np.arange(part.start, min(part.stop, ends[-1])), side="right"
                )
                subspaces_drawn = random_subspaces(len(repeats_of), dimension, self.bits, rng)
                self._add(counts, repeats_of, subspaces_drawn[:, 1:])

    def _sample_own(self, counts: Ints, true_counts: Ints, rng: Generator) -> None:
        # The kernel modulo the value's vector is that of a uniform matrix with one column less.
        law = kernel_law(self.entries, self.bits - 1)
        by_dimension = rng.multinomial(true_counts, law[::-1])[..., ::-1]
        whole = by_dimension[..., self.bits - 1]
        counts += whole.sum(axis=1, keepdims=True) - whole
        for dimension in range(1, self.bits - 1):
            repeat, value = np.nonzero(by_dimension[..., dimension])
            times = by_dimension[repeat, value, dimension]
            repeat, value = np.repeat(repeat, times), np.repeat(value, times)
            for part in _parts(len(repeat), 2 ** (dimension + 1)):
                repeats_of, through = repeat[part], value[part] + 1
                subspaces = random_subspaces(len(repeats_of), dimension + 1, self.bits, rng, through)
                self._add(counts, repeats_of, subspaces[:, 2:])

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased relative frequencies, (R, k)."""
        n = public.users_column
        surplus = aggregate / n - (self.tuples + 1) * self.chance
        return surplus / (1 - self.chance)

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the exact law of the tuples that count for a value."""
        n = participants.public.users_column
        chances = n * (self.tuples + 1) - held_counts(participants, self.domain_size)
        step = 1 / (n * (1 - self.chance))
        return ErrorLaw([Term(chances * self.chance, self.chance, step)], step)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats:
        """Return the variance of each frequency given the values, (R, k)."""
        n = participants.public.users_column
        true_counts = held_counts(participants, self.domain_size)
        return np.asarray((n * (self.tuples + 1) - true_counts) * self.chance / (1 - self.chance) / n**2)

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of one user's tuple among all uniform tuples."""
        return Profile(
            lambda eps: matched_delta(eps, self.tuples * users, 2.0**-self.entries),
            "one tuple among uniform ones, the tuples of all others being known",
        )


def _parts(count: int, width: int) -> Iterator[slice]:
    """Return slices of `count` rows with about a million cells each."""
    step = max(1, _CELLS // width)
    return (slice(begin, begin + step) for begin in range(0, count, step))
