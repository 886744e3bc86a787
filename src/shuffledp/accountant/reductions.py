"""Guarantee of a batch by one reduction: central eps, privacy profile, and the check of a target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shuffledp.accountant.batches import Setting, eps_local_of, people_of, setting_of
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
from shuffledp.accounting.general.composition import composed_epsilon
from shuffledp.accounting.general.epsilon_search import FINE
from shuffledp.accounting.general.profiles import Exported, at_each
from shuffledp.accounting.general.random_users import best_split, least_numbers, numbers_at
from shuffledp.accounting.general.randomizers import Randomizer
from shuffledp.accounting.random_population.amplification import amplified_epsilon, clone_delta
from shuffledp.numerics.relative_sizes import log_ratio
from shuffledp.populations.base import Fixed, Law, Population
from shuffledp.populations.bounds import MomentBounded
from shuffledp.populations.laws import Binomial, Poisson

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from shuffledp.accounting.general.profiles import Kind, PrivacyProfile, View

#: Probabilities of the lower tails in a profile: four per decade, and fewer where only high orders of Renyi divergence
#: matter. Numbers of users that differ by less than `_CLOSE`, relative, count as their smallest.
_FAILURES = 10.0 ** np.append([-300, -180, -100, -60, -40, -26], np.arange(-20.0, 0.0, 0.25))
_CLOSE = 0.01
#: Neglected mass beside a mean.
_NEGLIGIBLE = 1e-3
#: Deltas by which numbers of users are chosen that all rounds have.
_SPLIT = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
#: Largest number of clones that is summed over, and the largest in a comparison.
_MANY_CLONES, _MANY_COMPARED = 1e7, 1e6


def clone_reduction(name: str) -> str:
    """Return the name of a reduction to clones in :mod:`shuffledp.accounting.general.clones`."""
    return "randomized_response" if name == "stronger_clones" else "clones"


def is_bound(honest: Population, name: str) -> bool:
    """Return True unless the population is a law, or the reduction is to clones and uses a bound's moments."""
    return not isinstance(honest, Law) and (name == "blanket" or not isinstance(honest, MomentBounded))


def _report(found: Randomizer | None, name: str) -> Randomizer | str:
    if name != "blanket":
        return clone_reduction(name)
    assert found is not None, "the blanket of a general randomizer is unavailable here"
    return found


def central_epsilon(
    setting: Setting, eps_local: float, honest: Population, name: str, hint: float | None = None
) -> float:
    """Return the central eps by one reduction, ``inf`` if none is finite; `hint` is a nearby value."""
    if setting.rounds > 1:
        return _composed(setting, eps_local, honest, name)
    found = setting.at(eps_local)
    if is_bound(honest, name):
        return bounded_epsilon(_report(found, name), honest, eps_local, setting.delta)
    if name != "blanket":
        many = _many_clones(setting, eps_local, honest, name)
        if many is not None:
            pair = ClonePair(eps_local, clone_reduction(name))
            return population_epsilon(pair, many, setting.delta, "upper", hint)
        return amplified_epsilon(
            honest, eps_local, setting.delta, accounting="exact", reduction=clone_reduction(name)
        )
    if found is None or not isinstance(honest, Law):
        return math.inf
    try:
        return population_epsilon(found, honest, setting.delta, "upper", hint)
    except Infeasible:
        if math.isinf(found.eps_local):
            raise
        return found.eps_local


def _many_clones(setting: Setting, eps_local: float, honest: Population, name: str) -> Law | None:
    """Return the law of the other users if sums over the number of clones are slower than contours; else None."""
    if setting.rounds > 1 or not isinstance(honest, Law) or not has_contour(honest):
        return None
    # Beside a blanket clones cannot win; what sums of bits show is no blanket.
    compared = "blanket" in setting.reductions and not isinstance(setting.at(eps_local), OwnDelta)
    many = honest.mean * clone_rate(eps_local, clone_reduction(name))
    return honest if many > (_MANY_COMPARED if compared else _MANY_CLONES) else None


def has_contour(honest: Population) -> bool:
    """Return True for laws of the other users for which a single contour integral gives the mean of delta."""
    return isinstance(honest, (Fixed, Binomial, Poisson))


def _composed(setting: Setting, eps_local: float, honest: Population, name: str) -> float:
    delta = setting.delta
    if not isinstance(honest, Law):
        honest, delta = counted_on(honest, delta, setting.rounds)
    profile = profile_of(setting, eps_local, honest, name)
    if profile is None:
        return math.inf
    eps = composed_epsilon([profile], delta, rounds=[setting.rounds])
    return min(eps, setting.rounds * eps_local)


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
    if name != "blanket":
        return ClonesProfile(OtherReports(honest, reduction=clone_reduction(name)), eps_local)
    found = setting.at(eps_local)
    return None if found is None else BlanketProfile(found, honest)


def log_excess(
    setting: Setting, eps_local: float, eps: float, honest: Population, name: str, gap: float = FINE
) -> float:
    """Return the log of delta, or of eps for several rounds, over its target; at most 0 if the target is met.

    It increases in `eps_local` and decreases in the number of users. `gap` is the relative gap of the delta of a
    blanket.
    """
    if setting.rounds > 1:
        return log_ratio(central_epsilon(setting, eps_local, honest, name), eps)
    if eps >= eps_local:
        return -math.inf
    if is_bound(honest, name):
        report = _report(setting.at(eps_local), name)
        return log_ratio(bounded_delta(report, honest, eps_local, eps, setting.delta), setting.delta)
    if name != "blanket":
        many = _many_clones(setting, eps_local, honest, name)
        if many is not None:
            pair = ClonePair(eps_local, clone_reduction(name))
            return population_excess(pair, many, eps, setting.delta, gap)
        value = clone_delta(honest, eps_local, eps, reduction=clone_reduction(name))
        return log_ratio(value, setting.delta)
    found = setting.at(eps_local)
    if found is None or not isinstance(honest, Law):
        return math.inf
    return population_excess(found, honest, eps, setting.delta, gap)


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

    def delta(self, eps: ArrayLike) -> NDArray[np.float64]:
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
    """One round of a shuffled batch in which the number of users has a law or a bound.

    `honest` are the other users who do not collude. The delta of `setting` does not matter.
    """

    setting: Setting
    eps_local: float
    honest: Population

    @property
    def bounded(self) -> bool:
        """True if only a bound on the number of users is known."""
        return not isinstance(self.honest, Law)

    @property
    def reduction(self) -> str:
        """Name of the reduction of the profile."""
        own = isinstance(self.setting.at(self.eps_local), OwnDelta)
        return "own" if own else self.setting.reductions[-1]

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

    def counted(self, rounds: int) -> list[tuple[PrivacyProfile, float]]:
        """Return profiles of one round, each for a number of users, with bounds on the probability of fewer users."""
        found: dict[int, tuple[PrivacyProfile, float]] = {}
        for delta in _SPLIT:
            others, left = counted_on(self.honest, delta, rounds)
            found.setdefault(others.others, (self._of(others), delta - left))
        return list(found.values())

    def _of(self, law: Law) -> PrivacyProfile:
        profile = profile_of(self.setting, self.eps_local, law, self.setting.reductions[-1])
        if profile is None:  # pragma: no cover
            raise AssertionError(self.setting.reductions)
        return profile


def one_round(
    eps_local: float | None,
    users: int | None,
    *,
    randomizer: str | Randomizer,
    domain_size: int | None,
    subset_size: int | None,
    population: Population | None,
    colluding: float,
) -> OneRound:
    """Return one round of a shuffled batch; the parameters are as in :func:`amplification`."""
    setting = setting_of(randomizer, domain_size, subset_size, 0.5, 1)  # at any delta
    eps_local = eps_local_of(eps_local, setting)
    _, honest = people_of(users, population, colluding)
    return OneRound(setting, eps_local, honest)
