"""SOLH, shuffled optimal local hashing: every user reports a hash function and the randomized hash of a value."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from shuffledp.accounting.baselines.solh import solh_report
from shuffledp.accounting.general.matched_blanket import blanketed_delta
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import FromTwo
from shuffledp.protocols._inputs import checked_inputs
from shuffledp.protocols.client.description import ODDS, Client, frequencies, noise_law, odds_below
from shuffledp.protocols.frequency._hashing import SEED_BITS, draw_seeds, hash_values
from shuffledp.protocols.frequency._pure_reports import PureReports
from shuffledp.protocols.frequency._value_counts import GeneralizedResponse, checked_values
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Users

#: Number of pairs of a report and a value that are compared together: they fit into the cache.
_PAIRS = 2**16


@dataclass(frozen=True)
class Solh(PureReports):
    """Hash seed and hashed value after randomized response over d' ``cells``, as one message per user."""

    eps_local: float
    cells: int

    name = "solh"
    task_kind = "frequency"
    label = "SOLH"
    source = "Wang et al. 2020; as a baseline in arXiv 2009.13738"
    trust = "shuffler"
    relies_on = "others' reports"
    guarantees = under(printed=UPPER, exact=UPPER)
    reduction = "blanket"

    @classmethod
    def fit(cls, request: Request, *, cells: FromTwo | None = None) -> Self:
        """Find the number of ``cells`` >= 2 and the local budget, see :func:`shuffledp.accounting.solh_report`."""
        report = solh_report(
            request.n, request.k, request.eps, request.delta, accounting=request.accounting, cells=cells
        )
        return cls(request.n, request.k, report.eps_local, report.cells)

    @property
    def response(self) -> GeneralizedResponse:
        """Local randomizer of the hashed value."""
        return GeneralizedResponse(self.eps_local, self.cells)

    def cost(self) -> Cost:
        """Return the cost of one message, a seed and a cell."""
        return Cost(1.0, SEED_BITS + message_bits(self.cells), most_messages=1.0)

    @checked_inputs
    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """Draw each user's seed and hashed value after randomized response, (n, 2)."""
        values = checked_values(users.values, self.domain_size)
        seeds = draw_seeds(len(values), rng)
        hashed = hash_values(seeds, values, self.cells).view(np.int64)
        payload = np.empty((len(values), 2), np.int64)
        payload[:, 0] = seeds
        payload[:, 1] = self.response.randomize(hashed, rng)
        return Messages(payload)

    def aggregate(self, messages: Messages) -> Array:
        """Return the number of reports whose cell is the hash of each value, (k,)."""
        payload = messages.payload.astype(np.uint64)
        values = np.arange(self.domain_size, dtype=np.uint64)
        support = np.zeros(self.domain_size, np.int64)
        step = max(1, _PAIRS // self.domain_size)
        for begin in range(0, len(payload), step):
            part = payload[begin : begin + step]
            agrees = hash_values(part[:, :1], values, self.cells) == part[:, 1:]
            support += np.count_nonzero(agrees, axis=0)
        return support

    @property
    def two_rates(self) -> tuple[float, float, float]:
        """Rates at which a report matches the user's value and another value, and their difference."""
        return self.response.keep, 1 / self.cells, self.response.gap * (1 - 1 / self.cells)

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of one report among the uniform reports of other users."""
        return Profile(
            lambda eps: blanketed_delta(eps, users - 1, 1 / self.cells, self.eps_local),
            "privacy blanket of Balle et al. 2019, evaluated exactly for local hashing",
        )

    def client(self) -> Client:
        """Return the client, which sends a uniform seed and randomized response on the hashed value."""
        k, cells = self.domain_size, self.cells
        part = {"part": "local_hash", "cells": cells, **odds_below(self.eps_local)}
        own_rate, other_rate, _ = self.two_rates
        analyzer = frequencies(k, "of_hashes", own_rate, other_rate, noise_law([]), cells=cells)
        return Client(self.n_users, k, [("seed", 2**SEED_BITS), ("cell", cells)], [part], analyzer, ODDS)
