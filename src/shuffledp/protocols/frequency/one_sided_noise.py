"""One-sided negative binomial noise: dummies from all users, without messages that cancel them.

A user sends a value and, for every value j, ``NB(r / n, p)`` dummies: ``c_j = n_j + NB(r, p)``. With ``r = inf`` the
noise is Poisson, as for silent users who all report. Compared with Poisson noise there are fewer dummies, for small eps
far fewer, and never a smaller variance. Delta is the divergence of the two counts that change
(`shuffledp.accounting.general.count_pairs`).

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all others.
Derived for this project.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.most_messages import most_sent
from shuffledp.accounting.general.count_pairs import (
    MovingCount,
    added_message,
    pair_delta,
)
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import EXACT, under
from shuffledp.numerics.argument_ranges import Delta, Eps, Positive
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below, walk_to_minimum
from shuffledp.numerics.saddlepoint import Term
from shuffledp.numerics.windows import Window, negative_binomial_window
from shuffledp.protocols._noise_shares import AtomNoise, NegativeBinomialShare
from shuffledp.protocols._requests import PlannedUsers
from shuffledp.protocols.client.description import ROUNDED_UP, Client, noise_law, shares_part
from shuffledp.protocols.frequency._noisy_counts import CountNoise, NoisyCounts
from shuffledp.protocols.frequency.silent_users import poisson_dummies
from shuffledp.protocols.messages import Cost
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array

_XTOL = 1e-11
#: Largest number of values of the noise in a sum.
_MOST_TERMS = 2**21
#: Steps of the search for the log of the shape, the least gain for a further step, and the ends of the range.
_STEP, _GAIN, _SHAPES = 0.5, 1e-4, (0.0, 20.0)


@dataclass(frozen=True)
class OneSidedNoise:
    """Negative binomial noise of a count: shape r > 0 and decay ``-ln p`` > 0."""

    shape: float
    decay: float

    @property
    def mean(self) -> float:
        """Expected number of dummies of a value, ``r p / (1 - p)``."""
        return self.shape * math.exp(-self.decay) / -math.expm1(-self.decay)

    @property
    def variance(self) -> float:
        """Variance of a count, ``r p / (1 - p)^2``."""
        return self.mean / -math.expm1(-self.decay)

    def count_at(self, tail: float) -> MovingCount:
        """Return the laws of a count with and without user 1; each omits a mass of at most `tail` on either side."""
        return added_message(self.window(tail))

    def window(self, tail: float) -> Window:
        """Return the noise's law, which omits at most `tail` on either side. Raises `Infeasible` above 2^21 values."""
        window = negative_binomial_window(self.shape, self.decay, tail, _MOST_TERMS)
        if window is None:
            raise Infeasible(f"The noise is too wide: it has more than {_MOST_TERMS} values.")
        return window


def one_sided_noise(eps: Eps, delta: Delta, *, shape: Positive | None = None) -> OneSidedNoise:
    """Return the one-sided noise of every count for an (eps, delta)-private histogram.

    Parameters
    ----------
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    shape : float, optional
        r > 0. Default: a shape whose expected number of dummies is within about 1e-3 of the least.

    Returns
    -------
    OneSidedNoise
        Noise with the smallest sufficient p, rounded up by at most 1e-11 relative in ``-ln p``.

    Raises
    ------
    Infeasible
        If the noise is too wide to compute its privacy, as for small shapes.

    Notes
    -----
    Derived for this project, see the module's description.
    """
    return _best_noise(eps, delta) if shape is None else _least_noise(eps, delta, shape, 0.0)


@remember(1024)
def _least_noise(eps: float, delta: float, shape: float, guess: float) -> OneSidedNoise:
    """Return the noise of a shape with the smallest sufficient p.

    Delta falls as p grows: noise is compound Poisson with jumps of size j at the rates ``r p^j / j``, which grow with
    p.
    """
    tail = negligible(delta)

    def excess(log_decay: float) -> float:
        count = OneSidedNoise(shape, math.exp(log_decay)).count_at(tail)
        return log_ratio(pair_delta(count, count, eps), delta)

    low = guess or math.log(math.log1p(shape / poisson_dummies(eps, delta)))
    while excess(low) > 0:
        low -= math.log(2)
    return OneSidedNoise(shape, math.exp(root_below(excess, low + 0.1, low, math.inf, xtol=_XTOL)))


@remember(1024)
def _best_noise(eps: float, delta: float) -> OneSidedNoise:
    """Return the noise with the fewest dummies: steps in the log of the shape, then a parabola."""
    noises: dict[float, OneSidedNoise | None] = {}

    def mean(log_shape: float) -> float:
        if log_shape not in noises:
            try:
                noises[log_shape] = _least_noise(eps, delta, math.exp(log_shape), 0.0)
            except Infeasible:
                noises[log_shape] = None
        noise = noises[log_shape]
        return noise.mean if noise else math.inf

    low, high = _SHAPES
    middle = min(max(math.log(poisson_dummies(eps, delta)), low + _STEP), high - _STEP)
    walk_to_minimum(mean, middle, low, high, step=_STEP, gain=_GAIN)
    sufficient = [noise for noise in noises.values() if noise]
    if not sufficient:
        raise Infeasible(f"The noise is too wide at eps = {eps!r} and delta = {delta!r}.")
    return min(sufficient, key=lambda noise: noise.mean)


@dataclass(frozen=True)
class OneSidedCounts(NoisyCounts, PlannedUsers):
    """Each user's value, and a negative binomial number of dummies of every value; each message is a value.

    All users must add their dummies; the shuffler only permutes. Compared with Poisson dummies, messages are fewer and
    the variance is larger. ``shape`` is r for all users together, ``decay`` is ``-ln p``.
    """

    n_users: int
    shape: float
    decay: float

    name = "one_sided_noise"
    task_kind = "frequency"
    label = "one-sided noise"
    source = "this project; what correlated noise is without its correlation"
    proof = "shuffledp.accounting.general.count_pairs"
    trust = "shuffler"
    relies_on = "others' dummies"
    guarantees = under(exact=EXACT)

    @classmethod
    def fit(cls, request: Request, *, shape: Positive | None = None) -> Self:
        """Find the noise with the fewest messages, or of a given ``shape``, see :func:`one_sided_noise`."""
        noise = one_sided_noise(request.eps, request.delta, shape=shape)
        return cls(request.k, request.n, noise.shape, noise.decay)

    def noise(self, users: Array) -> CountNoise:
        """Return the negative binomial law of the sum of the users' shares."""
        whole, part = OneSidedNoise(self.shape, self.decay), users / self.n_users
        shapes = np.asarray(self.shape * users / self.n_users)
        return CountNoise(
            part * whole.mean,
            part * whole.variance,
            [Term(np.reshape(part * whole.mean, (-1, 1)), -1 / math.expm1(self.decay), 1.0)],
            lambda size, rng: rng.negative_binomial(shapes[:, None], -np.expm1(-self.decay), size),
            lambda tail: OneSidedNoise(float(shapes), self.decay).window(tail),
        )

    def cost(self) -> Cost:
        """Return the cost of the user's value and of a share of the dummies of all values."""
        part = self.domain_size / self.n_users
        dummies = NegativeBinomialShare(self.shape, -math.expm1(-self.decay))
        most = most_sent([dummies], part, self.expected_users)
        return self.cost_of(part * OneSidedNoise(self.shape, self.decay).mean, most, certain=False)

    def profile_for(self, users: int) -> PrivacyProfile:
        """Return the profile of the two counts that change, with the dummies of this number of users."""
        return self.two_counts(self.noise(np.array(users)), "negative binomial dummies")

    def client(self) -> Client:
        """Return the client, which sends the value and a negative binomial share of dummies of every value."""
        law = NegativeBinomialShare(self.shape, -math.expm1(-self.decay))
        part, k = Fraction(self.domain_size, self.n_users), self.domain_size
        dummies = shares_part(AtomNoise(law, ((0, 1),)).client_noises(0), part, counters=k, symbols=1)
        odds = 1 / math.expm1(self.decay)
        law_of_count = noise_law([(self.shape * odds, -odds, 1)], "users")
        return self.client_of(self.n_users, law_of_count, dummies, exactness=ROUNDED_UP)
