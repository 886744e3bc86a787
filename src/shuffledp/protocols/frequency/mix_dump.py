"""mixDUMP: randomized values among dummies from all users.

With a small local budget many reports are uniform, so that few or no dummies are needed, and every report is less
accurate. With a large local budget it is nearly pureDUMP. The paper (arXiv 2009.13738) fixes 8 nats. ``best`` is the
budget of nearly the least error for uniform data, which is the mean error over all values for any data. The search
tries a few budgets, then steps of down to 0.05 nats from the best budget. For few values the result is nearly pureDUMP,
with a remaining randomness of reports that does not increase the error. Derived for this project.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np

from shuffledp.accounting.dump.dummies import mix_dummy_count
from shuffledp.accounting.dump.errors import dump_mse
from shuffledp.accounting.general.grr_blanket import blanket_local_budget
from shuffledp.guarantees import UPPER, under
from shuffledp.numerics.argument_ranges import check_choice, check_positive
from shuffledp.numerics.memoize import remember
from shuffledp.protocols.frequency._dummy_points import FixedDummies
from shuffledp.protocols.request import Request

#: First values of the search, in nats above the largest budget with which reports alone suffice.
_FIRST = (0.0, 0.15, 0.3, 0.5, 0.8, 1.2, 2.0, 3.0, 5.0, 8.0)
#: Step sizes of the search from the best first value, in nats, and the largest number of steps of each size.
_STEPS, _MOST = (0.15, 0.05), 4
#: Number of budgets between eps and the largest budget under the printed theorem, whose formula is cheap.
_POINTS = 200


@remember(1024)
def best_mix_plan(
    n: int, domain_size: int, eps: float, delta: float, *, accounting: str = "exact"
) -> tuple[float, int]:
    """Return the local budget (nats) of the least error, and the sufficient total number of dummies."""

    @cache
    def dummies(eps_local: float) -> int:
        return mix_dummy_count(n, domain_size, eps, delta, eps_local, accounting=accounting)

    def error(eps_local: float) -> float:
        return dump_mse(n, domain_size, dummies(eps_local), eps_local=eps_local)

    if accounting == "printed":
        most = max(eps, math.log(n * domain_size)) + _FIRST[-1]
        best = min(np.linspace(eps, most, _POINTS).tolist(), key=error)
        return best, dummies(best)
    # Where reports alone suffice, the largest budget is best.
    least = blanket_local_budget(n, domain_size, eps, delta)
    best = min((least + increase for increase in _FIRST), key=error)
    for step in _STEPS:
        for _ in range(_MOST):
            nearest = min((max(best - step, least), best, best + step), key=error)
            if error(nearest) >= error(best):
                break
            best = nearest
    return best, dummies(best)


@dataclass(frozen=True)
class MixDump(FixedDummies):
    """Reports of generalized randomized response, and dummies in equal numbers from all users."""

    name = "mix_dump"
    task_kind = "frequency"
    label = "mixDUMP"
    source = "Li et al. 2020, Theorem 5.6"
    guarantees = under(printed=UPPER, exact=UPPER)

    @classmethod
    def fit(cls, request: Request, *, eps_local: float | str = 8.0) -> Self:
        """Find the smallest total number of dummies, with uniform reports of budget ``eps_local`` (nats) besides.

        ``printed`` is Theorem 5.6, for eps <= 1, ``exact`` the hockey stick, averaged over the number of uniform
        reports. ``eps_local="best"`` has the least error; for ``eps_local <= eps`` no dummies are needed, and delta may
        be 0.
        """
        n, k, eps = request.n, request.k, request.eps
        if isinstance(eps_local, str):
            check_choice(f"{cls.name}: eps_local", eps_local, ("best",))
            return cls(n, k, *best_mix_plan(n, k, eps, request.delta, accounting=request.accounting))
        eps_local = check_positive(f"{cls.name}: eps_local", eps_local)
        if eps_local <= eps:
            return cls(n, k, eps_local, 0)
        total = mix_dummy_count(n, k, eps, request.delta, eps_local, accounting=request.accounting)
        return cls(n, k, eps_local, total)
