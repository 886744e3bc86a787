"""Skellam noise in a secure sum: a reference line of a sum."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.baselines.noisy_counts import noisy_count_variance, noisy_counts_profile
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import EXACT, under
from shuffledp.numerics.samplers import LARGEST_SCALE, skellam
from shuffledp.protocols._random_users import PlannedUsers
from shuffledp.protocols._requests import from_request
from shuffledp.protocols.base import Cost, Messages
from shuffledp.protocols.summation._sums import Numbers, numbers_of, over_users
from shuffledp.tasks import Budget, Floats, Neighbours, Participants, Public, Task, Users


@dataclass(frozen=True)
class Skellam(PlannedUsers):
    """Users add Skellam noise of variance ``mu / n`` to their numbers; a secure sum adds them up.

    A message is an integer, which nobody sees: only the sum is revealed. All users are relied on for their share of
    the noise.

    Parameters
    ----------
    n_users : int
        Users that the noise is made for, user 1 included.
    numbers : Numbers
        What users hold.
    variance : float
        mu, of the noise of the sum when as many take part, in steps.
    relation : {"replace_one", "add_remove"}
        Neighboring relation of the guarantee.
    """

    n_users: int
    numbers: Numbers
    variance: float
    relation: Neighbours = "replace_one"

    name = "skellam"
    task_kind = "summation"
    label = "Skellam, secure aggregation"
    source = "Agarwal, Kairouz and Liu 2021; the pair of sums is derived for this project"
    trust = "secure_sum"
    relies_on = "shares of the noise"
    neighbours = ("replace_one", "add_remove")
    guarantees = under(exact=EXACT)

    @classmethod
    @from_request
    def calibrate(cls, budget: Budget, task: Task, n: int, eps: float, delta: float) -> Self:
        """The smallest variance for a change of the sum by the largest number.

        Parameters
        ----------
        budget : Budget
            One eps, delta > 0, either relation. Under add or remove a user who leaves sends its share of the noise.
        task : Summation
            One sum of numbers that are not negative.

        Raises
        ------
        Infeasible
            If delta is 0, numbers may be negative, there are several sums, or too many levels to sum over.
        """
        numbers = numbers_of(task)
        variance = noisy_count_variance(eps, delta, "skellam", shift=numbers.max_value, counts=1)
        if variance > LARGEST_SCALE:
            raise Infeasible(
                f"Noise of variance {variance:.3g} is beyond {LARGEST_SCALE:g}, up to which it is drawn exactly: "
                "take fewer levels."
            )
        return cls(n, numbers, variance, budget.neighbours)

    def counted_on(self) -> str:
        """The users who share the noise."""
        return self.all_users()

    def cost(self) -> Cost:
        """An integer modulo a number that the sum reaches with a probability far below delta; payload alone."""
        users = self.usual_users
        deviation = math.sqrt(self.variance * users / self.n_users)
        bits = float(math.ceil(math.log2(users * self.numbers.max_value + 20 * deviation)))
        return Cost(1.0, bits, most_messages=1.0)

    def encode(self, users: Users, rng: np.random.Generator) -> Messages:
        """Numbers and shares of the noise, (n,)."""
        _, number = self.numbers.inputs(users)
        return Messages(number + skellam(self.variance / self.n_users, rng, number.shape))

    def aggregate(self, messages: Messages) -> NDArray[Any]:
        """The sum in steps, (1,)."""
        return np.array([messages.payload.sum()])

    def sample_aggregate(self, participants: Participants, rng: np.random.Generator) -> NDArray[Any]:
        """Exact law of the noisy sum, (R, 1), at a cost that does not depend on the number of users."""
        total = self.numbers.total(self.numbers.held(participants).astype(np.int64))
        noise = self.variance * over_users(participants, self.n_users, self.numbers)
        return np.asarray(total + skellam(noise, rng, total.shape))[:, None]

    def estimate(self, aggregate: NDArray[Any], public: Public) -> Floats:
        """The noisy sums, (R,)."""
        return np.asarray(np.asarray(aggregate, float)[:, 0] * self.numbers.step)

    def expected_variance(self, participants: Participants) -> Floats:
        """Variance of the noise, (R,)."""
        noise = self.variance * over_users(participants, self.n_users, self.numbers)
        return np.asarray(noise * self.numbers.step**2)

    def profile_for(self, users: int) -> PrivacyProfile:
        """The noise from as many users."""
        noise = self.variance * users / self.n_users
        return noisy_counts_profile("skellam", noise, self.numbers.max_value, 1, neighbours=self.relation)

    def parameters(self) -> dict[str, float]:
        """Error of the sum when as many take part as are planned for."""
        return {"noise_rmse": math.sqrt(self.variance) * self.numbers.step}
