"""Dummies from a random subset of the users: the flexible variants of pureDUMP and mixDUMP.

Each of n users sends s dummies, uniform over {1..k}, with probability `rate`, and otherwise none. In the mixed variant
generalized randomized response (GRR) randomizes the values first; ``eps_local = inf`` means unrandomized values. Three
accountings:

``printed``
    DUMP (arXiv 2009.13738), Theorems 5.11 and 5.12: the expected number of dummies replaces the number, and the
    probability that no user sends dummies is added to delta. Their formulas are missing in the text; this form
    reproduces Tables 3 and 4. It is not a proof, since far fewer users than expected may send.
``corrected``
    At least ``m_0 = rate n - sqrt(2 rate n ln(2/delta))`` users send, except with probability delta / 2. Theorems 5.2
    and 5.6 use the other half of delta.
``exact``
    The number of messages reveals the number of users who send, so that the divergence is an average over this number.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all other users.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np

from shuffledp.accounting.dump.dummies import dummy_count, printed_total
from shuffledp.accounting.dump.flexible_profile import (
    FLOOR,
    OMITTED,
    overlapping,
    point_deltas,
    profile,
    suffices,
)
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.grr_blanket import uniform_reports
from shuffledp.guarantees import Standing
from shuffledp.numerics.argument_ranges import (
    MOST,
    Count,
    Delta,
    Eps,
    EpsAt,
    FromOne,
    FromTwo,
    LocalEps,
    Rate,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.windows import binomial_window

FLEXIBLE_ACCOUNTINGS = ("printed", "corrected", "exact")
#: Guarantee of the printed theorems. The witness is for both protocols: with a local budget of 600 mixDUMP needs as
#: many dummies, and sends other values with negligible probability.
RANDOM_SENDERS = Standing(
    "violated",
    "far fewer users than expected may send dummies (DUMP-N4): for 3000 users who each send with probability 0.06, 2 "
    "values, eps 1 and delta 3e-81 the true delta is 2.9 times as large",
)

#: Largest number of terms of a delta that only guides the search. If there are more, evenly spaced terms are summed,
#: with an error of at most 1e-3.
_GUIDING_PAIRS = 1 << 14


def flexible_dummies_needed(
    n: FromOne, domain_size: FromTwo, eps: Eps, delta: Delta, rate: Rate, *, eps_local: LocalEps = math.inf
) -> float:
    """Return the number of dummies per sending user by the printed theorems, not rounded, at least 0.

    Parameters and errors as in :func:`flexible_dummies`.

    Returns
    -------
    float
        Neither an upper bound nor an exact value: far fewer users than expected may send (reading note DUMP-N4).

    Notes
    -----
    DUMP (arXiv 2009.13738), Theorems 5.11 and 5.12: ``S / (rate n)`` with the total S of Theorem 5.2 or 5.6, or 0 for
    negative S. S is computed at delta minus the probability ``(1 - rate)^n`` that no user sends dummies.
    """
    if printed_total(n, domain_size, eps, delta, eps_local) <= 0:
        return 0.0
    silent = math.exp(n * math.log1p(-rate)) if rate < 1 else 0.0
    if silent >= delta:
        raise Infeasible(
            f"rate is too small: with probability {silent:.4g} >= delta = {delta!r} none of {n} users sends dummies."
        )
    total = printed_total(n, domain_size, eps, (delta - silent) / (1 - silent), eps_local)
    return max(0.0, total) / (rate * n)


def flexible_dummies(
    n: FromOne,
    domain_size: FromTwo,
    eps: Eps,
    delta: Delta,
    rate: Rate,
    *,
    accounting: Annotated[str, one_of(FLEXIBLE_ACCOUNTINGS)] = "exact",
    eps_local: LocalEps = math.inf,
) -> int:
    """Return the smallest number of dummies per sending user with which the reports are (eps, delta)-private.

    Parameters
    ----------
    n, domain_size : int
        Number of users >= 1, and number of values k >= 2.
    eps, delta : float
        Budget: eps in nats, > 0; delta in (0, 1).
    rate : float
        Probability that a user sends dummies, in (0, 1].
    accounting : {"printed", "corrected", "exact"}
        See the module's description.
    eps_local : float
        Budget of GRR, nats, > 0; ``inf`` for unrandomized values.

    Returns
    -------
    int
        0 if the reports alone suffice, which includes ``eps_local <= eps``. With ``exact`` the
        :func:`flexible_dummy_delta` of this number is at most `delta`.

    Raises
    ------
    Infeasible
        If the probability that too few users send dummies is too high for any number of dummies per user; if the
        theorem does not hold here (printed, corrected: eps above 1, or delta too large); or if more than 2^53 messages
        would be sent.

    Notes
    -----
    ``printed``: DUMP (arXiv 2009.13738), Theorems 5.11 and 5.12, which can be too few (reading note DUMP-N4).
    ``corrected``: Theorems 5.2 and 5.6, an upper bound on the number needed. ``exact``: derived for this project; never
    too few. Replacement neighbors.

    Examples
    --------
    >>> from shuffledp.accounting import flexible_dummies
    >>> flexible_dummies(10_000, domain_size=50, eps=0.5, delta=1e-6, rate=0.1)
    7
    >>> flexible_dummies(10_000, domain_size=50, eps=0.5, delta=1e-6, rate=0.1, accounting="corrected")
    52
    """
    if eps_local <= eps:
        return 0
    if accounting == "exact":
        return _exact_dummies(n, domain_size, eps, delta, rate, eps_local)
    if accounting == "printed":
        return _finite(flexible_dummies_needed(n, domain_size, eps, delta, rate, eps_local=eps_local), n)
    total = printed_total(n, domain_size, eps, delta / 2, eps_local)
    if total <= 0:
        return 0
    senders = rate * n - math.sqrt(2 * rate * n * math.log(2 / delta)) if rate < 1 else float(n)
    if senders <= 0:
        raise Infeasible(
            f"With {n} users and a rate of {rate!r}, no number of senders is certain up to delta / 2 = {delta / 2!r} "
            "by the Chernoff bound."
        )
    return _finite(total / senders, n)


def flexible_dummy_delta(
    eps: EpsAt,
    n: FromOne,
    domain_size: FromTwo,
    dummies: Count,
    rate: Rate,
    *,
    eps_local: LocalEps = math.inf,
) -> float:
    """Return delta when every user sends `dummies` dummies with probability `rate`.

    Derived for this project: an average over the number of messages, see
    :mod:`shuffledp.accounting.dump.flexible_profile`.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    n, domain_size, rate, eps_local
        As in :func:`flexible_dummies`.
    dummies : int
        Dummies per sending user, >= 0.

    Returns
    -------
    float
        In [0, 1], the same in both directions and for all pairs of values. Exact for ``eps_local = inf``; otherwise
        exact for an adversary who knows which other reports are uniform, hence an upper bound. Never too small and at
        most 1e-10 relative too large, except below 1e-300, where floats lose precision. If the sum over all numbers of
        messages has more than 1e9 terms, the result is an upper bound that is at most 2 % too large. With GRR and a
        delta below 1e-15, this already applies to more than 3e7 terms.

    Raises
    ------
    Infeasible
        If the sum does not fit into memory, for many messages and few values.
    """
    return profile(n, domain_size, eps, dummies, rate, eps_local)


def _finite(dummies: float, n: int) -> int:
    """Return the number rounded up; raise Infeasible for more than 2^53 messages."""
    if not dummies * n <= MOST:
        raise Infeasible(f"About {dummies:.3g} dummies per sender would be needed: more than 2^53 messages.")
    return math.ceil(dummies)


@remember(4096)
def _exact_dummies(n: int, domain_size: int, eps: float, delta: float, rate: float, eps_local: float) -> int:
    tail = max(OMITTED * delta, FLOOR)
    blanket = uniform_reports(n, domain_size, eps_local, 0, tail)
    alone = profile(n, domain_size, eps, 0, rate, eps_local)
    if alone <= delta:
        return 0
    silent = math.exp(n * math.log1p(-rate)) if rate < 1 else 0.0
    if silent * alone > delta:
        raise Infeasible(
            f"rate is too small for delta = {delta!r}: none of {n} users sends dummies with probability {silent:.4g}, "
            f"and the reports alone have delta = {alone:.4g}."
        )
    total = dummy_count(domain_size, eps, delta, accounting="exact")
    mean = blanket.start + blanket.pmf.size // 2
    guess, parts = math.ceil(max(total - mean, 1) / (rate * n)), 50
    senders = binomial_window(n, rate, tail)
    if blanket.pmf.size > 1 and not overlapping(senders, blanket, guess):
        # Every decision costs a full sum then; a typical number of uniform reports shows where to take it.
        def typical(dummies: int) -> bool:
            at = (senders.support * dummies + mean).tolist()
            values = np.array(point_deltas(at, domain_size, eps, eps_local, tail, _GUIDING_PAIRS))
            return float(senders.pmf @ values) <= delta

        guess, parts = _first(typical, guess, MOST // n, parts), 2000
    return _first(lambda s: suffices(n, domain_size, eps, delta, s, rate, eps_local), guess, MOST // n, parts)


def _first(holds: Callable[[int], bool], guess: int, most: int, parts: int) -> int:
    """Return the smallest integer in [1, most] that meets a condition. All larger integers meet it too, and 0 does not.

    The first step away from the guess is the guess divided by `parts`.
    """
    low, high, step = 0, most + 1, max(1, guess // parts)
    x = min(max(guess, 1), most)
    while high - low > 1:
        if holds(x):
            high = x
        else:
            low = x
        if low == 0 or high > most:  # the guess is on the other side: walk with growing steps
            x = min(low + step, most) if high > most else max(high - step, 1)
            step *= 2
        else:
            x = (low + high) // 2
    if high > most:
        raise Infeasible("More than 2^53 messages would be needed.")
    return high
