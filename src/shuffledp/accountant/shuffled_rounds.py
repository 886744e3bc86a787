"""Accounting of a shuffled batch of reports: its central eps, the largest local budget, the smallest number of users.

Every number is the best one over the reductions that are proven for the randomizer. The result names the reduction:

``clones``
    Feldman, McMillan and Talwar (2021), for any randomizer with the local budget.
``stronger_clones``
    The same at the larger rate ``2 / (e^eps_local + 1)``, for k-ary and binary randomized response only: the
    published proof requires that no output is favored by two inputs.
``blanket``
    The privacy blanket of the randomizer itself.
``own``
    The counts, if the analyzer receives sums and not reports.
``local``
    No amplification: the local budget is the guarantee.

Conventions: eps in nats; one user's input is replaced; delta covers all rounds together. `users` counts all users. A
law of the number of users describes the *other* users, as in :mod:`shuffledp.populations`. User 1 then always takes
part, and `users` is one more than the mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Literal

from shuffledp.accountant.answers import BOUNDS, Answer, Question
from shuffledp.accountant.batches import (
    BatchSetting,
    Crowd,
    checked_fraction,
    crowd_in,
    eps_local_of,
    honest_of,
    law_of,
    people_of,
    setting_of,
)
from shuffledp.accountant.families import ROUNDING, Maker
from shuffledp.accountant.reductions import BLANKET, XTOL, Reduction, central_epsilon, compared
from shuffledp.accountant.searches import XTOL_ROUNDS, XTOL_SHARED, largest_budget, smallest_number
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.blanket import OwnDelta, population_epsilon
from shuffledp.accounting.general.randomizers import GRR, Randomizer
from shuffledp.accounting.user_functions import call_function
from shuffledp.guarantees import Standing
from shuffledp.numerics.argument_ranges import MOST, Delta, Eps, one_of
from shuffledp.populations.base import Fixed, Law, Population

Arrivals = Literal["fixed", "poisson", "binomial"]

#: A relative gap between bounds on eps that is due to a delta which hardly changes with it.
_FLAT = 1e-3
_LEAST_NUMBERS = "delta is averaged over the smallest number of users that the population allows"
_LOST_ROUNDS = (
    "the probability of fewer users than are counted on is taken from delta for every round, whether rounds have the "
    "same users or not"
)
_SHARED = "the number of users is random and the same in all rounds"
_ANEW = "the number of users is drawn anew in every round"
SHUFFLED = (
    "The analyzer sees the reports in random order and nothing else; the shuffler does not collude with it. "
    "It may know the inputs of all other users."
)
_SUMMED = (
    "The analyzer sees sums over all users and nothing else; the party that adds does not collude with it. "
    "It may know the inputs of all other users."
)


def amplification(
    eps_local: float | None = None,
    users: int | None = None,
    delta: Delta | None = None,
    *,
    randomizer: str | Randomizer = "any",
    domain_size: int | None = None,
    subset_size: int | None = None,
    population: Population | None = None,
    colluding: float = 0.0,
    rounds: int = 1,
    crowd: Crowd | None = None,
) -> Answer:
    """Return the central guarantee of a shuffled batch.

    An upper bound: the smallest eps over the reductions, which the module's description lists with their sources.

    Parameters
    ----------
    eps_local : float, optional
        Local budget, nats, in (0, 100]; not for a randomizer that has its own.
    users : int, optional
        Number of users, >= 1; alternatively give a `population`.
    delta : float
        In (0, 1), of all rounds together.
    randomizer : {"any", "grr", "binary", "laplace", "subset", "rappor"} or Randomizer
        ``any``: every randomizer with that local budget. ``rappor``: bits are flipped with probability
        ``1 / (e^(eps_local / 2) + 1)``, and the analyzer receives sums; at most 10^11 expected flips of a bit, the
        number of users times that probability.
    domain_size, subset_size : int, optional
        Parameters of the randomizer.
    population : Population, optional
        Number of the *other* users, colluding users included.
    colluding : float
        In [0, 1): fraction of the users who reveal their reports to the analyzer.
    rounds : int
        Number of rounds with fresh noise, in [1, 10^6]; user 1 takes part in all of them.
    crowd : {"fixed", "shared", "fresh"}, optional
        Number of other users over rounds, if a `population` other than ``Fixed`` is given. ``shared`` (the default): it
        is drawn once, and the same in all rounds. ``fresh``: it is drawn anew in every round. For a bound, ``fresh``
        also covers numbers with any dependence. `users` is ``fixed``: a known number.

    Returns
    -------
    Answer

    Raises
    ------
    Infeasible
        If no reduction is proven for this population, a randomizer without local budget has no finite eps, or more than
        10^11 flips of a bit are expected.

    Examples
    --------
    >>> from shuffledp.accountant import amplification
    >>> answer = amplification(4.0, 1_000_000, 1e-6)
    >>> round(answer.eps, 4), answer.reduction, answer.guarantee
    (0.0493, 'clones', 'upper')
    >>> better = amplification(4.0, 1_000_000, 1e-6, randomizer="grr", domain_size=100)
    >>> round(better.eps, 4), better.reduction
    (0.0198, 'blanket')
    """
    if delta is None:
        raise ValueError("delta is missing; it must be in (0, 1).")
    setting = setting_of(randomizer, domain_size, subset_size, delta, rounds, crowd_in(crowd, population))
    eps_local = eps_local_of(eps_local, setting)
    everyone, honest = people_of(users, population, colluding)
    epsilons = {
        reduction: central_epsilon(setting, eps_local, honest, reduction) for reduction in compared(setting)
    }
    return _answer("amplification", setting, eps_local, everyone, honest, colluding, epsilons, epsilons)


def randomizer_epsilon(
    eps_local: float,
    users: int,
    delta: Delta,
    *,
    randomizer: str = "any",
    domain_size: int | None = None,
    bound: Annotated[str, one_of(BOUNDS)] = "upper",
) -> float:
    """Return a bound on the central eps of shuffled reports, one per user, as a number.

    Sources as for :func:`amplification`, of which this is one number; replacement neighbors.

    Parameters
    ----------
    eps_local, users, delta, randomizer, domain_size
        As in :func:`amplification`, which raises the same errors.
    bound : {"upper", "lower"}
        Upper: for every data set of the other users. Lower: the privacy loss for some data set, which is no guarantee;
        for ``randomizer="any"``, of reports by randomized response over three values.

    Returns
    -------
    float
        Nats; an upper or a lower bound, by `bound`.

    Examples
    --------
    >>> from shuffledp.accountant import randomizer_epsilon
    >>> [round(randomizer_epsilon(2.0, 10_000, 1e-6, bound=bound), 4) for bound in ("upper", "lower")]
    [0.155, 0.1077]
    """
    answer = amplification(eps_local, users, delta, randomizer=randomizer, domain_size=domain_size)
    return answer.eps if bound == "upper" or answer.eps_lower is None else answer.eps_lower


def budget(
    eps: Eps,
    users: int | None = None,
    delta: Delta | None = None,
    *,
    randomizer: str | Maker = "any",
    domain_size: int | None = None,
    subset_size: int | None = None,
    population: Population | None = None,
    colluding: float = 0.0,
    rounds: int = 1,
    crowd: Crowd | None = None,
) -> Answer:
    """Return the largest local budget with which a shuffled batch has a central guarantee.

    A lower bound on the largest valid budget, from all reductions, which the module's description lists with their
    sources.

    Parameters
    ----------
    eps : float
        Central target, nats, > 0.
    users, delta, domain_size, subset_size, population, colluding, rounds, crowd
        As in :func:`amplification`, which this function inverts and which raises the same errors.
    randomizer : str or function
        A name, or a function from a local budget, nats, to a `Randomizer` with this budget, as in
        `calibrate_randomizer`.

    Returns
    -------
    Answer
        With `eps_local` rounded down, at most 100; `eps` is the central eps of that budget, at most the target.

    Examples
    --------
    >>> from shuffledp.accountant import budget
    >>> round(budget(1.0, 100_000, 1e-8, randomizer="grr", domain_size=100).eps_local, 3)
    7.453
    """
    if delta is None:
        raise ValueError("delta is missing; it must be in (0, 1).")
    setting = setting_of(randomizer, domain_size, subset_size, delta, rounds, crowd_in(crowd, population))
    if setting.randomizer is not None:
        raise ValueError("randomizer must be a name, such as 'grr', if its local budget is computed.")
    everyone, honest = people_of(users, population, colluding)
    budgets = {reduction: largest_budget(setting, eps, honest, reduction) for reduction in compared(setting)}
    best = max(budgets, key=lambda reduction: budgets[reduction])
    eps_local = budgets[best]
    tolerance = XTOL if rounds == 1 and not best.is_bound(honest) else XTOL_ROUNDS
    tolerance = XTOL_SHARED if setting.is_shared else tolerance
    reached = central_epsilon(setting, eps_local, honest, best, eps)
    for step in (2, 8):  # two roundings of one number
        if reached > eps:
            eps_local *= 1 - step * tolerance
            reached = central_epsilon(setting, eps_local, honest, best, eps)
    # Delta at the target itself is enough.
    reached = min(reached, eps, rounds * eps_local)
    first = _answer("budget", setting, eps_local, everyone, honest, colluding, {best: reached}, budgets)
    lower = first.eps_lower
    if first.reduction != BLANKET.name or rounds > 1 or not lower or reached < (1 + _FLAT) * lower:
        return first
    # Delta hardly changes with eps here: so little below the target, a far smaller eps may have it.
    closer = central_epsilon(setting, eps_local, honest, best, lower)
    return replace(first, eps=closer, eps_lower=min(lower, closer)) if closer < reached else first


def calibrate_randomizer(
    make: Callable[[float], Randomizer], population: Population, eps: Eps, delta: Delta
) -> Randomizer:
    """Return the user's randomizer with the largest local budget that meets a central budget.

    A lower bound on the largest valid budget, from the delta of the privacy blanket (Balle et al. 2019).

    Parameters
    ----------
    make : callable
        Returns the randomizer with a local budget, nats. Its delta must not decrease with the budget.
    population : Population
        Number of users other than user 1.
    eps, delta : float
        Central target: nats, > 0, and in (0, 1).

    Returns
    -------
    Randomizer
        ``make(eps_local)``, with the budget of :func:`budget`, at most 100; errors as from :func:`amplification`.

    Raises
    ------
    ValueError
        If a randomizer has a larger local budget than the argument of `make`.

    Examples
    --------
    >>> from shuffledp.accountant import calibrate_randomizer
    >>> from shuffledp.accounting import FiniteRandomizer
    >>> from shuffledp.populations import Fixed
    >>> import math
    >>> def make(eps_local):
    ...     keep = 1 / (1 + math.exp(-eps_local))
    ...     return FiniteRandomizer([[keep, 1 - keep], [1 - keep, keep]])
    >>> round(calibrate_randomizer(make, Fixed(9_999), 0.5, 1e-6).eps_local, 4)
    4.3364
    """
    made: dict[float, Randomizer] = {}

    def remembered(eps_local: float) -> Randomizer:
        if eps_local not in made:
            made[eps_local] = call_function("make", make, eps_local)
        return made[eps_local]

    eps_local = budget(eps, delta=delta, population=population, randomizer=remembered).eps_local
    randomizer = remembered(eps_local)
    if not randomizer.eps_local <= eps_local * (1 + ROUNDING):
        raise ValueError(
            f"make({eps_local:.6g}) must have at most this local budget, got {randomizer.eps_local:.6g}."
        )
    return randomizer


def smallest_batch(
    eps_local: float | None = None,
    eps: Eps | None = None,
    delta: Delta | None = None,
    *,
    randomizer: str | Randomizer = "any",
    domain_size: int | None = None,
    subset_size: int | None = None,
    arrivals: Arrivals = "fixed",
    rate: float | None = None,
    colluding: float = 0.0,
    rounds: int = 1,
    crowd: Crowd | None = None,
) -> Answer:
    """Return the smallest number of users with which shuffled reports have a central guarantee.

    An upper bound on the smallest number, never too few users, from all reductions, which the module's description
    lists with their sources.

    Parameters
    ----------
    eps_local, delta, randomizer, domain_size, subset_size, colluding, rounds
        As in :func:`amplification`.
    crowd : {"fixed", "shared", "fresh"}, optional
        As in :func:`amplification`; only with random `arrivals`.
    eps : float
        Central target, nats, > 0.
    arrivals : {"fixed", "poisson", "binomial"}
        ``poisson``: the number of other users is a Poisson variable. ``binomial``: each of several candidates takes
        part with probability `rate`.
    rate : float, optional
        For ``binomial``, in (0, 1].

    Returns
    -------
    Answer
        `users` is the smallest number, or the smallest mean over integer means or integer numbers of candidates.

    Raises
    ------
    Infeasible
        As :func:`amplification`, and if more than 2^53 users would be needed.

    Examples
    --------
    >>> from shuffledp.accountant import smallest_batch
    >>> int(smallest_batch(4.0, 0.5, 1e-6).users)
    13813
    """
    if eps is None or delta is None:
        raise ValueError(f"eps and delta must both be given, got eps={eps!r}, delta={delta!r}.")
    law = law_of(arrivals, rate)
    setting = setting_of(
        randomizer, domain_size, subset_size, delta, rounds, crowd_in(crowd, None if law is Fixed else law(1))
    )
    eps_local = eps_local_of(eps_local, setting)
    colluding = checked_fraction(colluding)

    def people(number: int) -> tuple[float, Population]:
        others = law(number - 1)
        return 1 + others.mean, honest_of(others, colluding)

    numbers = {
        reduction: smallest_number(setting, eps_local, eps, people, reduction)
        for reduction in compared(setting)
    }
    feasible = {reduction: number for reduction, number in numbers.items() if number <= MOST}
    if not feasible:
        raise Infeasible(f"More than 2^53 users would be needed for eps = {eps:g}.")
    best = min(feasible, key=lambda reduction: feasible[reduction])
    everyone, honest = people(int(feasible[best]))
    # Delta at the target itself is enough; eps at delta is that but for rounding.
    answers = {best: min(central_epsilon(setting, eps_local, honest, best, eps), eps)}
    considered = {reduction: people(int(number))[0] for reduction, number in feasible.items()}
    return _answer("batch", setting, eps_local, everyone, honest, colluding, answers, considered)


def _answer(
    question: Question,
    setting: BatchSetting,
    eps_local: float,
    everyone: float,
    honest: Population,
    colluding: float,
    epsilons: dict[Reduction, float],
    considered: dict[Reduction, float],
) -> Answer:
    best = min(epsilons, key=lambda reduction: epsilons[reduction])
    eps = epsilons[best]
    local = setting.rounds * eps_local
    randomizer = setting.make_randomizer(eps_local)
    summed = isinstance(randomizer, OwnDelta) and randomizer.own_delta(0, 0.0, "upper") is not None
    names = {
        reduction: "own" if summed and reduction is BLANKET else reduction.name
        for reduction in {*epsilons, *considered}
    }
    standing = best.standing(randomizer)
    about = _about_numbers(setting, honest, best)
    if about:
        note = "; ".join(filter(None, (standing.note, about)))
        standing = Standing(standing.guarantee, note)
    close = best is BLANKET and eps < local and setting.rounds == 1
    if eps >= local:
        eps, standing = local, Standing("upper")
    lower = _lower(setting, eps_local, honest, eps if close else None)
    return Answer(
        question=question,
        eps=eps,
        eps_lower=None if lower is None else min(lower, eps),
        eps_local=eps_local,
        users=int(everyone) if everyone == math.floor(everyone) else everyone,
        delta=setting.delta,
        reduction="local" if eps >= local else names[best],
        guarantee=standing.guarantee,
        note=standing.note,
        trust=_SUMMED if summed else SHUFFLED,
        neighbours="replace_one",
        population=repr(honest),
        randomizer=setting.family.label if setting.randomizer is None else repr(setting.randomizer),
        rounds=setting.rounds,
        crowd=setting.crowd,
        colluding=float(colluding),
        considered=tuple(
            (names[reduction], float(value))
            for reduction, value in considered.items()
            if math.isfinite(value)
        ),
    )


def _about_numbers(setting: BatchSetting, honest: Population, reduction: Reduction) -> str:
    """Return the note about a random number of users."""
    if setting.rounds > 1 and setting.crowd == "fresh":
        return _ANEW if isinstance(honest, Law) else _LOST_ROUNDS
    if setting.rounds > 1 and setting.crowd == "shared":
        return _SHARED if isinstance(honest, Law) else f"{_LEAST_NUMBERS}; it is the same in all rounds"
    return _LEAST_NUMBERS if reduction.is_bound(honest) else ""


def _lower(setting: BatchSetting, eps_local: float, honest: Population, hint: float | None) -> float | None:
    """Return a lower bound on eps for one round, which also holds for several rounds; None without a law."""
    if not isinstance(honest, Law):
        return None
    randomizer = setting.make_randomizer(eps_local) or GRR(eps_local, 3)  # the worst one known
    return population_epsilon(randomizer, honest, setting.delta, "lower", hint)
