"""Results that decide the claims of the paper: methods by experiment, read without an import of the claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_DUMP: Final = ("pure_dump", "mix_dump")
_RIVALS: Final = ("grr_blanket", "solh", "truncation", "truncation_plain", "private_coin", "public_coin")
_PLOTTED: Final = (*_DUMP, *_RIVALS, "correlated_noise")

READS: Final[Mapping[str, tuple[str, ...]]] = {
    "local_guarantee": ("mix_dump",),
    "domains": _DUMP,
    "users": _DUMP,
    "flexible": ("flexible_pure_dump", "flexible_mix_dump"),
    "synthetic": (*_PLOTTED, "public_coin_beyond"),
    "ipums": _PLOTTED,
    "ratings": _PLOTTED,
}
