"""Results that decide the claims of the paper: methods by experiment, read without an import of the claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SEGMENTED: Final = (
    "segmented",
    "segmented_best",
    "balls_into_bins",
    "subset_shuffled",
    "subset_local",
    "separate",
    "separate_weighted",
    "separate_inverse_variance",
)

READS: Final[Mapping[str, tuple[str, ...]]] = {"msnbc": _SEGMENTED, "uniform": _SEGMENTED}
