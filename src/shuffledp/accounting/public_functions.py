"""The public door of the accounting: functions that answer with numbers, or with one clear error.

The library itself calls the functions where they are defined, with arguments that are checked where they come from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shuffledp.numerics.argument_guards import guarded_call


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the door with its arguments checked, see :func:`guarded_call`."""
    call = guarded_call(function)
    # Where pickle finds it, for pools of processes.
    call.__module__ = "shuffledp.accounting"
    return call
