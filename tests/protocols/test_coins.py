import numpy as np
import pytest

from shuffledp.protocols._coins import coin_blocks


@pytest.mark.parametrize("users, width", [(0, 3), (7, 3), (5, 2**21), (2, 2**23)])
def test_blocks_are_ordered_and_small(users, width):
    blocks = list(coin_blocks(users, width, np.random.default_rng(1)))
    assert [i for block, _ in blocks for i in range(block.start, block.stop)] == list(range(users))
    assert all(coins.shape == (block.stop - block.start, width) for block, coins in blocks)
    assert all(coins.size <= max(2**22, width) for _, coins in blocks)
    at_once = np.random.default_rng(1).random((users, width))
    assert all(np.array_equal(coins, at_once[block]) for block, coins in blocks)
