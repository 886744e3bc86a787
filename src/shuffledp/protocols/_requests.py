"""Requests to a calibration: numbers read from a budget, a population and a task, with one error message each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from inspect import Parameter, Signature, signature
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.argument_guards import guarded_call
from shuffledp.populations import Fixed, Law, Population
from shuffledp.protocols.base import check_object
from shuffledp.tasks import Budget, Frequency, Task

if TYPE_CHECKING:
    from shuffledp.protocols.base import ProtocolBase

T = TypeVar("T", bound="ProtocolBase")


def law_of(population: Population) -> Law:
    """Return the population. Raise `Infeasible` if it only bounds the number of users and is no law to sample from."""
    if not isinstance(population, Law):
        raise Infeasible(
            f"{type(population).__name__} bounds the number of users but is not a law that can be sampled."
        )
    return population


def fixed_users(population: Population) -> int:
    """Return the number of users, user 1 included. Raise `Infeasible` if the number is random or only bounded."""
    if not isinstance(population, Fixed):
        raise Infeasible(
            f"The guarantee needs a fixed number of users (population Fixed), got {type(population).__name__}."
        )
    return population.others + 1


def users_until_announced(population: Population) -> int:
    """Return the fixed number of users or the mean number, which parameters assume before the announcement."""
    return 1 + math.floor(population.mean)


def positive_delta(budget: Budget) -> float:
    """Return the delta of a budget. Raise `Infeasible` for 0, at which other users' messages need not hide user 1."""
    if budget.delta == 0:
        raise Infeasible("Hiding among shuffled messages needs delta > 0.")
    return budget.delta


def domain_size_of(task: Task) -> int:
    """Return the k of a frequency task, or raise ValueError for any other task."""
    if not isinstance(task, Frequency):
        raise ValueError(f"This protocol estimates frequencies, but the task is {task.kind!r}.")
    return task.domain_size


#: Further arguments of a calibration besides budget, population and task, and their source.
TAKEN: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "n": (fixed_users, "population"),
    "usual_users": (users_until_announced, "population"),
    "law": (law_of, "population"),
    "k": (domain_size_of, "task"),
    "eps": (attrgetter("largest_eps"), "budget"),
    "delta": (positive_delta, "budget"),
}

_REQUEST = [
    Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)
    for name, kind in (("budget", Budget), ("population", Population), ("task", Task))
]
_KNOWN_WELL = frozenset(("budget", "population", "task", "accounting"))
_ACCOUNTING = Parameter("accounting", Parameter.KEYWORD_ONLY, default="exact", annotation="str")


def checked_request(calibrate: Callable[..., T]) -> Callable[..., T]:
    """Make a ``calibrate`` raise for a population of another type and for options of other types than annotated."""

    @wraps(calibrate)
    def checked(
        cls: type[T], budget: Budget, population: Population, task: Task, *args: Any, **options: Any
    ) -> T:
        check_object(f"{cls.name}: population", population, Population, "Fixed(999) for 1,000 users")
        return calibrate(cls, budget, population, task, *args, **options)

    return guarded_call(checked, method=True, known_well=_KNOWN_WELL)


def from_request(fit: Callable[..., T]) -> Callable[..., T]:
    """Make the ``calibrate`` of a protocol from a function of the numbers that it needs.

    Positional parameters of `fit` after the class are names of `TAKEN`, checked in their order; keywords are
    ``accounting``, if needed, and the protocol's options. The result,
    ``calibrate(cls, budget, population, task, *, accounting="exact", **options)``, raises for arguments of other types
    (`checked_request`) and for unsupported requests (`check_request`), plans for a random number of users
    (`for_population`), and sets ``calibrated_under``.
    """
    first, *parameters = signature(fit).parameters.values()
    options = {p.name: p for p in parameters if p.kind is Parameter.KEYWORD_ONLY}
    names = [p.name for p in parameters if p.name not in options]
    needs_accounting = "accounting" in options
    stated = options.pop("accounting", _ACCOUNTING)

    @wraps(fit)
    def calibrate(
        cls: type[T],
        budget: Budget,
        population: Population,
        task: Task,
        *,
        accounting: str = stated.default,
        **given: Any,
    ) -> T:
        cls.check_request(budget, task, accounting)
        if needs_accounting:
            given["accounting"] = accounting

        def fitted(budget: Budget, population: Population) -> T:
            request: dict[str, Any] = {"budget": budget, "population": population, "task": task}
            for name in names:
                if name in TAKEN:
                    read, source = TAKEN[name]
                    request[name] = read(request[source])
            found = fit(cls, *(request[name] for name in names), **given)
            return replace(found, calibrated_under=accounting)

        return cls.for_population(fitted, budget, population)

    calibrate.__signature__ = Signature([first, *_REQUEST, stated, *options.values()])  # type: ignore[attr-defined]
    return checked_request(calibrate)
