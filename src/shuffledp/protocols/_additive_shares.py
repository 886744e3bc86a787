"""Additive secret shares of an integer modulo q: m shares add up to the integer, and any m - 1 of them are uniform."""

import math

import numpy as np
from scipy.special import hyp2f1, logsumexp

from shuffledp.numerics.logs import log1mexp
from shuffledp.tasks import Ints

#: Group order up to which differences and sums of two group elements fit into an int64.
LARGEST_GROUP = 2**62


def split(values: Ints, shares: int, group_order: int, rng: np.random.Generator) -> Ints:
    """Split every value into m additive shares modulo q, (n, m), any m - 1 of which are independent and uniform."""
    uniform = rng.integers(0, group_order, size=(len(values), shares - 1))
    last = np.mod(values, group_order)
    for column in uniform.T:  # one by one: a sum of many elements of a large group overflows
        last = np.mod(last - column, group_order)
    return np.column_stack((uniform, last))


def sum_modulo(elements: Ints, group_order: int) -> int:
    """Return the sum of group elements modulo q, without overflow of 64-bit integers."""
    upper, lower = int(np.sum(elements >> 31)), int(np.sum(elements & (2**31 - 1)))
    return ((upper << 31) + lower) % group_order


def polya_local_epsilon(shape: float, rate: float, shift: int) -> float:
    """Return eps at delta 0, in nats, of a number with Polya noise if one user changes it by at most `shift` >= 1.

    The noise is the difference of two negative binomial variables of this `shape`, in (0, 1), and of ratio ``e^-rate``.
    The logarithm of its probability function f is convex on each side of 0, so that the ratio is largest at
    ``f(0) / f(shift)``. Both probabilities are hypergeometric functions; the second one is evaluated as Euler's
    integral over the odds ``e^w``. For numbers modulo q the result is an upper bound.
    """
    w = np.arange(-50 / (1 - shape) - math.log(shift), 50.0, 0.125)
    log_u, log_rest = -np.logaddexp(0.0, -w), -np.logaddexp(0.0, w)
    gap = float(log1mexp(2 * rate))
    logs = (shape + shift) * log_rest + (1 - shape) * log_u - shape * np.logaddexp(gap, log_u - 2 * rate)
    log_integral = logsumexp(logs) + math.log(0.125 * math.sin(math.pi * shape) / math.pi)
    return float(math.log(hyp2f1(shape, shape, 1.0, math.exp(-2 * rate))) + rate * shift - log_integral)


def point_delta(eps: float, claimed: float, total: float) -> float:
    """Return the delta at `eps` (nats) that the guarantee delta = `total` at eps = `claimed` implies.

    The result is `total` for eps >= `claimed`, and otherwise the delta of randomized response (Kairouz, Oh and
    Viswanath 2015).
    """
    below, total = -math.expm1(min(eps - claimed, 0.0)), min(total, 1.0)
    return total + (1 - total) * below / (1 + math.exp(-claimed))
