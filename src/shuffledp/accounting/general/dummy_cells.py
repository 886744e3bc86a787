r"""Privacy of a device that reports true messages among fabricated messages of all devices.

The analyzer sees a histogram. A device's true messages increase different cells by one each, and the fabricated
messages of all devices are independent Poisson counts of mean mu in every cell. If the device's input is replaced, some
cells lose a message and others gain one; the true counts of the other devices are known. With X ~ Poisson(mu), the
privacy loss is the sum of

.. math:: \ln \frac{X + 1}{\mu} \text{ over losing cells}, \qquad
          \ln \frac{\mu}{X} \text{ over gaining cells},

infinite if X = 0 in a gaining cell. The other direction exchanges losing and gaining cells. A change on several days is
a change of more cells, as the noise of different days is independent.

:mod:`shuffledp.accounting.general.loss_sums` evaluates the sum; results are rounded up. Replacement neighbors. Derived
for this project.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Annotated

import numpy as np

from shuffledp.accounting.general.epsilon_search import LEAST, limit_epsilon
from shuffledp.accounting.general.gaussian import log_gaussian_delta
from shuffledp.accounting.general.loss_sums import LossPart, LossSum
from shuffledp.numerics.argument_ranges import Delta, Eps, EpsAt, check_between, check_count
from shuffledp.numerics.logs import log1mexp
from shuffledp.numerics.relative_sizes import log_ratio, settled
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import poisson_window

#: Means of a cell that the sums are tested for.
_LEAST_MEAN, MOST_MEAN = 1e-3, 1e10
#: Relative excess of delta from the grid, and the largest grid: of results, and while a root is approached.
_FINE, _ROUGH = (1e-6, 2**21), (1e-3, 2**17)
#: Omitted mass relative to delta; its first attempt, and the least one.
_OMITTED, _FIRST_TAIL, _LEAST_TAIL = 1e-9, 1e-30, 1e-320
#: Tolerance of the logs of eps and of the mean; approximate distance of a first guess.
_XTOL, _NEAR = 1e-8, 1e-2


Mean = Annotated[float, partial(check_between, least=_LEAST_MEAN, most=MOST_MEAN)]
Cells = Annotated[int, partial(check_count, most=10**6)]
#: Groups of cells, each with the mean of its fabricated counts and its numbers of losing and gaining cells.
Groups = tuple[tuple[float, int, int], ...]


def dummy_cells_delta(eps: EpsAt, mean: Mean, losing: Cells, gaining: Cells) -> float:
    """Return delta of a device whose true messages are among Poisson dummies in every cell.

    Source: derived for this project, see the description of the module; replacement neighbors, the larger delta of both
    directions.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    mean : float
        Mean number of the dummies of all devices in a cell, in [1e-3, 1e10].
    losing, gaining : int
        Numbers of cells in which the changed device's count falls by one, and in which it rises by one, in [0, 10^6].

    Returns
    -------
    float
        In [0, 1], rounded up. The relative excess is at most about 1e-4 for results above 1e-30. It is larger for
        smaller results, and with more than about 10^4 cells.

    Examples
    --------
    Eighteen messages are replaced, with the dummies of a million devices:

    >>> from shuffledp.accounting import dummy_cells_delta
    >>> f"{dummy_cells_delta(1.0, 1245.12, 18, 18):.2e}"
    '9.36e-11'
    """
    return groups_delta(((mean, losing, gaining),), eps)


def dummy_cells_epsilon(delta: Delta, mean: Mean, losing: Cells, gaining: Cells) -> float:
    """Return eps of a device whose true messages are among Poisson dummies in every cell.

    Source: derived for this project, see the description of the module; replacement neighbors, the larger eps of both
    directions.

    Parameters
    ----------
    delta : float
        In (0, 1).
    mean : float
        Mean number of the dummies of all devices in a cell, in [1e-3, 1e10].
    losing, gaining : int
        Numbers of cells in which the changed device's count falls by one, and in which it rises by one, in [0, 10^6].

    Returns
    -------
    float
        Nats, >= 0, rounded up; ``inf`` if delta is not above the mass of infinite losses.

    Examples
    --------
    >>> from shuffledp.accounting import dummy_cells_epsilon
    >>> round(dummy_cells_epsilon(1e-10, 1245.12, 18, 18), 5)
    0.99815
    """
    return groups_epsilon(((mean, losing, gaining),), delta)


def dummy_cells_mean(eps: Eps, delta: Delta, losing: Cells, gaining: Cells) -> float:
    """Return a mean number of dummies per cell that suffices for a budget.

    Source: derived for this project, see the description of the module; replacement neighbors, both directions.

    Parameters
    ----------
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    losing, gaining : int
        Numbers of cells in which the changed device's count falls by one, and in which it rises by one, in [0, 10^6].

    Returns
    -------
    float
        In [1e-3, 1e10], rounded up.

    Raises
    ------
    ValueError
        If the mean would exceed 1e10.

    Examples
    --------
    >>> from shuffledp.accounting import dummy_cells_mean
    >>> round(dummy_cells_mean(1.0, 1e-10, 18, 18), 1)
    1240.7
    """

    def excess(minus_log_mean: float) -> float:
        groups = ((math.exp(-minus_log_mean), losing, gaining),)
        return log_ratio(groups_delta(groups, eps, precision), delta)

    ends = -math.log(MOST_MEAN), -math.log(_LEAST_MEAN)
    if losing + gaining == 0:
        return _LEAST_MEAN
    apart = root_below(
        lambda log: log_gaussian_delta(math.exp(log), eps) - math.log(delta), 0.0, -30.0, 30.0, xtol=1e-3
    )
    guess = min(max(2 * apart - math.log(losing + gaining), ends[0] + _NEAR), ends[1] - _NEAR)
    precision = _ROUGH
    rough = root_below(excess, guess, *ends, xtol=_NEAR**2, near=_NEAR)
    precision = _FINE
    if rough - ends[0] < _NEAR and excess(ends[0]) > 0:
        raise ValueError(f"eps and delta must allow a mean of at most {MOST_MEAN:g}, got {eps!r}, {delta!r}.")
    return math.exp(-root_below(excess, rough, *ends, xtol=_XTOL, ytol=1e-6, near=_NEAR**2))


def groups_delta(groups: Groups, eps: float, precision: tuple[float, int] = _FINE) -> float:
    """Return delta of groups of cells at eps (nats), the larger delta of the two directions."""

    def compute_delta(tail: float) -> float:
        return max(_losses(way, tail).law(eps, precision).delta(eps) for way in _ways(groups))

    return settled(compute_delta, first=_FIRST_TAIL, step=_FIRST_TAIL, omitted=_OMITTED)


def groups_epsilon(groups: Groups, delta: float) -> float:
    """Return eps (nats) of groups of cells, the larger eps of the two directions."""
    return max(_epsilon(_losses(way, max(delta * _FIRST_TAIL, _LEAST_TAIL)), delta) for way in _ways(groups))


def _ways(groups: Groups) -> set[Groups]:
    used = tuple(group for group in groups if group[1] + group[2])
    return {used, tuple((mean, gaining, losing) for mean, losing, gaining in used)}


def _epsilon(losses: LossSum, delta: float) -> float:
    if losses.infinite >= delta:
        return math.inf
    if losses.copies == 0:
        return 0.0
    most = math.log(losses.largest)
    log_eps = min(limit_epsilon(math.sqrt(losses.variance), delta)[0], most - _NEAR)
    for precision, xtol, near in ((_ROUGH, 1e-6, _NEAR), (_FINE, _XTOL, 1e-3)):
        law = losses.law(math.exp(log_eps), precision)
        if law.delta(0.0) <= delta:
            return 0.0
        log_eps = -root_below(
            lambda x, law=law: log_ratio(law.delta(math.exp(-x)), delta),  # type: ignore[misc]
            -log_eps,
            -most,
            -math.log(LEAST),
            xtol=xtol,
            near=near,
        )
    return math.exp(log_eps)


def _losses(groups: Groups, tail: float) -> LossSum:
    """Return the sum of the losses of all cells in one direction."""
    parts: list[LossPart] = []
    log_finite, omitted = 0.0, 0.0
    for mean, losing, gaining in groups:
        window = poisson_window(mean, tail)
        positive = window.pmf > 0
        x, logs = window.support[positive].astype(np.float64), np.log(window.pmf[positive])
        omitted += (losing + gaining) * window.omitted
        if losing:
            parts.append(LossPart(losing, np.log1p((x + 1 - mean) / mean), logs))
        if gaining:
            if x[0] == 0:
                log_finite += gaining * float(log1mexp(mean))
                x, logs = x[1:], logs[1:]
            parts.append(LossPart(gaining, -np.log1p((x - mean) / mean), logs))
    return LossSum(parts, omitted - math.expm1(log_finite))
