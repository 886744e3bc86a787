"""Reductions of a batch, and its guarantee by each: central eps, privacy profile, and the check of a target."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shuffledp.accountant.batches import BatchSetting, eps_local_of, people_of
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
from shuffledp.guarantees import UPPER, Standing
from shuffledp.numerics.argument_ranges import EpsArray
from shuffledp.numerics.relative_sizes import log_ratio
from shuffledp.populations.base import Fixed, Law, Population
from shuffledp.populations.bounds import MomentBounded
from shuffledp.populations.laws import Binomial, Poisson

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from shuffledp.accounting.general.profiles import Kind, PrivacyProfile, View

#: Probabilities of the lower tails in a profile: four per decade, and fewer where only high orders of Renyi divergence
#: matter. Numbers of users that differ by less than `_CLOSE`, relative, count as their smallest.
_FAILURES = 10.0 ** np.append([-300, -180, -100, -60, -40, -26], np.arange(-20.0, 0.0, 0.25))
_CLOSE = 0.01
#: Relative tolerance of budgets, and of numbers of users by the blanket, in one round.
XTOL = 1e-7
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


class Reduction(ABC):
    """Pair of distributions to which a shuffled batch is reduced, or a bound on its central eps.

    `name` is its name in answers. `number_tolerance` is the relative tolerance of the smallest number of users, 0 if
    the number is exact to one user. A bound with a closed form defines `epsilon` alone.
    """

    name: ClassVar[str]
    number_tolerance: ClassVar[float] = 0.0

    @abstractmethod
    def epsilon(
        self, setting: BatchSetting, eps_local: float, honest: Population, hint: float | None
    ) -> float:
        """Return the central eps of one round; ``inf`` if none is finite, or for a population without a bound."""

    def profile(self, setting: BatchSetting, eps_local: float, honest: Law) -> PrivacyProfile | None:
        """Return the privacy profile of one round; None if the reduction has no profile, so that it has no rounds."""
        return None

    def log_excess(
        self, setting: BatchSetting, eps_local: float, eps: float, honest: Population, gap: float
    ) -> float:
        """Return the log of the delta, or of the eps, of one round over its target."""
        return log_ratio(self.epsilon(setting, eps_local, honest, None), eps)

    def bounded_report(self, setting: BatchSetting, eps_local: float) -> Randomizer | str:
        """Return the report for `shuffledp.accountant.bounded_populations`, if `is_bound` is true."""
        raise NotImplementedError(f"{self.name} has no bound for a lower tail.")

    def is_bound(self, honest: Population) -> bool:
        """Return True if only the lower tail of the population is used."""
        return False

    def is_summed(self, setting: BatchSetting, eps_local: float) -> bool:
        """Return True if the analyzer receives sums, and delta is of these sums."""
        return False

    def standing(self, randomizer: Randomizer | None) -> Standing:
        """Return the guarantee of a bound by this reduction."""
        return UPPER


class Clones(Reduction):
    """Reduction to clones; `rate` is the reduction in :mod:`shuffledp.accounting.general.clones`."""

    name, rate = "clones", "clones"

    def is_bound(self, honest: Population) -> bool:
        """Return True unless the population is a law, or a bound with moments."""
        return not isinstance(honest, Law | MomentBounded)

    def bounded_report(self, setting: BatchSetting, eps_local: float) -> str:
        """Return the rate of the clones."""
        return self.rate

    def epsilon(
        self, setting: BatchSetting, eps_local: float, honest: Population, hint: float | None
    ) -> float:
        """Return the central eps of one round."""
        law = self._contour_law(setting, eps_local, honest)
        if law is not None:
            return population_epsilon(ClonePair(eps_local, self.rate), law, setting.delta, "upper", hint)
        return amplified_epsilon(honest, eps_local, setting.delta, accounting="exact", reduction=self.rate)

    def profile(self, setting: BatchSetting, eps_local: float, honest: Law) -> PrivacyProfile:
        """Return the privacy profile of one round."""
        law = self._contour_law(setting, eps_local, honest)
        if law is not None:
            return BlanketProfile(ClonePair(eps_local, self.rate), law)
        return ClonesProfile(OtherReports(honest, reduction=self.rate), eps_local)

    def log_excess(
        self, setting: BatchSetting, eps_local: float, eps: float, honest: Population, gap: float
    ) -> float:
        """Return the log of the delta of one round over its target."""
        law = self._contour_law(setting, eps_local, honest)
        if law is not None:
            return population_excess(ClonePair(eps_local, self.rate), law, eps, setting.delta, gap)
        return log_ratio(clone_delta(honest, eps_local, eps, reduction=self.rate), setting.delta)

    def _contour_law(self, setting: BatchSetting, eps_local: float, honest: Population) -> Law | None:
        """Return the law of the other users if sums over the clones are slower than contours; else None."""
        if not isinstance(honest, Law) or not has_contour(honest):
            return None
        # Beside a blanket clones cannot win; what sums of bits show is no blanket.
        compared = setting.has_blanket and not isinstance(setting.make_randomizer(eps_local), OwnDelta)
        number = honest.mean * clone_rate(eps_local, self.rate)
        return honest if number > (_MANY_COMPARED if compared else _MANY_CLONES) else None


class StrongerClones(Clones):
    """Reduction to clones for randomizers of which no output is favored by two inputs."""

    name, rate = "stronger_clones", "randomized_response"


class Blanket(Reduction):
    """Reduction to the privacy blanket of the randomizer, or to the sums that the analyzer receives."""

    name = "blanket"
    number_tolerance = XTOL

    def is_bound(self, honest: Population) -> bool:
        """Return True unless the population is a law."""
        return not isinstance(honest, Law)

    def is_summed(self, setting: BatchSetting, eps_local: float) -> bool:
        """Return True if the randomizer has the delta of its sums."""
        return isinstance(setting.make_randomizer(eps_local), OwnDelta)

    def bounded_report(self, setting: BatchSetting, eps_local: float) -> Randomizer:
        """Return the randomizer."""
        randomizer = setting.make_randomizer(eps_local)
        assert randomizer is not None, "the blanket of a general randomizer is unavailable here"
        return randomizer

    def epsilon(
        self, setting: BatchSetting, eps_local: float, honest: Population, hint: float | None
    ) -> float:
        """Return the central eps of one round; ``inf`` if the user's randomizer has no such local budget."""
        randomizer = setting.make_randomizer(eps_local)
        if randomizer is None or not isinstance(honest, Law):
            return math.inf
        try:
            return population_epsilon(randomizer, honest, setting.delta, "upper", hint)
        except Infeasible:
            if math.isinf(randomizer.eps_local):
                raise
            return randomizer.eps_local

    def profile(self, setting: BatchSetting, eps_local: float, honest: Law) -> PrivacyProfile | None:
        """Return the privacy profile of one round; None if the user's randomizer has no such local budget."""
        randomizer = setting.make_randomizer(eps_local)
        return None if randomizer is None else BlanketProfile(randomizer, honest)

    def log_excess(
        self, setting: BatchSetting, eps_local: float, eps: float, honest: Population, gap: float
    ) -> float:
        """Return the log of the delta of one round over its target."""
        randomizer = setting.make_randomizer(eps_local)
        if randomizer is None or not isinstance(honest, Law):
            return math.inf
        return population_excess(randomizer, honest, eps, setting.delta, gap)

    def standing(self, randomizer: Randomizer | None) -> Standing:
        """Return the guarantee of the randomizer's blanket."""
        return UPPER if randomizer is None else randomizer.standing


CLONES, STRONGER_CLONES, BLANKET = Clones(), StrongerClones(), Blanket()
_CLONES: Mapping[str, Clones] = {reduction.rate: reduction for reduction in (CLONES, STRONGER_CLONES)}


def reductions_of(setting: BatchSetting) -> tuple[Reduction, ...]:
    """Return the reductions that are proven for a setting."""
    clones = tuple(_CLONES[rate] for rate in setting.clone_rates)
    return (*clones, BLANKET) if setting.has_blanket else clones


def profiled(setting: BatchSetting) -> Reduction:
    """Return the reduction of profiles: the blanket, whose delta is never larger, or else the clones."""
    return BLANKET if setting.has_blanket else CLONES


def compared(setting: BatchSetting) -> tuple[Reduction, ...]:
    """Return the reductions that are evaluated: a single one if an evaluation is a mean of compositions."""
    if not setting.is_shared:
        return reductions_of(setting)
    # The stronger clones are the blanket of binary randomized response, and faster.
    return (STRONGER_CLONES if setting.is_binary else profiled(setting),)


def central_epsilon(
    setting: BatchSetting,
    eps_local: float,
    honest: Population,
    reduction: Reduction,
    hint: float | None = None,
) -> float:
    """Return the central eps by one reduction, ``inf`` if none is finite; `hint` is a nearby value."""
    if setting.rounds > 1:
        return _composed(setting, eps_local, honest, reduction)
    if reduction.is_bound(honest):
        report = reduction.bounded_report(setting, eps_local)
        return bounded_epsilon(report, honest, eps_local, setting.delta)
    return reduction.epsilon(setting, eps_local, honest, hint)


def has_contour(honest: Population) -> bool:
    """Return True for laws of the other users for which a single contour integral gives the mean of delta."""
    return isinstance(honest, (Fixed, Binomial, Poisson))


def _composed(setting: BatchSetting, eps_local: float, honest: Population, reduction: Reduction) -> float:
    """Return the central eps of several rounds; raise Infeasible if the outputs show the report too often."""
    delta, rounds, most = setting.delta, setting.rounds, setting.rounds * eps_local
    if setting.is_shared:
        shared = shared_profile(setting, eps_local, honest, reduction, _SHARED_GAP)
        if shared is None:
            return math.inf
        if math.isinf(most) and float(shared.delta(MOST_EPS)) > delta:
            raise Infeasible(
                f"The outputs show the report too often for delta = {delta!r} in {rounds} rounds."
            )
        return epsilon_at(shared, delta, min(most, rounds * MOST_EPS))
    if not isinstance(honest, Law):
        honest, delta = counted_on(honest, delta, rounds)
    profile = reduction.profile(setting, eps_local, honest)
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
    setting: BatchSetting,
    eps_local: float,
    honest: Population,
    reduction: Reduction,
    gap: float = _SHARED_COARSE,
) -> SharedProfile | None:
    """Return the profile of all rounds with the same other users by one reduction; None if there is no profile."""
    if reduction.profile(setting, eps_local, Fixed(0)) is None:
        return None

    def composed(others: int) -> PrivacyProfile:
        profile = reduction.profile(setting, eps_local, Fixed(others))
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


def log_excess(
    setting: BatchSetting,
    eps_local: float,
    eps: float,
    honest: Population,
    reduction: Reduction,
    gap: float = FINE,
) -> float:
    """Return the log of delta, or of eps for rounds with known or fresh numbers of users, over its target; at most 0 if
    the target is met.

    It increases in `eps_local` and decreases in the number of users. `gap` is the relative gap of the delta of a
    blanket.
    """
    if eps >= setting.rounds * eps_local:
        return -math.inf
    if setting.is_shared:
        shared = shared_profile(setting, eps_local, honest, reduction)
        return math.inf if shared is None else log_ratio(float(shared.delta(eps)), setting.delta)
    if setting.rounds > 1:
        return log_ratio(central_epsilon(setting, eps_local, honest, reduction), eps)
    if reduction.is_bound(honest):
        report = reduction.bounded_report(setting, eps_local)
        return log_ratio(bounded_delta(report, honest, eps_local, eps, setting.delta), setting.delta)
    return reduction.log_excess(setting, eps_local, eps, honest, gap)


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

    setting: BatchSetting
    eps_local: float
    honest: Population

    @property
    def adds_up(self) -> bool:
        """True if the Renyi divergences of rounds add up: with a known number of users, or a law of fresh numbers."""
        return isinstance(self.honest, Law) and self.setting.crowd != "shared"

    @property
    def reduction(self) -> str:
        """Name of the reduction of the profile."""
        has_own_delta = isinstance(self.setting.make_randomizer(self.eps_local), OwnDelta)
        return "own" if has_own_delta else profiled(self.setting).name

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
        rounds = self.setting.rounds
        if self.setting.crowd == "shared":
            shared = shared_profile(self.setting, self.eps_local, self.honest, profiled(self.setting))
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
        profile = profiled(self.setting).profile(self.setting, self.eps_local, law)
        if profile is None:  # pragma: no cover
            raise AssertionError(self.setting)
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
    setting: BatchSetting,
    eps_local: float | None,
    users: int | None,
    population: Population | None,
    colluding: float,
) -> OneRound:
    """Return one round of a shuffled batch; the other parameters are as in :func:`amplification`."""
    # At any delta: that of composed rounds is resolved down to the end of their curves.
    setting = replace(setting, delta=LEAST_COMPOSED)
    eps_local = eps_local_of(eps_local, setting)
    _, honest = people_of(users, population, colluding)
    return OneRound(setting, eps_local, honest)
