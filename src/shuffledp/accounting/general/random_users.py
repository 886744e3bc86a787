"""Guarantees for a random number of users, from the guarantees for every fixed number.

Let ``delta_n(eps)`` hold, with parameters that do not depend on the number of participants, if n other users take part.

- *It does not grow with n.* The view with one more honest user is a randomized function of the view without this user:
  draw the user's messages, whose input the analyzer may know, and shuffle them in. Post-processing never increases a
  hockey-stick divergence. The same holds for noise that users add in shares: with more users the sum has additional
  independent noise.
- *The mean over n is the guarantee.* Under replacement neighbors the number of participants does not depend on user 1's
  input. If the view contains this number, the divergence of the two views is exactly ``E[delta_N(eps)]``, for the worst
  data set of the other users in every round. Otherwise the divergence is at most this mean, by convexity.
- *A stochastically smaller number is sufficient.* As ``delta_n`` does not grow with n, the mean may be taken over any
  law that N dominates. Several consecutive numbers may be replaced by the smallest of them. If only a bound on the
  lower tail is known, ``Pr[N - 1 < x] <= B(x)``, the law with the distribution function B is the smallest possible law.
  A law on two points gives a *tail bound with split delta*: ``delta <= Pr[N < n0] + delta_n0``.

Conventions: eps in nats; replacement neighbors; n counts the *other* users, as in :mod:`shuffledp.populations`. All
deltas are upper bounds. Derived for this project; the tail bound is from Wang et al. 2023, Section VI-A.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.numerics.argument_ranges import check_positive
from shuffledp.populations.base import Law, Population

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp.accounting.general.profiles import PrivacyProfile

#: Mass that may be left out of a law, relative to the delta that matters; and the most and least that is left out.
_OMITTED, _MOST_OMITTED, _LEAST_OMITTED = 1e-6, 1e-30, 1e-300
#: Failure probabilities at which a lower tail is read: per factor of 2, and near 1.
_PER_OCTAVE = 2
_LIKELY = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
#: Relative gap of a mean, where the refinement stops, and values of delta up to which it goes on.
_GAP = 4e-2
_MOST_VALUES = 64


@dataclass(frozen=True, eq=False)
class LeastNumbers:
    """Law of a number of other users that the true number dominates: increasing numbers and their masses, (m,) each.
    ``Pr[N - 1 < x] <= omitted + sum of the masses below x`` for every x. The omitted mass may lie anywhere and counts
    as 0 other users.
    """

    others: NDArray[np.int64]
    mass: NDArray[np.float64]
    omitted: float = 0.0

    def shortfall(self, others: int) -> float:
        """Return an upper bound on ``Pr[N - 1 < others]``."""
        below = int(np.searchsorted(self.others, others, side="left"))
        return min(float(np.sum(self.mass[:below])) + self.omitted, 1.0)

    @property
    def shortfalls(self) -> NDArray[np.float64]:
        """Bounds of :meth:`shortfall` for every number in `others`, (m,)."""
        return np.minimum(np.concatenate(([0.0], np.cumsum(self.mass)[:-1])) + self.omitted, 1.0)


def least_numbers(population: Population, delta: float) -> LeastNumbers:
    """Return the smallest law of the number of other users for a population. This is the population's law, if it has
    one. For a bound on the lower tail, it is a law on some points that every law with this lower tail dominates. Mass
    that the bound does not cover is on 0. Probabilities are resolved down to a thousandth of `delta`. Derived for this
    project.
    """
    delta = check_positive("delta", delta)
    if isinstance(population, Law):
        window = population.window(min(max(_OMITTED * delta, _LEAST_OMITTED), _MOST_OMITTED))
        return LeastNumbers(window.support, window.pmf, window.omitted)
    octaves = math.ceil(-math.log2(1e-3 * min(delta, 1.0)))
    return numbers_at(population, 2.0 ** (-np.arange(_PER_OCTAVE * octaves, 0, -1.0) / _PER_OCTAVE))


def numbers_at(population: Population, failures: NDArray[np.float64]) -> LeastNumbers:
    """Return a law of the number of other users that every law with the population's lower tail dominates. The tail is
    evaluated at `failures`, probabilities in (0, 1), and at some probabilities near 1; mass that the tail does not
    cover is on 0. Derived for this project.
    """
    failures = np.unique(np.append(failures, _LIKELY))
    reached = np.array([population.lower_bound(float(f)) for f in failures])
    # At least `reached` but for rounding: a count that is not below x is at least the next integer.
    points = np.maximum(np.ceil(reached - 1e-9 * (1 + reached)), 0.0).astype(np.int64)
    points = np.maximum.accumulate(points)
    mass = np.diff(np.append(failures, 1.0))
    others, place = np.unique(np.append(0, points), return_inverse=True)
    masses = np.bincount(place, weights=np.append(failures[0], mass))
    return LeastNumbers(others, masses.astype(np.float64))


def mixed_delta(
    delta_of: Callable[[int], float], numbers: LeastNumbers, *, gap: float = _GAP, enough: float = math.inf
) -> float:
    """Return an upper bound on the mean of a delta that does not grow with the number of other users. Consecutive
    numbers count as their smallest. The piece with the largest possible error is split until the bounds from both ends
    of all pieces are within `gap` relative. This takes several dozen values at most. A mean certainly above `enough` is
    not refined. Derived for this project.
    """
    gap = check_positive("gap", gap)
    others, total = numbers.others, np.append(0.0, np.cumsum(numbers.mass))
    size = others.size
    deltas: dict[int, float] = {}

    def value(index: int) -> float:
        if index not in deltas:
            deltas[index] = delta_of(int(others[index]))
        return deltas[index]

    def mass(start: int, stop: int) -> float:
        # The sum of few terms itself: a difference of cumulative sums loses the digits of small masses.
        return float(np.sum(numbers.mass[start:stop]) if stop - start <= 64 else total[stop] - total[start])

    pieces = {0: size}  # where each starts and stops; evaluated from below, where values matter and are fast
    while True:
        upper = sum(mass(start, stop) * value(start) for start, stop in pieces.items())
        off = {
            start: mass(start + 1, stop) * (value(start) - (deltas[stop] if stop < size else 0.0))
            for start, stop in pieces.items()
            if stop - start > 1
        }
        if sum(off.values()) <= gap * upper or len(deltas) >= _MOST_VALUES:
            break
        if upper - sum(off.values()) > enough:
            break
        # All pieces that matter at once, as they would be split one after the other anyway.
        most = max(off.values())
        for start in [s for s, distance in off.items() if distance >= 0.25 * most]:
            stop = pieces[start]
            middle = start + _halfway(others[start:stop], numbers.mass[start:stop])
            pieces[start], pieces[middle] = middle, stop
    if numbers.omitted > 0:
        upper += numbers.omitted * delta_of(0)
    return min(upper, 1.0)


def _halfway(others: NDArray[np.int64], mass: NDArray[np.float64]) -> int:
    """Return the place to cut a piece of two or more numbers: the first number of its upper part. The cut is midway
    between the middles of the piece's range and mass. If the piece spans several powers of 2, the cut is in the middle
    of the exponents, as delta is slow to compute for many users.
    """
    first, last = int(others[0]) + 1, int(others[-1]) + 1
    if last > 4 * first:
        middle = int(np.searchsorted(others + 1, math.sqrt(first * last)))
    else:
        below = np.cumsum(mass)
        middle = (int(np.searchsorted(below, 0.5 * below[-1])) + mass.size // 2) // 2
    return min(max(middle, 1), mass.size - 1)


def mean_delta(
    profile_for: Callable[[int], PrivacyProfile | None],
    numbers: LeastNumbers,
    eps: float,
    enough: float = math.inf,
) -> float:
    """Return an upper bound on the mean delta of a protocol over the number of users, at one eps (nats, >= 0).
    `profile_for` maps the number of all users, user 1 included, to a profile that is exact or an upper bound. If no
    guarantee is known, `profile_for` returns None. A mean certainly above `enough` is not refined.
    """

    def delta_of(others: int) -> float:
        profile = profile_for(others + 1)
        return 1.0 if profile is None else float(profile.delta(eps))

    return mixed_delta(delta_of, numbers, enough=enough)


@dataclass(frozen=True)
class Split:
    """Number of users (user 1 included), a bound on the probability of fewer users, and the remaining delta. The total
    delta is ``failure + (1 - failure) delta``.
    """

    users: int
    failure: float
    delta: float


def best_split(numbers: LeastNumbers, delta: float, *, noise_shares: bool = False) -> Split:
    """Return the number of users for a tail bound, and the remaining delta, for a total `delta`.

    With `noise_shares`, users add shares of one noise. The error then falls with the number of users and hardly depends
    on delta, so that the tail and the guarantee have half of delta each. Otherwise amplification needs about ``log(2 /
    delta)`` users for a given effect, and the split minimizes this measure. The result is valid for either value. Union
    bound: Wang et al. 2023, Section VI-A.
    """
    failures = numbers.shortfalls
    most = 0.5 * delta if noise_shares else delta
    fits = np.flatnonzero(failures < most)
    if not fits.size:  # some mass below every point: user 1 alone is certain
        return Split(1, 0.0, delta)
    users, failures = 1 + numbers.others[fits], failures[fits]
    remainders = (delta - failures) / (1 - failures)
    worth = users.astype(float) if noise_shares else users / np.log(2 / remainders)
    best = int(np.argmax(worth))
    if int(users[best]) == 1:
        return Split(1, 0.0, delta)
    return Split(int(users[best]), float(failures[best]), float(remainders[best]))
