"""Secret shares with Polya noise: differences of negative binomial variables whose sum has geometric noise."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
from numpy.random import Generator

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.accounting.random_population.multi_message import PolyaPlan
from shuffledp.accounting.random_population.polya import expected_polya_delta
from shuffledp.accounting.random_population.polya_errors import polya_mean_absolute
from shuffledp.numerics.saddlepoint import ErrorLaw, geometric_noise
from shuffledp.numerics.samplers import LARGEST_SCALE, polya_difference
from shuffledp.protocols._additive_shares import point_delta, polya_local_epsilon
from shuffledp.protocols._inputs import checked_inputs
from shuffledp.protocols._requests import remaining
from shuffledp.protocols.frequency._secret_shares import (
    SecretShares,
    secure_sum,
    secure_sum_delta,
)
from shuffledp.protocols.request import Request
from shuffledp.tasks import Floats, Ints, Participants

#: Number of equal parts of the planned noise; a profile for fewer users counts whole parts.
_PARTS = 512


@dataclass(frozen=True)
class PolyaShares(SecretShares):
    """Secret shares with Polya noise of shape 1/n1; the noise of n1 users, ``base_users``, suffices for pure eps."""

    base_users: int

    @classmethod
    def planned(cls, request: Request, plan: PolyaPlan, share_form: str) -> Self:
        """Return the protocol with the noise and the group order of a plan."""
        law, eps, order = request.law, request.eps, plan.group_order
        if plan.precision / eps > LARGEST_SCALE:
            raise Infeasible(
                f"Noise of scale {plan.precision / eps:.3g} is beyond what is sampled: eps is too small."
            )
        return cls(
            population=law,
            eps=eps,
            precision=plan.precision,
            group_order=order,
            room=True,
            base_users=plan.n1,
            **secure_sum(law, eps, request.delta, order, form=share_form),
        )

    @property
    def ratio(self) -> float:
        """Ratio of neighboring probabilities of the geometric noise, ``exp(-eps / p)``."""
        return math.exp(-self.eps / self.precision)

    def privacy_profile(self) -> PrivacyProfile:
        """Return a profile from the exact delta at the claimed eps, averaged over N, plus the delta of the shares."""
        noise = expected_polya_delta(self.population, self.base_users, self.eps / self.precision)
        # One step of a rounded value is eps / p; p of them in a row add up to eps, and for p > 1 to more delta.
        if self.precision > 1:
            noise *= math.expm1(self.eps) / math.expm1(self.eps / self.precision)
        total = noise + secure_sum_delta(self.security_bits, self.eps) + self.unsecured
        return Profile(
            lambda eps: point_delta(eps, self.eps, total),
            "Polya noise, exact delta averaged over N; secure sum by Lemma 3",
        )

    def profile_of_remaining(self, share: float) -> PrivacyProfile:
        """Return a profile from the pure eps of the remaining users' noise, averaged over N."""
        window = self.population.window()

        @cache
        def pure_of(parts: int) -> float:
            if parts >= _PARTS:
                return self.eps
            return polya_local_epsilon(parts / _PARTS, self.eps / self.precision, self.precision)

        # Less noise hides less, so that shapes are rounded down; a part at least, which is not enough for one user.
        users = [remaining(1 + int(others), share) for others in window.support]
        pure = [
            pure_of(number * _PARTS // self.base_users) if number * _PARTS >= self.base_users else math.inf
            for number in users
        ]

        def delta(eps: float) -> float:
            eps = min(eps, max((most for most in pure if most < math.inf), default=eps))
            noise = sum(
                mass * (point_delta(eps, most, 0.0) if most < math.inf else 1.0)
                for mass, most in zip(window.pmf, pure, strict=True)
            )
            return min(float(noise) + window.omitted + secure_sum_delta(self.security_bits, eps), 1.0)

        return Profile(delta, "pure eps of the noise of the remaining users; secure sum by Lemma 3")

    def user_noise(self, users: int, rng: Generator) -> Ints:
        """Draw Polya noise of every user, (users,)."""
        return polya_difference(1 / self.base_users, self.precision / self.eps, rng, users)

    def total_noise(self, n_users: Ints, rng: Generator) -> Ints:
        """Draw the sum of all users' noise, a difference of negative binomial variables of shape N/n1."""
        return polya_difference(n_users / self.base_users, self.precision / self.eps, rng)

    def local_epsilon(self) -> float:
        """Return the local eps of a user's shares, whose sum is the scaled bit plus the user's noise."""
        if self.base_users == 1:
            return self.eps
        return polya_local_epsilon(1 / self.base_users, self.eps / self.precision, self.precision)

    def noise_variance(self, n_users: Ints) -> Floats:
        """Return the variance ``(N / n1) 2 ratio / (1 - ratio)^2``, (R,)."""
        single = 2 * self.ratio / math.expm1(-self.eps / self.precision) ** 2
        return n_users / self.base_users * single

    def error_law(self, participants: Participants) -> ErrorLaw:
        """Return the exact law, a difference of negative binomial variables."""
        n = participants.public.users_column
        step = 1 / (self.precision * n)
        shape = np.repeat(n / self.base_users, 2, axis=1)
        return ErrorLaw(
            [term.times(step) for term in geometric_noise(self.eps / self.precision, shape)], step
        )

    @checked_inputs
    def expected_absolute_error(self, participants: Participants) -> Floats:
        """Return the exact mean absolute error; a normal error would be wrong, as Polya noise has heavy tails."""
        n = participants.public.n_users
        total = polya_mean_absolute(n / self.base_users, self.eps / self.precision) / (self.precision * n)
        return np.repeat(total[:, None], 2, axis=1)

    def parameters(self) -> dict[str, float]:
        """Return n1, and the parameters of the secure sum."""
        return {"n1": float(self.base_users)} | super().parameters()
