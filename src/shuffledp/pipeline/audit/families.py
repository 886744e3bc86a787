"""Families of protocols by name, so that the audit of one protocol does not import the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from shuffledp.protocols.base import ProtocolBase

_T = TypeVar("_T")


def of_family(protocol: ProtocolBase, entries: Mapping[str, _T]) -> _T | None:
    """Return the entry of a protocol's nearest class; keys are as in ``frequency.solh.Solh``. None without one."""
    for kind in type(protocol).__mro__:
        name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("shuffledp.protocols.")
        if name in entries:
            return entries[name]
    return None
