"""A baseline as a user writes it, with the four abstract methods only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting import Infeasible
from shuffledp.protocols import Cost, Messages, ProtocolBase


@dataclass(frozen=True)
class Coin(ProtocolBase):
    """Bit that is replaced, with some probability, by a fair coin."""

    coin: float

    name = "coin"
    task_kind = "frequency"
    label = "Coin"
    source = "Warner 1965"
    trust = "local"

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="printed"):
        cls.check_request(budget, task, accounting)
        if task.domain_size != 2:
            raise Infeasible("A coin has two sides.")
        return cls(2 / (math.exp(budget.largest_eps) + 1))

    def encode(self, users, rng):
        fair = rng.integers(0, 2, size=len(users))
        return Messages(np.where(rng.random(len(users)) < self.coin, fair, users.values))

    def estimate(self, aggregate, public):
        return (aggregate / public.n_users[:, None] - self.coin / 2) / (1 - self.coin)

    def cost(self):
        return Cost(1.0, 1.0)
