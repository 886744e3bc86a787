"""Vectors over the field of two elements, stored as bits of integers: kernels, spans and random subspaces."""

from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.tasks import Array, Floats, Ints


def parity(vectors: Array) -> NDArray[np.bool_]:
    """Return whether the number of ones is odd, elementwise. The inner product of a and b is ``parity(a & b)``."""
    return np.asarray(np.bitwise_count(vectors) & 1, np.bool_)


def hadamard_transformed(table: Array) -> Array:
    """Return the Walsh-Hadamard transform of the last axis, whose length is a power of two."""
    result, size = np.array(table), 1
    while size < table.shape[-1]:
        pairs = result.reshape(*table.shape[:-1], -1, 2, size)
        result = np.stack((pairs[..., 0, :] + pairs[..., 1, :], pairs[..., 0, :] - pairs[..., 1, :]), axis=-2)
        size *= 2
    return result.reshape(table.shape)


def kernel_law(rows: int, columns: int) -> Floats:
    """Return the probabilities that the kernel of a uniform matrix has dimension 0..columns, (columns + 1,).

    Rank R has the probability ``2^(-(rows - R)(columns - R)) prod_(i < R) (1 - 2^(i - rows)) (1 - 2^(i - columns)) / (1
    - 2^(i - R))``; given its dimension, the kernel is a uniform subspace.
    """
    law = np.zeros(columns + 1)
    for rank in range(min(rows, columns) + 1):
        i = np.arange(rank, dtype=float)
        factors = (1 - 2 ** (i - rows)) * (1 - 2 ** (i - columns)) / (1 - 2 ** (i - rank))
        law[columns - rank] = np.prod(factors) * 2.0 ** (-(rows - rank) * (columns - rank))
    return law


def random_subspaces(
    count: int, dimension: int, bits: int, rng: np.random.Generator, through: Ints | None = None
) -> Ints:
    """Draw uniform subspaces of GF(2)^bits that contain the vectors `through`, as elements (count, 2^dimension)."""
    elements = np.zeros((2**dimension, count), np.int64)  # numpy is slow along short axes
    size = 1
    if through is not None:
        elements[1], size = through, 2
    while size < len(elements):
        new = rng.integers(0, 2**bits, size=count)
        inside = np.flatnonzero(np.any(elements[:size] == new, axis=0))
        while inside.size:  # a uniform vector outside of what is spanned so far
            new[inside] = rng.integers(0, 2**bits, size=inside.size)
            inside = inside[np.any(elements[:size, inside] == new[inside], axis=0)]
        np.bitwise_xor(elements[:size], new, out=elements[size : 2 * size])
        size *= 2
    return elements.T


def kernel_bases(matrices: Array, bits: int) -> tuple[Ints, Ints]:
    """Return bases of the kernels of matrices, (M, bits) with zeros last, and dimensions, (M,); rows are integers."""
    matrices = np.asarray(matrices)
    kind: type[np.signedinteger[Any]] = np.int64 if bits > 31 else np.int32
    # A line per basis vector: there are few of them, and numpy is slow along short axes.
    bases: NDArray[np.signedinteger[Any]]
    bases = np.repeat((2 ** np.arange(bits)).astype(kind)[:, None], len(matrices), axis=1)
    for row in matrices.T.astype(kind):
        # A vector outside of the kernel of this row leaves the basis and corrects the others that are outside.
        outside = np.negative(parity(bases & row).astype(kind))  # all bits set, or none
        pivot = np.zeros_like(row)
        for vector, mask in zip(bases[::-1], outside[::-1], strict=True):
            pivot ^= (vector ^ pivot) & mask  # the first one in the end
        bases ^= pivot & outside  # the pivot itself becomes 0
    dimensions = np.count_nonzero(bases, axis=0)
    kernels = np.zeros((len(matrices), bits), np.int64)
    some = np.nonzero(dimensions)[0]
    nonzero_bases = bases.T[some]
    kernels[some] = np.take_along_axis(
        nonzero_bases, np.argsort(nonzero_bases == 0, axis=1, kind="stable"), 1
    )
    return kernels, dimensions


def spans(bases: Ints) -> Ints:
    """Return all elements of the subspaces with these bases: (M, d) becomes (M, 2^d), 0 first."""
    elements = np.zeros((len(bases), 1), np.int64)
    for vector in bases.T:
        elements = np.concatenate((elements, elements ^ vector[:, None]), axis=1)
    return elements


def subspace_count(dimension: int, bits: int) -> int:
    """Return the number of subspaces of GF(2)^bits of this dimension, a Gaussian binomial coefficient."""
    count = 1
    for i in range(dimension):
        count = count * (2 ** (bits - i) - 1) // (2 ** (i + 1) - 1)
    return count


@lru_cache(maxsize=64)
def all_subspaces(dimension: int, bits: int) -> NDArray[np.bool_]:
    """Return all subspaces of this dimension in lexicographic order, as a table of vectors, (subspaces, 2^bits)."""
    bases = np.concatenate(
        [_reduced_bases(leading, bits) for leading in combinations(range(bits), dimension)]
    )
    table = np.zeros((len(bases), 2**bits), np.bool_)
    np.put_along_axis(table, spans(bases), True, axis=1)
    packed = np.packbits(table, axis=1)
    return table[np.lexsort(packed.T[::-1])[::-1]]


def _reduced_bases(leading: tuple[int, ...], bits: int) -> Ints:
    """Return the reduced echelon bases with these leading bits, one basis per subspace, (M, len(leading))."""
    free = [(i, bit) for i, lead in enumerate(leading) for bit in range(lead) if bit not in leading]
    chosen = np.arange(2 ** len(free))
    bases = np.tile(2 ** np.array(leading, np.int64), (chosen.size, 1))
    for place, (i, bit) in enumerate(free):
        bases[:, i] |= (chosen >> place & 1) << bit
    return bases
