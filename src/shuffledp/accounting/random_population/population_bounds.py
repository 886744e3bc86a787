"""Lower bounds on the number of users, except with a given probability (Wang et al. 2023, Section VI-A)."""

from __future__ import annotations

import math
from typing import Annotated, Literal, get_args

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.argument_ranges import Delta, NonNegative, one_of
from shuffledp.populations.base import Fixed, Law, Population
from shuffledp.populations.bounds import MomentBounded, SubExponential, SubGaussian
from shuffledp.populations.laws import Binomial, Poisson

BoundForm = Literal["printed", "corrected", "exact"]


BOUND_FORMS: tuple[str, ...] = get_args(BoundForm)


def population_lower_bound(
    population: Population, delta: Delta, *, form: Annotated[str, one_of(BOUND_FORMS)] = "exact"
) -> float | int:
    """Return a lower bound on the number of users. The bound fails with probability at most delta.

    Parameters
    ----------
    population : Population
        Number of *other* users.
    delta : float
        In (0, 1).
    form : {"printed", "corrected", "exact"}
        ``printed``: Table II; not valid for a binomial law with a rate below about 0.38 (erratum E16), nor for
        :class:`SubGaussian` with a variance proxy as scale. ``corrected``: Chernoff, Cantelli and the definitions of
        the populations; always valid. ``exact``: the largest integer n1 with ``Pr[N >= n1] >= 1 - delta``, for
        :class:`MomentBounded` under every law with these moments; `Infeasible` for other bounds.

    Returns
    -------
    float or int
        Bound on N, user 1 included, at least 1; an int if exact.

    Notes
    -----
    With L = log(1 / delta), mu = E[N - 1], and user 1 included in n':

    ============== ============================== ==================================
    law            printed                        corrected
    ============== ============================== ==================================
    Binomial       n'a - sqrt(n'a L) + 1          mu - sqrt(2 mu L) + 1
    Poisson        mu - sqrt(3 mu L) + 1          mu - sqrt(2 mu L) + 1
    SubGaussian    mu - sqrt(scale^2 L) + 1       mu - sqrt(2 variance L) + 1
    SubExponential mu - log(a / delta) / b + 1    the same
    others         mu - sqrt(variance/delta) + 1  mu - sqrt(variance (1/delta - 1)) + 1
    ============== ============================== ==================================

    For a :class:`Fixed` population, every form is the number of users. Source: Wang et al. 2023, Table II.
    ``corrected`` and ``exact`` are lower bounds on N for every population that they accept; ``exact`` is the largest
    such integer.

    Examples
    --------
    >>> from shuffledp.accounting import population_lower_bound
    >>> from shuffledp.populations import Binomial
    >>> population_lower_bound(Binomial(9_999, 0.5), delta=1e-6)
    4763
    >>> round(population_lower_bound(Binomial(9_999, 0.5), delta=1e-6, form="corrected"), 1)
    4628.8
    """
    if isinstance(population, Fixed):
        return population.others + 1
    if form == "exact":
        return _exact_lower_bound(population, delta)
    log_inverse = -math.log(delta)
    if form == "printed":
        bound = _printed_others(population, delta, log_inverse)
    elif isinstance(population, (Binomial, Poisson)):
        bound = population.mean - math.sqrt(2 * population.mean * log_inverse)
    elif isinstance(population, (SubGaussian, SubExponential)):
        bound = population.lower_bound(delta)
    else:
        bound = population.mean - math.sqrt(population.variance * (1 / delta - 1))
    return max(1.0, bound + 1)


def _printed_others(population: Population, delta: float, log_inverse: float) -> float:
    """Return the bound of Table II without its final + 1."""
    mean = population.mean
    if isinstance(population, Binomial):
        mean += population.rate  # n' counts user 1
        return mean - math.sqrt(mean * log_inverse)
    if isinstance(population, Poisson):
        return mean - math.sqrt(3 * mean * log_inverse)
    if isinstance(population, SubGaussian):
        return mean - math.sqrt(population.scale**2 * log_inverse)
    if isinstance(population, SubExponential):
        return mean - math.log(population.a / delta) / population.b
    return mean - math.sqrt(population.variance / delta)


def _exact_lower_bound(population: Population, delta: float) -> int:
    if isinstance(population, Law):
        return 1 + int(population.lower_bound(delta))
    if not isinstance(population, MomentBounded):
        raise _only_a_tail(population)
    bound = 1 + math.floor(population.lower_bound(delta))  # Cantelli; integers do slightly better
    while population_shortfall(population, bound + 1) <= delta:
        bound += 1
    return bound


def population_shortfall(population: Population, bound: NonNegative) -> float:
    """Return the probability that the number of users is below a bound.

    Parameters
    ----------
    population : Population
        Number of *other* users; `Infeasible` for :class:`SubGaussian` and :class:`SubExponential`.
    bound : float
        Finite, at least 0; includes user 1.

    Returns
    -------
    float
        ``Pr[N < bound]``, too small by at most 1e-29; for :class:`MomentBounded`, the largest value over all laws on
        the integers with these moments.

    Notes
    -----
    For moments, let k be the largest number of other users below the bound. A parabola with the value 1 at k and 0 at
    two consecutive integers j, j + 1 > k is an upper bound on the indicator of N - 1 <= k, hence
    ``Pr[N - 1 <= k] <= (variance + (mean - j)(mean - j - 1)) / ((j - k)(j + 1 - k))``. A law on k, j and j + 1 attains
    the smallest of these bounds. On the real line the bound is Cantelli's inequality.

    Derived for this project. Exact for a law up to the error above; an upper bound for every law with these moments.
    """
    missing = math.ceil(bound) - 1  # N < bound exactly if N - 1 < missing
    if isinstance(population, Law):
        window = population.window()
        return min(float(np.sum(window.pmf[: max(0, missing - window.start)])), 1.0)
    if not isinstance(population, MomentBounded):
        raise _only_a_tail(population)
    if missing <= 0:
        return 0.0
    gap = population.mean - (missing - 1)
    if gap <= 0:
        return 1.0
    middle = math.floor(population.variance / gap + gap - 0.5)
    steps = np.maximum(middle + np.arange(-2.0, 4.0), 1.0)
    ratios = (population.variance + (gap - steps) * (gap - steps - 1)) / (steps * (steps + 1))
    return min(max(float(np.min(ratios)), 0.0), 1.0)


def _only_a_tail(population: Population) -> Infeasible:
    name = type(population).__name__
    return Infeasible(f"{name} bounds a tail only, which does not determine an exact value; use corrected.")
