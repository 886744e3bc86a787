"""Joint law of the dependent parts of the analyzer's view, slice by slice, by sums of positive numbers.

In the terms of :mod:`shuffledp.designs.coarse_design`, it is the law of ``(Sigma, u, t)`` with
``t = v - u``, so that ``Sigma = S, u = U + z_D, t = A - U + z_1``. Positive and negative jumps of the central noise are
independent: ``S = S+ - S-`` with geometric summands, where U depends on S+ only and A on S- only. So

    Pr[S = s, U, A] = sum_k Pr[S+ = k, U] Pr[S- = k - s, A],
    Pr[s, u, t] = sum_U Pr[z_D = u - U] sum_A Pr[s, U, A] Pr[z_1 = t - A + U].

Both are products of matrices, and the laws on the right follow from Panjer's recursion. All summands are positive, so
every probability has a small relative error, :attr:`CoarseLaw.error`. Omitted mass, of far values and of cells below a
threshold, only decreases a probability. No transform is used, so no mass wraps around.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.summation.jump_noise import jump_law, last_noise
from shuffledp.accounting.summation.loss_cells import UNIT
from shuffledp.designs.coarse_design import CoarseDesign

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Largest number of cells of a slice.
_MOST_SLICE = 2**25
#: Least number of columns of a product; with these, and from a multiple of 16 on, it rounds as the product of all does.
_NARROW = 64


@dataclass(frozen=True, eq=False)
class Slice:
    """Cells of one Sigma that are not omitted, with their masses, and the log masses of all cells.

    `place` refers to a table with :attr:`CoarseLaw.width` columns, in row order. `logs` is minus infinity at omitted
    cells.
    """

    place: Ints
    mass: Floats
    log_mass: Floats
    logs: Floats


@dataclass(frozen=True, eq=False)
class CoarseLaw:
    """Components of all slices; a probability exceeds the true probability by at most `error`, relative.

    `up` is the law of ``(S+, U)`` and `down` the law of ``(S-, A)``. `pair` has the law of ``z_D`` at ``u - U``, (rows,
    U). `ones` has the law of ``z_1`` at ``k - A`` with ``k = t + U >= 0``, (A, columns). `first` is the lowest t,
    `width` the number of values of t plus one on each side, `threshold` the mass below which cells are omitted, and
    `size` is D.
    """

    up: Floats
    down: Floats
    pair: Floats
    ones: Floats
    first: int
    width: int
    threshold: float
    error: float
    size: int

    @property
    def reach(self) -> int:
        """Largest absolute value of Sigma."""
        return len(self.up) - 1

    @property
    def slices(self) -> int:
        """Number of slices, ``2 reach + 1``."""
        return 2 * self.reach + 1

    def slice(self, number: int) -> Slice:
        """Return the cells with Sigma equal to ``number - reach``, or no cells if `number` is out of range."""
        # A border of empty cells: what lies outside of the table has no mass.
        logs = np.full((len(self.pair) + 2) * self.width, -np.inf)
        place, mass = (
            self._cells(number) if 0 <= number < self.slices else (np.empty(0, np.int64), np.empty(0))
        )
        log_mass = np.log(mass)
        logs[place] = log_mass
        return Slice(place, mass, log_mass, logs)

    def _cells(self, number: int) -> tuple[Ints, Floats]:
        """Return the places and probabilities of the cells that are not omitted.

        With few levels, these cells are in few columns, as a bound on a column's largest probability shows.
        """
        shifted = self._shifted(number - self.reach)
        likely = np.flatnonzero(self.pair.max(axis=0) @ shifted > self.threshold * (1 - 1e-9))
        first, stop = 0, self.width - 2
        if likely.size and 2 * max(int(likely[-1] - likely[0]), _NARROW) < stop:
            first = int(likely[0]) // 16 * 16
            stop = max(int(likely[-1]) + 1, first + _NARROW)
        cells = self.pair @ shifted[:, first:stop]
        cell = np.flatnonzero(cells > self.threshold)
        row, column = np.divmod(cell, cells.shape[1])
        return (row + 1) * self.width + first + column + 1, cells.take(cell)

    def table(self, number: int) -> Floats:
        """Return the probabilities of all stored u and t at Sigma = ``number - reach``, without a threshold."""
        return np.asarray(self.pair @ self._shifted(number - self.reach))

    def _shifted(self, s: int) -> Floats:
        """Return ``Pr[S = s, U, t]``, (U, columns)."""
        low, high = max(s, 0), min(self.reach, self.reach + s) + 1
        by_k = self.up[low:high].T @ self.down[low - s : high - s] @ self.ones
        table = np.zeros((len(by_k), self.width - 2))
        for count, row in enumerate(by_k):  # t = k - count
            begin = self.first + count
            part = row[max(begin, 0) : max(begin + self.width - 2, 0)]
            at = max(-begin, 0)
            table[count, at : at + part.size] = part
        return table


def coarse_law(design: CoarseDesign, *, tail: float, threshold: float) -> CoarseLaw:
    """Return the joint law of ``(Sigma, u, t)``, never above the true law except for rounding.

    Each part omits at most the probability `tail`, and cells of at most the probability `threshold` are omitted. Raises
    Infeasible if a slice does not fit into memory.
    """
    size, a = design.max_value, design.central_ratio
    reach = math.ceil(math.log(tail) / math.log(a))
    up, down = _one_sign(a, size, reach, up=True), _one_sign(a, size, reach, up=False)
    counts_up, counts_down = up.sum(axis=0), down.sum(axis=0)
    # Counts with a total probability below the tail are omitted.
    up, down = up[:, : _kept(counts_up, tail)], down[:, : _kept(counts_down, tail)]
    pair, pair_error = _atom(design, size, tail)
    unit_law, unit_error = _atom(design, 1, tail) if size > 1 else (np.ones(1), 0.0)
    ups, downs = up.shape[1], down.shape[1]
    if (pair.size + ups) * (unit_law.size + ups + downs) > _MOST_SLICE:
        raise Infeasible(f"The noise needs slices of more than {_MOST_SLICE} cells.")
    of_u = np.convolve(pair, counts_up[:ups])
    of_t = np.convolve(
        np.convolve(unit_law, counts_down[:downs]), counts_up[:ups][::-1]
    )  # from t = 1 - ups on
    rows, columns = np.flatnonzero(of_u > threshold), np.flatnonzero(of_t > threshold)
    u = np.arange(rows[0], rows[-1] + 1)
    lag = u[:, None] - np.arange(ups)
    inside = (lag >= 0) & (lag < pair.size)
    toeplitz = np.where(inside, pair[np.clip(lag, 0, pair.size - 1)], 0.0)
    ones = np.zeros((downs, unit_law.size + downs - 1))
    for count in range(downs):
        ones[count, count : count + unit_law.size] = unit_law
    error = pair_error + unit_error + 4 * UNIT * (reach + 1) * (reach + 6)
    error += 2 * UNIT * (reach + ups + downs + 10)
    return CoarseLaw(
        up,
        down,
        toeplitz,
        ones,
        int(columns[0]) + 1 - ups,
        int(columns[-1] - columns[0]) + 3,
        threshold,
        error,
        size,
    )


def outcomes(design: CoarseDesign, tail: float) -> float:
    """Return an estimate of the work: the size of the box of ``(Sigma, u, t)`` that omits about `tail` in each part."""
    reach = math.log(tail) / math.log(design.central_ratio)
    atoms = {1, design.max_value} - ({1} if design.max_value == 1 else set())
    widths = [last_noise(design.rates[j - 1], design.centers[j - 1], tail) for j in atoms or {1}]
    return (2 * reach + 1) * math.prod(map(float, widths))


def _atom(design: CoarseDesign, index: int, tail: float) -> tuple[Floats, float]:
    rate, center = design.rates[index - 1], design.centers[index - 1]
    return jump_law(rate, center, last_noise(rate, center, tail) + 1)


def _kept(law: Floats, tail: float) -> int:
    """Return the number of leading values after which the remaining mass is at most `tail`."""
    rest = np.cumsum(law[::-1])[::-1]
    return max(int(np.count_nonzero(rest > tail)), 1)


def _one_sign(ratio: float, size: int, reach: int, *, up: bool) -> Floats:
    """Return the joint law of the sum S of all jumps of one sign and the number of their messages D or -D.

    The law is (reach + 1, reach / D + 2), by Panjer's recursion for jumps j at the rates ``ratio^j / j``. A positive
    jump has ``floor(j / D)`` messages D, a negative one ``ceil(j / D)`` messages -D. The number is at most S.
    """
    most = reach // size if up else reach
    most = min(most, math.ceil(60 / max(-math.log(ratio) * size, 1e-300)) + 80)
    law = np.zeros((reach + 1, most + 1))
    law[0, 0] = 1 - ratio
    powers = ratio ** np.arange(reach + 1.0)
    for s in range(1, reach + 1):
        weighted = powers[1 : s + 1, None] * law[s - 1 :: -1] if s > 1 else powers[1:2, None] * law[:1]
        starts = np.arange(0, s, size) if not up else np.concatenate(([0], np.arange(size - 1, s, size)))
        groups = np.add.reduceat(weighted, np.unique(starts), axis=0)
        row = law[s]
        for place, group in enumerate(groups):
            count = place + (0 if up and size > 1 else 1)
            if count > most:
                break
            row[count:] += group[: most + 1 - count]
        row /= s
    return law
