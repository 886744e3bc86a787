"""Pieces of a repeated index."""

import numpy as np
import pytest

from shuffledp.numerics.repeated_indices import pieces, repeated


@pytest.mark.parametrize("counts", [[3], [0, 2, 0, 0, 5, 1, 0], [1, 1, 1], [0, 0, 4]])
def test_pieces_equal_the_whole_list(counts):
    table = np.array(counts)
    whole = np.repeat(np.arange(len(table)), table)
    for size in range(1, len(whole) + 2):
        found = list(pieces(table, size))
        assert [start for start, _ in found] == list(range(0, len(whole), size))
        assert np.concatenate([piece for _, piece in found]).tolist() == whole.tolist()
    for start in range(len(whole)):
        for stop in range(start + 1, len(whole) + 1):
            assert repeated(np.cumsum(table), start, stop).tolist() == whole[start:stop].tolist()


def test_nobody_and_many_users():
    assert list(pieces(np.zeros(3, np.int64), 5)) == []
    start, piece = next(pieces(np.array([10**15, 10**15]), 10))
    assert (start, piece.tolist()) == (0, [0] * 10)
    ends = np.array([10**15, 2 * 10**15])
    assert repeated(ends, 10**15 - 2, 10**15 + 1).tolist() == [0, 0, 1]
