"""Composition of mechanisms on the same users: shuffled batches and queries of a trusted server.

A profile becomes the law of a loss: the piecewise linear function of e^eps through values of delta is the profile of a
law with atoms at the evaluated eps. Chords of a convex function lie above it, so that this law dominates. The sum of
the losses of all uses is evaluated as in :mod:`shuffledp.accounting.general.loss_sums`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import ndtri

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.epsilon_search import limit_epsilon
from shuffledp.accounting.general.exports import MOST_EPS, MOST_POINTS, convex_vertices, profile_end
from shuffledp.accounting.general.loss_sums import LossPart, LossSum, SumLaw
from shuffledp.accounting.general.privacy_profile import PrivacyProfile, delta_of
from shuffledp.accounting.general.profiles import Exported, at_each
from shuffledp.numerics.argument_ranges import LEAST, Delta, EpsArray, FromOne, Positive
from shuffledp.numerics.relative_sizes import log_ratio
from shuffledp.numerics.roots import root_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp.accounting.general.profiles import Kind, View

    Floats = NDArray[np.float64]

#: RealArray of evaluation points, each a multiple of the one before; relative change of eps at which refinement stops.
POINTS, _SETTLED = (60, 120, 240, 480, 960), 1e-3
#: Largest relative contribution of all ends together to delta.
_NEGLIGIBLE = 1e-4
#: Relative excess of delta from the grid of losses, and the largest grid.
_PRECISION = (1e-5, 2**20)
#: The same for lower bounds.
_SHARP = (1e-7, 2**21)
#: Laws per factor e of the distance from the mean; the eps with a law of its own: the least, in standard deviations
#: above the mean, and the largest, in losses that are not the largest.
_LAWS, _LEAST_LAW, _LAST = 4, 0.1, 0.1
#: Halvings that find the end of a profile; relative tolerance of eps; approximate distance from a guess, in logs.
_HALVINGS, _XTOL, _NEAR = 14, 1e-7, 0.1
#: Share of the negligible delta at the end of a profile that does not end in a step; cells that points are chosen from,
#: and the share of points at equal distances.
_STEEP, _CELLS, _EVEN = 1e-3, 4096, 0.25
#: The least eps that is searched, nats; the largest total variation that is compared with that of normal laws.
_LEAST_EPS, _ALL = 1e-12, 1 - 1e-12


def composed_epsilon(
    mechanisms: Sequence[PrivacyProfile | Any],
    delta: Delta,
    *,
    rounds: Sequence[FromOne] | None = None,
    step: Positive | None = None,
) -> float:
    """Return the central eps of several mechanisms on the same users, one after the other or at once.

    Sources: composition of dominating pairs, by Zhu, Dong and Wang (2022), Theorem 10; chords between values of delta,
    by Doroshenko et al. (2022).

    Parameters
    ----------
    mechanisms : sequence of PrivacyProfile or PrivacyLossDistribution
        At least one mechanism. All profiles are for the same neighboring relation. The caller ensures that loss
        distributions of dp_accounting are for this relation, too.
    delta : float
        Delta of the composition, in (0, 1).
    rounds : sequence of int, optional
        Number of uses of each mechanism, >= 1; 1 if not given.
    step : float, optional
        Distance of the eps at which profiles are evaluated, nats, > 0. If not given, the points are refined until eps
        changes by less than 1e-3 relative.

    Returns
    -------
    float
        Nats, >= 0; ``inf`` if delta is not above the mass of infinite losses. An upper bound if the profiles are upper
        bounds and the loss distributions pessimistic, also if each mechanism depends on earlier releases. It is at most
        the sum of the eps of all uses, each at an equal share of delta.

    Raises
    ------
    ValueError
        If neighboring relations differ, or there are no mechanisms.
    Infeasible
        If a given step results in more than 200,000 points.

    Examples
    --------
    Sixteen shuffled batches, then one query with Gaussian noise of ten times its sensitivity:

    >>> from shuffledp.accounting import ClonesProfile, GaussianProfile, OtherReports, composed_epsilon
    >>> from shuffledp.populations import Fixed
    >>> batch = ClonesProfile(OtherReports(Fixed(9_999)), 1.0)
    >>> round(composed_epsilon([batch], 1e-6, rounds=[16]), 4)
    0.2338
    >>> round(composed_epsilon([batch, GaussianProfile(0.1)], 1e-6, rounds=[16, 1]), 4)
    0.47
    """
    profiles, counts = _checked(mechanisms, rounds)
    if step is not None:
        return ComposedProfile(profiles, counts, delta, step=step).epsilon(delta)
    if infinite_mass(profiles, counts) >= delta:
        return math.inf
    several = sum(counts)
    simple = sum(
        n * epsilon_at(profile, delta / several) for n, profile in zip(counts, profiles, strict=True)
    )
    if several == 1:
        return simple
    eps = math.inf
    for points in POINTS:
        coarser, eps = eps, ComposedProfile(profiles, counts, delta, points=points).epsilon(delta)
        if eps > (1 - _SETTLED) * coarser:
            break
    return min(eps, simple)


def infinite_mass(profiles: Sequence[PrivacyProfile], rounds: Sequence[int]) -> float:
    """Return an upper bound on the mass of infinite losses of all uses, which no eps removes."""
    floors = [float(delta_of(profile, MOST_EPS)) for profile in profiles]
    if max(floors) >= 1:
        return 1.0
    return 0.0 - math.expm1(sum(n * math.log1p(-floor) for n, floor in zip(rounds, floors, strict=True)))


class ComposedProfile(Exported):
    """Profile of several mechanisms on the same users, an upper bound. It is sharp for deltas down to about `least`."""

    kind: ClassVar[Kind] = "upper"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "composed"

    def __init__(
        self,
        profiles: Sequence[PrivacyProfile],
        rounds: Sequence[int],
        least: float,
        *,
        points: int = POINTS[1],
        step: float | None = None,
    ) -> None:
        self.neighbours = getattr(profiles[0], "neighbours", "replace_one")
        grids = _grids(profiles, rounds, least, points, step)
        parts: list[LossPart] = []
        log_finite = 0.0
        for profile, n, grid in zip(profiles, rounds, grids, strict=True):
            if (loss_parts := getattr(profile, "loss_parts", None)) is not None:
                profile_parts, infinite = loss_parts(max(_NEGLIGIBLE * least / sum(rounds), LEAST))
            else:
                assert grid is not None
                law = _law_through(*_evaluated(profile, grid))
                profile_parts, infinite = [LossPart(1, law.losses, law.logs)], law.infinite
            log_finite += n * math.log1p(-infinite)
            parts += [replace(part, copies=n * part.copies) for part in profile_parts if part.logs.size]
        self._sum = LossSum(parts, -math.expm1(log_finite))
        self._laws: dict[int, SumLaw] = {}

    def delta(self, eps: EpsArray) -> Floats:
        """Return delta for each eps (nats, >= 0), in the shape of `eps`."""
        return at_each(self._at, eps)

    def _at(self, eps: float) -> float:
        if not self._sum.parts or self._sum.variance == 0:  # the loss is 0
            return self._sum.infinite
        if eps >= self._sum.largest:
            return min(self._sum.infinite, 1.0)
        # The tilt depends on the place of eps between the mean and the largest sum.
        reach, least = self._sum.largest - self._sum.mean, _LEAST_LAW * math.sqrt(self._sum.variance)
        near = max(eps - self._sum.mean, least, _LEAST_EPS) / reach
        last = 1 - _LAST / self._sum.copies
        place = math.floor(_LAWS * log_ratio(near, 1 - min(near, last)))
        if place not in self._laws:  # close by a law is as good, and its tilt is not of the largest sum alone
            ratio = math.exp((place + 0.5) / _LAWS)
            center = self._sum.mean + min(ratio / (1 + ratio), last) * reach
            self._laws[place] = self._sum.law(center, _PRECISION)
        return self._laws[place].delta(eps)

    def epsilon(self, delta: float) -> float:
        """Return the eps at a delta, nats, rounded up; ``inf`` if no eps has it."""
        return math.inf if self._sum.infinite >= delta else epsilon_at(self, delta, self._sum.largest)


@dataclass(frozen=True)
class _LossLaw:
    """Law of a loss: finite values in nats, the logs of their masses, and the mass of the infinite loss."""

    losses: Floats
    logs: Floats
    infinite: float


def _grids(
    profiles: Sequence[PrivacyProfile],
    rounds: Sequence[int],
    least: float,
    points: int,
    step: float | None = None,
) -> list[Floats | None]:
    """Return the values of eps, nats, at which each profile is evaluated; None for a profile with laws of losses.

    Most of them are where the losses are that the sum consists of if it is about as large as the composed eps. There,
    the laws are taken for normal laws with the total variation of the profiles.
    """
    if all(getattr(profile, "loss_parts", None) is not None for profile in profiles):
        return [None] * len(profiles)
    negligible = max(_NEGLIGIBLE * least / sum(rounds), LEAST)
    spreads = [_normal_distance(float(delta_of(profile, 0.0))) for profile in profiles]
    total = math.sqrt(sum(n * spread**2 for n, spread in zip(rounds, spreads, strict=True)))
    tilt = math.sqrt(-2 * math.log(least)) / max(total, LEAST)
    grids: list[Floats | None] = []
    for profile, spread in zip(profiles, spreads, strict=True):
        if getattr(profile, "loss_parts", None) is not None:
            grids.append(None)
            continue
        guess = min(max(math.exp(limit_epsilon(spread, negligible)[0]), 1e-6), MOST_EPS / 2)
        end = profile_end(profile, negligible, _HALVINGS, guess=guess, steep=_STEEP)
        if step is None:
            grids.append(_places(points, end, spread, spread**2 * (0.5 + tilt)))
            continue
        number = math.ceil(end / step) + 1
        if number > MOST_POINTS:
            raise Infeasible(f"step = {step!r} makes {number} losses up to {end:.3g}; choose a larger one.")
        grids.append(np.asarray(step * np.arange(number + 1), np.float64))
    return grids


def _places(points: int, end: float, spread: float, center: float) -> Floats:
    """Return points from 0 to the end: a share of them evenly, the others around the center.

    The excess of a sum's variance is the mean of the squared distance of two points. For a given number of points, it
    is the least if the distance is the cube root of the inverse of the density of the losses.
    """
    x = np.linspace(0.0, end, _CELLS + 1)
    around = np.exp(-(((x - min(center, end)) / spread) ** 2) / 6) if spread > 0 else np.zeros_like(x)
    ranks = np.append(0.0, np.cumsum(around[1:] + around[:-1]))
    ranks = (1 - _EVEN) * ranks / max(ranks[-1], LEAST) + _EVEN * x / end
    return np.asarray(np.interp(np.linspace(0.0, ranks[-1], points + 1), ranks, x), np.float64)


def _normal_distance(total_variation: float) -> float:
    """Return the distance of two normal laws with a total variation, in standard deviations."""
    return 2 * float(ndtri(0.5 + 0.5 * min(total_variation, _ALL)))


def _evaluated(profile: PrivacyProfile, eps: Floats) -> tuple[Floats, Floats]:
    """Return the vertices of a convex function of e^eps, as values of eps from 0 on, nats, and deltas."""
    deltas = np.minimum.accumulate(np.clip(delta_of(profile, eps), 0.0, 1.0))
    vertices = convex_vertices(np.expm1(eps), deltas)
    return eps[vertices], deltas[vertices]


def _extended(eps: Floats, deltas: Floats, limit: float) -> tuple[Floats, Floats]:
    """Return the vertices of a function below every convex function of e^eps through these points.

    Between two points, it is the larger one of the chords beside them, which are extended. `limit` is a lower bound
    on delta at every eps.
    """
    opposite = (deltas[0] - 1 + (1 - deltas[1]) * math.exp(-eps[1])) / -math.expm1(-eps[1])
    x = np.expm1(eps)
    slopes = np.concatenate(([opposite], np.diff(deltas) / np.diff(x)))
    before, slope, after = slopes[:-2], slopes[1:-1], slopes[2:]
    bends = before < after
    part = np.divide(slope - after, before - after, out=np.zeros_like(slope), where=bends)
    ahead = np.diff(x)[:-1] * np.clip(part, 0.0, 1.0)
    below = deltas[:-2] + np.where(bends, before, 0.0) * ahead
    last = max((limit - deltas[-2]) / slopes[-2], 0.0)
    vertices = np.append(x[:-2] + ahead, x[-2] + last), np.append(below, limit)
    indices = convex_vertices(*vertices)
    return np.log1p(vertices[0][indices]), vertices[1][indices]


def _law_through(eps: Floats, deltas: Floats) -> _LossLaw:
    """Return the law whose profile is piecewise linear in e^eps, with these vertices, in both directions.

    Its masses under the other input are changes of the slope. By the symmetry of the profile, the mass at a loss is
    ``e^loss`` times the mass at the opposite loss.
    """
    slopes = np.append(-np.diff(deltas) / (np.exp(eps[:-1]) * np.expm1(np.diff(eps))), 0.0)
    # Slopes of the chords to the opposite losses: where they are less steep, the function is convex across 0.
    across = (1 - deltas) / (1 + np.exp(eps))
    first = int(np.flatnonzero(across >= slopes)[0])
    masses = -np.diff(slopes[first:], prepend=across[first])
    eps, masses = eps[first:][masses > 0], masses[masses > 0]
    logs = np.log(masses)
    return _LossLaw(np.concatenate((eps, -eps)), np.concatenate((logs + eps, logs)), float(deltas[-1]))


def composed_lower_bound(
    profile: PrivacyProfile, delta: Delta, *, rounds: FromOne, points: int = POINTS[-1]
) -> float:
    """Return a lower bound on the eps of several uses of a mechanism with an exact profile.

    The profile must be of one pair of laws that is the worst in both directions at every eps.

    Sources: as for :func:`composed_epsilon`; extended chords are below a convex function. The rounding of losses is
    bounded by Hoeffding's inequality.

    Parameters
    ----------
    profile : PrivacyProfile
        Exact profile of one use.
    delta : float
        Delta of all uses together, in (0, 1).
    rounds : int
        Number of uses, >= 1.
    points : int
        Number of evaluations of the profile, >= 3.

    Returns
    -------
    float
        Nats, >= 0, usually within 1e-3 relative of the upper bound.

    Examples
    --------
    >>> from shuffledp.accounting import GaussianProfile
    >>> one = GaussianProfile(0.5)
    >>> bounds = composed_lower_bound(one, 1e-6, rounds=9), composed_epsilon([one], 1e-6, rounds=[9])
    >>> [round(bound, 2) for bound in bounds]
    [7.81, 7.81]
    """
    if infinite_mass([profile], [rounds]) >= delta:
        return math.inf
    if rounds == 1:
        return epsilon_at(profile, delta) * (1 - 2 * _XTOL)
    upper = ComposedProfile([profile], [rounds], delta, points=POINTS[0]).epsilon(delta)
    if not 0 < upper < math.inf:
        return upper
    (grid,) = _grids([profile], [rounds], delta, points)
    if grid is None:
        return 0.0
    eps, deltas = _evaluated(profile, grid)
    if eps.size < 3:
        return 0.0
    law = _law_through(*_extended(eps, deltas, float(delta_of(profile, MOST_EPS))))
    total = LossSum([LossPart(rounds, law.losses, law.logs)], -math.expm1(rounds * math.log1p(-law.infinite)))
    sharp = total.law(min(upper, (1 - _LAST / rounds) * total.largest), _SHARP)
    return math.exp(
        root_below(
            lambda x: -log_ratio(sharp.least_delta(math.exp(x), delta), delta),
            math.log(upper) - _SETTLED, math.log(_LEAST_EPS), math.log(upper), xtol=_XTOL, near=_SETTLED,
        )
    )  # fmt: skip


def epsilon_at(profile: PrivacyProfile, delta: float, most: float = MOST_EPS) -> float:
    """Return the eps of a profile at a delta, nats, rounded up; `most` if no smaller eps suffices."""
    total_variation = float(delta_of(profile, 0.0))
    if total_variation <= delta:
        return 0.0
    mu = _normal_distance(total_variation)
    ends = -math.log(most), -math.log(min(_LEAST_EPS, most / 2))
    guess = min(max(-limit_epsilon(mu, delta)[0], ends[0] + _NEAR), ends[1] - _NEAR)
    root = root_below(
        lambda x: log_ratio(float(delta_of(profile, math.exp(-x))), delta),
        guess,
        *ends,
        xtol=_XTOL,
        near=_NEAR,
    )
    return math.exp(-root)


@dataclass(frozen=True)
class _OtherLosses:
    """Profile of a loss distribution of dp_accounting."""

    losses: Any

    def delta(self, eps: EpsArray) -> Floats:
        """Return delta for each eps (nats, >= 0), in the shape of `eps`."""
        return at_each(lambda e: float(self.losses.get_delta_for_epsilon(e)), eps)


def _checked(
    mechanisms: Sequence[PrivacyProfile | Any], rounds: Sequence[int] | None
) -> tuple[list[Any], Sequence[int]]:
    """Return the mechanisms as profiles, and their numbers of uses."""
    mechanisms = list(mechanisms)
    counts = [1] * len(mechanisms) if rounds is None else rounds
    if not mechanisms or len(mechanisms) != len(counts):
        raise ValueError(
            "mechanisms and rounds must have the same length, at least 1, got "
            f"{len(mechanisms)} and {len(counts)}."
        )
    for mechanism in mechanisms:
        if not (hasattr(mechanism, "delta") or hasattr(mechanism, "get_delta_for_epsilon")):
            raise ValueError(f"mechanisms must be privacy profiles or loss distributions, got {mechanism!r}.")
    relations = sorted({profile.neighbours for profile in mechanisms if hasattr(profile, "delta")})
    if len(relations) > 1:
        raise ValueError(
            f"mechanisms must have the same neighboring relation, got {' and '.join(relations)}."
        )
    return [each if hasattr(each, "delta") else _OtherLosses(each) for each in mechanisms], counts
