"""Summation by other means, and the parameters of summation of real numbers and sparse vectors.

Central discrete Laplace noise; IKOS split-and-mix (shares modulo q, Ishai et al. 2006); fragmented RAPPOR (one bit per
value, Erlingsson et al. 2020); rounding of real inputs and one-sparse vectors (Ghazi et al. 2021, Theorem 1 and
Corollary 3).

Conventions: eps in nats; replacement neighbours; n users with inputs in ``{0, .., D}``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from scipy.special import gammaln

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.remember import remember
from shuffledp.accounting.secure_sum import security_bits
from shuffledp.accounting.standing import Standing
from shuffledp.accounting.summation import discrete_laplace_variance
from shuffledp.accounting.told_bits import told_bits_delta
from shuffledp.numerics.checks import (
    check_choice,
    check_count,
    check_nonnegative,
    check_open_unit,
    check_positive,
)
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import binomial_window

if TYPE_CHECKING:
    from numpy.typing import NDArray

IkosForm = Literal["figure", "average", "worst_case", "collision"]
#: What stands behind the numbers of shares that are not proven for all inputs.
TOO_FEW_SHARES: Mapping[str, Standing] = {
    "figure": Standing("unproven", "two shares fewer than are proven for all inputs (SUM-N2)"),
    "average": Standing(
        "unproven", "one share fewer than is proven for all inputs: a bound for uniform inputs"
    ),
}
IKOS_FORMS: tuple[str, ...] = get_args(IkosForm)
RapporCalibration = Literal["sound", "worst_case", "optimistic"]
RAPPOR_CALIBRATIONS: tuple[str, ...] = get_args(RapporCalibration)
RapporEstimator = Literal["plain", "centred"]
RAPPOR_ESTIMATORS: tuple[str, ...] = get_args(RapporEstimator)

#: Shares on top of the quotient in the three published formulas.
_EXTRA = {"figure": 0, "average": 1, "worst_case": 2}
#: Most users of the collision bound: it takes n^2 steps.
_MOST_COLLISION_USERS = 20000
_MOST_SHARES = 64
#: Mass that laws may leave out, relative to delta; the first attempt; and the least that floats can hold.
_OMITTED = 1e-8
_FIRST_TAIL = 1e-20
_FLOOR = 1e-300
_REMEMBERED = 1024
#: Beyond this e^eps overflows; the divergence no longer changes.
_MOST_EPS = 700.0


def central_laplace_mse(max_value: int, eps: float) -> float:
    """Return the mean squared error of discrete Laplace noise added by a trusted curator.

    Parameters
    ----------
    max_value : int
        D, >= 1.
    eps : float
        Nats, > 0.

    Returns
    -------
    float
        ``2 a / (1 - a)^2`` with ``a = e^(-eps / D)``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    return discrete_laplace_variance(check_positive("eps", eps) / check_count("max_value", max_value, 1))


def ikos_group_order(n: int, max_value: int, eps: float, failure: float) -> int:
    """Return an order of the group in which the noisy sum wraps around with at most a given probability.

    Parameters
    ----------
    n : int
        Users, >= 1.
    max_value : int
        D, >= 1.
    eps : float
        Nats, > 0.
    failure : float
        In (0, 1).

    Returns
    -------
    int
        ``q = n D + 1 + 2 ceil((D / eps) log(2 / failure))``; the noise has ``Pr[|k| > r] < 2 e^(-(r + 1) eps / D)``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    n = check_count("n", n, 1)
    size = check_count("max_value", max_value, 1)
    eps = check_positive("eps", eps)
    failure = check_open_unit("failure", failure)
    return n * size + 1 + 2 * math.ceil(size / eps * math.log(2 / failure))


def ikos_shares(
    n: int, max_value: int, eps: float, delta: float, *, form: str, group_order: int | None = None
) -> int:
    """Return the number of shares per user of IKOS split-and-mix.

    Parameters
    ----------
    n : int
        Users, >= 3.
    max_value : int
        D, >= 1.
    eps : float
        Budget of the noise in the sum, nats, > 0.
    delta : float
        Spent on the security of the shares, in (0, 1).
    form : {"figure", "average", "worst_case", "collision"}
        ``figure``: ``ceil((2 sigma + log2 q) / (log2 n - log2 e))``, which gives the numbers of the published figure;
        no theorem for it is known. ``average``: 1 more, a bound for uniform inputs, often used for all. ``worst_case``:
        2 more, proven for all inputs. ``collision``: the smallest number for which the second-moment bound of
        :func:`ikos_distance` suffices, proven for all inputs.
    group_order : int, optional
        q, >= 2; default ``n D``, as in the figure.

    Returns
    -------
    int
        Messages per user, of ``ceil(log2 q)`` bits each, at least 2.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    Infeasible
        ``collision`` only: for more than 20000 users, or if 64 shares are not enough.

    Notes
    -----
    ``sigma = log2((1 + e^eps) / delta)``. Balle et al. 2020; Ghazi et al. 2021, Section 5.
    """
    n = check_count("n", n, 3)
    size = check_count("max_value", max_value, 1)
    eps = check_positive("eps", eps)
    delta = check_open_unit("delta", delta)
    check_choice("form", form, IKOS_FORMS)
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


def ikos_distance(n: int, group_order: int, shares: int) -> float:
    """Return a bound on the distance between shuffled shares and uniform messages of the same sum.

    Parameters
    ----------
    n : int
        Users, in [1, 20000].
    group_order : int
        q, at least n.
    shares : int
        m, at least 2.

    Returns
    -------
    float
        Bound on the total variation distance, at most 1, for every choice of inputs.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    Infeasible
        For more than 20000 users.

    Notes
    -----
    Let each of the m columns of shares be shuffled on its own, the first not at all: that shows more. Two independent
    runs with the same inputs collide exactly as often as if all messages were uniform with the right sum, times
    ``q^(C - 1)``, where C counts the components of the union of m - 1 random permutations of the users: in each
    component one of the equations between shares is implied by the others. So the distance is at most
    ``sqrt(E[q^(C - 1)] - 1) / 2``. As ``q^C`` counts the colourings of users by q colours that are constant on
    components, ``E[q^C]`` is the sum of multinomial coefficients to the power 2 - m over all sizes of colour classes,
    a coefficient of the q-th power of a series, for which a recursion with positive terms is known.
    """
    n = check_count("n", n, 1)
    order = check_count("group_order", group_order, 2)
    shares = check_count("shares", shares, 2)
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


def rappor_flip_probability(n: int, eps: float, delta: float, *, calibration: str = "optimistic") -> float:
    """Return the smallest flip probability of fragmented RAPPOR for a budget and what is known of the other users.

    Parameters
    ----------
    n : int
        Users, >= 2.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    calibration : {"optimistic", "sound", "worst_case"}
        What the other users hold when one user moves from one value to another. ``sound``: anything; a bound, proven
        for every data set. ``worst_case``: one of the two values, which needs most noise of all data sets known where
        there are many users; for a handful of users others are worse. ``optimistic``, as published: a third value;
        other data sets violate the budget.

    Returns
    -------
    float
        p in (0, 1/2), rounded up by at most 1e-9 relative.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    Infeasible
        If so many messages have to be expected that the calculation does not fit into memory, or the budget is so small
        that no probability below 1/2 can be told from 1/2.

    Notes
    -----
    See :func:`rappor_delta`. The published calibration is that of Ghazi et al. 2021, arXiv 2106.04247 (corrected, see
    reading note SUM-N4).
    """
    n = check_count("n", n, 2)
    eps = check_positive("eps", eps)
    delta = check_open_unit("delta", delta)
    check_choice("calibration", calibration, RAPPOR_CALIBRATIONS)
    return _flip_probability(n, eps, delta, calibration)


@remember(_REMEMBERED)
def _flip_probability(n: int, eps: float, delta: float, calibration: str) -> float:
    def excess(minus_logit: float) -> float:
        value = _settled_delta(n, 1 / (1 + math.exp(minus_logit)), eps, calibration)
        return math.log(value / delta) if value > 0 else -math.inf

    # Two differences of normal variables: a first guess of the number of flips.
    flips = 2 * (math.sqrt(2 * math.log(1 / delta)) / eps) ** 2 + 1 / delta**0.1
    flips *= 2 if calibration == "sound" else 1
    guess = math.log(max(n / flips - 1, 1.5))
    logit = root_below(excess, guess, 1e-12, 60.0, xtol=1e-10)
    if excess(logit) > 0:  # the end of the bracket, which the search does not look at
        raise Infeasible(f"No flip probability below 1/2 reaches eps = {eps}, delta = {delta} with n = {n}.")
    return 1 / (1 + math.exp(logit))


def rappor_delta(n: int, flip_probability: float, eps: float, *, calibration: str = "optimistic") -> float:
    """Return the delta of fragmented RAPPOR for given other users, or a bound for all of them.

    Parameters
    ----------
    n : int
        Users, >= 2.
    flip_probability : float
        p in (0, 1/2).
    eps : float
        Nats, >= 0.
    calibration : {"optimistic", "sound", "worst_case"}
        As in :func:`rappor_flip_probability`.

    Returns
    -------
    float
        In [0, 1]; too large by at most 1e-7 relative, and 1e-299. For ``sound`` an upper bound on delta for every
        data set of the others, a further 1e-3 relative above its formula at most.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    Infeasible
        As :func:`rappor_flip_probability`.

    Notes
    -----
    Let B be ``Bin(n, p)``, and D the law with one of the n probabilities replaced by 1 - p. A count that the user joins
    goes from B to D, and ``D(u) / B(u)`` is linear in u. ``optimistic`` is ``D x B`` against ``B x D``. If all others
    hold one of the two values, the zeros of its bit go from B to D and so do the ones of the other: ``worst_case`` is
    ``B x B`` against ``D x D``, the worse direction. ``sound`` tells the adversary which bits of the others are
    uniform, see :mod:`shuffledp.accounting.told_bits`.
    """
    n = check_count("n", n, 2)
    p = check_open_unit("flip_probability", flip_probability)
    if p >= 0.5:
        raise ValueError(f"flip_probability must be in (0, 1/2), got {flip_probability!r}.")
    eps = check_nonnegative("eps", eps)
    check_choice("calibration", calibration, RAPPOR_CALIBRATIONS)
    return _settled_delta(n, p, eps, calibration)


def _settled_delta(n: int, p: float, eps: float, calibration: str) -> float:
    """Return delta with windows so wide that what they omit is negligible beside it."""
    tail = _FIRST_TAIL
    while True:
        value = _rappor_delta(n, p, eps, calibration, tail)
        if tail <= max(_OMITTED * value, _FLOOR):
            return value
        tail = max(tail * 1e-40, _FLOOR)


def _rappor_delta(n: int, p: float, eps: float, calibration: str, omitted: float) -> float:
    if n * p > 1e11:
        raise Infeasible(f"The law of {n * p:.3g} expected flips does not fit into memory.")
    if calibration == "sound":
        return told_bits_delta(n - 1, p, eps, omitted)
    eps = min(eps, _MOST_EPS)
    # The law that a user joins has a mass outside of the window that is larger by up to (1 - p) / p.
    window = binomial_window(n, p, omitted * p)
    law, u = window.pmf, window.support.astype(np.float64)
    odds = (1 - p) / p
    ratio = u * (odds / n) + (n - u) / (odds * n)  # D / B, increasing
    moved = law * ratio
    factor = math.exp(eps)
    missed = 4 * window.omitted * (1 + odds)
    above, moved_above = _from_top(law), _from_top(moved)
    if calibration == "optimistic":
        # sum over u, v of B B (ratio(u) - e^eps ratio(v))+
        start = np.searchsorted(ratio, factor * ratio, side="right")
        value = float(np.sum(law * moved_above[start] - factor * moved * above[start]))
        return min(value + missed, 1.0)
    start = np.searchsorted(ratio, factor / ratio, side="right")
    together = float(np.sum(moved * moved_above[start] - factor * law * above[start]))
    below, moved_below = np.concatenate(([0.0], np.cumsum(law))), np.concatenate(([0.0], np.cumsum(moved)))
    stop = np.searchsorted(ratio, 1 / (factor * ratio), side="left")
    apart = float(np.sum(law * below[stop] - factor * moved * moved_below[stop]))
    return min(max(together, apart) + missed, 1.0)


def _from_top(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of all values from each place on, and a 0 behind them."""
    return np.concatenate((np.cumsum(values[::-1])[::-1], [0.0]))


def rappor_mse(n: int, max_value: int, flip_probability: float, *, estimator: str) -> float:
    """Return the mean squared error of the sum estimated from fragmented RAPPOR.

    Parameters
    ----------
    n : int
        Users, >= 1.
    max_value : int
        D, >= 1.
    flip_probability : float
        p in (0, 1/2).
    estimator : {"plain", "centred"}
        Weights of the counts: ``plain`` j for the values 1..D; ``centred`` ``j - D / 2`` for 0..D, where the value 0
        has a bit too, plus ``n D / 2``.

    Returns
    -------
    float
        ``lambda sum w_j^2`` with ``lambda = n p (1 - p) / (1 - 2 p)^2``, whatever the data.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    n = check_count("n", n, 1)
    size = check_count("max_value", max_value, 1)
    check_choice("estimator", estimator, RAPPOR_ESTIMATORS)
    noise = rappor_count_variance(n, flip_probability)
    if estimator == "plain":
        return noise * size * (size + 1) * (2 * size + 1) / 6
    return noise * size * (size + 1) * (size + 2) / 12


def rappor_count_variance(n: int, flip_probability: float) -> float:
    """Return the variance lambda of one estimated count, ``n p (1 - p) / (1 - 2 p)^2``.

    Parameters
    ----------
    n : int
        Users, >= 1.
    flip_probability : float
        p in (0, 1/2).

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    n = check_count("n", n, 1)
    p = check_open_unit("flip_probability", flip_probability)
    if p >= 0.5:
        raise ValueError(f"flip_probability must be in (0, 1/2), got {flip_probability!r}.")
    return n * p * (1 - p) / (1 - 2 * p) ** 2


def rappor_messages(max_value: int, flip_probability: float) -> float:
    """Return the expected messages of a user with a value above 0, ``1 - p + (D - 1) p``.

    Parameters
    ----------
    max_value : int
        D, >= 1.
    flip_probability : float
        p in (0, 1).

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    size = check_count("max_value", max_value, 1)
    p = check_open_unit("flip_probability", flip_probability)
    return 1 - p + (size - 1) * p


def real_summation_levels(n: int, eps: float, zeta: float) -> int:
    """Return the number of levels D to which inputs of [0, 1] are rounded at random.

    Parameters
    ----------
    n : int
        Users, >= 1.
    eps : float
        Nats, > 0.
    zeta : float
        In (0, 1): the error may be that of the Laplace mechanism with ``(1 - zeta) eps``; the noise has
        ``eps_star = (1 - zeta / 2) eps``.

    Returns
    -------
    int
        The smallest D with ``n / (4 D^2) + 2 / ((1 - zeta / 2) eps)^2 <= 2 / ((1 - zeta) eps)^2``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    n = check_count("n", n, 1)
    eps = check_positive("eps", eps)
    return max(1, math.ceil(eps / 2 * math.sqrt(n / (2 * _slack(zeta)))))


def sparse_vector_levels(n: int, dimension: int, eps: float, zeta: float) -> int:
    """Return the number of levels D for sums of vectors with a single entry, in [0, 1].

    Parameters
    ----------
    n : int
        Users, >= 1.
    dimension : int
        Coordinates d, >= 1.
    eps : float
        Nats, > 0, of all coordinates together: each has half of it, because a change of input touches two.
    zeta : float
        In (0, 1): the squared l2 error may be that of d Laplace mechanisms with ``(1 - zeta) eps / 2``.

    Returns
    -------
    int
        The smallest D with ``n / (4 D^2) + 8 d / ((1 - zeta / 2) eps)^2 <= 8 d / ((1 - zeta) eps)^2``. Every user is
        rounded in one coordinate only, so D falls with d.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    n = check_count("n", n, 1)
    dimension = check_count("dimension", dimension, 1)
    eps = check_positive("eps", eps)
    return max(1, math.ceil(eps / 4 * math.sqrt(n / (2 * dimension * _slack(zeta)))))


def _slack(zeta: float) -> float:
    zeta = check_open_unit("zeta", zeta)
    return (1 - zeta) ** -2 - (1 - zeta / 2) ** -2


def rounded_sum_mse(n: int, levels: int, eps_star: float, *, dimension: int = 1) -> float:
    """Return a bound on the squared error of sums of rounded inputs of [0, 1].

    Parameters
    ----------
    n : int
        Users, >= 1.
    levels : int
        D, >= 1.
    eps_star : float
        Of the noise in each coordinate, nats, > 0.
    dimension : int
        Coordinates, >= 1; every user has one entry.

    Returns
    -------
    float
        ``n / (4 D^2) + d V / D^2`` with V the variance of the discrete Laplace noise.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    n = check_count("n", n, 1)
    levels = check_count("levels", levels, 1)
    dimension = check_count("dimension", dimension, 1)
    noise = discrete_laplace_variance(check_positive("eps_star", eps_star) / levels)
    return (n / 4 + dimension * noise) / levels**2
