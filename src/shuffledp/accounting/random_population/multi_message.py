"""Multi-message protocols for a random population: noise, number of messages and group order.

Three protocols sum bits or rounded numbers by secure summation
(:mod:`shuffledp.accounting.random_population.secure_sum`) of noisy values. Half of delta pays for the summation, the
other half for the noise:

MULTI-UNION
    Polya noise for n1 users, and there are at least n1 except with probability delta / 2.
MULTI-EXACT
    Polya noise for the largest n1 whose expected delta is at most delta / 2. Not in the paper.
MULTI-EXPECTED
    Discrete Gaussian noise whose expected delta is at most delta / 2.

Conventions: eps in nats, > 0; delta in (0, 1); populations describe N - 1, the users other than user 1, while every
number of users here, such as n1, counts user 1 as well; replacement of user 1's input. Source: Wang et al. 2023
(TPDS), Table II, Theorems 5 and 6, Lemmas 3 and 4, Proposition 2; "erratum E.." refers to the project's list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import numpy as np
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
from shuffledp.numerics.argument_guards import guarded_methods
from shuffledp.numerics.argument_ranges import Delta, Eps, FromOne, Positive, one_of
from shuffledp.numerics.argument_types import shown
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.roots import root_below
from shuffledp.populations import (
    Law,
    Population,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

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


def discrete_gaussian_gap(n: ArrayLike, tau: Positive) -> NDArray[np.float64]:
    """Return the distance of a sum of discrete Gaussian variables from a single one.

    Parameters
    ----------
    n : int or (w,) array_like of int
        Number of summands, at least 1.
    tau : float
        Scale of each, > 0.

    Returns
    -------
    () or (w,) ndarray
        ``S_n = sum_(k = 1)^(n - 1) exp(-2 pi^2 tau^2 k / (k + 1))``. The probabilities of the sum are within a factor
        ``e^(10 S_n)`` of the probabilities of a discrete Gaussian with variance parameter ``n tau^2``.

    Notes
    -----
    Source: Wang et al. 2023, Lemma 4, from Kairouz, Liu and Steinke (2021). Exact up to rounding; the factor is an
    upper bound.
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
    """Return sums of ``e^(-rate) e^(rate / m)`` over m beyond the enumerated ones, by powers of rate / m."""
    found = np.zeros(counts.shape)
    many = counts > _ENUMERATED
    if not np.any(many) or rate > 1000:  # e^-500 otherwise
        return found
    n = counts[many].astype(np.float64)
    total = (n - _ENUMERATED) + rate * (digamma(n + 1) - digamma(_ENUMERATED + 1))
    for power in range(2, 9):
        far = zeta(power, _ENUMERATED + 1) - zeta(power, n + 1)
        total += rate**power / math.factorial(power) * far
    found[many] = math.exp(-rate) * total
    return found


def multi_expected_delta(
    population: Population,
    tau: Positive,
    eps: Eps,
    precision: FromOne,
    *,
    accounting: Annotated[str, one_of(SCALE_ACCOUNTINGS)] = "exact",
) -> float:
    """Return the delta of a sum hidden by discrete Gaussian noise, averaged over the number of users.

    Parameters
    ----------
    population : Law
        Number of *other* users.
    tau : float
        Scale of the noise of one user, > 0.
    eps : float
        Nats, > 0.
    precision : int
        Largest value p of one user, the sensitivity of the sum, at least 1.
    accounting : {"printed", "exact"}
        As in :func:`multi_expected_scale`.

    Returns
    -------
    float
        ``E[delta_N]`` in [0, 1], of the noise alone.

    Raises
    ------
    Infeasible
        If `population` is not a law.

    Notes
    -----
    Source: Wang et al. 2023, Lemma 4 and Proposition 2, corrected for misprints. ``printed`` is an upper bound.
    ``exact`` is the hockey stick of a normal law and an estimate, no bound: lattice effects put it below or above the
    delta of the integers, see :func:`multi_expected_scale`. No guarantee of the library uses it: the protocol
    multi_expected adds up the laws of the integers. Replacement of one input, which changes the sum by at most p.
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
    """Return hockey sticks of Normal(mu, 1) and Normal(0, 1), with a factor e^gap between true and normal densities."""
    left = eps - 20 * gap  # negative for large gaps: then delta is near 1, as it must be
    upper = log_ndtr(mu / 2 - left / mu)
    ratio = np.minimum(left + log_ndtr(-mu / 2 - left / mu) - upper, 0.0)
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

    Parameters
    ----------
    population : Law
        Number of *other* users.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1); half of it is left for the secure summation.
    precision : int
        Largest value p of one user, at least 1.
    accounting : {"printed", "exact"}
        ``printed``: concentrated DP, Lemma 4 with its misprints put right (errata E19 and E21 to E23: a bracket that
        is not positive means delta = 1). ``exact``: the hockey stick of the normal law with the same variance. The
        discrete sum has lattice effects of the relative order ``(z / (tau sqrt(n)))^2`` in delta, z about 4, on
        either side: 2 % for one user at eps 0.5, below 0.01 % for a hundred, but three quarters for one user at eps
        4 and delta 0.1. It is no upper bound: use the tau of a calibrated ``get("frequency", "multi_expected")``,
        which increases until the sum over the laws of the integers meets delta.

    Returns
    -------
    float
        The smallest tau with ``2 E[delta_N] <= delta`` for this delta, rounded up by at most 1e-11 relative.

    Raises
    ------
    Infeasible
        If `population` is not a law.

    Notes
    -----
    Printed, with ``S_n`` as in :func:`discrete_gaussian_gap`: ``delta_n = exp(-z^2 / 2)`` for
    ``z = (eps - p^2 / (2 n tau^2) - 2.5 S_n) / (p / (tau sqrt(n)) + 10 S_n) > 0``, otherwise 1. Averaging is
    exact because the analyzer sees N anyway.

    Source: Wang et al. 2023, Lemma 4 and Proposition 2.

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


@guarded_methods
@dataclass(frozen=True)
class PolyaPlan:
    """Parameters of MULTI-UNION or MULTI-EXACT.

    Parameters
    ----------
    n1 : int
        Number of users whose noise together suffices; each adds the difference of two negative binomial variables of
        shape ``1 / n1``.
    ratio : float
        alpha of these variables, in (0, 1): ``e^(-eps / precision)``.
    share_count : int
        Messages per user, m.
    group_order : int
        Group order q: messages are integers modulo q.
    security_bits : float
        sigma of the secure summation.
    precision : int
        Largest value p of one user; 1 for bits.
    """

    n1: int
    ratio: float
    share_count: int
    group_order: int
    security_bits: float
    precision: int = 1

    @property
    def shape(self) -> float:
        """Shape of the noise of one user, ``1 / n1``."""
        return 1 / self.n1

    def noise_variance(self, n: ArrayLike) -> NDArray[np.float64]:
        """Return the variance of the noise of n users, in units of the rounded values."""
        return _users(n) * (2 * self.ratio / (1 - self.ratio) ** 2 / self.n1)


@guarded_methods
@dataclass(frozen=True)
class DiscreteGaussianPlan:
    """Parameters of MULTI-EXPECTED.

    Parameters
    ----------
    precision : int
        Largest value p of one user; numbers in [0, 1] are multiplied by it and rounded at random.
    tau : float
        Scale of the discrete Gaussian noise of one user, in units of the rounded values.
    share_count, group_order, security_bits
        As in :class:`PolyaPlan`.
    """

    precision: int
    tau: float
    share_count: int
    group_order: int
    security_bits: float

    def noise_variance(self, n: ArrayLike) -> NDArray[np.float64]:
        """Return ``n tau^2``, the variance of the noise of n users up to a factor ``1 - 1e-14`` for tau >= 2."""
        return _users(n) * self.tau**2


def _users(n: ArrayLike) -> NDArray[np.float64]:
    known = np.asarray(n, np.float64)
    if np.any(known < 0):
        raise ValueError(f"n must be at least 0, got {shown(n)}.")
    return known


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
        In (0, 1): one half for too few users, the other for the secure summation.
    accounting : {"printed", "corrected", "exact"}
        Form of :func:`population_lower_bound`. ``printed`` also takes the printed number of shares, the others one that
        is proven for any number of users.
    precision : int
        Largest value p of one user, at least 1.

    Returns
    -------
    PolyaPlan
        With a group order that is safe for the noise, an assumption: the paper states none for this protocol.

    Raises
    ------
    Infeasible
        If the population bounds one of the tails too weakly.

    Notes
    -----
    Wang et al. 2023, Theorem 5. With at least n1 users the noise is at least the noise of the two-sided geometric
    mechanism.

    With ``corrected`` and ``exact`` n1 exceeds the number of users with probability at most delta / 2; with ``printed``
    the probability can be larger, for a binomial population (erratum RP-E16). The other numbers are rounded up.
    Replacement neighbors.

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

    Parameters
    ----------
    population : Law
        Number of *other* users.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1): one half for the noise, see :func:`best_polya_shape`, the other for the secure summation.

    Returns
    -------
    PolyaPlan
        Of the largest n1 that half of delta allows, with a group order that is safe for the noise.

    Raises
    ------
    Infeasible
        If `population` is not a law.

    Notes
    -----
    Derived here; Wang et al. 2023, Theorem 5, has the protocol. The guarantee is an upper bound: delta of the noise is
    exact, averaged over the number of users, and never above delta / 2, while shares are rounded up. Replacement
    neighbors.

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
        Number of *other* users.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1): one half for the noise, the other for the secure summation.
    accounting : {"printed", "exact"}
        As in :func:`multi_expected_scale`; ``printed`` also takes the printed number of shares.
    order : {"safe", "printed"}
        Form of :func:`group_order`; the printed one can destroy the result.

    Returns
    -------
    DiscreteGaussianPlan
        With ``precision = ceil(sqrt(E[N]))``.

    Raises
    ------
    Infeasible
        If `population` is not a law.

    Notes
    -----
    Wang et al. 2023, Algorithms 1 and 2, Proposition 2.

    ``printed`` errs on the safe side; with ``exact`` the scale is an estimate and no guarantee, see
    :func:`multi_expected_scale`: deploy the protocol multi_expected, whose ``calibrate`` starts from this plan and
    raises tau where the integers need it. Shares and group order are rounded up. Replacement neighbors.
    """
    law = as_law(population, "the expected delta")
    precision = math.ceil(math.sqrt(law.mean + 1))
    tau = multi_expected_scale(law, eps, delta, precision, accounting=accounting)
    q = group_order(law, precision, tau, form=order, failure=_WRAPS)
    sigma = security_bits(eps, delta / 2)
    return DiscreteGaussianPlan(precision, tau, _shares(sigma, q, accounting), q, sigma)
