"""Delta if only some users send dummies: an average over the number of messages, or bounds on this average.

The number of messages reveals the number of users who sent dummies, so that the divergence is an average over it. If
the sum is too long, delta is bounded from a few numbers of messages, because more messages never increase delta.
:mod:`shuffledp.accounting.dump.flexible` has the mechanism and its conventions. Derived for this project.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from shuffledp.accounting.general.clones import clone_divergences
from shuffledp.accounting.general.dummy_blanket import (
    MOST_PAIRS,
    binary_blanket_deltas,
    lone_delta,
    long_window,
    mixed_dummy_delta,
    pair_window,
    point_blanket_deltas,
    remembered_mean,
)
from shuffledp.accounting.general.grr_blanket import pieced_blanket_delta, uniform_reports
from shuffledp.accounting.general.loss_sums import LossPart
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import raised
from shuffledp.numerics.windows import Window, binomial_window

#: Numbers of messages, increasing, their probabilities, and the mass that is left out.
Law = tuple["NDArray[np.int64]", "NDArray[np.float64]", float]

#: Mass that windows may leave out on either side, relative to delta, and the least that floats can tell from 0.
OMITTED = 1e-12
FLOOR = 1e-320
#: Numbers of messages in the bounds of delta that precede the sum over all numbers.
_NODES = (32, 128, 512)
#: Terms of the double sum over numbers of messages and of pairs that take seconds, and about a minute. Beyond the first
#: number delta is only bounded, with this relative excess, where the bound is negligible; beyond the second, always.
_MANY_CELLS = 3e7
_MOST_CELLS = 1e9
_NEGLIGIBLE = 1e-15
_EXCESS = 0.02
#: Mass that a quick bound omits on either side. It is also the largest mass that any sum omits.
_LEFT_OUT = 1e-30
#: Numbers of senders whose windows are in memory at once; number of senders from which on a single sum has one dummy
#: per sender.
_PIECE, _MANY_SENDERS = 256, 1 << 14
#: Numbers of messages in the law of a loss, cells per standard deviation of its grid, and steps of T per deviation.
_NUMBERS, _GRAINS, _EVEN = 60, 400, 4


def profile(n: int, domain_size: int, eps: float, dummies: int, rate: float, eps_local: float) -> float:
    """Return the delta of :func:`flexible_dummy_delta`. The calibration evaluates this function, too."""
    if eps_local <= eps:
        return 0.0
    worst = lone_delta(eps, domain_size, eps_local)
    rough = _message_law(n, domain_size, dummies, rate, eps_local, 1e-30)
    tail = _negligible(rough, domain_size, eps, eps_local)
    cells = _cells(rough, domain_size, dummies, eps_local)
    if cells > (_MANY_CELLS if eps_local < math.inf else _MOST_CELLS):
        law = _message_law(n, domain_size, dummies, rate, eps_local, tail)
        bound = min(_upper_bound(law, domain_size, eps, eps_local, tail, _EXCESS) + law[2] * worst, worst)
        if cells > _MOST_CELLS or bound < _NEGLIGIBLE:
            return bound
    return _delta(n, domain_size, eps, dummies, rate, eps_local, tail)


def suffices(
    n: int, domain_size: int, eps: float, delta: float, dummies: int, rate: float, eps_local: float
) -> bool:
    """Return whether the delta of the reports is at most `delta`. If possible, bounds at few numbers of messages decide
    this.

    More messages never increase delta. So delta at both ends of an interval of numbers bounds the contribution of the
    interval.
    """
    tail = max(OMITTED * delta, FLOOR)
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
            if _cells(rough, domain_size, dummies, eps_local) <= (
                _MOST_CELLS if delta >= _NEGLIGIBLE else _MANY_CELLS
            ):
                return True
            break  # the profile may be a bound above this one
        if lower * (1 - 10 * OMITTED) > delta:
            return False
    return profile(n, domain_size, eps, dummies, rate, eps_local) <= delta


def point_deltas(
    messages: Sequence[int],
    domain_size: int,
    eps: float,
    eps_local: float,
    tail: float,
    most: int = MOST_PAIRS,
) -> list[float]:
    """Return delta for each number of uniform messages, by sums of all terms or of `most` evenly spaced terms."""
    if eps_local == math.inf and not long_window(max(messages), domain_size, tail):
        return [_delta_among(m, domain_size, tail, eps) for m in messages]
    return point_blanket_deltas(messages, domain_size, eps, eps_local, tail, most)


@remember(1 << 14)  # a calibration meets the same numbers of messages again and again
def _delta_among(messages: int, domain_size: int, tail: float, eps: float) -> float:
    """Return delta of an unrandomized value among a known number of uniform messages."""
    return mixed_dummy_delta(pair_window(messages, domain_size, tail), eps)


def overlapping(senders: Window, blanket: Window, dummies: int) -> bool:
    """Return whether the law of the number of messages has fewer terms than the laws given each number of senders."""
    return dummies * (senders.pmf.size - 1) + blanket.pmf.size <= senders.pmf.size * blanket.pmf.size


def _cells(rough: Law, domain_size: int, dummies: int, eps_local: float) -> int:
    """Return the number of terms of the double sum up to an omitted mass of 1e-30; 0 if delta is a single sum."""
    if eps_local == math.inf and dummies <= 1:
        return 0
    return rough[0].size * pair_window(int(rough[0][-1]), domain_size, 1e-30).pmf.size


def _negligible(rough: Law, domain_size: int, eps: float, eps_local: float) -> float:
    """Return a mass that is negligible relative to delta, and at most the mass that the rough law omits.

    First, delta is evaluated at one number of messages in the middle of the law. Other numbers are evaluated only if
    this delta is too small for the largest omitted mass.
    """
    numbers, masses, _ = rough
    middle = numbers.size // 2
    middle_delta = point_deltas([int(numbers[middle])], domain_size, eps, eps_local, FLOOR)[0]
    lower = float(np.sum(masses[: middle + 1])) * middle_delta  # with fewer messages delta is not smaller
    if OMITTED * lower < _LEFT_OUT:
        lower, _ = _bounds(rough, _NODES[0], domain_size, eps, eps_local, FLOOR)
    return min(max(OMITTED * lower, FLOOR), _LEFT_OUT)


def _bounds(
    law: Law, nodes: int, domain_size: int, eps: float, eps_local: float, tail: float
) -> tuple[float, float]:
    """Return a lower and an upper bound on delta from few numbers of messages. Both exclude the contribution of omitted
    mass.
    """
    numbers, masses, _ = law
    cuts = np.unique(np.linspace(0, numbers.size, min(nodes, numbers.size), endpoint=False).astype(np.int64))
    at = [*numbers[cuts].tolist(), int(numbers[-1])]
    values = np.array(point_deltas(at, domain_size, eps, eps_local, tail))
    weights = np.add.reduceat(masses, cuts)
    return float(weights @ values[1:]), float(weights @ values[:-1])


def quick_bound(
    n: int, domain_size: int, eps: float, dummies: int, rate: float | None, eps_local: float, excess: float
) -> float:
    """Return an upper bound on delta of GRR reports among dummies, from few numbers of messages.

    `dummies` is the number per sending user, or the total number if `rate` is None. For a delta above 1e-24, the bound
    exceeds delta by at most `excess`, relative.
    """
    worst = lone_delta(eps, domain_size, eps_local)
    if worst == 0:
        return 0.0
    if rate is None:
        window = uniform_reports(n, domain_size, eps_local, dummies, _LEFT_OUT)
        law: Law = (window.support, window.pmf, window.omitted)
    else:
        law = _message_law(n, domain_size, dummies, rate, eps_local, _LEFT_OUT)
    bound = _upper_bound(law, domain_size, eps, eps_local, _LEFT_OUT, excess)
    return min(bound + law[2] * worst, worst)


def _upper_bound(
    law: Law, domain_size: int, eps: float, eps_local: float, tail: float, excess: float
) -> float:
    """Return an upper bound on delta within a relative excess. The bound excludes the contribution of omitted mass.

    The function refines the bounds of :func:`_bounds`. It halves the intervals that contribute most to the difference
    of the bounds.
    """
    numbers, masses, _ = law
    last = numbers.size - 1
    deltas: dict[int, float] = {}
    cuts = np.unique(np.linspace(0, last, _NODES[0]).astype(np.int64))
    while True:
        new = [at for at in cuts.tolist() if at not in deltas]
        new_deltas = point_deltas(numbers[new].tolist(), domain_size, eps, eps_local, tail)
        deltas.update(zip(new, new_deltas, strict=True))
        values = np.array([deltas[at] for at in cuts.tolist()])
        weights = np.add.reduceat(masses, cuts)  # of the pieces; the last one is the last number alone
        upper = float(weights @ values)
        gaps = weights[:-1] * -np.diff(values)
        wide = (gaps > excess / 2 * upper / max(gaps.size, 1)) & (np.diff(cuts) > 1)
        if float(np.sum(gaps)) <= excess * upper or not np.any(wide):
            return upper
        middles = (cuts[:-1][wide] + cuts[1:][wide]) // 2
        cuts = np.unique(np.concatenate((cuts, middles)))


def message_losses(
    n: int, domain_size: int, dummies: int, rate: float, eps_local: float, negligible: float
) -> tuple[list[LossPart], float]:
    """Return the law of the loss of a GRR report among uniform messages, an upper bound, and the mass it omits.

    Among N uniform messages with one's own, a report of a has the weight ``N + (e^eps_local - 1) c_a``. A few numbers
    of messages stand for all larger numbers up to the next one. The numbers T of messages with one of the two values
    are evenly spaced, as in :mod:`shuffledp.accounting.general.dummy_blanket`.
    """
    law = _message_law(n, domain_size, dummies, rate, eps_local, negligible)
    order = np.argsort(law[0])
    numbers, masses = law[0][order], law[1][order]
    ranks = np.cumsum(masses) / np.sum(masses) + np.arange(1, numbers.size + 1) / numbers.size
    cuts = np.unique(np.searchsorted(ranks, np.linspace(0, 2, _NUMBERS, endpoint=False)))
    weights = np.add.reduceat(masses, cuts)
    gain = math.expm1(min(eps_local, 700.0))
    reveal_rate = domain_size / (gain + domain_size)
    omitted, step, cells, first = law[2], 0.0, np.zeros(0), 0
    for number, weight in zip((numbers[cuts] + 1).tolist(), weights.tolist(), strict=True):
        window = pair_window(number, domain_size, negligible)
        stride = max(1, int(math.sqrt(2 * number / domain_size * (1 - 2 / domain_size)) / _EVEN))
        pairs = window.support[::stride]
        share = window.pmf[::stride] / np.sum(window.pmf[::stride])
        reach = math.ceil(math.sqrt(int(pairs[-1]) * math.log(2 / negligible) / 2))
        own_count = pairs[:, None] // 2 + np.arange(-reach, reach + 2)
        other = pairs[:, None] - own_count
        valid = (own_count >= 0) & (other >= 0)
        own_count, other = np.where(valid, own_count, 0), np.where(valid, other, 0)
        logs = gammaln(pairs + 1)[:, None] - gammaln(own_count + 1) - gammaln(other + 1)
        chances = np.exp(logs - pairs[:, None] * math.log(2)) * valid
        mass = weight * reveal_rate * share[:, None] * chances * (1 + gain * own_count / number)
        losses = np.log1p(gain * own_count / number) - np.log1p(gain * other / number)
        if not step:  # the smallest number has the widest law
            step = math.sqrt(float(np.sum(mass * losses**2) / np.sum(mass))) / _GRAINS
            first = -math.ceil(float(np.max(np.abs(losses))) / step) - 1
            cells = np.zeros(-2 * first + 2)
        places = np.floor(losses / step)
        raised = np.expm1(places * step - losses) / math.expm1(-step)
        beyond = max(first - int(places.min()), int(places.max()) + 2 - first - cells.size)
        if beyond > 0:  # a larger number may have rarer, hence larger losses
            cells, first = np.pad(cells, beyond), first - beyond
        at = places.astype(np.int64).ravel() - first
        cells += np.bincount(at, (mass * (1 - raised)).ravel(), cells.size)
        cells += np.bincount(at + 1, (mass * raised).ravel(), cells.size)
        omitted += weight * (window.omitted + negligible)
    occupied = cells > 0
    losses = np.asarray(step * (first + np.flatnonzero(occupied)), np.float64)
    return [LossPart(1, losses, np.log(cells[occupied]))], omitted


def _message_law(n: int, domain_size: int, dummies: int, rate: float, eps_local: float, tail: float) -> Law:
    """Return the law of the number of uniform messages: dummies and uniform reports together."""
    senders = binomial_window(n, rate, tail)
    blanket = uniform_reports(n, domain_size, eps_local, 0, tail)
    if overlapping(senders, blanket, dummies):
        pooled = _pooled(senders, blanket, dummies)
        return pooled.support, pooled.pmf, pooled.omitted
    numbers = (senders.support * dummies)[:, None] + blanket.support
    masses = senders.pmf[:, None] * blanket.pmf
    return numbers.ravel(), masses.ravel(), senders.omitted + blanket.omitted


def _pooled(senders: Window, blanket: Window, dummies: int) -> Window:
    """Return the law of the number of uniform messages from the laws of senders and uniform reports."""
    if dummies == 0:  # no user sends a dummy
        return blanket
    width = blanket.pmf.size
    pmf = np.zeros(dummies * (senders.pmf.size - 1) + width)
    if width == 1:
        pmf[::dummies] = senders.pmf * blanket.pmf
    for i, mass in enumerate(senders.pmf if width > 1 else ()):
        pmf[i * dummies : i * dummies + width] += mass * blanket.pmf
    start = senders.start * dummies + blanket.start
    return Window(start, pmf, senders.omitted + blanket.omitted)


def _delta(
    n: int, domain_size: int, eps: float, dummies: int, rate: float, eps_local: float, tail: float
) -> float:
    """Return delta, with windows that omit the mass `tail` on either side."""
    if eps_local == math.inf:
        return _average_dummy_delta(n, domain_size, eps, dummies, rate, tail)
    senders = binomial_window(n, rate, tail)
    blanket = uniform_reports(n, domain_size, eps_local, 0, tail)
    if overlapping(senders, blanket, dummies):
        pooled = _pooled(senders, blanket, dummies)
        if (
            tail == _LEFT_OUT
        ):  # as a rule, so that a calibration meets the same numbers of messages again and again
            mean = remembered_mean(pooled, domain_size, eps, eps_local, tail)
            if mean is not None:
                return mean
        return pieced_blanket_delta(pooled, domain_size, eps, eps_local, tail)
    worst = lone_delta(eps, domain_size, eps_local)
    total = senders.omitted * worst
    beyond = np.append(np.cumsum(senders.pmf[:0:-1])[::-1], 0.0)  # mass of more senders
    values = _deltas_by_senders(senders, blanket, domain_size, eps, dummies, eps_local, tail)
    for value, mass, more_mass in zip(values, senders.pmf.tolist(), beyond.tolist(), strict=True):
        total += mass * value
        if more_mass * value <= OMITTED * total:  # with more senders delta is not larger
            total += more_mass * value
            break
    return min(total, worst)


def _deltas_by_senders(
    senders: Window,
    blanket: Window,
    domain_size: int,
    eps: float,
    dummies: int,
    eps_local: float,
    tail: float,
) -> Iterator[float]:
    """Yield delta for each number of senders, computed one by one or in batches."""
    if domain_size > 2:
        for count in senders.support.tolist():
            messages = Window(blanket.start + count * dummies, blanket.pmf, blanket.omitted)
            yield pieced_blanket_delta(messages, domain_size, eps, eps_local, tail)
        return
    worst = lone_delta(eps, domain_size, eps_local)
    for cut in range(0, senders.pmf.size, _PIECE):
        counts = senders.support[cut : cut + _PIECE]
        values = binary_blanket_deltas((counts * dummies)[:, None] + blanket.support, eps, eps_local)
        means = values @ blanket.pmf + blanket.omitted * worst
        yield from (raised(mean, worst) for mean in means.tolist())


def _average_dummy_delta(
    n: int, domain_size: int, eps: float, dummies: int, rate: float, tail: float
) -> float:
    """Return delta of an unrandomized value, averaged over the number of senders."""
    senders = binomial_window(n, rate, tail)
    if dummies <= 1 and senders.pmf.size > _MANY_SENDERS:  # a user sends one of the two values, or none
        return mixed_dummy_delta(binomial_window(n, dummies * rate * 2 / domain_size, tail), eps)
    total = senders.omitted
    for cut in range(0, senders.pmf.size, _PIECE):
        counts = senders.support[cut : cut + _PIECE].tolist()
        windows = [pair_window(count * dummies, domain_size, tail) for count in counts]
        masses = senders.pmf[cut : cut + _PIECE].tolist()
        first, last = min(w.start for w in windows), max(w.stop for w in windows)
        if last - first > 4 * sum(w.pmf.size for w in windows):  # they hardly overlap
            values = [_delta_among(count * dummies, domain_size, tail, eps) for count in counts]
        else:
            divergences = clone_divergences(first, last, math.inf, eps)
            values = [
                float(w.pmf @ divergences[w.start - first : w.stop - first]) + w.omitted for w in windows
            ]
        total += math.fsum(mass * value for mass, value in zip(masses, values, strict=True))
    return raised(total, 1.0)
