"""Number of hash cells and local budget of SOLH, shuffled optimal local hashing.

Every user draws a random hash of the k values to d' cells, and reports it with the cell of the user's value after
generalized randomized response (GRR). With probability ``lambda = d' / (e^eps_local + d' - 1)`` the cell is uniform;
the other users' reports with uniform cells are the blanket. Two accountings:

``printed``
    The blanket theorem of Balle, Bell, Gascon and Nissim 2019 (Theorem 3.1) with d' instead of k. The paper on dummies
    (arXiv 2009.13738) calibrates the method of Wang et al. 2020 by it: ``e^eps_local = mu - d' + 1`` with
    ``mu = eps^2 (n - 1) / (14 ln(2/delta))``, and ``d' = (mu + 2) / 3``.
``exact``
    The divergence itself (:mod:`shuffledp.accounting.general.matched_blanket`), averaged over the number of uniform
    reports, with the d' of least error.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all other users.
Hashes are assumed to be fully random functions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.matched_blanket import (
    BLOCKS,
    block_length,
    matched_rate,
    mixed_matched_delta,
)
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    FromOne,
    FromTwo,
    check_fields,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import binomial_window

#: Largest delta of the printed theorem: 14 ln(2/delta) / eps^2 has to exceed 27 / eps up to eps = 1.
_MOST_DELTA = 2 * math.exp(-27 / 14)
_XTOL = 1e-9
#: Largest local budget that is searched, in nats.
_MOST_BUDGET = 600.0
#: Blocks per standard deviation while searching for d'; the error is flat there.
_COARSE = 3
#: Relative step in d' at which the search ends.
_FINEST = 0.01


@dataclass(frozen=True)
class HashedReport:
    """Parameters of a local-hashing report: exact number of cells d' and local budget in nats (Wang et al. 2020)."""

    cells: FromOne
    eps_local: Eps

    def __post_init__(self) -> None:
        check_fields(self)


def solh_report(
    n: FromOne,
    domain_size: FromTwo,
    eps: Eps,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(("printed", "exact"))] = "exact",
    cells: FromTwo | None = None,
) -> HashedReport:
    """Return the number of cells and the local budget for which n shuffled reports are (eps, delta)-private.

    Source: Balle, Bell, Gascon and Nissim 2019, Theorem 3.1; ``exact`` is derived for this project.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    domain_size : int
        Number of values k, >= 2; only the best number of cells depends on it.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    accounting : {"printed", "exact"}
        See the module's description.
    cells : int, optional
        d', >= 2; the best d' if not given.

    Returns
    -------
    HashedReport
        Exact: the largest local budget, rounded down by at most 1e-9 relative, for a bound that is up to 1e-3 relative
        above delta. The error with the chosen d' is within 1e-3 relative of the least error.

    Raises
    ------
    Infeasible
        Printed: if eps > 1, ``delta > 2 e^(-27/14)``, or there are less than two cells or no local budget.

    Examples
    --------
    >>> from shuffledp.accounting import solh_report
    >>> report = solh_report(10_000, 100, 1.0, 1e-6, cells=64)
    >>> report.cells, round(report.eps_local, 3)
    (64, 5.709)
    """
    if accounting == "exact":
        return _exact_report(n, domain_size, eps, delta, cells)
    if eps > 1:
        raise Infeasible(f"The theorem holds for eps <= 1, got {eps!r}.")
    if delta > _MOST_DELTA:
        raise Infeasible(f"The theorem holds for delta <= {_MOST_DELTA:.6f}, got {delta!r}.")
    scale = eps * eps * (n - 1) / (14 * math.log(2 / delta))
    least = cells or 2
    # e^eps_local = scale - d' + 1 has to exceed 1.
    if scale <= least:
        raise Infeasible(
            f"{n} users amplify too little: eps^2 (n - 1) / (14 ln(2/delta)) = {scale:.4g} has to exceed {least}."
        )
    best = (scale + 2) / 3
    choices = [cells] if cells else sorted({max(2, math.floor(best)), max(2, math.ceil(best))})
    # As in the paper, of the two neighbors the one with the smaller leading term, which does not depend on k.
    chosen = max((d for d in choices if scale > d), key=lambda d: (scale - d) ** 2 * (d - 1))
    return HashedReport(chosen, math.log1p(scale - chosen))


@remember(4096)
def _exact_report(n: int, domain_size: int, eps: float, delta: float, cells: int | None) -> HashedReport:
    cells = cells or _best_cells(n, domain_size, eps, delta)
    guess = _exact_budget(n, cells, eps, delta, _COARSE, 1e-4)
    return HashedReport(cells, _exact_budget(n, cells, eps, delta, BLOCKS, _XTOL, guess))


def _best_cells(n: int, domain_size: int, eps: float, delta: float) -> int:
    """Return a number of cells d' with nearly the least error, by downhill steps of decreasing size from the printed
    d'.
    """
    errors: dict[int, float] = {}
    budget = math.log1p(math.exp(eps) + (n - 1) * eps * eps / (20 * math.log(2 / delta)))

    def error(cells: int) -> float:
        nonlocal budget
        if cells not in errors:
            budget = _exact_budget(n, cells, eps, delta, _COARSE, 1e-5, budget)
            errors[cells] = solh_mse(n, domain_size, cells, budget)
        return errors[cells]

    scale = math.exp(eps) + eps * eps * (n - 1) / (14 * math.log(2 / delta))
    best = max(2, round((scale + 2) / 3))
    factor = 2.0
    while True:
        step = max(1, round(best * (factor - 1)))
        for candidate in (best + step, max(2, min(best - 1, round(best / factor)))):
            if error(candidate) < error(best):
                best = candidate
                break
        else:
            if step == 1 or factor < 1 + _FINEST:
                return best
            factor = math.sqrt(factor)


@remember(4096)
def _exact_budget(
    n: int, cells: int, eps: float, delta: float, blocks: int, xtol: float, guess: float | None = None
) -> float:
    """Return the largest eps_local with delta at most `delta`, rounded down. An eps_local equal to eps always meets the
    budget.
    """
    tail = negligible(delta)

    def excess(log_budget: float) -> float:
        eps_local = math.exp(log_budget)
        rate = matched_rate(1 / cells, eps_local)
        messages, block = binomial_window(n - 1, rate, tail), block_length(n - 1, rate, blocks)
        value = mixed_matched_delta(messages, 1 / cells, eps, eps_local, tail, block=block)
        return log_ratio(value, delta)

    start = math.log(guess) if guess is not None else math.log(eps) + 0.1
    return math.exp(root_below(excess, start, math.log(eps), math.log(max(_MOST_BUDGET, 2 * eps)), xtol=xtol))


def solh_mse(n: FromOne, domain_size: FromTwo, cells: FromTwo, eps_local: Eps) -> float:
    """Return the expected squared error of a frequency, averaged over the values. The error is the same for all data.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    domain_size : int
        k, >= 2.
    cells : int
        d', >= 2.
    eps_local : float
        Nats, > 0.

    Returns
    -------
    float
        Exact for fully random hashes.

    Notes
    -----
    ``[q (1 - q) + (1 - p - q) (p - q) / k] / (n (p - q)^2)`` with ``q = 1/d'`` and
    ``p = e^eps_local / (e^eps_local + d' - 1)``.

    Source: Wang et al. 2017 (optimized local hashing), derived again with the part that depends on the frequencies.
    """
    q = 1 / cells
    decay = math.exp(-eps_local)
    keep = 1 / (1 + (cells - 1) * decay)
    gap = -math.expm1(-eps_local) * keep * (1 - q)
    return (q * (1 - q) + (1 - keep - q) * gap / domain_size) / (n * gap * gap)
