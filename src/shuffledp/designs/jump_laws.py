"""Histograms by counters with jumps: joint accounting of the two counters that change.

Every value has a counter with messages +1 and -1. Users send +1 for their value, two-sided geometric noise of ratio
``e^(-eps_star)`` in messages of either sign, and pairs {+1, -1} in compound Poisson numbers with jumps
(:mod:`shuffledp.accounting.summation.jump_noise`). This is the correlated-noise protocol for D = 1, once per value.
When one input is replaced, one counter loses a user and another counter gains one. The two losses follow from
:mod:`shuffledp.accounting.summation.joint_noise`, are independent, and are added.

Derived for this project, except for the counters (Ghazi, Kumar, Manurangsi and Pagh, arXiv 2106.04247).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.accounting.general.loss_sums import LossPart
from shuffledp.accounting.general.profiles import Kind, View, at_each
from shuffledp.accounting.summation.joint_noise import DesignLosses
from shuffledp.accounting.summation.jump_noise import (
    BEST_JUMP,
    LEAST_CENTER,
    MOST_RATE,
    check_center,
    mean_jump,
)
from shuffledp.accounting.summation.loss_cells import LossGrid
from shuffledp.accounting.summation.loss_sums import log_kept, summed_losses
from shuffledp.accounting.summation.noise_design import NoiseDesign
from shuffledp.accounting.summation.pair_table import pair_table
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    EpsArray,
    EpsAt,
    OpenUnit,
    Positive,
    check_fields,
    checked,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.roots import root_below

Floats = NDArray[np.float64]

#: Rates of the jumps that are tried, relative to the smallest rate, and a number that is added to each rate. Below the
#: smallest rate, a counter without jumps is more likely than delta allows.
_RATES, _MORE = (1.2, 1.35, 1.5), 0.3
#: Grid steps within the part of eps that the errors of both counters leave; the largest grid; precision of the center.
_STEPS, _MOST_CELLS, _XTOL = 200, 2**20, 1e-4
#: Grid of one release.
_CELLS = 2**16
#: Largest center to try. And the distance beyond the first center from which on a delta that is too large counts as
#: rounding, which no larger jumps lower: the best center is below twice the first.
_MOST_CENTER, _REACH = 4000.0, 16.0


@dataclass(frozen=True)
class JumpCounter:
    """Noise of one counter.

    Derived for this project. `messages` and `variance` are exact. Numbers outside their ranges raise ValueError.

    Parameters
    ----------
    eps_star : float
        Nats, > 0: the error is two-sided geometric with ratio ``e^(-eps_star)``.
    rate, center : float
        Rate, > 0, and center, in [1/2, 65536], of the jumps in the number of pairs.
    """

    eps_star: Eps
    rate: Positive
    center: float

    def __post_init__(self) -> None:
        check_fields(self)
        check_center(self.center)

    @property
    def messages(self) -> float:
        """Expected number of noise messages of one counter."""
        return 2 / math.expm1(self.eps_star) + 2 * self.rate * mean_jump(self.center)

    @property
    def variance(self) -> float:
        """Variance of a count."""
        return discrete_laplace_variance(self.eps_star)


def jump_counters_delta(noise: JumpCounter, eps: EpsAt) -> float:
    """Return the delta of a histogram of counters when one counter loses a user and another counter gains one.

    Derived for this project.

    Parameters
    ----------
    noise : JumpCounter
        Noise of every counter.
    eps : float
        Nats, >= 0.

    Returns
    -------
    float
        In [0, 1], a certified upper bound for replacement neighbors; within a percent of the exact value.

    Raises
    ------
    Infeasible
        If the calculation does not fit into memory.
    """
    least = 2 * noise.eps_star
    remaining_eps = max(eps - least, 0.01 * max(eps, least))
    stride = math.ceil(noise.eps_star * _STEPS / remaining_eps)
    step = noise.eps_star / stride
    size = 1 << math.ceil(math.log2(2 * (1.5 * max(eps, least) + 6 * remaining_eps + 1) / step))
    if size > _MOST_CELLS:
        raise Infeasible(
            f"eps - 2 eps_star = {remaining_eps:.4g} needs a grid of more than {_MOST_CELLS} losses."
        )
    grid = LossGrid(step, size, stride)
    return float(summed_losses(_two_counters(noise, grid), eps, "upper", grid).deltas[0])


def _two_counters(noise: JumpCounter, grid: LossGrid) -> _TwoCounters:
    """Return the losses of both counters on a grid, rounded up."""
    ratio = noise.center / (1 + noise.center)
    # The budget of the design does not matter here.
    design = NoiseDesign(1, noise.eps_star, "star", (), (1,), (noise.rate,), (ratio,), 1.0, 0.5, "jumps")
    return _TwoCounters(DesignLosses(design, pair_table(1, "star", ()), "upper", grid))


class _TwoCounters:
    """Losses of one pair. The mixture is the loss of the counter that gains a user, and the part is the loss of the
    other counter.
    """

    def __init__(self, losses: DesignLosses) -> None:
        self.losses, self.clipped = losses, losses.clipped
        self.finite, infinite = losses.mixtures(np.arange(2))
        self.infinite, self.mixed_infinite = infinite[1:], infinite[:1]
        self.members = (np.zeros(1, np.int64),)
        self.key_of = np.zeros(1, np.int64)

    def dense(self) -> Floats:
        """Return the finite losses of the counter that loses a user."""
        return self.finite[1:]

    def mixtures(self, keys: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the losses of the counter that gains a user."""
        return self.finite[:1], self.mixed_infinite

    def log_error(self, members: NDArray[np.int64]) -> float:
        """Return a bound on the total error of the logarithms of the two losses."""
        return 2 * self.losses.log_error(np.zeros(0, np.int64))


def jump_counters(eps: Eps, delta: Delta, *, share: OpenUnit = 0.1) -> JumpCounter:
    """Return the noise of every counter for an (eps, delta)-private histogram.

    Derived for this project.

    Parameters
    ----------
    eps, delta : float
        Budget: eps in nats, > 0; delta in (0, 1).
    share : float
        In (0, 1): the error of a count is two-sided geometric with ``eps_star = (1 - share) eps / 2``.

    Returns
    -------
    JumpCounter
        The best of a few rates. Each rate has the smallest center, up to 1e-4, whose delta, an upper bound, is at most
        `delta`.

    Raises
    ------
    Infeasible
        If no center up to 4000 suffices, or the calculation does not fit into memory. At eps = 1 rounding alone exceeds
        a delta of about 3e-12.

    Examples
    --------
    Expected messages per counter, with jumps and with negative binomials:

    >>> from shuffledp.designs import jump_counters
    >>> from shuffledp.protocols.calibrations import correlated_pair_noise
    >>> for noise in (jump_counters(1.0, 1e-6), correlated_pair_noise(1.0, 1e-6)):
    ...     print(round(noise.messages))
    425
    554
    """
    return _jump_counters(eps, delta, share)


@remember(1024)
def _jump_counters(eps: float, delta: float, share: float) -> JumpCounter:
    star = (1 - share) * eps / 2
    low, high = -math.log(_MOST_CENTER), -math.log(1.001 * LEAST_CENTER)

    start = -math.log(BEST_JUMP / (share * eps))
    guess, farthest = min(max(start, low), high), max(low, start - math.log(_REACH))

    def of_rate(rate: float) -> JumpCounter:
        def excess(minus_log_center: float) -> float:
            value = jump_counters_delta(JumpCounter(star, rate, math.exp(-minus_log_center)), eps)
            if value > delta and minus_log_center <= farthest:
                raise Infeasible(
                    f"Noise with jumps up to a center of {math.exp(-minus_log_center):.0f} leaves more than "
                    f"delta = {delta:g} at eps = {eps:g}, as far as it can be evaluated."
                )
            return math.log(value / delta) if value > 0 else -math.inf

        slope = 1.2 * math.log(2 / delta)
        if start <= low:
            excess(low)
        root = root_below(excess, guess, low, high, xtol=_XTOL, slope=slope)
        if root == low:  # which the search does not evaluate
            excess(low)
        return JumpCounter(star, rate, math.exp(-root))

    # Without jumps and a geometric part of the error, an additional user is visible, so that (1 - a) e^-rate <= delta.
    least = max(math.log(-math.expm1(-star) / delta), 0.0)
    counters = [of_rate(min(part * least + _MORE, MOST_RATE)) for part in (_RATES if least > 0 else (1.0,))]
    return min(counters, key=lambda noise: noise.messages)


@dataclass(frozen=True)
class JumpCountersProfile:
    """Privacy profile of a histogram of counters with jumps, an upper bound; see :func:`jump_counters_delta`.

    Parameters
    ----------
    noise : JumpCounter
        Noise of every counter.
    """

    noise: JumpCounter
    kind: ClassVar[Kind] = "upper"
    neighbours: ClassVar[str] = "replace_one"
    view: ClassVar[View] = "analyzer"
    source: ClassVar[str] = "losses of two counters, added on a grid"

    def __post_init__(self) -> None:
        check_fields(self)

    @checked
    def delta(self, eps: EpsArray) -> Floats:
        """Return delta for each eps (nats, >= 0), in the shape of `eps`."""
        eps_ = np.asarray(eps, np.float64)
        values = at_each(lambda e: jump_counters_delta(self.noise, e), eps_.ravel())
        order = np.argsort(eps_, axis=None, kind="stable")
        values[order] = np.minimum.accumulate(values[order])
        return values.reshape(eps_.shape)

    def loss_parts(self, negligible: float) -> tuple[list[LossPart], float]:
        """Return the laws of the losses of both counters, upper bounds, and the mass of infinite losses.

        The windows of the laws do not depend on `negligible`.
        """
        grid = LossGrid(self.noise.eps_star / _STEPS, _CELLS, _STEPS)
        losses = _two_counters(self.noise, grid)
        gained, infinite_mass = losses.mixtures(losses.key_of)
        infinite = -math.expm1(log_kept(losses.infinite, float(infinite_mass[0])))
        points = grid.step * np.fft.fftfreq(grid.size, 1 / grid.size) + losses.log_error(losses.key_of)
        parts = []
        for masses in (gained[0], losses.dense()[0]):
            positive = masses > 0
            parts.append(LossPart(1, points[positive], np.log(masses[positive])))
        return parts, infinite
