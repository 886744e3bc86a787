"""Amplification by the privacy blanket of generalized randomized response (GRR).

n users send one GRR report each over k values, and the reports are shuffled. With probability
``lambda = k / (e^eps_local + k - 1)`` a report is uniform, independently of its user's value. The uniform reports of
the other users are the blanket that hides user 1. Two accountings:

``printed``
    Balle, Bell, Gascon and Nissim 2019, Theorem 3.1, if the conditions of its proof hold, and local privacy,
    ``eps_local <= eps``, which needs no condition.
``exact``
    The divergence itself (:mod:`shuffledp.accounting.general.dummy_blanket`), averaged over the number of uniform
    reports. The adversary learns which reports of the other users are uniform, so that the divergence is an upper bound
    for GRR.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all other users.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.blanket import population_epsilon
from shuffledp.accounting.general.dummy_blanket import blanket_rate, lone_delta, mixed_blanket_delta
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.accounting.general.matched_contour import MOST_BUDGET, contour_budget, contour_delta, is_long
from shuffledp.accounting.general.profiles import Profile
from shuffledp.accounting.general.randomizers import GRR
from shuffledp.numerics.argument_ranges import Count, Delta, Eps, EpsAt, FromOne, FromTwo, one_of
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import Window, binomial_window
from shuffledp.populations.base import Fixed

if TYPE_CHECKING:
    pass

GRR_ACCOUNTINGS = ("printed", "exact")

#: Largest delta of the printed theorem: 14 ln(2/delta) / eps^2 has to exceed 27 / eps up to eps = 1.
_MOST_DELTA = 2 * math.exp(-27 / 14)
_REMEMBERED = 4096
_XTOL = 1e-10
#: Number of reports from which on a table may be too large at some local budgets.
_MANY = 100_000
#: Mass that windows may leave out on either side, relative to delta, and the least positive mass.
_OMITTED = 1e-12
_FLOOR = 1e-320
#: Values of the number of messages that are summed in one table; for few values k, larger tables are mostly zeros.
_ROWS = 256


def grr_blanket_delta(
    eps: EpsAt, n: FromOne, domain_size: FromTwo, eps_local: Eps, *, dummies: Count = 0
) -> float:
    """Return delta of one of n shuffled GRR reports, hidden by the other users' blanket and by dummies.

    Sources: Balle, Bell, Gascon and Nissim (2019) for the blanket; :mod:`shuffledp.accounting.general.dummy_blanket`
    for the divergence.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    n : int
        Number of users, >= 1, all with budget `eps_local`.
    domain_size : int
        Number of values k, >= 2.
    eps_local : float
        Nats, > 0.
    dummies : int
        Uniform messages that are shuffled with the reports, in total, >= 0.

    Returns
    -------
    float
        In [0, 1], the same in both directions and for all pairs of values; 0 for ``eps >= eps_local``. Exact for an
        adversary who knows which other reports are uniform, hence an upper bound. Rounded up by at most 1e-10 relative
        (1e-6 for too many reports for a table), except below 1e-300.

    Raises
    ------
    Infeasible
        If there are too many messages for too few values, so that the sum does not fit into memory.
    """
    return favored_blanket_delta(eps, n, domain_size, eps_local, dummies)


def favored_blanket_delta(
    eps: float, n: int, domain_size: float, eps_local: float, dummies: int = 0
) -> float:
    """Return :func:`grr_blanket_delta` for reports that favor outputs of mass ``1 / domain_size``. The `domain_size` is
    any real number >= 2. A report is uniform with probability ``blanket_rate(domain_size, eps_local)``, else uniform
    among the outputs that its input favors. The favored outputs of the two inputs are disjoint, the worst case.
    Arguments are not checked.
    """
    worst = lone_delta(eps, domain_size, eps_local)
    if worst == 0:
        return 0.0
    if dummies == 0 and eps_local <= MOST_BUDGET and is_long(n - 1, 1 / domain_size, eps_local):
        return min(contour_delta(eps, n - 1, 1 / domain_size, eps_local, 0.0), worst)
    tail, value = 1.0, 0.0
    while tail > _FLOOR and tail > _OMITTED * value:
        tail = max(1e-20 * tail, _FLOOR)
        value = pieced_blanket_delta(
            uniform_reports(n, domain_size, eps_local, dummies, tail), domain_size, eps, eps_local, tail
        )
    return value


def grr_blanket_epsilon(
    n: FromOne,
    domain_size: FromTwo,
    delta: Delta,
    eps_local: Eps,
    *,
    accounting: Annotated[str, one_of(GRR_ACCOUNTINGS)] = "exact",
) -> float:
    """Return the central eps of n shuffled GRR reports.

    Printed: ``sqrt(14 ln(2/delta) (e^eps_local + k - 1) / (n - 1))``, Balle et al. 2019, Theorem 3.1. Both accountings
    are upper bounds on the eps of the reports.

    Parameters
    ----------
    n, domain_size, eps_local
        As in :func:`grr_blanket_delta`.
    delta : float
        In (0, 1).
    accounting : {"printed", "exact"}
        See the module's description.

    Returns
    -------
    float
        Nats, at most `eps_local`. Printed: `eps_local` if the theorem does not hold for the eps of its formula. Exact:
        rounded up by at most 1e-10 relative (or to 1e-12, if below); by 1e-5 for too many reports for a table.

    Raises
    ------
    Infeasible
        Printed: if delta is above ``2 e^(-27/14)``.

    Examples
    --------
    >>> from shuffledp.accounting import grr_blanket_epsilon
    >>> round(grr_blanket_epsilon(30_000, 50, 1e-6, 4.0), 4)
    0.1611
    >>> round(grr_blanket_epsilon(30_000, 50, 1e-6, 4.0, accounting="printed"), 4)
    0.8375
    """
    if accounting == "exact":
        return _exact_epsilon(n, domain_size, delta, eps_local)
    _check_delta(delta)
    blanket = (n - 1) * blanket_rate(domain_size, eps_local)
    eps = math.sqrt(14 * math.log(2 / delta) * domain_size / blanket) if blanket > 0 else math.inf
    return min(eps, eps_local) if eps <= 1 else eps_local


def blanket_local_budget(
    n: FromOne,
    domain_size: FromTwo,
    eps: Eps,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(GRR_ACCOUNTINGS)] = "exact",
) -> float:
    """Return the largest local budget for which n shuffled GRR reports are (eps, delta)-private.

    Printed: ``ln(m - k + 1)``, ``m = eps^2 (n - 1) / (14 ln(2/delta))``, Balle et al. 2019, Theorem 3.1. Both
    accountings return a lower bound on the largest budget.

    Parameters
    ----------
    n, domain_size
        As in :func:`grr_blanket_delta`.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    accounting : {"printed", "exact"}
        See the module's description.

    Returns
    -------
    float
        Nats, at least `eps`, because local privacy with the budget `eps` is sufficient. Exact: rounded down by at most
        1e-10 (relative if above 1, else absolute); by 1e-6 for too many reports for a table.

    Raises
    ------
    Infeasible
        Printed: if eps is above 1 or delta above ``2 e^(-27/14)``.
    """
    if accounting == "exact":
        return favored_local_budget(n, domain_size, eps, delta)
    if eps > 1:
        raise Infeasible(f"The theorem holds for eps <= 1, got {eps!r}.")
    _check_delta(delta)
    odds = eps * eps * (n - 1) / (14 * math.log(2 / delta)) - domain_size + 1
    return max(eps, math.log(odds)) if odds > 1 else eps


def uniform_reports(n: int, domain_size: float, eps_local: float, dummies: int, tail: float) -> Window:
    """Return the law of the number of uniform messages besides user 1's report: the other users' blanket and dummies.
    `eps_local` may be ``inf``; `tail` is the mass that may be omitted on either side.
    """
    blanket = binomial_window(n - 1, blanket_rate(domain_size, eps_local), tail)
    return Window(blanket.start + dummies, blanket.pmf, blanket.omitted)


def pieced_blanket_delta(
    messages: Window, domain_size: float, eps: float, eps_local: float, tail: float
) -> float:
    """Return delta for a law of the number of uniform messages, summed over consecutive pieces of the law."""
    cuts = range(0, messages.pmf.size, _ROWS)
    worst = lone_delta(eps, domain_size, eps_local)
    total = messages.omitted * worst
    for cut in cuts:
        piece = Window(messages.start + cut, messages.pmf[cut : cut + _ROWS])
        total += mixed_blanket_delta(piece, domain_size, eps, eps_local, max(tail / len(cuts), _FLOOR))
    return min(total, worst)


def favored_profile(n: int, domain_size: float, eps_local: float) -> Profile:
    """Return the privacy profile of n shuffled reports, with delta by :func:`favored_blanket_delta`."""
    return Profile(
        lambda eps: favored_blanket_delta(eps, n, domain_size, eps_local),
        "hockey stick of a report among the uniform reports of the others, which are told",
    )


def _check_delta(delta: float) -> None:
    if delta > _MOST_DELTA:
        raise Infeasible(f"The theorem holds for delta <= {_MOST_DELTA:.6f}, got {delta!r}.")


@remember(_REMEMBERED)
def _exact_epsilon(n: int, domain_size: int, delta: float, eps_local: float) -> float:
    if eps_local <= MOST_BUDGET and is_long(n - 1, 1 / domain_size, eps_local):
        if contour_delta(0.0, n - 1, 1 / domain_size, eps_local, 0.0) <= delta:
            return 0.0
        return population_epsilon(GRR(eps_local, domain_size), Fixed(n - 1), delta, "upper")
    tail = max(_OMITTED * delta, _FLOOR)
    messages = uniform_reports(n, domain_size, eps_local, 0, tail)

    def excess(minus_log_eps: float) -> float:  # increasing, as delta falls with eps
        eps = math.exp(-minus_log_eps)
        return log_ratio(pieced_blanket_delta(messages, domain_size, eps, eps_local, tail), delta)

    if pieced_blanket_delta(messages, domain_size, 0.0, eps_local, tail) <= delta:
        return 0.0
    if eps_local <= 1e-12 or excess(-math.log(1e-12)) <= 0:
        return min(eps_local, 1e-12)
    low, high = -math.log(eps_local), -math.log(1e-12)
    mu = (1 - blanket_rate(domain_size, eps_local)) * math.sqrt(
        2 * domain_size / (messages.start + messages.pmf.size / 2 + 1)
    )

    def limit(minus_log_eps: float) -> float:
        return log_gaussian_delta(mu, math.exp(-minus_log_eps)) - math.log(delta)

    guess = root_below(limit, low, low - 40, high, xtol=1e-6)
    slope = (limit(guess + 1e-4) - limit(guess - 1e-4)) / 2e-4
    return math.exp(-root_below(excess, guess, low, high, xtol=_XTOL, slope=slope))


@remember(_REMEMBERED)
def favored_local_budget(n: int, domain_size: float, eps: float, delta: float) -> float:
    """Return the largest local budget for the reports of :func:`favored_blanket_delta`; arguments are not checked. The
    search begins at the root for the typical number of uniform reports, which is faster than the mean over all
    numbers.
    """
    if n >= _MANY:
        budget = contour_budget(n - 1, 1 / domain_size, 0.0, eps, delta, rough=True)
        if is_long(n - 1, 1 / domain_size, budget):
            return contour_budget(n - 1, 1 / domain_size, 0.0, eps, delta, guess=budget)
    tail = max(_OMITTED * delta, _FLOOR)
    xtol = _XTOL * max(eps, 1.0)

    def excess(eps_local: float) -> float:
        messages = uniform_reports(n, domain_size, eps_local, 0, tail)
        return log_ratio(pieced_blanket_delta(messages, domain_size, eps, eps_local, tail), delta)

    def typical(eps_local: float) -> float:
        messages = Window(round((n - 1) * blanket_rate(domain_size, eps_local)), np.ones(1))
        return log_ratio(pieced_blanket_delta(messages, domain_size, eps, eps_local, tail), delta)

    guess = root_below(typical, eps + 1, eps, math.inf, xtol=1e-7)
    step = 0.01 * (guess - eps)
    rise = typical(guess + step) - typical(guess - step)
    slope = rise / (2 * step) if step > 0 and math.isfinite(rise) else None
    return root_below(excess, guess, eps, math.inf, xtol=xtol, slope=slope)
