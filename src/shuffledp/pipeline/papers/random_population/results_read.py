"""Results that decide the claims of the paper: methods by experiment, read without an import of the claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SINGLE: Final = ("local", "amplified", "non_adaptive", "adaptive")
_MULTI: Final = ("multi_union", "multi_expected")
_OBJECTIVE: Final = ("adaptive_printed_objective",)

READS: Final[Mapping[str, tuple[str, ...]]] = {
    "variance": ("amplified",),
    "dummies": ("amplified", "non_adaptive", "adaptive"),
    "adult": (*_SINGLE, *_OBJECTIVE, "random_checkin", *_MULTI),
    "poisson_even": (*_SINGLE, *_OBJECTIVE, *_MULTI),
    "poisson_skewed": (*_SINGLE, *_OBJECTIVE),
    "gradient": ("amplified", "random_checkin"),
}
