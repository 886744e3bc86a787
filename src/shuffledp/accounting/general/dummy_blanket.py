r"""Exact privacy of one report that hides among uniform messages.

A user's report is shuffled with m messages drawn uniformly from k values: dummies, or reports of others that
generalized randomized response (GRR) replaced. The report itself went through GRR with budget eps_local, which is
"keep the input with probability ``1 - lambda``, else send a uniform value", ``lambda = k / (E + k - 1)``,
``E = e^eps_local``; ``eps_local = inf`` sends the input as it is.

For the inputs 1 and 2 only the counts (a, b) of these two values matter. Under the law in which all m + 1 messages
are uniform, the densities of the two views are ``lambda + (1 - lambda) k a / (m + 1)`` and the same with b. Let T
be the number of the m messages that are 1 or 2, ``T ~ Bin(m, 2 / k)``. Summing over ``a + b = c + 1`` gives

.. math:: \delta = (1 - \lambda) \sum_c \Pr[T = c] \, \bigl( (1 - \rho) \Pr[X_c = j]
          - (e^\epsilon - 1 + 2 \rho) \Pr[X_c > j] \bigr)^+

with ``X_c ~ Bin(c, 1/2)``, ``rho = kappa (m + 1) / (c + 1)``, ``kappa = (e^eps - 1) / (E - 1)`` and
``j = floor((kappa (m + 1) + e^eps (c + 1)) / (1 + e^eps))``. For ``eps_local = inf``, rho = 0, the summand is the
divergence of the clones reduction with c clones and infinite local budget. Exchanging the two inputs exchanges a
and b, so both directions agree, and all pairs of inputs do too. Replacement neighbors; the inputs of all other
users are known to the adversary. Derived for this project; the paper on dummies (arXiv 2009.13738) has bounds only.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.clones import clone_divergences
from shuffledp.numerics.tails import binomial_upper_tail, log_binomial_pmf, log_half_pmf
from shuffledp.numerics.windows import Window, binomial_window

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Terms that a window may have; beyond this the arrays no longer fit.
_MOST_TERMS = 1e7
#: Cells of the table over (m, c) that are treated at once.
_CELLS = 500_000


def blanket_rate(domain_size: int, eps_local: float) -> float:
    """Return lambda, the probability that GRR over `domain_size` values answers uniformly.

    Parameters
    ----------
    domain_size : int
        At least 2.
    eps_local : float
        Nats, > 0; ``inf`` gives 0.
    """
    decay = math.exp(-eps_local)
    return domain_size * decay / (1 + (domain_size - 1) * decay)


def lone_delta(eps: float, domain_size: int, eps_local: float) -> float:
    """Return delta of one GRR report alone, ``(E - e^eps) / (E + k - 1)``, or 0 for ``eps >= eps_local``.

    No number of uniform messages makes it larger.
    """
    if eps >= eps_local:
        return 0.0
    return -math.expm1(eps - eps_local) / (1 + (domain_size - 1) * math.exp(-eps_local))


def pair_window(messages: int, domain_size: int, tail: float) -> Window:
    """Return the law of T, how many of the uniform messages are one of two given values.

    Raises
    ------
    Infeasible
        If the window is too long to be summed.
    """
    variance = 2 * messages / domain_size * (1 - 2 / domain_size)
    if 2 * math.sqrt(-2 * variance * math.log(tail)) > _MOST_TERMS:
        raise Infeasible(f"{messages} messages over {domain_size} values are too many for an exact sum.")
    return binomial_window(messages, 2 / domain_size, tail)


def mixed_dummy_delta(window: Window, eps: float) -> float:
    """Return delta at eps (nats, >= 0) for a given law of T and a report sent as it is; omitted mass counts as lost."""
    divergences = clone_divergences(window.start, window.stop, math.inf, eps)
    return min(float(window.pmf @ divergences) + window.omitted, 1.0)


def likely_delta(messages: int, domain_size: int, eps: float) -> float:
    """Return a lower bound on delta of a report sent as it is, to decide which mass is negligible beside it.

    The conditional divergence falls with T, and T is at most two deviations above its mean with probability >= 1/2.
    """
    rate = 2 / domain_size
    mean = messages * rate
    most = min(math.ceil(mean + 2 * math.sqrt(mean * (1 - rate))), messages)
    return 0.5 * float(clone_divergences(most, most + 1, math.inf, eps)[0])


def _divergences(
    m: NDArray[np.int64], c: NDArray[np.int64], eps: float, eps_local: float
) -> NDArray[np.float64]:
    """Return the bracket of the formula for every m and c, (r, w), where m and c are consecutive integers."""
    eps_ = min(eps, 709.0)
    kappa = math.exp(eps_ - eps_local) * math.expm1(-eps_) / math.expm1(-eps_local)
    upper = 1 / (1 + math.exp(-eps_))
    shift = kappa / (1 + math.exp(eps_)) * (m + 1.0)
    path = upper * (c + 1.0)
    # Rounding may put j on the wrong side of an integer; that is where the outcome at stake adds nothing. Only b = 0,
    # j = c, is decided by rho instead: it counts for rho < 1.
    j = np.minimum(np.floor(shift[:, None] + path), c)
    first = j[0]
    place = (j - first).astype(np.int64)
    rows = first + np.arange(int(place.max()) + 1)[:, None]
    point, tail = _half(rows, c.astype(np.float64))
    columns = np.arange(c.size)
    rho = kappa * (m[:, None] + 1.0) / (c + 1.0)
    value = (1 - rho) * point[place, columns] - (math.expm1(eps_) + 2 * rho) * tail[place, columns]
    return np.asarray(np.maximum(value, 0.0), np.float64)


def _half(j: NDArray[np.float64], c: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Pr[Bin(c, 1/2) = j] and Pr[Bin(c, 1/2) > j], both (rows, w); 0 for j > c."""
    inside = j <= c
    x = np.where(inside, j, 0.0)
    n = np.broadcast_to(c, x.shape)
    log_point = log_half_pmf(x, n)
    point = np.where(inside, np.exp(log_point), 0.0)
    return point, binomial_upper_tail(j + 1, c, 0.5)


def mixed_blanket_delta(
    messages: Window, domain_size: int, eps: float, eps_local: float, tail: float
) -> float:
    """Return delta of one GRR report among a random number of uniform messages that the adversary learns.

    Parameters
    ----------
    messages : Window
        Law of the number m of uniform messages.
    domain_size : int
        At least 2.
    eps, eps_local : float
        Nats; eps >= 0, eps_local > 0, finite.
    tail : float
        Mass that the law of T may leave out, on either side and for any m. All mass left out counts as lost privacy.

    Returns
    -------
    float
        In [0, 1], rounding error about 1e-11 relative; 0 for ``eps >= eps_local``.
    """
    worst = lone_delta(eps, domain_size, eps_local)
    if worst == 0:
        return 0.0
    lowest = pair_window(messages.start, domain_size, tail)
    highest = pair_window(messages.stop - 1, domain_size, tail)
    c = np.arange(lowest.start, highest.stop)
    total = 0.0
    step = max(1, _CELLS // c.size)
    for begin in range(0, messages.pmf.size, step):
        weight = messages.pmf[begin : begin + step]
        m = np.arange(messages.start + begin, messages.start + begin + weight.size)
        masses = _pair_masses(m, c, domain_size)
        total += float(weight @ np.sum(masses * _divergences(m, c, eps, eps_local), axis=1))
    omitted = messages.omitted + max(lowest.omitted, highest.omitted, 2 * tail if c.size > 1 else 0.0)
    return min((1 - blanket_rate(domain_size, eps_local)) * total + omitted * worst, worst)


def _pair_masses(m: NDArray[np.int64], c: NDArray[np.int64], domain_size: int) -> NDArray[np.float64]:
    """Return Pr[Bin(m, 2 / k) = c] for every m and c, (r, w), where m and c are consecutive integers."""
    possible = c <= m[:, None]
    if domain_size == 2:
        return np.asarray(c == m[:, None], np.float64)
    rate = 2 / domain_size
    # Along c from ratios, anchored where the mass is, in the last row; from row to row by ratios as well.
    last = int(m[-1])
    mode = min(max(math.floor(last * rate), int(c[0])), int(c[-1]))
    with np.errstate(divide="ignore"):
        along = np.log(np.maximum(last - c[:-1], 0) / (c[:-1] + 1.0) * (rate / (1 - rate)))
    log_last = np.zeros(c.size)
    at = mode - int(c[0])
    log_last[at + 1 :] = np.cumsum(along[at:])
    log_last[:at] = -np.cumsum(along[:at][::-1])[::-1]
    log_last += log_binomial_pmf(mode, last, rate)
    # Pr_m(c) / Pr_{m+1}(c) = (1 - c / (m + 1)) / (1 - rate)
    upper = m[:0:-1, None]
    with np.errstate(divide="ignore"):
        down = np.log1p(-np.minimum(c / upper, 1.0)) - math.log1p(-rate)
    log_mass = np.concatenate((log_last[None, :], log_last + np.cumsum(down, axis=0)))[::-1]
    return np.where(possible, np.exp(log_mass), 0.0)
