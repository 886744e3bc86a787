"""Public names of a package whose functions check their arguments and return numbers or raise one clear error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shuffledp.lazy_api import door


def checked_door(
    package: str, moved_to: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package, whose functions check their arguments.

    Modules of the package call each other's functions without these checks. See :func:`~shuffledp.lazy_api.door`.
    """

    def with_checks(function: Callable[..., Any]) -> Callable[..., Any]:
        from shuffledp.numerics.argument_ranges import checked

        call = checked(function)
        call.__module__ = package  # where pickle finds it, for pools of processes
        return call

    return door(package, with_checks, moved_to)
