r"""PrivUnit under the privacy blanket: directions reported by caps of the sphere, shuffled.

The density of a report has two levels, the higher one on the cap of mass c around the own direction. No point lies in
all caps, so that the part common to all inputs is uniform on the sphere, with weight lambda: a report is uniform with
probability ``lambda`` and otherwise uniform in its cap, ``p = 1 - lambda + lambda c``. Among N uniform messages those
in the caps of two directions are counted; the less the caps overlap the more the counts show, since moving mass from
"both" and "neither" to "one of them" spreads the likelihood ratio about its mean. Opposite directions have disjoint
caps, ``c <= 1/2``, so they are the worst pair; their law is that of generalized randomized response over 1/c values,
of which there may be any real number.

Conventions: eps in nats; replacement neighbors; the adversary knows the inputs of all others and which of their reports
are uniform. Derived for this project.
"""

from __future__ import annotations

import math

from shuffledp.accounting.baselines.noisy_counts import gaussian_ratio
from shuffledp.accounting.expected_errors.unit_vectors import checked_cap, unit_vector_error
from shuffledp.accounting.general.dummy_blanket import blanket_rate
from shuffledp.accounting.general.grr_blanket import favored_local_budget
from shuffledp.numerics.argument_ranges import check_count, check_open_unit, check_positive

CAP_MASSES = (0.5, 0.2, 0.05, 0.02, 0.01, 0.004, 0.002, 0.001)
"""Masses that are scanned for the best one."""


def cap_probability(cap_mass: float, eps_local: float) -> float:
    """Return p, the probability of a report in the cap of its own direction, for a local budget.

    Parameters
    ----------
    cap_mass : float
        c in (0, 1/2].
    eps_local : float
        Nats, > 0: ``ln(p (1 - c) / ((1 - p) c))``.
    """
    _, c = checked_cap(2, cap_mass)
    return 1 / (1 + (1 - c) / c * math.exp(-check_positive("eps_local", eps_local)))


def privunit_local_budget(n: int, cap_mass: float, eps: float, delta: float) -> float:
    """Return the largest local budget with which n shuffled reports are (eps, delta)-private, in any dimension.

    Parameters
    ----------
    n : int
        Users, >= 1.
    cap_mass : float
        c in (0, 1/2].
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Nats, at least `eps`; a lower bound on the budget that could be spent.

    Notes
    -----
    Derived for this project, see the module's description; the exact blanket of 1/c values.
    """
    n = check_count("n", n, 1)
    _, c = checked_cap(2, cap_mass)
    return favored_local_budget(n, 1 / c, check_positive("eps", eps), check_open_unit("delta", delta))


def best_cap(n: int, dimension: int, eps: float, delta: float) -> tuple[float, float]:
    """Return the mass of the cap with the least error among :data:`CAP_MASSES`, and its local budget.

    Parameters
    ----------
    n : int
        Users, >= 1.
    dimension : int
        d >= 2.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).

    Notes
    -----
    Derived for this project: error of unit vectors under :func:`privunit_local_budget`. With many users
    ``lambda = 2 / (c n mu^2)``, where Gaussian noise with a ratio mu of sensitivity to deviation meets the budget: the
    cap that is best in this limit comes first, and from there on the next ones as long as the error falls.
    """
    check_count("dimension", dimension, 2)
    weight = 2 / (n * gaussian_ratio(eps, delta) ** 2)
    tried: dict[int, tuple[float, float]] = {}

    def error(c: float, uniform_rate: float) -> float:
        in_cap = 1 - uniform_rate * (1 - c)
        return unit_vector_error(n, dimension, c, in_cap) if c < in_cap < 1 else math.inf

    def worked_out(place: int) -> tuple[float, float]:
        if place not in tried:
            c = CAP_MASSES[place]
            budget = privunit_local_budget(n, c, eps, delta)
            tried[place] = (error(c, blanket_rate(1 / c, budget)), budget)
        return tried[place]

    limit = [error(c, min(weight / c, blanket_rate(1 / c, eps))) for c in CAP_MASSES]
    place = limit.index(min(limit))
    for step in (1, -1):
        while 0 <= place + step < len(CAP_MASSES) and worked_out(place + step) < worked_out(place):
            place += step
    return CAP_MASSES[place], worked_out(place)[1]
