"""Split-and-mix secure sums by shares modulo q (Ishai et al. 2006; Balle et al. 2020)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Literal, get_args

import numpy as np
from scipy.special import gammaln

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.random_population.secure_sum import security_bits
from shuffledp.guarantees import Standing
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    FromOne,
    FromTwo,
    check_count,
)
from shuffledp.numerics.memoize import remember

IkosForm = Literal["figure", "average", "worst_case", "collision"]
IKOS_FORMS: tuple[str, ...] = get_args(IkosForm)

#: Guarantees of the numbers of shares that are not proven for all inputs.
TOO_FEW_SHARES: Mapping[str, Standing] = {
    "figure": Standing("unproven", "two shares fewer than are proven for all inputs (SUM-N2)"),
    "average": Standing(
        "unproven", "one share fewer than is proven for all inputs: a bound for uniform inputs"
    ),
}

#: Shares on top of the quotient in the three published formulas.
_EXTRA = {"figure": 0, "average": 1, "worst_case": 2}
#: Most users of the collision bound: it takes n^2 steps.
_MOST_COLLISION_USERS = 20000
_MOST_SHARES = 64
_REMEMBERED = 1024


def ikos_shares(
    n: Annotated[int, partial(check_count, least=3)],
    max_value: FromOne,
    eps: Eps,
    delta: Delta,
    *,
    form: IkosForm,
    group_order: int | None = None,
) -> int:
    """Return the number of shares per user of IKOS split-and-mix.

    ``sigma = log2((1 + e^eps) / delta)``. Source: Balle et al. 2020; Ghazi et al. 2021, Section 5.

    Parameters
    ----------
    n : int
        Number of users, >= 3.
    max_value : int
        D, >= 1.
    eps : float
        Budget of the noise in the sum, nats, > 0.
    delta : float
        Part of delta for the security of the shares, in (0, 1).
    form : {"figure", "average", "worst_case", "collision"}
        ``figure``: ``ceil((2 sigma + log2 q) / (log2 n - log2 e))``, which reproduces the published figure, without a
        known theorem. ``average``: one share more than ``figure``, a bound for uniform inputs that is often used for
        all inputs. ``worst_case``: two shares more than ``figure``, proven for all inputs. ``collision``: the smallest
        number that meets sigma by the second-moment bound of :func:`ikos_distance`, proven for all inputs.
    group_order : int, optional
        q, >= 2; ``n D`` if not given, as in the figure.

    Returns
    -------
    int
        Number of messages per user, of ``ceil(log2 q)`` bits each, at least 2, rounded up. ``worst_case`` and
        ``collision`` are proven upper bounds on the number needed; ``figure`` is an estimate.

    Raises
    ------
    Infeasible
        ``collision``: for more than 20000 users, or if 64 shares are not sufficient.

    Examples
    --------
    >>> from shuffledp.accounting import ikos_shares
    >>> [ikos_shares(10_000, 5, 1.0, 1e-6, form=form) for form in ("figure", "average", "worst_case")]
    [6, 7, 8]
    """
    size = max_value
    order = n * size if group_order is None else check_count("group_order", group_order, 2)
    sigma = security_bits(eps, delta)
    if form != "collision":
        quotient = (2 * sigma + math.log2(order)) / (math.log2(n) - math.log2(math.e))
        return max(2, math.ceil(quotient + _EXTRA[form]))
    for shares in range(2, _MOST_SHARES + 1):
        if 2 * sigma - 2 + math.log2(order) > (shares - 2) * math.log2(n) + 1:
            continue  # the leading term of the bound alone, up to rounding, is too large
        if ikos_distance(n, order, shares) <= 2.0**-sigma:
            return shares
    raise Infeasible(f"{_MOST_SHARES} shares of {n} users are not enough by the collision bound.")


def ikos_distance(n: FromOne, group_order: FromTwo, shares: FromTwo) -> float:
    """Return a bound on the total variation distance between shuffled shares and uniform messages with the same sum.

    Parameters
    ----------
    n : int
        Number of users, in [1, 20000]; `Infeasible` for more.
    group_order : int
        q, at least n.
    shares : int
        m, at least 2.

    Returns
    -------
    float
        Upper bound, at most 1, for all inputs.

    Notes
    -----
    Suppose that each of the m columns of shares is shuffled separately, except the first, which is not shuffled. This
    reveals more than shuffling all messages together. Let C be the number of components of the union of m - 1 random
    permutations of the users. In each component, one of the equations between shares follows from the others. Two
    independent runs with the same inputs therefore collide with ``E[q^(C - 1)]`` times the probability for uniform
    messages with the same sum. Hence the distance is at most ``sqrt(E[q^(C - 1)] - 1) / 2``. ``q^C`` is the number of
    colorings of the users by q colors that are constant on components. ``E[q^C]`` is therefore the sum of multinomial
    coefficients to the power 2 - m over all sizes of color classes. This is a coefficient of the q-th power of a
    series, which a recursion with positive terms evaluates.

    Derived for this project, after the second-moment argument of Balle et al. 2020.
    """
    order = group_order
    if order < n:
        raise ValueError(f"group_order must be an integer in [n, 2^53], got {group_order!r} with n = {n}.")
    if n > _MOST_COLLISION_USERS:
        raise Infeasible(
            f"The collision bound takes n^2 steps, too many for n = {n} > {_MOST_COLLISION_USERS}."
        )
    return _distance(n, order, shares)


@remember(_REMEMBERED)
def _distance(n: int, order: int, shares: int) -> float:
    log_factorial = gammaln(np.arange(n + 1) + 1.0)
    log_moment = np.zeros(n + 1)  # of E[q^(C - 1)] for 1, 2, .. users; place 0 is not used
    excess = 0.0
    sizes = np.arange(n + 1, dtype=np.float64)
    for users in range(2, n + 1):
        k = sizes[1:users]
        log_choices = log_factorial[users] - log_factorial[1:users] - log_factorial[users - 1 : 0 : -1]
        weights = np.log(k * (order + 1) / users - 1) - (shares - 2) * log_choices
        terms = weights + log_moment[users - 1 : 0 : -1]
        top = float(np.max(terms))
        total = top + math.log(float(np.sum(np.exp(terms - top))))
        log_moment[users] = np.logaddexp(0.0, total)
        excess = total
    return min(0.5 * math.exp(min(excess / 2, 1.0)), 1.0) if n > 1 else 0.0
