"""Random numbers for every user and every value, in blocks of bounded size."""

from collections.abc import Iterator

import numpy as np

from shuffledp.tasks import Floats

#: Number of coins that are flipped together.
_COINS = 2**22


def coin_blocks(users: int, width: int, rng: np.random.Generator) -> Iterator[tuple[slice, Floats]]:
    """Yield the users of each block and uniform numbers in [0, 1), (users of the block, width)."""
    step = max(1, _COINS // width)
    for begin in range(0, users, step):
        end = min(begin + step, users)
        yield slice(begin, end), rng.random((end - begin, width))
