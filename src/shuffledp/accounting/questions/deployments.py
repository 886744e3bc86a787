r"""Three questions about a shuffled batch of reports: how private it is, how little noise is enough, how large it
must be.

Every number is the best one over the reductions that are proven for the randomizer, and the answer says which one
won:

``clones``
    Feldman, McMillan and Talwar (2021), for any randomizer with the local budget.
``stronger_clones``
    The same at the larger rate ``2 / (e^eps_local + 1)``, for k-ary and binary randomized response only: the
    published proof needs that no output is favored by two inputs.
``blanket``
    The privacy blanket of the randomizer itself.
``own``
    The counts that the analyzer sees, where these are sums and not reports.
``local``
    No amplification: the local budget is what holds.

Conventions: eps in nats; one user's input is replaced; delta is that of all rounds together. `users` counts everyone.
A law of the number of users describes the *others*, as in :mod:`shuffledp.populations`; then user 1 takes part for
certain, and `users` is one more than the mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.blanket import (
    COARSE,
    FINE,
    BlanketProfile,
    OwnDelta,
    population_epsilon,
    population_excess,
)
from shuffledp.accounting.general.clone_pair import ClonePair
from shuffledp.accounting.general.clones import ClonesProfile, OtherReports, clone_rate
from shuffledp.accounting.general.composition import composed_epsilon
from shuffledp.accounting.general.profiles import PrivacyProfile
from shuffledp.accounting.general.randomizers import GRR, Randomizer
from shuffledp.accounting.questions.bounds import bounded_delta, bounded_epsilon
from shuffledp.accounting.questions.families import Family
from shuffledp.accounting.random_population.amplification import amplified_epsilon, clone_delta, local_budget
from shuffledp.accounting.standing import UPPER, Standing
from shuffledp.numerics.checks import MOST, check_count, check_open_unit, check_positive
from shuffledp.numerics.magnitudes import log_ratio
from shuffledp.numerics.roots import root_below
from shuffledp.populations import Binomial, Fixed, Law, MomentBounded, Poisson, Population

Question = Literal["amplification", "budget", "batch"]
Arrivals = Literal["fixed", "poisson", "binomial"]
ARRIVALS: tuple[str, ...] = ("fixed", "poisson", "binomial")

#: Names of reductions to clones in answers.
_CLONES = {"clones": "clones", "randomized_response": "stronger_clones"}
#: From so many clones on, those that are shown for comparison are not summed over their number.
_MANY_CLONES = 1e6
_MOST_EPS_LOCAL = 100.0
#: Of more rounds the loss distribution does not fit into memory.
MOST_ROUNDS = 10**6
#: Relative tolerance of budgets; and of them where rounds are composed.
_XTOL, _XTOL_ROUNDS = 1e-7, 1e-4
_LEAST_NUMBERS = "delta is averaged over the smallest number of users that the population allows"
_SHUFFLED = (
    "The analyzer sees the reports in random order and nothing else; the shuffler does not collude with it. "
    "It may know the inputs of all other users."
)
_SUMMED = (
    "The analyzer sees sums over all users and nothing else; whoever adds does not collude with it. "
    "It may know the inputs of all other users."
)


@dataclass(frozen=True)
class Answer:
    """What is known about a shuffled batch.

    Parameters
    ----------
    question : {"amplification", "budget", "batch"}
    eps : float
        Central eps that is proven, nats, for all rounds together.
    eps_lower : float or None
        No smaller eps holds: of data sets in which all others hold the same; for any randomizer, those of randomized
        response over three values. For several rounds that of a single one. None where nothing is known.
    eps_local : float
        Local budget, nats; ``inf`` for Gaussian noise.
    users : float
        All users, user 1 and colluding ones included; the mean if the number is random.
    delta : float
        Of all rounds together.
    reduction : str
        Which one gave `eps`; see the module's description.
    guarantee, note : str
        As in :class:`shuffledp.accounting.standing.Standing`.
    trust : str
        Who sees what.
    neighbours : str
        ``replace_one``.
    population : str
        The number of other users who are honest.
    randomizer : str
    rounds : int
    colluding : float
        Fraction of the users who tell the analyzer their reports.
    considered : tuple of (str, float)
        What every reduction gives for the question: eps, the local budget, or users; without those that say nothing.
    """

    question: Question
    eps: float
    eps_lower: float | None
    eps_local: float
    users: float
    delta: float
    reduction: str
    guarantee: str
    note: str
    trust: str
    neighbours: str
    population: str
    randomizer: str
    rounds: int
    colluding: float
    considered: tuple[tuple[str, float], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, with None for what is infinite."""
        plain = asdict(self) | {"considered": dict(self.considered)}
        return {
            key: None if isinstance(value, float) and math.isinf(value) else value
            for key, value in plain.items()
        }


@dataclass(frozen=True)
class _Setting:
    """A question's fixed part."""

    family: Family
    randomizer: Randomizer | None  # given as it is, in place of the family
    delta: float
    rounds: int

    def at(self, eps_local: float) -> Randomizer | None:
        return self.randomizer or self.family.at(eps_local)

    @property
    def reductions(self) -> tuple[str, ...]:
        if self.randomizer is not None:
            finite = self.randomizer.eps_local <= _MOST_EPS_LOCAL
            return ("clones", "blanket") if finite else ("blanket",)
        clones = tuple(_CLONES[name] for name in self.family.clone_reductions)
        return clones if self.family.kind == "any" else (*clones, "blanket")


def amplification(
    eps_local: float | None = None,
    users: int | None = None,
    delta: float | None = None,
    *,
    randomizer: str | Randomizer = "any",
    domain_size: int | None = None,
    subset_size: int | None = None,
    population: Population | None = None,
    colluding: float = 0.0,
    rounds: int = 1,
) -> Answer:
    """Return the central guarantee of a shuffled batch.

    Parameters
    ----------
    eps_local : float, optional
        Local budget, nats, in (0, 100]; not with a randomizer that states its own.
    users : int, optional
        All users, >= 1; or a `population`.
    delta : float
        In (0, 1), of all rounds together.
    randomizer : {"any", "grr", "binary", "laplace", "subset", "rappor"} or Randomizer
        ``any``: whatever has that local budget. ``rappor``: bits are turned over with probability ``1 / (e^(eps_local
        / 2) + 1)``, and the analyzer sees sums.
    domain_size, subset_size : int, optional
        Of the randomizer.
    population : Population, optional
        Number of the *other* users, who need not all be honest.
    colluding : float
        In [0, 1): this fraction of the users tells the analyzer its reports.
    rounds : int
        How often the same users answer with fresh noise, in [1, 10^6].

    Returns
    -------
    Answer

    Raises
    ------
    Infeasible
        If nothing is proven for this population, or a randomizer without local budget reaches no finite eps.

    Notes
    -----
    An upper bound: the smallest eps over the reductions of the module's description, of which the sources are there.

    Examples
    --------
    >>> from shuffledp.accounting import amplification
    >>> answer = amplification(4.0, 1_000_000, 1e-6)
    >>> round(answer.eps, 4), answer.reduction, answer.guarantee
    (0.0493, 'clones', 'upper')
    >>> better = amplification(4.0, 1_000_000, 1e-6, randomizer="grr", domain_size=100)
    >>> round(better.eps, 4), better.reduction
    (0.0198, 'blanket')
    """
    if delta is None:
        raise ValueError("delta is missing; it must be in (0, 1).")
    setting = _setting(randomizer, domain_size, subset_size, delta, rounds)
    eps_local = _eps_local(eps_local, setting)
    everyone, honest = _people(users, population, colluding)
    found = {name: _epsilon(setting, eps_local, honest, name) for name in setting.reductions}
    return _answer("amplification", setting, eps_local, everyone, honest, colluding, found, found)


def budget(
    eps: float,
    users: int | None = None,
    delta: float | None = None,
    *,
    randomizer: str = "any",
    domain_size: int | None = None,
    subset_size: int | None = None,
    population: Population | None = None,
    colluding: float = 0.0,
    rounds: int = 1,
) -> Answer:
    """Return the largest local budget with which a shuffled batch has a central guarantee.

    Parameters
    ----------
    eps : float
        Central target, nats, > 0.
    users, delta, randomizer, domain_size, subset_size, population, colluding, rounds
        As in :func:`amplification`, whose inverse this is; the randomizer by name.

    Returns
    -------
    Answer
        With `eps_local` rounded down, at most 100; its `eps` is what that budget has, at most the target.

    Raises
    ------
    Infeasible
        As :func:`amplification`.

    Notes
    -----
    A lower bound on what may be spent: the largest budget over the reductions of the module's description, of which
    the sources are there.

    Examples
    --------
    >>> from shuffledp.accounting import budget
    >>> round(budget(1.0, 100_000, 1e-8, randomizer="grr", domain_size=100).eps_local, 3)
    7.453
    """
    eps = check_positive("eps", eps)
    if delta is None:
        raise ValueError("delta is missing; it must be in (0, 1).")
    setting = _setting(randomizer, domain_size, subset_size, delta, rounds)
    if setting.randomizer is not None:
        raise ValueError("budget takes the randomizer by name, because its local budget is asked for.")
    everyone, honest = _people(users, population, colluding)
    found = {name: _budget(setting, eps, honest, name) for name in setting.reductions}
    best = max(found, key=lambda name: found[name])
    eps_local = found[best]
    tolerance = _XTOL if rounds == 1 and not _is_bound(honest, best) else _XTOL_ROUNDS
    reached = _epsilon(setting, eps_local, honest, best)
    for step in (2, 8):  # two roundings of one number
        if reached > eps:
            eps_local *= 1 - step * tolerance
            reached = _epsilon(setting, eps_local, honest, best)
    # Delta at the target itself was found to be enough.
    answers = {best: min(reached, eps, rounds * eps_local)}
    return _answer("budget", setting, eps_local, everyone, honest, colluding, answers, found)


def smallest_batch(
    eps_local: float | None = None,
    eps: float | None = None,
    delta: float | None = None,
    *,
    randomizer: str | Randomizer = "any",
    domain_size: int | None = None,
    subset_size: int | None = None,
    arrivals: Arrivals = "fixed",
    rate: float | None = None,
    colluding: float = 0.0,
    rounds: int = 1,
) -> Answer:
    """Return the smallest number of users with which shuffled reports have a central guarantee.

    Parameters
    ----------
    eps_local : float, optional
        As in :func:`amplification`.
    eps : float
        Central target, nats, > 0.
    delta, randomizer, domain_size, subset_size, colluding, rounds
        As in :func:`amplification`.
    arrivals : {"fixed", "poisson", "binomial"}
        ``poisson``: the number of others is a Poisson variable. ``binomial``: each of a number of others takes part
        with probability `rate`.
    rate : float, optional
        For ``binomial``, in (0, 1].

    Returns
    -------
    Answer
        `users` is the smallest number, or the smallest mean (of whole numbers, or of whole numbers of candidates).

    Raises
    ------
    Infeasible
        As :func:`amplification`, and if more than 2^53 users would be needed.

    Notes
    -----
    Enough, and never too few: an upper bound on the number needed, the smallest one over the reductions of the
    module's description, of which the sources are there.

    Examples
    --------
    >>> from shuffledp.accounting import smallest_batch
    >>> int(smallest_batch(4.0, 0.5, 1e-6).users)
    13813
    """
    if eps is None or delta is None:
        raise ValueError("eps and delta are both needed.")
    eps = check_positive("eps", eps)
    setting = _setting(randomizer, domain_size, subset_size, delta, rounds)
    eps_local = _eps_local(eps_local, setting)
    colluding = _fraction(colluding)
    law = _law_of(arrivals, rate)

    def people(number: int) -> tuple[float, Population]:
        others = law(number - 1)
        return 1 + others.mean, _honest(others, colluding)

    found = {name: _batch(setting, eps_local, eps, people, name) for name in setting.reductions}
    feasible = {name: number for name, number in found.items() if number <= MOST}
    if not feasible:
        raise Infeasible(f"More than 2^53 users would be needed for eps = {eps:g}.")
    best = min(feasible, key=lambda name: feasible[name])
    everyone, honest = people(int(feasible[best]))
    # Delta at the target itself was found to be enough; eps at delta is that but for rounding.
    answers = {best: min(_epsilon(setting, eps_local, honest, best), eps)}
    considered = {name: people(int(number))[0] for name, number in feasible.items()}
    return _answer("batch", setting, eps_local, everyone, honest, colluding, answers, considered)


# -- settings
# ----------------------------------------------------------------------------------------------------------


def _setting(
    randomizer: str | Randomizer,
    domain_size: int | None,
    subset_size: int | None,
    delta: float,
    rounds: int,
) -> _Setting:
    delta, rounds = check_open_unit("delta", delta), checked_rounds(rounds)
    if isinstance(randomizer, str):
        return _Setting(Family(randomizer, domain_size, subset_size), None, delta, rounds)
    if not isinstance(randomizer, Randomizer):
        raise ValueError(f"randomizer must be a name or a Randomizer, got {randomizer!r}.")
    if domain_size is not None or subset_size is not None:
        raise ValueError(
            "A randomizer that is given as it is has its sizes; leave out domain_size and subset_size."
        )
    return _Setting(Family("any"), randomizer, delta, rounds)


def checked_rounds(rounds: int) -> int:
    """Return `rounds` if it is an integer in [1, 10^6], else raise ValueError."""
    number = check_count("rounds", rounds, 1)
    if number > MOST_ROUNDS:
        raise ValueError(f"rounds must be an integer in [1, 10^6], got {rounds!r}.")
    return number


def _eps_local(eps_local: float | None, setting: _Setting) -> float:
    if setting.randomizer is not None:
        if eps_local is not None:
            raise ValueError("A randomizer that is given as it is has its local budget; leave out eps_local.")
        return setting.randomizer.eps_local
    if eps_local is None:
        raise ValueError("eps_local is missing; it must be a positive number, in nats.")
    number = check_positive("eps_local", eps_local)
    if number > _MOST_EPS_LOCAL:
        raise ValueError(f"eps_local must be at most {_MOST_EPS_LOCAL:g}, got {eps_local!r}.")
    setting.family.at(number)  # its own checks
    return number


def _fraction(colluding: float) -> float:
    if isinstance(colluding, bool) or not isinstance(colluding, (int, float)) or not 0 <= colluding < 1:
        raise ValueError(f"colluding must be in [0, 1), got {colluding!r}.")
    return float(colluding)


def _people(users: int | None, population: Population | None, colluding: float) -> tuple[float, Population]:
    """Number of all users, and the law of the honest others."""
    if (users is None) == (population is None):
        raise ValueError(f"Give users or a population, one of them; got {users!r} and {population!r}.")
    if population is None:
        population = Fixed(check_count("users", users or 0, 1) - 1)
    if not isinstance(population, Population):
        raise ValueError(f"population must be a Population, such as Poisson(1000.0), got {population!r}.")
    return 1 + population.mean, _honest(population, _fraction(colluding))


def _honest(others: Population, colluding: float) -> Population:
    """The others who keep their reports to themselves; user 1 is honest, and colluding ones are known."""
    if colluding == 0:
        return others
    if isinstance(others, Fixed):
        return Fixed(max(math.floor((1 - colluding) * (others.others + 1)) - 1, 0))
    if isinstance(others, Binomial):
        return Binomial(max(math.floor((1 - colluding) * (others.trials + 1)) - 1, 0), others.rate)
    if isinstance(others, Poisson):
        return Poisson((1 - colluding) * others.mean)
    raise Infeasible(
        f"How many of a {type(others).__name__} population collude is not determined by a fraction."
    )


def _law_of(arrivals: str, rate: float | None) -> Callable[[int], Law]:
    if arrivals not in ARRIVALS:
        raise ValueError(f"arrivals must be one of {', '.join(ARRIVALS)}; got {arrivals!r}.")
    if (rate is not None) != (arrivals == "binomial"):
        raise ValueError("rate goes with binomial arrivals, and with no others.")
    if arrivals == "fixed":
        return Fixed
    if arrivals == "poisson":
        return lambda number: Poisson(float(number))
    if rate is None or not 0 < rate <= 1:
        raise ValueError(f"rate must be in (0, 1], got {rate!r}.")
    return lambda number: Binomial(number, rate)


# -- one reduction
# -----------------------------------------------------------------------------------------------------


def _clone_reduction(name: str) -> str:
    return "randomized_response" if name == "stronger_clones" else "clones"


def _is_bound(honest: Population, name: str) -> bool:
    """Whether delta is averaged over the smallest number of users that a bound allows; clones know moments as well."""
    return not isinstance(honest, Law) and (name == "blanket" or not isinstance(honest, MomentBounded))


def _report(found: Randomizer | None, name: str) -> Randomizer | str:
    if name != "blanket":
        return _clone_reduction(name)
    assert found is not None, "the blanket of any randomizer is not asked for"
    return found


def _epsilon(setting: _Setting, eps_local: float, honest: Population, name: str) -> float:
    """Central eps by one reduction, ``inf`` if it says nothing."""
    if setting.rounds > 1:
        return _composed(setting, eps_local, honest, name)
    found = setting.at(eps_local)
    if _is_bound(honest, name):
        return bounded_epsilon(_report(found, name), honest, eps_local, setting.delta)
    if name != "blanket":
        many = _many_clones(setting, eps_local, honest, name)
        if many is not None:
            pair = ClonePair(eps_local, _clone_reduction(name))
            return population_epsilon(pair, many, setting.delta, "upper")
        return amplified_epsilon(
            honest, eps_local, setting.delta, accounting="exact", reduction=_clone_reduction(name)
        )
    if found is None or not isinstance(honest, Law):
        return math.inf
    try:
        return population_epsilon(found, honest, setting.delta, "upper")
    except Infeasible:
        if math.isinf(found.eps_local):
            raise
        return found.eps_local


def _many_clones(setting: _Setting, eps_local: float, honest: Population, name: str) -> Law | None:
    """The law of the others where clones cannot win and are many: then a cheap bound, 1e-5 wide, is enough to show."""
    better = setting.reductions.index("blanket") if "blanket" in setting.reductions else 0
    own = isinstance(setting.at(eps_local), OwnDelta)  # is no blanket
    if own or setting.rounds > 1 or not isinstance(honest, Law) or setting.reductions.index(name) >= better:
        return None
    many = honest.mean * clone_rate(eps_local, _clone_reduction(name)) > _MANY_CLONES
    return honest if many else None


def _composed(setting: _Setting, eps_local: float, honest: Population, name: str) -> float:
    if not isinstance(honest, Law):
        name_ = type(honest).__name__
        raise Infeasible(f"Rounds are composed from a law of the number of users; {name_} is a bound.")
    profile = _profile(setting, eps_local, honest, name)
    if profile is None:
        return math.inf
    eps = composed_epsilon([profile], setting.delta, rounds=[setting.rounds])
    return min(eps, setting.rounds * eps_local)


def _profile(setting: _Setting, eps_local: float, honest: Law, name: str) -> PrivacyProfile | None:
    """The privacy profile of one round by one reduction, if it has one."""
    if name != "blanket":
        return ClonesProfile(OtherReports(honest, reduction=_clone_reduction(name)), eps_local)
    found = setting.at(eps_local)
    return None if found is None else BlanketProfile(found, honest)


def batch_profile(
    eps_local: float | None,
    users: int | None,
    *,
    randomizer: str | Randomizer,
    domain_size: int | None,
    subset_size: int | None,
    population: Population | None,
    colluding: float,
) -> tuple[PrivacyProfile, str]:
    """Return the privacy profile of one round of a shuffled batch, and the reduction that it is from.

    Parameters are those of :func:`amplification`. The blanket where there is one, as clones never have a smaller delta
    (:mod:`shuffledp.accounting.general.clone_pair`), and what the analyzer sees where these are sums.

    Raises
    ------
    Infeasible
        For a population that is no law.
    """
    setting = _setting(randomizer, domain_size, subset_size, 0.5, 1)  # at any delta
    eps_local = _eps_local(eps_local, setting)
    _, honest = _people(users, population, colluding)
    if not isinstance(honest, Law):
        name = type(honest).__name__
        raise Infeasible(f"A profile needs a law of the number of users; {name} is a bound.")
    best = setting.reductions[-1]
    profile = _profile(setting, eps_local, honest, best)
    if profile is None:  # pragma: no cover
        raise AssertionError(best)
    return profile, "own" if isinstance(setting.at(eps_local), OwnDelta) else best


def _log_excess(
    setting: _Setting, eps_local: float, eps: float, honest: Population, name: str, gap: float = FINE
) -> float:
    """At most 0 where (eps, delta) holds; increasing in eps_local and falling with users. `gap` is that of a blanket's
    delta."""
    if setting.rounds > 1:
        return log_ratio(_epsilon(setting, eps_local, honest, name), eps)
    if eps >= eps_local:
        return -math.inf
    if _is_bound(honest, name):
        report = _report(setting.at(eps_local), name)
        return log_ratio(bounded_delta(report, honest, eps_local, eps, setting.delta), setting.delta)
    if name != "blanket":
        many = _many_clones(setting, eps_local, honest, name)
        if many is not None:
            pair = ClonePair(eps_local, _clone_reduction(name))
            return population_excess(pair, many, eps, setting.delta, gap)
        value = clone_delta(honest, eps_local, eps, reduction=_clone_reduction(name))
        return log_ratio(value, setting.delta)
    found = setting.at(eps_local)
    if found is None or not isinstance(honest, Law):
        return math.inf
    return population_excess(found, honest, eps, setting.delta, gap)


def _budget(setting: _Setting, eps: float, honest: Population, name: str) -> float:
    if setting.rounds == 1 and name != "blanket" and not _is_bound(honest, name):
        found = local_budget(honest, eps, setting.delta, accounting="exact", reduction=_clone_reduction(name))
        return min(found, _MOST_EPS_LOCAL)

    def excess(gap: float) -> Callable[[float], float]:
        return lambda log_eps_local: _log_excess(setting, math.exp(log_eps_local), eps, honest, name, gap)

    low, high = math.log(eps / setting.rounds), math.log(_MOST_EPS_LOCAL)
    coarse, fine = excess(COARSE), excess(FINE)
    if low >= high or fine(high) <= 0:
        return _MOST_EPS_LOCAL
    guess = math.log(min(max(eps / setting.rounds, 1 + 0.4 * math.log1p(honest.mean * eps * eps)), 50.0))
    if setting.rounds > 1:
        return math.exp(root_below(fine, guess, low, high, xtol=_XTOL_ROUNDS))
    near = root_below(coarse, guess, low, high, xtol=1e-4)
    rise = coarse(near) - coarse(near - 1e-3) if near - 1e-3 > low else math.nan
    slope = 1e3 * rise if math.isfinite(rise) else None
    return math.exp(root_below(fine, near, low, high, xtol=_XTOL, slope=slope))


def _batch(
    setting: _Setting,
    eps_local: float,
    eps: float,
    people: Callable[[int], tuple[float, Population]],
    name: str,
) -> float:
    """The smallest number of users, ``inf`` above 2^53."""

    def excess(number: int) -> float:
        return _log_excess(setting, eps_local, eps, people(number)[1], name)

    if excess(1) <= 0:
        return 1
    low, high = 1, 1024
    while excess(high) > 0:
        low, high = high, 8 * high
        if high > MOST:
            return math.inf
    # The log of the excess is close to a power of the number: steps along the chord in logs, halving now and then.
    at_low, at_high = excess(low), excess(high)
    turn = 0
    while high - low > 1:
        turn += 1
        middle = math.exp(0.5 * (math.log(low) + math.log(high)))
        if turn % 3 and math.isfinite(at_low) and math.isfinite(at_high) and at_low > 0 > at_high:
            share = at_low / (at_low - at_high)
            middle = math.exp((1 - share) * math.log(low) + share * math.log(high))
        number = min(max(round(middle), low + 1), high - 1)
        value = excess(number)
        if value <= 0:
            high, at_high = number, value
        else:
            low, at_low = number, value
    return high


# -- answers
# -----------------------------------------------------------------------------------------------------------


def _answer(
    question: Question,
    setting: _Setting,
    eps_local: float,
    everyone: float,
    honest: Population,
    colluding: float,
    found: dict[str, float],
    considered: dict[str, float],
) -> Answer:
    best = min(found, key=lambda name: found[name])
    eps = found[best]
    local = setting.rounds * eps_local
    randomizer = setting.at(eps_local)
    summed = isinstance(randomizer, OwnDelta) and randomizer.own_delta(0, 0.0, "upper") is not None
    standing = randomizer.standing if best == "blanket" and randomizer is not None else UPPER
    if _is_bound(honest, best):
        note = "; ".join(filter(None, (standing.note, _LEAST_NUMBERS)))
        standing = Standing(standing.guarantee, note)
    if eps >= local:
        best, eps, standing = "local", local, Standing("upper")
    if best == "blanket" and summed:
        best = "own"
    names = {"blanket": "own"} if summed else {}
    lower = _lower(setting, eps_local, honest)
    return Answer(
        question=question,
        eps=eps,
        eps_lower=None if lower is None else min(lower, eps),
        eps_local=eps_local,
        users=everyone,
        delta=setting.delta,
        reduction=best,
        guarantee=standing.guarantee,
        note=standing.note,
        trust=_SUMMED if summed else _SHUFFLED,
        neighbours="replace_one",
        population=repr(honest),
        randomizer=setting.family.label if setting.randomizer is None else repr(setting.randomizer),
        rounds=setting.rounds,
        colluding=float(colluding),
        considered=tuple(
            (names.get(name, name), float(value))
            for name, value in considered.items()
            if math.isfinite(value)
        ),
    )


def _lower(setting: _Setting, eps_local: float, honest: Population) -> float | None:
    """An eps below which there is a counterexample; one round is part of several."""
    if not isinstance(honest, Law):
        return None
    randomizer = setting.at(eps_local) or GRR(eps_local, 3)  # the worst one known
    return population_epsilon(randomizer, honest, setting.delta, "lower")
