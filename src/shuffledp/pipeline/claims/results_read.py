"""Results that decide the claims of a paper: methods by experiment, read without an import of the claims.

A rule that reads other results raises an error, because its job would not depend on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SINGLE: Final = ("local", "amplified", "non_adaptive", "adaptive")
_MULTI: Final = ("multi_union", "multi_expected")
_OBJECTIVE: Final = ("adaptive_printed_objective",)
_DUMP: Final = ("pure_dump", "mix_dump")
_DUMP_RIVALS: Final = ("grr_blanket", "solh", "truncation", "truncation_plain", "private_coin", "public_coin")
_PLOTTED: Final = (*_DUMP, *_DUMP_RIVALS, "correlated_noise")
_SEGMENTED: Final = (
    *("segmented", "segmented_best", "balls_into_bins", "subset_shuffled", "subset_local"),
    *("separate", "separate_weighted", "separate_inverse_variance"),
)
_SUMS: Final = (
    *("correlated_sum", "split_and_mix", "split_and_mix_figure"),
    *("rappor_plain", "rappor_centred", "central_laplace"),
)

READS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "random_population": {
        "variance": ("amplified",),
        "dummies": ("amplified", "non_adaptive", "adaptive"),
        "adult": (*_SINGLE, *_OBJECTIVE, "random_checkin", *_MULTI),
        "poisson_even": (*_SINGLE, *_OBJECTIVE, *_MULTI),
        "poisson_skewed": (*_SINGLE, *_OBJECTIVE),
        "gradient": ("amplified", "random_checkin"),
    },
    "dump": {
        "local_guarantee": ("mix_dump",),
        "domains": _DUMP,
        "users": _DUMP,
        "flexible": ("flexible_pure_dump", "flexible_mix_dump"),
        "synthetic": (*_PLOTTED, "public_coin_beyond"),
        "ipums": _PLOTTED,
        "ratings": _PLOTTED,
    },
    "summation": {
        **dict.fromkeys(("sizes", "users"), _SUMS),
        "pages": ("sparse_sum",),
    },
    "shuffle_gaussian": {
        "table1": ("shuffle_to_order_30", "clones_as_printed"),
        "composition": (
            "shuffle_distance_1",
            "shuffle_distance_2",
            "clones_sensitivity_1",
            "clones_sensitivity_2",
        ),
        "sgd": ("shuffle_2c", "shuffle_2c_pair", "central_to_order_63", "central_pld"),
        "checkin": ("gauss", "generic", "baseline", "shuffling_only", "convex", "pair"),
    },
    "segmented": dict.fromkeys(("msnbc", "uniform"), _SEGMENTED),
}
"""Results by paper, in the order of the table of claims."""
