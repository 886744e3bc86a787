"""Caches of results that experiments and figures compute repeatedly."""

from __future__ import annotations

from functools import lru_cache, update_wrapper
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_P = ParamSpec("_P")
_R = TypeVar("_R")

_ALL: list[Callable[[], None]] = []


class Remembering(Generic[_P, _R]):
    """Function without side effects, with a cache of its latest `size` results; callers must not change the results.
    Results for arguments without a hash, for example a third-party population, are not cached.
    """

    def __init__(self, function: Callable[_P, _R], size: int) -> None:
        update_wrapper(self, function)
        self._function = function
        self._cached = lru_cache(size)(function)
        _ALL.append(self._cached.cache_clear)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Return the result of the function, from the cache if possible."""
        try:
            hash((args, tuple(kwargs.values())))
        except TypeError:
            return self._function(*args, **kwargs)
        return self._cached(*args, **kwargs)  # type: ignore[arg-type]


def remember(size: int) -> Callable[[Callable[_P, _R]], Remembering[_P, _R]]:
    """Return a decorator that makes a function :class:`Remembering`."""
    return lambda function: Remembering(function, size)


def forget_all() -> None:
    """Delete all cached results, for example before measuring time."""
    for clear in _ALL:
        clear()
