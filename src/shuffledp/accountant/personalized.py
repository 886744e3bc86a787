r"""Users with personal budgets: groups with a local randomizer each, whose reports are shuffled together.

The victim belongs to one group and has the randomizer R; every other user has the randomizer of its own group. Two
reductions, as for equal users (:mod:`blanket <shuffledp.accounting.general.blanket>`, :mod:`clones
<shuffledp.accounting.general.clones>`):

``blanket``
    Let w be the normalized blanket of R. A report of a user whose randomizer is at least ``q w`` for every input is
    drawn from w with probability q, for every input of its user.
``clones``
    The same with ``(R(x0) + R(x1)) / 2`` in place of w, for the worst pair of the victim's inputs.

In both, the number of reports that hide the victim is a sum of binomial variables, one per group: a Poisson-binomial
variable C. Given C, delta does not increase with C (means of exchangeable summands are a reverse martingale).

The rates q follow from pairs of randomizers, not from budgets: Laplace noise with a budget above the victim's has
q = 0, because far from [0, 1] its density falls faster than the victim's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from shuffledp.accountant.answers import Tabular, plain
from shuffledp.accounting.general.blanket import population_delta, population_epsilon
from shuffledp.accounting.general.clones import OtherReports, exact_delta, exact_epsilon
from shuffledp.accounting.general.noise_randomizers import LaplaceRandomizer
from shuffledp.accounting.general.randomizers import (
    FiniteRandomizer,
    Randomizer,
    SubsetSelection,
    check_randomizer,
    in_subsets,
)
from shuffledp.numerics.argument_ranges import Count, Delta, EpsAt, check_count, format_value
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import settled
from shuffledp.numerics.rounding import number_text
from shuffledp.populations.base import Fixed, Law
from shuffledp.populations.laws import Binomial, PoissonBinomial

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp.accounting.general.comparisons import Cells, Outputs
    from shuffledp.guarantees import Standing
    from shuffledp.numerics.sum_excess import Side
    from shuffledp.numerics.windows import Window

#: Mass that windows omit, relative to delta; it counts as lost privacy.
_OMITTED = 1e-7
#: Largest standard deviation of the number of hiding reports whose values are evaluated in groups.
_FEW = 12.0


def check_groups(name: str, value: Any) -> tuple[tuple[int, Randomizer], ...]:
    """Return (number of users, randomizer) per group; raise ValueError for anything else."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise ValueError(
            f"{name} must be a list of (number of users, randomizer), got {format_value(value)}."
        )
    groups = []
    for i, group in enumerate(value):
        if not isinstance(group, tuple | list) or len(group) != 2 or not isinstance(group[1], Randomizer):
            raise ValueError(
                f"{name}[{i}] must be (number of users, randomizer), such as (1000, GRR(1.0, 10)), got "
                f"{format_value(group)}. A local budget alone does not determine how well reports hide "
                "others: Laplace noise "
                "of a larger budget hides no user with a smaller one, randomized response does."
            )
        check_randomizer(group[1])
        groups.append((check_count(f"{name}[{i}]: number of users", group[0], least=1), group[1]))
    return tuple(groups)


Groups = Annotated[Sequence[tuple[int, Randomizer]], check_groups]


@dataclass(frozen=True)
class PersonalizedAnswer(Tabular):
    """Central guarantee of one user among users with other randomizers.

    Parameters
    ----------
    eps : float
        Central eps, nats: the smallest of `considered`.
    delta : float
    eps_local : float
        Local budget of the victim, nats.
    reduction : {"blanket", "clones", "local"}
        Reduction of `eps`; ``local`` where no other user hides the victim.
    considered : tuple of (str, float)
        Result of every reduction, nats.
    hiding : tuple of float
        Probability, per group, that a report is drawn from the victim's blanket.
    guarantee, note : str
        As in :class:`shuffledp.guarantees.Standing`; the note also has the reason of every group that does not hide the
        victim.
    neighbours : str
        ``replace_one``.
    """

    eps: float
    delta: float
    eps_local: float
    reduction: str
    considered: tuple[tuple[str, float], ...]
    hiding: tuple[float, ...]
    guarantee: str
    note: str
    neighbours: str = "replace_one"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return dict(plain(asdict(self) | {"considered": dict(self.considered)}))

    def lines(self) -> list[str]:
        """Return the answer as lines of text, every bound rounded to its side."""
        eps, eps_local = number_text(self.eps, "up"), number_text(self.eps_local, "down")
        delta = number_text(self.delta, "up")
        lines = [f"eps = {eps}: a user with a local budget of {eps_local}, delta = {delta}."]
        lines.append(f"Reduction: {self.reduction}. Guarantee: {self.guarantee}.")
        if self.note:
            lines.append(f"Note: {self.note}.")
        return [*lines, "Neighbors differ in this user's input (replaced)."]


def personalized_answer(groups: Groups, delta: Delta, victim: Count) -> PersonalizedAnswer:
    """Return the central guarantee of a user whose report is shuffled with reports of other randomizers.

    Parameters
    ----------
    groups : sequence of (int, Randomizer)
        Number of users, >= 1, and their randomizer, per group. Outputs of finite randomizers with equal numbers are the
        same message.
    delta : float
        In (0, 1).
    victim : int
        Index of the victim's group, from 0. The other users of this group hide the victim as well.

    Returns
    -------
    PersonalizedAnswer

    Raises
    ------
    ValueError
        If a group has no randomizer, or there is no group with the index `victim`.
    Infeasible
        If no finite eps has this delta.

    Notes
    -----
    An upper bound for every data set of the others, replacement neighbors. It is at most the local budget, and the
    local budget itself where no other user hides the victim. Numbers of users, randomizers and groups are public.
    Different randomizers are compared within subset selection with equal sizes (generalized and binary randomized
    response included), within finite randomizers with equal numbers of outputs, and within Laplace noise; any other
    pair of different randomizers counts as not hiding, which can only increase the bound.

    Derived for this project, from Balle, Bell, Gascon and Nissim (2019) and Feldman, McMillan and Talwar (2021).

    Examples
    --------
    >>> from shuffledp.accountant import personalized_answer
    >>> from shuffledp.accounting import LaplaceRandomizer
    >>> answer = personalized_answer([(1, LaplaceRandomizer(0.5)), (9_999, LaplaceRandomizer(2.0))], 1e-6, 0)
    >>> answer.eps, answer.reduction
    (0.5, 'local')
    """
    randomizer = _own(groups, victim)
    pairs = _others(groups, victim)
    epsilons: dict[str, float] = {} if math.isinf(randomizer.eps_local) else {"local": randomizer.eps_local}
    if any(count * _blanket_rate(randomizer, other) > 0 for count, other in pairs):
        epsilons["blanket"] = _blanket_epsilon(randomizer, pairs, delta)
    elif not epsilons:
        epsilons["local"] = population_epsilon(randomizer, Fixed(0), delta, "upper")
    clones = _clones(randomizer, pairs)
    if clones is not None:
        epsilons["clones"] = exact_epsilon(clones, randomizer.eps_local, delta)
    best = min(epsilons, key=lambda name: (epsilons[name], name))
    standing = randomizer.standing
    rates = tuple(_blanket_rate(randomizer, in_subsets(other)) for _, other in groups)
    reasons = (
        f"group {i} does not hide the victim: {_reason(randomizer, in_subsets(groups[i][1]))}"
        for i, rate in enumerate(rates)
        if rate == 0
    )
    return PersonalizedAnswer(
        epsilons[best],
        delta,
        randomizer.eps_local,
        best,
        tuple(sorted(epsilons.items())),
        rates,
        standing.guarantee,
        "; ".join(filter(None, (standing.note, *reasons))),
    )


def personalized_epsilon(groups: Groups, delta: Delta, victim: Count) -> float:
    """Return the central eps of a user whose report is shuffled with reports of other randomizers.

    Parameters
    ----------
    groups, delta, victim
        As in :func:`personalized_answer`, which also has the reduction and the groups that do not hide the victim.

    Returns
    -------
    float
        Nats, at most the victim's local budget; an upper bound.

    Raises
    ------
    Infeasible
        If no finite eps has this delta.

    Notes
    -----
    Derived for this project, see :func:`personalized_answer`.

    Examples
    --------
    >>> from shuffledp.accountant import personalized_epsilon
    >>> from shuffledp.accounting import GRR
    >>> groups = [(500_000, GRR(0.5, 10)), (500_000, GRR(4.0, 10))]
    >>> [round(personalized_epsilon(groups, 1e-8, victim), 5) for victim in (0, 1)]
    [0.00136, 0.02182]
    """
    return personalized_answer(groups, delta, victim).eps


def personalized_delta(groups: Groups, eps: EpsAt, victim: Count) -> float:
    """Return delta of a user whose report is shuffled with reports of other randomizers.

    Parameters
    ----------
    groups, victim
        As in :func:`personalized_answer`.
    eps : float
        Nats, >= 0.

    Returns
    -------
    float
        In [0, 1], the smaller one of both reductions; an upper bound. 0 for eps at and above the local budget.

    Notes
    -----
    Derived for this project, see :func:`personalized_answer`.

    Examples
    --------
    >>> from shuffledp.accountant import personalized_delta
    >>> from shuffledp.accounting import GRR
    >>> f"{personalized_delta([(500_000, GRR(0.5, 10)), (500_000, GRR(4.0, 10))], 0.0014, 0):.2e}"
    '6.15e-09'
    """
    victim_randomizer = _own(groups, victim)
    if eps >= victim_randomizer.eps_local:
        return 0.0
    pairs = _others(groups, victim)

    def blanket(tail: float) -> float:
        randomizer, law, lost = _hiding(victim_randomizer, pairs, tail)
        return population_delta(randomizer, law, eps, "upper") + lost

    delta = min(settled(blanket, first=1e-18, step=1e-12, omitted=_OMITTED), 1.0)
    clones = _clones(victim_randomizer, pairs)
    return delta if clones is None else min(delta, exact_delta(clones, victim_randomizer.eps_local, eps))


def _own(groups: Groups, victim: int) -> Randomizer:
    if victim >= len(groups):
        raise ValueError(f"victim must be the index of a group, in [0, {len(groups) - 1}], got {victim!r}.")
    return in_subsets(groups[victim][1])


def _others(groups: Groups, victim: int) -> tuple[tuple[int, Randomizer], ...]:
    """Return the numbers of other users by randomizer; groups with equal randomizers are merged."""
    counts: dict[Randomizer, int] = {}
    for i, (count, randomizer) in enumerate(groups):
        plain = in_subsets(randomizer)
        counts[plain] = counts.get(plain, 0) + count - (i == victim)
    return tuple((count, randomizer) for randomizer, count in counts.items())


def _weight(randomizer: Randomizer) -> float:
    """Return the mass of the blanket of a randomizer that is compared with different randomizers."""
    if isinstance(randomizer, SubsetSelection):
        return randomizer.blanket_weight
    if isinstance(randomizer, LaplaceRandomizer):
        return math.exp(-randomizer.eps_local / 2)
    if isinstance(randomizer, FiniteRandomizer):
        return float(np.sum(_least(randomizer)))
    return 1.0  # of the same randomizer: any number above 0


def _least(randomizer: FiniteRandomizer) -> NDArray[np.float64]:
    return np.asarray(np.min(np.array(randomizer.table), axis=0), np.float64)


def _blanket_rate(randomizer: Randomizer, other: Randomizer) -> float:
    """Return the largest q with ``other(x) >= q w`` for every input x, for the normalized blanket w of `randomizer`."""
    if randomizer == other:
        return _weight(randomizer)
    if (
        isinstance(randomizer, SubsetSelection)
        and isinstance(other, SubsetSelection)
        and _alike(randomizer, other)
    ):
        return other.blanket_weight
    if isinstance(randomizer, LaplaceRandomizer) and isinstance(other, LaplaceRandomizer):
        # The ratio of the densities is least at 1/2, or at infinity.
        ratio = other.eps_local / randomizer.eps_local
        return ratio * math.exp(-other.eps_local / 2) if ratio < 1 else 0.0
    if (
        isinstance(randomizer, FiniteRandomizer)
        and isinstance(other, FiniteRandomizer)
        and _alike(randomizer, other)
    ):
        least = _least(randomizer)
        if not least.any():
            return 0.0
        return float(np.min(_least(other)[least > 0] / least[least > 0]) * np.sum(least))
    return 0.0


def _clone_rate(randomizer: Randomizer, other: Randomizer) -> float:
    """Return a lower bound on the largest q with ``other(x) >= q (own(x0) + own(x1)) / 2`` for all inputs."""
    if (
        isinstance(randomizer, SubsetSelection)
        and isinstance(other, SubsetSelection)
        and _alike(randomizer, other)
    ):
        odds = math.exp(randomizer.eps_local)
        heavy = randomizer.blanket_weight * (odds if randomizer.subset_size > 1 else 0.5 * (odds + 1))
        return min(1.0, other.blanket_weight / heavy)
    if (
        isinstance(randomizer, FiniteRandomizer)
        and isinstance(other, FiniteRandomizer)
        and _alike(randomizer, other)
    ):
        most = np.mean(np.sort(np.array(randomizer.table), axis=0)[-2:], axis=0)
        positive = most > 0
        return float(np.min(_least(other)[positive] / most[positive], initial=1.0))
    return math.exp(-randomizer.eps_local) if randomizer == other else 0.0


def _alike(randomizer: Any, other: Any) -> bool:
    """Return whether two randomizers of one class have the same outputs."""
    if isinstance(randomizer, SubsetSelection):
        return (randomizer.domain_size, randomizer.subset_size) == (other.domain_size, other.subset_size)
    return len(randomizer.table[0]) == len(other.table[0])


def _reason(randomizer: Randomizer, other: Randomizer) -> str:
    """Return the reason why the reports of `other` do not hide the victim, who uses `randomizer`; both may be equal."""
    if randomizer == other:
        return "its randomizer has no blanket"
    if isinstance(randomizer, LaplaceRandomizer) and isinstance(other, LaplaceRandomizer):
        budgets = f"its budget {other.eps_local:g} is above {randomizer.eps_local:g}"
        return f"{budgets}, its noise too rarely as far from [0, 1]"
    return "its outputs are not comparable with the victim's, or lack some of them"


def _parts(
    pairs: tuple[tuple[int, Randomizer], ...], rate: Callable[[Randomizer], float]
) -> tuple[tuple[int, float], ...]:
    """Return the numbers of trials and the rates of the groups that hide the victim, merged for equal rates."""
    counts: dict[float, int] = {}
    for count, other in pairs:
        at = rate(other)
        if count and at > 0:
            counts[at] = counts.get(at, 0) + count
    return tuple((count, at) for at, count in counts.items())


def _clones(randomizer: Randomizer, pairs: tuple[tuple[int, Randomizer], ...]) -> OtherReports | None:
    if math.isinf(randomizer.eps_local):
        return None
    parts = _parts(pairs, lambda other: _clone_rate(randomizer, other))
    return _KnownClones(PoissonBinomial(parts)) if parts else None


def _blanket_epsilon(
    victim_randomizer: Randomizer, pairs: tuple[tuple[int, Randomizer], ...], delta: float
) -> float:
    randomizer, law, lost = _hiding(victim_randomizer, pairs, _OMITTED * delta)
    return population_epsilon(randomizer, law, delta - lost, "upper")


def _hiding(
    victim_randomizer: Randomizer, pairs: tuple[tuple[int, Randomizer], ...], tail: float
) -> tuple[Randomizer, Law, float]:
    """Return the victim's randomizer, a law of the number of other users, and a probability that delta must include."""
    hiding = [
        (count, other) for count, other in pairs if count and _blanket_rate(victim_randomizer, other) > 0
    ]
    if all(other == victim_randomizer for _, other in hiding):
        return victim_randomizer, Fixed(sum(count for count, _ in hiding)), 0.0
    parts = _parts(pairs, lambda other: _blanket_rate(victim_randomizer, other))
    randomizer = _Normalized(victim_randomizer, _weight(victim_randomizer))
    if len(parts) == 1:
        return randomizer, Binomial(*parts[0]), 0.0
    law = PoissonBinomial(parts)
    if math.sqrt(law.variance) <= _FEW:
        return randomizer, law, 0.0
    return randomizer, *_binomial_below(law, tail)


@dataclass(frozen=True)
class _Normalized:
    """Randomizer with a normalized blanket; the law of the number of others includes the blanket's probability."""

    randomizer: Randomizer
    weight: float

    @property
    def eps_local(self) -> float:
        return self.randomizer.eps_local

    @property
    def standing(self) -> Standing:
        return self.randomizer.standing

    def comparisons(self, side: Side, tail: float) -> tuple[Any, ...]:
        return tuple(self._normalized(each) for each in self.randomizer.comparisons(side, tail))

    def _normalized(self, comparison: Any) -> Outputs | Cells:
        shift = math.log(self.weight)
        field = "masses" if hasattr(comparison, "masses") else "blanket"
        changed: dict[str, Any] = {
            "log_own": comparison.log_own + shift,
            "log_other": comparison.log_other + shift,
            field: getattr(comparison, field) / self.weight,
        }
        made: Outputs | Cells = replace(comparison, **changed)
        return made


class _KnownClones(OtherReports):
    """Clones whose number has the law of the population, which includes the rate."""

    def rate(self, eps_local: float) -> float:
        return 1.0


@remember(64)
def _binomial_below(law: PoissonBinomial, tail: float) -> tuple[Binomial, float]:
    """Return a binomial law that is stochastically below a Poisson-binomial law up to a mass, and this mass.

    Mean and variance are nearly the same. The distribution functions are compared on windows, from the end at which
    they are small. The mass is :func:`_largest_lack` plus the mass that the windows omit.
    """
    exact = law.window(tail)
    rate = 1 - law.variance / law.mean
    lower = 0.5
    while True:
        below = Binomial(max(math.floor((law.mean - lower) / rate), 0), rate)
        made = below.window(tail)
        lost = exact.omitted + made.omitted + _largest_lack(exact, made, round(law.mean))
        if lost <= 1e3 * tail or below.trials == 0:
            return below, lost
        lower *= 1.5


def _largest_lack(exact: Window, made: Window, middle: int) -> float:
    """Return the largest amount by which the first distribution function exceeds the second."""
    start, stop = min(exact.start, made.start), max(exact.stop, made.stop)
    rows = np.zeros((2, stop - start))
    for row, law in zip(rows, (exact, made), strict=True):
        row[law.start - start : law.stop - start] = law.pmf
    below, above = rows[:, : middle - start], rows[:, middle - start :]
    lower = np.cumsum(below, axis=1)
    upper = np.cumsum(above[:, ::-1], axis=1)
    lacks = (lower[0] - lower[1], upper[1] - upper[0])
    return max(0.0, *(float(np.max(lack, initial=0.0)) for lack in lacks))
