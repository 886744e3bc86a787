"""Reporting probability of one item, and the number of blanket messages that allows probability 1.

Both invert :func:`shuffledp.accounting.segmented.items.segmented_delta`, under the conventions of that module. Source:
arXiv 2407.19639, Section 5.2.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Annotated

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.accounting.general.labeled_counts import pair_delta
from shuffledp.accounting.segmented.items import (
    COMPOSITIONS,
    SLACK,
    BlanketLaw,
    item_blanket,
    item_delta,
    report_labels,
)
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    FromOne,
    FromTwo,
    NonNegative,
    check_between,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below

if TYPE_CHECKING:
    from collections.abc import Callable

_REMEMBERED = 1 << 15
_XTOL = 1e-10
#: Reporting probabilities below this are not searched.
_LEAST_RATE = 1e-9
#: Numbers of blanket messages per user that are searched.
_LEAST_BLANKETS, _MOST_BLANKETS = 1e-9, 1e9


def reporting_rate(
    n: FromOne,
    blankets: NonNegative,
    domain_size: FromTwo,
    eps: Eps,
    delta: Delta,
    *,
    blanket_law: BlanketLaw = "binomial",
) -> float:
    """Return the largest probability with which one item may be sent.

    Wang et al. 2024, arXiv 2407.19639, Section 5.2, equations 6 and 7, whose binary search a root finder replaces.

    Parameters
    ----------
    n, blankets, domain_size, blanket_law
        As in :func:`~shuffledp.accounting.segmented.items.segmented_delta`, which raises the same errors.
    eps, delta : float
        Budget of the item, not of the user: eps in nats, > 0; delta in (0, 1).

    Returns
    -------
    float
        The largest lambda in (0, 1] with a :func:`~shuffledp.accounting.segmented.items.segmented_delta` of at most
        `delta`, rounded down by at most 1e-10 relative. It is at least the smaller of 1e-9 and `delta`.

    Examples
    --------
    More blanket messages allow a larger probability:

    >>> from shuffledp.accounting import reporting_rate
    >>> for blankets in (1.0, 2.0):
    ...     rate = reporting_rate(1000, blankets, 100, 0.5, 1e-6, blanket_law="poisson")
    ...     print(f"{rate:.4f}")
    0.2858
    0.3973
    """
    return _reporting_rate(n, blankets, domain_size, eps, delta, blanket_law)


@remember(_REMEMBERED)
def _reporting_rate(
    n: int, blankets: float, domain_size: int, eps: float, delta: float, blanket_law: BlanketLaw
) -> float:
    if blankets == 0:
        return delta
    blanket = item_blanket(n, blankets, domain_size, blanket_law, negligible(delta))

    def excess(log_rate: float) -> float:
        return log_ratio(pair_delta(blanket, report_labels(math.exp(log_rate)), eps), delta)

    noise, slope = gaussian_noise(eps, delta)
    guess = math.log(n * blankets / (2 * domain_size)) / 2 - math.log(noise)
    if guess > -0.5 and excess(0.0) <= 0:
        return 1.0
    low = math.log(min(_LEAST_RATE, delta))
    root = root_below(excess, min(max(guess, low + 1e-3), -1e-3), low, 0.0, xtol=_XTOL, slope=slope)
    return math.exp(root)


def blankets_for_full_reporting(
    n: FromOne,
    domain_size: FromTwo,
    set_size: FromOne,
    eps: Annotated[float, partial(check_between, least=1e-12, most=700)],
    delta: Delta,
    *,
    blanket_law: BlanketLaw = "binomial",
    composition: Annotated[str, one_of(COMPOSITIONS)] = "printed",
) -> float:
    """Return the smallest expected number of blanket messages per user that allows reporting probability 1.

    m_k of Wang et al. 2024, arXiv 2407.19639, Section 5.2, with the user's budget divided by Lemma 1.

    Parameters
    ----------
    n, domain_size
        As in :func:`~shuffledp.accounting.segmented.items.segmented_delta`.
    set_size : int
        Items per user s, >= 1.
    eps, delta : float
        Budget of a user, which group composition divides among the items: eps in nats, in [1e-12, 700], and delta in
        (0, 1).
    blanket_law : {"binomial", "poisson"}
        Law of the number of blanket messages. Both laws give guarantees here, because the reporting probability is 1.
    composition : {"printed", "tight"}
        See :func:`~shuffledp.accounting.segmented.items.item_delta`.

    Returns
    -------
    float
        m_k of the paper, rounded up by at most 1e-10 relative; then :func:`reporting_rate` is 1.

    Raises
    ------
    Infeasible
        If more than 1e9 messages per user would be needed, or the sum does not fit into memory.

    Examples
    --------
    Blanket messages per user for a thousand users, each with two of a hundred items:

    >>> from shuffledp.accounting import blankets_for_full_reporting
    >>> print(f"{blankets_for_full_reporting(1000, 100, 2, eps=1.0, delta=1e-6):.4f}")
    16.0591
    """
    item = item_delta(eps, delta, set_size, composition=composition)
    return _full_reporting(n, domain_size, eps / set_size, item, blanket_law)


@remember(_REMEMBERED)
def _full_reporting(n: int, domain_size: int, eps: float, delta: float, blanket_law: BlanketLaw) -> float:
    tail = negligible(delta)

    def excess(blankets: float) -> float:
        law = item_blanket(n, blankets, domain_size, blanket_law, tail)
        return log_ratio(pair_delta(law, report_labels(1.0), eps), delta)

    noise, _ = gaussian_noise(eps, delta)
    guess = 2 * domain_size * noise**2 / n
    if blanket_law == "poisson":
        low, high = _LEAST_BLANKETS, _MOST_BLANKETS
    else:
        high = float(_smallest_count(lambda m: excess(float(m)) <= 0, math.ceil(guess), n))
        low = max(high - 1, _LEAST_BLANKETS)  # fails, as do all smaller ones
    # In the logarithm, backwards: what delta exceeds its target by falls with m.
    root = root_below(
        lambda x: excess(math.exp(-x)),
        -math.log(guess),
        -math.log(high),
        # Just above an integer the number of slots would otherwise be that of the integer.
        -math.log(low + SLACK if low >= 1 else low),
        xtol=_XTOL,
        slope=gaussian_noise(eps, delta)[1] / 2,
    )
    if root > -math.log(high):
        return math.exp(-root)
    if blanket_law == "poisson":
        raise _too_many(n)
    return high


def _smallest_count(suffices: Callable[[int], bool], guess: int, n: int) -> int:
    """Return the smallest integer >= 1 that meets a condition. All larger integers meet the condition too."""
    low, high, step = 0, min(max(guess, 1), int(_MOST_BLANKETS)), 1
    while not suffices(high):
        if high >= _MOST_BLANKETS:
            raise _too_many(n)
        low, high, step = high, min(high + step, int(_MOST_BLANKETS)), 2 * step
    step = 1
    while high - low > 1:
        middle = max(high - step, (low + high) // 2)
        if suffices(middle):
            high, step = middle, 2 * step
        else:
            low, step = middle, 1 << 62
    return high


def _too_many(n: int) -> Infeasible:
    return Infeasible(
        f"More than {_MOST_BLANKETS:g} blanket messages of each of the {n} users would be needed."
    )


@remember(_REMEMBERED)
def gaussian_noise(eps: float, delta: float) -> tuple[float, float]:
    """Return sigma of Gaussian noise for sensitivity 1, and the decrease of log delta per unit of log sigma.

    Both are the limit for many messages, a first guess of a search and not a bound: ``n m / (2 d)`` is within 5 % of
    ``(lambda sigma)^2`` in the settings of the paper. Derived for this project, from the exact curve of the Gaussian
    mechanism (Balle and Wang 2018, Theorem 8).
    """

    def excess(log_mu: float) -> float:
        return log_gaussian_delta(math.exp(log_mu), eps) - math.log(delta)

    root = root_below(excess, 0.0, math.log(1e-9), math.log(1e5), xtol=1e-9)
    return math.exp(-root), (excess(root + 1e-4) - excess(root - 1e-4)) / 2e-4
