r"""Guarantees for a random number of users, from the guarantees for every fixed number.

Let ``delta_n(eps)`` hold, with parameters that do not depend on the number of participants, when n others take part.

- *It does not grow with n.* A shuffler's view with one more honest user is a randomized function of the view without:
  draw the messages of that user, whose input the analyzer may know, and shuffle them in. Post-processing never
  increases a hockey-stick divergence. The same holds for noise that users add in shares: with more users the sum has
  additional independent noise.
- *The mean over n is the guarantee.* Under replacement neighbors the number of participants does not depend on what
  user 1 holds. If the view contains it, the divergence of the two views is exactly ``E[delta_N(eps)]``, for the worst
  data set of the others in every round; otherwise the divergence is at most this mean, by convexity.
- *A stochastically smaller number is enough.* As ``delta_n`` does not grow with n, the mean may be taken over any law
  that N dominates. Consecutive numbers may be put together and counted as the smallest of them; and of a population
  that is known by a lower tail only, ``Pr[N - 1 < x] <= B(x)``, the law with the distribution function B is the
  smallest possible one. A law of two points is a *tail bound with split delta*: ``delta <= Pr[N < n0] +
  delta_n0``.

Conventions: eps in nats; replacement neighbors; n counts the *others*, as in :mod:`shuffledp.populations`. All
deltas are upper bounds. Derived for this project; the tail bound is from Wang et al. 2023, Section VI-A.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.numerics.argument_ranges import check_positive
from shuffledp.populations import Law, Population

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
    """A law of the number of other users that the true number dominates.

    Parameters
    ----------
    others : (m,) ndarray of int
        Increasing numbers of other users, at least 0.
    mass : (m,) ndarray
        Probability of each.
    omitted : float
        Omitted mass; it may lie anywhere, and counts as a population without other users.

    Notes
    -----
    ``Pr[N - 1 < x] <= omitted + sum of the masses below x`` for every x. Exact for a law, apart from the omitted mass.
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
        """:meth:`shortfall` of all `others`, (m,)."""
        return np.minimum(np.concatenate(([0.0], np.cumsum(self.mass)[:-1])) + self.omitted, 1.0)


def least_numbers(population: Population, delta: float) -> LeastNumbers:
    """Return the smallest law of the number of other users that a population allows.

    Parameters
    ----------
    population : Population
        Number of *other* users.
    delta : float
        In (0, 1); probabilities are resolved down to a thousandth of it.

    Returns
    -------
    LeastNumbers
        The population's law if it has one. For a lower tail bound a law on some points, which every law with this lower
        tail dominates; mass that the bound does not cover is on 0.

    Notes
    -----
    Derived for this project; errs on the side of fewer users.
    """
    delta = check_positive("delta", delta)
    if isinstance(population, Law):
        window = population.window(min(max(_OMITTED * delta, _LEAST_OMITTED), _MOST_OMITTED))
        return LeastNumbers(window.support, window.pmf, window.omitted)
    octaves = math.ceil(-math.log2(1e-3 * min(delta, 1.0)))
    return numbers_at(population, 2.0 ** (-np.arange(_PER_OCTAVE * octaves, 0, -1.0) / _PER_OCTAVE))


def numbers_at(population: Population, failures: NDArray[np.float64]) -> LeastNumbers:
    """Return a law of the number of other users that every law with a population's lower tail dominates.

    Parameters
    ----------
    population : Population
        Number of *other* users.
    failures : (m,) ndarray
        Probabilities in (0, 1) at which the lower tail is evaluated, in addition to some near 1.

    Returns
    -------
    LeastNumbers
        Mass that the tail does not cover is on 0.

    Notes
    -----
    Derived for this project; errs on the side of fewer users.
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
    """Return an upper bound on the mean of a delta over the number of users.

    Parameters
    ----------
    delta_of : callable
        Number of other users -> an upper bound on delta in [0, 1] that does not grow with the number.
    numbers : LeastNumbers
        Law of the number, or one that it dominates.
    gap : float
        Relative distance from the mean itself at which the refinement stops; it also stops after several dozen values.
    enough : float
        A mean that is certainly larger than this need not be refined further.

    Returns
    -------
    float
        In [0, 1]. Consecutive numbers count as the smallest of them; the piece that may be furthest off is split until
        the bounds from both ends of all pieces agree, so that far fewer values than numbers are needed.

    Notes
    -----
    Derived for this project. Never below the mean of `delta_of`.
    """
    gap = check_positive("gap", gap)
    others, total = numbers.others, np.append(0.0, np.cumsum(numbers.mass))
    size = others.size
    known: dict[int, float] = {}

    def value(index: int) -> float:
        if index not in known:
            known[index] = delta_of(int(others[index]))
        return known[index]

    def mass(start: int, stop: int) -> float:
        # The sum of few terms itself: a difference of cumulative sums loses the digits of small masses.
        return float(np.sum(numbers.mass[start:stop]) if stop - start <= 64 else total[stop] - total[start])

    pieces = {0: size}  # where each starts and stops; evaluated from below, where values matter and are fast
    while True:
        upper = sum(mass(start, stop) * value(start) for start, stop in pieces.items())
        off = {
            start: mass(start + 1, stop) * (value(start) - (known[stop] if stop < size else 0.0))
            for start, stop in pieces.items()
            if stop - start > 1
        }
        if sum(off.values()) <= gap * upper or len(known) >= _MOST_VALUES:
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
    """Return the number at which a piece of two or more numbers is cut, the first number of the upper part.

    It is midway between the middles of the piece's range and mass, or in the middle of the exponents if the piece spans
    several powers of 2: for far more others delta is negligible, and slow to compute.
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

    Parameters
    ----------
    profile_for : callable
        Number of all users, user 1 included -> profile, exact or an upper bound; None where nothing is known.
    numbers : LeastNumbers
        Law of the number of the others.
    enough : float
        Above it the bound is refined no further.
    """

    def delta_of(others: int) -> float:
        profile = profile_for(others + 1)
        return 1.0 if profile is None else float(profile.delta(eps))

    return mixed_delta(delta_of, numbers, enough=enough)


@dataclass(frozen=True)
class Split:
    """A number of users, the probability that fewer take part, and the remaining delta.

    Parameters
    ----------
    users : int
        All users, user 1 included, >= 1.
    failure : float
        Upper bound on the probability that fewer take part.
    delta : float
        Delta of the guarantee for this number of users; the total is ``failure + (1 - failure) delta``.
    """

    users: int
    failure: float
    delta: float


def best_split(numbers: LeastNumbers, delta: float, *, noise_shares: bool = False) -> Split:
    """Return the number of users to count on, and the remaining delta.

    Parameters
    ----------
    numbers : LeastNumbers
    delta : float
        In (0, 1), the total.
    noise_shares : bool
        If True, users add shares of one noise. Then the error falls with the number counted on and hardly depends on
        delta, of which half goes to the tail and half to the guarantee; otherwise amplification needs about ``log(2 /
        delta)`` users for a given effect, and the split is the best in that measure.

    Returns
    -------
    Split
        Valid for either value of `noise_shares`, which affects the accuracy only.

    Notes
    -----
    Derived for this project; the union bound is from Wang et al. 2023, Section VI-A.
    """
    failures = numbers.shortfalls
    most = 0.5 * delta if noise_shares else delta
    fits = np.flatnonzero(failures < most)
    if not fits.size:  # some mass below every point: user 1 alone is certain
        return Split(1, 0.0, delta)
    users, failures = 1 + numbers.others[fits], failures[fits]
    left = (delta - failures) / (1 - failures)
    worth = users.astype(float) if noise_shares else users / np.log(2 / left)
    best = int(np.argmax(worth))
    if int(users[best]) == 1:
        return Split(1, 0.0, delta)
    return Split(int(users[best]), float(failures[best]), float(left[best]))
