"""Results that decide the claims of the paper: methods by experiment, read without an import of the claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

READS: Final[Mapping[str, tuple[str, ...]]] = {
    "table1": ("shuffle_to_order_30", "clones_as_printed"),
    "composition": (
        "shuffle_distance_1",
        "shuffle_distance_2",
        "clones_sensitivity_1",
        "clones_sensitivity_2",
    ),
    "sgd": ("shuffle_2c", "shuffle_2c_pair", "central_to_order_63", "central_pld"),
    "checkin": ("gauss", "generic", "baseline", "shuffling_only", "convex", "pair"),
}
