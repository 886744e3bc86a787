"""Guarantee of a batch by one reduction: central eps, privacy profile, and the check of a target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shuffledp.accountant.batches import Setting, crowd_in, eps_local_of, people_of, setting_of
from shuffledp.accountant.bounded_populations import bounded_delta, bounded_epsilon
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.blanket import (
    BlanketProfile,
    OwnDelta,
    population_epsilon,
    population_excess,
)
from shuffledp.accounting.general.clone_pair import ClonePair
from shuffledp.accounting.general.clones import ClonesProfile, OtherReports, clone_rate
from shuffledp.accounting.general.composition import (
    POINTS,
    ComposedProfile,
    composed_epsilon,
    epsilon_at,
    infinite_mass,
)
from shuffledp.accounting.general.epsilon_search import FINE
from shuffledp.accounting.general.exports import MOST_EPS
from shuffledp.accounting.general.profiles import Exported, at_each
from shuffledp.accounting.general.random_users import (
    best_split,
    least_numbers,
    mixed_delta,
    numbers_at,
)
from shuffledp.accounting.general.randomizers import Randomizer
from shuffledp.accounting.random_population.amplification import amplified_epsilon, clone_delta
from shuffledp.numerics.argument_ranges import EpsArray
from shuffledp.numerics.relative_sizes import log_ratio
from shuffledp.populations.base import Fixed, Law, Population
from shuffledp.populations.bounds import MomentBounded
from shuffledp.populations.laws import Binomial, Poisson

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shuffledp.accounting.general.profiles import Kind, PrivacyProfile, View

#: Probabilities of the lower tails in a profile: four per decade, and fewer where only high orders of Renyi divergence
#: matter. Numbers of users that differ by less than `_CLOSE`, relative, count as their smallest.
_FAILURES = 10.0 ** np.append([-300, -180, -100, -60, -40, -26], np.arange(-20.0, 0.0, 0.25))
_CLOSE = 0.01
#: Neglected mass beside a mean.
_NEGLIGIBLE = 1e-3
#: Where the profile of composed rounds ends.
LEAST_COMPOSED = 1e-12
#: Relative gap of a mean of composed deltas: of an eps, and of searches and curves, which evaluate many.
_SHARED_GAP, _SHARED_COARSE = 5e-3, 2e-2
#: Deltas by which numbers of users are chosen that all rounds have.
_SPLIT = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
#: Largest number of clones that is summed over, and the largest in a comparison.
_MANY_CLONES, _MANY_COMPARED = 1e7, 1e6


def clone_reduction(name: str) -> str:
    """Return the name of a reduction to clones in :mod:`shuffledp.accounting.general.clones`."""
    return {"clones": "clones", "stronger_clones": "randomized_response"}[name]


def is_bound(honest: Population, name: str) -> bool:
    """Return True unless the population is a law, or the reduction is to clones and uses a bound's moments."""
    return not isinstance(honest, Law) and (name == "blanket" or not isinstance(honest, MomentBounded))


def _report(randomizer: Randomizer | None, name: str) -> Randomizer | str:
    if name != "blanket":
        return clone_reduction(name)
    assert randomizer is not None, "the blanket of a general randomizer is unavailable here"
    return randomizer


def central_epsilon(
    setting: Setting, eps_local: float, honest: Population, name: str, hint: float | None = None
) -> float:
    """Return the central eps by one reduction, ``inf`` if none is finite; `hint` is a nearby value."""
    if setting.rounds > 1:
        return _composed(setting, eps_local, honest, name)
    randomizer = setting.at(eps_local)
    if is_bound(honest, name):
        return bounded_epsilon(_report(randomizer, name), honest, eps_local, setting.delta)
    if name != "blanket":
        clones_law = _many_clones(setting, eps_local, honest, name)
        if clones_law is not None:
            pair = ClonePair(eps_local, clone_reduction(name))
            return population_epsilon(pair, clones_law, setting.delta, "upper", hint)
        return amplified_epsilon(
            honest, eps_local, setting.delta, accounting="exact", reduction=clone_reduction(name)
        )
    if randomizer is None or not isinstance(honest, Law):
        return math.inf
    try:
        return population_epsilon(randomizer, honest, setting.delta, "upper", hint)
    except Infeasible:
        if math.isinf(randomizer.eps_local):
            raise
        return randomizer.eps_local


def _many_clones(setting: Setting, eps_local: float, honest: Population, name: str) -> Law | None:
    """Return the law of the other users if sums over the number of clones are slower than contours; else None."""
    if not isinstance(honest, Law) or not has_contour(honest):
        return None
    # Beside a blanket clones cannot win; what sums of bits show is no blanket.
    compared = "blanket" in setting.reductions and not isinstance(setting.at(eps_local), OwnDelta)
    clones = honest.mean * clone_rate(eps_local, clone_reduction(name))
    return honest if clones > (_MANY_COMPARED if compared else _MANY_CLONES) else None


def has_contour(honest: Population) -> bool:
    """Return True for laws of the other users for which a single contour integral gives the mean of delta."""
    return isinstance(honest, (Fixed, Binomial, Poisson))


def _composed(setting: Setting, eps_local: float, honest: Population, name: str) -> float:
    """Return the central eps of several rounds; raise Infeasible if the outputs show the report too often."""
    delta, rounds, most = setting.delta, setting.rounds, setting.rounds * eps_local
    if setting.is_shared:
        shared = shared_profile(setting, eps_local, honest, name, _SHARED_GAP)
        if shared is None:
            return math.inf
        if math.isinf(most) and float(shared.delta(MOST_EPS)) > delta:
            raise Infeasible(
                f"The outputs show the report too often for delta = {delta!r} in {rounds} rounds."
            )
        return epsilon_at(shared, delta, min(most, rounds * MOST_EPS))
    if not isinstance(honest, Law):
        honest, delta = counted_on(honest, delta, rounds)
    profile = profile_of(setting, eps_local, honest, name)
    if profile is None:
        return math.inf
    eps = composed_epsilon([profile], delta, rounds=[rounds])
    if math.isinf(min(eps, most)):
        raise Infeasible(
            f"The outputs show the report with a probability of {infinite_mass([profile], [1]):.3g} in every round, "
            f"which exceeds delta = {delta!r} in {rounds} rounds at every eps."
        )
    return min(eps, most)


class SharedProfile(Exported):
    """Profile of several rounds with one random number of other users for all of them, an upper bound.

    Delta is composed for each number, and then averaged over the law of the number, or over the smallest law that a
    bound allows. Averaged first, it would be composed as if the number were drawn anew in every round.
    """

    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "composed, then averaged over the number of users"

    def __init__(
        self, composed: Callable[[int], PrivacyProfile], honest: Population, least: float, gap: float
    ) -> None:
        self._composed, self._numbers, self._gap = cache(composed), least_numbers(honest, least), gap

    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return delta for each eps (nats, >= 0), in the shape of `eps`."""
        return at_each(self._at, eps)

    def _at(self, eps: float) -> float:
        return mixed_delta(
            lambda others: float(self._composed(others).delta(eps)), self._numbers, gap=self._gap
        )


def shared_profile(
    setting: Setting, eps_local: float, honest: Population, name: str, gap: float = _SHARED_COARSE
) -> SharedProfile | None:
    """Return the profile of all rounds with the same other users by one reduction; None if there is no profile."""
    if profile_of(setting, eps_local, Fixed(0), name) is None:
        return None

    def composed(others: int) -> PrivacyProfile:
        profile = profile_of(setting, eps_local, Fixed(others), name)
        assert profile is not None
        points = POINTS[0 if gap == _SHARED_COARSE else 1]
        return ComposedProfile([profile], [setting.rounds], setting.delta, points=points)

    return SharedProfile(composed, honest, setting.delta, gap)


def counted_on(others: Population, delta: float, rounds: int) -> tuple[Fixed, float]:
    """Return a number of other users for every round, and the delta that remains for all rounds together.

    Each round has fewer users with some probability. The sum of these probabilities is subtracted from delta. So the
    numbers of users of different rounds may be dependent.
    """
    each = delta / rounds
    split = best_split(least_numbers(others, each), each)
    return Fixed(split.users - 1), delta - rounds * split.failure


def profile_of(setting: Setting, eps_local: float, honest: Law, name: str) -> PrivacyProfile | None:
    """Return the privacy profile of one round by one reduction; None if the reduction has no profile."""
    clones_law = _many_clones(setting, eps_local, honest, name) if name != "blanket" else None
    if clones_law is not None:
        return BlanketProfile(ClonePair(eps_local, clone_reduction(name)), clones_law)
    if name != "blanket":
        return ClonesProfile(OtherReports(honest, reduction=clone_reduction(name)), eps_local)
    randomizer = setting.at(eps_local)
    return None if randomizer is None else BlanketProfile(randomizer, honest)


def log_excess(
    setting: Setting, eps_local: float, eps: float, honest: Population, name: str, gap: float = FINE
) -> float:
    """Return the log of delta, or of eps for rounds with known or fresh numbers of users, over its target; at most 0 if
    the target is met.

    It increases in `eps_local` and decreases in the number of users. `gap` is the relative gap of the delta of a
    blanket.
    """
    if eps >= setting.rounds * eps_local:
        return -math.inf
    if setting.is_shared:
        shared = shared_profile(setting, eps_local, honest, name)
        return math.inf if shared is None else log_ratio(float(shared.delta(eps)), setting.delta)
    if setting.rounds > 1:
        return log_ratio(central_epsilon(setting, eps_local, honest, name), eps)
    if is_bound(honest, name):
        report = _report(setting.at(eps_local), name)
        return log_ratio(bounded_delta(report, honest, eps_local, eps, setting.delta), setting.delta)
    if name != "blanket":
        clones_law = _many_clones(setting, eps_local, honest, name)
        if clones_law is not None:
            pair = ClonePair(eps_local, clone_reduction(name))
            return population_excess(pair, clones_law, eps, setting.delta, gap)
        value = clone_delta(honest, eps_local, eps, reduction=clone_reduction(name))
        return log_ratio(value, setting.delta)
    randomizer = setting.at(eps_local)
    if randomizer is None or not isinstance(honest, Law):
        return math.inf
    return population_excess(randomizer, honest, eps, setting.delta, gap)


@dataclass(frozen=True, eq=False)
class LeastProfile(Exported):
    """Privacy profile of one round for every number of other users that a bound allows, an upper bound.

    It is the mean of delta over a law that the true number dominates, see
    :mod:`shuffledp.accounting.general.random_users`: `masses` are the probabilities of the smallest numbers, `parts`
    the profiles at these numbers. Replacement neighbors.
    """

    parts: tuple[PrivacyProfile, ...]
    masses: NDArray[np.float64]
    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "mean over the smallest number of users that a bound allows"

    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return delta for each eps (nats, >= 0), in the shape of `eps`."""
        return at_each(self._at, eps)

    def _at(self, eps: float) -> float:
        """Return delta at one eps, summed from the largest number of users; a negligible rest counts as delta 1."""
        below = np.append(0.0, np.cumsum(self.masses))
        total = 0.0
        for i in range(len(self.parts) - 1, -1, -1):
            if below[i + 1] <= _NEGLIGIBLE * total:
                return min(total + float(below[i + 1]), 1.0)
            total += float(self.masses[i]) * float(self.parts[i].delta(eps))
        return min(total, 1.0)


@dataclass(frozen=True)
class OneRound:
    """Rounds of a shuffled batch in which the number of users has a law or a bound.

    `honest` are the other users who do not collude. Composed deltas are resolved down to the delta of `setting`.
    """

    setting: Setting
    eps_local: float
    honest: Population

    @property
    def adds_up(self) -> bool:
        """True if the Renyi divergences of rounds add up: with a known number of users, or a law of fresh numbers."""
        return isinstance(self.honest, Law) and self.setting.crowd != "shared"

    @property
    def reduction(self) -> str:
        """Name of the reduction of the profile."""
        has_own_delta = isinstance(self.setting.at(self.eps_local), OwnDelta)
        return "own" if has_own_delta else self.setting.reductions[-1]

    def profile(self) -> PrivacyProfile:
        """Return the profile of one round: of the sums that the analyzer receives, of the blanket, or of clones.

        Clones are used only without a blanket, because their delta is never smaller
        (:mod:`shuffledp.accounting.general.clone_pair`).
        """
        if isinstance(self.honest, Law):
            return self._of(self.honest)
        numbers = numbers_at(self.honest, _FAILURES)
        starts = [0]
        for place, others in enumerate(numbers.others):
            if others + 1 > (1 + _CLOSE) * (numbers.others[starts[-1]] + 1):
                starts.append(place)
        parts = tuple(self._of(Fixed(int(numbers.others[place]))) for place in starts)
        return LeastProfile(parts, np.add.reduceat(numbers.mass, starts))

    def composed(self) -> PrivacyProfile:
        """Return the profile of all rounds: of all rounds with the same users, or with users drawn anew."""
        rounds, name = self.setting.rounds, self.setting.reductions[-1]
        if self.setting.crowd == "shared":
            shared = shared_profile(self.setting, self.eps_local, self.honest, name)
            assert shared is not None
            return shared
        if isinstance(self.honest, Law):
            return ComposedProfile([self._of(self.honest)], [rounds], LEAST_COMPOSED)
        parts: dict[int, tuple[PrivacyProfile, float]] = {}
        for delta in _SPLIT:
            others, remaining_delta = counted_on(self.honest, delta, rounds)
            if others.others not in parts:
                profile = ComposedProfile([self._of(others)], [rounds], LEAST_COMPOSED)
                parts[others.others] = (profile, delta - remaining_delta)
        return _Split(list(parts.values()))

    def _of(self, law: Law) -> PrivacyProfile:
        profile = profile_of(self.setting, self.eps_local, law, self.setting.reductions[-1])
        if profile is None:  # pragma: no cover
            raise AssertionError(self.setting.reductions)
        return profile


class _Split(Exported):
    """Profile of rounds with a bounded number of users: the least bound over several smallest numbers of users.

    The probability of fewer users is added to delta.
    """

    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "composed, for numbers of users that all rounds have"

    def __init__(self, parts: Sequence[tuple[PrivacyProfile, float]]) -> None:
        self._parts = parts

    def delta(self, eps: EpsArray) -> NDArray[np.float64]:
        """Return delta for each eps (nats, >= 0), in the shape of `eps`."""
        deltas = [np.asarray(profile.delta(eps), np.float64) + lost for profile, lost in self._parts]
        return np.asarray(np.minimum(np.min(np.array(deltas), axis=0), 1.0), np.float64)


def one_round(
    eps_local: float | None,
    users: int | None,
    *,
    randomizer: str | Randomizer,
    domain_size: int | None,
    subset_size: int | None,
    population: Population | None,
    colluding: float,
    rounds: int = 1,
    crowd: str | None = None,
) -> OneRound:
    """Return one round of a shuffled batch; the parameters are as in :func:`amplification`."""
    # At any delta: that of composed rounds is resolved down to the end of their curves.
    setting = setting_of(
        randomizer, domain_size, subset_size, LEAST_COMPOSED, rounds, crowd_in(crowd, population)
    )
    eps_local = eps_local_of(eps_local, setting)
    _, honest = people_of(users, population, colluding)
    return OneRound(setting, eps_local, honest)
