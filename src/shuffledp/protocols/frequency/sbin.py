"""Fair coins as dummies: SBin-Shuffle (Murakami, Sei and Eriguchi, arXiv 2504.07362).

Users send their values without noise. A trusted shuffler keeps every message with probability beta, adds
``Z_j ~ Bin(M, 1/2)`` messages of every value j, independently, permutes, and forwards. The analyzer estimates
``(c_j - M / 2) / beta``. Two accountings:

``printed``
    The authors' closed form for one count at (eps/2, delta/2), as two counts change.
``exact``
    The divergence of the two counts (`shuffledp.accounting.general.count_pairs`), Z plus a message with probability
    beta against Z.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all others and
does not collude with the shuffler, which learns the dummies. Delta is for values that no other user holds: other
messages are additional noise.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.count_pairs import (
    MovingCount,
    added_message,
    pair_delta,
    settled_count_delta,
)
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.guarantees import EXACT, UPPER, under
from shuffledp.numerics.argument_ranges import (
    Count,
    Delta,
    Eps,
    FromOne,
    OpenUnit,
    Unit,
    check_fields,
    checked,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below, smallest_integer
from shuffledp.numerics.windows import binomial_window
from shuffledp.protocols.client.description import Client, noise_law, text
from shuffledp.protocols.frequency._count_shares import (
    MINIMA,
    best_share,
    checked_share,
    local_minima,
    sampled_count_variance,
)
from shuffledp.protocols.frequency._noisy_counts import CountNoise, ShufflerNoise, coin_noise
from shuffledp.protocols.request import Request
from shuffledp.tasks import Array, Floats

Shares = Floats | np.float64

AUGMENTED_ACCOUNTINGS = ("printed", "exact")

#: Largest h at which squares of e^h do not overflow; a smaller eps is on the safe side.
_MOST_HALF = 200.0
#: Number of numbers of coins in the first grid, and relative accuracy of beta for each.
_NUMBERS, _SHARE_TOL = 32, 1e-6
#: Number of compared hundredths on either side of the rounded best beta: a share of 0.99995 with one coin less is no
#: better in practice, and the error of many shares is within a percent of the least error.
_NEAR = 5


@dataclass(frozen=True)
class BinomialDummies:
    """Dummies of one value: fair coins.

    Parameters
    ----------
    share : float
        beta, in (0, 1], the probability that the shuffler keeps a user's message.
    coins : int
        M >= 0.
    """

    share: Unit
    coins: Count

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def mean(self) -> float:
        """Expected number of dummies of a value."""
        return self.coins / 2

    @property
    def variance(self) -> float:
        """Variance of the number of dummies of a value."""
        return self.coins / 4

    @checked
    def count_at(self, tail: OpenUnit) -> MovingCount:
        """Return the laws of a count with and without user 1; each omits a mass of at most `tail` on either side."""
        return added_message(binomial_window(self.coins, 0.5, tail), self.share)

    @checked
    def delta(self, eps: float) -> float:
        """Return the exact delta, see :func:`sbin_dummies`, for eps >= 0 in nats."""
        return settled_count_delta(self.count_at, eps)


def sbin_dummies(
    n: FromOne,
    k: FromOne,
    eps: Eps,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(AUGMENTED_ACCOUNTINGS)] = "exact",
    beta: float | None = None,
) -> BinomialDummies:
    """Return the coins per value of SBin-Shuffle, and the share of messages that are kept.

    Parameters
    ----------
    n, k : int
        Numbers of users and values, >= 1, for the default of `beta`.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    accounting : {"printed", "exact"}
        See the module's description.
    beta : float, optional
        In (0, 1]. Default: the least error for equally frequent values, in hundredths if exact.

    Returns
    -------
    BinomialDummies
        Fewest coins that suffice under the accounting, never too few; exact: at least one, unless `beta` is given.

    Notes
    -----
    Murakami, Sei and Eriguchi, arXiv 2504.07362 (the closed form of their public code); ``exact`` is derived for this
    project. Errs on the safe side.
    """
    share = beta if beta is None else checked_share("beta", beta, 0.0)
    if accounting == "exact":
        return _exact_sbin(n / k, eps, delta, share)
    half = min(eps / 2, _MOST_HALF)

    def errors(shares: Floats) -> Floats:
        return sampled_count_variance(_printed_coins(half, delta, shares) / 4, shares, n / k)

    best = best_share(errors, min(delta / 2, 0.5)) if share is None else share
    return BinomialDummies(best, int(_printed_coins(half, delta, np.float64(best))))


def _printed_coins(half: float, delta: float, share: Shares) -> Floats:
    """Return M by the closed form; 0 if hardly any message is kept."""
    x = 1 + math.expm1(half) / share
    log_inverse = np.maximum(np.log(4 * share / delta), math.log(2))
    cosh, sinh = (x + 1 / x) / 2, (x - 1 / x) / 2
    root = np.sqrt(x * log_inverse * (2 + (log_inverse - 2) * cosh + log_inverse + 2 * sinh))
    coins = (2 * (x - 1) + (1 + x) * ((1 + x) * log_inverse + math.sqrt(2) * root)) / (x - 1) ** 2
    return np.where(2 * share <= delta, 0.0, np.ceil(coins))


def _error(dummies: BinomialDummies, true_count: float) -> float:
    """Return the variance of an estimated count; values have `true_count` users on average."""
    return float(sampled_count_variance(dummies.variance, dummies.share, true_count))


@remember(1024)
def _exact_sbin(true_count: float, eps: float, delta: float, share: float | None) -> BinomialDummies:
    """Return the coins for a share; without a share, the pair of coins and share with the least error."""
    if share is not None:
        return BinomialDummies(share, _coins_for(eps, delta, share))
    most = max(_coins_for(eps, delta, 1.0), 1)
    dummies_of_coins: dict[int, BinomialDummies] = {}

    def error(coins: int) -> float:
        if coins not in dummies_of_coins:
            dummies_of_coins[coins] = BinomialDummies(_largest_share(eps, delta, coins), coins)
        return _error(dummies_of_coins[coins], true_count)

    grid = sorted({round(x) for x in np.geomspace(1, most, _NUMBERS)})
    values = [error(coins) for coins in grid]
    for place in local_minima(values)[:MINIMA]:
        low, high = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
        while high - low > 3:
            lower, upper = low + (high - low) // 3, high - (high - low) // 3
            low, high = (low, upper) if error(lower) <= error(upper) else (lower, high)
        for coins in range(low, high + 1):
            error(coins)
    best = min(dummies_of_coins.values(), key=lambda dummies: error(dummies.coins))
    if best.share < 2 * _NEAR / 100:
        return best
    near = [h / 100 for h in range(max(round(100 * best.share) - _NEAR, 1), 101)][: 2 * _NEAR + 1]
    rounded = [BinomialDummies(h, _coins_for(eps, delta, h)) for h in near]
    return min(rounded, key=lambda dummies: _error(dummies, true_count))


def fair_coins(eps: Eps, delta: Delta) -> int:
    """Return the least number of fair coins on two counts that hides which count has a user's message.

    Parameters
    ----------
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).

    Returns
    -------
    int
        M >= 1, exact, for replacement neighbors; M falls with eps and with delta.

    Notes
    -----
    Derived for this project; the divergence is :func:`~shuffledp.accounting.baselines.truncation.two_bins_delta` at
    rate 1/2.
    """
    return _coins_for(eps, delta, 1.0)


@remember(1024)
def _coins_for(eps: float, delta: float, share: float) -> int:
    """Return the fewest coins that suffice; delta falls as their number grows, by post-processing."""
    tail = negligible(delta)

    def enough(coins: int) -> bool:
        count = BinomialDummies(share, coins).count_at(tail)
        return pair_delta(count, count, eps) <= delta

    coins_needed = smallest_integer(enough, math.ceil(min(4 * math.log(2 / delta) / eps**2, 1e12)) + 1, 1e13)
    if coins_needed is None:
        raise Infeasible(f"eps = {eps!r} and delta = {delta!r} need more coins than can be accounted for.")
    return coins_needed


def _largest_share(eps: float, delta: float, coins: int) -> float:
    """Return the largest beta that suffices; a smaller beta mixes in outputs without user 1."""
    tail = negligible(delta)

    def excess(log_share: float) -> float:
        count = BinomialDummies(math.exp(log_share), coins).count_at(tail)
        return log_ratio(pair_delta(count, count, eps), delta)

    if excess(0.0) <= 0:
        return 1.0
    # Without any noise delta would be beta.
    return math.exp(root_below(excess, -0.5, math.log(delta), 0.0, xtol=_SHARE_TOL))


@dataclass(frozen=True)
class SBin(ShufflerNoise):
    """Counts whose shuffler receives true values, drops some messages and adds ``Bin(M, 1/2)`` dummies.

    The shuffler must be honest: it learns the noise, which hides no value if shuffler and analyzer collude. The
    guarantee does not rely on other users.
    """

    coins: int

    name = "sbin"
    task_kind = "frequency"
    label = "SBin-Shuffle"
    source = "Murakami, Sei and Eriguchi, arXiv 2504.07362"
    guarantees = under(printed=UPPER, exact=EXACT)

    @classmethod
    def fit(cls, request: Request, *, beta: float | None = None) -> Self:
        """Find the number of coins of every value; see :func:`sbin_dummies` for ``beta``."""
        dummies = sbin_dummies(
            request.usual_users,
            request.k,
            request.eps,
            request.delta,
            accounting=request.accounting,
            beta=beta,
        )
        return cls(request.k, request.usual_users, dummies.share, dummies.coins)

    def noise(self, users: Array) -> CountNoise:
        """Return the law of M fair coins, which does not depend on the users."""
        return coin_noise(self.coins, 0.5)

    def privacy_profile(self) -> PrivacyProfile:
        """Return the profile of the two counts that change."""
        return self.two_counts(coin_noise(self.coins, 0.5), "the shuffler's dummies")

    def client(self) -> Client:
        """Return the client, which sends the value, and the shuffler, which drops messages and adds fair coins."""
        steps: list[dict[str, Any]] = [
            {"part": "sampled", "rate": text(self.share)},
            {"part": "with_binomial", "coins": self.coins},
        ]
        return self.client_of(self.n_users, noise_law([(self.coins / 2, 0.5, 1)]), None, steps)
