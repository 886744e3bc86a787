"""Views of one independent count per value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from shuffledp.pipeline.audit.finite_laws import Block, Own
from shuffledp.pipeline.audit.message_positions import MANY, plain
from shuffledp.pipeline.audit.views import ProductView

#: Messages of a user for the counts of other values and of its own value, if values are sent without noise.
SENT: tuple[Own, Own] = ({(0,): 1.0}, {(1,): 1.0})


def value_counts(
    k: int,
    eps: float,
    noise: Callable[[int], Block],
    laws: Sequence[Own] = SENT,
    *,
    parts: int = 0,
    **fields: Any,
) -> ProductView:
    """Return the view of the counts of the first `parts` of k equivalent values, by default of all values.

    `noise` returns the law of a count's noise for n users. `laws` has two laws of a user's messages: for the count of
    another value, and for the count of the user's value.
    """
    parts = parts or k
    usual: dict[str, Any] = {
        "most": MANY,
        "counts": lambda payload: [(int(c),) for c in np.bincount(plain(payload), minlength=k)],
        "pairs": ((0, 1),),
        "shifts": True,
    }
    return ProductView(
        inputs=tuple(range(k)),
        eps=eps,
        noise=lambda n: (noise(n),) * parts,
        own=tuple(tuple(laws[i == v] for i in range(parts)) for v in range(k)),
        **{**usual, **fields},
    )
