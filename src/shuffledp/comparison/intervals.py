"""Half-widths of 95 % intervals: for given data, or without data for the worst data.

Without data, the heaviest share is tried at 1, 1/2 and equal shares. The error of a built-in protocol without bias is
affine in a share w, or a multiple of ``w (1 - w)``, so that one of these shares has the largest error. For sums, all
users hold one number; for vectors, one vector.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import chdtri

from shuffledp.comparison.error_references import squared_errors
from shuffledp.comparison.setting import Setting
from shuffledp.numerics.saddlepoint import ErrorLaw, half_widths, normal_term
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.vectors import VectorParticipants
from shuffledp.tasks import Floats, Frequency, Ints, Participants, Sets, Summation, Vectors

#: Probability that an interval does not contain the true value.
LEVEL = 0.05
#: Numbers of values, or of whole sets, with equal shares among the worst data.
_HEAVY = (1, 2)
#: Relative widths within which values have the same half-width, the larger one.
_ALIKE = 0.01
#: Numbers in all rows of numbers that all users hold, and the least and largest number of rows.
_NUMBERS, _FEWEST, _MOST = 2**22, 5, 513

#: Laws of errors, (R, V), each with the weights (R,) of its numbers of participants.
Laws = list[tuple[ErrorLaw, Floats]]
#: Participants (R) and the weights of their numbers.
Case = tuple[Participants, Floats]


def laws_of(protocol: ProtocolBase, participants: Participants, weights: Floats) -> Laws | None:
    """Return the laws of the errors after a public first round; None if a law is unknown."""
    laws: Laws = []
    for refined, repeats in protocol.after_first_round(participants.public):
        some = (
            participants if len(repeats) == participants.public.repeats else participants.of_repeats(repeats)
        )
        law = refined.error_law(some)
        if law is None:
            return None
        laws.append((law, weights[repeats]))
    return laws


def law_of_errors(errors: Floats) -> Laws:
    """Return a normal law for simulated absolute errors (R, V), with an upper 95 % bound on their mean square."""
    repeats = len(errors)
    return [(ErrorLaw([normal_term((errors**2).sum(axis=0) / chdtri(repeats, 0.95))]), np.ones(1))]


def of_values(laws: Laws, size: int) -> tuple[Floats, float]:
    """Return the half-width for each of `size` values, (V,), and the half-width for all of them together."""
    chosen, place, alike = _different(laws[0][0], size)
    some = [(law.of_estimates(chosen), weights[:, None]) for law, weights in laws]
    single = half_widths([(law, weights * np.ones(len(chosen))) for law, weights in some], LEVEL)
    if size == 1:
        return single, float(single[0])
    together = half_widths([(law, weights * alike) for law, weights in some], LEVEL, together=True)
    return single[place], float(together)


def _different(law: ErrorLaw, size: int) -> tuple[Ints, Ints, Ints]:
    """Return estimates with different laws, the index of each of `size` values among them, and their multiplicities."""
    variance, third = (
        np.broadcast_to(part[0], size) for part in (law.variance + np.square(law.least), law.third_moment)
    )
    starts = np.flatnonzero(np.append(True, (np.diff(variance) != 0) | (np.diff(third) != 0)))
    lengths = np.diff(np.append(starts, size))  # of runs of equal laws, as there may be 10^7 values
    variance, third = variance[starts], third[starts]
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.nan_to_num(np.log(variance) / (2 * _ALIKE), neginf=-1e6)
        skew = np.nan_to_num(third / variance**1.5 / (5 * _ALIKE))
    keys = np.ceil(spread) * 1e6 + np.clip(np.rint(skew), -1e5, 1e5)
    _, place = np.unique(keys, return_inverse=True)
    chosen = np.empty(int(place.max()) + 1, np.int64)
    order = np.argsort(variance, kind="stable")
    chosen[place[order]] = starts[order]  # the last one, with the largest variance, remains
    return chosen, np.repeat(place, lengths), np.bincount(place, lengths)


def largest(protocol: ProtocolBase, where: Setting, *, worst: bool) -> tuple[float, float] | None:
    """Return the largest half-width of a value, and the half-width for all values; None if a law is unknown.

    They hold for the worst data, or for the shares of the setting. The worst data of biased estimates are not searched.
    """
    size = int(np.prod(where.task.estimate_shape))
    widths: list[tuple[float, float]] = []
    before: list[Laws] = []
    for participants, weights in _cases(protocol, where) if worst else [where.usual]:
        laws = laws_of(protocol, participants, weights)
        if laws is None:
            return None
        if any(_equal(laws, others) for others in before):  # the noise of many protocols depends on no data
            continue
        before.append(laws)
        single, together = of_values(laws, size)
        widths.append((float(single.max()), together))
    single_widths, joint_widths = zip(*widths, strict=True)
    return max(single_widths), max(joint_widths)


def _equal(first: Laws, second: Laws) -> bool:
    """Return True if the laws are equal; both are of the same numbers of participants."""
    return all(
        np.array_equal(value, other_value)
        for (law, _), (others, _) in zip(first, second, strict=True)
        for term, another in zip(law.terms, others.terms, strict=True)
        for value, other_value in (
            (term.mean, another.mean),
            (term.rate, another.rate),
            (term.scale, another.scale),
            (law.step, others.step),
            (law.least, others.least),
        )
    )


def _cases(protocol: ProtocolBase, where: Setting) -> Iterator[Case]:
    """Yield the data among which the worst data are."""
    task, size = where.task, len(where.shares)
    if isinstance(task, Vectors):
        yield _shortest(where)
    elif isinstance(task, Summation):
        yield where.of_shares(np.eye(1, size, _worst_number(protocol, where))[0])
    else:
        assert isinstance(task, Frequency | Sets)
        each = task.set_size if isinstance(task, Sets) else 1
        for sets in _HEAVY:
            if sets * each < size:
                yield where.of_shares(np.where(np.arange(size) < sets * each, 1 / sets, 0.0))
        yield where.usual


def _worst_number(protocol: ProtocolBase, where: Setting) -> int:
    """Return the number with the largest error of the sum if all users hold it, among evenly spread numbers."""
    size = len(where.shares)
    rows = min(max(_NUMBERS // size, _FEWEST), _MOST)
    spread = np.arange(size) if size <= rows else np.rint(np.arange(rows) * 0.6180339887 % 1 * (size - 1))
    numbers = np.unique(np.append(spread, size - 1)).astype(np.int64)
    n = int(where.usual[0].public.n_users[0])
    counts = np.zeros((len(numbers), size), np.int64)
    counts[np.arange(len(numbers)), numbers] = n
    squared = squared_errors(protocol, where.participants(np.full(len(numbers), n), counts))
    return 0 if squared is None else int(numbers[np.argmax(squared[:, 0])])


def _shortest(where: Setting) -> Case:
    """Return users with tiny vectors along the first axis; a sample of them has the largest variance of all vectors."""
    participants, weights = where.usual
    assert isinstance(where.task, Vectors)
    n, clip = participants.public.users_column, where.task.clip
    zeros = np.zeros((len(n), where.task.dimension))
    along = zeros.copy()
    along[:, 0] = n[:, 0]
    spread = zeros + clip**2 * n / np.maximum(n - 1, 1)
    return VectorParticipants(
        participants.public, zeros, zeros, spread=spread, squares=zeros, directions=along
    ), weights
