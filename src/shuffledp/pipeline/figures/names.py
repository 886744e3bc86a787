"""Names of drawings in numerical order, fig2 before fig10, and names of trust models in drawings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

TRUST = {
    "shuffler": "shuffler permutes",
    "shuffler_adds": "shuffler adds or samples",
    "secure_sum": "secure summation",
    "central": "curator",
    "local": "nobody",
}
"""Trusted party by trust model, in the order of a leaderboard."""

if TYPE_CHECKING:
    from collections.abc import Iterable

_COUNTED = re.compile(r"(?P<kind>[a-z_]*?)(?P<number>\d+)(?P<rest>.*)")


def in_natural_order(names: Iterable[str]) -> dict[str, str]:
    """Return names with their first number padded by zeros, so that alphabetical order is numerical order."""
    counted = {name: _COUNTED.fullmatch(name) for name in names}
    widths: dict[str, int] = {}
    for found in counted.values():
        if found:
            widths[found["kind"]] = max(widths.get(found["kind"], 0), len(found["number"]))
    return {
        name: f"{found['kind']}{found['number'].zfill(widths[found['kind']])}{found['rest']}"
        if found
        else name
        for name, found in counted.items()
    }
