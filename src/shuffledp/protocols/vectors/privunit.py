"""PrivUnit: a random unit vector that is more likely to lie near one's own direction."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from shuffledp.accounting.baselines.privunit import best_cap, cap_probability, privunit_local_budget
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.unit_vectors import (
    cap_height,
    checked_cap,
    report_mean,
    report_square,
)
from shuffledp.accounting.general.grr_blanket import favored_profile
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import UPPER, under
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost, Messages
from shuffledp.protocols.vectors._laplace import BITS_PER_COORDINATE, clipped
from shuffledp.protocols.vectors._participants import squares_of
from shuffledp.tasks import Floats, Participants, Public, Task, Users, Vectors

#: Numbers that are drawn at once.
_DRAWS = 2**21


@dataclass(frozen=True)
class PrivUnit(PlannedUsers):
    """A message is a unit vector; the shuffler permutes, and all other users are relied on for the blanket.

    With probability `in_cap` it is uniform in the cap of a given mass around the user's direction, else uniform outside
    of it. A vector of norm r times the clip, r < 1, is sent as its direction with probability ``(1 + r) / 2`` and as
    the opposite one otherwise; the zero vector as a uniform direction. That keeps the mean, privacy is that of
    directions, and the squared error of one user's report is ``clip^2 (1 / m^2 - r^2)`` instead of
    ``clip^2 (1 / m^2 - 1)``.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included.
    task : Vectors
        Dimension and clipping.
    cap_mass : float
        c in (0, 1/2].
    eps_local : float
        Local budget in nats.
    """

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
    guarantees = under(exact=UPPER)

    @classmethod
    @from_request
    def calibrate(
        cls, task: Task, n: int, eps: float, delta: float, *, cap_mass: float | None = None
    ) -> Self:
        """The largest local budget, and the cap.

        Parameters
        ----------
        task : Vectors
            Of at least two dimensions, clipped in the l2 norm; or in the l1 norm, which the l2 norm does not exceed.
        accounting : {"exact"}
            The hockey stick of two opposite directions, averaged over the number of uniform reports of the others.
        cap_mass : float, optional
            c in (0, 1/2]. Default: the one with the least error for unit vectors out of a few, see
            :func:`shuffledp.accounting.baselines.privunit.best_cap`.

        Raises
        ------
        Infeasible
            If delta is 0, or there is one dimension only.
        """
        assert isinstance(task, Vectors)  # check_request has seen to it
        if task.dimension < 2:
            raise Infeasible("Caps are for vectors of at least two dimensions.")
        if cap_mass is None:
            chosen, eps_local = best_cap(n, task.dimension, eps, delta)
        else:
            _, chosen = checked_cap(task.dimension, cap_mass)
            eps_local = privunit_local_budget(n, chosen, eps, delta)
        return cls(n, task, chosen, eps_local)

    @property
    def in_cap(self) -> float:
        """Probability p of a report in the cap of its direction."""
        return cap_probability(self.cap_mass, self.eps_local)

    @property
    def height(self) -> float:
        """Least inner product within a cap."""
        return cap_height(self.task.dimension, self.cap_mass)

    @property
    def mean(self) -> float:
        """Mean inner product m of a report and its direction."""
        return report_mean(self.task.dimension, self.cap_mass, self.in_cap)

    def cost(self) -> Cost:
        """One double precision number per coordinate."""
        return Cost(1.0, float(BITS_PER_COORDINATE * self.task.dimension), most_messages=1.0)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """One unit vector per user, (n, dimension)."""
        vectors = clipped(users.values, self.task)
        block = max(1, _DRAWS // self.task.dimension)
        for start in range(0, len(vectors), block):  # in place: there may be many numbers
            part = vectors[start : start + block]
            part[:] = self._reports(_directions(part, self.task.clip, rng), rng)
        return Messages(vectors)

    def _reports(self, directions: Floats, rng: np.random.Generator) -> Floats:
        """Unit vectors near the given ones or not, (n, dimension)."""
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

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """Sum of all messages, (dimension,)."""
        return np.asarray(messages.payload.sum(axis=0))

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """Unbiased mean vectors, (R, dimension)."""
        scale = self.task.clip / (self.mean * np.asarray(public.n_users, float))
        return np.asarray(np.asarray(aggregate, float) * scale[:, None])

    def expected_variance(self, participants: Participants) -> Floats | None:
        """Variance of each coordinate, (R, dimension); None where the vectors themselves are not given.

        Its sum over the coordinates is the squared l2 error.
        """
        sums = squares_of(participants, self.task)
        if sums is None:
            return None
        n, d = participants.public.users_column, self.task.dimension
        along = report_square(d, self.cap_mass, self.in_cap)
        across = (1 - along) / (d - 1)
        squares, directions = sums
        reports = (across * n + (along - across) * directions) * (self.task.clip / self.mean) ** 2
        return np.asarray((reports - squares) / n**2)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The blanket of the uniform reports of the others."""
        return favored_profile(users, 1 / self.cap_mass, self.eps_local)

    def parameters(self) -> dict[str, float]:
        """Mass of the cap, probability of a report in it, and local budget."""
        return {"cap_mass": self.cap_mass, "in_cap": self.in_cap, "eps_local": self.eps_local}


def _directions(vectors: Floats, clip: float, rng: np.random.Generator) -> Floats:
    """Unit vectors whose mean is ``vector / clip``, (n, dimension)."""
    norms = np.linalg.norm(vectors, axis=1)
    nothing = norms == 0
    unit = vectors / np.where(nothing, 1.0, norms)[:, None]
    if np.any(nothing):
        drawn = rng.standard_normal((int(nothing.sum()), vectors.shape[1]))
        unit[nothing] = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    turned = 2 * rng.random(len(vectors)) >= 1 + norms / clip
    unit[turned] *= -1
    return np.asarray(unit)
