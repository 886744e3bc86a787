r"""Exact privacy of one report among uniform messages that match values.

A message may *match* a value. A local-hashing report (H, y) matches x if ``H(x) = y``. A Hadamard tuple matches x if
all its entries are in the codeword of x, a row of bits if its bit of x is set, a subset if it contains x. A uniform
message matches x with probability r, x' with probability r, and both values with probability s. User 1's report is
uniform with probability lambda, else uniform among the messages that match user 1's value,
``lambda = 1 / (1 + r (E - 1))``, ``E = e^eps_local``; ``eps_local = inf`` gives lambda = 0.

* Local hashing with randomized response over d' cells: ``r = 1/d'``, ``s = r^2``.
* Tuples of tau Hadamard codewords: ``r = 2^-tau``, ``s = r^2``, ``eps_local = inf``.
* Rows of bits that are set with probability q: ``r = q``, ``s = q^2``.
* Subsets of d of k values: ``r = d/k``, ``s = r (d - 1)/(k - 1)``.
* Values (d = 1) have disjoint matches, ``r = 1/k``, ``s = 0``: generalized randomized response, and dummies.

Under the law in which all M = m + 1 messages are uniform, the density of the view for input x is
``lambda + (1 - lambda) a / (r M)``, where a messages match x. For x' it is the same with b. The numbers (A, B, C) of
messages that match x only, x' only and both are multinomial with rates ``r - s``, ``r - s``, ``s``. With a = A + C and
b = B + C,

.. math:: \delta = \frac{1 - \lambda}{r M} \, E\bigl[ (a - e^\epsilon b - \kappa M)^+ \bigr],
          \quad \kappa = \frac{e^\epsilon - 1}{E - 1}.

Exchanging the inputs exchanges a and b, so that both directions have the same delta. **Independent** matches,
``s = r^2``: a and b are independent with law Bin(M, r), and the sum needs a tail of one count for every value of the
other. **In general** let C be the number of the other m messages that match both values, and T the number that match
exactly one: ``C ~ Bin(m, s)`` and ``T ~ Bin(m - C, 2 (r - s)/(1 - s))``. With ``X ~ Bin(T, 1/2)``,
``S = (e^eps - 1) C + kappa M``, ``rho = S / (T + 1)`` and ``j = floor((e^eps (T + 1) + S) / (1 + e^eps))``

.. math:: \delta = (1 - \lambda) (1 - s / r) \, E\bigl[ (1 - \rho) \Pr[X = j]
          - (e^\epsilon - 1 + 2 \rho) \Pr[X > j] \bigr]^+ .

For s = 0 and an integer 1/r, :mod:`shuffledp.accounting.general.dummy_blanket` has the same formula, summed faster for
a random m.

**Overlap.** Delta falls with s. Moving equal probabilities from "both" and "none" to "x only" and "x' only" replaces
the steps ``1 - e^eps`` and 0 of ``a - e^eps b`` by the steps 1 and ``-e^eps``. This spreads the sum and keeps its mean,
and delta is the mean of a convex function of the sum. Disjoint matches therefore have the largest delta, and equal
matches (s = r) have delta 0.

Replacement neighbors; the adversary knows the inputs of all other users, and which of their messages are uniform.
Derived for this project.
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
#: Cells of the table over (C, T) per pass; it needs more arrays at once.
_WIDE_CELLS = 100_000
#: Beyond this e^eps overflows; the divergence no longer changes.
_MOST_EPS = 700.0
#: Distinct numbers of messages per standard deviation in a mixture.
BLOCKS = 64


def matched_rate(match_rate: float, eps_local: float) -> float:
    """Return lambda, the probability that a report is uniform, for the match rate r; 0 for infinite `eps_local`."""
    decay = math.exp(-eps_local)
    return decay / (match_rate + (1 - match_rate) * decay)


def _certain_rate(match_rate: float, eps_local: float) -> float:
    """Return ``1 - lambda`` without cancellation."""
    return -match_rate * math.expm1(-eps_local) / (match_rate + (1 - match_rate) * math.exp(-eps_local))


def matched_delta(
    eps: float,
    uniform_messages: int,
    match_rate: float,
    eps_local: float = math.inf,
    *,
    both_rate: float | None = None,
) -> float:
    """Return the exact delta of one report among m uniform messages, by the formula of the module. `match_rate` is r,
    and `both_rate` is s in [max(0, 2 r - 1), r], by default ``r^2``. With infinite `eps_local` the report always
    matches its value. The result is 0 for ``eps >= eps_local``, and else too large by at most about 1e-11 relative,
    except below 1e-300. Raises `Infeasible` if the sum over the matches does not fit into memory.
    """
    eps = check_nonnegative("eps", eps)
    messages = check_count("uniform_messages", uniform_messages)
    match_rate = check_open_unit("match_rate", match_rate)
    if eps_local != math.inf:
        eps_local = check_positive("eps_local", eps_local)
    both = _checked_both(match_rate, both_rate)
    window = Window(messages, np.ones(1))
    return settled(lambda tail: mixed_matched_delta(window, match_rate, eps, eps_local, tail, both_rate=both))


def blanketed_delta(
    eps: float, others: int, match_rate: float, eps_local: float, *, both_rate: float | None = None
) -> float:
    """Return an upper bound on delta of one of ``others + 1`` shuffled reports with the same finite local budget. The
    adversary learns which of the other reports are uniform, and delta is averaged over their number, Bin(others,
    lambda). From 65,536 other reports on, the numbers are put into blocks of 1/64 standard deviation, each of which
    counts as its smallest number. This makes delta too large by up to about 1e-3 relative. Rates and errors are as in
    :func:`matched_delta`.
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
    """Return the length of 1/`blocks` of a standard deviation of Bin(others, rate), at least 1."""
    return max(1, math.floor(math.sqrt(others * rate * (1 - rate)) / blocks))


def _checked_both(match_rate: float, both_rate: float | None) -> float | None:
    """Return the checked s, or None if the matches are independent. For independent matches, a faster sum is used."""
    if both_rate is None:
        return None
    least = max(0.0, 2 * match_rate - 1)
    both = check_nonnegative("both_rate", both_rate)
    if not least <= both <= match_rate:
        raise ValueError(f"both_rate must be in [{least:g}, match_rate = {match_rate:g}], got {both_rate!r}.")
    # 1 / q**2 is often the neighbor of (1 / q)**2 in floating point.
    return None if math.isclose(both, match_rate**2, rel_tol=1e-15) else both


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
    """Return delta of one report among a random number m of uniform messages that the adversary knows. The law of the
    matches may omit `tail` on either side for every m; all omitted mass is added to delta. m is rounded down to a
    multiple of `block`, which increases delta. Rates as in :func:`matched_delta`; the result is 0 for
    ``eps >= eps_local``.
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
    if eps_local == math.inf:
        return 0.0
    return math.exp(eps - eps_local) * math.expm1(-eps) / math.expm1(-eps_local)


def _lone(match_rate: float, share: float, eps: float, eps_local: float) -> float:
    """Return delta of a single report. `share` is the probability that a message that matches x does not match x'."""
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
    """Return the mean of the general formula's bracket over the R numbers M, and the largest omitted mass."""
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
    """Return the bracket of the general formula, (c, t). Of the messages, c match both values and t
    match exactly one.
    """
    eps = min(eps, _MOST_EPS)
    shift = math.expm1(eps) * c + _kappa(eps, eps_local) * number
    # Rounding may put j on the wrong side of an integer, but there the affected outcome adds nothing. Only j = t is
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
    """Return ``E (a - e^eps b - kappa M)^+`` for every M, (R,), with a and b in first..last."""
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
    """Return ``Pr[Bin(M, rate) = x]`` for every M and x = first..last, (R, w)."""
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
