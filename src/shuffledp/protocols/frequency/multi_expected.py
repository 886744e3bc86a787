"""MULTI-EXPECTED: secret shares with discrete Gaussian noise, planned by its expected delta."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Self

import numpy as np
from numpy.random import Generator
from scipy.special import log_ndtr

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.accounting.random_population.multi_message import multi_expected_plan
from shuffledp.accounting.random_population.secure_sum import ORDER_FORMS, ShareForm, group_order, most_users
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import one_of
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.samplers import (
    LARGEST_SCALE,
    discrete_gaussian,
    discrete_gaussian_pmf,
    discrete_gaussian_variance,
)
from shuffledp.populations.base import Law
from shuffledp.protocols._additive_shares import point_delta
from shuffledp.protocols._requests import remaining
from shuffledp.protocols.frequency._secret_shares import (
    SecretShares,
    law_for_bits,
    secure_sum,
    secure_sum_delta,
)
from shuffledp.protocols.request import Request
from shuffledp.tasks import Floats, Ints

#: Least tau at which the probabilities of a sum of n discrete Gaussians, and of one discrete Gaussian with the total
#: variance, differ by a factor below ``1 + 10 n exp(-pi^2 tau^2)``, 1 + 2e-26 n. For smaller tau the exact laws of the
#: users are summed.
SMOOTH = 2.5
#: Standard deviation from which sums over integers are integrals with two correction terms.
_CONTINUOUS = 25.0
#: Largest number of probabilities of a kept law of sums, and largest number of kept laws (64 MB).
_SHORT, _KEPT_LAWS = 2048, 4096
#: Multiples of the budget's eps at which a profile for fewer users is evaluated.
_FACTORS = np.geomspace(1.0, 16.0, 60)


def gaussian_sum_delta(
    law: Law,
    eps: float,
    tau: float,
    precision: int,
    security_bits: float,
    unsecured: float = 0.0,
    share: float = 0.0,
) -> float:
    """Return delta of the sum of all users' discrete Gaussian noise and of its shuffled shares.

    The delta is a sum of two parts. The first is the hockey stick of the noise, equal in both directions, averaged over
    the number of users. `law` is the law of the number of other users, of whom a `share` sends no noise. The second is
    the delta of shares that are within ``2^-security_bits`` of their sum, except with probability `unsecured`.
    """
    eps = min(eps, 700.0)  # beyond it e^eps overflows; delta does not grow with eps
    window = law.window()
    n, places = np.unique(_senders(law, share), return_inverse=True)
    sigma = tau * np.sqrt(n)
    is_wide = (sigma >= _CONTINUOUS) & (tau >= SMOOTH)
    deltas = np.empty(n.size)
    deltas[is_wide] = _wide_gaussian_delta(sigma[is_wide], precision, eps)
    for i in np.flatnonzero(~is_wide):
        deltas[i] = _summed_gaussian_delta(int(n[i]), tau, precision, eps)
    noise = float(window.pmf @ deltas[places]) + window.omitted
    return min(noise + secure_sum_delta(security_bits, eps) + unsecured, 1.0)


@remember(2)
def _senders(law: Law, share: float) -> Ints:
    """Return the number of users who send noise, for every number of the others in the window of their law."""
    users = 1 + law.window().support
    return np.array([remaining(int(number), share) for number in users]) if share else users


def _wide_gaussian_delta(sigma: Floats, shift: int, eps: float) -> Floats:
    """Return the hockey stick of a shifted discrete Gaussian, for (w,) standard deviations of at least 25.

    The terms ``g(x) = f(x) - e^eps f(x - shift)``, f the normal density, are positive up to an integer m. By the
    Euler-Maclaurin formula their sum up to m is the integral plus g/2, plus a twelfth of the first derivative, minus
    the third derivative over 720, all at m; the remainder is of relative order sigma^-4 / 30000.
    """
    last = np.ceil(shift / 2 - eps * sigma**2 / shift) - 1
    total = np.zeros(sigma.shape)
    for sign, place in ((1.0, last), (-1.0, last - shift)):
        x, log_factor = place / sigma, eps * (sign < 0)
        density = np.exp(log_factor - x**2 / 2) / (math.sqrt(2 * math.pi) * sigma)
        ends = 0.5 - x / (12 * sigma) - (3 * x - x**3) / (720 * sigma**3)
        total += sign * (np.exp(log_factor + log_ndtr(x)) + density * ends)
    return np.maximum(total, 0.0)


def _summed_gaussian_delta(n: int, tau: float, shift: int, eps: float) -> float:
    """Return the hockey stick of a shifted sum of n discrete Gaussians."""
    reach = max(math.ceil(39 * tau), math.ceil(12 * tau * math.sqrt(n))) + shift
    length = 2 ** math.ceil(math.log2(2 * reach + 2))
    p = (_kept_law if length <= _SHORT else _law_of_sum)(n, tau, length)
    excess = p - math.exp(eps) * np.roll(p, shift)
    return float(np.sum(np.maximum(excess, 0.0)))


def _law_of_sum(n: int, tau: float, length: int) -> Floats:
    """Return the law of a sum of n discrete Gaussians, 0 in the middle, by Fourier transform on a circle."""
    pmf = discrete_gaussian_pmf(tau)
    circle = np.zeros(length)
    circle[np.arange(pmf.size) - pmf.size // 2] = pmf
    return np.fft.fftshift(np.fft.irfft(np.fft.rfft(circle) ** n, length))


_kept_law = remember(_KEPT_LAWS)(_law_of_sum)


def _enough(law: Law, eps: float, delta: float, precision: int, tau: float) -> float:
    """Return the planned tau, or a larger tau if integer noise protects less than normal noise."""
    perfect = 1e6  # bits of security: what is lost is lost by the noise

    def excess(minus_log: float) -> float:
        lost = gaussian_sum_delta(law, eps, math.exp(-minus_log), precision, perfect)
        return math.log(2 * lost / delta) if lost > 0 else -math.inf

    if excess(-math.log(tau)) <= 0:
        return tau
    start = -math.log(tau)
    return math.exp(-root_below(excess, start - 1e-4, -math.inf, start, xtol=1e-11))


@dataclass(frozen=True)
class MultiExpected(SecretShares):
    """Secret shares of bits, scaled by about the root of the mean number of users, plus discrete Gaussian noise."""

    tau: float

    name = "multi_expected"
    label = "MULTI-EXPECTED"
    source = "Wang et al. 2023, Theorem 6, Proposition 2, Algorithms 1 and 2"
    guarantees = under(printed=UPPER, exact=UPPER)
    reported = ("tau", *SecretShares.reported)

    @classmethod
    def fit(
        cls,
        request: Request,
        *,
        order: Annotated[str, one_of(ORDER_FORMS)] = "safe",
        share_form: ShareForm | None = None,
    ) -> Self:
        """Find tau, with half of delta for the noise, averaged over the number of users, and half for the secure sum.

        ``printed`` is Lemma 4 with its misprints corrected, ``exact`` the hockey stick of the noise. For few users and
        large budgets, tau exceeds the planned value, as integer noise protects less than normal noise. The printed
        ``order`` of the group leaves no room for the noise (reading note RP-N26), so that the estimate can become
        useless. ``share_form`` is a form of `shuffledp.accounting.share_count`. Raises `Infeasible` for more than two
        values.
        """
        eps = request.eps
        law, delta = law_for_bits(request), request.delta
        plan = multi_expected_plan(law, eps, delta, accounting=request.accounting, order=order)
        tau = _enough(law, eps, delta, plan.precision, plan.tau)
        modulus = plan.group_order
        if tau != plan.tau:
            modulus = group_order(law, plan.precision, tau, form=order)
        if tau * math.sqrt(most_users(law)) > LARGEST_SCALE:
            raise Infeasible(f"Noise of {tau:.3g} per user is beyond what is sampled: eps is too small.")
        form = share_form or ("printed" if request.accounting == "printed" else "any_n")
        return cls(
            population=law,
            eps=eps,
            precision=plan.precision,
            group_order=modulus,
            room=order == "safe",
            tau=tau,
            **secure_sum(law, eps, delta, modulus, form=form),
        )

    def privacy_profile(self) -> PrivacyProfile:
        """Return the exact hockey stick of the noise, averaged over N, plus the distance of the shares.

        Above the budget's eps, the distance adds at most its contribution at this eps.
        """

        return self.profile_of_remaining(0.0)

    def profile_of_remaining(self, share: float) -> PrivacyProfile:
        """Return the hockey stick of the noise of the remaining users, plus the distance of the shares."""

        @cache
        def delta(eps: float) -> float:
            return gaussian_sum_delta(
                self.population, eps, self.tau, self.precision, self.security_bits, self.unsecured, share
            )

        # The part of the shares grows with eps; what holds for an eps holds for larger ones.
        fixed = [self.eps] if share == 0 else (self.eps * _FACTORS).tolist()

        def least(eps: float) -> float:
            deltas = [delta(point) for point in fixed if point <= eps]
            return min(delta(eps), point_delta(eps, self.eps, delta(self.eps)), *deltas)

        return Profile(
            least,
            "hockey stick of the summed discrete Gaussians, averaged over N; secure sum by Lemma 3",
        )

    def user_noise(self, users: int, rng: Generator) -> Ints:
        """Draw discrete Gaussian noise of every user, (users,)."""
        return discrete_gaussian(self.tau, rng, users)

    def total_noise(self, n_users: Ints, rng: Generator) -> Ints:
        """Draw a discrete Gaussian of variance ``N tau^2``, or for small tau the exact sum, from counts per value."""
        if self.tau >= SMOOTH:
            return discrete_gaussian(self.tau * np.sqrt(n_users), rng)
        pmf = discrete_gaussian_pmf(self.tau)
        values = np.arange(pmf.size) - pmf.size // 2
        return np.asarray(rng.multinomial(n_users, pmf) @ values, np.int64)

    def local_epsilon(self) -> float:
        """Return an upper bound on the local eps of a user's shares, nearly attained for large q.

        The shares add up to the scaled bit plus a discrete Gaussian modulo q. The log ratio of neighboring residues is
        the mean of the integers in their class, over ``tau^2``. Up to q / 2 it is at most the residue itself over
        ``tau^2``.
        """
        return self.precision * (self.group_order - self.precision) / (2 * self.tau**2)

    def noise_variance(self, n_users: Ints) -> Floats:
        """Return N times the variance of a discrete Gaussian, (R,), which is tau^2 unless tau is small."""
        return np.asarray(n_users * discrete_gaussian_variance(self.tau))
