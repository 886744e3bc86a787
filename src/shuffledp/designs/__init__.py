"""Noise designs of this project beyond the papers: coarse noise and jumps, with their protocols.

Entry points register the protocols, as for an installed package. No other part of the library imports them.
"""

from typing import TYPE_CHECKING

from shuffledp.numerics.public_api import checked_door

if TYPE_CHECKING:
    from shuffledp.designs.coarse_design import CoarseDesign as CoarseDesign
    from shuffledp.designs.coarse_noise import (
        CoarseCertificate as CoarseCertificate,
        coarse_noise_delta as coarse_noise_delta,
    )
    from shuffledp.designs.coarse_search import (
        coarse_start as coarse_start,
        finished_design as finished_design,
        search_coarse as search_coarse,
    )
    from shuffledp.designs.coarse_shipped import (
        ShippedCoarse as ShippedCoarse,
        quick_coarse as quick_coarse,
        shipped_coarse as shipped_coarse,
        shipped_coarse_designs as shipped_coarse_designs,
    )
    from shuffledp.designs.jump_laws import (
        JumpCounter as JumpCounter,
        JumpCountersProfile as JumpCountersProfile,
        jump_counters as jump_counters,
        jump_counters_delta as jump_counters_delta,
    )
else:
    __getattr__, __dir__ = checked_door(__name__)
