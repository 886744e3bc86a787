"""IKOS split-and-mix: additive shares of noisy numbers."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.profiles import PrivacyProfile
from shuffledp.accounting.summation_baselines import (
    IKOS_FORMS,
    central_laplace_mse,
    ikos_distance,
    ikos_group_order,
    ikos_shares,
)
from shuffledp.numerics.checks import check_choice, check_open_unit
from shuffledp.populations import Population
from shuffledp.protocols._requests import fixed_users, positive_delta
from shuffledp.protocols.base import Cost, Messages, ProtocolBase
from shuffledp.protocols.frequency._secret_shares import LARGEST_GROUP, split, sum_modulo
from shuffledp.protocols.summation._sums import (
    LaplaceProfile,
    Numbers,
    numbers_of,
    over_users,
)
from shuffledp.tasks import Budget, Floats, Ints, Participants, Public, Task, Users

GROUPS = ("wide", "figure")
#: Users from which on the published bounds hold.
_LEAST_USERS = 19


@dataclass(frozen=True)
class SplitAndMix(ProtocolBase):
    """Every user adds a share of discrete Laplace noise and splits the result into uniform shares modulo q.

    Parameters
    ----------
    n_users : int
        Users that the protocol is calibrated for, user 1 included.
    numbers : Numbers
        What users hold.
    eps : float
        Budget of the noise, nats.
    shares : int
        m, messages per user.
    group_order : int
        q.
    form : {"figure", "average", "worst_case", "collision"}
        Where m comes from.
    """

    n_users: int
    numbers: Numbers
    eps: float
    shares: int
    group_order: int
    form: str

    name = "split_and_mix"
    task_kind = "summation"
    label = "split-and-mix"
    source = "Ishai et al. 2006; Balle, Bell, Gascon and Nissim 2020; baseline in Ghazi et al. 2021 (ICML), Section 5"
    trust = "shuffler"
    accountings = ("printed",)
    reduction = "secure sum"

    @classmethod
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "printed",
        form: str = "worst_case",
        group: str = "wide",
        failure: float = 1e-9,
    ) -> Self:
        """All of eps for the noise, all of delta for the shares.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, replacement neighbours.
        population : Fixed
            Number of other users.
        task : Summation
            One sum of numbers that are not negative.
        accounting : {"printed"}
        form : {"figure", "average", "worst_case", "collision"}
            Formula of the number of shares, see :func:`shuffledp.accounting.ikos_shares`. Only ``worst_case`` and
            ``collision`` are proven for all inputs.
        group : {"wide", "figure"}
            ``wide``: so large that the noisy sum wraps around with probability at most `failure`. ``figure``: ``n D``,
            for which sums near 0 and n D do wrap around.
        failure : float
            In (0, 1).

        Raises
        ------
        ValueError
            If the request does not fit this protocol.
        Infeasible
            If the number of users is random or too small for the formula, delta is 0, numbers may be negative, or the
            group is too large for 64-bit integers.
        """
        cls.check_request(budget, task, accounting)
        n, numbers, delta = fixed_users(population), numbers_of(task), positive_delta(budget)
        check_choice(f"{cls.name}: form", form, IKOS_FORMS)
        check_choice(f"{cls.name}: group", group, GROUPS)
        eps, failure = budget.largest_eps, check_open_unit(f"{cls.name}: failure", failure)
        least = 3 if form == "collision" else _LEAST_USERS
        if n < least:
            raise Infeasible(f"The number of shares is known from {least} users on, got {n}.")
        order = n * numbers.max_value
        if group == "wide":
            order = ikos_group_order(n, numbers.max_value, eps, failure)
        if order >= LARGEST_GROUP:
            raise Infeasible(f"A group of order {order} does not fit into 64-bit integers.")
        shares = ikos_shares(n, numbers.max_value, eps, delta, form=form, group_order=order)
        return cls(n, numbers, eps, shares, order, form)

    @property
    def _stop(self) -> float:
        """``1 - a`` of the noise."""
        return -math.expm1(-self.eps / self.numbers.max_value)

    def _noise(self, parts: Floats, rng: np.random.Generator) -> Ints:
        """Noise of users who send the given parts of it."""
        draws = rng.negative_binomial(parts, self._stop) - rng.negative_binomial(parts, self._stop)
        return np.asarray(draws, np.int64)

    def cost(self) -> Cost:
        """m shares; none of them alone says anything."""
        return Cost(float(self.shares), math.ceil(math.log2(self.group_order)))

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """Shares of the noisy number."""
        _, number = self.numbers.inputs(users)
        noisy = number + self._noise(np.full(len(number), 1 / self.n_users), rng)
        return Messages(split(noisy, self.shares, self.group_order, rng).ravel())

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """Sum modulo q, (1,)."""
        return np.array([sum_modulo(np.asarray(messages.payload, np.int64), self.group_order)])

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the sum modulo q, (R, 1)."""
        total = self.numbers.total(self.numbers.held(participants).astype(np.int64))
        noise = self._noise(over_users(participants, self.n_users, self.numbers), rng)
        return np.asarray(np.mod(total + noise, self.group_order)[:, None])

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """The member of the class that is nearest to the middle of the possible sums, (R,)."""
        q = self.group_order
        total = np.mod(np.asarray(aggregate)[:, 0], q)
        # The lowest of q integers around n D / 2; of two equally near ones the upper is taken.
        middle = np.asarray(public.n_users, np.int64) * self.numbers.max_value
        low = (middle - q) // 2 + 1
        return np.asarray((low + np.mod(total - low, q)) * self.numbers.step, float)

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of the noise, (R,), as if it never wrapped around."""
        noise = central_laplace_mse(self.numbers.max_value, self.eps) * self.numbers.step**2
        return np.asarray(noise * over_users(participants, self.n_users, self.numbers))

    def dominating_pair(self) -> PrivacyProfile | None:
        """Noise in the sum, and the security of the shares; None if that is not proven for all inputs."""
        if self.form == "collision":
            distance = ikos_distance(self.n_users, self.group_order, self.shares)
        elif self.form == "worst_case":
            per_share = math.log2(self.n_users) - math.log2(math.e)
            distance = 2 ** (-((self.shares - 2) * per_share - math.log2(self.group_order)) / 2)
        else:
            return None
        return LaplaceProfile(self.eps / self.numbers.max_value, self.numbers.max_value, distance=distance)

    def parameters(self) -> dict[str, float]:
        """Budget, error, shares and group."""
        variance = central_laplace_mse(self.numbers.max_value, self.eps)
        return {
            "eps_star": self.eps,
            "noise_rmse": math.sqrt(variance) * self.numbers.step,
            "shares": float(self.shares),
            "group_order": float(self.group_order),
        }
