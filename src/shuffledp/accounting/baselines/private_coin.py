"""Number of uniform tuples that every user adds in the private-coin Hadamard protocol.

A user sends one tuple of tau entries, uniform in the codeword of the user's value, and rho uniform tuples. A uniform
tuple matches a value with probability ``h = 2^-tau``, and two values independently. Two accountings:

``printed``
    Ghazi, Golowich, Kumar, Pagh and Velingker, "On the power of multiple anonymous messages", Theorem 4.3 or Lemma 4.4.
``exact``
    The divergence itself, :mod:`shuffledp.accounting.general.matched_blanket`, for ``rho n`` uniform tuples.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all other users
and which tuples encode them, so that ``exact`` is an upper bound.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.matched_blanket import mixed_matched_delta
from shuffledp.numerics.argument_ranges import (
    MOST,
    Delta,
    Eps,
    FromOne,
    FromTwo,
    NonNegative,
    OpenUnit,
    check_count,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import smallest_integer
from shuffledp.numerics.windows import Window


def default_entries(n: FromOne) -> int:
    """Return tau, the number of entries per tuple for n >= 1 users: ``log2 n``, rounded down, at least 1.

    The proof requires n / 2^tau >= 1. Source: Ghazi, Golowich, Kumar, Pagh and Velingker, arXiv 1908.11358,
    Theorem 4.3.
    """
    return max(1, n.bit_length() - 1)


def private_coin_tuples(
    n: FromOne,
    eps: Eps,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(("printed", "exact"))] = "exact",
    entries: Annotated[int, partial(check_count, least=1, most=60)] | None = None,
    constant: Annotated[str, one_of(("theorem", "lemma"))] = "theorem",
) -> int:
    """Return rho, the number of uniform tuples that every user adds.

    Source: Ghazi, Golowich, Kumar, Pagh and Velingker, arXiv 1908.11358, Theorem 4.3 or Lemma 4.4; ``exact`` is derived
    for this project.

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
    entries : int, optional
        tau, in [1, 60]; :func:`default_entries` if not given. The printed rho does not depend on tau.
    constant : {"theorem", "lemma"}
        For ``printed``: rho is ``36 ln(e / (eps delta)) / eps^2`` (Theorem 4.3) or ``36 ln(1/delta) / eps^2``
        (Lemma 4.4), rounded up.

    Returns
    -------
    int
        Exact: the smallest integer for which the module's bound meets the budget. Printed: rounded up.

    Raises
    ------
    Infeasible
        Printed: if eps is above 1 or n is below 2^tau. Both: if rho is too large.

    Examples
    --------
    >>> from shuffledp.accounting import private_coin_tuples
    >>> private_coin_tuples(10_000, 1.0, 1e-6, accounting="printed"), private_coin_tuples(10_000, 1.0, 1e-6)
    (534, 35)
    """
    entries = entries or default_entries(n)
    if accounting == "exact":
        return _exact_tuples(n, eps, delta, entries)
    if n < 2**entries:
        raise Infeasible(f"The proof needs n >= 2^tau, there are {n} users for tau = {entries}.")
    if eps > 1:
        raise Infeasible(f"The theorem holds for eps <= 1, got {eps!r}.")
    tuples = 36 / eps / eps * (-math.log(delta) + (1 - math.log(eps) if constant == "theorem" else 0))
    if not tuples * n <= MOST:
        raise Infeasible(f"About {tuples:.3g} tuples per user would be needed, more than 2^53 in total.")
    return math.ceil(tuples)


@remember(4096)
def _exact_tuples(n: int, eps: float, delta: float, entries: int) -> int:
    tail, rate = negligible(delta), 2.0**-entries

    def enough(tuples: int) -> bool:
        messages = Window(tuples * n, np.ones(1))
        return log_ratio(mixed_matched_delta(messages, rate, eps, math.inf, tail), delta) <= 0

    least_tuples = smallest_integer(enough, 1, MOST / n)
    if least_tuples is None:
        raise Infeasible("More than 2^53 uniform tuples would be needed.")
    return least_tuples


def private_coin_mse(
    n: FromTwo, domain_size: FromTwo, tuples: NonNegative, match_rate: OpenUnit | None = None
) -> float:
    """Return the expected squared error of a frequency, averaged over the values. The error is the same for all data.

    Parameters
    ----------
    n : int
        Number of users, >= 2.
    domain_size : int
        k, >= 2.
    tuples : float
        rho, number of uniform tuples per user, >= 0, an integer or not.
    match_rate : float, optional
        ``h = 2^-tau``, in (0, 1); the paper's ``1/n`` if not given.

    Returns
    -------
    float
        ``(rho + 1 - 1/k) h / ((1 - h) n)``, exact: derived for this project, from the binomial law of the matches in
        the protocol of Ghazi et al. (arXiv 1908.11358).
    """
    rate = match_rate or 1 / n
    return (tuples + 1 - 1 / domain_size) * rate / ((1 - rate) * n)
