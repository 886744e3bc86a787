"""Results that decide the claims of the study: methods by experiment, read without an import of the claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_COUNTS: Final = ("central_laplace", "correlated_noise", "balls_into_bins")
_REPORTS: Final = ("subset_selection", "pgr", "pi_rappor", "hadamard_response", "recursive_hadamard")

READS: Final[Mapping[str, tuple[str, ...]]] = {
    "prefixes": (*_COUNTS, *(f"{name}_tree" for name in _COUNTS)),
    "trees": (
        *(f"central_laplace_{part}" for part in ("two", "binary", "two_sums", "binary_sums", "split")),
        *(f"balls_into_bins_{part}" for part in ("two", "binary", "wavelet", "split")),
    ),
    "local_reports": _REPORTS,
    "reports": ("subset_selection", "pgr", "hadamard_response", "recursive_hadamard"),
}
