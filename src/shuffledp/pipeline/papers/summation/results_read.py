"""Results that decide the claims of the paper: methods by experiment, read without an import of the claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SUMS: Final = (
    "correlated_sum",
    "split_and_mix",
    "split_and_mix_figure",
    "rappor_plain",
    "rappor_centred",
    "central_laplace",
)

READS: Final[Mapping[str, tuple[str, ...]]] = {"sizes": _SUMS, "users": _SUMS, "pages": ("sparse_sum",)}
