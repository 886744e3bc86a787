"""Baselines with a fault each that is hard to see; every one has to be caught by what its test names."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shuffledp.accounting import Infeasible, local_budget
from shuffledp.protocols import Cost, Messages, ProtocolBase


@dataclass(frozen=True)
class Sound(ProtocolBase):
    """Randomized response among shuffled others."""

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
    """No fast law and no formula that would give the fault away."""

    sample_aggregate = ProtocolBase.sample_aggregate
    expected_variance = ProtocolBase.expected_variance
    biased = True


@dataclass(frozen=True)
class Doubted(Sound):
    guarantee = "unproven"


@dataclass(frozen=True)
class ManyBits(Sound):
    def cost(self):
        return Cost(1, 30.0)


@dataclass(frozen=True)
class ClearValue(_MessagesAlone, Sound):
    """Who holds 7 says so."""

    def encode(self, users, rng):
        return Messages(np.where(users.values == 7, users.values, self.respond(users.values, rng)))


@dataclass(frozen=True)
class ClearSometimes(_MessagesAlone, Sound):
    """One report in five hundred is marked and true."""

    @property
    def alphabet_size(self):
        return 2 * self.domain_size

    def encode(self, users, rng):
        clear = rng.random(len(users)) < 2e-3
        return Messages(np.where(clear, users.values + self.domain_size, self.respond(users.values, rng)))

    def estimate(self, aggregate, public):
        return super().estimate(aggregate[:, : self.domain_size], public)


@dataclass(frozen=True)
class ClearPair(_MessagesAlone, Sound):
    """Who holds 3 or 4 says so, and no local budget is declared."""

    def parameters(self):
        return {}

    def encode(self, users, rng):
        hot = (users.values == 3) | (users.values == 4)
        return Messages(np.where(hot, users.values, self.respond(users.values, rng)))


@dataclass(frozen=True)
class TwiceForMany(Sound):
    """With many users twice the budget is spent, and declared."""

    @classmethod
    def spent(cls, budget, population):
        return super().spent(budget, population) * (2 if population.mean > 100 else 1)


@dataclass(frozen=True)
class NoiseShares(_MessagesAlone, Sound):
    """Everybody adds a share of the noise: the sum is private, and the messages behind a shuffler are not."""

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


@dataclass(frozen=True)
class TwoMessagesLocally(_MessagesAlone, Sound):
    """Relies on others, but says that nobody has to be trusted; an empty message hides the report."""

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


@dataclass(frozen=True)
class FirstInTheClear(_MessagesAlone, Sound):
    """Forgets to randomize the first user of an array."""

    def encode(self, users, rng):
        sent = self.respond(users.values, rng)
        sent[:1] = users.values[:1]
        return Messages(sent)


@dataclass(frozen=True)
class LooksAtOthers(_MessagesAlone, Sound):
    """Lies are drawn from what the others hold."""

    def encode(self, users, rng):
        lies = rng.random(len(users)) < self.domain_size * self.lie
        return Messages(np.where(lies, rng.permutation(users.values), users.values))


@dataclass(frozen=True)
class Numbered(_MessagesAlone, Sound):
    """A message has the place of its sender, which the analyzer ignores."""

    def encode(self, users, rng):
        return Messages(np.column_stack((self.respond(users.values, rng), np.arange(len(users)))))

    def aggregate(self, messages):
        return np.bincount(messages.payload[:, 0], minlength=self.domain_size)


@dataclass(frozen=True)
class OwnDummies(_MessagesAlone, Sound):
    """The shuffler adds messages, which the declared one does not."""

    def dummies(self, public, rng):
        return Messages(rng.integers(0, self.domain_size, 5))


@dataclass(frozen=True)
class NoPermutation(Sound):
    """A shuffler that does not."""

    def shuffle(self, messages, public, rng):
        return messages


_CALLS = [0]


@dataclass(frozen=True)
class Drifting(_MessagesAlone, Sound):
    """The budget depends on how often it was used."""

    def encode(self, users, rng):
        _CALLS[0] += 1
        return Messages(self.respond(users.values, rng, self.eps_local * (1 + 0.01 * (_CALLS[0] % 2))))


@dataclass(frozen=True)
class NoNoise(_MessagesAlone, Sound):
    """The true value, always."""

    trust = "central"

    def encode(self, users, rng):
        return Messages(users.values)


@dataclass(frozen=True)
class SlightlyWrongVariance(Sound):
    """Five percent too small."""

    def expected_variance(self, participants):
        return 0.95 * super().expected_variance(participants)


@dataclass(frozen=True)
class Unable(_MessagesAlone, Sound):
    """Cannot encode."""

    def encode(self, users, rng):
        raise KeyError("no such")
