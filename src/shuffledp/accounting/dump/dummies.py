"""Privacy of pureDUMP and mixDUMP: delta by the number of dummies, and the number of dummies for a budget.

Every user sends a value of {1..k} together with dummies, values drawn uniformly from {1..k}; all messages are
shuffled. In mixDUMP generalized randomized response (GRR) randomizes the value first. Two accountings:

``printed``
    The theorems of the paper (arXiv 2009.13738), as printed and only where their proofs hold.
``exact``
    The divergence itself, see :mod:`shuffledp.accounting.general.dummy_blanket`.

Conventions: eps in nats; replacement neighbors; the guarantee is against the analyzer, who sees shuffled messages
and knows the inputs of all other users. `dummies` is the total of all users; only the total matters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Literal, get_args

import numpy as np

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.dummy_blanket import (
    blanket_rate,
    likely_delta,
    lone_delta,
    mixed_blanket_delta,
    mixed_dummy_delta,
    pair_window,
)
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.numerics.argument_ranges import (
    MOST,
    Count,
    Delta,
    Eps,
    EpsAt,
    FromOne,
    FromTwo,
    LocalEps,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import Window, binomial_window

DumpAccounting = Literal["printed", "exact"]
DUMP_ACCOUNTINGS: tuple[str, ...] = get_args(DumpAccounting)

#: Largest delta of the printed theorem on dummies: 14 ln(2/delta) / eps^2 has to exceed 27 / eps up to eps = 1.
_MOST_DELTA = 2 * math.exp(-27 / 14)
_XTOL = 1e-11
#: Mass that may be left out of the law of the messages, relative to delta, and the least that floats can tell from 0.
_OMITTED = 1e-13
_FLOOR = 1e-320
#: Evaluations after which the search for an integer halves its bracket.
_PATIENCE = 25


def dummy_delta(domain_size: FromTwo, dummies: Count, eps: EpsAt) -> float:
    """Return the exact delta of an unrandomized value among uniform dummies.

    Derived in :mod:`shuffledp.accounting.general.dummy_blanket`; DUMP (arXiv 2009.13738) has bounds only. Replacement
    neighbors.

    Parameters
    ----------
    domain_size, dummies : int
        Number of values k >= 2, and total number of dummies >= 0.
    eps : float
        Nats, >= 0.

    Returns
    -------
    float
        In [0, 1], the same in both directions and for all pairs of values; never too small and at most 1e-10 relative
        too large, except below 1e-300, where floats lose precision. Never below ``(1 - 1/k)^dummies``, the probability
        that no dummy equals the other value.

    Raises
    ------
    Infeasible
        If the sum does not fit into memory, for many messages and few values.

    Examples
    --------
    >>> from shuffledp.accounting import dummy_delta
    >>> delta = dummy_delta(domain_size=50, dummies=5_000, eps=0.5)
    >>> f"{delta:.4g}"
    '1.3e-05'
    """
    tail = negligible(likely_delta(dummies, domain_size, eps))
    return mixed_dummy_delta(pair_window(dummies, domain_size, tail), eps)


def dummy_epsilon(
    domain_size: FromTwo,
    dummies: Count,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(DUMP_ACCOUNTINGS)] = "exact",
) -> float:
    """Return the eps of an unrandomized value among uniform dummies.

    ``printed``: ``sqrt(14 k ln(2/delta) / (S - 1))``, DUMP, Theorem 5.2.

    Parameters
    ----------
    domain_size, dummies
        As in :func:`dummy_delta`.
    delta : float
        In (0, 1).
    accounting : {"printed", "exact"}
        See the module's description.

    Returns
    -------
    float
        Nats. ``printed`` is an upper bound. ``exact`` is the smallest eps with an exact delta of at most `delta`,
        rounded up by at most 1e-11 relative (or to 1e-12, if below).

    Raises
    ------
    Infeasible
        If the printed theorem does not hold here (eps above 1, delta above ``2 e^(-27/14)``), or no finite eps
        suffices.

    Examples
    --------
    >>> from shuffledp.accounting import dummy_epsilon
    >>> round(dummy_epsilon(domain_size=50, dummies=45_000, delta=1e-6), 4)
    0.1782
    >>> round(dummy_epsilon(domain_size=50, dummies=45_000, delta=1e-6, accounting="printed"), 4)
    0.4751
    """
    if accounting == "exact":
        return _exact_epsilon(domain_size, dummies, delta)
    if delta > _MOST_DELTA:
        raise Infeasible(f"The theorem holds for delta <= {_MOST_DELTA:.6f}, got {delta!r}.")
    eps = _printed_epsilon(domain_size, dummies, delta)
    if eps > 1:
        raise Infeasible(
            f"The theorem holds for eps <= 1; {dummies} dummies over {domain_size} values give {eps:.4g}."
        )
    return eps


def dummy_count(
    domain_size: FromTwo,
    eps: Eps,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(DUMP_ACCOUNTINGS)] = "exact",
) -> int:
    """Return the smallest total number of dummies with which an unrandomized value is (eps, delta)-private.

    ``printed``: ``14 k ln(2/delta) / eps^2 + 1``, rounded up; DUMP, Theorem 5.2.

    Parameters
    ----------
    domain_size : int
        Number of values k, >= 2.
    eps, delta : float
        Budget: eps in nats, > 0; delta in (0, 1).
    accounting : {"printed", "exact"}
        See the module's description.

    Returns
    -------
    int
        Number of dummies. ``printed`` is an upper bound on the least number. ``exact`` has a :func:`dummy_delta` of at
        most `delta`; one dummy fewer does not suffice.

    Raises
    ------
    Infeasible
        If the printed theorem does not hold here (eps above 1, delta above ``2 e^(-27/14)``), or the number is too
        large.

    Examples
    --------
    >>> from shuffledp.accounting import dummy_count
    >>> dummy_count(domain_size=50, eps=0.5, delta=1e-6)
    6800
    >>> dummy_count(domain_size=50, eps=0.5, delta=1e-6, accounting="printed")
    40626
    """
    if accounting == "exact":
        return _exact_count(domain_size, eps, delta)
    total = _finite(printed_total(1, domain_size, eps, delta))
    while _printed_epsilon(domain_size, total, delta) > eps:  # rounding of the formula
        total += 1
    return total


def mix_dummy_count(
    n: FromOne,
    domain_size: FromTwo,
    eps: Eps,
    delta: Delta,
    eps_local: Eps,
    *,
    accounting: Annotated[str, one_of(DUMP_ACCOUNTINGS)] = "exact",
) -> int:
    """Return the smallest total number of dummies with which n shuffled GRR reports are (eps, delta)-private.

    ``printed``: ``14 k ln(4/delta) / eps^2 + 1 - (n - 1) lambda + sqrt(2 (n - 1) lambda ln(2/delta))``, DUMP, Theorem
    5.6, with lambda as in :mod:`shuffledp.accounting.general.dummy_blanket`.

    Parameters
    ----------
    n, domain_size : int
        Number of users >= 1, and number of values k >= 2.
    eps, eps_local, delta : float
        Both eps in nats, > 0; delta in (0, 1). All users have the local budget `eps_local`.
    accounting : {"printed", "exact"}
        See the module's description. With ``exact`` the adversary learns which reports of other users are uniform.

    Returns
    -------
    int
        An upper bound on the number needed, for both accountings. 0 if the reports alone suffice; with ``exact`` this
        includes ``eps_local <= eps``.

    Raises
    ------
    Infeasible
        If the printed theorem does not hold here (eps above 1, delta above ``4 e^(-27/14)``), or the number is too
        large to be found.

    Examples
    --------
    >>> from shuffledp.accounting import mix_dummy_count
    >>> mix_dummy_count(10_000, domain_size=50, eps=0.5, delta=1e-6, eps_local=6.0)
    4242
    >>> mix_dummy_count(10_000, domain_size=50, eps=0.5, delta=1e-6, eps_local=6.0, accounting="printed")
    41641
    """
    if accounting == "exact":
        return _exact_mix_count(n, domain_size, eps, delta, eps_local)
    return max(0, _finite(printed_total(n, domain_size, eps, delta, eps_local)))


def blanket_delta(eps: EpsAt, uniform_messages: Count, domain_size: FromTwo, eps_local: LocalEps) -> float:
    """Return the exact delta of one GRR report among uniform messages.

    Derived in :mod:`shuffledp.accounting.general.dummy_blanket`. Replacement neighbors.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    uniform_messages, domain_size : int
        Number of messages drawn uniformly from the domain, >= 0, and number of values k >= 2.
    eps_local : float
        Budget of the report, nats, > 0; ``inf`` for an unrandomized value.

    Returns
    -------
    float
        In [0, 1], the same in both directions and for all pairs of values; 0 for ``eps >= eps_local``. Never too small
        and at most 1e-10 relative too large, except below 1e-300, where floats lose precision.

    Raises
    ------
    Infeasible
        If the sum does not fit into memory, for many messages and few values.

    Examples
    --------
    >>> from shuffledp.accounting import blanket_delta
    >>> delta = blanket_delta(eps=0.5, uniform_messages=2_000, domain_size=50, eps_local=4.0)
    >>> f"{delta:.4g}"
    '2.433e-07'
    """
    messages = uniform_messages
    if eps_local == math.inf:
        return dummy_delta(domain_size, messages, eps)
    if eps >= eps_local:
        return 0.0
    window = Window(messages, np.ones(1))
    tail = negligible(likely_delta(messages, domain_size, eps))  # of the order of the answer, on either side
    value = mixed_blanket_delta(window, domain_size, eps, eps_local, tail)
    while tail > _FLOOR and tail > _OMITTED * value:
        tail = max(tail * 1e-20, _FLOOR)
        value = mixed_blanket_delta(window, domain_size, eps, eps_local, tail)
    return value


def printed_total(n: int, domain_size: int, eps: float, delta: float, eps_local: float = math.inf) -> float:
    """Return the unrounded number of dummies of Theorem 5.2, or 5.6 for GRR reports; negative if the reports alone
    suffice.

    Raises Infeasible if eps is above 1 or delta is too large for the theorem.
    """
    mixed = eps_local < math.inf
    most = (2 if mixed else 1) * _MOST_DELTA
    if eps > 1:
        raise Infeasible(f"The theorem holds for eps <= 1, got {eps!r}.")
    if delta > most:
        raise Infeasible(f"The theorem holds for delta <= {most:.6f}, got {delta!r}.")
    if not mixed:
        return 14 * domain_size * math.log(2 / delta) / eps / eps + 1
    blanket = (n - 1) * blanket_rate(domain_size, eps_local)
    certain = blanket - math.sqrt(2 * blanket * math.log(2 / delta))
    return 14 * domain_size * math.log(4 / delta) / eps / eps + 1 - certain


def _printed_epsilon(domain_size: int, dummies: int, delta: float) -> float:
    if dummies <= 1:
        return math.inf
    return math.sqrt(14 * domain_size * math.log(2 / delta) / (dummies - 1))


def _finite(count: float) -> int:
    """Return the count rounded up; raise Infeasible for more than 2^53 dummies."""
    if not count <= MOST:
        raise Infeasible(f"About {count:.3g} dummies would be needed, more than 2^53.")
    return math.ceil(count)


@remember(4096)
def _exact_epsilon(domain_size: int, dummies: int, delta: float) -> float:
    if dummies * math.log1p(-1 / domain_size) > math.log(delta):
        raise Infeasible(
            f"With {dummies} dummies over {domain_size} values, none equals a given value with a probability above "
            f"delta = {delta!r}; then no finite eps holds."
        )
    window = pair_window(dummies, domain_size, negligible(delta))
    if mixed_dummy_delta(window, 0.0) <= delta:
        return 0.0

    # No finite likelihood ratio exceeds the number of dummies.
    low = -math.log(math.log(dummies + 1) + 1)
    mu = _gaussian_mu(dummies, domain_size)
    return smallest_epsilon(lambda eps: mixed_dummy_delta(window, eps), delta, mu, low, (0.0, low), _XTOL)


def smallest_epsilon(
    delta_at: Callable[[float], float],
    delta: float,
    mu: float,
    low: float,
    about: tuple[float, float],
    xtol: float,
) -> float:
    """Return the smallest eps >= 1e-12 that meets delta, by a search for ``-log(eps)`` above `low`.

    The search starts from the eps of Gaussian noise with distance mu.
    """
    high = -math.log(1e-12)

    def excess(minus_log_eps: float) -> float:  # increasing, as delta falls with eps
        return log_ratio(delta_at(math.exp(-minus_log_eps)), delta)

    def limit(minus_log_eps: float) -> float:
        return log_gaussian_delta(mu, math.exp(-minus_log_eps)) - math.log(delta)

    if excess(high) <= 0:
        return 1e-12
    guess = root_below(limit, *about, high, xtol=1e-6)
    slope = (limit(guess + 1e-4) - limit(guess - 1e-4)) / 2e-4
    slope = slope if math.isfinite(slope) else 0.0
    return math.exp(-root_below(excess, guess, low, high, xtol=xtol, slope=slope))


@remember(4096)
def _exact_count(domain_size: int, eps: float, delta: float) -> int:
    tail = negligible(delta)

    def excess(dummies: int) -> float:
        return log_ratio(mixed_dummy_delta(pair_window(dummies, domain_size, tail), eps), delta)

    guess, slope = _gaussian_guess(domain_size, eps, delta)
    return smallest_count(excess, guess, slope)


@remember(4096)
def _exact_mix_count(n: int, domain_size: int, eps: float, delta: float, eps_local: float) -> int:
    if lone_delta(eps, domain_size, eps_local) <= delta:
        return 0
    rate = blanket_rate(domain_size, eps_local)
    tail = negligible(delta)
    blanket = binomial_window(n - 1, rate, tail)

    def excess(dummies: int) -> float:
        messages = Window(blanket.start + dummies, blanket.pmf, blanket.omitted)
        return log_ratio(mixed_blanket_delta(messages, domain_size, eps, eps_local, tail), delta)

    # More uniform messages never raise delta: where the fewest suffice no sum over their number is needed, which
    # takes long with many users.
    fewest = Window(blanket.start, np.ones(1), blanket.omitted)
    if mixed_blanket_delta(fewest, domain_size, eps, eps_local, tail) <= delta or excess(0) <= 0:
        return 0
    guess, slope = _gaussian_guess(domain_size, eps, delta)
    return smallest_count(excess, guess - (n - 1) * rate, slope)


def _gaussian_mu(messages: float, domain_size: int) -> float:
    """Return the approximate distance of the two views for many messages, in standard deviations. It is not a bound."""
    return math.sqrt(2 * domain_size / (messages + 1))


def _gaussian_guess(domain_size: int, eps: float, delta: float) -> tuple[float, float]:
    """Return the number of uniform messages at which the normal limit of delta meets its target, and the slope of log
    delta there.
    """

    def limit(minus_log_count: float) -> float:
        return log_gaussian_delta(_gaussian_mu(math.exp(-minus_log_count), domain_size), eps) - math.log(
            delta
        )

    root = root_below(limit, 0.0, -math.log(float(MOST)), 0.0, xtol=1e-9)
    return math.exp(-root), -(limit(root + 1e-4) - limit(root - 1e-4)) / 2e-4 * math.exp(root)


def smallest_count(excess: Callable[[int], float], guess: float, slope: float) -> int:
    """Return the smallest integer >= 1 at which a non-increasing function is at most 0. The function is positive at 0.

    The search uses secant steps from the guess, rounded up, and bisects the bracket if the steps do not close it.
    """
    low, high = 0, MOST + 1
    x = int(min(max(math.ceil(guess), 1), MOST))
    previous: tuple[int, float] | None = None
    for evaluations in range(1, 200):
        y = excess(x)
        if y <= 0:
            high = x
        else:
            low = x
        if high - low == 1:
            break
        if previous is not None and previous[0] != x and math.isfinite(y) and math.isfinite(previous[1]):
            slope = (y - previous[1]) / (x - previous[0])
        previous = (x, y)
        if evaluations <= _PATIENCE and math.isfinite(y) and slope < 0:
            x = math.ceil(max(min(x - y / slope, 4.0 * MOST), 0.0))
            x = min(max(x, low + 1), high - 1)
        else:
            x = (low + high) // 2 if high <= MOST else min(2 * low + 1, MOST)
    if high > MOST:
        raise Infeasible("More than 2^53 dummies would be needed.")
    return high
