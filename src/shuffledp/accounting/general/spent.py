"""Search for the eps that a calibrated protocol uses of its budget, by its privacy profile."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.numerics.roots import root_below
from shuffledp.tasks import Budget

#: The spent eps is found to this relative precision, and never below the smallest.
PRECISION = 1e-3
#: Relative excess of a quick upper bound on delta, which moves eps by less than the precision, and the least delta for
#: which profiles have one.
EXCESS, BOUNDED = 0.01, 1e-20
#: Logarithms of ratios to delta: a negligible one, and a distant one.
ROUNDING, FAR = 1e-6, -20.0
#: Logarithm of the ratio to the budget at which the search ends.
LOWEST = 20.0
#: Value in place of a delta of 0 in the guess of a first step.
SMALLEST = 1e-30


def spent_epsilon(profile: PrivacyProfile | None, budget: Budget) -> float | None:
    """Return the smallest eps (nats) at which a profile is at most the budget's delta, too large by at most `PRECISION`
    relative. For a profile with a fast bound, the error is at most twice as large. The result exceeds the budget's eps
    if the profile does not meet the budget. The result is None without a profile, or if the profile cannot be
    evaluated.
    """
    if profile is None:
        return None
    excess = partial(_excess, lambda eps: float(np.max(profile.delta(eps))), budget.delta)
    bound = getattr(profile, "bound", None) if budget.delta >= BOUNDED else None
    quick = excess if bound is None else partial(_excess, partial(bound, excess=EXCESS), budget.delta)
    low = -math.log(budget.largest_eps)
    high = low + LOWEST
    slope = 2 * math.log(1 / max(budget.delta, SMALLEST))
    try:
        below = quick(low + PRECISION)
        if below <= 0:
            low += PRECISION
            # Evaluations may take seconds. Far below delta they do: begin where they are cheap. Nearby the loss is
            # about normal, with this derivative.
            step = 1.0 if below < FAR else -below / slope
            guess = low + max(step, PRECISION)
        elif quick(low) <= ROUNDING or (bound is not None and excess(low) <= ROUNDING):
            return budget.largest_eps  # nearly all of the budget, the usual case
        else:  # calibrated with a bound that does not hold
            while excess(low) > 0:
                low, high = low - math.log(2), low
                if low < -LOWEST:
                    return None
            guess = (low + high) / 2
        search = quick if below <= 0 else excess
        return math.exp(-root_below(search, guess, low, high, xtol=PRECISION, slope=slope))
    except Infeasible:
        return None


def _excess(profile: Callable[[float], float], delta: float, minus_log_eps: float) -> float:
    """Return the log of (delta at an eps / the budget's delta), which increases as eps falls."""
    profile_delta: Any = profile(math.exp(-minus_log_eps))
    if profile_delta == delta:
        return 0.0
    if profile_delta <= 0:
        return -math.inf
    return math.log(profile_delta / delta) if delta > 0 else math.inf
