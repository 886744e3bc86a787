"""Fragmented RAPPOR: one randomized bit per value (Erlingsson et al. 2020).

Conventions: eps in nats; replacement neighbors; n users with inputs in ``{0, .., D}``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from shuffledp.accounting.baselines.rappor_known_coins import told_bits_delta
from shuffledp.accounting.baselines.summed_bits import summed_bits_delta, two_bits_delta
from shuffledp.accounting.errors import Infeasible
from shuffledp.accounting.general.count_pairs import MovingCount, pair_delta, worst_pair_delta
from shuffledp.numerics.argument_ranges import (
    Delta,
    Eps,
    EpsAt,
    FromTwo,
    OpenUnit,
)
from shuffledp.numerics.memoize import remember
from shuffledp.numerics.relative_sizes import settled
from shuffledp.numerics.roots import root_below
from shuffledp.numerics.windows import binomial_window

RapporCalibration = Literal["sound", "proven", "worst_case", "optimistic"]

#: Expected flips of a bit among all users, beyond which the arrays of their law take gigabytes.
MOST_FLIPS = 1e11
#: Largest distance of the log of delta below its target.
_YTOL = 1e-6
#: Groups of sums per standard deviation, and the expected flips from which on data sets with a third value are left
#: out.
_PER_DEVIATION, _FEW_FLIPS = 500.0, 50.0


def rappor_flip_probability(
    n: FromTwo, eps: Eps, delta: Delta, *, calibration: RapporCalibration = "sound"
) -> float:
    """Return the smallest flip probability of fragmented RAPPOR, for a budget and an assumption about the other users.

    Source: :func:`rappor_delta`; the published calibration is from Ghazi et al. 2021, arXiv 2106.04247 (corrected, see
    reading note SUM-N4).

    Parameters
    ----------
    n : int
        Number of users, >= 2.
    eps : float
        Nats, > 0.
    delta : float
        In (0, 1).
    calibration : {"optimistic", "sound", "proven", "worst_case"}
        Assumption about the other users' values when user 1 changes from one value to another. ``sound`` and ``proven``
        have no assumption: both are proven for every data set, and ``proven`` needs far less noise. ``worst_case``: all
        other users hold one of the two values. This data set is often close to the worst, but some data sets violate
        the budget. ``optimistic``, as published: all other users hold a third value; some other data sets violate the
        budget.

    Returns
    -------
    float
        p in (0, 1/2), rounded up by at most 1e-9 relative; ``sound`` and ``proven``: by 1e-6.

    Raises
    ------
    Infeasible
        If the expected number of messages is too large for the memory, or if the budget is so small that the flip
        probability rounds to 1/2.

    Examples
    --------
    The published flip probability, and a flip probability that is proven for every data set:

    >>> from shuffledp.accounting import rappor_flip_probability
    >>> for calibration in ("optimistic", "sound"):
    ...     print(f"{rappor_flip_probability(10_000, 1.0, 1e-6, calibration=calibration):.5f}")
    0.00421
    0.00730
    """
    return _flip_probability(n, eps, delta, calibration)


@remember(1024)
def _flip_probability(n: int, eps: float, delta: float, calibration: RapporCalibration) -> float:
    def excess(minus_logit: float) -> float:
        value = _settled_delta(n, 1 / (1 + math.exp(minus_logit)), eps, calibration, delta)
        return math.log(value / delta) if value > 0 else -math.inf

    # Two differences of normal variables: a first guess of the number of flips.
    flips = 2 * (math.sqrt(2 * math.log(1 / delta)) / eps) ** 2 + 1 / delta**0.1
    flips *= 2 if calibration == "sound" else 1
    guess = math.log(max(n / flips - 1, 1.5))
    slope = None
    if (
        calibration == "proven"
    ):  # hardly more noise than for others on one of the two values, of which delta is cheap
        guess, slope = _worst_known(n, eps, delta, guess)
    if calibration == "sound":
        guess, slope = _roughly(n, eps, delta, guess)
    ytol = {"proven": _YTOL, "sound": 10 * _YTOL}.get(calibration, 0.0)  # bounds that cost more
    logit = root_below(excess, guess, 1e-12, 60.0, xtol=1e-10, ytol=ytol, slope=slope)
    if excess(logit) > 0:  # the end of the bracket, which the search does not evaluate
        raise Infeasible(f"No flip probability below 1/2 reaches eps = {eps}, delta = {delta} with n = {n}.")
    return 1 / (1 + math.exp(logit))


def _roughly(n: int, eps: float, delta: float, guess: float) -> tuple[float, float | None]:
    """Return the log odds that a bit is kept, by a rough bound for ``sound``, and the slope of log
    delta at these odds.
    """

    def excess(minus_logit: float) -> float:
        value = _settled_delta(n, 1 / (1 + math.exp(minus_logit)), eps, "sound", delta, rough=True)
        return math.log(value / delta) if value > 0 else -math.inf

    logit = root_below(excess, guess, 1e-12, 60.0, xtol=1e-6, ytol=1e-3)
    rise = excess(logit) - excess(logit * (1 - 1e-3))
    return logit, rise / (1e-3 * logit) if 0 < rise < math.inf else None


def _worst_known(n: int, eps: float, delta: float, guess: float) -> tuple[float, float | None]:
    """Return the log odds that a bit is kept, for ``worst_case``, and the slope of log delta at these odds. If the
    calibration is infeasible, return `guess` and None.
    """
    try:
        p = _flip_probability(n, eps, delta, "worst_case")
    except Infeasible:
        return guess, None
    logit = math.log1p(-p) - math.log(p)
    step = 1e-3 * logit
    near = _settled_delta(n, 1 / (1 + math.exp(logit - step)), eps, "worst_case")
    return logit, math.log(delta / near) / step if 0 < near < delta else None


def rappor_delta(
    n: FromTwo,
    flip_probability: OpenUnit,
    eps: EpsAt,
    *,
    calibration: RapporCalibration = "sound",
    target: OpenUnit | None = None,
) -> float:
    """Return the delta of fragmented RAPPOR for an assumption about the other users, or a bound for every data set.

    Parameters
    ----------
    n : int
        Number of users, >= 2.
    flip_probability : float
        p in (0, 1/2).
    eps : float
        Nats, >= 0.
    calibration : {"optimistic", "sound", "proven", "worst_case"}
        As in :func:`rappor_flip_probability`.
    target : float, optional
        In (0, 1). If given, the error is up to 1e-8 of the target instead of 1e-7 of the result.

    Returns
    -------
    float
        In [0, 1]; exact for the data sets that `calibration` assumes, too large by at most 1e-7 relative plus 1e-299.
        ``sound`` and ``proven``: an upper bound for every data set of the other users; ``sound`` is above its formula
        by at most a further 1e-3 relative.

    Raises
    ------
    Infeasible
        As in :func:`rappor_flip_probability`.

    Notes
    -----
    Let B be ``Bin(n, p)``, and D the law with one of the n probabilities replaced by 1 - p; ``D(u) / B(u)`` is linear
    in u. A count to which user 1 is added changes from B to D. ``optimistic`` is ``D x B`` against ``B x D``. If all
    other users hold one of the two values, two counts change from B to D: the zeros of this value's bit and the ones of
    the other bit. ``worst_case`` is the larger delta of the two directions for ``B x B`` and ``D x D``. For ``sound``,
    the adversary learns which bits of the other users are uniform
    (:mod:`shuffledp.accounting.baselines.rappor_known_coins`). ``proven`` is the smaller of two bounds: delta of user
    1's bits alone, and the bound of :mod:`shuffledp.accounting.baselines.summed_bits` for two sums. The bound for sums
    applies because shuffled one-bits reveal only their number.

    Derived for this project, for the fragmented RAPPOR of Erlingsson et al. 2020. Replacement of one input.
    """
    p = flip_probability
    if p >= 0.5:
        raise ValueError(f"flip_probability must be in (0, 1/2), got {flip_probability!r}.")
    return _settled_delta(n, p, eps, calibration, target)


def _settled_delta(
    n: int,
    p: float,
    eps: float,
    calibration: RapporCalibration,
    target: float | None = None,
    *,
    rough: bool = False,
) -> float:
    check_flips(n, p)
    if target is not None:
        omitted = max(1e-9 * target, 1e-300)
        if calibration == "proven":
            alone = two_bits_delta(math.log1p(-p) - math.log(p), eps)
            return alone if alone == 0 else min(alone, summed_bits_delta(n - 1, p, eps, omitted, rough=rough))
        if rough and calibration == "sound":
            return told_bits_delta(n - 1, p, eps, omitted, rough=True)
        return _rappor_delta(n, p, eps, calibration, omitted)
    if calibration == "proven":
        return proven_bits_delta(n, p, eps)
    return settled_sum(lambda omitted: _rappor_delta(n, p, eps, calibration, omitted))


def proven_bits_delta(n: int, flip_probability: float, eps: float) -> float:
    """Return a bound on delta of two sums of bits that n users flip, for every data set; exact for n = 1. It is the
    smaller of the bound of :mod:`shuffledp.accounting.baselines.summed_bits` and delta of user 1's bits alone. The
    bound of :mod:`shuffledp.accounting.baselines.rappor_known_coins` is larger, except for flip probabilities near 1/2.
    """
    alone = two_bits_delta(math.log1p(-flip_probability) - math.log(flip_probability), eps)
    if n == 1 or alone == 0:
        return alone
    return min(alone, settled_sum(lambda omitted: summed_bits_delta(n - 1, flip_probability, eps, omitted)))


def settled_sum(delta_without: Callable[[float], float]) -> float:
    """Return delta from windows whose omitted mass adds at most 1e-8 relative to delta, or at most 1e-300 if this is
    more.
    """
    return settled(delta_without, first=1e-20, step=1e-40, floor=1e-300, omitted=1e-8)


def check_flips(n: int, flip_probability: float) -> None:
    """Raise Infeasible if the law of the number of flips of n bits is too wide."""
    flips = n * flip_probability
    if flips > MOST_FLIPS:
        raise Infeasible(
            f"The law of {flips:.3g} expected flips of a bit is too wide: at most {MOST_FLIPS:g}, which are "
            f"{MOST_FLIPS / flip_probability:.3g} users."
        )


def _rappor_delta(n: int, p: float, eps: float, calibration: RapporCalibration, omitted: float) -> float:
    if calibration == "sound":
        return told_bits_delta(n - 1, p, eps, omitted)
    same_user, different_users = _counts(n, p, omitted)
    return (
        pair_delta(same_user, same_user, eps)
        if calibration == "optimistic"
        else worst_pair_delta(same_user, different_users, eps)
    )


def _counts(
    n: int, p: float, omitted: float, per_deviation: float = math.inf
) -> tuple[MovingCount, MovingCount]:
    """Return the laws of the count to which user 1 is added and of the count from which user 1 is removed. Consecutive
    numbers are grouped, with `per_deviation` groups per standard deviation.
    """
    # The law that a user joins has a mass outside of the window that is larger by up to (1 - p) / p.
    window = binomial_window(n, p, omitted * p)
    law, u = window.pmf, window.support.astype(np.float64)
    odds = (1 - p) / p
    other = law * (u * (odds / n) + (n - u) / (odds * n))  # D / B increases
    width = math.floor(math.sqrt(n * p * (1 - p)) / per_deviation)
    if width > 1:
        starts = np.arange(0, law.size, width)
        law, other = np.add.reduceat(law, starts), np.add.reduceat(other, starts)
    missed = 2 * window.omitted * (1 + odds)
    return MovingCount(other, law, missed), MovingCount(law, other, missed)


@remember(16)
def _grouped_counts(n: int, p: float, omitted: float) -> tuple[MovingCount, MovingCount]:
    return _counts(n, p, omitted, _PER_DEVIATION)


def known_sums_delta(
    n: int, flip_probability: float, eps: float, omitted: float | None, *, third: bool
) -> float:
    """Return a lower bound, except for omitted mass, on the largest delta of two sums of randomized bits over all data
    sets. The bound is the larger delta of ``worst_case`` and, if `third`, ``optimistic`` in :func:`rappor_delta`. Sums
    are grouped, which reduces the bound by about a millionth. Without `omitted`, windows omit 1e-8 of the result.
    """

    def delta(omitted: float) -> float:
        same_user, different_users = _grouped_counts(n, flip_probability, omitted)
        worst = worst_pair_delta(same_user, different_users, eps)
        # With many flips, other users who hold a third value give a smaller delta.
        few = n * flip_probability < _FEW_FLIPS
        return max(worst, pair_delta(same_user, same_user, eps)) if third and few else worst

    return settled_sum(delta) if omitted is None else delta(omitted)
