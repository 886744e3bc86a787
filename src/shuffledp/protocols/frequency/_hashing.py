"""Seeded hash functions on arrays, whose values are nearly independent and uniform.

The hash of v under a seed is output v of the generator SplitMix64 (Steele, Lea and Flood 2014) started from the seed.
Its upper 32 bits are scaled to the range, so that some values are more likely by a factor of at most
``1 + range / 2^32``.
"""

import math
from itertools import count

import numpy as np
from numpy.typing import NDArray

from shuffledp.numerics.memoize import remember
from shuffledp.tasks import Array

SEED_BITS = 32
#: Largest range of a hash function.
MOST_CELLS = 2**32

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_SHIFTS = tuple(map(np.uint64, (30, 27, 31, 32)))


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Apply the finalizer of SplitMix64 in place."""
    state ^= state >> _SHIFTS[0]
    state *= _FIRST
    state ^= state >> _SHIFTS[1]
    state *= _SECOND
    state ^= state >> _SHIFTS[2]
    return state


def hash_values(seeds: Array, values: Array, cells: int) -> NDArray[np.uint64]:
    """Return hashes in 0..cells-1, cells at most 2^32, of values under seeds; both arrays broadcast."""
    spread = np.atleast_1d(np.array(seeds, np.uint64)) * _STEP  # so that neighbouring seeds are far apart
    state = _mix(spread) + (np.atleast_1d(np.asarray(values, np.uint64)) + np.uint64(1)) * _STEP
    state = _mix(state)
    state >>= _SHIFTS[3]
    state *= np.uint64(cells)
    state >>= _SHIFTS[3]
    return state


def draw_seeds(count: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    """Draw uniform 32-bit seeds."""
    return rng.integers(0, 2**SEED_BITS, size=count, dtype=np.uint32)


def is_prime(number: int) -> bool:
    """Return whether a number in 2..2^32 is prime, by trial division."""
    divisors = np.arange(3, math.isqrt(number) + 1, 2)
    return number == 2 or bool(number % 2 and np.all(number % divisors))


@remember(1024)
def prime_above(number: int) -> int:
    """Return the smallest prime above a number in 1..2^32."""
    return next(candidate for candidate in count(max(number + 1, 2)) if is_prime(candidate))
