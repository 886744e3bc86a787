"""Former name of :mod:`shuffledp.guarantees`, kept for one minor version."""

from __future__ import annotations

import warnings
from typing import Any

from shuffledp import guarantees


def __getattr__(name: str) -> Any:
    """Return a name of :mod:`shuffledp.guarantees` with a `DeprecationWarning`."""
    value = getattr(guarantees, name)
    warnings.warn(
        f"shuffledp.accounting.standing is now shuffledp.guarantees: import {name} from there.",
        DeprecationWarning,
        stacklevel=2,
    )
    return value
