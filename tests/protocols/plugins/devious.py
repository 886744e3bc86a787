"""Baselines with one hidden fault each; the check that a test names must find the fault."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shuffledp.accounting import Infeasible, local_budget
from shuffledp.protocols import Cost, Messages, ProtocolBase


@dataclass(frozen=True)
class Sound(ProtocolBase):
    """Randomized response amplified by the other users' shuffled reports."""

    domain_size: int
    eps_local: float
    users: int

    name = "devious"
    task_kind = "frequency"
    label = "Devious"
    source = "a test"
    trust = "shuffler"
    accountings = ("printed", "exact")
    factor = 1.0

    @classmethod
    def spent(cls, budget, population):
        return local_budget(population, budget.largest_eps, budget.delta)

    @classmethod
    def calibrate(cls, budget, population, task, *, accounting="exact"):
        cls.check_request(budget, task, accounting)
        if budget.delta == 0:
            raise Infeasible("delta is 0")
        users = 1 + int(population.mean)
        return cls(task.domain_size, cls.spent(budget, population), users, calibrated_under=accounting)

    @property
    def alphabet_size(self):
        return self.domain_size

    @property
    def lie(self):
        return 1 / (np.exp(self.eps_local) + self.domain_size - 1)

    def respond(self, values, rng, eps=None):
        n, k = len(values), self.domain_size
        chance = (k - 1) / (np.exp(self.eps_local if eps is None else eps) + k - 1)
        return np.where(rng.random(n) < chance, (values + rng.integers(1, k, n)) % k, values)

    def encode(self, users, rng):
        return Messages(self.respond(users.values, rng))

    def estimate(self, aggregate, public):
        gap = 1 - self.domain_size * self.lie
        return (aggregate / public.n_users[:, None] - self.lie) / gap

    def cost(self):
        return Cost(1, float((self.domain_size - 1).bit_length()))

    def sample_aggregate(self, participants, rng):
        k = self.domain_size
        chances = np.full((k, k), self.lie) + (1 - k * self.lie) * np.eye(k)
        return sum(rng.multinomial(participants.counts[:, v], chances[v]) for v in range(k))

    def expected_variance(self, participants):
        n, lie, held = participants.public.n_users[:, None], self.lie, participants.counts
        keep = 1 - (self.domain_size - 1) * lie
        return (held * keep * (1 - keep) + (n - held) * lie * (1 - lie)) / ((keep - lie) * n) ** 2


class _MessagesAlone:
    """Protocol without a fast law or a formula that could reveal the fault."""

    sample_aggregate = ProtocolBase.sample_aggregate
    expected_variance = ProtocolBase.expected_variance
    biased = True


class Doubted(Sound):
    guarantee = "unproven"


class ManyBits(Sound):
    def cost(self):
        return Cost(1, 30.0)


class ClearValue(_MessagesAlone, Sound):
    """Encoder that reveals users with value 7."""

    def encode(self, users, rng):
        return Messages(np.where(users.values == 7, users.values, self.respond(users.values, rng)))


class ClearSometimes(_MessagesAlone, Sound):
    """Encoder that marks one report in five hundred, which is then true."""

    @property
    def alphabet_size(self):
        return 2 * self.domain_size

    def encode(self, users, rng):
        clear = rng.random(len(users)) < 2e-3
        return Messages(np.where(clear, users.values + self.domain_size, self.respond(users.values, rng)))

    def estimate(self, aggregate, public):
        return super().estimate(aggregate[:, : self.domain_size], public)


class ClearPair(_MessagesAlone, Sound):
    """Encoder that reveals users with values 3 or 4, without a declared local budget."""

    def parameters(self):
        return {}

    def encode(self, users, rng):
        hot = (users.values == 3) | (users.values == 4)
        return Messages(np.where(hot, users.values, self.respond(users.values, rng)))


class TwiceForMany(Sound):
    """Protocol that uses and declares twice the budget for many users."""

    @classmethod
    def spent(cls, budget, population):
        return super().spent(budget, population) * (2 if population.mean > 100 else 1)


@dataclass(frozen=True)
class NoiseShares(_MessagesAlone, Sound):
    """Shares of noise from all users: the sum is private, but the messages behind a shuffler are not."""

    sigma: float = field(default=2.0, kw_only=True)
    biased = False

    def parameters(self):
        return {"sigma": self.sigma}

    def encode(self, users, rng):
        noise = rng.normal(0, self.sigma / np.sqrt(self.users), (len(users), self.domain_size))
        return Messages(np.eye(self.domain_size)[users.values] + noise)

    def aggregate(self, messages):
        return messages.payload.sum(axis=0)

    def estimate(self, aggregate, public):
        return aggregate / public.n_users[:, None]


class TwoMessagesLocally(_MessagesAlone, Sound):
    """Protocol that relies on others but declares the local model; an empty message hides the report."""

    trust = "local"

    def parameters(self):
        return {}

    @property
    def alphabet_size(self):
        return self.domain_size + 1

    def encode(self, users, rng):
        empty = Messages(np.full(len(users), self.domain_size))
        return Messages.joined(super().encode(users, rng), empty)

    def estimate(self, aggregate, public):
        return super().estimate(aggregate[:, :-1], public)

    def cost(self):
        return Cost(2, float(self.domain_size.bit_length()))


class FirstInTheClear(_MessagesAlone, Sound):
    """Encoder that does not randomize the first user of an array."""

    def encode(self, users, rng):
        sent = self.respond(users.values, rng)
        sent[:1] = users.values[:1]
        return Messages(sent)


class LooksAtOthers(_MessagesAlone, Sound):
    """Encoder that draws false values from the other users' values."""

    def encode(self, users, rng):
        lies = rng.random(len(users)) < self.domain_size * self.lie
        return Messages(np.where(lies, rng.permutation(users.values), users.values))


class Numbered(_MessagesAlone, Sound):
    """Messages with the place of their sender, which the analyzer ignores."""

    def encode(self, users, rng):
        return Messages(np.column_stack((self.respond(users.values, rng), np.arange(len(users)))))

    def aggregate(self, messages):
        return np.bincount(messages.payload[:, 0], minlength=self.domain_size)


class OwnDummies(_MessagesAlone, Sound):
    """Shuffler that adds messages although the declared shuffler does not."""

    def dummies(self, public, rng):
        return Messages(rng.integers(0, self.domain_size, 5))


_CALLS = [0]


class Drifting(_MessagesAlone, Sound):
    """Encoder whose budget depends on the number of its calls."""

    def encode(self, users, rng):
        _CALLS[0] += 1
        return Messages(self.respond(users.values, rng, self.eps_local * (1 + 0.01 * (_CALLS[0] % 2))))


class NoNoise(_MessagesAlone, Sound):
    """Encoder that always sends the true value."""

    trust = "central"

    def encode(self, users, rng):
        return Messages(users.values)


class SlightlyWrongVariance(Sound):
    """Variance that is 5 % too small."""

    def expected_variance(self, participants):
        return 0.95 * super().expected_variance(participants)


class Unable(_MessagesAlone, Sound):
    """Protocol that cannot encode."""

    def encode(self, users, rng):
        raise KeyError("no such")
