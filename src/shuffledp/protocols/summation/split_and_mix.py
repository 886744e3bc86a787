"""IKOS split-and-mix: additive shares of noisy numbers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self, cast

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.baselines.noisy_counts import laplace_profile
from shuffledp.accounting.baselines.split_and_mix import (
    TOO_FEW_SHARES,
    IkosForm,
    ikos_distance,
    ikos_shares,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.sums import central_laplace_mse, ikos_group_order
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.accounting.random_population.secure_sum import most_users
from shuffledp.guarantees import UPPER, Standing, under
from shuffledp.numerics.argument_ranges import OpenUnit, one_of
from shuffledp.numerics.saddlepoint import ErrorLaw, geometric_noise
from shuffledp.populations.base import Fixed, Population
from shuffledp.protocols._additive_shares import (
    LARGEST_GROUP,
    point_delta,
    polya_local_epsilon,
    split,
    sum_modulo,
)
from shuffledp.protocols._inputs import checked_aggregate, checked_inputs
from shuffledp.protocols._planned_numbers import planned_for
from shuffledp.protocols.messages import Cost, Messages, message_bits
from shuffledp.protocols.request import Request
from shuffledp.protocols.summation._sums import SumReports, numbers_of, over_users
from shuffledp.tasks import Array, Budget, Floats, Ints, Participants, Public, Task, Users

GROUPS = ("wide", "figure")
#: Least number of users for which the published bounds hold.
_LEAST_USERS = 19
#: Probability that the sum wraps around above which the estimate is called biased.
_NEGLIGIBLE = 1e-6
#: Shape of the noise of nearly all users; a shape nearer to 1 takes too long.
_MOST_SHAPE = 1 - 1e-4


@dataclass(frozen=True)
class SplitAndMix(SumReports):
    """Additive uniform shares modulo q, the ``group_order``, of a user's number plus the user's part of the noise.

    The noise of all users is discrete Laplace noise. ``form`` is the formula for m, the number of ``shares`` per user;
    q suffices for ``most_users`` users.
    """

    no_client = "No client is written for secret shares; correlated_sum has one for noise that users share."

    eps: float
    shares: int
    group_order: int
    form: IkosForm
    most_users: int = field(default=0, kw_only=True)

    name = "split_and_mix"
    label = "split-and-mix"
    source = "Balle, Bell, Gascon and Nissim 2020; Ishai et al. 2006; baseline in Ghazi et al. 2021 (ICML), Section 5"
    relies_on = "shares of the noise"
    poisoning = "range of shares"

    guarantees = under(printed=UPPER)
    reduction = "secure sum"
    noise_shares = True

    @classmethod
    def calibrate(
        cls,
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = "printed",
        **options: Any,
    ) -> Self:
        """Find parameters that meet the budget, under the only accounting, ``printed``."""
        return super().calibrate(budget, population, task, accounting=accounting, **options)

    @classmethod
    def fit(
        cls,
        request: Request,
        *,
        form: IkosForm = "worst_case",
        group: Annotated[str, one_of(GROUPS)] = "wide",
        failure: OpenUnit = 1e-9,
    ) -> Self:
        """Use all of eps for the noise and all of delta for the shares; a formula gives the number of shares.

        ``form`` is one of :func:`shuffledp.accounting.ikos_shares`; only ``worst_case`` and ``collision`` are proven
        for all inputs. For group ``wide`` the noisy sum wraps around with probability at most ``failure``; for
        ``figure``, ``q = n D``, the bias is up to n D. Raises `Infeasible` if too few users are certain, or if q does
        not fit 64-bit integers.
        """
        numbers, eps, total = numbers_of(request.task), request.eps, request.delta
        fixed = isinstance(request.population, Fixed)
        most = most_users(request.population)

        def planned(users: int, delta: float) -> SplitAndMix:
            least = 3 if form == "collision" else _LEAST_USERS
            if users < least:
                raise Infeasible(f"The number of shares is known from {least} users on, got {users}.")
            order = most * numbers.max_value
            if group == "wide":
                order = ikos_group_order(most, numbers.max_value, eps, failure)
            if order >= LARGEST_GROUP:
                raise Infeasible(f"A group of order {order} does not fit into 64-bit integers.")
            shares = ikos_shares(users, numbers.max_value, eps, delta, form=form, group_order=order)
            room = 0 if fixed else most
            return cls(users, numbers, eps, shares, order, form, most_users=room)

        if fixed:
            return cast(Self, planned(most, total))
        fitted, treatment = planned_for(planned, request.budget, request.population)
        return cast(Self, replace(fitted, population=request.population, treatment=treatment))

    @classmethod
    def fit_random(cls, request: Request, options: Mapping[str, Any]) -> Self:
        """Return the protocol for the planned number of users, in a group for the largest number."""
        return cls.fit(request, **options)

    @property
    def standing(self) -> Standing:
        """Label of the guarantee, which depends on the formula for the number of shares."""
        return TOO_FEW_SHARES.get(self.form, super().standing)

    @property
    def _stop(self) -> float:
        """Success probability ``1 - a`` of the geometric noise."""
        return -math.expm1(-self.eps / self.numbers.max_value)

    def _noise(self, parts: Floats, rng: Generator) -> Ints:
        """Draw the noise of users whose parts of the noise have these sizes."""
        draws = rng.negative_binomial(parts, self._stop) - rng.negative_binomial(parts, self._stop)
        return np.asarray(draws, np.int64)

    @property
    def capacity(self) -> int | None:
        """Number of users whose numbers have a sum below q; None if the sum may wrap around anyway."""
        return None if self.biased else (self.group_order - 1) // self.numbers.max_value

    def local_epsilon(self) -> float:
        """Return the local eps of a user's shares, whose sum is the number plus the user's part of the noise."""
        size = self.numbers.max_value
        return polya_local_epsilon(1 / self.n_users, self.eps / size, size)

    def cost(self) -> Cost:
        """Return the cost of m uniform shares per user."""
        return Cost(float(self.shares), message_bits(self.group_order), most_messages=float(self.shares))

    @checked_inputs
    def encode(self, users: Users, rng: Generator) -> Messages:
        """Draw the shares of the noisy numbers."""
        _, number = self.numbers.inputs(users)
        noisy = number + self._noise(np.full(len(number), 1 / self.n_users), rng)
        return Messages(split(noisy, self.shares, self.group_order, rng).ravel())

    def aggregate(self, messages: Messages) -> Array:
        """Return the sum modulo q, (1,)."""
        return np.array([sum_modulo(np.asarray(messages.payload, np.int64), self.group_order)])

    def merged(self, first: Array, second: Array) -> Array:
        """Return the sum modulo q of two aggregates, (1,)."""
        return (first + second) % self.group_order

    @checked_inputs
    def sample_aggregate(self, participants: Participants, rng: Generator) -> Array:
        """Draw the sum modulo q, (R, 1), from its exact law."""
        total = self.numbers.total(self.numbers.held(participants).astype(np.int64))
        noise = self._noise(over_users(participants, self.n_users, self.numbers), rng)
        return np.asarray(np.mod(total + noise, self.group_order)[:, None])

    @checked_aggregate
    def estimate(self, aggregate: Array, public: Public) -> Floats:
        """Return the representative of the noisy sum modulo q that is closest to the middle of the range, (R,)."""
        q = self.group_order
        (residues,) = np.transpose(aggregate)
        total = np.mod(residues, q)
        # The lowest of q integers around n D / 2; of two equally near ones the upper is taken.
        middle = np.asarray(public.n_users, np.int64) * self.numbers.max_value
        low = (middle - q) // 2 + 1
        return np.asarray((low + np.mod(total - low, q)) * self.numbers.step, float)

    @property
    def biased(self) -> bool:
        """True if the noise wraps a sum around the group with a probability above 1e-6."""
        users = max(self.n_users, self.most_users)
        room = (self.group_order - 1 - users * self.numbers.max_value) // 2
        rate = self.eps / self.numbers.max_value
        return 2 * math.exp(-rate * (room + 1)) > _NEGLIGIBLE

    def error_law(self, participants: Participants) -> ErrorLaw | None:
        """Return the law of the noise of the sum; a normal law if `biased`."""
        if self.biased:
            return super().error_law(participants)
        shape = over_users(participants, self.n_users, self.numbers)[:, None]
        noise, step = geometric_noise(self.eps / self.numbers.max_value, shape), self.numbers.step
        return ErrorLaw([term.times(step) for term in noise], step)

    @checked_inputs
    def expected_variance(self, participants: Participants) -> Floats | None:
        """Return the variance of the estimate, (R,).

        If `biased`, the variance of the decoded sum; None then unless the planned number of users take part.
        """
        if self.biased:
            moments = self._decoded_error(participants)
            return None if moments is None else moments[1] - moments[0] ** 2
        noise = central_laplace_mse(self.numbers.max_value, self.eps) * self.numbers.step**2
        return noise * over_users(participants, self.n_users, self.numbers)

    @checked_inputs
    def expected_squared_error(self, participants: Participants) -> Floats | None:
        """Return variance plus squared bias, (R,); None if `biased` and the number of users is not as planned."""
        if not self.biased:
            return self.expected_variance(participants)
        moments = self._decoded_error(participants)
        return None if moments is None else moments[1]

    def _decoded_error(self, participants: Participants) -> tuple[Floats, Floats] | None:
        """Return mean and mean square of the error, (R,) each, with wrapping; None for an unplanned number of users.

        Let X be the noise and let the sum be r places above the lowest of the q integers that are decoded. The error is
        ``X - q J``, ``J = floor((r + X) / q)``. For r in 0..q-1 (other sums differ by multiples of q) and discrete
        Laplace X all moments are geometric series: ``J >= k`` if ``X >= k q - r``, and ``J <= -k`` if
        ``-X >= (k - 1) q + r + 1``.
        """
        n = np.asarray(participants.public.n_users, np.int64)
        if np.any(n != self.n_users):
            return None
        q, rate = self.group_order, self.eps / self.numbers.max_value
        lowest = (n * self.numbers.max_value - q) // 2 + 1
        turns, r = np.divmod(self.numbers.total(self.numbers.held(participants).astype(np.int64)) - lowest, q)
        a, around = math.exp(-rate), -math.expm1(-rate * q)  # 1 - a^q
        up, down = np.asarray(q - r, float), np.asarray(r + 1, float)
        above, below = np.exp(-rate * up) / (1 + a), np.exp(-rate * down) / (1 + a)

        def with_noise(start: Floats, tail: Floats) -> Floats:
            """Return the sum over k >= 0 of E[X; X >= start + k q], where ``tail = Pr[X >= start]``."""
            return tail * ((start + a / self._stop) / around + q * (1 - around) / around**2)

        mean_j = (above - below) / around
        square_j = (above + below) * (2 - around) / around**2
        cross = with_noise(up, above) + with_noise(down, below)
        variance = central_laplace_mse(self.numbers.max_value, self.eps)
        mean = -q * (mean_j + turns)
        square = variance - 2 * q * cross + float(q) ** 2 * (square_j + 2 * turns * mean_j + turns**2)
        return mean * self.numbers.step, square * self.numbers.step**2

    def profile_for(self, users: int) -> PrivacyProfile | None:
        """Return the profile of the noise in the sum, plus the statistical distance of the shares.

        None if the distance is not proven for all inputs, or if fewer users than planned send noise.
        """
        distance = self._distance(self.n_users) if users >= self.n_users else None
        if distance is None:
            return None
        return laplace_profile(self.eps / self.numbers.max_value, self.numbers.max_value, distance=distance)

    def _distance(self, users: int) -> float | None:
        """Return the statistical distance of the shares of this number of users; None without a proof."""
        if self.form == "collision":
            return ikos_distance(users, self.group_order, self.shares)
        if self.form != "worst_case" or users < _LEAST_USERS:
            return None
        per_share = math.log2(users) - math.log2(math.e)
        return float(2 ** (-((self.shares - 2) * per_share - math.log2(self.group_order)) / 2))

    def profile_among(self, users: int, honest: int, *, colluding: bool) -> PrivacyProfile | None:
        """Return the profile of the honest users' noise and shares; their noise counts as pure differential privacy."""
        size, distance = self.numbers.max_value, self._distance(honest)
        if honest >= self.n_users or distance is None:
            return self.profile_for(honest)
        most = polya_local_epsilon(min(honest / self.n_users, _MOST_SHAPE), self.eps / size, size)
        return Profile(
            lambda eps: min(point_delta(eps, most, 0.0) + (1 + math.exp(min(eps, most))) * distance, 1.0),
            "pure eps of the noise of the remaining users, and the statistical distance of their shares",
        )

    def parameters(self) -> dict[str, float]:
        """Return the budget, the root mean squared error, the number of shares and the order of the group."""
        variance = central_laplace_mse(self.numbers.max_value, self.eps)
        return {
            "eps_star": self.eps,
            "noise_rmse": math.sqrt(variance) * self.numbers.step,
            "shares": float(self.shares),
            "group_order": float(self.group_order),
        }
