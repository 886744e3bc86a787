r"""Exact privacy of one report among uniform messages.

User 1's report is shuffled with m messages drawn uniformly from k values: dummies, or the uniform reports of other
users under generalized randomized response (GRR). GRR with budget eps_local keeps the input with probability
``1 - lambda`` and else draws a uniform value, ``lambda = k / (E + k - 1)``, ``E = e^eps_local``. With
``eps_local = inf`` the report is the input.

For the inputs 1 and 2, the law of the view depends on the counts (a, b) of these two values only. Relative to the law
in which all m + 1 messages are uniform, the densities of the two views are ``lambda + (1 - lambda) k a / (m + 1)`` and
``lambda + (1 - lambda) k b / (m + 1)``. Let T be the number of the m messages that are 1 or 2, ``T ~ Bin(m, 2 / k)``.
Summing over ``a + b = c + 1`` gives

.. math:: \delta = (1 - \lambda) \sum_c \Pr[T = c] \, \bigl( (1 - \rho) \Pr[X_c = j]
          - (e^\epsilon - 1 + 2 \rho) \Pr[X_c > j] \bigr)^+

with ``X_c ~ Bin(c, 1/2)``, ``rho = kappa (m + 1) / (c + 1)``, ``kappa = (e^eps - 1) / (E - 1)`` and ``j = floor((kappa
(m + 1) + e^eps (c + 1)) / (1 + e^eps))``. For ``eps_local = inf``, rho is 0, and the summand is the divergence of the
clones reduction with c clones and infinite local budget. :mod:`shuffledp.accounting.general.matched_blanket` with
disjoint matches of rate 1/k has the same delta; the form here is fast for a random m. Exchanging the two inputs
exchanges a and b, so that both directions have the same delta. All pairs of inputs have the same delta, too.
Replacement neighbors; the adversary knows the inputs of all other users. Derived for this project; the paper on dummies
(arXiv 2009.13738) has bounds only.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from shuffledp.accounting.errors import Infeasible
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import LAST_DIGITS, raised
from shuffledp.numerics.tails import binomial_upper_tail, log_binomial_pmf, log_binomial_pmfs, log_half_pmf
from shuffledp.numerics.windows import Window, binomial_ends, binomial_window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Terms that a window may have; beyond this the arrays no longer fit.
_MOST_TERMS = 1e7
#: Cells of the table over (m, c) per pass.
_CELLS = 500_000
#: Consecutive numbers of messages per block of deltas, the number of blocks in memory, and the largest number of values
#: of T.
_BLOCK, _REMEMBERED, _FEW_PAIRS = 128, 1024, 512
#: Number of pairs (m, c) from which on joint evaluation of several m saves no time.
_TOGETHER = 8192
#: Largest number of values of T with a complete sum. Beyond it the sum is over evenly spaced values, at least the
#: second number, and raised by more than its relative error (see `_pairs`).
MOST_PAIRS, _SPACED, _RAISED = 1 << 19, 1024, 2e-5
#: Logs of factors up to this leave room for the product of three in a float.
_MOST_LOG = 200.0


def blanket_rate(domain_size: float, eps_local: float) -> float:
    """Return lambda, the probability that GRR draws a uniform output; 0 for infinite `eps_local` (nats, > 0).
    `domain_size` is any real number >= 2, the inverse of the mass of the outputs that an input favors.
    """
    decay = math.exp(-eps_local)
    return domain_size * decay / (1 + (domain_size - 1) * decay)


def _kept_rate(domain_size: float, eps_local: float) -> float:
    """Return ``1 - lambda`` without cancellation."""
    return -math.expm1(-eps_local) / (1 + (domain_size - 1) * math.exp(-eps_local))


def lone_delta(eps: float, domain_size: float, eps_local: float) -> float:
    """Return delta of a single GRR report, ``(E - e^eps) / (E + k - 1)``; uniform messages never increase it."""
    if eps >= eps_local:
        return 0.0
    return -math.expm1(eps - eps_local) / (1 + (domain_size - 1) * math.exp(-eps_local)) * LAST_DIGITS


def pair_window(messages: int, domain_size: float, tail: float) -> Window:
    """Return the law of T, the number of uniform messages with one of two given values. Raises `Infeasible` if the
    window is too long for a sum.
    """
    if long_window(messages, domain_size, tail, _MOST_TERMS):
        raise Infeasible(f"{messages} messages over {domain_size} values are too many for an exact sum.")
    return binomial_window(messages, 2 / domain_size, tail)


def long_window(messages: int, domain_size: float, tail: float, most: float = MOST_PAIRS) -> bool:
    """Return whether the window of :func:`pair_window` has more than about `most` terms."""
    variance = 2 * messages / domain_size * (1 - 2 / domain_size)
    return 2 * math.sqrt(-2 * variance * math.log(tail)) > most


def _pairs(
    messages: int, domain_size: float, tail: float, most: int = MOST_PAIRS
) -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
    """Return values of T, the mass that each value represents, and the omitted mass.

    A long window is represented by evenly spaced values. There the standard deviation of T is above 6,000, and the step
    below a tenth of it. Apart from the rounding of j, the terms of a sum over T are a smooth function, so that evenly
    spaced values have an error of about ``exp(-2 pi^2 10^2)``. Rounding j changes a term by at most ``z^2 / (2 T)``
    relative, with j at z standard deviations: 1.5e-5 for delta 1e-320, 2e-7 for delta 1e-30.
    """
    if not long_window(messages, domain_size, tail, most):
        window = pair_window(messages, domain_size, tail)
        return window.support, window.pmf, window.omitted
    rate = 2 / domain_size
    first, last = binomial_ends(messages, rate, tail)
    step = (last - first) // _SPACED
    c = np.arange(first + step // 2, last + 1, step)
    log_mass = log_binomial_pmfs(c.astype(np.float64), np.full(c.shape, float(messages)), rate)
    return c, step * np.exp(log_mass) * (1 + _RAISED), 2 * tail


def mixed_dummy_delta(window: Window, eps: float) -> float:
    """Return delta at eps (nats, >= 0) of a report without noise for a law of T; omitted mass is added to delta."""
    from shuffledp.accounting.general.clones import clone_divergences

    divergences = clone_divergences(window.start, window.stop, math.inf, eps)
    return raised(float(window.pmf @ divergences) + window.omitted)


def likely_delta(messages: int, domain_size: int, eps: float) -> float:
    """Return a lower bound on delta of a report without noise, used to choose an omitted mass that is negligible beside
    delta. The conditional divergence falls with T, and T exceeds its mean by at most two deviations with probability
    >= 1/2.
    """
    rate = 2 / domain_size
    mean = messages * rate
    most = min(math.ceil(mean + 2 * math.sqrt(mean * (1 - rate))), messages)
    from shuffledp.accounting.general.clones import clone_divergences

    return 0.5 * float(clone_divergences(most, most + 1, math.inf, eps)[0])


def _thresholds(
    m: NDArray[np.int64], c: NDArray[np.int64], eps: float, eps_local: float
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Return kappa, a term for each m and a term for each c; j is the sum of the two terms, rounded down."""
    kappa = math.exp(eps - eps_local) * math.expm1(-eps) / math.expm1(-eps_local)
    shift = kappa / (1 + math.exp(eps)) * (m + 1.0)
    path = (c + 1.0) / (1 + math.exp(-eps))
    return kappa, np.asarray(shift, np.float64), np.asarray(path, np.float64)


def _divergences(
    m: NDArray[np.int64], c: NDArray[np.int64], eps: float, eps_local: float
) -> NDArray[np.float64]:
    """Return the bracket of the formula, (r, w), for r consecutive integers m and w integers c."""
    eps_ = min(eps, 709.0)
    kappa, shift, path = _thresholds(m, c, eps_, eps_local)
    # Rounding may put j on the wrong side of an integer, but there the affected outcome adds nothing. Only b = 0, j =
    # c, is decided by rho instead: it counts for rho < 1.
    j = np.minimum(np.floor(shift[:, None] + path), c)
    first = j[0]
    place = (j - first).astype(np.int64)
    rows = first + np.arange(int(place.max()) + 1)[:, None]
    point, tail = half_masses(rows, c.astype(np.float64))
    columns = np.arange(c.size)
    rho = kappa * (m[:, None] + 1.0) / (c + 1.0)
    value = (1 - rho) * point[place, columns] - (math.expm1(eps_) + 2 * rho) * tail[place, columns]
    return np.asarray(np.maximum(value, 0.0), np.float64)


def _divergences_of_pairs(
    m: NDArray[np.int64], c: NDArray[np.int64], eps: float, eps_local: float
) -> NDArray[np.float64]:
    """Return the bracket of the formula for w pairs of m and c, (w,), equal to the results of `_divergences`."""
    eps_ = min(eps, 709.0)
    kappa, shift, path = _thresholds(m, c, eps_, eps_local)
    point, tail = half_masses(np.minimum(np.floor(shift + path), c), c.astype(np.float64))
    rho = kappa * (m + 1.0) / (c + 1.0)
    value = (1 - rho) * point - (math.expm1(eps_) + 2 * rho) * tail
    return np.asarray(np.maximum(value, 0.0), np.float64)


def half_masses(
    j: NDArray[np.float64], c: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ``Pr[Bin(c, 1/2) = j]`` and ``Pr[Bin(c, 1/2) > j]`` for c (w,), j (w,) or (rows, w); 0 for j > c."""
    inside = j <= c
    x = np.where(inside, j, 0.0)
    n = np.broadcast_to(c, x.shape)
    log_point = log_half_pmf(x, n)
    point = np.where(inside, np.exp(log_point), 0.0)
    return point, binomial_upper_tail(j + 1, c, 0.5)


def mixed_blanket_delta(
    messages: Window, domain_size: float, eps: float, eps_local: float, tail: float
) -> float:
    """Return delta of one GRR report among a random number of uniform messages that the adversary knows. A non-integer
    `domain_size` >= 2 represents reports that favor outputs of mass ``1 / domain_size``, such as the reports of
    `shuffledp.protocols.vectors.privunit`. `tail` is the mass that the law of T may omit on either side, for every m;
    all omitted mass is added to delta. `eps_local` is finite. The rounding error is about 1e-11 relative.
    """
    worst = lone_delta(eps, domain_size, eps_local)
    if worst == 0:
        return 0.0
    if long_window(messages.stop - 1, domain_size, tail):
        deltas = point_blanket_deltas(messages.support.tolist(), domain_size, eps, eps_local, tail)
        return raised(float(messages.pmf @ deltas) + messages.omitted * worst, worst)
    if messages.pmf.size == 1:
        c, mass, beyond = _pairs(messages.start, domain_size, tail)
        total = float(messages.pmf[0] * (mass @ _divergences(messages.support, c, eps, eps_local)[0]))
    else:
        lowest = pair_window(messages.start, domain_size, tail)
        highest = pair_window(messages.stop - 1, domain_size, tail)
        c, beyond = np.arange(lowest.start, highest.stop), max(lowest.omitted, highest.omitted)
        total = _total(messages, c, domain_size, eps, eps_local)
    omitted = messages.omitted + max(beyond, 2 * tail if c.size > 1 else 0.0)
    return raised(_kept_rate(domain_size, eps_local) * total + omitted * worst, worst)


def point_blanket_deltas(
    messages: Sequence[int],
    domain_size: float,
    eps: float,
    eps_local: float,
    tail: float,
    most: int = MOST_PAIRS,
) -> list[float]:
    """Return :func:`mixed_blanket_delta` for several fixed numbers of uniform messages, in fewer array operations.
    `most` is the largest number of values of T that are all summed; a smaller `most` is faster and less accurate.
    """
    worst = lone_delta(eps, domain_size, eps_local)
    if worst == 0:
        return [0.0] * len(messages)
    kept_rate = _kept_rate(domain_size, eps_local)
    deltas: list[float] = []
    waiting: list[tuple[int, NDArray[np.int64], NDArray[np.float64], float]] = []

    def settle() -> None:
        sizes = [c.size for _, c, _, _ in waiting]
        m = np.repeat(np.array([number for number, _, _, _ in waiting], np.int64), sizes)
        c = np.concatenate([c for _, c, _, _ in waiting])
        brackets = np.split(_divergences_of_pairs(m, c, eps, eps_local), np.cumsum(sizes)[:-1])
        for (_, _, mass, beyond), bracket in zip(waiting, brackets, strict=True):
            omitted = max(beyond, 2 * tail if mass.size > 1 else 0.0)
            deltas.append(raised(kept_rate * float(mass @ bracket) + omitted * worst, worst))
        waiting.clear()

    for number in messages:
        waiting.append((number, *_pairs(number, domain_size, tail, most)))
        if sum(c.size for _, c, _, _ in waiting) >= _TOGETHER:
            settle()
    if waiting:
        settle()
    return deltas


def binary_blanket_deltas(messages: NDArray[np.int64], eps: float, eps_local: float) -> NDArray[np.float64]:
    """Return delta of one binary GRR report for each number of uniform messages, shape of `messages`. Every message is
    one of the two values, so that T is constant. The rounding error is about 1e-11 relative in either direction;
    callers round sums up. The result is 0 for ``eps >= eps_local``.
    """
    worst = lone_delta(eps, 2, eps_local)
    if worst == 0:
        return np.zeros(messages.shape)
    m = messages.ravel()
    values = _kept_rate(2, eps_local) * _divergences_of_pairs(m, m, eps, eps_local)
    return np.minimum(values, worst).reshape(messages.shape)


def remembered_mean(
    messages: Window, domain_size: int, eps: float, eps_local: float, tail: float
) -> float | None:
    """Return :func:`mixed_blanket_delta` from cached deltas; None if T has too many values for a table."""
    worst = lone_delta(eps, domain_size, eps_local)
    total = messages.omitted * worst
    begin = messages.start
    while begin < messages.stop:
        block = begin // _BLOCK
        stop = min((block + 1) * _BLOCK, messages.stop)
        deltas = _block_deltas(block, domain_size, eps, eps_local, tail)
        if deltas is None:
            return None
        masses = messages.pmf[begin - messages.start : stop - messages.start]
        total += float(masses @ deltas[begin - block * _BLOCK : stop - block * _BLOCK])
        begin = stop
    return raised(total, worst)


@remember(_REMEMBERED)
def _block_deltas(
    block: int, domain_size: int, eps: float, eps_local: float, tail: float
) -> NDArray[np.float64] | None:
    """Return delta for each m of a block of consecutive numbers; None for a large table over (m, c)."""
    m = np.arange(block * _BLOCK, (block + 1) * _BLOCK)
    if domain_size == 2:
        return binary_blanket_deltas(m, eps, eps_local)
    start = pair_window(int(m[0]), domain_size, tail).start
    c = np.arange(start, pair_window(int(m[-1]), domain_size, tail).stop)
    if c.size > _FEW_PAIRS:
        return None
    log_f, log_g, log_h = _log_factors(m, c, 2 / domain_size)
    log_rows = sliding_window_view(log_h, c.size)[:, ::-1]
    masses = np.exp(log_f[:, None] + log_g + log_rows)
    worst = lone_delta(eps, domain_size, eps_local)
    means = np.sum(masses * _divergences(m, c, eps, eps_local), axis=1)
    bounds = _kept_rate(domain_size, eps_local) * means + 2 * tail * worst
    return np.asarray(np.minimum(bounds, worst), np.float64)


def _total(messages: Window, c: NDArray[np.int64], domain_size: float, eps: float, eps_local: float) -> float:
    """Return the mean of the bracket over m and the given consecutive c, summed in pieces that fit into memory."""
    total, step = 0.0, max(1, _CELLS // c.size)
    for begin in range(0, messages.pmf.size, step):
        weight = messages.pmf[begin : begin + step]
        m = np.arange(messages.start + begin, messages.start + begin + weight.size)
        total += _average(m, weight, c, domain_size, eps, eps_local)
    return total


def _average(
    m: NDArray[np.int64],
    weight: NDArray[np.float64],
    c: NDArray[np.int64],
    domain_size: float,
    eps: float,
    eps_local: float,
) -> float:
    """Return the weighted sum, over m, of the bracket's mean over c; m and c are consecutive integers. While j is the
    same for all m, the bracket is linear in m, so that each c needs two moments of m. As
    ``Pr[Bin(m, 2 / k) = c] = f(m) g(c) h(m - c)``, these moments are correlations of two vectors. Only for the c at
    which j changes within these m, the terms are summed one by one.
    """
    if domain_size == 2:
        return float(
            weight @ _divergences_of_pairs(m, m, eps, eps_local)
        )  # every message is one of the two values
    log_f, log_g, log_h = _log_factors(m, c, 2 / domain_size)
    log_rows = sliding_window_view(log_h, c.size)[:, ::-1]  # m - c falls along a row
    finite = log_h[log_h > -math.inf]
    if max(np.max(np.abs(log_f)), np.max(np.abs(log_g)), np.max(np.abs(finite))) > _MOST_LOG:
        masses = np.exp(log_f[:, None] + log_g + log_rows)
        return float(weight @ np.sum(masses * _divergences(m, c, eps, eps_local), axis=1))
    f, g, h = weight * np.exp(log_f), np.exp(log_g), np.exp(log_h)

    eps_ = min(eps, 709.0)
    kappa, shift, path = _thresholds(m, c, eps_, eps_local)
    # As in `_divergences`: at most c, beyond which rounding may put it where eps is large. There rho decides about
    # b = 0, and the bracket is linear in m only as long as rho is below 1.
    j = np.minimum(np.floor(shift[0] + path), c)
    moving = np.minimum(np.floor(shift[-1] + path), c) > j
    moving |= (j == c) & (kappa * (m[-1] + 1.0) > c + 1.0)
    still = ~moving
    point, tail = half_masses(j[still][None, :], c[still].astype(np.float64))
    middle = float(m[m.size // 2])
    slope = -kappa / (c[still] + 1.0) * (point[0] + 2 * tail[0])
    value = point[0] - math.expm1(eps_) * tail[0] + (middle + 1.0) * slope
    mass = (g * np.correlate(h, f, "valid")[::-1])[still]
    first = (g * np.correlate(h, f * (m - middle), "valid")[::-1])[still]
    total = float(np.sum(np.maximum(mass * value + first * slope, 0.0)))
    if np.any(moving):
        cells = sliding_window_view(h, c.size)[:, ::-1][:, moving] * _divergences(
            m, c[moving], eps, eps_local
        )
        total += float((f @ cells) @ g[moving])
    return total


def _log_factors(
    m: NDArray[np.int64], c: NDArray[np.int64], rate: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return f for every m, g for every c and h for every m - c in increasing order, with ``Pr[Bin(m, rate) = c] = e^(f
    + g + h)``. Most of the mass is near the mode for the last m. There all three are small, so that their sum keeps its
    digits.
    """
    last = int(m[-1])
    mode = min(max(math.floor(last * rate), int(c[0])), int(c[-1]))
    rest = last - mode
    differences = np.arange(int(m[0]) - int(c[-1]), last - int(c[0]) + 1)
    log_base = math.log(max(last, 1) * rate / max(mode, 1))
    log_rest = math.log(max(last, 1) * (1 - rate) / max(rest, 1))
    f = log_factorials(m, last)
    g = log_binomial_pmf(mode, last, rate) + (c - mode) * log_base - log_factorials(c, mode)
    return f, g, (differences - rest) * log_rest - log_factorials(differences, rest)


def log_factorials(x: NDArray[np.int64], anchor: int) -> NDArray[np.float64]:
    """Return ``log(x! / (anchor! anchor^(x - anchor)))`` for consecutive x that include `anchor`; inf for x < 0."""
    base = max(anchor, 1)
    steps = np.log1p((np.maximum(x[1:], 1) - base) / base)
    at = anchor - int(x[0])
    table = np.concatenate((-np.cumsum(steps[:at][::-1])[::-1], [0.0], np.cumsum(steps[at:])))
    return np.where(x >= 0, table, math.inf)
