"""Number of filled slots out of m when each of n users chooses one slot uniformly."""

import math

import numpy as np

from shuffledp.tasks import Floats, Ints

#: Number of slots or users up to which the law of the number of filled slots is enumerated.
ENUMERATED = 512


#: Largest number of users or slots in memory in a draw of the number of filled slots.
_AT_ONCE = 1 << 22


def filled(users: int, slots: int, rng: np.random.Generator) -> int:
    """Draw the number of filled slots if every user chooses one of m slots. Only the time grows with the users."""
    if users <= _AT_ONCE:
        return int(np.count_nonzero(np.bincount(rng.integers(0, slots, size=users))))
    starts = np.arange(0, slots, _AT_ONCE)
    sizes = np.diff(np.append(starts, slots))
    filled_slots = 0
    for size, coming in zip(sizes.tolist(), rng.multinomial(users, sizes / slots).tolist(), strict=True):
        full = np.zeros(size, bool)
        for begin in range(0, coming, _AT_ONCE):
            full[rng.integers(0, size, size=min(_AT_ONCE, coming - begin))] = True
        filled_slots += int(np.count_nonzero(full))
    return filled_slots


def filled_moments(n_users: Ints, slots: int) -> tuple[Floats, Floats]:
    """Return mean and variance of the number K of filled slots, each (R,)."""
    n = np.asarray(n_users, float)
    one_empty = np.power(1 - 1 / slots, n)  # a given slot stays empty
    two_empty = np.power(max(1 - 2 / slots, 0.0), n)  # two given slots stay empty
    variance = slots * (one_empty - two_empty) + slots**2 * (two_empty - one_empty**2)
    return slots * (1 - one_empty), np.maximum(variance, 0.0)


def inverse_filled(n_users: Ints, slots: int) -> tuple[Floats, Floats]:
    """Return ``E[1/K]`` and ``E[1/K^2]`` for the number K of filled slots, each (R,).

    Exact to 1e-10 for at most 512 slots or users, otherwise a second-order expansion with a relative error below 1e-5.
    """
    n = np.asarray(n_users, np.int64)
    few = n <= (n if slots <= ENUMERATED else ENUMERATED)
    mean, variance = filled_moments(n, slots)
    spread = variance / mean**2
    inverse, inverse_square = (1 + spread) / mean, (1 + 3 * spread) / mean**2
    if np.any(few):
        inverse[few], inverse_square[few] = _enumerated(n[few], slots)
    return inverse, inverse_square


def _enumerated(n: Ints, slots: int) -> tuple[Floats, Floats]:
    # From `enough` users on all slots are filled but for a probability of e^-28.
    enough = math.ceil(slots * (math.log(slots) + 28)) + 1
    numbers = np.minimum(n, enough)
    filled = np.arange(1, min(slots, int(numbers.max())) + 1, dtype=float)
    table = np.empty((int(numbers.max()) + 1, 2))
    law = np.zeros(len(filled))
    law[0] = 1.0  # one user fills one slot
    for users in range(1, len(table)):
        table[users] = law @ (1 / filled), law @ (1 / filled**2)
        law[1:] = law[1:] * (filled[1:] / slots) + law[:-1] * (1 - filled[:-1] / slots)
        law[0] *= 1 / slots
    return table[numbers, 0], table[numbers, 1]
