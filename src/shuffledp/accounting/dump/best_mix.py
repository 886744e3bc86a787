"""The local budget of mixDUMP with the least error: how much of the hiding randomized reports do, and how much dummies.

A small local budget makes many reports uniform, so that few dummies are needed or none, and costs accuracy of every
report; a large one is pureDUMP. The paper fixes 8 nats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from shuffledp.accounting.dump.dummies import mix_dummy_count
from shuffledp.accounting.expected_errors.dump import dump_mse
from shuffledp.accounting.general.grr_blanket import blanket_local_budget
from shuffledp.numerics.argument_ranges import check_budget, check_count
from shuffledp.numerics.memoize import remember

_REMEMBERED = 1024
#: Nats above the largest budget with which reports suffice: what is tried first.
_FIRST = (0.0, 0.15, 0.3, 0.5, 0.8, 1.2, 2.0, 3.0, 5.0, 8.0)
#: Steps of the search from the best of them on, nats, and how many of each at most.
_STEPS, _MOST = (0.15, 0.05), 4
#: Budgets between eps and the largest under the printed theorem, whose formula is cheap.
_POINTS = 200


@dataclass(frozen=True)
class MixPlan:
    """Parameters of mixDUMP.

    Parameters
    ----------
    eps_local : float
        Budget of a report, nats.
    dummies : int
        In total.

    Notes
    -----
    Li et al. 2020, mixDUMP. Exact parameters.
    """

    eps_local: float
    dummies: int


def best_mix_plan(
    n: int, domain_size: int, eps: float, delta: float, *, accounting: str = "exact"
) -> MixPlan:
    """Return the local budget and the dummies of least error for uniform data, the mean over all values of any.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    domain_size : int
        Number of values k, >= 2.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    accounting : {"printed", "exact"}
        As in :func:`shuffledp.accounting.mix_dummy_count`.

    Returns
    -------
    MixPlan
        The dummies suffice for this budget, by :func:`shuffledp.accounting.mix_dummy_count`. The error is nearly the
        least: by a few budgets, and steps of down to 0.05 nats from the best of them. With few values that is pureDUMP
        but for a remainder of randomness in reports that costs nothing.

    Raises
    ------
    Infeasible
        As :func:`shuffledp.accounting.mix_dummy_count`.

    Notes
    -----
    Derived for this project; DUMP (arXiv 2009.13738) has a local budget of 8.
    """
    n = check_count("n", n, 1)
    domain_size = check_count("domain_size", domain_size, 2)
    eps, delta = check_budget(eps, delta)
    return _best(n, domain_size, eps, delta, accounting)


@remember(_REMEMBERED)
def _best(n: int, domain_size: int, eps: float, delta: float, accounting: str) -> MixPlan:
    plans: dict[float, MixPlan] = {}

    def error(eps_local: float) -> float:
        if eps_local not in plans:
            count = mix_dummy_count(n, domain_size, eps, delta, eps_local, accounting=accounting)
            plans[eps_local] = MixPlan(eps_local, count)
        return dump_mse(n, domain_size, plans[eps_local].dummies, eps_local=eps_local)

    if accounting == "printed":
        most = max(eps, math.log(n * domain_size)) + _FIRST[-1]
        return plans[min(np.linspace(eps, most, _POINTS).tolist(), key=error)]
    # Where reports alone suffice, the largest budget is best.
    least = blanket_local_budget(n, domain_size, eps, delta)
    best = min((least + more for more in _FIRST), key=error)
    for step in _STEPS:
        for _ in range(_MOST):
            found = min((max(best - step, least), best, best + step), key=error)
            if error(found) >= error(best):
                break
            best = found
    return plans[best]
