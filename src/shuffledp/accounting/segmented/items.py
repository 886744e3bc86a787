"""Privacy of one item that is reported with some probability among uniform blanket messages.

Every user reports each of its items with probability lambda and adds blanket messages: items drawn uniformly from all
d, m of them in expectation. The number has one of two laws:

``binomial``
    As published: ceil(m) slots per user, each used with probability m / ceil(m). The paper claims the divergence of the
    pair of counts of the two exchanged items. This is exact for lambda = 1, but otherwise it is not an upper bound. The
    counts of all items sum to the number of messages, which reveals whether the victim reported (erratum SEG-6.1).
    :func:`all_counts_delta` is the divergence of all counts.
``poisson``
    Every user draws a Poisson number of blanket messages. Then the counts of all items are independent, and the pair
    is exact.

Both deltas, proven or claimed, are upper bounds against an adversary who knows the reports of all other users. The
guarantee for a user with s items follows by group composition from ``eps / s`` and :func:`item_delta` per item.

Conventions: eps in nats; replacement of one item (of a user's whole set where a function takes `set_size`); n is the
number of all users, including the victim, whose blanket messages also hide the victim's items. Source: arXiv
2407.19639, Sections 5.1 and 5.2. Its statements of n differ by 1; here, all n ceil(m) slots count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal, get_args

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.labeled_counts import (
    Blanket,
    Labels,
    binomial_blanket,
    pair_delta,
    poisson_blanket,
    settled_delta,
)
from shuffledp.numerics.argument_ranges import (
    MOST,
    Delta,
    Eps,
    EpsAt,
    FromOne,
    FromTwo,
    NonNegative,
    Unit,
    one_of,
)
from shuffledp.numerics.relative_sizes import negligible
from shuffledp.numerics.windows import binomial_window

BlanketLaw = Literal["binomial", "poisson"]
Composition = Literal["printed", "tight"]
COMPOSITIONS: tuple[str, ...] = get_args(Composition)

#: Numbers of blanket messages that exceed an integer by less are meant to be that integer.
SLACK = 1e-12


@dataclass(frozen=True)
class Slots:
    """Slots by which a user sends m blanket messages in expectation. Each slot is used with the probability `rate`.

    The mean number of messages, ``count * rate``, is exact. Source: arXiv 2407.19639, Algorithm 2.
    """

    count: int
    rate: float


#: Numbers of slots over which a delta is summed one by one.
_MOST_SLOTS = 10**6


def blanket_slots(blankets: NonNegative) -> Slots:
    """Return ceil(m) slots, at least one, each used with probability m / ceil(m).

    Wang et al. 2024, arXiv 2407.19639, Algorithm 2 and Section 5.1.1.

    Parameters
    ----------
    blankets : float
        Expected number of blanket messages per user m, >= 0. An excess below 1e-12 over an integer adds no slot.

    Returns
    -------
    Slots
        Exact: ``count * rate`` is `blankets`.
    """
    count = max(1, math.ceil(blankets - SLACK))
    return Slots(count, min(blankets / count, 1.0))


def segmented_delta(
    eps: EpsAt,
    reporting_rate: Unit,
    n: FromOne,
    blankets: NonNegative,
    domain_size: FromTwo,
    *,
    blanket_law: BlanketLaw = "binomial",
) -> float:
    """Return delta of the pair of counts for one item.

    Wang et al. 2024, arXiv 2407.19639, Theorem 2 and Lemma 3 with p infinite, beta = lambda and q = d lambda, see
    erratum SEG-6.1. Replacement of one item.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    reporting_rate : float
        lambda, probability that the victim's item is sent, in [0, 1].
    n, domain_size : int
        Number of users >= 1, and number of items d >= 2.
    blankets : float
        Expected number of blanket messages per user m, >= 0.
    blanket_law : {"binomial", "poisson"}
        See the module's description. The result is a guarantee only for ``poisson`` or a reporting rate of 1.

    Returns
    -------
    float
        In [0, reporting_rate], the same in both directions and for all pairs of items: the exact delta of the pair of
        counts, rounded up by at most 1e-10 relative. It is an upper bound on the item's delta with ``poisson``, or at a
        reporting rate of 1. Otherwise it is too small, see :func:`all_counts_delta`.

    Raises
    ------
    Infeasible
        If the sum does not fit into memory, for many messages and few items.

    Examples
    --------
    One report among a thousand users who add two uniform messages each:

    >>> from shuffledp.accounting import segmented_delta
    >>> delta = segmented_delta(1.0, reporting_rate=1.0, n=1000, blankets=2.0, domain_size=100)
    >>> print(f"{delta:.3g}")
    0.000317
    """
    rate = reporting_rate
    if rate == 0:
        return 0.0
    if blankets == 0:
        return rate
    return settled_delta(
        partial(item_blanket, n, blankets, domain_size, blanket_law), report_labels(rate), eps
    )


def all_counts_delta(
    eps: EpsAt, reporting_rate: Unit, n: FromOne, blankets: NonNegative, domain_size: FromTwo
) -> float:
    """Return delta of the counts of all items for binomial blankets, given the reports of the other users.

    Parameters
    ----------
    eps, reporting_rate, n, blankets, domain_size
        As in :func:`segmented_delta`, which raises the same errors.

    Returns
    -------
    float
        In [0, reporting_rate]; an upper bound on the item's delta, never below the exact divergence of all counts and
        too large by at most about 1e-10 relative. At least :func:`segmented_delta`. For integer `blankets` the
        number of messages is known; the result is ``lambda`` times :func:`segmented_delta` at a reporting rate of 1.

    Raises
    ------
    Infeasible
        As for :func:`segmented_delta`, or if there are too many numbers of slots to sum over.

    Notes
    -----
    Suppose that R of the N slots hold other items. Then each of the remaining N - R holds either item of the pair with
    probability ``r' = r / (1 - gamma (d - 2) / d)``, and the pair is exact. The sum is over R within a few standard
    deviations of its mean; omitted mass is added to delta.

    Derived for this project (erratum SEG-6.1). Replacement of one item.
    """
    rate = reporting_rate
    least = segmented_delta(eps, rate, n, blankets, domain_size)
    slots = blanket_slots(blankets)
    if blankets == 0 or domain_size == 2 or rate in (0, 1):
        return least
    if slots.rate == 1:
        return rate * segmented_delta(eps, 1.0, n, blankets, domain_size)
    elsewhere = slots.rate * (domain_size - 2) / domain_size
    within = slots.rate / domain_size / (1 - elsewhere)
    others = binomial_window(n * slots.count, elsewhere, negligible(least))
    tail = negligible(least)
    if others.support.size > _MOST_SLOTS:
        raise Infeasible(
            f"{others.support.size:,} numbers of slots for n = {n} are too many for an exact sum."
        )
    messages = n * slots.count
    values = [
        pair_delta(binomial_blanket(messages - int(r), within, tail), report_labels(rate), eps)
        for r in others.support
    ]
    return min(float(others.pmf @ values) + others.omitted * rate, rate)


def item_delta(
    eps: Eps,
    delta: Delta,
    set_size: FromOne,
    *,
    composition: Annotated[str, one_of(COMPOSITIONS)] = "printed",
) -> float:
    """Return the delta that one item needs at ``eps / set_size`` so that the whole set is (eps, delta)-private.

    Group composition, Wang et al. 2024, arXiv 2407.19639, Lemma 1, and its proof.

    Parameters
    ----------
    eps, delta : float
        Budget of a user: eps in nats, > 0; delta in (0, 1).
    set_size : int
        Items per user s, >= 1.
    composition : {"printed", "tight"}
        ``printed``: ``delta / (s e^eps)``. ``tight``: ``delta (e^(eps/s) - 1) / (e^eps - 1)``, the geometric sum that
        the former bounds.

    Returns
    -------
    float
        In (0, 1), for one item at ``eps / set_size`` nats. ``tight`` is the exact inverse of group composition, itself
        an upper bound on the delta of the set; ``printed`` is smaller, rounded down.

    Raises
    ------
    Infeasible
        If the result is below the range of double precision.
    """
    if composition == "printed":
        item = delta * math.exp(-eps) / set_size
    else:
        item = delta * math.exp(eps / set_size - eps) * math.expm1(-eps / set_size) / math.expm1(-eps)
    if item == 0:
        raise Infeasible(f"The delta of one item is below the range of double precision for eps = {eps!r}.")
    return item


def report_labels(rate: float) -> Labels:
    """Return the exact effect of the victim's report of one item on the pair of counts; arXiv 2407.19639, Lemma 3."""
    return Labels(rate, 0.0, 1 - rate)


def item_blanket(n: int, blankets: float, domain_size: int, blanket_law: BlanketLaw, tail: float) -> Blanket:
    """Return the exact law of the blanket messages that hold one of two given items; arXiv 2407.19639, Theorem 2."""
    if blanket_law == "poisson":
        return poisson_blanket(n * blankets / domain_size, tail)
    slots = blanket_slots(blankets)
    if n * slots.count > MOST:
        raise Infeasible(f"{n} users with {slots.count} slots each have more than 2^53 messages.")
    return binomial_blanket(n * slots.count, slots.rate / domain_size, tail)
