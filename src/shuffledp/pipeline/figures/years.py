"""Years in which the sources of the protocols were published."""

from __future__ import annotations

import re

from shuffledp.guarantees import OURS, is_derived

_YEAR = re.compile(r"\b((?:19|20)\d\d)\b(?!\.\d)|arXiv (\d\d)\d\d\.\d{4,5}")


def year_of(source: str) -> int | str:
    """Return the year of the first work that a protocol's source names; `OURS` if it was derived for this project."""
    if is_derived(source):
        return OURS
    found = _YEAR.search(source)
    if found is None:
        raise ValueError(f"A source must name a year, got {source!r}.")
    return int(found[1] or f"20{found[2]}")
