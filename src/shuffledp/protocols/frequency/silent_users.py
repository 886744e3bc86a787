"""Silent users: each user sends a value only with some probability, among Poisson dummies.

A user sends a value with probability p, and ``Poisson(mu / n)`` dummies of every value:
``c_j = Bin(n_j, p) + Poisson(mu)``. The estimate of a count is ``(c_j - mu) / p``, with variance
``mu / p^2 + n_j (1 - p) / p``. Dropping values often saves dummies: at p = 1/4 a 25th of the dummies suffices. The
protocol is one level of the segmented protocol for sets of one item.

Delta is the divergence of the two counts that change (`shuffledp.accounting.general.count_pairs`). Each count is
Poisson, with or without a message that is sent with probability p, if no other user has either value. Other users'
values are additional noise.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all others.
Derived for this project.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated, Self

import numpy as np

from shuffledp.accounting.expected_errors.most_messages import PoissonMessages, most_sent
from shuffledp.accounting.general.count_pairs import MovingCount, added_message, pair_delta
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import EXACT, under
from shuffledp.numerics.argument_ranges import Delta, Eps, FromOne, Unit, check_between
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import golden_section, root_below
from shuffledp.numerics.windows import poisson_window
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.client.description import Client, noise_law, text
from shuffledp.protocols.frequency._count_shares import (
    MINIMA,
    checked_share,
    local_minima,
    sampled_count_variance,
)
from shuffledp.protocols.frequency._noisy_counts import CountNoise, NoisyCounts, poisson_noise
from shuffledp.protocols.messages import Cost
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array

#: Relative tolerance of mu, in the result and in the search for p.
_XTOL, _ROUGH = 1e-11, 1e-5
#: Step of the log of p on the first grid, and the tolerance at which the search for a minimum ends.
_STEP, _END = 0.15, 2e-3
#: Negative log of a mean number of dummies that counts as zero.
_MOST = 200.0


@dataclass(frozen=True)
class SilentReport:
    """Probability p in (0, 1] that a user sends a value, and mean mu >= 0 of the dummies of a value from all users."""

    rate: float
    dummies: float

    def count_at(self, tail: float) -> MovingCount:
        """Return the laws of a count with and without user 1; each omits a mass of at most `tail` on either side."""
        return added_message(poisson_window(self.dummies, tail), self.rate)

    def variance(self, true_count: float) -> float:
        """Return the exact variance of the estimated count of a value with `true_count` users."""
        return float(sampled_count_variance(self.dummies, self.rate, true_count))


def silent_report(
    n: FromOne,
    k: FromOne,
    eps: Annotated[float, partial(check_between, least=1e-6, most=1e6)],
    delta: Delta,
    *,
    rate: float | None = None,
) -> SilentReport:
    """Return the probability of reporting and the mean number of dummies of silent users.

    Parameters
    ----------
    n, k : int
        Numbers of users and values, >= 1, for the default of `rate`.
    eps : float
        Nats, in [1e-6, 1e6].
    delta : float
        In (0, 1).
    rate : float, optional
        p, in (0, 1]. Default: the least error for equally frequent values.

    Returns
    -------
    SilentReport
        Report with the smallest sufficient mu, rounded up by at most 1e-11 relative; 0 for ``p <= delta``.

    Notes
    -----
    Derived for this project. As the error may have several local minima in p, the search for p uses a grid, then the
    interval between neighbors of the best point, within 0.2 %; a larger p may be as good.
    """
    if rate is None:
        return _best_report(n / k, eps, delta)
    share = checked_share("rate", rate, 0.0)
    return SilentReport(share, _least_dummies(eps, delta, share, 1.0, _XTOL))


def poisson_dummies(eps: Eps, delta: Delta) -> float:
    """Return the least mean of Poisson noise on two counts that hides which count has a user's message.

    Parameters
    ----------
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Mean > 0, rounded up by at most 1e-11 relative, for replacement neighbors.

    Notes
    -----
    Derived for this project. The number of dummies per value converges to this mean in all protocols in which all
    users' dummies hide all values.
    """
    return _least_dummies(eps, delta, 1.0, 1.0, _XTOL)


@remember(1024)
def _least_dummies(eps: float, delta: float, rate: float, guess: float, xtol: float) -> float:
    """Return the least sufficient mean of dummies. Delta falls as the mean grows, and is `rate` without dummies."""
    if rate <= delta:
        return 0.0
    tail = negligible(delta)

    def excess(minus_log_dummies: float) -> float:
        count = SilentReport(rate, math.exp(-minus_log_dummies)).count_at(tail)
        return log_ratio(pair_delta(count, count, eps), delta)

    low = -math.log(guess)
    while excess(low) > 0:  # so that no step of the search goes astray to a law that fills the memory
        low -= math.log(2)
    return math.exp(-root_below(excess, low + _STEP, low, _MOST, xtol=xtol))


@remember(1024)
def _best_report(true_count: float, eps: float, delta: float) -> SilentReport:
    reports: dict[float, SilentReport] = {}
    guess = 2 * math.log(2 / delta) * (1 + 1 / eps) ** 2

    def error(log_rate: float) -> float:
        nonlocal guess
        if log_rate not in reports:
            rate = math.exp(log_rate) if log_rate > math.log(delta) else delta
            dummies = _least_dummies(eps, delta, rate, guess, _ROUGH)
            reports[log_rate] = SilentReport(rate, dummies)
            guess = dummies or guess
        return reports[log_rate].variance(true_count)

    grid, values = [0.0], [error(0.0)]
    # Rarer reports alone have too large an error from somewhere on; at p = delta no dummies are left.
    while grid[-1] > math.log(delta) and SilentReport(math.exp(grid[-1]), 0.0).variance(true_count) < min(
        values
    ):
        grid.append(max(grid[-1] - _STEP, math.log(delta)))
        values.append(error(grid[-1]))
    for place in local_minima(values)[:MINIMA]:
        golden_section(error, grid[min(place + 1, len(grid) - 1)], grid[max(place - 1, 0)], _END)
    best = min(reports, key=error)
    rate = reports[best].rate
    return SilentReport(rate, _least_dummies(eps, delta, rate, reports[best].dummies or 1.0, _XTOL))


@dataclass(frozen=True)
class SilentUsers(NoisyCounts, PlannedUsers):
    """Each user's value with probability p, and ``Poisson(mu / n)`` dummies of every value; each message is a value.

    All users must add their dummies; the shuffler only permutes. The variance of a count,
    ``mu / p^2 + n_j (1 - p) / p``, grows with the frequency of the value. ``rate`` is p, ``dummy_mean`` is mu.
    """

    n_users: int
    rate: float
    dummy_mean: float

    name = "silent_users"
    task_kind = "frequency"
    label = "silent users"
    source = "this project; one level of the segmented protocol, for sets of one item"
    proof = "shuffledp.accounting.general.count_pairs"
    trust = "shuffler"
    relies_on = "others' dummies"
    guarantees = under(exact=EXACT)

    @classmethod
    def fit(cls, request: Request, *, report_rate: Unit | None = None) -> Self:
        """Find the dummies and the reporting probability p, by default the best p, see :func:`silent_report`."""
        report = silent_report(request.n, request.k, request.eps, request.delta, rate=report_rate)
        return cls(request.k, request.n, report.rate, report.dummies)

    @property
    def keep(self) -> float:
        """Probability p that a user sends a value."""
        return self.rate

    def noise(self, users: Array) -> CountNoise:
        """Return the Poisson law of the sum of the users' shares of mu."""
        return poisson_noise(self.dummy_mean * np.asarray(users, float) / self.n_users)

    def cost(self) -> Cost:
        """Return the cost of the value, sent with probability p, and of a user's dummies of all values."""
        mean = self.domain_size * self.dummy_mean / self.n_users
        return self.cost_of(mean, most_sent([PoissonMessages(mean)], 1.0, self.expected_users), certain=False)

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of the two counts that change, with the dummies of this number of users."""
        return self.two_counts(self.noise(np.array(users)), "Poisson dummies")

    def client(self) -> Client:
        """Return the client, which sends the value with probability p and a Poisson number of uniform dummies."""
        mean = Fraction(self.dummy_mean) * self.domain_size / self.n_users
        dummies = noise_law([(self.dummy_mean, 0.0, 1)], "users")
        return self.client_of(self.n_users, dummies, {"part": "poisson_dummies", "mean": text(mean)})
