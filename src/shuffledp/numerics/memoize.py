"""Keeping results: experiments and figures ask for the same numbers again and again."""

from __future__ import annotations

from functools import lru_cache, update_wrapper
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_P = ParamSpec("_P")
_R = TypeVar("_R")

_ALL: list[Callable[[], None]] = []


class Remembering(Generic[_P, _R]):
    """A function that keeps its latest results for equal arguments, within the process.

    Arguments that cannot be hashed, for example a population defined elsewhere, are allowed; then nothing is kept.

    Parameters
    ----------
    function : callable
        Without side effects; its results must not be changed by those who get them.
    size : int
        Number of results to keep.
    """

    def __init__(self, function: Callable[_P, _R], size: int) -> None:
        update_wrapper(self, function)
        self._function = function
        self._cached = lru_cache(size)(function)
        _ALL.append(self._cached.cache_clear)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Return what the function returns."""
        try:
            hash((args, tuple(kwargs.values())))
        except TypeError:
            return self._function(*args, **kwargs)
        return self._cached(*args, **kwargs)  # type: ignore[arg-type]


def remember(size: int) -> Callable[[Callable[_P, _R]], Remembering[_P, _R]]:
    """Return a decorator that makes a function :class:`Remembering`."""
    return lambda function: Remembering(function, size)


def forget_all() -> None:
    """Drop all results, for example before measuring time."""
    for clear in _ALL:
        clear()
