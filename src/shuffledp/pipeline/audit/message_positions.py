"""Positions of messages in the vectors of counts of histogram views."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.audit.finite_laws import Own

#: Number of users that can be enumerated if the others' inputs do not matter.
MANY = 1_000_000


def unit(place: int, axes: int) -> tuple[int, ...]:
    """Return the cell of one message of a kind, or zeros if the kind is not counted."""
    return tuple(int(i == place) for i in range(axes))


def response(value: int, k: int, eps_local: float, axes: int) -> Own:
    """Return the law of one report of generalized randomized response as counts of the first `axes` values."""
    keep = 1 / (1 + (k - 1) * math.exp(-eps_local))
    law: dict[tuple[int, ...], float] = {}
    for sent in range(k):
        chance = keep if sent == value else math.exp(-eps_local) * keep
        place = unit(sent, axes)
        if chance > 0:
            law[place] = law.get(place, 0.0) + chance
    return law


def plain(payload: NDArray[Any]) -> NDArray[np.int64]:
    """Return the messages as integers: each number is a kind of its own."""
    return np.asarray(payload, np.int64)
