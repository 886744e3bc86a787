"""First round of a two-round protocol: users announce privacy levels through a shuffle-private histogram."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.argument_ranges import check_kind, check_open_unit, check_positive
from shuffledp.populations.base import Population
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.registry import get
from shuffledp.tasks import Budget, Floats, Frequency, Participants, Public

#: Largest eps, in nats, whose exponential does not overflow.
_MOST_EPS = 700.0


@dataclass(frozen=True)
class FirstRound:
    """Private announcement of privacy levels by a frequency protocol with its own budget; the values are the levels.

    The default accounting is the accounting of the data round if available, otherwise the first available one.
    """

    protocol: str
    eps: float
    delta: float
    accounting: str | None = None
    options: tuple[tuple[str, Any], ...] = ()

    @staticmethod
    def from_config(config: Mapping[str, Any] | FirstRound) -> FirstRound:
        """Return the first round of a configuration. Raise ValueError for wrong keys or a budget out of range."""
        if isinstance(config, FirstRound):
            first = config
        else:
            check_kind("first_round", config, (Mapping,))
            try:
                options = tuple(sorted((config.get("options") or {}).items()))
                first = FirstRound(**{**config, "options": options})
            except (TypeError, AttributeError):
                raise ValueError(
                    "first_round needs the keys protocol, eps and delta and may have accounting and options, "
                    f"got {', '.join(map(str, config))}."
                ) from None
        if check_positive("first_round: eps", first.eps) > _MOST_EPS:
            raise ValueError(f"first_round: eps must be at most {_MOST_EPS:g}, got {first.eps!r}.")
        check_open_unit("first_round: delta", first.delta)
        return first

    def calibrated(self, budget: Budget, population: Population, accounting: str) -> ProtocolBase:
        """Return the frequency protocol of the announcement for users of all levels."""
        protocol_class = get("frequency", self.protocol)
        how = self.accounting or (
            accounting if accounting in protocol_class.accountings else protocol_class.accountings[0]
        )
        task = Frequency(len(budget.levels))
        return protocol_class.calibrate(
            Budget(self.eps, self.delta), population, task, accounting=how, **dict(self.options)
        )

    def left(self, budget: Budget) -> Budget:
        """Return the budget that remains after the announcement. Raise `Infeasible` if nothing remains."""
        if self.eps >= budget.levels[0] or self.delta >= budget.delta:
            raise Infeasible(
                f"first_round must have eps below {budget.levels[0]:g} and delta below {budget.delta:g}, the "
                f"budget of all rounds, got eps {self.eps:g} and delta {self.delta:g}."
            )
        return Budget(tuple(eps - self.eps for eps in budget.levels), budget.delta - self.delta)


def check_first_round(name: str, value: Mapping[str, Any] | FirstRound) -> FirstRound:
    """Return the first round of a configuration, see `FirstRound.of`."""
    return FirstRound.from_config(value)


def announced_privately(protocol: ProtocolBase, public: Public, rng: np.random.Generator) -> Public:
    """Draw noisy numbers of users of each level, integers >= 0, whose sum is the known number of users."""
    if public.level_counts is None:
        raise ValueError(
            "public.level_counts is missing: the first round needs the number of users of each privacy level."
        )
    exact = np.rint(public.level_counts).astype(np.int64)
    shares = protocol.simulate(Participants.from_counts(exact), rng)
    return Public(public.n_users, settled(shares, public.n))


def settled(shares: Floats, n_users: Floats) -> Floats:
    """Return the numbers of users from noisy shares of the levels, (R, levels).

    First every level gets at least one user; then the numbers are scaled to the known total and rounded.
    """
    least_one = np.maximum(shares * n_users[:, None], 1.0)
    ends = np.rint(np.cumsum(least_one, axis=1) * (n_users / least_one.sum(axis=1))[:, None])
    return np.diff(ends, axis=1, prepend=0.0)
