"""Bound on the largest number of messages of any user, for unbounded random numbers of messages.

The number is compound Poisson: independently, a user sends j messages at once at the rate ``rates[j]``. Poisson,
negative binomial and this project's noises with jumps are of this kind, and so are their sums and multiples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.argument_ranges import check_open_unit, check_positive

#: Probability with which at least one user sends more than the stated number.
RARE = 1e-6
#: Least and largest number of messages for which a law is computed, and their smallest ratio to Chernoff's bound.
_LEAST, _MOST, _ROOM = 2**10, 2**20, 4
#: Range of the logs of tilts. Any tilt gives a bound; the best tilt gives the least bound.
_TILTS = -50.0, 6.5


class CompoundPoisson(Protocol):
    """A random number of messages, the sum of independent jumps."""

    def rates(self, size: int) -> NDArray[np.float64]:
        """Return the rates of jumps by 0, 1, .., at most `size` entries; omitted rates below `size` are negligible."""
        ...

    def log_moment(self, tilt: float) -> float:
        """Return ``log E e^(tilt N)`` or an upper bound on it; infinity if the expectation is infinite."""
        ...


@dataclass(frozen=True)
class PoissonMessages:
    """A Poisson number of messages, sent one by one."""

    mean: float

    def rates(self, size: int) -> NDArray[np.float64]:
        """Return the rates 0 and `mean` of jumps by 0 and by 1, (2,)."""
        return np.array([0.0, self.mean])[:size]

    def log_moment(self, tilt: float) -> float:
        """Return ``mean (e^tilt - 1)``."""
        return self.mean * math.expm1(tilt)


def most_sent(parts: Sequence[CompoundPoisson], share: float, users: float, *, failure: float = RARE) -> int:
    """Return the smallest number of messages that any user exceeds with a probability of at most `failure`.

    All users together send the sum of the independent `parts`. The rates of one user are `share` times the rates of
    `parts`. The users' numbers need not be independent, because the result uses the union bound. If Chernoff's bound on
    the number is above 262,144 messages, Chernoff's bound is returned. It is 1.3 times the number for geometric
    messages, and 2.7 times if one in a thousand users sends messages.

    The law follows from one Fourier transform, tilted by half of the tilt of Chernoff's bound. The relevant tail is
    then far above rounding, and the mass beyond the end of the transform is far below this tail.
    """
    allowed = math.log(check_open_unit("failure", failure)) - math.log(check_positive("users", users))
    if not any(part.log_moment(1e-9) > 0 for part in parts):
        return 0

    def log_moment(tilt: float) -> float:
        return share * sum(part.log_moment(tilt) for part in parts)

    tilt = _best_tilt(lambda tilt: (log_moment(tilt) - allowed) / tilt)
    bound = math.floor((log_moment(tilt) - allowed) / tilt)
    if _ROOM * bound > _MOST:
        return bound
    size = max(_LEAST, 1 << (_ROOM * bound).bit_length())
    tilt /= 2
    rates = np.zeros(size)
    for part in parts:
        part_rates = part.rates(size)
        rates[: part_rates.size] += share * part_rates
    rates[0] = 0.0
    some = np.flatnonzero(rates)
    tilted = np.zeros(size)
    tilted[some] = np.exp(np.log(rates[some]) + tilt * some)
    law = np.fft.irfft(np.exp(np.fft.rfft(tilted) - tilted.sum()), size)
    moment = float(np.sum(tilted) - np.sum(rates))
    untilted = np.exp(np.minimum(moment - allowed - tilt * np.arange(size), 700.0))
    above = np.cumsum((np.maximum(law, 0.0) * untilted)[:0:-1])[
        ::-1
    ]  # Pr[more than 0, 1, ..] over the allowed
    return int(np.count_nonzero(above > 1))


def _best_tilt(bound: Callable[[float], float]) -> float:
    """Return the tilt at which Chernoff's bound is least, to 1e-6 relative."""
    from scipy.optimize import minimize_scalar  # slow to import, and seldom needed

    def value(log_tilt: float) -> float:
        return math.log(min(bound(math.exp(log_tilt)), 1e300))

    best = minimize_scalar(value, bounds=_TILTS, method="bounded", options={"xatol": 1e-6})
    return math.exp(float(best.x))
