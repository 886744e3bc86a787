"""Keeping results: experiments and figures ask for the same numbers again and again."""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_P = ParamSpec("_P")
_R = TypeVar("_R")


def remember(size: int) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Return a decorator that keeps the latest `size` results for equal arguments, within the process.

    For functions without side effects whose results are not changed afterwards. Arguments that cannot be hashed,
    for example a population defined elsewhere, are allowed; then nothing is kept.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        cached = lru_cache(size)(function)

        @wraps(function)
        def remembering(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                hash((args, tuple(kwargs.values())))
            except TypeError:
                return function(*args, **kwargs)
            return cached(*args, **kwargs)  # type: ignore[arg-type]

        return remembering

    return decorate
