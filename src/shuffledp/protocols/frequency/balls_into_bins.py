"""Balls into bins (Luo, Wang and Yi, CCS 2022), direct form: every user adds a dummy to every count with some
probability.

A user sends its value and, for every value j, one dummy j with probability rho: ``c_j = n_j + Bin(n, rho)``. Two
accountings:

``printed``
    ``rho = 32 ln(2/delta) / (eps^2 n)``, the upper end of the search in the authors' code; or, as an option, the result
    of that search: the least rho with ``Pr[X >= e^eps X' - 1] <= delta``, X and X' i.i.d. Bin(n, rho).
``exact``
    The divergence of the two counts that change. It equals the divergence of the truncation-based protocol of Balcer
    and Cheu with the coin reversed, as rho and 1 - rho give the same: :func:`truncation_miss_rate`.

The search uses ``a / b`` as the likelihood ratio of two counts, which is ``a (n + 1 - b) / (b (n + 1 - a))``, so that
it finds too few dummies unless rho is small. The authors' code computes binomial coefficients as floats and tests no
mean above 1,000.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all others.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from shuffledp.accounting.baselines.truncation import truncation_miss_rate, two_bins_delta
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.count_pairs import from_top
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import EXACT, UPPER, Standing, under
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    FromOne,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import binomial_window
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.client.description import Client, noise_law, text
from shuffledp.protocols.frequency._noisy_counts import CountNoise, NoisyCounts, coin_noise
from shuffledp.protocols.messages import Cost
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array

_XTOL = 1e-10
#: Largest exponent of e.
_MOST_EPS = 700.0


def bin_dummy_rate(
    n: FromOne,
    eps: Eps,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(("printed", "exact"))] = "exact",
    search: bool = False,
) -> float:
    """Return rho, the probability with which a user adds a dummy to a count.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    accounting : {"printed", "exact"}
        See the module's description.
    search : bool
        Printed: use the authors' search instead of the closed form.

    Returns
    -------
    float
        In (0, 1). Exact: the smallest sufficient rate, at most 1/2, rounded up by at most 1e-11 relative. The closed
        form is larger unless eps is large; the search may return a rate that is too small, see the module's
        description.

    Raises
    ------
    Infeasible
        If the printed formula is a probability above 1, the search finds no rate up to 1/2, or fair coins do not
        suffice for the exact accounting.

    Notes
    -----
    Luo, Wang and Yi, CCS 2022, their released code; ``exact`` is derived for this project.
    """
    if accounting == "exact":
        return truncation_miss_rate(n, eps, delta, accounting="exact")
    if search:
        return _searched_rate(n, eps, delta)
    mean = 32 * math.log(2 / delta) / eps / eps
    if mean >= n:
        raise Infeasible(f"The formula asks for {mean:.6g} dummies per value, more than the {n} users add.")
    return mean / n


def search_delta(eps: float, n: int, rate: float, tail: float = 1e-30) -> float:
    """Return ``Pr[X >= e^eps X' - 1]`` for i.i.d. X, X' ~ Bin(n, rate), the criterion of the authors' search.

    This probability is no bound on delta. The result is too large by at most four times `tail`.
    """
    law = binomial_window(n, rate, tail)
    least = np.ceil(math.exp(min(eps, _MOST_EPS)) * law.support - 1) - law.start
    place = np.clip(least, 0, law.pmf.size).astype(np.int64)
    return min(float(law.pmf @ from_top(law.pmf)[place]) + 2 * law.omitted, 1.0)


@remember(1024)
def _searched_rate(n: int, eps: float, delta: float) -> float:
    tail = negligible(delta)

    def excess(minus_log_rate: float) -> float:
        return log_ratio(search_delta(eps, n, math.exp(-minus_log_rate), tail), delta)

    fair = math.log(2)
    if excess(fair) > 0:
        raise Infeasible(f"{n} users are too few: the search finds nothing up to a dummy by a fair coin.")
    guess = math.log(n) - math.log(max(4 * math.log(2 / delta) / eps**2, 1.0))
    return math.exp(-root_below(excess, max(guess, 0.7), fair, math.inf, xtol=_XTOL))


TOO_FEW = Standing(
    "violated",
    "the authors' search uses a ratio of counts as the likelihood ratio: with 5,000 users, eps 0.2 and delta 1e-8 it "
    "finds dummies whose delta is 1e-7",
)


@dataclass(frozen=True)
class BallsIntoBins(NoisyCounts, PlannedUsers):
    """Each user's value, and a dummy of every value with probability rho; each message is a value.

    All users must add their dummies; the shuffler only permutes. ``sufficient`` is False if there are too few dummies.
    """

    n_users: int
    rate: float
    sufficient: bool = True

    name = "balls_into_bins"
    task_kind = "frequency"
    label = "balls into bins"
    source = "Luo, Wang and Yi, CCS 2022, direct form"
    trust = "shuffler"
    relies_on = "others' dummies"
    guarantees = under(printed=UPPER, exact=EXACT)

    @classmethod
    def fit(cls, request: Request, *, search: bool = False) -> Self:
        """Find the rate of the dummies, see :func:`bin_dummy_rate`. Raise `Infeasible` for too few users.

        ``search`` uses the authors' search under ``printed``; the guarantee is ``violated`` if it finds too few
        dummies.
        """
        n, eps, delta = request.n, request.eps, request.delta
        rate = bin_dummy_rate(n, eps, delta, accounting=request.accounting, search=search)
        enough = request.accounting == "exact" or two_bins_delta(eps, n, rate) <= delta
        return cls(request.k, n, rate, enough)

    @property
    def standing(self) -> Standing:
        """Label of the guarantee; ``violated`` if the exact delta exceeds the delta of the budget."""
        return super().standing if self.sufficient else TOO_FEW

    def noise(self, users: Array) -> CountNoise:
        """Return the law of one coin per user, which adds a dummy with probability rho."""
        return coin_noise(users, self.rate)

    def cost(self) -> Cost:
        """Return the cost of the user's value and of ``k rho`` dummies, at most k."""
        return self.cost_of(self.domain_size * self.rate, self.domain_size)

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of the two counts that change."""
        return self.two_counts(self.noise(np.array(users)), "binomial noise")

    def client(self) -> Client:
        """Return the client, which sends the value and a coin for every value."""
        coins = noise_law([(self.n_users * self.rate, self.rate, 1)], "users")
        return self.client_of(self.n_users, coins, {"part": "coins", "rate": text(self.rate), "first": None})
