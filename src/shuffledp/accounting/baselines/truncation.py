"""Rate of added ones in histograms by truncated counts (Balcer and Cheu 2020).

For every value j a user sends ``1[x = j] + Bernoulli(p)`` messages, p close to 1, so that ``y_j = n_j + Bin(n, p)``.
The analyzer outputs ``y_j / n - p`` if ``y_j > n``, else 0. Two accountings:

``printed``
    ``p = 1 - 200 ln(4/delta) / (eps^2 n)``: the paper's counter at (eps/2, delta/2), as two values change.
``exact``
    The divergence of the two counts that change, (1 + X, Y) and (X, 1 + Y) with X, Y ~ Bin(n, p) independent. The
    likelihood ratio of a pair (u, v) is ``g(u) / g(v)``, ``g(u) = u / (n + 1 - u)``, so that for given v it grows with
    u. The budget is for both counts together and is not halved.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all other users.
Exchanging the two values exchanges the counts, and replacing p by 1 - p reflects them; delta is the same.
"""

from __future__ import annotations

import math
from typing import Annotated

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.count_pairs import added_message, pair_delta
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    EpsAt,
    FromOne,
    OpenUnit,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible, settled
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import binomial_window

_XTOL = 1e-11


def two_bins_delta(eps: EpsAt, n: FromOne, rate: OpenUnit) -> float:
    """Return the exact delta of one user's value in two counts with binomial noise.

    Derived for this project in the module's description.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    n : int
        Trials of each binomial law, >= 1.
    rate : float
        Rate of the binomial laws, in (0, 1); ``1 - rate`` has the same delta.

    Returns
    -------
    float
        In [0, 1]; exact, too large by at most 1e-10 relative, except below 1e-300.
    """
    return settled(lambda tail: _two_bins(eps, n, rate, tail))


def _two_bins(eps: float, n: int, rate: float, tail: float) -> float:
    count = added_message(binomial_window(n, rate, tail))
    return pair_delta(count, count, eps)


def truncation_miss_rate(
    n: FromOne, eps: Eps, delta: Delta, *, accounting: Annotated[str, one_of(("printed", "exact"))] = "exact"
) -> float:
    """Return ``1 - p``, the probability that a user does not add a one to a count.

    Printed: ``200 ln(4/delta) / (eps^2 n)``, for ``sqrt(400 ln(4/delta) / n) <= eps <= 2``: Balcer and Cheu 2020
    (arXiv 1911.09079), counter and histogram at half the budget. ``exact`` is derived for this project.

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

    Returns
    -------
    float
        In (0, 1/2]. Exact: the smallest rate that meets the budget, rounded up by at most 1e-11 relative.

    Raises
    ------
    Infeasible
        Printed: if eps is above 2 or there are too few users. Exact: if fair coins do not meet the budget.
    """
    if accounting == "exact":
        return _exact_miss_rate(n, eps, delta)
    if eps > 2:
        raise Infeasible(f"The theorem holds for eps <= 2, got {eps!r}.")
    rate = 200 * math.log(4 / delta) / eps / eps / n
    if rate > 0.5:
        raise Infeasible(
            f"The theorem needs n >= 400 ln(4/delta) / eps^2 = {2 * rate * n:.6g} users, there are {n}."
        )
    return rate


@remember(4096)
def _exact_miss_rate(n: int, eps: float, delta: float) -> float:
    tail = negligible(delta)

    def excess(minus_log_rate: float, users: int = n) -> float:
        return log_ratio(_two_bins(eps, users, math.exp(-minus_log_rate), tail), delta)

    fair = math.log(2)
    # More users never raise delta, and the law of 10^12 fair coins takes a gigabyte.
    if excess(fair, min(n, 10**8)) > 0 and excess(fair) > 0:
        raise Infeasible(f"{n} users are too few: no rate of added messages gives delta = {delta!r}.")
    guess = math.log(n) - math.log(max(32 * math.log(2 / delta) / 10 / eps / eps, 1.0))
    return math.exp(-root_below(excess, guess, fair, math.inf, xtol=_XTOL))
