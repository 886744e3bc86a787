"""Templates of a user's baseline: a class, its YAML and its test, which pass all checks unchanged.

Each class is a complete protocol in the local model, with a fast law where the sufficient statistic allows one, and
with its expected error. docs/baselines.md shows one of them.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from shuffledp.tasks import TASK_KINDS

_HEAD = '''"""$title: a local randomizer to begin with, in the place of a method of my own."""

from dataclasses import dataclass

import numpy as np

from shuffledp.accounting import Infeasible
from shuffledp.protocols import Cost, Messages, ProtocolBase

'''

_FREQUENCY = '''
@dataclass(frozen=True)
class $name(ProtocolBase):
    """Randomized response over k values in the local model: the report is the value, or another one."""

    domain_size: int
    eps_local: float  # parameters() has it, so that the encoder is checked against it

    name = "$id"
    task_kind = "frequency"
    label = "$title"
    source = "this file"
    trust = "local"
    accountings = ("printed", "exact")
    guarantee = "exact"

    @classmethod
    def fit(cls, request):
        if request.eps > 700:
            raise Infeasible(f"exp(eps) overflows for eps = {request.eps}")
        return cls(request.k, request.eps)

    @property
    def alphabet_size(self):  # the default aggregate counts messages 0..alphabet_size-1; it is 2 if left out
        return self.domain_size

    @property
    def lie(self):  # probability of each other value
        return 1 / (np.exp(self.eps_local) + self.domain_size - 1)

    def encode(self, users, rng):  # users.values: (n,) values 0..k-1
        n, k = len(users), self.domain_size
        lies = rng.random(n) < (k - 1) * self.lie
        return Messages(np.where(lies, (users.values + rng.integers(1, k, n)) % k, users.values))

    def estimate(self, aggregate, public):  # (R, k) numbers of reports, to (R, k) frequencies
        keep = 1 - (self.domain_size - 1) * self.lie
        return (aggregate / public.n_users[:, None] - self.lie) / (keep - self.lie)

    def cost(self):
        return Cost(messages_per_user=1, bits_per_message=float((self.domain_size - 1).bit_length()))

    def sample_aggregate(self, participants, rng):  # the law of encode, for any number of users
        k = self.domain_size
        chances = np.full((k, k), self.lie) + (1 - k * self.lie) * np.eye(k)
        return sum(rng.multinomial(participants.counts[:, v], chances[v]) for v in range(k))

    def expected_variance(self, participants):  # (R, k), given who takes part
        n, lie = participants.public.n_users[:, None], self.lie
        keep = 1 - (self.domain_size - 1) * lie
        held = participants.counts
        return (held * keep * (1 - keep) + (n - held) * lie * (1 - lie)) / ((keep - lie) * n) ** 2
'''

_SUMMATION = '''
@dataclass(frozen=True)
class $name(ProtocolBase):
    """Laplace noise in the local model: every user sends the number plus independent noise."""

    width: int  # largest minus smallest number
    unit: float  # what 1 is worth: 1, or 1 / max_value for real numbers
    eps_local: float

    name = "$id"
    task_kind = "summation"
    label = "$title"
    source = "Dwork et al. 2006, user by user"
    trust = "local"
    accountings = ("printed", "exact")
    guarantee = "exact"

    @classmethod
    def fit(cls, request):
        task = request.task
        if task.coordinates > 1:
            raise Infeasible("one sum only: the coordinate of a user would be sent in the clear")
        width = (2 if task.signed else 1) * task.max_value
        return cls(width, 1 / task.max_value if task.real else 1.0, request.eps)

    @property
    def scale(self):
        return self.width / self.eps_local

    def encode(self, users, rng):  # users.values: (n,) integers, also where the task is real
        return Messages(users.values + rng.laplace(0, self.scale, len(users)))

    def aggregate(self, messages):  # messages are no kinds to be counted: add them up
        return np.array([messages.payload.sum()])

    def estimate(self, aggregate, public):  # (R, 1) to (R,)
        return aggregate[:, 0] * self.unit

    def cost(self):
        return Cost(messages_per_user=1, bits_per_message=64)

    def sample_aggregate(self, participants, rng):  # n Laplace variables: the difference of two gamma ones
        n = participants.public.n_users
        noise = rng.gamma(n, self.scale) - rng.gamma(n, self.scale)
        return (participants.truth / self.unit + noise)[:, None]

    def expected_variance(self, participants):  # (R,)
        return 2 * participants.public.n_users * (self.scale * self.unit) ** 2
'''

_SETS = '''
@dataclass(frozen=True)
class $name(ProtocolBase):
    """Every user draws one item of the set and reports it by randomized response over all items."""

    domain_size: int
    set_size: int
    shown: int  # items that are estimated; padding items are left out
    eps_local: float

    name = "$id"
    task_kind = "sets"
    label = "$title"
    source = "this file"
    trust = "local"
    accountings = ("printed", "corrected", "exact")
    guarantee = "exact"
    multi_level = True  # budgets may have an eps per privacy level: all users get the smallest here

    @classmethod
    def fit(cls, request):
        task = request.task
        if task.domain_size < 2:
            raise Infeasible("a single item says nothing")
        return cls(task.domain_size, task.set_size, task.estimate_shape[0], min(request.budget.levels))

    @property
    def alphabet_size(self):
        return self.domain_size

    @property
    def lie(self):
        return 1 / (np.exp(self.eps_local) + self.domain_size - 1)

    def encode(self, users, rng):  # users.values: (n, set_size) distinct items; users.levels: (n,)
        n, d = len(users), self.domain_size
        item = users.values[np.arange(n), rng.integers(0, self.set_size, n)]
        lies = rng.random(n) < (d - 1) * self.lie
        return Messages(np.where(lies, (item + rng.integers(1, d, n)) % d, item))

    def estimate(self, aggregate, public):  # (R, d) reports, to (R, shown) shares of holders
        gap = (1 - self.domain_size * self.lie) / self.set_size
        return (aggregate[:, : self.shown] / public.n_users[:, None] - self.lie) / gap

    def cost(self):
        return Cost(messages_per_user=1, bits_per_message=float(max((self.domain_size - 1).bit_length(), 1)))

    def expected_variance(self, participants):  # counts: (R, levels, d) holders
        n = participants.public.n_users[:, None]
        held = participants.counts.sum(axis=1)[:, : self.shown]
        gap = (1 - self.domain_size * self.lie) / self.set_size
        says = self.lie + gap
        return (held * says * (1 - says) + (n - held) * self.lie * (1 - self.lie)) / (gap * n) ** 2
'''

_VECTORS = '''
@dataclass(frozen=True)
class $name(ProtocolBase):
    """Laplace noise on every coordinate of the clipped vector, in the local model."""

    dimension: int
    clip: float
    order: int  # 1 or 2, of the norm
    eps_local: float

    name = "$id"
    task_kind = "vectors"
    label = "$title"
    source = "Dwork et al. 2006, user by user"
    trust = "local"
    accountings = ("printed", "exact")
    guarantee = "upper"

    @classmethod
    def fit(cls, request):
        task = request.task
        if not np.isfinite(task.clip):
            raise Infeasible("vectors without a bound")
        return cls(task.dimension, task.clip, 1 if task.norm == "l1" else 2, request.eps)

    @property
    def scale(self):  # two vectors differ by 2 * clip, in the l1 norm by sqrt(dimension) times more for l2
        return 2 * self.clip * (self.dimension**0.5 if self.order == 2 else 1) / self.eps_local

    def encode(self, users, rng):  # users.values: (n, dimension), not clipped yet
        norms = np.linalg.norm(users.values, ord=self.order, axis=1, keepdims=True)
        clipped = users.values * (self.clip / np.maximum(norms, self.clip))
        return Messages(clipped + rng.laplace(0, self.scale, clipped.shape))

    def aggregate(self, messages):  # messages are no kinds to be counted: add them up
        return messages.payload.sum(axis=0)

    def estimate(self, aggregate, public):  # (R, dimension) sums to means
        return aggregate / public.n_users[:, None]

    def cost(self):
        return Cost(messages_per_user=1, bits_per_message=64 * self.dimension)

    def sample_aggregate(self, participants, rng):  # counts: (R, dimension) sums of the clipped vectors
        shape = np.broadcast_to(participants.public.n_users[:, None], participants.counts.shape)
        return participants.counts + rng.gamma(shape, self.scale) - rng.gamma(shape, self.scale)

    def expected_variance(self, participants):  # (R, dimension)
        n = participants.public.n_users[:, None]
        return np.broadcast_to(2 * self.scale**2 / n, participants.counts.shape)
'''

_AMPLIFIED = '''"""$title: a randomizer to begin with, amplified by shuffling, in the place of a method of my own."""

from dataclasses import dataclass

import numpy as np

from shuffledp.accountant import calibrate_randomizer
from shuffledp.accounting import FiniteRandomizer, Infeasible
from shuffledp.protocols import Cost, Messages, ProtocolBase


def signs(domain_size):
    """Return whether entries of rows 1..k of the Sylvester-Hadamard matrix are positive, (k, K)."""
    columns = np.arange(1 << int(domain_size).bit_length())
    return np.bitwise_count(np.arange(1, domain_size + 1)[:, None] & columns) % 2 == 0


def probabilities(domain_size, eps_local):
    """Return the probability of every report (K) for every value (k)."""
    plus = signs(domain_size)
    likely, unlikely = 1 / (1 + np.exp(-eps_local)), 1 / (1 + np.exp(eps_local))
    return np.where(plus, likely, unlikely) * (2 / plus.shape[1])


@dataclass(frozen=True)
class $name(ProtocolBase):
    """Hadamard response: a column whose entry in the row of the value is positive, or else a negative one."""

    domain_size: int
    eps_local: float

    name = "$id"
    task_kind = "frequency"
    label = "$title"
    source = "Acharya, Sun and Zhang 2019, shuffled"
    trust = "shuffler"
    relies_on = "others' reports"
    accountings = ("exact",)
    reduction = "blanket"
    guarantee = "upper"

    @classmethod
    def fit(cls, request):
        k = request.k
        if k > 1000:
            raise Infeasible("more than 1000 values take too long to calibrate")
        found = calibrate_randomizer(
            lambda eps_local: FiniteRandomizer(probabilities(k, eps_local)),
            request.population,
            request.eps,
            request.delta,
        )
        return cls(k, found.eps_local)

    @property
    def alphabet_size(self):  # columns of the matrix, more than values
        return 1 << int(self.domain_size).bit_length()

    @property
    def keep(self):  # probability of a positive entry
        return 1 / (1 + np.exp(-self.eps_local))

    def encode(self, users, rng):  # users.values: (n,) values 0..k-1
        row = users.values + 1
        column = rng.integers(0, self.alphabet_size, len(users))
        positive = np.bitwise_count(row & column) % 2 == 0
        wanted = rng.random(len(users)) < self.keep
        return Messages(np.where(positive == wanted, column, column ^ (row & -row)))

    def estimate(self, aggregate, public):  # (R, K) numbers of reports, to (R, k) frequencies
        share = aggregate @ signs(self.domain_size).T / public.n_users[:, None]
        return (share - 0.5) / (self.keep - 0.5)

    def cost(self):
        bits = float(int(self.domain_size).bit_length())
        return Cost(messages_per_user=1, bits_per_message=bits, most_messages=1)

    def sample_aggregate(self, participants, rng):  # the law of encode, for any number of users
        chances = probabilities(self.domain_size, self.eps_local)
        counts = participants.counts
        return sum(rng.multinomial(counts[:, v], row) for v, row in enumerate(chances))

    def expected_variance(self, participants):  # (R, k), given who takes part
        n = participants.public.n_users[:, None]
        held = participants.counts
        each = held * self.keep * (1 - self.keep) + (n - held) / 4
        return each / ((self.keep - 0.5) * n) ** 2
'''

#: A local class per task and an amplified class for frequencies; ``$id``, ``$name`` and ``$title`` are replaced.
TEMPLATES: Mapping[str, str] = {
    "frequency": _HEAD + _FREQUENCY,
    "summation": _HEAD + _SUMMATION,
    "sets": _HEAD + _SETS,
    "vectors": _HEAD + _VECTORS,
    "amplified": _AMPLIFIED,
}

_YAML = """# yaml-language-server: $schema=../schema/baselines.json
task: $task                    # joins every experiment of this task
methods:
  $id: {protocol: "mine/$id.py:$name"}
figures: all                   # every figure that has room for it; or a list such as [paper.figure]
"""

_TEST = '''"""All checks that the built-in protocols pass: run `python -m pytest mine`."""

from pathlib import Path

from shuffledp.protocols import get
from shuffledp.protocols.conformance import check_protocol, default_cases

HERE = Path(__file__).resolve().parent


def test_$id_conforms():
    mine = get("$task", "$id.py:$name", root=HERE)
    check_protocol(mine, default_cases(mine))
'''


def class_source(task: str, name: str, template: str = "local") -> str:
    """Return the Python source of a new baseline's class. Raise ValueError for an unknown task, template or name.

    ``amplified``, for frequencies, is a randomizer whose reports are amplified by shuffling.
    """
    if template == "amplified" and task != "frequency":
        raise ValueError(f"The template amplified is for the task frequency, got {task!r}.")
    return _filled(TEMPLATES["amplified" if template == "amplified" else _task(task)], task, name)


def files(task: str, name: str, template: str = "local") -> dict[Path, str]:
    """Return the three files of a new baseline by path, for the arguments of `class_source` and with its errors."""
    return {
        Path(f"mine/{name}.py"): class_source(task, name, template),
        Path(f"config/baselines/{name}.yaml"): _filled(_YAML, task, name),
        Path(f"mine/test_{name}.py"): _filled(_TEST, task, name),
    }


def class_name(name: str) -> str:
    """Return the class name of a baseline, such as ``HalfBudget`` for ``half_budget``."""
    return "".join(part.capitalize() for part in name.split("_"))


def _task(task: str) -> str:
    if task not in TASK_KINDS:
        raise ValueError(f"No task {task!r}. Known: {', '.join(TASK_KINDS)}.")
    return task


def _filled(text: str, task: str, name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(
            f"A baseline's name has lower-case letters, digits and underscores, a letter first; got {name!r}."
        )
    title = name.replace("_", " ").capitalize()
    for key, value in (("$id", name), ("$name", class_name(name)), ("$title", title), ("$task", task)):
        text = text.replace(key, value)
    return text
