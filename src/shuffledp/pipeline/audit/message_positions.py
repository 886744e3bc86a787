"""Where messages count: what views of histograms write their laws with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.audit.finite_laws import Own

#: Many users can be enumerated where what the others hold does not matter.
MANY = 1_000_000


def unit(place: int, axes: int) -> tuple[int, ...]:
    """One message of a kind; none of the counted ones if there is no such axis."""
    return tuple(int(i == place) for i in range(axes))


def response(value: int, k: int, eps_local: float, axes: int) -> Own:
    """One report of generalized randomized response, as counts of the first `axes` values."""
    keep = 1 / (1 + (k - 1) * math.exp(-eps_local))
    law: dict[tuple[int, ...], float] = {}
    for sent in range(k):
        chance = keep if sent == value else math.exp(-eps_local) * keep
        place = unit(sent, axes)
        if chance > 0:
            law[place] = law.get(place, 0.0) + chance
    return law


def plain(payload: NDArray[Any]) -> NDArray[np.int64]:
    """Messages that are numbers are their own kinds."""
    return np.asarray(payload, np.int64)
