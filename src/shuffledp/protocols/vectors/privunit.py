"""PrivUnit: a random unit vector, more likely near the user's direction, under the privacy blanket.

The cap of mass ``c <= 1/2`` around a direction v is the set of unit vectors whose inner product with v is at least
gamma. A report is uniform in the cap of the user's direction with probability p, and otherwise uniform outside of it;
divided by ``m = E <report, v>`` it is unbiased. Under the uniform law of the sphere the square of an inner product has
the law Beta(1/2, (d - 1) / 2). Bhowmick, Duchi, Freudiger, Kapoor and Rogers (2018); errors are derived for this
project.

*Privacy.* The density of a report has two levels, the higher one on the cap of the user's direction. No point lies in
all caps, so that the blanket is uniform on the sphere with a weight lambda: a report is uniform with probability lambda
and otherwise uniform in its cap, ``p = 1 - lambda + lambda c``. The adversary counts the messages in the caps of two
directions among N uniform messages. The less the caps overlap, the more the counts reveal, since moving mass from
"both" and "neither" to "one of them" spreads the likelihood ratio about its mean. Opposite directions have disjoint
caps, as ``c <= 1/2``, so they are the worst pair. Their law is generalized randomized response over 1/c values, 1/c a
real number, in any dimension, so that the exact blanket of 1/c values applies.

Conventions: eps in nats; replacement neighbors; the adversary knows the inputs of all other users and which of their
reports are uniform. Derived for this project.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
from numpy.random import Generator
from scipy.special import betaincc, betaincinv, betaln

from shuffledp.accounting.baselines.noisy_counts import gaussian_ratio
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.dummy_blanket import blanket_rate
from shuffledp.accounting.general.grr_blanket import favored_local_budget, favored_profile
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import OpenUnit
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.messages import Cost, Messages
from shuffledp.protocols.request import Request
from shuffledp.protocols.vectors._laplace import BITS_PER_COORDINATE, clipped
from shuffledp.protocols.vectors._participants import squares_of
from shuffledp.tasks import Array, Floats, Participants, Public, Users, Vectors

#: Masses of caps among which the best cap is searched for.
CAP_MASSES = (0.5, 0.2, 0.05, 0.02, 0.01, 0.004, 0.002, 0.001)
#: Number of numbers that are drawn together.
_DRAWS = 2**21


@dataclass(frozen=True)
class CapReport:
    """Law of the inner product of a report and its user's direction, for d >= 2, c in (0, 1/2] and p in (c, 1)."""

    dimension: int
    cap_mass: float
    in_cap: float

    @property
    def height(self) -> float:
        """Number gamma in [0, 1), the root of ``c = I_{1 - gamma^2}((d - 1) / 2, 1/2) / 2``."""
        return math.sqrt(float(betaincinv(0.5, (self.dimension - 1) / 2, 1 - 2 * self.cap_mass)))

    @property
    def mean(self) -> float:
        """Mean ``m = t (p / c - (1 - p) / (1 - c))``,
        ``t = (1 - gamma^2)^((d - 1) / 2) / ((d - 1) B(1/2, (d - 1) / 2))``.

        Bhowmick et al. (2018); the integral of the inner product over a cap.
        """
        c, gamma, half = self.cap_mass, self.height, (self.dimension - 1) / 2
        log_t = half * math.log1p(-gamma * gamma) - math.log(self.dimension - 1) - float(betaln(0.5, half))
        return math.exp(log_t) * (self.in_cap - c) / (c * (1 - c))

    @property
    def square(self) -> float:
        """Mean square; s times the Beta(1/2, (d - 1) / 2) density is 1/d times the Beta(3/2, (d - 1) / 2) density."""
        d, c, p = self.dimension, self.cap_mass, self.in_cap
        within = float(betaincc(1.5, (d - 1) / 2, self.height**2)) / (2 * d)
        return p / c * within + (1 - p) / (1 - c) * (1 / d - within)

    def error(self, n: int) -> float:
        """Return the squared l2 error of the mean of n unit vectors, ``(1 / m^2 - 1) / n``; reports have norm 1 / m."""
        return (self.mean**-2 - 1) / n


def cap_probability(cap_mass: float, eps_local: float) -> float:
    """Return the probability p that solves ``eps_local = ln(p (1 - c) / ((1 - p) c))``."""
    return 1 / (1 + (1 - cap_mass) / cap_mass * math.exp(-eps_local))


def best_cap(n: int, dimension: int, eps: float, delta: float) -> tuple[float, float]:
    """Return the mass of the cap in `CAP_MASSES` with the least error for unit vectors, and its local budget.

    For many users ``lambda = 2 / (c n mu^2)``, where Gaussian noise with the ratio mu of sensitivity to deviation meets
    the budget. The search begins with the cap that is best in this limit, and continues with its neighbors as long as
    the error falls.
    """
    weight = 2 / (n * gaussian_ratio(eps, delta) ** 2)

    def error(c: float, uniform_rate: float) -> float:
        in_cap = 1 - uniform_rate * (1 - c)
        return CapReport(dimension, c, in_cap).error(n) if c < in_cap < 1 else math.inf

    @cache
    def worked_out(place: int) -> tuple[float, float]:
        c = CAP_MASSES[place]
        budget = favored_local_budget(n, 1 / c, eps, delta)
        return error(c, blanket_rate(1 / c, budget)), budget

    limit = [error(c, min(weight / c, blanket_rate(1 / c, eps))) for c in CAP_MASSES]
    place = limit.index(min(limit))
    for step in (1, -1):
        while 0 <= place + step < len(CAP_MASSES) and worked_out(place + step) < worked_out(place):
            place += step
    return CAP_MASSES[place], worked_out(place)[1]


@dataclass(frozen=True)
class PrivUnit(PlannedUsers):
    """Random unit vectors as messages, more likely near the user's direction; users rely on all others for the blanket.

    A vector of norm r times the clip, r < 1, is replaced by its direction with probability ``(1 + r) / 2`` and
    otherwise by the opposite direction; the zero vector by a uniform direction. The mean is unchanged, privacy is
    accounted for directions, and the squared error of one user's report is ``clip^2 (1 / m^2 - r^2)`` instead of
    ``clip^2 (1 / m^2 - 1)``.
    """

    no_client = "Points of a sphere are real numbers, for which there is no exact sampler."

    n_users: int
    task: Vectors
    cap_mass: float
    eps_local: float

    name = "privunit"
    task_kind = "vectors"
    label = "PrivUnit"
    source = "Bhowmick et al. 2018; the blanket of Balle et al. 2019, evaluated for this project"
    trust = "shuffler"
    relies_on = "others' reports"
    reduction = "blanket"
    reported = ("cap_mass", "in_cap", "eps_local")
    guarantees = under(exact=UPPER)

    @classmethod
    def fit(cls, request: Request, *, cap_mass: OpenUnit | None = None) -> Self:
        """Find the largest local budget under the exact blanket, for ``cap_mass`` c in (0, 1/2] or the cap of
        `best_cap`.

        Vectors are clipped in the l2 norm, or in the l1 norm, which is at least the l2 norm.
        """
        task, n, eps, delta = request.task, request.n, request.eps, request.delta
        assert isinstance(task, Vectors)  # check_request has seen to it
        if task.dimension < 2:
            raise Infeasible(f"privunit needs vectors of at least two dimensions, got {task.dimension}.")
        if cap_mass is None:
            return cls(n, task, *best_cap(n, task.dimension, eps, delta))
        if cap_mass > 0.5:
            raise ValueError(f"cap_mass must be in (0, 1/2], got {cap_mass!r}.")
        return cls(n, task, cap_mass, favored_local_budget(n, 1 / cap_mass, eps, delta))

    @property
    def in_cap(self) -> float:
        """Probability p of a report in the cap around the user's direction."""
        return cap_probability(self.cap_mass, self.eps_local)

    @property
    def report(self) -> CapReport:
        """Law of the inner product of a report and its user's direction."""
        return CapReport(self.task.dimension, self.cap_mass, self.in_cap)

    def cost(self) -> Cost:
        """Return the cost of one double-precision number per coordinate."""
        return Cost(1.0, float(BITS_PER_COORDINATE * self.task.dimension), most_messages=1.0)

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw one unit vector per user, (n, dimension)."""
        vectors = clipped(users.values, self.task)
        block = max(1, _DRAWS // self.task.dimension)
        for start in range(0, len(vectors), block):  # in place: there may be many numbers
            part = vectors[start : start + block]
            part[:] = self._reports(_directions(part, self.task.clip, rng), rng)
        return Messages(vectors)

    def _reports(self, directions: Floats, rng: Generator) -> Floats:
        """Draw a report for each direction, (n, dimension)."""
        n, d = directions.shape
        # Mass of the part of the sphere that is nearer to the direction than the report.
        inside = rng.random(n) < self.in_cap
        c = self.cap_mass
        nearer = np.where(inside, c * rng.random(n), c + (1 - c) * rng.random(n))
        square = betaincinv(0.5, (d - 1) / 2, np.abs(1 - 2 * nearer))
        inner = np.copysign(np.sqrt(square), 0.5 - nearer)
        across = rng.standard_normal((n, d))
        across -= np.sum(across * directions, axis=1, keepdims=True) * directions
        across *= np.sqrt((1 - square) / np.sum(across**2, axis=1))[:, None]
        return np.asarray(inner[:, None] * directions + across)

    def aggregate(self, messages: Messages) -> Array:
        """Return the sum of all messages, (dimension,)."""
        return np.asarray(messages.payload.sum(axis=0))

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return unbiased mean vectors, (R, dimension)."""
        scale = self.task.clip / (self.report.mean * public.n)
        return aggregate * scale[:, None]

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats | None:
        """Return the variance of each coordinate, (R, dimension), or None without the vectors."""
        sums = squares_of(participants, self.task)
        if sums is None:
            return None
        n, report = participants.public.users_column, self.report
        along = report.square
        across = (1 - along) / (report.dimension - 1)
        squares, directions = sums
        reports = (across * n + (along - across) * directions) * (self.task.clip / report.mean) ** 2
        return (reports - squares) / n**2

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of the blanket, the other users' uniform reports."""
        return favored_profile(users, 1 / self.cap_mass, self.eps_local)


def _directions(vectors: Floats, clip: float, rng: Generator) -> Floats:
    """Draw unit vectors whose mean is ``vector / clip``, (n, dimension)."""
    norms = np.linalg.norm(vectors, axis=1)
    nothing = norms == 0
    unit = vectors / np.where(nothing, 1.0, norms)[:, None]
    if np.any(nothing):
        normals = rng.standard_normal((int(nothing.sum()), vectors.shape[1]))
        unit[nothing] = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    turned = 2 * rng.random(len(vectors)) >= 1 + norms / clip
    unit[turned] *= -1
    return unit
