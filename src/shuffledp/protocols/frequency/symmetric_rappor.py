"""Symmetric RAPPOR under secure summation: rows of randomized bits, of which the server learns only the sums."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.baselines.fragmented_rappor import rappor_flip_probability
from shuffledp.accounting.errors import Infeasible
from shuffledp.guarantees import UPPER, under
from shuffledp.protocols._inputs import checked_inputs
from shuffledp.protocols.frequency._unary_bits import FlippedBits
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Users


@dataclass(frozen=True)
class SymmetricRappor(FlippedBits):
    """Rows of bits, one per value, each flipped with probability p, as messages; secure summation adds the rows.

    The server learns only the sums. Users rely on all other users' bits, and on secure summation, whose cost is not
    counted.
    """

    no_client = "Messages are added up in a secure sum, which a client in the shuffle model does not have."

    name = "symmetric_rappor"
    task_kind = "frequency"
    label = "symmetric RAPPOR, summed"
    source = "Erlingsson, Pihur and Korolova 2014; drafts on differential privacy in the Prio system"
    trust = "secure_sum"
    relies_on = "others' reports"
    poisoning = "range of a row"
    guarantees = under(exact=UPPER)
    reduction = "own"

    @classmethod
    def fit(cls, request: Request) -> Self:
        """Find the largest budget of a bit for which the sums are private for all data of the other users.

        This is the calibration ``proven`` of :func:`shuffledp.accounting.rappor_flip_probability`. Raises `Infeasible`
        for one user.
        """
        n = request.n
        if n < 2:
            raise Infeasible(
                "At least one other user is needed: the bits of a user hide among the bits of others."
            )
        p = rappor_flip_probability(n, request.eps, request.delta, calibration="proven")
        return cls(n, request.k, 1 - p, p)

    def cost(self) -> Cost:
        """Return the cost of one row, whose k numbers are at most the number of users."""
        return Cost(1.0, self.domain_size * message_bits(self.usual_users + 1), most_messages=1.0)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw the rows of bits, (n, k)."""
        return Messages(self.rows(users, rng))

    def forward(self, messages: Messages, rng: Generator) -> Messages:
        """Return the sum of these users' rows as one row, (1, k), by secure summation."""
        return Messages(self.aggregate(messages)[None])

    def aggregate(self, messages: Messages) -> Array:
        """Return the sum of all rows, (k,)."""
        return np.asarray(np.sum(messages.payload, axis=0, dtype=np.int64))
