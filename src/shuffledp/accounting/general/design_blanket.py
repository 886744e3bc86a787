r"""Privacy blanket of reports that are points of a finite set, from two numbers.

Every value x favors a set of points ``S_x``. A report is a point of ``S_x`` with E times the probability of any other
point, ``E = e^eps_local``. The **share** r is the part of all points that a value favors, and the **overlap** s is the
part that two values favor both. With probability ``lambda = 1 / (1 + r (E - 1))`` a report is a uniform point, whatever
the value. These two numbers determine the blanket of Balle et al. 2019, whose delta
:mod:`shuffledp.accounting.general.matched_blanket` evaluates. Delta falls with the overlap. If the overlaps of pairs of
values differ, the smallest overlap gives an upper bound.

* Generalized randomized response: ``r = 1/k``, ``s = 0``.
* Subsets of d of k values: ``r = d/k``, ``s = r (d - 1)/(k - 1)``.
* Hash functions with q cells: ``r = 1/q``, ``s = 1/q^2``.
* Points of a projective space: see :mod:`shuffledp.protocols.frequency.pgr`.
* Rows of Hadamard matrices: see :mod:`shuffledp.protocols.frequency.hadamard_response`.

Replacement neighbors; the adversary knows the inputs of all other users, and which of their reports are uniform.
Derived for this project.
"""

from __future__ import annotations

import math

from shuffledp.accounting.general.matched_blanket import blanketed_delta
from shuffledp.accounting.general.matched_contour import MOST_BUDGET, contour_budget, contour_delta
from shuffledp.numerics.argument_ranges import Delta, Eps, FromOne, NonNegative, OpenUnit, check_between
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio
from shuffledp.numerics.roots import root_below

#: Number of reports from which a contour is faster than a table.
_MANY = 64
#: Largest local budget in nats that is searched with a table, and the tolerance of its log.
_MOST_TABLE_BUDGET, _XTOL = 600.0, 1e-8


def _check_overlap(share: float, overlap: float) -> None:
    check_between("overlap", overlap, max(0.0, 2 * share - 1), share)


def design_delta(
    n: FromOne, eps_local: Eps, share: OpenUnit, overlap: NonNegative, eps: NonNegative
) -> float:
    """Return an upper bound on delta of n shuffled reports that are points of a finite set.

    Source: the blanket of Balle et al. 2019, evaluated for this project.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    eps_local : float
        Local budget of a report, nats, > 0.
    share : float
        Part r of the points that a value favors, in (0, 1).
    overlap : float
        Smallest part s of the points that two values favor both, in [max(0, 2 r - 1), r].
    eps : float
        Nats, >= 0.

    Returns
    -------
    float
        Delta of the blanket, at most 1e-6 relative too large.

    Raises
    ------
    ValueError
        If the overlap is impossible for the share.

    Examples
    --------
    >>> from shuffledp.accounting import design_delta
    >>> round(design_delta(3, 2.0, 3 / 7, 1 / 7, 0.8), 6)
    0.297505
    """
    _check_overlap(share, overlap)
    if n >= _MANY and eps_local <= MOST_BUDGET:
        return contour_delta(eps, n - 1, share, eps_local, overlap)
    return blanketed_delta(eps, n - 1, share, eps_local, both_rate=overlap)


def design_local_budget(n: FromOne, eps: Eps, delta: Delta, share: OpenUnit, overlap: NonNegative) -> float:
    """Return a lower bound on the largest local budget for which :func:`design_delta` is at most delta.

    Source: the blanket of Balle et al. 2019, evaluated for this project.

    Parameters
    ----------
    n, share, overlap
        As in :func:`design_delta`.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Nats, at least `eps`, because local privacy with the budget `eps` is sufficient. Rounded down by at most 1e-6
        relative.

    Raises
    ------
    ValueError
        If the overlap is impossible for the share.

    Examples
    --------
    >>> from shuffledp.accounting import design_local_budget
    >>> round(design_local_budget(100_000, 1.0, 1e-8, 38 / 1407, 1 / 1407), 5)
    7.43118
    """
    rough = rough_local_budget(n, eps, delta, share, overlap)
    return contour_budget(n - 1, share, overlap, eps, delta, guess=rough) if n >= _MANY else rough


@remember(1024)
def rough_local_budget(n: int, eps: float, delta: float, share: float, overlap: float) -> float:
    """Return a local budget up to 1e-4 relative below the largest budget, for comparisons of designs."""
    _check_overlap(share, overlap)
    if n >= _MANY:
        return contour_budget(n - 1, share, overlap, eps, delta, rough=True)

    def excess(log_budget: float) -> float:
        return log_ratio(blanketed_delta(eps, n - 1, share, math.exp(log_budget), both_rate=overlap), delta)

    low, high = math.log(eps), math.log(max(_MOST_TABLE_BUDGET, 2 * eps))
    return math.exp(root_below(excess, low + 0.1, low, high, xtol=_XTOL))
