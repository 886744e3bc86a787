"""Secure summation by shares: number of shares, group order and security.

Every user splits a value into m random shares with the value as their sum modulo q, and sends each share as a message.
The shuffled shares of two inputs with the same total are within statistical distance ``2^-sigma``. An (eps, delta)-DP
sum by this method is therefore ``(eps, delta + (1 + e^eps) 2^-sigma)``-DP (Wang et al. 2023, Lemma 3, with misprint E24
corrected). sigma is in bits (E25).
"""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Annotated, Literal, SupportsIndex, get_args

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.random_population.polya import as_law
from shuffledp.numerics.argument_ranges import Delta, EpsAt, FromOne, NonNegative, OpenUnit, Positive, one_of
from shuffledp.populations.base import Law, Population
from shuffledp.populations.bounds import MomentBounded

ShareForm = Literal["printed", "balle", "any_n"]
SHARE_FORMS: tuple[str, ...] = get_args(ShareForm)
OrderForm = Literal["printed", "safe"]
ORDER_FORMS: tuple[str, ...] = get_args(OrderForm)

#: The first number of users for which the bound of Balle et al. holds.
_BALLE_USERS = 19
#: Largest probability of more users than planned.
TOO_MANY = 1e-12
#: Bits of the fixed-point number for the fractional part of sigma.
_FRACTION_BITS = 60


def security_bits(eps: EpsAt, delta: Delta) -> float:
    """Return the security sigma of the shares for a given part of delta.

    Source: Wang et al. 2023, Lemma 3, corrected for misprint E24; in bits (E25). Exact up to rounding.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    delta : float
        Part of delta for the secure summation, in (0, 1).

    Returns
    -------
    float
        ``sigma = log2((1 + e^eps) / delta)``, bits.
    """
    return float(np.logaddexp(0.0, eps) - math.log(delta)) / math.log(2)


def check_order(name: str, value: SupportsIndex) -> int:
    """Return `value` as an int if it is an integer >= 2 of any size, else raise ValueError."""
    try:
        order = -1 if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        order = -1
    if order < 2:
        raise ValueError(f"{name} must be an integer >= 2, got {value!r}.")
    return order


def share_count(
    security_bits: NonNegative,
    group_order: Annotated[int, check_order],
    n: FromOne | None = None,
    *,
    form: Annotated[str, one_of(SHARE_FORMS)] = "any_n",
) -> int:
    """Return the number of shares per user for a secure summation.

    Parameters
    ----------
    security_bits : float
        sigma, bits, >= 0.
    group_order : int
        q, at least 2, of any size.
    n : int, optional
        Number of users, at least 1, if known. For n >= 19, the result holds for more users too.
    form : {"printed", "balle", "any_n"}
        ``printed``: Wang et al. 2023, for every n. ``balle``: Balle et al. 2020, for a given n >= 19. ``any_n``: valid
        for the given n, or for every n if n is not given. A single user needs one message only.

    Returns
    -------
    int
        Number of messages per user, at least 1.

    Notes
    -----
    ``printed``: ``max(8 + 5 ceil(log q) + ceil(sigma), 1 + ceil((4 sigma + 2 log2 q) / 5))``. ``balle``:
    ``max(3, ceil((2 sigma + log2 q) / (log2 n - log2 e) + 1))``. ``any_n``: the same for n >= 19, else the smallest m
    with ``C(2m, m) >= 2 q (n - 1)^2 4^sigma``. Given the total, the m-subsets of 2m shares have pairwise independent
    sums. Two views of two users therefore have distance at most ``sqrt(2 q / C(2m, m))``, and n - 1 such steps connect
    any two inputs.

    Sources: Wang et al. 2023, Section VI-A; Balle et al. (2020); ``any_n`` for n < 19 is derived for this project.
    ``balle`` and ``any_n`` are upper bounds on the least number of shares, rounded up.

    Examples
    --------
    >>> from shuffledp.accounting import share_count
    >>> share_count(security_bits=40, group_order=1024, n=10_000)
    9
    >>> share_count(security_bits=40, group_order=1024)  # for every n
    52
    """
    sigma, order = security_bits, group_order
    if form == "printed":
        first = 8 + 5 * math.ceil(math.log(order)) + math.ceil(sigma)
        return max(first, 1 + math.ceil((4 * sigma + 2 * math.log2(order)) / 5))
    if form == "balle":
        if n is None or n < _BALLE_USERS:
            raise ValueError(f"n must be at least {_BALLE_USERS} for form 'balle', got {n!r}.")
        return _balle_shares(sigma, order, n)
    if n is None:
        return max(_hash_shares(sigma, order, _BALLE_USERS - 1), _balle_shares(sigma, order, _BALLE_USERS))
    if n == 1:
        return 1
    return _hash_shares(sigma, order, n) if n < _BALLE_USERS else _balle_shares(sigma, order, n)


def _balle_shares(sigma: float, order: int, users: int) -> int:
    shares = (2 * sigma + math.log2(order)) / (math.log2(users) - math.log2(math.e)) + 1
    return max(3, math.ceil(shares * (1 + 1e-13)))  # rounding must not lose a share


def _hash_shares(sigma: float, order: int, users: int) -> int:
    """Return the smallest m with ``C(2m, m) >= 2 q (n - 1)^2 4^sigma``, in integers; 4^sigma is rounded up."""
    whole = math.floor(2 * sigma)
    part = Fraction(2 * sigma) - whole
    scale = 1 << _FRACTION_BITS
    power = scale if part == 0 else math.ceil(2.0 ** float(part) * (1 + 1e-15) * scale)
    needed = (2 * order * (users - 1) ** 2 * power) << whole
    # C(2m, m) < 4^m, so fewer shares than this cannot be enough.
    m = max(1, (needed.bit_length() - 1 - _FRACTION_BITS) // 2)
    choices = math.comb(2 * m, m)
    while choices << _FRACTION_BITS < needed:
        choices = choices * 2 * (2 * m + 1) // (m + 1)
        m += 1
    return m


def most_users(population: Population) -> int:
    """Return a bound that the number of users, user 1 included, exceeds with probability at most 1e-12. Raises
    `Infeasible` if the population has no bound on the upper tail.
    """
    if isinstance(population, Law):
        return 1 + population.quantile(1 - TOO_MANY)
    if isinstance(population, MomentBounded):  # Cantelli, above the mean
        return 1 + math.ceil(population.mean + math.sqrt(population.variance * (1 / TOO_MANY - 1)))
    name = type(population).__name__
    raise Infeasible(f"{name} does not bound the number of users from above, so no group order is safe.")


def group_order(
    population: Population,
    precision: FromOne,
    tau: Positive,
    *,
    form: Annotated[str, one_of(ORDER_FORMS)] = "safe",
    failure: OpenUnit = 1e-10,
) -> int:
    """Return the order of the group for the sum of noisy values.

    Parameters
    ----------
    population : Population
        Number of *other* users: a law for ``printed``, an upper bound for ``safe``; else `Infeasible`.
    precision : int
        Largest value p of a user, at least 1.
    tau : float
        Scale of each user's discrete Gaussian noise, > 0.
    form : {"printed", "safe"}
        ``printed``: Wang et al. 2023, Theorem 6, without margin for the noise. This order falls to p for small eps
        (reading note RP-N26), which reduces accuracy and not privacy. ``safe``: the sum of at most n_max users exceeds
        the group with probability at most `failure`; more than n_max users have probability at most 1e-12.
    failure : float
        In (0, 1); only for ``safe``.

    Returns
    -------
    int
        q, at least 2.

    Notes
    -----
    ``printed``: ``q = x p`` with the smallest x >= 1 for which ``sum_(n >= x) n^2 Pr[N = n] <= tau^2``. ``safe``:
    ``q = ceil(n_max p + 2 tau sqrt(n_max) sqrt(2 log(2 / failure))) + 1``.

    Source: Wang et al. 2023, Theorem 6, for ``printed``; ``safe`` is derived for this project from sub-Gaussian tails,
    an upper bound on the least order, rounded up. Privacy does not depend on q.
    """
    if form == "safe":
        most = most_users(population)
        return max(2, math.ceil(most * precision + noise_margin(most, tau, failure)) + 1)
    window = as_law(population, "the printed group order").window()
    n = window.support + 1.0
    beyond = np.cumsum((n**2 * window.pmf)[::-1])[::-1]
    covered = int(np.count_nonzero(beyond > tau**2))
    users = 1 if covered == 0 else window.start + 1 + covered
    return max(2, users * precision)


def noise_margin(users: int, tau: float, failure: float) -> float:
    """Return twice the deviation that the noise of `users` users exceeds with probability at most `failure`."""
    return 2 * tau * math.sqrt(2 * users * math.log(2 / failure))
