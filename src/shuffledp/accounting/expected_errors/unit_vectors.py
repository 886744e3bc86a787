r"""Directions that are reported by caps of the sphere (PrivUnit): geometry, scale and error.

A cap of mass c around a direction v holds the unit vectors whose inner product with v is at least gamma. A report is
uniform in the cap of its own direction with probability `in_cap`, and uniform outside of it otherwise; divided by
``m = E <report, v>`` it is unbiased. Under the uniform law of the sphere the square of an inner product has the law
Beta(1/2, (d - 1) / 2).
"""

from __future__ import annotations

import math

from scipy.special import betaincc, betaincinv, betaln

from shuffledp.numerics.argument_ranges import check_count, check_open_unit


def cap_height(dimension: int, cap_mass: float) -> float:
    """Return gamma, the least inner product within a cap.

    Parameters
    ----------
    dimension : int
        d >= 2.
    cap_mass : float
        c in (0, 1/2]: half of the sphere is the largest cap.

    Returns
    -------
    float
        In [0, 1), the root of ``c = I_{1 - gamma^2}((d - 1) / 2, 1/2) / 2``.

    Notes
    -----
    Bhowmick, Duchi, Freudiger, Kapoor and Rogers (2018), PrivUnit.
    """
    d, c = checked_cap(dimension, cap_mass)
    return math.sqrt(float(betaincinv(0.5, (d - 1) / 2, 1 - 2 * c)))


def report_mean(dimension: int, cap_mass: float, in_cap: float) -> float:
    """Return m, the mean inner product of a report and its direction.

    Parameters
    ----------
    dimension, cap_mass
        As in :func:`cap_height`.
    in_cap : float
        Probability of a report in the cap, in (cap_mass, 1).

    Returns
    -------
    float
        ``t (p / c - (1 - p) / (1 - c))`` with ``t = (1 - gamma^2)^((d - 1) / 2) / ((d - 1) B(1/2, (d - 1) / 2))``.

    Notes
    -----
    Bhowmick et al. (2018); the integral of the inner product over a cap.
    """
    d, c = checked_cap(dimension, cap_mass)
    p = check_open_unit("in_cap", in_cap)
    gamma = cap_height(d, c)
    half = (d - 1) / 2
    inner = math.exp(half * math.log1p(-gamma * gamma) - math.log(d - 1) - float(betaln(0.5, half)))
    return inner * (p - c) / (c * (1 - c))


def report_square(dimension: int, cap_mass: float, in_cap: float) -> float:
    """Return the mean square of the inner product of a report and its direction.

    Parameters
    ----------
    dimension, cap_mass, in_cap
        As in :func:`report_mean`.

    Returns
    -------
    float
        In (0, 1).

    Notes
    -----
    Derived for this project: ``s`` times the density of Beta(1/2, (d - 1) / 2) is 1/d times that of
    Beta(3/2, (d - 1) / 2).
    """
    d, c = checked_cap(dimension, cap_mass)
    p = check_open_unit("in_cap", in_cap)
    within = float(betaincc(1.5, (d - 1) / 2, cap_height(d, c) ** 2)) / (2 * d)
    return p / c * within + (1 - p) / (1 - c) * (1 / d - within)


def unit_vector_error(n: int, dimension: int, cap_mass: float, in_cap: float) -> float:
    """Return the expected squared l2 error of the mean of n unit vectors.

    Parameters
    ----------
    n : int
        Users, >= 1.
    dimension, cap_mass, in_cap
        As in :func:`report_mean`.

    Returns
    -------
    float
        Exact, ``(1 / m^2 - 1) / n``, whatever the unit vectors are.

    Notes
    -----
    Derived for this project: a scaled report has norm 1 / m and the right mean. A vector of norm r < 1 is sent as its
    direction or the opposite one, with probabilities ``(1 + r) / 2`` and ``(1 - r) / 2``; then ``1 / m^2 - r^2`` takes
    the place of ``1 / m^2 - 1``.
    """
    users = check_count("n", n, 1)
    return (report_mean(dimension, cap_mass, in_cap) ** -2 - 1) / users


def checked_cap(dimension: int, cap_mass: float) -> tuple[int, float]:
    """Return dimension and mass of a cap, if there is such a cap.

    Raises
    ------
    ValueError
        If there are fewer than two dimensions, or the mass is not in (0, 1/2].
    """
    d, c = check_count("dimension", dimension, 2), check_open_unit("cap_mass", cap_mass)
    if c > 0.5:
        raise ValueError(f"cap_mass must be in (0, 1/2], got {cap_mass!r}.")
    return d, c
