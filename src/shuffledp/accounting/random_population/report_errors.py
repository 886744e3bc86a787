"""Error of single-message protocols for a random number of reports (Wang et al. 2023, equations 6 and 7)."""

from __future__ import annotations

import math
from typing import Annotated, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.argument_ranges import Count, Eps, one_of
from shuffledp.populations.base import Law

Objective = Literal["randomized_response", "laplace"]
OBJECTIVES: tuple[str, ...] = get_args(Objective)


def inverse_moments(law: Law) -> tuple[float, float]:
    """Return ``(E[1 / N], E[1 / N^2])`` for the number N of participants, user 1 included.

    Parameters
    ----------
    law : Law
        Number of other users, N - 1.

    Returns
    -------
    tuple of float
        Exact up to omitted mass, at most 1e-30 on either side. Source: Wang et al. 2023, equation (6).
    """
    window = law.window()
    n = window.support + 1.0
    return float(window.pmf @ (1 / n)), float(window.pmf @ (1 / n**2))


def error_factor(law: Law, dummies: Count, *, adaptive: bool = False, stray_factor: bool = False) -> float:
    """Return the factor of the squared error that depends on the number of reports, ``E[(n + D) / n^2]``.

    Parameters
    ----------
    law : Law
        Number of other users; ``n = 1 + (N - 1)``.
    dummies : int
        Number k of dummies: ``D = k``, or, if adaptive, ``D = max(k - n, 0)`` as in equation (7). The protocol brings
        the *other* users up to k, so that it adds one dummy more if it adds any. This changes the error by at most 1/n
        relative.
    adaptive : bool
    stray_factor : bool
        For adaptive dummies, ``E[1 / n] + k E[max(k - n, 0) / n^2]``, with the printed factor k of equation (7)
        (erratum RP-E15).

    Returns
    -------
    float
        Bracket of equation (6) or (7) of Wang et al. 2023; exact up to omitted mass, at most 1e-30 on either side.
    """
    return float(_error_factors(law, np.array([dummies]), adaptive, stray_factor)[0])


def _error_factors(
    law: Law, dummies: NDArray[np.int64], adaptive: bool, stray_factor: bool
) -> NDArray[np.float64]:
    window = law.window()
    n = window.support + 1.0
    inverse, square = window.pmf / n, window.pmf / n**2
    if not adaptive:
        return np.asarray(np.sum(inverse) + dummies * np.sum(square))
    # In the first `filled` entries of the window at most k users take part, and n + D = k.
    filled = np.clip(dummies - window.start, 0, n.size)
    below = np.concatenate(([0.0], np.cumsum(inverse)))[filled]
    below_square = np.concatenate(([0.0], np.cumsum(square)))[filled]
    if stray_factor:
        return np.asarray(np.sum(inverse) + dummies * np.maximum(dummies * below_square - below, 0))
    above = np.concatenate((np.cumsum(inverse[::-1])[::-1], [0.0]))[filled]
    return np.asarray(dummies * below_square + above)


def report_variance(
    eps_local: Eps, objective: Annotated[str, one_of(OBJECTIVES)] = "randomized_response"
) -> float:
    """Return the variance that one report adds to the estimate.

    Parameters
    ----------
    eps_local : float
        Nats, > 0.
    objective : {"randomized_response", "laplace"}
        ``randomized_response``: ``E / (E - 1)^2``, for the unbiased estimate of one bit. ``laplace``:
        ``1 / eps_local^2``.

    Returns
    -------
    float
        Exact; for ``laplace`` up to a constant factor. Source: Wang et al. 2023, equation (6), corrected (erratum E14).
    """
    if objective == "laplace":
        return 1 / eps_local**2
    return math.exp(-eps_local) / math.expm1(-eps_local) ** 2
