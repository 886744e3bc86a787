"""Two-sided geometric dummies: SAGeo- and S1Geo-Shuffle (Murakami, Sei and Eriguchi, arXiv 2504.07362).

The protocol is SBin-Shuffle (`shuffledp.protocols.frequency.sbin`) with other laws of the dummies Z of a value:

*SAGeo*
    ``q_l^(nu - z)`` for z < nu and ``q_r^(z - nu)`` for z >= nu, over kappa, with ``h = eps / 2``,
    ``q_l = (e^-h - 1 + beta) / beta`` and ``q_r = beta / (e^h - 1 + beta)``, for beta in ``[1 - e^-h, 1]``.
*S1Geo*
    SAGeo at ``beta = 1 - e^-h`` and nu = 0, a geometric law; delta is 0.

Of the two accountings, ``printed`` has the authors' closed forms for one count at (eps/2, delta/2), as two counts
change. ``exact`` has the divergence of the two counts. The ratio of the laws of a count with the user's message and
without takes three values: ``e^h`` above nu, ``e^-h`` from 1 to nu and ``1 - beta`` at 0. Delta is therefore a sum of
nine terms.

Conventions as in `shuffledp.protocols.frequency.sbin`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, Self

import numpy as np

from shuffledp.accounting.general.profiles import PrivacyProfile, Profile
from shuffledp.guarantees import EXACT, UPPER, under
from shuffledp.numerics.argument_ranges import (
    Count,
    Delta,
    EpsAt,
    FromOne,
    Positive,
    Unit,
    check_between,
    check_fields,
    checked,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.saddlepoint import Term
from shuffledp.numerics.windows import Window
from shuffledp.protocols.client.description import Client, noise_law, odds_below, text
from shuffledp.protocols.frequency._count_shares import best_share, checked_share, sampled_count_variance
from shuffledp.protocols.frequency._noisy_counts import CountNoise, ShufflerNoise
from shuffledp.protocols.frequency.sbin import AUGMENTED_ACCOUNTINGS
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Floats, Ints

Shares = Floats | np.float64

#: Largest h at which e^(3 h) does not overflow; a smaller eps is on the safe side.
MOST_HALF = 200.0
#: Deviation of the shuffler's noise from the calibrated noise.
RATIONAL = (
    "The noise has the same law, with e^h rounded down to a multiple of 2^-64: its half eps is smaller by less than "
    "2^-63."
)
#: Relative error of log ratios; smaller differences count as 0.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class GeometricDummies:
    """Dummies of one value: an asymmetric two-sided geometric law on 0, 1, ..

    Parameters
    ----------
    half_eps : float
        h, nats, > 0.
    share : float
        beta, in ``[1 - e^-h, 1]``.
    turn : int
        nu >= 0, the mode.
    """

    half_eps: Positive
    share: Unit
    turn: Count

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def left(self) -> float:
        """Ratio q_l of the law below nu, 0 at the least `share`."""
        return float(_ratios(self.half_eps, np.float64(self.share))[0])

    @property
    def right(self) -> float:
        """Ratio q_r of the law from nu on."""
        return float(_ratios(self.half_eps, np.float64(self.share))[1])

    @property
    def right_mass(self) -> float:
        """Probability ``Pr[Z >= nu]``."""
        below = self.left * (1 - self.left**self.turn) / (1 - self.left)
        return 1 / (1 + below * (1 - self.right))

    @property
    def rates(self) -> tuple[float, float, float]:
        """Negative logarithms of q_r, of q_l and of ``Pr[Z < nu]``, the scales of the standard exponential draws.

        For small q_l the formula ``1 + expm1(-h) / beta`` has the rounding error of 1, so that the loss would exceed h.
        """
        left_ratio = (
            max(math.exp(-self.half_eps) - (1 - self.share), 0.0) / self.share if self.left > 0 else 0.0
        )
        odds = left_ratio * (1 - left_ratio**self.turn) / (1 - left_ratio) * (1 - self.right)
        below = odds / (1 + odds)
        right, left_ratio, below = (
            -math.log(x) if x > 0 else math.inf for x in (self.right, left_ratio, below)
        )
        return right, left_ratio, below

    @property
    def mean(self) -> float:
        """Expected number of dummies of a value."""
        return self.turn + self.right_mass * self._above - (1 - self.right_mass) * self._below[0]

    @property
    def variance(self) -> float:
        """Variance of the number of dummies of a value, for the finite law."""
        upper, (mean, spread) = self.right_mass, self._below
        between = upper * (1 - upper) * (self._above + mean) ** 2
        return upper * self._above / (1 - self.right) + (1 - upper) * spread + between

    @property
    def _above(self) -> float:
        """Mean of ``Z - nu`` under the condition Z >= nu."""
        return self.right / (1 - self.right)

    @property
    def _below(self) -> tuple[float, float]:
        """Mean and variance of ``nu - Z`` under the condition Z < nu, a geometric law up to nu."""
        if self.turn == 0:
            return 0.0, 0.0
        x = np.arange(1, self.turn + 1, dtype=np.float64)
        law = self.left ** (x - 1)
        law /= law.sum()
        mean = float(law @ x)
        return mean, float(law @ (x - mean) ** 2)

    @checked
    def delta(self, eps: EpsAt) -> float:
        """Return the exact delta of the two counts that change, for eps >= 0 in nats: nine terms, see the module.

        The result is exact up to rounding, and 0 if no outcome has a loss above eps.
        """
        top, gone = self.right_mass, self.left**self.turn
        scale = top * (1 - self.right)  # 1 / kappa
        middle = scale * (1 - gone) / (1 - self.left)
        masses = np.array([top * self.right, middle, scale * gone])
        with np.errstate(divide="ignore"):
            losses = np.array([self.half_eps, -self.half_eps, np.log1p(-np.float64(self.share))])
        if self.share == least_share(2 * self.half_eps):
            losses[2] = -self.half_eps
        with np.errstate(invalid="ignore"):  # what is impossible with the user's value has nothing to lose
            loss_sums = np.where(losses[:, None] > -math.inf, losses[:, None] - losses, -math.inf)
        some = loss_sums > eps + _ROUNDING * max(eps, self.half_eps)
        weights = np.multiply.outer(masses * np.exp(losses), masses)
        return float(np.sum(np.where(some, weights * -np.expm1(np.minimum(eps - loss_sums, 0.0)), 0.0)))


def least_share(eps: float) -> float:
    """Return ``1 - e^(-eps / 2)``, the least beta of SAGeo and the beta of S1Geo, for eps > 0 in nats."""
    return -math.expm1(-eps / 2)


def _ratios(half: float, share: Shares) -> tuple[Floats, Floats]:
    """Return the ratios q_l and q_r of the law."""
    part = share * math.exp(-half)
    return np.maximum(1 + math.expm1(-half) / share, 0.0), np.asarray(part / (part - math.expm1(-half)))


def sageo_dummies(
    n: FromOne,
    k: FromOne,
    eps: Annotated[float, partial(check_between, least=1e-12, most=1e6)],
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(AUGMENTED_ACCOUNTINGS)] = "exact",
    beta: float | None = None,
) -> GeometricDummies:
    """Return the dummies per value of SAGeo-Shuffle, with the share of messages that are kept.

    Parameters
    ----------
    n, k : int
        Numbers of users and values, >= 1, for the default of `beta`.
    eps : float
        Nats, in [1e-12, 1e6].
    delta : float
        In (0, 1).
    accounting : {"printed", "exact"}
        See the module's description.
    beta : float, optional
        In ``[1 - e^(-eps/2), 1]``. Default: the least error for equally frequent values, by the authors' bound
        (printed) or exactly.

    Returns
    -------
    GeometricDummies
        Law with the least nu that suffices under the accounting.

    Notes
    -----
    Murakami, Sei and Eriguchi, arXiv 2504.07362. Their nu makes one count (eps/2, delta/2)-private; delta is positive
    in one direction only, so that nu suffices and half of delta is unused. Their error is ``E[(Z - nu)^2]`` for
    the law on all integers, an upper bound on the variance. ``exact`` is derived for this project.
    """
    half, least = min(eps / 2, MOST_HALF), least_share(min(eps, 2 * MOST_HALF))
    share = beta if beta is None else checked_share("beta", beta, least)
    printed = accounting == "printed"

    def errors(shares: Floats) -> Floats:
        if printed:
            return sampled_count_variance(_claimed_variance(half, shares), shares, n / k)
        variances = _variances(half, shares, _exact_turn(half, delta, shares))
        return sampled_count_variance(variances, shares, n / k)

    if share is None:
        share = best_share(errors, least)
    if printed:
        return GeometricDummies(half, share, int(_printed_turn(half, delta, np.float64(share))))
    return _exact_sageo(half, delta, share)


def _claimed_variance(half: float, share: Shares) -> Floats:
    left_ratio, right_ratio = _ratios(half, share)
    squares = (
        left_ratio * (1 + left_ratio) / (1 - left_ratio) ** 3
        + right_ratio * (1 + right_ratio) / (1 - right_ratio) ** 3
    )
    return squares / (left_ratio / (1 - left_ratio) + 1 / (1 - right_ratio))


def _turn_of(part: Floats, left_ratio: Floats) -> Floats:
    """Return the least nu >= 0 with ``left^nu <= part``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.ceil(np.log(np.minimum(part, 1.0)) / np.log(left_ratio))
    return np.where(part >= 1, 0.0, np.where(left_ratio > 0, turn, 1.0))


def _printed_turn(half: float, delta: float, share: Shares) -> Floats:
    left_ratio, right_ratio = _ratios(half, share)
    bracket = 2 - 2 * (1 - share) * math.exp(half) * (1 - left_ratio) - (2 - delta) * left_ratio
    with np.errstate(divide="ignore"):
        part = delta * (1 - left_ratio * right_ratio) / ((1 - right_ratio) * np.maximum(bracket, 0.0))
    return _turn_of(np.asarray(part), left_ratio)


def _exact_turn(half: float, delta: float, share: Shares) -> Floats:
    """Return nu up to rounding, from a quadratic equation in ``u = q_l^nu``."""
    left_ratio, right_ratio = _ratios(half, share)
    above, below = right_ratio / (1 - right_ratio), left_ratio / (1 - left_ratio)
    whole = below + 1 / (1 - right_ratio)
    with np.errstate(divide="ignore"):
        log_lost = np.log1p(-share)
    high = np.maximum(math.exp(half) - np.exp(np.minimum(log_lost + 2 * half, 600.0)), 0.0)
    low = np.maximum(math.exp(-half) - np.exp(np.minimum(log_lost + 2 * half, 600.0)), 0.0)
    square = delta * below**2 + (below + 1) * low
    linear = 2 * delta * whole * below + above * high + (whole - above) * low
    free = delta * whole**2
    root = np.sqrt(np.maximum(linear**2 - 4 * square * free, 0.0))
    with np.errstate(divide="ignore"):
        part = np.where(linear**2 < 4 * square * free, 2.0, 2 * free / (linear + root))
    return _turn_of(part, left_ratio)


def _variances(half: float, share: Shares, turn: Floats) -> Floats:
    """Return `GeometricDummies.variance` of many laws, with few correct digits if ``nu (1 - q_l)`` is small."""
    left_ratio, right_ratio = _ratios(half, share)
    with np.errstate(divide="ignore", invalid="ignore"):
        gone = np.where(turn > 0, left_ratio**turn, 1.0)
        rest = np.where(turn > 0, turn * gone / (1 - gone), 0.0)
        mean = np.where(turn > 0, 1 / (1 - left_ratio) - rest, 0.0)
        spread = np.where(turn > 0, left_ratio / (1 - left_ratio) ** 2 - turn * rest / (1 - gone), 0.0)
    upper = 1 / (1 + left_ratio * (1 - gone) / (1 - left_ratio) * (1 - right_ratio))
    above = right_ratio / (1 - right_ratio)
    return np.asarray(
        upper * above / (1 - right_ratio) + (1 - upper) * spread + upper * (1 - upper) * (above + mean) ** 2
    )


@remember(1024)
def _exact_sageo(half: float, delta: float, share: float) -> GeometricDummies:
    turn = int(_exact_turn(half, delta, np.float64(share)))
    while GeometricDummies(half, share, turn).delta(2 * half) > delta:
        turn += 1
    while turn > 0 and GeometricDummies(half, share, turn - 1).delta(2 * half) <= delta:
        turn -= 1
    return GeometricDummies(half, share, turn)


@dataclass(frozen=True)
class GeometricShuffle(ShufflerNoise):
    """Counts whose shuffler receives true values, drops some messages and adds geometric noise.

    The shuffler must be honest: it learns the noise, which hides no value if shuffler and analyzer collude. The
    guarantee does not rely on other users. ``half_eps`` is h, half of the budget, and ``turn`` is nu, the mode of the
    noise.
    """

    half_eps: float
    turn: int

    @property
    def law(self) -> GeometricDummies:
        """Law of the dummies of a value."""
        return GeometricDummies(self.half_eps, self.share, self.turn)

    def noise(self, users: Array) -> CountNoise:
        """Return the law of the noise, which does not depend on the users."""
        right_mean, left_mean, _ = (1 / math.expm1(rate) for rate in self.law.rates)
        # Without its end at 0 dummies, the law is a difference of geometric variables.
        terms = [
            Term(right_mean, -right_mean, 1.0),
            *([Term(left_mean, -left_mean, -1.0)] if self.turn and left_mean else []),
        ]
        return CountNoise(self.law.mean, self.law.variance, terms, self._draw, self._window)

    def _draw(self, size: tuple[int, int], rng: np.random.Generator) -> Ints:
        """Draw the noise, (R, k), from its exact law; exponential variables keep small probabilities precise."""
        right_rate, left_rate, below = self.law.rates
        above = self.turn + np.floor(rng.standard_exponential(size) / right_rate).astype(np.int64)
        if self.turn == 0:
            return above
        steps = np.floor(rng.standard_exponential(size) / left_rate).astype(np.int64) % self.turn
        return np.where(rng.standard_exponential(size) < below, above, self.turn - 1 - steps)

    def _window(self, tail: float) -> Window:
        """Return the probabilities of 0, 1, ..; they omit a mass of at most `tail`."""
        law = self.law
        upper, decay = law.right_mass, -math.log(law.right)
        above = np.arange(1 + max(math.ceil(-math.log(tail) / decay), 0))
        below = law.left ** np.arange(self.turn, 0, -1)
        below *= (1 - upper) / max(below.sum(), 1e-300)
        right = upper * (1 - law.right) * law.right**above
        return Window(0, np.concatenate((below, right)))

    def client(self) -> Client:
        """Return the client, which sends the value, and the shuffler, which drops messages and adds geometric noise."""
        weights = odds_below(self.half_eps)
        odds = Fraction(int(weights["true_weight"]), int(weights["other_weight"]))
        least = 1 - 1 / odds
        pure = self.share == least_share(2 * self.half_eps)
        share = least if pure else max(Fraction(self.share), least)
        dummies = {
            "part": "with_geometric",
            "turn": self.turn,
            "left": text((share - least) / share),
            "right": text(share / (odds - 1 + share)),
        }
        steps: list[dict[str, Any]] = [{"part": "sampled", "rate": text(share)}, dummies]
        # Noise below 0 is left out, with a mass of about delta; the constant keeps the mean exact.
        above, below = (rate / (1 - rate) for rate in (self.law.right, self.law.left if self.turn else 0.0))
        parts = [(above, -above, 1), (below, -below, -1)]
        law_of_count = noise_law(parts, offset=self.law.mean - above + below)
        return self.client_of(self.n_users, law_of_count, None, steps, RATIONAL)

    def privacy_profile(self) -> PrivacyProfile:
        """Return the profile of the two counts that change."""
        return Profile(
            self.law.delta,
            "the two counts that change, each with the shuffler's dummies",
            "upper" if self.others_hide else "exact",
        )


@dataclass(frozen=True)
class SAGeo(GeometricShuffle):
    """Counts with geometric noise around nu, as accurate as central discrete Laplace noise."""

    name = "sageo"
    task_kind = "frequency"
    label = "SAGeo-Shuffle"
    source = "Murakami, Sei and Eriguchi, arXiv 2504.07362"
    guarantees = under(printed=UPPER, exact=EXACT)

    @classmethod
    def fit(cls, request: Request, *, beta: float | None = None) -> Self:
        """Find the noise of every value, see :func:`shuffledp.protocols.frequency.sageo.sageo_dummies` for ``beta``."""
        dummies = sageo_dummies(
            request.usual_users,
            request.k,
            request.eps,
            request.delta,
            accounting=request.accounting,
            beta=beta,
        )
        return cls(request.k, request.usual_users, dummies.share, dummies.half_eps, dummies.turn)
