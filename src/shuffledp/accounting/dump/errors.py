"""Mean squared errors as printed in DUMP, for comparison with the exact errors of the protocols.

All are errors of relative frequencies, averaged over the k values: ``(1/k) sum (estimate - truth)^2``.
"""

from __future__ import annotations

import math

from shuffledp.numerics.argument_ranges import (
    Count,
    FromOne,
    FromTwo,
    LocalEps,
    NonNegative,
    Rate,
)


def printed_dump_mse(
    n: FromOne, domain_size: FromTwo, dummies: NonNegative, *, eps_local: LocalEps = math.inf
) -> float:
    """Return the mean squared error of pureDUMP or mixDUMP as printed.

    Parameters
    ----------
    n, domain_size : int
        Number of users >= 1, and number of values k >= 2.
    dummies : float
        Total number of dummies S, >= 0, or its expectation.
    eps_local : float
        Budget of generalized randomized response, nats, > 0; ``inf`` for pureDUMP, which sends unrandomized values.

    Returns
    -------
    float
        Exact for pureDUMP; for mixDUMP an estimate without the part that depends on the frequencies.

    Notes
    -----
    ``S (k - 1) / (n k)^2``: DUMP, Theorem 5.5, which is exact. With E = e^eps_local, Theorem 5.9 multiplies it by
    ``((E + k - 1) / (E - 1))^2`` and adds ``(E + k - 2) / (n (E - 1)^2)``. The formula of Theorem 5.9 is missing in the
    paper; this is the usual form. It omits the part of the response's variance that depends on the frequencies,
    ``(k - 2) / (k n (E - 1))`` on average.
    """
    return _with_response(n, domain_size, dummies * (domain_size - 1) / (n * domain_size) ** 2, eps_local)


def printed_flexible_mse(
    n: FromOne, domain_size: FromTwo, dummies: Count, rate: Rate, *, eps_local: LocalEps = math.inf
) -> float:
    """Return the printed mean squared error of the flexible variants. It is too small for ``dummies > 1``.

    ``rate s / (n k) (1 - rate / k)``: DUMP, Theorem 5.15, as if each of the n s dummies were sent independently; and
    Theorem 5.16, see :func:`printed_dump_mse`. The exact last factor is ``1 - 1/k + s (1 - rate) / k``.

    Parameters
    ----------
    n, domain_size, eps_local
        As in :func:`printed_dump_mse`.
    dummies : int
        Dummies per sending user, >= 0.
    rate : float
        Probability that a user sends dummies, in (0, 1].

    Returns
    -------
    float
        For one dummy as exact as :func:`printed_dump_mse`; for more dummies an estimate that is too small.
    """
    pure = rate * dummies / (n * domain_size) * (1 - rate / domain_size)
    return _with_response(n, domain_size, pure, eps_local)


def _with_response(n: int, domain_size: int, pure: float, eps_local: float) -> float:
    """Return the error of mixDUMP from the error of pureDUMP, computed from 1/E, which does not overflow."""
    decay, gain = math.exp(-eps_local), -math.expm1(-eps_local)
    response = decay * (1 + (domain_size - 2) * decay) / (n * gain**2)
    return response + pure * ((1 + (domain_size - 1) * decay) / gain) ** 2


def dump_mse(
    n: FromOne, domain_size: FromTwo, dummies: NonNegative, *, eps_local: LocalEps = math.inf
) -> float:
    """Return the exact mean squared error of a frequency under pureDUMP or mixDUMP, averaged over the values.

    It is the same for all data: the variance of generalized randomized response plus the variance Bin(S, 1/k) of the
    dummies that equal one value. The printed error approximates the first variance. Derived for this project.
    """
    k = domain_size
    decay, gain = math.exp(-eps_local), -math.expm1(-eps_local)
    response = (k - 1) / k * decay * (2 + (k - 2) * decay) / (n * gain**2)
    share = dummies / k * (1 - 1 / k) / n**2
    return response + share * ((1 + (k - 1) * decay) / gain) ** 2
