"""Public API of the accounting: functions that check their arguments and return numbers or raise one clear error.

The library itself calls the underlying functions, with arguments that its callers have checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shuffledp.numerics.argument_ranges import checked


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the public API that checks its arguments, see :func:`checked`."""
    call = checked(function)
    # Where pickle finds it, for pools of processes.
    call.__module__ = "shuffledp.accounting"
    return call
