"""Errors of sums, and numbers of levels with a small rounding error."""

from __future__ import annotations

import math
from typing import Annotated, Literal, get_args

from shuffledp.numerics.argument_ranges import (
    Eps,
    FromOne,
    OpenUnit,
    check_count,
    check_open_unit,
    check_positive,
    one_of,
)

RapporEstimator = Literal["plain", "centred"]
RAPPOR_ESTIMATORS: tuple[str, ...] = get_args(RapporEstimator)


def discrete_laplace_variance(rate: float) -> float:
    """Return ``1 / (2 sinh(rate / 2)^2)``, the exact variance of probabilities proportional to ``e^(-rate |k|)``.

    Ghosh, Roughgarden and Sundararajan 2009 (the geometric mechanism); derived from the sum of the series.

    Parameters
    ----------
    rate : float
        > 0.

    Returns
    -------
    float
    """
    half = check_positive("rate", rate) / 2
    if half > 300:  # sinh overflows; the variance is 2 e^-rate
        return 2 * math.exp(-2 * half)
    return 1 / (2 * math.sinh(half) ** 2)


def central_laplace_mse(max_value: int, eps: float) -> float:
    """Return the mean squared error of discrete Laplace noise added by a trusted curator.

    Ghazi et al. 2021 (ICML), the baseline of Theorem 2.

    Parameters
    ----------
    max_value : int
        Largest value D, >= 1.
    eps : float
        Nats, > 0.

    Returns
    -------
    float
        Exact, ``2 a / (1 - a)^2`` with ``a = e^(-eps / D)``.
    """
    return discrete_laplace_variance(check_positive("eps", eps) / check_count("max_value", max_value, 1))


def rappor_mse(
    n: FromOne,
    max_value: FromOne,
    flip_probability: OpenUnit,
    *,
    estimator: Annotated[str, one_of(RAPPOR_ESTIMATORS)],
) -> float:
    """Return the mean squared error of the sum estimated from fragmented RAPPOR.

    Derived for this project, for the fragmented RAPPOR of Erlingsson et al. 2020.

    Parameters
    ----------
    n, max_value : int
        Number of users and largest value D, each >= 1.
    flip_probability : float
        p in (0, 1/2).
    estimator : {"plain", "centred"}
        Weights of the counts. ``plain``: j for the values j = 1..D. ``centred``: ``j - D / 2`` for j = 0..D, where the
        value 0 has a bit too; ``n D / 2`` is added to the sum.

    Returns
    -------
    float
        Exact for all data: ``lambda sum w_j^2`` with ``lambda = n p (1 - p) / (1 - 2 p)^2``.
    """
    size = max_value
    noise = rappor_count_variance(n, flip_probability)
    if estimator == "plain":
        return noise * size * (size + 1) * (2 * size + 1) / 6
    return noise * size * (size + 1) * (size + 2) / 12


def rappor_count_variance(n: FromOne, flip_probability: OpenUnit) -> float:
    """Return the variance lambda of one estimated count, ``n p (1 - p) / (1 - 2 p)^2``, exact for all data.

    Derived for this project: the variance of n bits, each flipped with probability p, over ``(1 - 2 p)^2``.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    flip_probability : float
        p in (0, 1/2).

    Returns
    -------
    float
    """
    p = flip_probability
    if p >= 0.5:
        raise ValueError(f"flip_probability must be in (0, 1/2), got {flip_probability!r}.")
    return n * p * (1 - p) / (1 - 2 * p) ** 2


def rappor_messages(max_value: FromOne, flip_probability: OpenUnit) -> float:
    """Return the expected messages of a user with a value above 0, exactly ``1 - p + (D - 1) p``.

    Derived for this project, for the fragmented RAPPOR of Erlingsson et al. 2020.

    Parameters
    ----------
    max_value : int
        Largest value D, >= 1.
    flip_probability : float
        p in (0, 1).

    Returns
    -------
    float
    """
    size = max_value
    p = flip_probability
    return 1 - p + (size - 1) * p


def ikos_group_order(n: FromOne, max_value: FromOne, eps: Eps, failure: OpenUnit) -> int:
    """Return an order of the group in which the noisy sum wraps around with at most a given probability.

    Derived for this project, from the tail of the discrete Laplace noise.

    Parameters
    ----------
    n, max_value : int
        Number of users and largest value D, each >= 1.
    eps : float
        Nats, > 0.
    failure : float
        Largest probability of wrapping around, in (0, 1).

    Returns
    -------
    int
        Rounded up, as the tail is an upper bound: ``q = n D + 1 + 2 ceil((D / eps) log(2 / failure))``; the noise has
        ``Pr[|k| > r] < 2 e^(-(r + 1) eps / D)``.
    """
    size = max_value
    return n * size + 1 + 2 * math.ceil(size / eps * math.log(2 / failure))


def real_summation_levels(n: FromOne, eps: Eps, zeta: float) -> int:
    """Return the number of levels D to which inputs of [0, 1] are rounded at random.

    Ghazi et al. 2021 (ICML), Theorem 1; constants derived for this project.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    eps : float
        Nats, > 0.
    zeta : float
        In (0, 1). The noise has ``eps_star = (1 - zeta / 2) eps``, and the error is at most the error of the Laplace
        mechanism with ``(1 - zeta) eps``.

    Returns
    -------
    int
        The smallest D, exact, with ``n / (4 D^2) + 2 / ((1 - zeta / 2) eps)^2 <= 2 / ((1 - zeta) eps)^2``.
    """
    return max(1, math.ceil(eps / 2 * math.sqrt(n / (2 * _slack(zeta)))))


def sparse_vector_levels(n: FromOne, dimension: FromOne, eps: Eps, zeta: float) -> int:
    """Return the number of levels D for sums of vectors with a single entry, in [0, 1].

    Ghazi et al. 2021 (ICML), Corollary 3; constants derived for this project.

    Parameters
    ----------
    n, dimension : int
        Number of users and of coordinates d, each >= 1.
    eps : float
        Nats, > 0, for all coordinates together. Each coordinate has half of it, because a change of input affects two
        coordinates.
    zeta : float
        In (0, 1): the squared l2 error is at most the error of d Laplace mechanisms with ``(1 - zeta) eps / 2``.

    Returns
    -------
    int
        The smallest D, exact, with ``n / (4 D^2) + 8 d / ((1 - zeta / 2) eps)^2 <= 8 d / ((1 - zeta) eps)^2``. Every
        input is rounded in one coordinate only, so D decreases with d.
    """
    return max(1, math.ceil(eps / 4 * math.sqrt(n / (2 * dimension * _slack(zeta)))))


def _slack(zeta: float) -> float:
    zeta = check_open_unit("zeta", zeta)
    return (1 - zeta) ** -2 - (1 - zeta / 2) ** -2


def rounded_sum_mse(n: FromOne, levels: FromOne, eps_star: float, *, dimension: FromOne = 1) -> float:
    """Return a bound on the squared error of sums of inputs in [0, 1] after random rounding.

    Ghazi et al. 2021 (ICML), proof of Theorem 1: the sum of the variances of random rounding and of the noise.

    Parameters
    ----------
    n, levels : int
        Number of users and of levels D, each >= 1.
    eps_star : float
        Parameter of the noise in each coordinate, nats, > 0.
    dimension : int
        Number of coordinates d, >= 1. Every user has one entry.

    Returns
    -------
    float
        An upper bound, attained by inputs half-way between two levels: ``n / (4 D^2) + d V / D^2`` with V the variance
        of the discrete Laplace noise.
    """
    noise = discrete_laplace_variance(check_positive("eps_star", eps_star) / levels)
    return (n / 4 + dimension * noise) / levels**2
