r"""Exact privacy of one report among uniform messages that match each value independently.

A message may *match* a value: a local-hashing report (H, y) matches x if ``H(x) = y``, a Hadamard tuple matches x if
all its entries lie in the codeword of x. A message drawn uniformly matches x with probability r, and x' with
probability r, independently. The user's report is uniform with probability lambda, else uniform among the messages
that match its value, ``lambda = 1 / (1 + r (E - 1))``, ``E = e^eps_local``; ``eps_local = inf`` gives lambda = 0.

* Local hashing over d' cells, reports through randomized response over the cells: ``r = 1/d'``.
* Tuples of tau Hadamard codewords: ``r = 2^-tau``, ``eps_local = inf``.

Under the law in which all M = m + 1 messages are uniform, the density of the view for input x is
``lambda + (1 - lambda) a / (r M)``, a being the number of messages that match x, and the same with b for x'. If (A, B,
C) counts the messages that match x only, x' only and both, it is multinomial with rates ``r (1 - r)``, ``r (1 - r)``,
``r^2``; hence a = A + C and b = B + C are independent Bin(M, r), and

.. math:: \delta = \frac{1 - \lambda}{r M} \, E\bigl[ (a - e^\epsilon b - \kappa M)^+ \bigr],
          \quad \kappa = \frac{e^\epsilon - 1}{E - 1}.

Exchanging the inputs exchanges a and b, so both directions agree. Replacement neighbors; the inputs of all other
users are known to the adversary, and which of their messages are uniform. Derived for this project.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.checks import check_count, check_nonnegative, check_open_unit, check_positive
from shuffledp.numerics.magnitudes import settled
from shuffledp.numerics.tails import log_binomial_pmfs
from shuffledp.numerics.windows import Window, binomial_window

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Terms that a window may have; beyond this the arrays no longer fit.
_MOST_TERMS = 1e7
#: Cells of the table over (m, a) that are treated at once.
_CELLS = 500_000
#: Beyond this e^eps overflows; the divergence no longer changes.
_MOST_EPS = 700.0
#: Numbers of messages per standard deviation that are told apart in a mixture.
BLOCKS = 64


def matched_rate(match_rate: float, eps_local: float) -> float:
    """Return lambda, the probability that a report is uniform.

    Parameters
    ----------
    match_rate : float
        r, in (0, 1).
    eps_local : float
        Nats, > 0; ``inf`` gives 0.
    """
    decay = math.exp(-eps_local)
    return decay / (match_rate + (1 - match_rate) * decay)


def matched_delta(eps: float, uniform_messages: int, match_rate: float, eps_local: float = math.inf) -> float:
    """Return the exact delta of one report among uniform messages.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    uniform_messages : int
        m, >= 0, the report itself not counted.
    match_rate : float
        r, in (0, 1).
    eps_local : float
        Budget of the report, nats, > 0; ``inf`` for a report that always matches its value.

    Returns
    -------
    float
        In [0, 1]; 0 for ``eps >= eps_local``. About 1e-11 relative too large at most, except below 1e-300, where
        floats end.

    Raises
    ------
    Infeasible
        If so many messages match that the sum does not fit into memory.

    Notes
    -----
    Source: the formula of the module, derived for this project.
    """
    eps = check_nonnegative("eps", eps)
    messages = check_count("uniform_messages", uniform_messages)
    match_rate = check_open_unit("match_rate", match_rate)
    if eps_local != math.inf:
        eps_local = check_positive("eps_local", eps_local)
    return _tightened(Window(messages, np.ones(1)), match_rate, eps, eps_local)


def blanketed_delta(eps: float, others: int, match_rate: float, eps_local: float) -> float:
    """Return delta of one of ``others + 1`` shuffled reports, all with the same local budget.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    others : int
        Number of other reports, >= 0.
    match_rate : float
        r, in (0, 1).
    eps_local : float
        Nats, > 0, finite.

    Returns
    -------
    float
        An upper bound: the adversary is told which of the others are uniform, and delta is averaged over their
        number, Bin(others, lambda). Numbers are put into blocks of 1/64 standard deviation, each taken at its smallest
        number: that makes delta too large by up to about 1e-3 relative, and not at all up to 65,536 others.

    Raises
    ------
    Infeasible
        If so many messages match that the sum does not fit into memory.

    Notes
    -----
    Source: the formula of the module, derived for this project.
    """
    eps = check_nonnegative("eps", eps)
    others = check_count("others", others)
    match_rate = check_open_unit("match_rate", match_rate)
    eps_local = check_positive("eps_local", eps_local)
    rate = matched_rate(match_rate, eps_local)
    block = block_length(others, rate)

    def delta(tail: float) -> float:
        messages = binomial_window(others, rate, tail)
        return mixed_matched_delta(messages, match_rate, eps, eps_local, tail, block=block)

    return settled(delta)


def block_length(others: int, rate: float, blocks: float = BLOCKS) -> int:
    """Return how many numbers make 1/blocks of a standard deviation of Bin(others, rate), at least 1."""
    return max(1, math.floor(math.sqrt(others * rate * (1 - rate)) / blocks))


def _tightened(messages: Window, match_rate: float, eps: float, eps_local: float) -> float:
    """Return delta with windows so wide that what they omit is negligible beside it."""
    return settled(lambda tail: mixed_matched_delta(messages, match_rate, eps, eps_local, tail))


def mixed_matched_delta(
    messages: Window,
    match_rate: float,
    eps: float,
    eps_local: float,
    tail: float,
    *,
    block: int = 1,
) -> float:
    """Return delta of one report among a random number of uniform messages that the adversary learns.

    Parameters
    ----------
    messages : Window
        Law of the number m of uniform messages.
    match_rate : float
        r, in (0, 1).
    eps, eps_local : float
        Nats; eps >= 0, eps_local > 0 or ``inf``.
    tail : float
        Mass that the law of the matches may leave out, on either side and for any m. All mass left out counts as lost
        privacy.
    block : int
        m is rounded down to a multiple of this; since uniform messages only help, that raises delta.

    Returns
    -------
    float
        In [0, 1]; 0 for ``eps >= eps_local``.
    """
    worst = _lone(match_rate, eps, eps_local)
    if worst == 0:
        return 0.0
    spread = 2 * math.sqrt(-2 * messages.stop * match_rate * math.log(tail))
    if spread > _MOST_TERMS:
        raise Infeasible(
            f"{messages.stop} messages with a match rate of {match_rate:.3g} are too many to sum."
        )
    lowest_block = messages.start // block
    numbers = block * np.arange(lowest_block, (messages.stop - 1) // block + 1) + 1  # M, the report included
    weights = np.bincount(messages.support // block - lowest_block, messages.pmf)
    # A report adds 0 or 1 to the matches of the others; so the window of m matches, one wider, holds what it should.
    lowest = binomial_window(int(numbers[0]) - 1, match_rate, tail)
    highest = binomial_window(int(numbers[-1]) - 1, match_rate, tail)
    first, last = lowest.start, highest.stop
    step = max(1, _CELLS // (last - first + 1))
    total = 0.0
    for begin in range(0, weights.size, step):
        part = slice(begin, begin + step)
        total += float(weights[part] @ _excess(numbers[part], first, last, match_rate, eps, eps_local))
    omitted = messages.omitted * worst + 2 * max(lowest.omitted, highest.omitted)
    return min(total + omitted, worst)


def _kappa(eps: float, eps_local: float) -> float:
    """Return ``(e^eps - 1) / (E - 1)``."""
    if eps_local == math.inf:
        return 0.0
    return math.exp(eps - eps_local) * math.expm1(-eps) / math.expm1(-eps_local)


def _lone(match_rate: float, eps: float, eps_local: float) -> float:
    """Return delta of a report among nothing."""
    if eps >= eps_local:
        return 0.0
    certain = 1 - matched_rate(match_rate, eps_local)
    return certain * (1 - match_rate) * (1 - _kappa(min(eps, _MOST_EPS), eps_local))


def _excess(
    numbers: NDArray[np.int64], first: int, last: int, rate: float, eps: float, eps_local: float
) -> NDArray[np.float64]:
    """Return the formula of the module for every M, (R,), with a and b in first..last."""
    eps = min(eps, _MOST_EPS)
    pmf = pmf_rows(numbers, first, last, rate)
    # Sums from the far end: all terms are positive, nothing cancels.
    tail = np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1]  # Pr[a >= j]
    above = np.zeros_like(tail)  # E[(a - j)^+]
    above[:, :-1] = np.cumsum(tail[:, :0:-1], axis=1)[:, ::-1]
    counts = np.arange(first, last + 1, dtype=np.float64)
    threshold = math.exp(eps) * counts + _kappa(eps, eps_local) * numbers[:, None]
    # (a - s)^+ = (a - j)^+ + (j - s) for the next integer j >= s. Rounding may miss the integer s itself, where both
    # choices give the same.
    j = np.clip(np.ceil(threshold), first, last + 1)
    place = np.minimum(j, last).astype(np.int64) - first
    inside = j <= last
    expected = np.take_along_axis(above, place, 1) + (j - threshold) * np.take_along_axis(tail, place, 1)
    value = np.sum(np.where(inside, pmf * np.where(inside, expected, 0.0), 0.0), axis=1)
    certain = 1 - matched_rate(rate, eps_local)
    return np.asarray(certain / (rate * numbers) * value, np.float64)


def pmf_rows(numbers: NDArray[np.int64], first: int, last: int, rate: float) -> NDArray[np.float64]:
    """Return Pr[Bin(M, rate) = x] for every M and x = first..last, (R, w)."""
    x = np.arange(first, last, dtype=np.float64)
    with np.errstate(divide="ignore"):
        steps = np.log(np.maximum(numbers[:, None] - x, 0.0) / (x + 1) * (rate / (1 - rate)))
    log_pmf = np.zeros((numbers.size, x.size + 1))
    np.cumsum(steps, axis=1, out=log_pmf[:, 1:])
    modes = np.clip(np.floor(numbers * rate).astype(np.int64), first, np.minimum(last, numbers))
    anchors = log_binomial_pmfs(modes.astype(np.float64), numbers.astype(np.float64), rate)
    at_mode = np.take_along_axis(log_pmf, (modes - first)[:, None], 1)
    return np.asarray(np.exp(log_pmf - at_mode + anchors[:, None]), np.float64)
