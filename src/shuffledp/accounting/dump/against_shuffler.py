"""Local privacy of pureDUMP and mixDUMP: guarantees against the shuffler by the user's own dummies.

The shuffler sees the s + 1 messages of one user in random order: a report and s dummies, uniform over {1..k}. In
mixDUMP, generalized randomized response (GRR) randomizes the report. Suppose that a of the messages equal one value and
b another. The likelihoods of these two inputs have the ratio ``((E - 1) a + s + 1) / ((E - 1) b + s + 1)``, ``E =
e^eps_local``.

Three accountings:

``printed``
    The theorems of DUMP (arXiv 2009.13738). The formula of Theorem 5.7 is missing in the text, which describes this
    bound: at least t of the dummies equal b, except with probability delta. All other dummies may equal a. It is
    proven, but does not converge to 0 with many dummies.
``corrected``
    Both counts are within their Chernoff bounds, each except with probability delta / 2.
``exact``
    The divergence itself, see :mod:`shuffledp.accounting.general.dummy_blanket`.

Conventions: eps in nats; replacement neighbors; `dummies` counts the user's own dummies.
"""

from __future__ import annotations

import math
from typing import Annotated

from shuffledp.accounting.dump.dummies import blanket_delta, dummy_epsilon, smallest_epsilon
from shuffledp.numerics.argument_ranges import (
    Count,
    Delta,
    Eps,
    FromTwo,
    one_of,
)
from shuffledp.numerics.memoize import remember

SHUFFLER_ACCOUNTINGS = ("printed", "corrected", "exact")

_XTOL = 1e-10


def pure_shuffler_epsilon(
    domain_size: FromTwo,
    dummies: Count,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(("printed", "exact"))] = "exact",
) -> float:
    """Return the local eps of a pureDUMP user, who sends the value without randomization, against the shuffler.

    ``printed`` is ``sqrt(14 k ln(2/delta) / (s - 1))``, an upper bound: DUMP, Corollary 5.3. Replacement neighbors;
    local privacy of one user.

    Parameters
    ----------
    domain_size, dummies : int
        Number of values k >= 2, and the user's own dummies s >= 0.
    delta : float
        In (0, 1).
    accounting : {"printed", "exact"}
        As for :func:`shuffledp.accounting.dump.dummies.dummy_epsilon`, which this function evaluates for one user.

    Returns
    -------
    float
        Nats. Exact: rounded up by at most 1e-11 relative (or to 1e-12, if below).

    Raises
    ------
    Infeasible
        If the printed theorem does not hold here (eps above 1, delta above ``2 e^(-27/14)``), or no finite eps
        suffices.
    """
    return dummy_epsilon(domain_size, dummies, delta, accounting=accounting)


def mix_shuffler_epsilon(
    domain_size: FromTwo,
    dummies: Count,
    delta: Delta,
    eps_local: Eps,
    *,
    accounting: Annotated[str, one_of(SHUFFLER_ACCOUNTINGS)] = "exact",
) -> float:
    """Return the local eps of a mixDUMP user, who hides a GRR report among dummies, against the shuffler.

    DUMP, Theorem 5.7. Replacement neighbors; local privacy of one user.

    Parameters
    ----------
    domain_size, dummies, delta
        As in :func:`pure_shuffler_epsilon`.
    eps_local : float
        Budget of GRR, nats, > 0.
    accounting : {"printed", "corrected", "exact"}
        See the module's description. All of them hold for every argument.

    Returns
    -------
    float
        Nats, at most `eps_local`. ``printed`` and ``corrected`` are upper bounds. ``exact`` is the smallest eps with a
        delta of at most `delta`, rounded up by at most 1e-10 relative (or to 1e-12, if below).

    Raises
    ------
    Infeasible
        If the exact sum does not fit into memory, for many dummies and few values.
    """
    if accounting == "exact":
        return _exact(domain_size, dummies, delta, eps_local)
    mean = dummies / domain_size
    if accounting == "printed":
        least = max(0.0, mean - math.sqrt(2 * mean * math.log(1 / delta)))
        most = dummies + 1 - least
    else:
        log_inverse = math.log(2 / delta)
        least = max(0.0, mean - math.sqrt(2 * mean * log_inverse))
        most = min(mean + max(math.sqrt(3 * mean * log_inverse), 3 * log_inverse) + 1, dummies + 1.0)
    return min(eps_local, _log_likelihood_ratio(most, least, dummies, eps_local))


def _log_likelihood_ratio(a: float, b: float, dummies: int, eps_local: float) -> float:
    """Return the log of the module's likelihood ratio, computed from 1/E, which does not overflow."""
    gain, floor = -math.expm1(-eps_local), math.exp(-eps_local) * (dummies + 1)
    return math.log((gain * a + floor) / (gain * b + floor)) if gain * b + floor > 0 else math.inf


@remember(4096)
def _exact(domain_size: int, dummies: int, delta: float, eps_local: float) -> float:
    if blanket_delta(0.0, dummies, domain_size, eps_local) <= delta:
        return 0.0
    if eps_local <= 1e-12:
        return eps_local
    mu = math.sqrt(2 * domain_size / (dummies + 1))  # without the noise of the report, in the limit of many
    low = -math.log(eps_local)
    return smallest_epsilon(
        lambda eps: blanket_delta(eps, dummies, domain_size, eps_local),
        delta,
        mu,
        low,
        (low, low - 40),
        _XTOL,
    )
