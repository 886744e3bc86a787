"""What a calibration is asked for: numbers read off a budget, a population and a task, refused in one sentence each."""

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
    """The population, if it is a law.

    Raises
    ------
    Infeasible
        If it is a mere bound on the number of users, which cannot be simulated.
    """
    if not isinstance(population, Law):
        raise Infeasible(
            f"{type(population).__name__} bounds the number of users but is not a law that can be sampled."
        )
    return population


def fixed_users(population: Population) -> int:
    """Number of users, user 1 included, where the guarantee counts on what everybody sends.

    Raises
    ------
    Infeasible
        If the number is random or only bounded.
    """
    if not isinstance(population, Fixed):
        raise Infeasible(
            f"The guarantee counts on the messages of a fixed number of users, and {type(population).__name__} "
            "leaves their number open."
        )
    return population.others + 1


def users_until_announced(population: Population) -> int:
    """Users that are planned for until their number is announced: all of a fixed number, or the mean."""
    return 1 + math.floor(population.mean)


def positive_delta(budget: Budget) -> float:
    """The delta of a budget, where privacy comes from hiding among the messages of others.

    Raises
    ------
    Infeasible
        If delta is 0: there may be nobody, or nothing, to hide among.
    """
    if budget.delta == 0:
        raise Infeasible("Hiding among shuffled messages needs delta > 0.")
    return budget.delta


def domain_size_of(task: Task) -> int:
    """The k of a frequency task; any other task is a mistake in the configuration."""
    if not isinstance(task, Frequency):
        raise ValueError(f"This protocol estimates frequencies, but the task is {task.kind!r}.")
    return task.domain_size


#: What a calibration may take besides budget, population and task, and what each is read off.
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
    """Make a ``calibrate`` refuse what is no population, and options of other kinds than their annotations.

    What is no budget or no task is refused by `ProtocolBase.check_request`.
    """

    @wraps(calibrate)
    def checked(
        cls: type[T], budget: Budget, population: Population, task: Task, *args: Any, **options: Any
    ) -> T:
        check_object(f"{cls.name}: population", population, Population, "Fixed(999) for 1,000 users")
        return calibrate(cls, budget, population, task, *args, **options)

    return guarded_call(checked, method=True, known_well=_KNOWN_WELL)


def from_request(fit: Callable[..., T]) -> Callable[..., T]:
    """Make the ``calibrate`` of a protocol from a function of the numbers that it needs.

    Parameters
    ----------
    fit : callable
        Its positional parameters behind the class are names of `TAKEN`, and are refused in their order: n, all users of
        a fixed number; k, the values; eps; delta > 0; and so on. Keywords are ``accounting``, if it matters, and the
        options of the protocol.

    Returns
    -------
    callable
        ``calibrate(cls, budget, population, task, *, accounting="exact", **options)``. It refuses arguments of other
        kinds (`checked_request`) and what the protocol is not made for (`check_request`), plans for a random number of
        users where the protocol can (`for_population`), and notes the accounting in ``calibrated_under``.
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
