"""Multi-message protocols for a random population: noise, number of messages and group order.

Three protocols sum bits or rounded numbers by secure summation
(:mod:`shuffledp.accounting.random_population.secure_sum`) of noisy values. Half of delta is for the summation, the
other half for the noise:

MULTI-UNION
    Polya noise for n1 users; fewer than n1 users take part with probability at most delta / 2.
MULTI-EXACT
    Polya noise for the largest n1 whose expected delta is at most delta / 2. Not in the paper.
MULTI-EXPECTED
    Discrete Gaussian noise whose expected delta is at most delta / 2.

Conventions: eps in nats, > 0; delta in (0, 1); populations describe N - 1, the users other than user 1; numbers of
users, such as n1, include user 1; replacement of user 1's input. Source: Wang et al. 2023 (TPDS), Table II, Theorems 5
and 6, Lemmas 3 and 4, Proposition 2; "erratum E.." refers to the project's list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, log_ndtr, zeta

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.random_population.polya import as_law, best_polya_shape, polya_reach
from shuffledp.accounting.random_population.population_bounds import BOUND_FORMS, population_lower_bound
from shuffledp.accounting.random_population.secure_sum import (
    ORDER_FORMS,
    group_order,
    most_users,
    security_bits,
    share_count,
)
from shuffledp.guarantees import Standing
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    FromOne,
    Positive,
    RealArray,
    checked,
    format_value,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.roots import root_below
from shuffledp.populations.base import Law, Population

ScaleAccounting = Literal["printed", "exact"]
SCALE_ACCOUNTINGS: tuple[str, ...] = get_args(ScaleAccounting)

#: Probability that a noisy sum wraps around, given a likely number of users.
_WRAPS = 1e-10
#: Above this value of (pi tau)^2 the sum S_n is below rounding error and left out.
_NEGLIGIBLE = 80.0
_REMEMBERED = 1024
#: Guarantee of the printed Table II for a binomial population.
TABLE_II_BINOMIAL = Standing(
    "violated",
    "the binomial row of Table II is no tail bound (RP-E16): with 48,841 potential others, rate 0.01, eps 8 and delta "
    "1e-8 the noise alone has 2.4 times that delta",
)


#: Summands up to which every term is added; beyond, the terms are almost equal, and a series adds them.
_ENUMERATED = 1 << 22


def discrete_gaussian_gap(n: RealArray, tau: Positive) -> NDArray[np.float64]:
    """Return the distance between a sum of discrete Gaussian variables and a single discrete Gaussian variable.

    Source: Wang et al. 2023, Lemma 4, from Kairouz, Liu and Steinke (2021). Exact up to rounding; the factor is an
    upper bound.

    Parameters
    ----------
    n : int or (w,) array_like of int
        Number of summands, at least 1.
    tau : float
        Scale of each summand, > 0.

    Returns
    -------
    () or (w,) ndarray
        ``S_n = sum_(k = 1)^(n - 1) exp(-2 pi^2 tau^2 k / (k + 1))``. The probabilities of the sum are within a factor
        ``e^(10 S_n)`` of the probabilities of a discrete Gaussian with variance parameter ``n tau^2``.
    """
    counts = np.asarray(n, np.int64)
    if counts.size and int(np.min(counts)) < 1:
        raise ValueError(f"n must be at least 1, got {int(np.min(counts))}.")
    few = np.minimum(counts, _ENUMERATED)
    k = np.arange(1.0, float(np.max(few, initial=1)))
    rate = 2 * (math.pi * tau) ** 2
    with np.errstate(under="ignore"):
        sums = np.concatenate(([0.0], np.cumsum(np.exp(-rate * k / (k + 1)))))
    return np.asarray(sums[few - 1] + _far_terms(counts, rate))


def _far_terms(counts: NDArray[np.int64], rate: float) -> NDArray[np.float64]:
    """Return sums of ``e^(-rate) e^(rate / m)`` over m above the enumerated values, by powers of rate / m."""
    sums = np.zeros(counts.shape)
    is_large = counts > _ENUMERATED
    if not np.any(is_large) or rate > 1000:  # e^-500 otherwise
        return sums
    n = counts[is_large].astype(np.float64)
    total = (n - _ENUMERATED) + rate * (digamma(n + 1) - digamma(_ENUMERATED + 1))
    for power in range(2, 9):
        far = zeta(power, _ENUMERATED + 1) - zeta(power, n + 1)
        total += rate**power / math.factorial(power) * far
    sums[is_large] = math.exp(-rate) * total
    return sums


def multi_expected_delta(
    population: Population,
    tau: Positive,
    eps: Eps,
    precision: FromOne,
    *,
    accounting: Annotated[str, one_of(SCALE_ACCOUNTINGS)] = "exact",
) -> float:
    """Return the delta of a sum with discrete Gaussian noise, averaged over the number of users.

    Parameters
    ----------
    population : Law
        Number of *other* users. Populations without a law raise `Infeasible`.
    tau : float
        Scale of each user's noise, > 0.
    eps : float
        Nats, > 0.
    precision : int
        Largest value p of a user, the sensitivity of the sum, at least 1.
    accounting : {"printed", "exact"}
        As in :func:`multi_expected_scale`.

    Returns
    -------
    float
        ``E[delta_N]`` in [0, 1], for the noise only.

    Notes
    -----
    Source: Wang et al. 2023, Lemma 4 and Proposition 2, corrected for misprints. ``printed`` is an upper bound.
    ``exact`` is the hockey-stick divergence of a normal law, an estimate that may be below or above the delta of the
    integers (lattice effects, see :func:`multi_expected_scale`). No guarantee of the library uses the estimate; the
    protocol multi_expected sums over the laws of the integers. Replacement of one input, which changes the sum by at
    most p.
    """
    law = as_law(population, "the expected delta")
    return _expected_delta(law, tau, eps, precision, accounting)


def _expected_delta(law: Law, tau: float, eps: float, precision: int, accounting: str) -> float:
    window = law.window()
    n = window.support + 1
    gap = discrete_gaussian_gap(n, tau) if (math.pi * tau) ** 2 < _NEGLIGIBLE else np.zeros(n.size)
    mu = precision / (tau * np.sqrt(n))
    if accounting == "exact":
        deltas = _gaussian_deltas(mu, eps, gap)
    else:
        z = (eps - 0.5 * mu**2 - 2.5 * gap) / (mu + 10 * gap)
        with np.errstate(under="ignore"):
            deltas = np.exp(-0.5 * np.maximum(z, 0.0) ** 2)
    return min(float(window.pmf @ deltas) + window.omitted, 1.0)


def _gaussian_deltas(mu: NDArray[np.float64], eps: float, gap: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return deltas of Normal(mu, 1) and Normal(0, 1) if true and normal densities differ by a factor e^gap."""
    lowered_eps = eps - 20 * gap  # negative for large gaps: then delta is near 1, as it must be
    upper = log_ndtr(mu / 2 - lowered_eps / mu)
    ratio = np.minimum(lowered_eps + log_ndtr(-mu / 2 - lowered_eps / mu) - upper, 0.0)
    with np.errstate(under="ignore", over="ignore"):  # beyond a gap of 70 the answer is 1
        return np.asarray(np.minimum(np.exp(upper + 10 * gap) * -np.expm1(ratio), 1.0))


def multi_expected_scale(
    population: Population,
    eps: Eps,
    delta: Delta,
    precision: FromOne,
    *,
    accounting: Annotated[str, one_of(SCALE_ACCOUNTINGS)] = "exact",
) -> float:
    """Return the scale of the discrete Gaussian noise that each user adds in MULTI-EXPECTED.

    Printed, with ``S_n`` as in :func:`discrete_gaussian_gap`: ``delta_n = exp(-z^2 / 2)`` for
    ``z = (eps - p^2 / (2 n tau^2) - 2.5 S_n) / (p / (tau sqrt(n)) + 10 S_n) > 0``, otherwise 1. The mean over N is
    exact because the analyzer sees N. Source: Wang et al. 2023, Lemma 4 and Proposition 2.

    Parameters
    ----------
    population : Law
        Number of *other* users. Populations without a law raise `Infeasible`.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1); half of it is for the secure summation.
    precision : int
        Largest value p of a user, at least 1.
    accounting : {"printed", "exact"}
        ``printed``: concentrated DP, Lemma 4 with corrected misprints (errata E19 and E21 to E23: a bracket that is not
        positive means delta = 1). ``exact``: the hockey-stick divergence of the normal law with the same variance, not
        an upper bound. The delta of the discrete sum may be larger or smaller, by about ``(z / (tau sqrt(n)))^2``
        relative with z about 4. This is 2 % for one user at eps 0.5, and below 0.01 % for a hundred users. For one user
        at eps 4 and delta 0.1 it is three quarters. For a guarantee, use the tau of a calibrated ``get("frequency",
        "multi_expected")``, which sums over the laws of the integers.

    Returns
    -------
    float
        The smallest tau with ``2 E[delta_N] <= delta`` for this delta, rounded up by at most 1e-11 relative.

    Examples
    --------
    >>> from shuffledp.accounting import multi_expected_scale
    >>> from shuffledp.populations import Binomial
    >>> round(multi_expected_scale(Binomial(999, 0.5), eps=1.0, delta=1e-6, precision=22), 4)
    4.3045
    """
    law = as_law(population, "the expected delta")
    return _scale(law, eps, delta, precision, accounting)


#: Scales from e^-300 to e^300 are searched: exp() stays finite, and so do the squares that the bounds take.
_LOG_SCALE = 300.0


@remember(_REMEMBERED)
def _scale(law: Law, eps: float, delta: float, precision: int, accounting: str) -> float:
    def excess(minus_log_tau: float) -> float:
        value = _expected_delta(law, math.exp(-minus_log_tau), eps, precision, accounting)
        return math.log(2 * value / delta) if value > 0 else -math.inf

    z = math.sqrt(2 * math.log(2 / delta))
    start = precision * (z + math.sqrt(z * z + 2 * eps)) / (2 * eps * math.sqrt(law.mean + 1))
    return math.exp(-root_below(excess, -math.log(start), -_LOG_SCALE, _LOG_SCALE, xtol=1e-11))


@dataclass(frozen=True)
class PolyaPlan:
    """Parameters of MULTI-UNION or MULTI-EXACT.

    Parameters
    ----------
    n1 : int
        Number of users whose total noise is sufficient; each adds the difference of two negative binomial variables of
        shape ``1 / n1``.
    ratio : float
        alpha of these variables, in (0, 1): ``e^(-eps / precision)``.
    share_count : int
        Messages per user, m.
    group_order : int
        Group order q: messages are integers modulo q.
    security_bits : float
        Security sigma of the secure summation, bits.
    precision : int
        Largest value p of a user; 1 for bits.
    """

    n1: int
    ratio: float
    share_count: int
    group_order: int
    security_bits: float
    precision: int = 1

    @property
    def shape(self) -> float:
        """Shape of each user's noise, ``1 / n1``."""
        return 1 / self.n1

    @checked
    def noise_variance(self, n: RealArray) -> NDArray[np.float64]:
        """Return the variance of the noise of n users, in units of the rounded values."""
        return _users(n) * (2 * self.ratio / (1 - self.ratio) ** 2 / self.n1)


@dataclass(frozen=True)
class DiscreteGaussianPlan:
    """Parameters of MULTI-EXPECTED.

    Parameters
    ----------
    precision : int
        Largest value p of a user; numbers in [0, 1] are multiplied by p and rounded at random.
    tau : float
        Scale of each user's discrete Gaussian noise, in units of the rounded values.
    share_count, group_order, security_bits
        As in :class:`PolyaPlan`.
    """

    precision: int
    tau: float
    share_count: int
    group_order: int
    security_bits: float

    @checked
    def noise_variance(self, n: RealArray) -> NDArray[np.float64]:
        """Return ``n tau^2``, the variance of the noise of n users up to a factor ``1 - 1e-14`` for tau >= 2."""
        return _users(n) * self.tau**2


def _users(n: RealArray) -> NDArray[np.float64]:
    users = np.asarray(n, np.float64)
    if np.any(users < 0):
        raise ValueError(f"n must be at least 0, got {format_value(n)}.")
    return users


def multi_union_plan(
    population: Population,
    eps: Eps,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(BOUND_FORMS)] = "exact",
    precision: FromOne = 1,
) -> PolyaPlan:
    """Return the parameters of MULTI-UNION.

    Parameters
    ----------
    population : Population
        Number of *other* users.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1): one half for too few users, one half for the secure summation.
    accounting : {"printed", "corrected", "exact"}
        Form of :func:`population_lower_bound`. ``printed`` also uses the printed number of shares, the other forms a
        number that is proven for any number of users.
    precision : int
        Largest value p of a user, at least 1.

    Returns
    -------
    PolyaPlan
        Its group order is safe for the noise. This is an assumption, as the paper states no order for this protocol.

    Raises
    ------
    Infeasible
        If the population's bound on a tail is too weak.

    Notes
    -----
    Source: Wang et al. 2023, Theorem 5: at least n1 users add at least the noise of the two-sided geometric mechanism.
    With ``corrected`` and ``exact``, fewer users take part with probability at most delta / 2. With ``printed``, the
    probability can be larger for a binomial population (erratum RP-E16). Other numbers are rounded up. Replacement
    neighbors.

    Examples
    --------
    >>> from shuffledp.accounting import multi_union_plan
    >>> from shuffledp.populations import Binomial
    >>> plan = multi_union_plan(Binomial(999, 0.5), eps=1.0, delta=1e-6)
    >>> plan.n1, plan.share_count, plan.group_order
    (423, 34, 670)
    """
    n1 = math.floor(population_lower_bound(population, delta / 2, form=accounting))
    return _polya_plan(population, n1, eps, delta, accounting, precision)


def multi_exact_plan(population: Population, eps: Eps, delta: Delta) -> PolyaPlan:
    """Return the parameters of MULTI-EXACT: Polya noise for bits with exact expected delta.

    Derived for this project, for the protocol of Wang et al. 2023, Theorem 5. An upper bound: the exact mean delta of
    the noise over the number of users is at most delta / 2, and shares are rounded up. Replacement neighbors.

    Parameters
    ----------
    population : Law
        Number of *other* users. Populations without a law raise `Infeasible`.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1): one half for the noise (:func:`best_polya_shape`), one half for the secure summation.

    Returns
    -------
    PolyaPlan
        The largest n1 that half of delta allows, and a group order that is safe for the noise.

    Examples
    --------
    >>> from shuffledp.accounting import multi_exact_plan
    >>> from shuffledp.populations import Binomial
    >>> plan = multi_exact_plan(Binomial(999, 0.5), eps=1.0, delta=1e-6)
    >>> plan.n1, plan.share_count, plan.group_order
    (442, 34, 670)
    """
    return _polya_plan(population, best_polya_shape(population, eps, delta), eps, delta, "exact", 1)


def _polya_plan(
    population: Population, n1: int, eps: float, delta: float, accounting: str, precision: int
) -> PolyaPlan:
    ratio = math.exp(-eps / precision)
    if not 0 < ratio < 1:
        raise Infeasible(f"eps / precision = {eps / precision!r} leaves no ratio in (0, 1) for the noise.")
    most = most_users(population)
    order = most * precision + 2 * polya_reach(most / n1, ratio, _WRAPS) + 1
    sigma = security_bits(eps, delta / 2)
    return PolyaPlan(n1, ratio, _shares(sigma, order, accounting), order, sigma, precision)


def _shares(sigma: float, order: int, accounting: str) -> int:
    return share_count(sigma, order, form="printed" if accounting == "printed" else "any_n")


def multi_expected_plan(
    population: Population,
    eps: Eps,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(SCALE_ACCOUNTINGS)] = "exact",
    order: Annotated[str, one_of(ORDER_FORMS)] = "safe",
) -> DiscreteGaussianPlan:
    """Return the parameters of MULTI-EXPECTED.

    Parameters
    ----------
    population : Law
        Number of *other* users. Populations without a law raise `Infeasible`.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1): one half for the noise, one half for the secure summation.
    accounting : {"printed", "exact"}
        As in :func:`multi_expected_scale`; ``printed`` also uses the printed number of shares.
    order : {"safe", "printed"}
        Form of :func:`group_order`; with ``printed``, sums can exceed the order of the group and wrap around.

    Returns
    -------
    DiscreteGaussianPlan
        With ``precision = ceil(sqrt(E[N]))``.

    Notes
    -----
    Source: Wang et al. 2023, Algorithms 1 and 2, Proposition 2. ``printed`` errs on the safe side. With ``exact`` the
    scale is an estimate without guarantee (:func:`multi_expected_scale`): deploy the protocol multi_expected, whose
    ``calibrate`` increases tau to meet the budget. Shares and group order are rounded up. Replacement neighbors.
    """
    law = as_law(population, "the expected delta")
    precision = math.ceil(math.sqrt(law.mean + 1))
    tau = multi_expected_scale(law, eps, delta, precision, accounting=accounting)
    q = group_order(law, precision, tau, form=order, failure=_WRAPS)
    sigma = security_bits(eps, delta / 2)
    return DiscreteGaussianPlan(precision, tau, _shares(sigma, q, accounting), q, sigma)
