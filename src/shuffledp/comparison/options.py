"""Options of a comparison, listed once for Python, the command line and the reader of user data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike

    from shuffledp.comparison.rows import Compared
    from shuffledp.populations.base import Population
    from shuffledp.tasks import Neighbours, Task

P = ParamSpec("P")
Given = TypeVar("Given")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class SettingOptions:
    """Arguments for users, data and budget, described at `shuffledp.compare`."""

    _: KW_ONLY
    eps: float
    delta: float
    users: int | None = None
    population: Population | None = None
    task: Task | None = None
    domain_size: int | None = None
    set_size: int | None = None
    max_value: float | None = None
    dimension: int | None = None
    norm: Literal["l1", "l2"] = "l2"
    counts: ArrayLike | None = None
    data: Any = None
    column: str | None = None
    separator: str | None = None
    user: str | None = None
    item: str | None = None
    values: Sequence[Any] | None = None
    levels: int | None = None
    per_user: Literal["random", "first", "sum"] | None = None
    delimiter: str | None = None
    memory: str | None = None
    neighbours: Neighbours = "replace_one"
    accounting: str | None = None
    seed: int = 0
    root: Path | None = None

    def given(self, *names: str) -> list[str]:
        """Return the names, out of the given names, whose option is not None."""
        return [name for name in names if getattr(self, name) is not None]


@dataclass(frozen=True, eq=False)
class Options(SettingOptions):
    """Arguments of `shuffledp.compare`."""

    users: int | None = None
    _: KW_ONLY
    protocols: Sequence[str] | None = None
    trust: Sequence[str] | None = None
    max_bits: float | None = None
    max_messages: float | None = None
    mean_bits: float | None = None
    mean_messages: float | None = None
    simulate: int = 0
    poisoned: int = 0
    colluding: float = 0.0
    progress: Callable[[int, int, str], None] | None = None
    done: Callable[[Compared], None] | None = None


@dataclass(frozen=True, eq=False)
class BatchOptions(SettingOptions):
    """Arguments of `shuffledp.simulate`."""

    data: Any = None
    _: KW_ONLY
    protocol: str
    options: Mapping[str, Any] | None = None


def with_arguments_of(
    options: Callable[P, Given],
) -> Callable[[Callable[[Given], Result]], Callable[P, Result]]:
    """Return a decorator for functions of an options object; the new function takes the object's fields."""

    def decorate(function: Callable[[Given], Result]) -> Callable[P, Result]:
        result = inspect.signature(function).return_annotation
        signature = inspect.signature(options).replace(return_annotation=result)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> Result:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{function.__name__}(): {error}.") from None
            return function(options(*args, **kwargs))

        vars(call)["__signature__"] = signature
        return call

    return decorate
