"""Random check-in (Balle et al. 2020), a baseline of Wang et al. 2023: every participant chooses one of m slots."""

from __future__ import annotations

import math
from typing import Annotated

from shuffledp.accounting.general.clones import (
    OtherReports,
    exact_epsilon,
    exact_local_budget,
)
from shuffledp.numerics.argument_ranges import Delta, Eps, FromOne, Unit, one_of
from shuffledp.numerics.roots import root_below
from shuffledp.populations.base import Fixed


def checkin_epsilon(
    slots: FromOne,
    eps_local: Eps,
    delta: Delta,
    *,
    rate: Unit = 1.0,
    accounting: Annotated[str, one_of(("printed", "exact"))] = "exact",
) -> float:
    """Return the central eps of random check-in with a fixed window.

    Every participant chooses one of `slots` slots uniformly. Each slot keeps one of its reports at random; an empty
    slot receives a dummy report.

    Parameters
    ----------
    slots : int
        Number of slots m, >= 1.
    eps_local : float
        Local budget, nats, > 0.
    delta : float
        In (0, 1).
    rate : float
        Probability p0 that user 1 takes part, in [0, 1]. The default 1 is the usual guarantee for a user who takes
        part. A smaller rate also uses the randomness of user 1's participation, which assumes another threat model.
    accounting : {"printed", "exact"}
        ``printed``: the closed form. ``exact``: the slots are shuffled as well, and the clones reduction is for user
        1's slot and m - 1 other slots. It requires ``rate=1``.

    Returns
    -------
    float
        Nats, in [0, eps_local].

    Notes
    -----
    ``printed`` is ``p0 (E - 1) sqrt(2 E log(1/delta) / m) + p0^2 E (E - 1)^2 / (2 m)``: Balle, Kairouz, McMahan,
    Thakkar and Thakurta (2020), derived again by heterogeneous advanced composition over the slots. With ``rate=1``
    both accountings are upper bounds, ``exact`` rounded up by at most 1e-11 relative. The guarantee with a smaller rate
    is not proven. Replacement neighbors.

    Examples
    --------
    >>> from shuffledp.accounting import checkin_epsilon
    >>> round(checkin_epsilon(5_000, eps_local=1.0, delta=1e-6), 4)
    0.0769
    >>> round(checkin_epsilon(5_000, eps_local=1.0, delta=1e-6, accounting="printed"), 4)
    0.2114
    """
    if accounting == "exact":
        _check_exact_checkin(rate)
        return exact_epsilon(OtherReports(Fixed(slots - 1)), eps_local, delta)
    return min(_checkin_formula(slots, eps_local, delta, rate), eps_local)


def checkin_local_budget(
    slots: FromOne,
    eps_central: Eps,
    delta: Delta,
    *,
    rate: Unit = 1.0,
    accounting: Annotated[str, one_of(("printed", "exact"))] = "exact",
) -> float:
    """Return the largest local budget for which random check-in meets (eps_central, delta).

    The inverse of :func:`checkin_epsilon`, with the same parameters and errors; `eps_central` in nats, > 0. Source as
    in :func:`checkin_epsilon`. Rounded down by at most 1e-11 relative; a lower bound on the largest budget.

    Returns
    -------
    float
        Nats, at least `eps_central`.
    """
    if accounting == "exact":
        _check_exact_checkin(rate)
        return exact_local_budget(OtherReports(Fixed(slots - 1)), eps_central, delta)
    if rate == 0:
        return math.inf
    if _checkin_formula(slots, eps_central, delta, rate) > eps_central:
        return eps_central

    def excess(log_eps_local: float) -> float:
        return math.log(_checkin_formula(slots, math.exp(log_eps_local), delta, rate) / eps_central)

    low = math.log(eps_central)
    return max(math.exp(root_below(excess, low + 1e-3, low, math.inf, xtol=1e-12)), eps_central)


def _check_exact_checkin(rate: float) -> None:
    if rate != 1:
        raise ValueError(f"rate must be 1 for exact accounting of random check-in, got {rate!r}.")


def _checkin_formula(slots: int, eps_local: float, delta: float, rate: float) -> float:
    if eps_local > 300:  # the square of E overflows; far beyond any amplification
        return math.inf if rate > 0 else 0.0
    e, excess = math.exp(eps_local), math.expm1(eps_local)
    first = rate * excess * math.sqrt(-2 * e * math.log(delta) / slots)
    return first + (rate * excess) ** 2 * e / (2 * slots)
