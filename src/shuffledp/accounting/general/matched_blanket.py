r"""Exact privacy of one report among uniform messages that match values.

A message may *match* a value: a local-hashing report (H, y) matches x if ``H(x) = y``, a Hadamard tuple matches x if
all its entries lie in the codeword of x, a row of bits if its bit of x is set, a subset if it holds x. A message drawn
uniformly matches x with probability r, x' with probability r, and both with probability s. The user's report is uniform
with probability lambda, else uniform among the messages that match its value, ``lambda = 1 / (1 + r (E - 1))``,
``E = e^eps_local``; ``eps_local = inf`` gives lambda = 0.

* Local hashing over d' cells, reports through randomized response over the cells: ``r = 1/d'``, ``s = r^2``.
* Tuples of tau Hadamard codewords: ``r = 2^-tau``, ``s = r^2``, ``eps_local = inf``.
* Rows of bits that are set with probability q: ``r = q``, ``s = q^2``.
* Subsets of d of k values: ``r = d/k``, ``s = r (d - 1)/(k - 1)``.
* Values (d = 1) match disjointly, ``r = 1/k``, ``s = 0``: generalized randomized response, and dummies.

Under the law in which all M = m + 1 messages are uniform, the density of the view for input x is
``lambda + (1 - lambda) a / (r M)``, a being the number of messages that match x, and the same with b for x'. If (A, B,
C) counts the messages that match x only, x' only and both, it is multinomial with rates ``r - s``, ``r - s``, ``s``;
with a = A + C and b = B + C,

.. math:: \delta = \frac{1 - \lambda}{r M} \, E\bigl[ (a - e^\epsilon b - \kappa M)^+ \bigr],
          \quad \kappa = \frac{e^\epsilon - 1}{E - 1}.

Exchanging the inputs exchanges a and b, so both directions agree. **Independent** matches, ``s = r^2``: a and b are
independent Bin(M, r), and the sum takes tails of one for every value of the other. **In general** let C count the other
m messages that match both, and T those that match exactly one: ``C ~ Bin(m, s)`` and
``T ~ Bin(m - C, 2 (r - s)/(1 - s))``. With ``X ~ Bin(T, 1/2)``, ``S = (e^eps - 1) C + kappa M``,
``rho = S / (T + 1)`` and ``j = floor((e^eps (T + 1) + S) / (1 + e^eps))``

.. math:: \delta = (1 - \lambda) (1 - s / r) \, E\bigl[ (1 - \rho) \Pr[X = j]
          - (e^\epsilon - 1 + 2 \rho) \Pr[X > j] \bigr]^+ .

For s = 0 and an integer 1/r this is the formula of :mod:`shuffledp.accounting.general.dummy_blanket`, which sums it
faster for a random m.

**Overlap.** The smaller s, the larger delta: moving equal probabilities from "both" and "none" to "x only" and "x'
only" replaces steps ``1 - e^eps`` and 0 of ``a - e^eps b`` by steps 1 and ``-e^eps``, a spread that keeps the mean, and
delta is the mean of a convex function of the sum. So disjoint matches reveal most, independent ones less, and equal
ones (s = r) nothing.

Replacement neighbors; the inputs of all other users are known to the adversary, and which of their messages are
uniform. Derived for this project.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.dummy_blanket import half_masses
from shuffledp.numerics.argument_ranges import check_count, check_nonnegative, check_open_unit, check_positive
from shuffledp.numerics.relative_sizes import LAST_DIGITS, raised, settled
from shuffledp.numerics.tails import log_binomial_pmfs
from shuffledp.numerics.windows import Window, binomial_ends, binomial_window

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Terms that a window may have; beyond this the arrays no longer fit.
_MOST_TERMS = 1e7
#: Cells of the table over (m, a) per pass.
_CELLS = 500_000
#: The same of the table over (C, T), which needs more arrays at once.
_WIDE_CELLS = 100_000
#: Beyond this e^eps overflows; the divergence no longer changes.
_MOST_EPS = 700.0
#: Distinct numbers of messages per standard deviation in a mixture.
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


def _certain_rate(match_rate: float, eps_local: float) -> float:
    """Return 1 - lambda without cancellation."""
    return -match_rate * math.expm1(-eps_local) / (match_rate + (1 - match_rate) * math.exp(-eps_local))


def matched_delta(
    eps: float,
    uniform_messages: int,
    match_rate: float,
    eps_local: float = math.inf,
    *,
    both_rate: float | None = None,
) -> float:
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
    both_rate : float, optional
        s, the probability that a uniform message matches both values, in [max(0, 2 r - 1), r]: 0 if no message matches
        both. Independent matches, ``r^2``, if not given.

    Returns
    -------
    float
        In [0, 1]; 0 for ``eps >= eps_local``. About 1e-11 relative too large at most, except below 1e-300, where
        floats end.

    Raises
    ------
    Infeasible
        If the number of matching messages is too large for the sum to fit into memory.

    Notes
    -----
    Source: the formula of the module, derived for this project.
    """
    eps = check_nonnegative("eps", eps)
    messages = check_count("uniform_messages", uniform_messages)
    match_rate = check_open_unit("match_rate", match_rate)
    if eps_local != math.inf:
        eps_local = check_positive("eps_local", eps_local)
    both = _checked_both(match_rate, both_rate)
    one = Window(messages, np.ones(1))
    return settled(lambda tail: mixed_matched_delta(one, match_rate, eps, eps_local, tail, both_rate=both))


def blanketed_delta(
    eps: float, others: int, match_rate: float, eps_local: float, *, both_rate: float | None = None
) -> float:
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
    both_rate : float, optional
        As in :func:`matched_delta`.

    Returns
    -------
    float
        An upper bound: the adversary learns which of the others are uniform, and delta is averaged over their number,
        Bin(others, lambda). Numbers are put into blocks of 1/64 standard deviation, each evaluated at its smallest
        number. The blocks make delta too large by up to about 1e-3 relative, and not at all up to 65,536 others.

    Raises
    ------
    Infeasible
        If the number of matching messages is too large for the sum to fit into memory.

    Notes
    -----
    Source: the formula of the module, derived for this project.
    """
    eps = check_nonnegative("eps", eps)
    others = check_count("others", others)
    match_rate = check_open_unit("match_rate", match_rate)
    eps_local = check_positive("eps_local", eps_local)
    both = _checked_both(match_rate, both_rate)
    rate = matched_rate(match_rate, eps_local)
    block = block_length(others, rate)

    def delta(tail: float) -> float:
        messages = binomial_window(others, rate, tail)
        return mixed_matched_delta(messages, match_rate, eps, eps_local, tail, block=block, both_rate=both)

    return settled(delta)


def block_length(others: int, rate: float, blocks: float = BLOCKS) -> int:
    """Return the length of 1/blocks of a standard deviation of Bin(others, rate), at least 1."""
    return max(1, math.floor(math.sqrt(others * rate * (1 - rate)) / blocks))


def _checked_both(match_rate: float, both_rate: float | None) -> float | None:
    """Return the rate of matching both values; None, which is summed faster, for independent matches."""
    if both_rate is None:
        return None
    least = max(0.0, 2 * match_rate - 1)
    both = check_nonnegative("both_rate", both_rate)
    if not least <= both <= match_rate:
        raise ValueError(f"both_rate must be in [{least:g}, match_rate = {match_rate:g}], got {both_rate!r}.")
    return None if both == match_rate**2 else both


def mixed_matched_delta(
    messages: Window,
    match_rate: float,
    eps: float,
    eps_local: float,
    tail: float,
    *,
    block: int = 1,
    both_rate: float | None = None,
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
        Mass that the law of the matches may omit, on either side and for any m. All omitted mass counts as lost
        privacy.
    block : int
        m is rounded down to a multiple of this; since uniform messages only help, that raises delta.
    both_rate : float, optional
        As in :func:`matched_delta`.

    Returns
    -------
    float
        In [0, 1]; 0 for ``eps >= eps_local``.
    """
    share = 1 - match_rate if both_rate is None else 1 - both_rate / match_rate
    worst = _lone(match_rate, share, eps, eps_local)
    if worst == 0:
        return 0.0
    spread = 2 * math.sqrt(-2 * messages.stop * match_rate * math.log(tail))
    if spread > _MOST_TERMS:
        raise Infeasible(
            f"{messages.stop} messages with a match rate of {match_rate:.3g} are too many to sum."
        )
    lowest_block = messages.start // block
    numbers = block * np.arange(lowest_block, (messages.stop - 1) // block + 1) + 1  # M, the report included
    weights = np.asarray(np.bincount(messages.support // block - lowest_block, messages.pmf), np.float64)
    if both_rate is not None:
        total, omitted = _overlapping(weights, numbers, match_rate, both_rate, eps, eps_local, tail)
        certain = _certain_rate(match_rate, eps_local)
        return raised(certain * share * total + (messages.omitted + omitted) * worst, worst)
    # A report adds 0 or 1 to the matches of the others; so the window of m matches, one wider, holds what it should.
    fewest, most = int(numbers[0]) - 1, int(numbers[-1]) - 1
    first, low_last = binomial_ends(fewest, match_rate, tail)
    high_first, last = binomial_ends(most, match_rate, tail)
    last += 1
    step = max(1, _CELLS // (last - first + 1))
    total = 0.0
    for begin in range(0, weights.size, step):
        part = slice(begin, begin + step)
        total += float(weights[part] @ _excess(numbers[part], first, last, match_rate, eps, eps_local))
    sides = max((first > 0) + (low_last < fewest), (high_first > 0) + (last <= most))
    omitted = messages.omitted * worst + 2 * tail * sides
    return raised(total + omitted, worst)


def _kappa(eps: float, eps_local: float) -> float:
    """Return ``(e^eps - 1) / (E - 1)``."""
    if eps_local == math.inf:
        return 0.0
    return math.exp(eps - eps_local) * math.expm1(-eps) / math.expm1(-eps_local)


def _lone(match_rate: float, share: float, eps: float, eps_local: float) -> float:
    """Return delta of a report without others; a message that matches x misses x' with probability `share`."""
    if eps >= eps_local:
        return 0.0
    certain = _certain_rate(match_rate, eps_local)
    return certain * share * (1 - _kappa(min(eps, _MOST_EPS), eps_local)) * LAST_DIGITS


def _overlapping(
    weights: NDArray[np.float64],
    numbers: NDArray[np.int64],
    match_rate: float,
    both_rate: float,
    eps: float,
    eps_local: float,
    tail: float,
) -> tuple[float, float]:
    """Return the mean of the bracket of the general formula over M, (R,), and the largest omitted mass."""
    one_rate = min(2 * (match_rate - both_rate) / (1 - both_rate), 1.0)
    total, most = 0.0, 0.0
    for weight, number in zip(weights.tolist(), numbers.tolist(), strict=True):
        both = binomial_window(number - 1, both_rate, tail)
        fewest = binomial_window(number - both.stop, one_rate, tail)  # with most that match both
        highest = binomial_window(number - 1 - both.start, one_rate, tail)
        t = np.arange(fewest.start, highest.stop)
        step = max(1, _WIDE_CELLS // t.size)
        for begin in range(0, both.pmf.size, step):
            c = both.support[begin : begin + step]
            rest = number - 1 - c
            pmf = pmf_rows(rest, int(t[0]), int(t[-1]), one_rate) if one_rate < 1 else rest[:, None] == t
            bracket = _bracket(c[:, None], t, number, eps, eps_local)
            total += weight * float(both.pmf[begin : begin + step] @ np.sum(pmf * bracket, axis=1))
        most = max(most, both.omitted + 2 * max(fewest.omitted, highest.omitted))
    return total, most


def _bracket(
    c: NDArray[np.int64], t: NDArray[np.int64], number: int, eps: float, eps_local: float
) -> NDArray[np.float64]:
    """Return the bracket of the general formula, (c, t): c messages match both values, and t exactly one."""
    eps = min(eps, _MOST_EPS)
    shift = math.expm1(eps) * c + _kappa(eps, eps_local) * number
    # Rounding may put j on the wrong side of an integer; that is where the outcome at stake adds nothing. Only j = t is
    # decided by rho instead: it counts for rho < 1.
    j = np.minimum(np.floor((t + 1.0) / (1 + math.exp(-eps)) + shift / (1 + math.exp(eps))), t)
    # For given t, j takes few values.
    first = j[0]
    place = (j - first).astype(np.int64)
    point, beyond = half_masses(first + np.arange(int(place.max()) + 1)[:, None], t.astype(np.float64))
    columns = np.arange(t.size)
    rho = shift / (t + 1.0)
    value = (1 - rho) * point[place, columns] - (math.expm1(eps) + 2 * rho) * beyond[place, columns]
    return np.asarray(np.maximum(value, 0.0), np.float64)


def _excess(
    numbers: NDArray[np.int64], first: int, last: int, rate: float, eps: float, eps_local: float
) -> NDArray[np.float64]:
    """Return the formula of the module for every M, (R,), with a and b in first..last."""
    eps = min(eps, _MOST_EPS)
    growth, kappa = math.exp(eps), _kappa(eps, eps_local)
    # Only these b leave an a that exceeds the threshold, which increases with b and M.
    stop = min(last, math.floor((last - kappa * int(numbers[0])) / growth) + 1) + 1 - first
    if stop <= 0:
        return np.zeros(numbers.size)
    pmf = pmf_rows(numbers, first, last, rate)
    counts = np.arange(first, first + stop, dtype=np.float64)
    threshold = growth * counts + kappa * numbers[:, None]
    # (a - s)^+ = (a - j)^+ + (j - s) for the next integer j >= s. Rounding may miss the integer s itself, where both
    # choices give the same.
    j = np.clip(np.ceil(threshold), first, last + 1)
    # Sums from the far end, down to the least j: all terms are positive, nothing cancels.
    reach = max(last + 1 - int(j[0, 0]), 1)
    tail = np.cumsum(pmf[:, -reach:][:, ::-1], axis=1)  # Pr[a >= last], Pr[a >= last - 1], ..
    above = np.zeros_like(tail)  # E[(a - last)^+], E[(a - last + 1)^+], ..
    np.cumsum(tail[:, :-1], axis=1, out=above[:, 1:])
    inside = j <= last
    place = np.maximum(last - j, 0.0).astype(np.int64) + tail.shape[1] * np.arange(numbers.size)[:, None]
    expected = above.take(place) + (j - threshold) * tail.take(place)
    terms = np.zeros_like(pmf)
    np.multiply(pmf[:, :stop], expected, out=terms[:, :stop], where=inside)
    certain = _certain_rate(rate, eps_local)
    return np.asarray(certain / (rate * numbers) * np.sum(terms, axis=1), np.float64)


def pmf_rows(numbers: NDArray[np.int64], first: int, last: int, rate: float) -> NDArray[np.float64]:
    """Return Pr[Bin(M, rate) = x] for every M and x = first..last, (R, w)."""
    x = np.arange(first, last, dtype=np.float64)
    steps = numbers[:, None] - x
    np.maximum(steps, 0.0, out=steps)
    steps /= x + 1
    steps *= rate / (1 - rate)
    with np.errstate(divide="ignore"):
        np.log(steps, out=steps)
    pmf = np.zeros((numbers.size, x.size + 1))
    np.cumsum(steps, axis=1, out=pmf[:, 1:])
    modes = np.clip(np.floor(numbers * rate).astype(np.int64), first, np.minimum(last, numbers))
    anchors = log_binomial_pmfs(modes.astype(np.float64), numbers.astype(np.float64), rate)
    pmf -= pmf[np.arange(numbers.size), modes - first][:, None]
    pmf += anchors[:, None]
    return np.exp(pmf, out=pmf)
