"""Probability of a mark in the public-coin protocol (count-min with binomial noise).

The protocol has ``tau = ceil(log2(2 k / beta))`` rows of ``s = 2 n`` cells and a public hash per row. A user marks the
cell of the user's value in every row, and every cell of every row with probability gamma. Two accountings:

``printed``
    ``gamma = 90 tau^2 ln(2 tau / delta) / (eps^2 n)``, and gamma <= 1/2: Ghazi, Golowich, Kumar, Pagh and Velingker,
    "On the power of multiple anonymous messages", Lemma 4.10.
``exact``
    In each row two cells change, (1 + X, Y) into (X, 1 + Y) with X, Y ~ Bin(n, gamma). All 2 tau noise variables are
    independent, so that privacy losses add up. Two values with the same cell in some row have a smaller delta.

The losses are put on a grid and convolved by Fourier transforms. A loss between two grid points is split between them
so that both distributions keep their totals. As the divergence is convex in the likelihood ratio, this increases it,
also for sums of losses, by an amount of second order in the step. Mass outside of windows is added to delta. Before the
transform, the law of the losses is tilted toward eps, so that small probabilities are above rounding errors.

Conventions: eps in nats; replacement neighbors; the adversary is the analyzer, who knows the inputs of all other users.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from shuffledp.accounting.errors import Infeasible
from shuffledp.guarantees import Standing
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    EpsAt,
    FromOne,
    FromTwo,
    OpenUnit,
    one_of,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import log_ratio, negligible, settled
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import Window, binomial_window

#: Guarantee of a printed rate above 1/2.
BEYOND_PROOF = Standing(
    "violated",
    "the lemma covers rates up to 1/2 (DUMP-N8): for 30,433 users, 2 values, eps 1 and delta 0.001 one row alone has "
    "a delta of 0.47",
)

_XTOL = 1e-10
#: Grid points per standard deviation of one noise's loss.
_FINENESS = 200
#: Grid points that fit into memory.
_MOST_POINTS = 2**24
_MOST_EPS = 700.0


@dataclass(frozen=True, eq=False)
class _Losses:
    """Law of a privacy loss: masses at the grid points ``(start + i) * step``, and the mass `lost`
    of infinite losses.
    """

    start: int
    mass: NDArray[np.float64]
    lost: float

    def tilted(self, theta: float, step: float) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Return the losses, the tilted masses divided by the largest tilted mass, and the log of this divisor. A
        tilted mass is a mass times ``e^(theta loss)``.
        """
        loss = (self.start + np.arange(self.mass.size)) * step
        with np.errstate(divide="ignore"):
            log_tilted = np.log(self.mass) + theta * loss
        top = float(np.max(log_tilted))
        return np.asarray(loss), np.asarray(np.exp(log_tilted - top)), top


def public_coin_rows(domain_size: FromTwo, failure: OpenUnit = 0.1) -> int:
    """Return tau, the number of rows: ``log2(2 k / beta)``, rounded up.

    Source: Ghazi, Golowich, Kumar, Pagh and Velingker, arXiv 1908.11358, the count-min sketch of Section 4.

    Parameters
    ----------
    domain_size : int
        k, >= 2.
    failure : float
        beta, in (0, 1), a bound on the probability that some value shares its cell in every row.
    """
    return math.ceil(math.log2(2 * domain_size / failure))


def rows_delta(eps: EpsAt, n: FromOne, rate: OpenUnit, rows: FromOne) -> float:
    """Return delta of one user's value in tau rows of two counts with binomial noise.

    Derived for this project in the module's description; losses are split as in Doroshenko et al. 2022.

    Parameters
    ----------
    eps : float
        Nats, >= 0.
    n : int
        Trials of every binomial law, >= 1.
    rate : float
        Rate gamma of the binomial laws, in (0, 1); ``1 - rate`` has the same delta.
    rows : int
        tau, >= 1.

    Returns
    -------
    float
        In [0, 1]. An upper bound, too large by about 1e-4 relative for delta = 1e-6, by more for smaller deltas.

    Raises
    ------
    Infeasible
        If the grid of losses does not fit into memory.
    """
    return settled(lambda tail: _composed(eps, n, rate, rows, tail))


@remember(4096)  # a calibration and its profile meet the same numbers of users
def _composed(eps: float, n: int, rate: float, rows: int, tail: float, fineness: int = _FINENESS) -> float:
    eps = min(eps, _MOST_EPS)
    noise = binomial_window(n, rate, tail)
    step = 1 / (fineness * math.sqrt(n * rate * (1 - rate) + 1))
    parts = _noise_losses(noise, n, rate, step)
    lost = -math.expm1(rows * sum(math.log1p(-min(part.lost, 1 - 1e-16)) for part in parts))
    points = rows * (sum(part.mass.size for part in parts) - 2) + 1
    if points > _MOST_POINTS:
        raise Infeasible(f"A grid of {points} losses does not fit into memory.")
    tilt = _tilt(parts, rows, step, eps)
    size = next_fast_len(points, real=True)
    transform = np.ones(size // 2 + 1, np.complex128)
    log_scale, start = 0.0, 0
    for part in parts:
        _, weights, top = part.tilted(tilt, step)
        total = float(np.sum(weights))
        transform *= rfft(weights / total, size) ** rows
        log_scale += rows * (top + math.log(total))
        start += rows * part.start
    law = np.maximum(irfft(transform, size)[:points], 0.0)
    loss = (start + np.arange(points)) * step
    beyond = loss > eps
    gain = law[beyond] * np.exp(log_scale - tilt * loss[beyond]) * -np.expm1(eps - loss[beyond])
    return min(float(np.sum(gain)) + lost, 1.0)


def _noise_losses(noise: Window, n: int, rate: float, step: float) -> tuple[_Losses, _Losses]:
    """Return the laws of the privacy losses of 1 + X against X, and of Y against 1 + Y."""
    x = noise.support.astype(np.float64)
    with np.errstate(divide="ignore"):
        ratio = np.log((1 - rate) / rate)
        up = np.log((x + 1) / (n - x)) + ratio  # of u = 1 + x; infinite for u = n + 1
        down = np.log((n + 1 - x) / x) - ratio  # of v = x; infinite for v = 0
    return _on_grid(up, noise, step), _on_grid(down, noise, step)


def _on_grid(loss: NDArray[np.float64], noise: Window, step: float) -> _Losses:
    finite = np.isfinite(loss)
    lost = noise.omitted + float(np.sum(noise.pmf[~finite]))
    loss, pmf = loss[finite], noise.pmf[finite]
    if not loss.size:
        return _Losses(0, np.ones(1), 1.0)
    below = np.floor(loss / step)
    share = np.clip(np.expm1(below * step - loss) / math.expm1(-step), 0.0, 1.0)
    start = int(np.min(below))
    place = (below - start).astype(np.int64)
    size = int(np.max(place)) + 2
    mass = np.zeros(size)
    np.add.at(mass, place, pmf * (1 - share))
    np.add.at(mass, place + 1, pmf * share)
    return _Losses(start, mass, lost)


def _tilt(parts: tuple[_Losses, _Losses], rows: int, step: float, eps: float) -> float:
    """Return theta >= 0 for which the mean of the tilted sum of losses is about eps. Any theta gives a valid bound."""

    def mean(theta: float) -> float:
        total = 0.0
        for part in parts:
            loss, weights, _ = part.tilted(theta, step)
            total += rows * float(weights @ loss) / float(np.sum(weights))
        return total

    if mean(0.0) >= eps:
        return 0.0
    high = 1.0
    while mean(high) < eps and high < 1e6:
        high *= 2
    return root_below(lambda theta: mean(theta) - eps, 0.75 * high, 0.0, high, xtol=1e-3 * high)


def public_coin_rate(
    n: FromOne,
    rows: FromOne,
    eps: Eps,
    delta: Delta,
    *,
    accounting: Annotated[str, one_of(("printed", "exact"))] = "exact",
    beyond_proof: bool = False,
) -> float:
    """Return gamma, the probability that a user marks a cell as noise.

    Source: Ghazi, Golowich, Kumar, Pagh and Velingker, arXiv 1908.11358, Lemma 4.10; ``exact``: this project.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    rows : int
        tau, >= 1.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    accounting : {"printed", "exact"}
        See the module's description.
    beyond_proof : bool
        Printed: if True, accept an unproven gamma between 1/2 and 1, as in the paper's figures.

    Returns
    -------
    float
        Exact: in (0, 1/2], the smallest gamma that meets the budget, rounded up by about 1e-4 relative in delta.

    Raises
    ------
    Infeasible
        Printed: if eps is above 1 or gamma above 1/2. Exact: if gamma = 1/2 does not meet the budget.

    Examples
    --------
    With 100,000 users and 100 values; the printed lemma requires more users:

    >>> from shuffledp.accounting import public_coin_rate, public_coin_rows
    >>> rows = public_coin_rows(100)
    >>> rows, round(public_coin_rate(100_000, rows, 1.0, 1e-6), 5)
    (11, 0.00395)
    """
    if accounting == "exact":
        return _exact_rate(n, rows, eps, delta)
    if eps > 1:
        raise Infeasible(f"The lemma holds for eps <= 1, got {eps!r}.")
    rate = 90 * rows * rows * math.log(2 * rows / delta) / eps / eps / n
    if beyond_proof and rate < 1:
        return rate
    if rate > 0.5:
        raise Infeasible(
            f"The lemma holds for gamma <= 1/2; {n} users and {rows} rows need gamma = {rate:.4g}."
        )
    return rate


@remember(4096)
def _exact_rate(n: int, rows: int, eps: float, delta: float) -> float:
    tail = negligible(delta)

    def excess(minus_log_rate: float) -> float:
        return log_ratio(_composed(eps, n, math.exp(-minus_log_rate), rows, tail), delta)

    fair = math.log(2)
    if excess(fair) > 0:
        raise Infeasible(f"{n} users are too few: not even marks by fair coins give delta = {delta!r}.")
    guess = math.log(n * eps * eps / (2.5 * rows * math.log(2 / delta)))
    return math.exp(-root_below(excess, max(guess, fair + 0.01), fair, math.inf, xtol=_XTOL, slope=12.0))
