"""Calibration of a protocol: the request is checked, and the class fits its parameters to the request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from inspect import Parameter, signature
from typing import Any, ClassVar, Self, final

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.argument_ranges import TOO_FAR, check_choice, checked_arguments, format_value
from shuffledp.populations.base import Fixed, Population
from shuffledp.protocols._claims import Claims
from shuffledp.protocols.request import Request
from shuffledp.tasks import Budget, Neighbours, Task


def _check_object(name: str, value: object, kind: type, example: str) -> None:
    """Raise a ValueError with the argument's name and an example if the value is not of class `kind`."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} must be a {kind.__name__}, such as {example}, got {format_value(value)}.")


@cache
def _keywords(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the keyword parameters of a function."""
    kinds = (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD)
    return {name: p for name, p in signature(function).parameters.items() if p.kind in kinds}


@dataclass(frozen=True)
class Calibration(Claims):
    """Calibration, with what a request must fit; the second layer of `shuffledp.protocols.ProtocolBase`."""

    #: Accountings that ``calibrate`` accepts, by default the keys of ``guarantees``; others are neither run nor drawn.
    accountings: ClassVar[tuple[str, ...]] = ("printed",)
    #: Neighboring relations of the guarantee; a budget for another relation is infeasible.
    neighbours: ClassVar[tuple[Neighbours, ...]] = ("replace_one",)
    #: True if a budget may have several privacy levels.
    multi_level: ClassVar[bool] = False

    @classmethod
    def fit(cls, request: Request, *args: Any, **options: Any) -> Self:
        """Return the protocol whose parameters meet a request for a fixed number of users, see `fit_random`.

        Implementations take the options of the protocol as keywords, whose ``Annotated`` types declare their ranges.
        They raise `Infeasible` with the reason, if no parameters meet the budget.
        """
        raise NotImplementedError(f"{cls.__name__} defines neither fit nor calibrate.")

    @classmethod
    def fit_random(cls, request: Request, options: Mapping[str, Any]) -> Self:
        """Return the protocol for a random number of users; by default as for a fixed number."""
        return cls.fit(request, **options)

    @classmethod
    def calibrate(
        cls, budget: Budget, population: Population, task: Task, *, accounting: str = "exact", **options: Any
    ) -> Self:
        """Find parameters that meet the budget: check the request, and `fit` the protocol.

        A class may define this method itself.

        Parameters
        ----------
        budget : Budget
            One eps and delta > 0 for ``replace_one`` neighbors, unless the protocol's docstring states otherwise.
        population : Population
            Number of other users.
        task : Task
            Task of the protocol's kind.
        accounting : str
            One of ``accountings``.
        **options
            Options of the protocol, the keywords of `fit`.

        Raises
        ------
        ValueError
            If the request does not fit the protocol, or an option is out of range.
        TypeError
            If the protocol has no such option.
        Infeasible
            With the reason, if no parameters meet the budget, for example because delta is 0.
        """
        cls.check_request(budget, task, accounting)
        _check_object(f"{cls.name}: population", population, Population, "Fixed(999) for 1,000 users")
        request = Request(budget, population, task, accounting)
        arguments = cls._checked_options(options) if options else options
        try:
            if isinstance(population, Fixed):
                fitted = cls.fit(request, **arguments)
            else:
                fitted = cls.fit_random(request, arguments)
        except OverflowError as error:
            raise Infeasible(f"This setting {TOO_FAR}.") from error
        if not isinstance(fitted, cls):
            raise TypeError(f"{cls.name}: fit returns {format_value(fitted)}, expected a {cls.__name__}.")
        return replace(fitted, calibrated_under=accounting, calibrated_for=task)

    @final
    @classmethod
    def calibrated(
        cls, budget: Budget, population: Population, task: Task, *, accounting: str = "exact", **options: Any
    ) -> Self:
        """Return the protocol that ``calibrate`` returns, with the task that its inputs are compared with.

        A class with its own ``calibrate`` may leave the task out.
        """
        made = cls.calibrate(budget, population, task, accounting=accounting, **options)
        if not isinstance(made, cls) or made.calibrated_for is not None:
            return made
        made = copy(made)
        object.__setattr__(made, "calibrated_for", task)
        return made

    @final
    @classmethod
    def options(cls) -> Mapping[str, Parameter]:
        """Return the options of the calibration, ``accounting`` included, as parameters of a signature.

        They are the keywords of `fit`, unless a subclass of the class with `fit` defines ``calibrate`` itself.
        """
        owner = next(base for base in cls.__mro__ if not {"calibrate", "fit"}.isdisjoint(vars(base)))
        keywords = _keywords(cls.calibrate)
        if "fit" not in vars(owner):
            return keywords
        return {"accounting": keywords["accounting"]} | _keywords(cls.fit)

    @final
    @classmethod
    def has_calibration(cls) -> bool:
        """Return whether the class or a base class defines `fit` or ``calibrate``."""
        return cls._defines("fit") or cls._defines("calibrate")

    @classmethod
    def _defines(cls, name: str) -> bool:
        return getattr(cls, name).__func__ is not getattr(Calibration, name).__func__

    @classmethod
    def _checked_options(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options, checked and converted. Raise TypeError for unknown options."""
        names = _keywords(cls.fit)
        unknown = sorted(options.keys() - names.keys())
        if unknown and all(p.kind is not Parameter.VAR_KEYWORD for p in names.values()):
            raise TypeError(f"{cls.name}: no option {unknown[0]!r}; it takes: {', '.join(names) or 'none'}")
        return checked_arguments(cls.fit, options)

    @final
    @classmethod
    def check_request(cls, budget: Budget, task: Task, accounting: str) -> None:
        """Raise an error for an unsupported request. Every ``calibrate`` calls this method first.

        Raises
        ------
        ValueError
            If the budget or task has a wrong type, the accounting is unknown, or the task has another kind.
        Infeasible
            If the guarantee does not cover the budget's neighboring relation, or the budget has several privacy levels
            and ``multi_level`` is not set (meeting only the weakest level would be unsafe).
        """
        _check_object(f"{cls.name}: budget", budget, Budget, "Budget(1.0, 1e-6)")
        _check_object(f"{cls.name}: task", task, Task, "Frequency(20)")
        check_choice(f"{cls.name}: accounting", accounting, cls.accountings)
        if task.kind != cls.task_kind:
            raise ValueError(f"{cls.name} solves {cls.task_kind!r} tasks, but the task is {task.kind!r}.")
        if len(budget.levels) > 1 and not cls.multi_level:
            raise Infeasible(
                f"{cls.name} takes one eps for all users, got the privacy levels {budget.eps!r}."
            )
        if budget.neighbours not in cls.neighbours:
            raise Infeasible(
                f"The guarantee is for {', '.join(cls.neighbours)}, not for {budget.neighbours}."
            )
