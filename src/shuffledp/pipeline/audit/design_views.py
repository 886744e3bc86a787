"""Views of the protocols of `shuffledp.designs`, which entry points register."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.audit.finite_laws import Block, Jumps, compound_counts, jump_chances, jump_counts
from shuffledp.pipeline.audit.frequency import correlated_view
from shuffledp.pipeline.audit.message_positions import MANY
from shuffledp.pipeline.audit.summation import held_numbers, input_pairs, number_rows, raw_inputs
from shuffledp.pipeline.audit.views import ProductView, View

if TYPE_CHECKING:
    from shuffledp.designs.coarse_correlated_sum import CoarseCorrelatedSum
    from shuffledp.designs.jump_counts import JumpCounts

#: Largest omitted mass of the law of a sum of three dimensions, and the largest mass that wraps around.
_CENTRAL_TAIL = 1e-12


def jump_noise(protocol: JumpCounts, eps: float) -> View:
    """Return the view of `correlated_noise` with a random number of jumps as the common noise of +1 and -1."""
    return correlated_view(protocol, eps, Jumps(protocol.rate, protocol.center), math.exp(-protocol.eps_star))


def coarse_sum(protocol: CoarseCorrelatedSum, eps: float, number: int | None = None) -> View:
    """Return the view of numbers 1..D and -D: three dependent counts, and a separate count for each other noise.

    The three counts are the sum, the messages D, and the messages -D that no other noise explains; the number of ones
    follows from the sum. For D = 1 the sum is the difference of the two counts.
    """
    design, numbers = protocol.design, protocol.numbers
    size, part = design.max_value, 1.0 if number is None else number / protocol.n_users
    atoms = {j: Jumps(r, m) for j, (r, m) in enumerate(zip(design.rates, design.centers, strict=True), 1)}
    middle = range(2, size)
    content = {j: ({j, size - j} if 2 * j < size else {j}) for j in middle}

    def seen(counts: Mapping[int, int]) -> list[tuple[int, ...]]:
        draws: dict[int, int] = {}
        for j in middle:  # from small to large: the partner of a small one is known when its turn comes
            draws[j] = counts.get(j, 0) - sum(draws[i] for i in content if i < j and j in content[i])
        low = counts.get(-size, 0) - sum(draws.values())
        total = sum(m * k for m, k in counts.items())
        first = (counts.get(size, 0), low) if size == 1 else (total, counts.get(size, 0), low)
        return [first, *((draws[j],) for j in middle)]

    def noise(n: int) -> tuple[Block, ...]:
        rates: dict[tuple[int, ...], float] = {}
        a = design.central_ratio
        reach = math.ceil(math.log(_CENTRAL_TAIL) / math.log(a))
        for j in range(1, reach + 1):
            for sign in (1, -1):
                times = math.floor(sign * j / size)  # of D or -D; ones make up the rest
                vector = (sign * j, max(times, 0), max(-times, 0))
                rates[vector] = part * a**j / j
        joint = {size: (0, 1, 1), 1: (0, 0, 1)} if size > 1 else {1: (0, 1, 1)}
        for index, (_, up, down) in joint.items():
            for times, chance in enumerate(jump_chances(atoms[index].center).tolist(), 1):
                vector = (0, up * times, down * times)
                rates[vector] = rates.get(vector, 0.0) + part * atoms[index].rate * chance
        most = {j: jump_counts(atoms[j].part(part)).mass.size for j in joint}
        ups = most[size] + reach // size + 2
        downs = reach + sum(most.values())
        beyond = 2 * _CENTRAL_TAIL / (1 - a)
        if size == 1:
            flat = {v[1:]: rate for v, rate in rates.items()}
            first = compound_counts(flat, (0, 0), (ups, downs), beyond)
        else:
            first = compound_counts(rates, (-reach, 0, 0), (2 * reach + 1, ups, downs), beyond)
        others = (jump_counts(atoms[j].part(part)) for j in middle)
        return (first, *others)

    def counts(payload: NDArray[Any]) -> list[tuple[int, ...]]:
        kinds, times = np.unique(number_rows(numbers, payload)[1], return_counts=True)
        return seen(dict(zip(kinds.tolist(), times.tolist(), strict=True)))

    input_numbers = held_numbers(numbers)
    return ProductView(
        inputs=raw_inputs(numbers, input_numbers),
        eps=eps,
        most=MANY,
        noise=noise,
        own=tuple(tuple({place: 1.0} for place in seen({m: 1} if m else {})) for _, m in input_numbers),
        counts=counts,
        kinds=lambda payload: number_rows(numbers, payload)[1] + size,
        pairs=input_pairs(input_numbers),
        shifts=True,
        by_number=None if number is not None else lambda n: coarse_sum(protocol, eps, n),
    )
