"""Families of protocols by name: the audit of one protocol neither loads the others nor depends on their code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from shuffledp.protocols.base import ProtocolBase

_T = TypeVar("_T")


def of_family(protocol: ProtocolBase, known: Mapping[str, _T]) -> _T | None:
    """Return the entry of the nearest class from which a protocol derives; None if no class has an entry.

    Parameters
    ----------
    protocol : ProtocolBase
    known : mapping
        Entries by module and class below `shuffledp.protocols`, such as ``frequency.solh.Solh``.
    """
    for kind in type(protocol).__mro__:
        name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("shuffledp.protocols.")
        if name in known:
            return known[name]
    return None
