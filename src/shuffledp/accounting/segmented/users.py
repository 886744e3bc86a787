r"""Privacy of a whole user with s items among Poisson blanket messages, without group composition.

Every count of an item is Poisson(mu), ``mu = n m / d``, plus the victim's reports; all counts are independent. If the
victim exchanges s items for s others, the loss is

.. math:: L = \sum_{j \le s} g(A_j) - g(Y_j), \qquad g(x) = \ln(1 - \lambda + \lambda x / \mu)

with A_j ~ Poisson(mu) + Bernoulli(lambda) and Y_j ~ Poisson(mu), all independent, and delta is the mean of
``(1 - e^(eps - L))^+``. Delta is smaller if fewer items are exchanged, so the bound assumes ``min(s, d - s)`` exchanged
items. Group composition needs 4 to 9 times as many blanket messages in the settings of the paper (erratum SEG-6.3).

Each term is rounded to a grid: every outcome is split into one outcome with a higher loss and one with a lower loss.
The split preserves the probabilities under both laws. An adversary who sees the parts knows more, so the result is an
upper bound. The increase of the variance is of second order in the step. Powers of Fourier transforms add the terms.
First the laws are tilted by ``e^(theta L)`` so that losses near eps are likely. Rounding errors of the transform are
then small relative to results of any size.

Conventions: eps in nats; replacement of a user's whole set; the adversary knows the reports of all other users. The
splitting is from Doroshenko et al. 2022 ("Connect the dots"). Derived for this project; arXiv 2407.19639 composes by
groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.labeled_counts import check_size
from shuffledp.accounting.segmented.item_calibration import gaussian_noise
from shuffledp.numerics.argument_ranges import Delta, Eps, EpsAt, FromOne, FromTwo, NonNegative, Unit
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, raised
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import poisson_window

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REMEMBERED = 1 << 15
_XTOL = 1e-7
_LEAST_RATE = 1e-9
_MOST_BLANKETS = 1e9
#: Relative error of delta that the grid may add.
_GRID_ERROR = 2e-5
#: Expected blanket messages on all exchanged items together below which the grid is finer, since there are few
#: outcomes.
_FEW = 30.0
#: Mass that may be left out, relative to the answer; the first attempt; and the least that floats can tell from 0.
_OMITTED = 1e-12
_FIRST_TAIL = 1e-40
_FLOOR = 1e-290
#: Mass of the tilted law outside the transform, as a natural logarithm.
_LOG_OUTSIDE = -34.0
#: Losses above this value count as infinite, because e^-40 is negligible.
_CAP = 40.0
#: Length of the longest transform.
_MOST_POINTS = 1 << 20


def user_level_delta(
    eps: EpsAt,
    reporting_rate: Unit,
    n: FromOne,
    blankets: NonNegative,
    domain_size: FromTwo,
    set_size: FromOne,
) -> float:
    """Return delta of a user's whole set of items among Poisson blanket messages.

    Derived for this project, see the module's description; the paper composes by groups (arXiv 2407.19639, Theorem 3).
    Replacement of the user's whole set.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    reporting_rate : float
        lambda, probability that each of the victim's items is sent, in [0, 1].
    n, domain_size, set_size : int
        Number of users >= 1, items d >= 2, and items per user s in [1, d].
    blankets : float
        Expected number of blanket messages per user m, >= 0.

    Returns
    -------
    float
        In [0, 1], the same in both directions. An upper bound, too large by at most 1e-4 relative down to 1e-270. The
        error is larger if few blanket messages hold an exchanged item. Up to this error it is non-decreasing in
        `reporting_rate` and non-increasing in `blankets`.

    Raises
    ------
    Infeasible
        If the sum does not fit into memory, for many messages and few items.

    Examples
    --------
    Three items of a user, by this bound and by group composition of one item (the paper's Theorem 3):

    >>> import math
    >>> from shuffledp.accounting import segmented_delta, user_level_delta
    >>> setting = {"reporting_rate": 1.0, "n": 1000, "blankets": 5.0, "domain_size": 20}
    >>> print(f"{user_level_delta(1.0, set_size=3, **setting):.2e}")
    3.34e-12
    >>> item = segmented_delta(1 / 3, blanket_law="poisson", **setting)
    >>> print(f"{3 * math.exp(1.0) * item:.2e}")
    2.38e-05
    """
    rate = reporting_rate
    pairs = _exchanged(domain_size, set_size)
    if rate == 0 or pairs == 0:
        return 0.0
    if blankets == 0:
        return _any(rate, pairs)
    return _delta(eps, rate, n * blankets / domain_size, pairs)


def user_level_reporting_rate(
    n: FromOne, blankets: NonNegative, domain_size: FromTwo, set_size: FromOne, eps: Eps, delta: Delta
) -> float:
    """Return the largest reporting probability with which a user is (eps, delta)-private.

    Inverts :func:`user_level_delta`, which raises the same errors. Derived for this project. Replacement of the user's
    whole set.

    Parameters
    ----------
    n, blankets, domain_size, set_size
        As in :func:`user_level_delta`.
    eps, delta : float
        Budget: eps in nats, > 0; delta in (0, 1).

    Returns
    -------
    float
        In (0, 1]; rounded down, by about 1e-5 relative, because :func:`user_level_delta` is an upper bound.
    """
    pairs = _exchanged(domain_size, set_size)
    if pairs == 0:
        return 1.0
    if blankets == 0:
        return -math.expm1(math.log1p(-delta) / pairs)
    return _rate(n * blankets / domain_size, pairs, eps, delta)


def user_level_blankets(n: FromOne, domain_size: FromTwo, set_size: FromOne, eps: Eps, delta: Delta) -> float:
    """Return the smallest expected number of blanket messages per user that allows reporting probability 1.

    Inverts :func:`user_level_delta` at a reporting rate of 1. Derived for this project. Replacement of the user's whole
    set.

    Parameters
    ----------
    n, domain_size, set_size
        As in :func:`user_level_delta`.
    eps, delta : float
        Budget: eps in nats, > 0; delta in (0, 1).

    Returns
    -------
    float
        Rounded up, by about 1e-5 relative, because :func:`user_level_delta` is an upper bound; 0 if all users hold all
        items.

    Raises
    ------
    Infeasible
        If more than 1e9 messages per user would be needed, or the sum does not fit into memory.
    """
    pairs = _exchanged(domain_size, set_size)
    if pairs == 0:
        return 0.0
    likely = 2 * domain_size * pairs * gaussian_noise(eps, delta)[0] ** 2 / n
    if likely > _MOST_BLANKETS:
        raise Infeasible(f"About {likely:.3g} blanket messages of each of the {n} users would be needed.")
    return _mean_for_full_reporting(pairs, eps, delta) * domain_size / n


@remember(_REMEMBERED)
def _rate(mean: float, pairs: int, eps: float, delta: float) -> float:
    def excess(log_rate: float) -> float:
        return log_ratio(_delta(eps, math.exp(log_rate), mean, pairs), delta)

    noise, slope = gaussian_noise(eps, delta)
    guess = math.log(mean / (2 * pairs)) / 2 - math.log(noise)
    if guess > -0.5 and (_chernoff(eps, 1.0, mean, pairs) <= delta or excess(0.0) <= 0):
        return 1.0
    low = math.log(min(_LEAST_RATE, delta / pairs))
    return math.exp(root_below(excess, min(max(guess, low + 1e-3), -1e-3), low, 0.0, xtol=_XTOL, slope=slope))


@remember(_REMEMBERED)
def _mean_for_full_reporting(pairs: int, eps: float, delta: float) -> float:
    def excess(minus_log_mean: float) -> float:  # increasing, as delta falls with the mean
        return log_ratio(_delta(eps, 1.0, math.exp(-minus_log_mean), pairs), delta)

    noise, slope = gaussian_noise(eps, delta)
    guess = -math.log(2 * pairs * noise**2)
    return math.exp(-root_below(excess, guess, -math.inf, math.inf, xtol=_XTOL, slope=slope / 2))


def _exchanged(domain_size: int, set_size: int) -> int:
    """Return the largest number of items in which two sets may differ."""
    if set_size > domain_size:
        raise ValueError(f"set_size must be at most domain_size = {domain_size}, got {set_size}.")
    return min(set_size, domain_size - set_size)


@dataclass(frozen=True, eq=False)
class _Losses:
    """Losses and probabilities of one item that the victim holds, and of one item that replaces it.

    `lost` bounds the omitted mass: infinite losses, losses that count as infinite, and the ends of the windows.
    `omitted` bounds the mass of the ends alone.
    """

    held: NDArray[np.float64]
    held_pmf: NDArray[np.float64]
    exchanged: NDArray[np.float64]
    exchanged_pmf: NDArray[np.float64]
    lost: float
    omitted: float

    def largest(self, pairs: int) -> float:
        """Return the largest total loss that counts as finite."""
        return pairs * float(np.max(self.held) + np.max(self.exchanged))

    @cached_property
    def _laws(self) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]:
        """Losses and log probabilities of the two items, computed once for all tilts."""
        return (self.held, np.log(self.held_pmf)), (self.exchanged, np.log(self.exchanged_pmf))

    def cumulants(self, theta: float) -> tuple[float, float, float]:
        """Return the log of the mean of ``e^(theta L)`` for one pair of items, and its first two derivatives."""
        log_mean = first = second = 0.0
        for loss, log_pmf in self._laws:
            exponent = log_pmf + theta * loss
            top = float(exponent.max())
            weight = np.exp(exponent - top)
            mass = float(weight.sum())
            mean = float(weight @ loss) / mass
            log_mean += math.log(mass) + top
            first += mean
            second += float(weight @ (loss - mean) ** 2) / mass
        return log_mean, first, second


def _losses(mean: float, rate: float, eps: float, tail: float) -> _Losses:
    check_size(mean, tail)
    window = poisson_window(mean, tail)
    x = np.arange(window.start, window.stop + 1.0)  # the victim's own report may come on top
    with np.errstate(divide="ignore"):
        g = np.log1p(rate * (x / mean - 1))
    exchanged = -g[:-1]
    held_pmf = (1 - rate) * np.append(window.pmf, 0.0) + rate * np.insert(window.pmf, 0, 0.0)
    # What is certain to be lost: infinite losses, and those beyond which nothing changes.
    certain = exchanged > eps + _CAP
    lost = float(np.sum(window.pmf[certain]))
    possible = held_pmf > 0
    likely = ~certain & (window.pmf > 0)
    return _Losses(
        g[possible],
        held_pmf[possible],
        exchanged[likely],
        window.pmf[likely],
        min(lost + 2 * window.omitted, 1.0),
        2 * window.omitted,
    )


def _tilt(losses: _Losses, eps: float, pairs: int) -> float:
    """Return theta >= 0 at which the tilted mean loss is eps; 0 if the mean loss is at least eps without tilt."""
    _, mean, variance = losses.cumulants(0.0)
    if pairs * mean >= eps:
        return 0.0
    guess = (eps / pairs - mean) / variance
    return root_below(
        lambda t: losses.cumulants(t)[1] - eps / pairs,
        guess,
        0.0,
        1e6,
        xtol=1e-3 * max(guess, 1.0),
        slope=variance,
    )


def _chernoff(eps: float, rate: float, mean: float, pairs: int) -> float:
    """Return an inexpensive upper bound on delta, far too large unless it is much below 1."""
    losses = _losses(mean, rate, eps, _FIRST_TAIL)
    if losses.exchanged.size == 0 or losses.largest(pairs) <= eps:
        return _any(losses.lost, pairs)
    theta = _tilt(losses, eps, pairs)
    return math.exp(pairs * losses.cumulants(theta)[0] - theta * eps) + _any(losses.lost, pairs)


def _delta(eps: float, rate: float, mean: float, pairs: int) -> float:
    tail = _FIRST_TAIL
    while True:
        losses = _losses(mean, rate, eps, tail)
        if losses.exchanged.size == 0:
            return 1.0
        value, likely = _any(losses.lost, pairs), 0.0
        if losses.largest(pairs) > eps:  # otherwise the window is too short
            theta = _tilt(losses, eps, pairs)
            chernoff = pairs * losses.cumulants(theta)[0] - theta * eps
            if chernoff < math.log(_FLOOR):
                value += _FLOOR
            else:
                value += _transformed(losses, eps, pairs, theta, fine=pairs * mean < _FEW)
                likely = value
        if tail <= _FLOOR or pairs * losses.omitted <= _OMITTED * likely:
            return raised(value)
        tail = _FLOOR


def _any(probability: float, trials: int) -> float:
    """Return the probability that at least one of several independent trials succeeds."""
    return -math.expm1(trials * math.log1p(-probability)) if probability < 1 else 1.0


def _on_grid(
    loss: NDArray[np.float64], pmf: NDArray[np.float64], step: float, theta: float, length: int
) -> tuple[NDArray[np.float64], float]:
    """Return the transform of a tilted, normalized law on the grid, wrapped around, and the log of its mass."""
    index = np.floor(loss / step)
    up = np.minimum(np.expm1(np.minimum(index * step - loss, 0.0)) / math.expm1(-step), 1.0)
    index = np.concatenate((index, index + 1))
    with np.errstate(divide="ignore"):
        exponent = np.log(np.concatenate((pmf * (1 - up), pmf * up)))
    exponent += theta * step * index
    top = float(np.max(exponent))
    weight = np.exp(exponent - top)
    mass = float(np.sum(weight))
    wrapped = np.bincount(np.mod(index, length).astype(np.int64), weight / mass, minlength=length)
    return np.asarray(rfft(wrapped)), math.log(mass) + top


def _transformed(losses: _Losses, eps: float, pairs: int, theta: float, *, fine: bool) -> float:
    """Return the mean of ``(1 - e^(eps - L))^+`` over all finite losses, rounded up."""
    _, mean, variance = (pairs * value for value in losses.cumulants(theta))
    spread = math.sqrt(variance)
    # A grid adds at most step^2 / 4 to the variance of each of the 2 s terms, step^2 / 6 on average. Few outcomes may
    # be close to the kink of the integrand, and at eps = 0 equal counts are on it. Then the error is of first order.
    step = math.sqrt(6 * _GRID_ERROR / pairs) / (1 + theta) / (10 if fine else 1)
    share = 2e-3 if fine else 0.02
    step = min(step, (1e-4 if eps == 0 else share) * spread)
    if eps > 0:
        step = eps / math.ceil(eps / step)  # delta at a point of the grid
    reach, outside = _reach(losses, pairs, theta, step)
    if 2 * reach > _MOST_POINTS * step:  # still an upper bound, but not as close
        step = 2 * reach / _MOST_POINTS
        step = eps / math.floor(eps / step) if step < eps else step
        reach, outside = _reach(losses, pairs, theta, step)
    length = next_fast_len(math.ceil(2 * reach / step) + 2, real=True)
    transform, log_held = _on_grid(losses.held, losses.held_pmf, step, theta, length)
    exchanged, log_exchanged = _on_grid(losses.exchanged, losses.exchanged_pmf, step, theta, length)
    transform *= exchanged
    tilted = irfft(np.power(transform, pairs, out=transform), length)
    first = math.floor((mean - reach) / step)
    excess = np.arange(first, first + length) * step
    excess -= eps
    skipped = int(np.searchsorted(excess, 0.0, side="right"))
    excess = excess[skipped:]
    log_weight = pairs * (log_held + log_exchanged) - theta * eps
    share = np.exp(-theta * excess)
    share *= np.negative(np.expm1(np.negative(excess, out=excess), out=excess), out=excess)
    inside = float(np.roll(tilted, -((first + skipped) % length))[: share.size] @ share)
    return max(inside, 0.0) * math.exp(max(log_weight, -740.0)) + math.exp(min(outside, 0.0))


def _reach(losses: _Losses, pairs: int, theta: float, step: float) -> tuple[float, float]:
    """Return the range around the mean in which the tilted law is evaluated, and a bound on the mass above it.

    The bound is the log of a Chernoff bound on the probability of higher losses, without tilt and on the grid.
    """
    log_mass, mean, variance = (pairs * value for value in losses.cumulants(theta))
    least = pairs * float(np.min(losses.held) + np.min(losses.exchanged))
    most = losses.largest(pairs) + 2 * pairs * step
    reach = 8.0 * math.sqrt(variance)
    while True:
        reach *= 1.1
        tilt = reach / variance
        outside = pairs * losses.cumulants(theta + tilt)[0] - (theta + tilt) * (
            mean + reach - 2 * pairs * step
        )
        if mean + reach > most:
            outside = -math.inf
        above = outside - log_mass + theta * (mean + reach)
        below = pairs * losses.cumulants(theta - tilt)[0] - log_mass + tilt * (mean - reach)
        if above < _LOG_OUTSIDE and (below < _LOG_OUTSIDE or mean - reach < least):
            return reach, outside
