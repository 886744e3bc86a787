"""Dummies from some of the users only: the flexible variants of pureDUMP and mixDUMP.

Each of n users sends s dummies, uniform over {1..k}, with probability `rate`, and otherwise none. In the mixed variant
the values go through generalised randomised response (GRR) first; ``eps_local = inf`` sends them as they are. Three
accountings:

``printed``
    DUMP (arXiv 2009.13738), Theorems 5.11 and 5.12: the expected number of dummies stands in for the number, and the
    probability that nobody sends any is added to delta. Their formulas are lost; this form reproduces Tables 3 and 4.
    It is not a proof, since far fewer users than expected may send.
``corrected``
    Except with probability delta / 2 at least ``m_0 = rate n - sqrt(2 rate n ln(2/delta))`` users send; Theorems 5.2
    and 5.6 with the other half.
``exact``
    The number of messages tells how many users send, so the divergence is an average over that number.

Conventions: eps in nats; replacement neighbours; the adversary is the analyzer, who knows the inputs of all others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.accounting.dump.dummies import dummy_count
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.clones import clone_divergences
from shuffledp.accounting.general.dummy_blanket import (
    blanket_rate,
    lone_delta,
    mixed_blanket_delta,
    mixed_dummy_delta,
    pair_window,
)
from shuffledp.accounting.general.grr_blanket import pieced_blanket_delta, uniform_reports
from shuffledp.accounting.standing import Standing
from shuffledp.numerics.checks import (
    MOST,
    check_choice,
    check_count,
    check_nonnegative,
    check_open_unit,
    check_positive,
)
from shuffledp.numerics.remember import remember
from shuffledp.numerics.windows import Window, binomial_window

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Numbers of messages, increasing, their probabilities, and the mass that is left out.
Law = tuple["NDArray[np.int64]", "NDArray[np.float64]", float]

FLEXIBLE_ACCOUNTINGS = ("printed", "corrected", "exact")
#: What stands behind the printed theorems. The witness is one of both: with a local budget of 600 mixDUMP needs as many
#: dummies, and sends other values with negligible probability.
RANDOM_SENDERS = Standing(
    "violated",
    "far fewer users than expected may send dummies (DUMP-N4): for 3000 users of whom each sends with probability "
    "0.06, 2 values, eps 1 and delta 3e-81 the true delta is 2.9 times as large",
)

#: Largest delta of the theorem on dummies: 14 ln(2/delta) / eps^2 has to exceed 27 / eps up to eps = 1.
_MOST_DELTA = 2 * math.exp(-27 / 14)
_REMEMBERED = 4096
#: Mass that windows may leave out on either side, relative to delta, and the least that floats can tell from 0.
_OMITTED = 1e-12
_FLOOR = 1e-320
#: Numbers of messages at which delta is bounded before it is summed over all of them.
_NODES = (32, 128, 512)
#: Terms of the double sum over numbers of messages and of pairs that take seconds, and about a minute. Beyond the first
#: number delta is only bounded, with this relative excess, where the bound is negligible; beyond the second, always.
_MANY_CELLS = 3e7
_MOST_CELLS = 1e9
_NEGLIGIBLE = 1e-15
_EXCESS = 0.02
#: Numbers of senders whose windows are held at once.
_PIECE = 256


def default_rate(n: int, delta: float) -> float:
    """Return a probability of sending dummies that fits n users: 0.01, or more where n is small.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        In (0, 1]. 0.01 is the larger one of Tables 3 and 4. Below some thousand users it is the rate with which
        nobody sends with probability ``delta / 100``, since with 0.01 that probability alone would exceed delta; and
        everybody sends where that rate is above one half.
    """
    n = check_count("n", n, 1)
    delta = check_open_unit("delta", delta)
    rate = max(0.01, -math.expm1(math.log(delta / 100) / n))
    return rate if rate <= 0.5 else 1.0


def flexible_dummies_needed(
    n: int, domain_size: int, eps: float, delta: float, rate: float, *, eps_local: float = math.inf
) -> float:
    """Return the dummies per sending user of the printed theorems, not rounded; see :func:`flexible_dummies`.

    Notes
    -----
    ``S / (rate n)`` with the total S of Theorem 5.2 or 5.6, at the delta that remains when nobody sends with
    probability ``(1 - rate)^n``. 0 where S is negative.
    """
    n, domain_size, eps, delta, rate, eps_local = _checked(n, domain_size, eps, delta, rate, eps_local)
    if _total(n, domain_size, eps, delta, eps_local) <= 0:
        return 0.0
    silent = math.exp(n * math.log1p(-rate)) if rate < 1 else 0.0
    if silent >= delta:
        raise Infeasible(
            f"Nobody of {n} users sends dummies with probability {silent:.4g}, not below delta = {delta!r}: the rate "
            "is too small."
        )
    total = _total(n, domain_size, eps, (delta - silent) / (1 - silent), eps_local)
    return max(0.0, total) / (rate * n)


def flexible_dummies(
    n: int,
    domain_size: int,
    eps: float,
    delta: float,
    rate: float,
    *,
    accounting: str = "exact",
    eps_local: float = math.inf,
) -> int:
    """Return the smallest number of dummies per sending user with which the reports are (eps, delta)-private.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    domain_size : int
        Number of values k, >= 2.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    rate : float
        Probability with which a user sends dummies, in (0, 1].
    accounting : {"printed", "corrected", "exact"}
        See the module's description.
    eps_local : float
        Budget of GRR, nats, > 0; ``inf`` for values that are sent as they are.

    Returns
    -------
    int
        0 if the reports alone suffice, as they always do for ``eps_local <= eps``. Exact: :func:`flexible_dummy_delta`
        of this number is at most `delta`.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    Infeasible
        If too few users send with too high a probability, however many dummies each of them sends; if the theorem
        does not hold here (printed, corrected: eps above 1, or delta too large); or if more than 2^53 messages would
        be sent.
    """
    n, domain_size, eps, delta, rate, eps_local = _checked(n, domain_size, eps, delta, rate, eps_local)
    check_choice("accounting", accounting, FLEXIBLE_ACCOUNTINGS)
    if eps_local <= eps:
        return 0
    if accounting == "exact":
        return _exact_dummies(n, domain_size, eps, delta, rate, eps_local)
    if accounting == "printed":
        return _finite(flexible_dummies_needed(n, domain_size, eps, delta, rate, eps_local=eps_local), n)
    total = _total(n, domain_size, eps, delta / 2, eps_local)
    if total <= 0:
        return 0
    senders = rate * n - math.sqrt(2 * rate * n * math.log(2 / delta)) if rate < 1 else float(n)
    if senders <= 0:
        raise Infeasible(
            f"With {n} users and a rate of {rate!r}, no number of senders is certain up to delta / 2 = {delta / 2!r} "
            "by the Chernoff bound."
        )
    return _finite(total / senders, n)


def flexible_dummy_delta(
    eps: float, n: int, domain_size: int, dummies: int, rate: float, *, eps_local: float = math.inf
) -> float:
    """Return delta when every user sends `dummies` dummies with probability `rate`.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    n, domain_size, rate, eps_local
        As in :func:`flexible_dummies`.
    dummies : int
        Dummies per sending user, >= 0.

    Returns
    -------
    float
        In [0, 1], the same in both directions and for all pairs of values. Exact for ``eps_local = inf``; else exact
        for an adversary who knows which other reports are uniform, hence an upper bound. About 1e-11 relative too
        large at most, except below 1e-300, where floats end; 2 % where GRR meets so many dummies that the sum over
        all numbers of messages would take more than about a minute, or some seconds for a delta below 1e-15.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    Infeasible
        If so many messages meet so few values that the sum does not fit into memory.
    """
    eps = check_nonnegative("eps", eps)
    n, domain_size, _, _, rate, eps_local = _checked(n, domain_size, 1.0, 0.5, rate, eps_local)
    dummies = check_count("dummies", dummies)
    return _profile(n, domain_size, eps, dummies, rate, eps_local)


def _profile(n: int, domain_size: int, eps: float, dummies: int, rate: float, eps_local: float) -> float:
    """Return :func:`flexible_dummy_delta`; the calibration decides by it, so that both agree on what suffices."""
    if eps_local <= eps:
        return 0.0
    worst = lone_delta(eps, domain_size, eps_local)
    rough = _message_law(n, domain_size, dummies, rate, eps_local, 1e-30)
    lower, _ = _bounds(rough, _NODES[0], domain_size, eps, eps_local, _FLOOR)
    tail = min(max(_OMITTED * lower, _FLOOR), 1e-30)
    cells = _cells(rough, domain_size, eps_local)
    if cells > _MANY_CELLS:
        law = _message_law(n, domain_size, dummies, rate, eps_local, tail)
        bound = min(_upper_bound(law, domain_size, eps, eps_local, tail) + law[2] * worst, worst)
        if cells > _MOST_CELLS or bound < _NEGLIGIBLE:
            return bound
    return _delta(n, domain_size, eps, dummies, rate, eps_local, tail)


def _cells(rough: Law, domain_size: int, eps_local: float) -> int:
    """Terms of the double sum, from a law that leaves out 1e-30; 0 for values sent as they are, a single sum."""
    if eps_local == math.inf:
        return 0
    return rough[0].size * pair_window(int(rough[0][-1]), domain_size, 1e-30).pmf.size


def _checked(
    n: int, domain_size: int, eps: float, delta: float, rate: float, eps_local: float
) -> tuple[int, int, float, float, float, float]:
    rate = check_positive("rate", rate)
    if rate > 1:
        raise ValueError(f"rate must be in (0, 1], got {rate!r}.")
    return (
        check_count("n", n, 1),
        check_count("domain_size", domain_size, 2),
        check_positive("eps", eps),
        check_open_unit("delta", delta),
        rate,
        eps_local if eps_local == math.inf else check_positive("eps_local", eps_local),
    )


def _total(n: int, domain_size: int, eps: float, delta: float, eps_local: float) -> float:
    """Number of dummies of Theorem 5.2 or 5.6, not rounded; negative where the blanket alone is more than enough."""
    mixed = eps_local < math.inf
    most = (2 if mixed else 1) * _MOST_DELTA
    if eps > 1:
        raise Infeasible(f"The theorem holds for eps <= 1, got {eps!r}.")
    if delta > most:
        raise Infeasible(f"The theorem holds for delta <= {most:.6f}, and {delta!r} would be left to it.")
    if not mixed:
        return 14 * domain_size * math.log(2 / delta) / eps / eps + 1
    blanket = (n - 1) * blanket_rate(domain_size, eps_local)
    certain = blanket - math.sqrt(2 * blanket * math.log(2 / delta))
    return 14 * domain_size * math.log(4 / delta) / eps / eps + 1 - certain


def _finite(dummies: float, n: int) -> int:
    """Return the number rounded up, if floats hold every integer up to that many messages of everybody."""
    if not dummies * n <= MOST:
        raise Infeasible(f"About {dummies:.3g} dummies per sender would be needed: more than 2^53 messages.")
    return math.ceil(dummies)


@remember(_REMEMBERED)
def _exact_dummies(n: int, domain_size: int, eps: float, delta: float, rate: float, eps_local: float) -> int:
    tail = max(_OMITTED * delta, _FLOOR)
    blanket = uniform_reports(n, domain_size, eps_local, 0, tail)
    alone = _profile(n, domain_size, eps, 0, rate, eps_local)
    if alone <= delta:
        return 0
    silent = math.exp(n * math.log1p(-rate)) if rate < 1 else 0.0
    if silent * alone > delta:
        raise Infeasible(
            f"Nobody of {n} users sends dummies with probability {silent:.4g}, and the reports alone have delta = "
            f"{alone:.4g}: the rate is too small for delta = {delta!r}."
        )
    total = dummy_count(domain_size, eps, delta, accounting="exact")
    mean = blanket.start + blanket.pmf.size // 2
    guess, parts = math.ceil(max(total - mean, 1) / (rate * n)), 50
    senders = binomial_window(n, rate, tail)
    if blanket.pmf.size > 1 and not _overlapping(senders, blanket, guess):
        # Every decision costs a full sum then; a typical number of uniform reports shows where to take it.
        def typical(dummies: int) -> bool:
            at = (senders.support * dummies + mean).tolist()
            values = [_point_delta(m, domain_size, eps, eps_local, tail) for m in at]
            return float(senders.pmf @ values) <= delta

        guess, parts = _first(typical, guess, MOST // n, parts), 2000
    return _first(
        lambda s: _suffices(n, domain_size, eps, delta, s, rate, eps_local), guess, MOST // n, parts
    )


def _first(holds: Callable[[int], bool], guess: int, most: int, parts: int) -> int:
    """Return the smallest integer in [1, most] from which on a condition holds that does not hold at 0.

    The first steps away from the guess are a part of it.
    """
    low, high, step = 0, most + 1, max(1, guess // parts)
    x = min(max(guess, 1), most)
    while high - low > 1:
        if holds(x):
            high = x
        else:
            low = x
        if low == 0 or high > most:  # the guess is on the other side: walk with growing steps
            x = min(low + step, most) if high > most else max(high - step, 1)
            step *= 2
        else:
            x = (low + high) // 2
    if high > most:
        raise Infeasible("More than 2^53 messages would be needed.")
    return high


def _suffices(
    n: int, domain_size: int, eps: float, delta: float, dummies: int, rate: float, eps_local: float
) -> bool:
    """Whether delta is kept. Decided by bounds from few numbers of messages, if these are not too close to it.

    More messages never raise delta, so the numbers that bound a piece of their law bound its part of delta.
    """
    tail = max(_OMITTED * delta, _FLOOR)
    law = _message_law(n, domain_size, dummies, rate, eps_local, tail)
    worst = lone_delta(eps, domain_size, eps_local)
    gaps = (
        law[0].size <= law[0][-1] - law[0][0]
    )  # between numbers of senders, where bounds would be far apart
    for nodes in () if gaps and eps_local < math.inf else _NODES:
        if law[0].size <= nodes:
            break
        lower, upper = _bounds(law, nodes, domain_size, eps, eps_local, tail)
        if upper + law[2] * worst <= delta:
            rough = _message_law(n, domain_size, dummies, rate, eps_local, 1e-30)
            if _cells(rough, domain_size, eps_local) <= (
                _MOST_CELLS if delta >= _NEGLIGIBLE else _MANY_CELLS
            ):
                return True
            break  # the profile may be a bound above this one
        if lower * (1 - 10 * _OMITTED) > delta:
            return False
    return _profile(n, domain_size, eps, dummies, rate, eps_local) <= delta


def _bounds(
    law: Law, nodes: int, domain_size: int, eps: float, eps_local: float, tail: float
) -> tuple[float, float]:
    """Lower and upper bound on delta from few numbers of messages, both without the mass that the law leaves out."""
    numbers, masses, _ = law
    cuts = np.unique(np.linspace(0, numbers.size, min(nodes, numbers.size), endpoint=False).astype(np.int64))
    at = [*numbers[cuts].tolist(), int(numbers[-1])]
    values = np.array([_point_delta(m, domain_size, eps, eps_local, tail) for m in at])
    weights = np.add.reduceat(masses, cuts)
    return float(weights @ values[1:]), float(weights @ values[:-1])


def _upper_bound(law: Law, domain_size: int, eps: float, eps_local: float, tail: float) -> float:
    """Upper bound within `_EXCESS` of delta, without the mass that the law leaves out.

    As :func:`_bounds`, with pieces that are halved where they contribute most to the difference of the bounds.
    """
    numbers, masses, _ = law
    last = numbers.size - 1
    known: dict[int, float] = {}
    cuts = np.unique(np.linspace(0, last, _NODES[0]).astype(np.int64))
    while True:
        for at in cuts.tolist():
            if at not in known:
                known[at] = _point_delta(int(numbers[at]), domain_size, eps, eps_local, tail)
        values = np.array([known[at] for at in cuts.tolist()])
        weights = np.add.reduceat(masses, cuts)  # of the pieces; the last one is the last number alone
        upper = float(weights @ values)
        gaps = weights[:-1] * -np.diff(values)
        wide = (gaps > _EXCESS / 2 * upper / gaps.size) & (np.diff(cuts) > 1)
        if float(np.sum(gaps)) <= _EXCESS * upper or not np.any(wide):
            return upper
        middles = (cuts[:-1][wide] + cuts[1:][wide]) // 2
        cuts = np.unique(np.concatenate((cuts, middles)))


def _message_law(n: int, domain_size: int, dummies: int, rate: float, eps_local: float, tail: float) -> Law:
    """Return the law of the number of uniform messages of all kinds."""
    senders = binomial_window(n, rate, tail)
    blanket = uniform_reports(n, domain_size, eps_local, 0, tail)
    if _overlapping(senders, blanket, dummies):
        pooled = _pooled(senders, blanket, dummies)
        return pooled.support, pooled.pmf, pooled.omitted
    numbers = (senders.support * dummies)[:, None] + blanket.support
    masses = senders.pmf[:, None] * blanket.pmf
    return numbers.ravel(), masses.ravel(), senders.omitted + blanket.omitted


def _overlapping(senders: Window, blanket: Window, dummies: int) -> bool:
    """Whether the law of the number of messages is shorter than the laws given every number of senders."""
    return dummies * (senders.pmf.size - 1) + blanket.pmf.size <= senders.pmf.size * blanket.pmf.size


def _pooled(senders: Window, blanket: Window, dummies: int) -> Window:
    """Law of the number of uniform messages of all kinds."""
    width = blanket.pmf.size
    pmf = np.zeros(dummies * (senders.pmf.size - 1) + width)
    for i, mass in enumerate(senders.pmf):
        pmf[i * dummies : i * dummies + width] += mass * blanket.pmf
    start = senders.start * dummies + blanket.start
    return Window(start, pmf, senders.omitted + blanket.omitted)


def _point_delta(messages: int, domain_size: int, eps: float, eps_local: float, tail: float) -> float:
    """Return delta for a given number of uniform messages."""
    if eps_local == math.inf:
        return mixed_dummy_delta(pair_window(messages, domain_size, tail), eps)
    return mixed_blanket_delta(Window(messages, np.ones(1)), domain_size, eps, eps_local, tail)


def _delta(
    n: int, domain_size: int, eps: float, dummies: int, rate: float, eps_local: float, tail: float
) -> float:
    """Return delta, with windows that leave out `tail` on either side."""
    senders = binomial_window(n, rate, tail)
    if eps_local == math.inf:
        return _average_dummy_delta(senders, domain_size, eps, dummies, tail)
    blanket = uniform_reports(n, domain_size, eps_local, 0, tail)
    if _overlapping(senders, blanket, dummies):
        return pieced_blanket_delta(_pooled(senders, blanket, dummies), domain_size, eps, eps_local, tail)
    worst = lone_delta(eps, domain_size, eps_local)
    total = senders.omitted * worst
    beyond = np.append(np.cumsum(senders.pmf[:0:-1])[::-1], 0.0)  # mass of more senders
    for count, mass, more in zip(
        senders.support.tolist(), senders.pmf.tolist(), beyond.tolist(), strict=True
    ):
        messages = Window(blanket.start + count * dummies, blanket.pmf, blanket.omitted)
        value = pieced_blanket_delta(messages, domain_size, eps, eps_local, tail)
        total += mass * value
        if more * value <= _OMITTED * total:  # with more senders delta is not larger
            total += more * value
            break
    return min(total, worst)


def _average_dummy_delta(senders: Window, domain_size: int, eps: float, dummies: int, tail: float) -> float:
    """Return delta of a value that is sent as it is, averaged over the number of senders."""
    total = senders.omitted
    for cut in range(0, senders.pmf.size, _PIECE):
        counts = senders.support[cut : cut + _PIECE].tolist()
        windows = [pair_window(count * dummies, domain_size, tail) for count in counts]
        masses = senders.pmf[cut : cut + _PIECE].tolist()
        first, last = min(w.start for w in windows), max(w.stop for w in windows)
        if last - first > 4 * sum(w.pmf.size for w in windows):  # they hardly overlap
            values = [mixed_dummy_delta(w, eps) for w in windows]
        else:
            divergences = clone_divergences(first, last, math.inf, eps)
            values = [
                float(w.pmf @ divergences[w.start - first : w.stop - first]) + w.omitted for w in windows
            ]
        total += math.fsum(mass * value for mass, value in zip(masses, values, strict=True))
    return min(total, 1.0)
