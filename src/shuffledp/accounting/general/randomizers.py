"""Local randomizers, described for the accountant of shuffled reports.

A randomizer has a local budget and :mod:`comparisons <shuffledp.accounting.general.comparisons>`. An upper bound
compares with the *blanket*, ``w(y) = min_x R(x)(y)``, which every report contains for every input of its user. A lower
bound compares with ``w = R(x)``, the data set in which all other users hold x.

Conventions: eps in nats; replacement of one user's input; E = e^eps_local.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from shuffledp.accounting.general.comparisons import Comparison, Outputs
from shuffledp.accounting.user_functions import call_function, is_foreign, numbers_of
from shuffledp.guarantees import UPPER, Standing
from shuffledp.numerics.argument_ranges import (
    FromOne,
    FromTwo,
    check_fields,
    check_positive,
    checked,
    format_value,
)
from shuffledp.numerics.sum_excess import Side

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: Entries of a table, and kinds of pairs of its inputs that are evaluated: every pair of 64 inputs.
MOST_ENTRIES, MOST_KINDS = 1 << 24, 64 * 63
#: Number of inputs that the other users may hold in a lower bound.
_MOST_HELD = 64
#: Keys that distinguish kinds of pairs, and the constant of SplitMix64.
_KEYS, _ODD = 4, np.uint64(0x9E3779B97F4A7C15)
MOST_EPS_LOCAL = 300.0
_NONE = np.zeros((0, 2))


@runtime_checkable
class Randomizer(Protocol):
    """Interface of a local randomizer for the accountant."""

    @property
    def eps_local(self) -> float:
        """Local budget under replacement, nats; ``inf`` if no finite budget holds with delta 0."""

    @property
    def standing(self) -> Standing:
        """Label of the guarantee of an upper bound from the comparisons."""

    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return pairs of inputs with their blankets; the largest delta of all pairs is the result.

        Parameters
        ----------
        side : {"upper", "lower"}
            ``upper``: against the randomizer's blanket. ``lower``: against other users who all hold one input.
        tail : float
            Mass of unbounded outputs that may be cut off.
        """


def check_randomizer(randomizer: object) -> None:
    """Raise ValueError unless the object is a randomizer; check the members of a third-party randomizer."""
    if not isinstance(randomizer, Randomizer):
        raise ValueError(
            f"randomizer must be a Randomizer, such as GRR(1.0, 10), got {format_value(randomizer)}."
        )
    if not is_foreign(randomizer):
        return
    name = f"randomizer: {type(randomizer).__name__}"
    budget = numbers_of(f"{name}.eps_local", randomizer.eps_local, ())
    if not budget > 0:
        raise ValueError(f"{name}.eps_local must be a positive number or inf, got {budget:g}.")
    if not isinstance(randomizer.standing, Standing):
        raise ValueError(f"{name}.standing must be a Standing, got {format_value(randomizer.standing)}.")
    call_function(f"{name}.__hash__", hash, randomizer)  # results are remembered by it


def checked_budget(name: str, eps_local: float) -> float:
    """Return the local budget as a float. Raise `ValueError` with the name of the randomizer unless the budget is in
    (0, 300] nats.
    """
    number = check_positive(f"{name}: eps_local", eps_local)
    if number > MOST_EPS_LOCAL:
        raise ValueError(f"{name}: eps_local must be at most {MOST_EPS_LOCAL:g}, got {eps_local!r}.")
    return number


def outputs_of(rows: list[tuple[float, float, float]]) -> Outputs:
    """Return outputs from one tuple (log_own, log_other, mass) per kind of output. Kinds of mass 0 are omitted."""
    positive_rows = np.array([row for row in rows if row[2] > 0], np.float64).reshape(-1, 3)
    return Outputs(positive_rows[:, 0], positive_rows[:, 1], positive_rows[:, 2], _NONE)


@dataclass(frozen=True)
class SubsetSelection:
    """Random subset of given size: each subset with the input is E times as likely as each subset without it.

    Source: Ye and Barg (2018). All pairs of inputs are equivalent, so that the upper bound is exact for the blanket.

    Parameters
    ----------
    eps_local : float
        Nats, in (0, 300].
    domain_size : int
        Number of values k, >= 2.
    subset_size : int
        d, in [1, k - 1]; 1 is generalized randomized response.
    """

    eps_local: float
    domain_size: FromTwo
    subset_size: FromOne

    def __post_init__(self) -> None:
        check_fields(self, named=True)
        object.__setattr__(self, "eps_local", checked_budget("SubsetSelection", self.eps_local))
        if self.subset_size >= self.domain_size:
            raise ValueError(
                f"SubsetSelection: subset_size must be in [1, {self.domain_size - 1}], got {self.subset_size!r}."
            )

    @property
    def standing(self) -> Standing:
        """Label ``upper`` of the guarantee, for an adversary who learns which reports come from the blanket."""
        return UPPER

    @checked
    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return comparisons of one pair of inputs: with the blanket (upper), or with other users who all hold a third
        input or one of the two.
        """
        if side == "upper":
            return (self._against_blanket(),)
        third = (self._against_third(),) if self.domain_size > 2 else ()
        return (*third, self._against_one(0), self._against_one(1))

    @property
    def blanket_weight(self) -> float:
        """Probability of a subset without the input, divided by its probability under the uniform law."""
        k, d = self.domain_size, self.subset_size
        decay = math.exp(-self.eps_local)
        return k * decay / (d + (k - d) * decay)

    def _both(self) -> tuple[float, float, float]:
        """Return the probabilities that a uniform subset has both of two values, only a given one, or neither."""
        k, d = self.domain_size, self.subset_size
        pairs = k * (k - 1)
        return d * (d - 1) / pairs, d * (k - d) / pairs, (k - d) * (k - d - 1) / pairs

    def _against_blanket(self) -> Outputs:
        e, share = self.eps_local, self.blanket_weight
        both, single, none = self._both()
        return outputs_of(
            [(e, e, share * both), (e, 0, share * single), (0, e, share * single), (0, 0, share * none)]
        )

    def _against_one(self, others_input: int) -> Outputs:
        """Return the comparison if all other users hold user 1's input (`others_input` is 0) or the input
        that replaces it (1).
        """
        e, share = self.eps_local, self.blanket_weight
        both, single, none = self._both()
        heavy = share * math.exp(e)
        if others_input == 0:
            rows = [(0.0, -e, heavy * single), (0.0, e, share * single)]
        else:
            rows = [(e, 0.0, share * single), (-e, 0.0, heavy * single)]
        return outputs_of([(0.0, 0.0, heavy * both), *rows, (0.0, 0.0, share * none)])

    def _against_third(self) -> Outputs:
        k, d, e = self.domain_size, self.subset_size, self.eps_local
        light = self.blanket_weight
        heavy = light * math.exp(e)
        triples = k * (k - 1) * (k - 2)
        rows = []
        for a in (0, 1):
            for b in (0, 1):
                for third in (0, 1):
                    inside, outside = a + b + third, 3 - a - b - third
                    count = math.prod(d - i for i in range(inside)) * math.prod(
                        k - d - i for i in range(outside)
                    )
                    weight = heavy if third else light
                    rows.append(((a - third) * e, (b - third) * e, weight * max(count, 0) / triples))
        return outputs_of(rows)


@dataclass(frozen=True)
class GRR:
    """Generalized randomized response: the input with probability ``E / (E + k - 1)``, else another value.

    Source: Kairouz, Bonawitz and Ramage (2016). All other values are equally likely; all pairs of values are
    equivalent.

    Parameters
    ----------
    eps_local : float
        Nats, in (0, 300].
    domain_size : int
        Number of values k, >= 2.
    """

    eps_local: float
    domain_size: FromTwo

    def __post_init__(self) -> None:
        check_fields(self, named=True)
        same = SubsetSelection(self.eps_local, self.domain_size, 1)
        object.__setattr__(self, "eps_local", same.eps_local)

    @property
    def standing(self) -> Standing:
        """Label ``upper`` of the guarantee, for an adversary who learns which reports come from the blanket."""
        return UPPER

    @checked
    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return the comparisons of subsets of size 1."""
        return SubsetSelection(self.eps_local, self.domain_size, 1).comparisons(side, tail)


@dataclass(frozen=True)
class BinaryRandomizedResponse:
    """Binary randomized response: a bit is kept with probability ``E / (E + 1)``, else flipped.

    Source: Warner (1965).

    Parameters
    ----------
    eps_local : float
        Nats, in (0, 300].
    """

    eps_local: float

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "eps_local", checked_budget("BinaryRandomizedResponse", self.eps_local))

    @property
    def standing(self) -> Standing:
        """Label ``upper`` of the guarantee, for an adversary who learns which reports come from the blanket."""
        return UPPER

    @checked
    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return the comparisons of generalized randomized response over two values."""
        return SubsetSelection(self.eps_local, 2, 1).comparisons(side, tail)


def in_subsets(randomizer: Randomizer) -> Randomizer:
    """Return randomized response as subset selection, and other randomizers unchanged."""
    if isinstance(randomizer, GRR | BinaryRandomizedResponse):
        return SubsetSelection(randomizer.eps_local, getattr(randomizer, "domain_size", 2), 1)
    return randomizer


@dataclass(frozen=True)
class FiniteRandomizer:
    """Local randomizer with finitely many inputs and outputs, given by its table of probabilities.

    The bound is the largest delta over all ordered pairs of inputs, one of each kind. It is exact up to rounding of the
    entries. A lower bound uses the first 64 different rows only.

    Parameters
    ----------
    table : (inputs, outputs) sequence of sequences, or array
        Row x has the probabilities of the outputs for the input x. Each row sums to 1 within 1e-9 and is then
        normalized. The table has at least 2 inputs, at most 2^24 entries, and at most 4032 kinds of ordered pairs of
        inputs. Pairs that differ in the order of the outputs only are of one kind.

    Examples
    --------
    >>> from shuffledp.accounting import FiniteRandomizer
    >>> round(FiniteRandomizer([[0.75, 0.25], [0.25, 0.75]]).eps_local, 6)
    1.098612
    """

    table: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        check_fields(self)
        try:
            rows = np.array(self.table, np.float64)
        except (TypeError, ValueError):
            raise ValueError("FiniteRandomizer: table must have rows of numbers of equal length.") from None
        if rows.ndim != 2 or rows.shape[0] < 2 or not 0 < rows.size <= MOST_ENTRIES:
            raise ValueError(
                f"FiniteRandomizer: table must be (inputs, outputs) with at least 2 inputs and at most {MOST_ENTRIES} "
                f"entries, got shape {rows.shape}."
            )
        if not (np.all(rows >= 0) and np.all(np.abs(np.sum(rows, axis=1) - 1) <= 1e-9)):
            raise ValueError("FiniteRandomizer: every row of table must hold probabilities that sum to 1.")
        rows = rows / np.sum(rows, axis=1, keepdims=True)
        object.__setattr__(self, "table", tuple(tuple(row) for row in rows.tolist()))

    @property
    def _rows(self) -> NDArray[np.float64]:
        rows = np.array(self.table)
        return rows[:, np.max(rows, axis=0) > 0]

    @property
    def eps_local(self) -> float:
        """Largest log ratio of two entries of a column; ``inf`` if one entry is 0."""
        rows = self._rows
        least, most = np.min(rows, axis=0), np.max(rows, axis=0)
        return math.inf if np.any(least == 0) else float(np.max(np.log(most) - np.log(least)))

    @property
    def standing(self) -> Standing:
        """Label ``upper`` of the guarantee, for an adversary who learns which reports come from the blanket."""
        return UPPER

    @checked
    def comparisons(self, side: Side, tail: float) -> tuple[Comparison, ...]:
        """Return comparisons of one ordered pair of inputs per kind: with the blanket (upper), or with other users who
        all hold one input.
        """
        all_rows = self._rows
        _, places = np.unique(all_rows, axis=0, return_index=True)
        rows = all_rows[np.sort(places)] if len(places) > 1 else all_rows[:2]
        rows = rows if side == "upper" else rows[:_MOST_HELD]
        blankets = [np.min(rows, axis=0)] if side == "upper" else list(rows)
        pairs = sorted((*pair, i) for i, blanket in enumerate(blankets) for pair in _pairs(rows, blanket))
        if side == "upper" and len(pairs) > MOST_KINDS:
            raise ValueError(
                f"FiniteRandomizer: at most {MOST_KINDS} kinds of pairs of inputs are compared, got {len(pairs)}."
            )
        outputs_of_kind: dict[bytes, Outputs] = {}
        for first, second, i in pairs:
            made = _finite(rows[first], rows[second], blankets[i])
            outputs_of_kind.setdefault(_kind(made), made)
        return tuple(outputs_of_kind.values())


def _pairs(rows: NDArray[np.float64], blanket: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the first ordered pair of inputs of every kind. The keys of a pair are sums over the outputs of products
    of two hashes of 15 bits, exact in double precision. They do not depend on the order of outputs; two kinds share all
    four keys with a probability of about 2^-56.
    """
    covered = blanket > 0
    with np.errstate(divide="ignore"):
        value = np.where(covered, np.log(rows) - np.log(np.where(covered, blanket, 1.0)), rows)
    values, masses = (
        np.unique(np.round(part, 10) + 0.0, return_inverse=True)[1].reshape(part.shape).astype(np.uint64)
        for part in (value, blanket)
    )
    codes = values * np.uint64(masses.size) + masses
    keys = np.zeros((len(rows), len(rows)), np.uint64)
    for turn in range(_KEYS):
        own_hashes, other_hashes = (_hashed(codes, 2 * turn + which) for which in (0, 1))
        keys = keys * _ODD + (own_hashes @ other_hashes.T).astype(np.uint64)
    at, to = np.nonzero(~np.eye(len(rows), dtype=bool))
    first = np.sort(np.unique(keys[at, to], return_index=True)[1])
    return [(int(at[i]), int(to[i])) for i in first]


def _hashed(numbers: NDArray[np.uint64], seed: int) -> NDArray[np.float64]:
    """Return hashes of 15 bits, by the finalizer of SplitMix64 (Steele, Lea and Flood 2014)."""
    z = (numbers * np.uint64(2 * _KEYS) + np.uint64(seed + 1)) * _ODD
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z >> np.uint64(49)).astype(np.float64)


def _finite(
    own_row: NDArray[np.float64], other_row: NDArray[np.float64], blanket: NDArray[np.float64]
) -> Outputs:
    covered = blanket > 0
    with np.errstate(divide="ignore"):
        log_own, log_other = (np.log(row[covered]) - np.log(blanket[covered]) for row in (own_row, other_row))
    kinds, index = np.unique(np.round(np.column_stack((log_own, log_other)), 12), axis=0, return_inverse=True)
    if len(kinds) < log_own.size:  # outputs of one kind are one
        masses = np.bincount(index.ravel(), blanket[covered], len(kinds)).astype(np.float64)
        first = np.array([int(np.argmax(index.ravel() == i)) for i in range(len(kinds))])
        log_own, log_other = log_own[first], log_other[first]
    else:
        masses = blanket[covered]
    outside = np.column_stack((own_row[~covered], other_row[~covered]))
    return Outputs(log_own, log_other, masses, outside)


def _kind(outputs: Outputs) -> bytes:
    """Return a key that is equal for two comparisons if they differ in the order of outputs only."""
    rows = np.column_stack((outputs.log_own, outputs.log_other, outputs.masses))
    return b"|".join(_sorted(part) for part in (rows, outputs.outside))


def _sorted(rows: NDArray[np.float64]) -> bytes:
    rounded = np.asarray(np.round(rows, 10) + 0.0, np.float64)  # without -0
    return rounded[np.lexsort(rounded.T)].tobytes() if rounded.size else b""
