"""Errors for comparison: the noise of a trusted curator, and the best answer without data."""

import math

import numpy as np

from shuffledp.accounting.baselines.noisy_counts import gaussian_ratio
from shuffledp.accounting.errors import Infeasible
from shuffledp.comparison.setting import Setting
from shuffledp.populations.base import Law
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.registry import get
from shuffledp.tasks import Floats, Frequency, Participants, Sets, Summation, Vectors

#: Share of the error of an answer without data from which an error counts as no better.
NO_BETTER = 0.99
#: Relative difference of squared shares that rounding may cause for equal shares.
_ROUNDING = 1e-12


def expected(protocol: ProtocolBase, participants: Participants, weights: Floats) -> float | None:
    """Return the mean squared error over values and numbers of participants; None without a closed form."""
    squared = squared_errors(protocol, participants)
    return None if squared is None else float(weights @ squared.mean(axis=1))


def squared_errors(protocol: ProtocolBase, participants: Participants) -> Floats | None:
    """Return the expected squared errors (R, V) by number of participants and value; None without a closed form."""
    squared = protocol.expectation("squared_error", participants)
    return (
        None if squared is None else np.asarray(squared, float).reshape(len(participants.public.n_users), -1)
    )


def floor(where: Setting) -> float | None:
    """Return the mean squared error of a trusted curator's noise; None if no formula or no noise exists.

    The noise of frequencies and sums is discrete Laplace noise. For sets and vectors, where one user changes many
    numbers, the result is the smaller error of Laplace noise (discrete for sets) and Gaussian noise. The result is a
    reference, not a lower bound. Laplace noise: Ghosh, Roughgarden and Sundararajan 2012; Gaussian: Balle and Wang
    2018, Theorem 8.

    The neighboring relation is replacement, or either relation for vectors. If a user exchanges s of d items, ``2
    min(s, d - s)`` counts change by one. For d = 2 only one count gets noise; the other count is n minus the noisy
    count. If a user's vector is replaced, the sum changes by at most two clips.
    """
    if isinstance(where.task, Frequency | Summation):
        curator = get(where.task.kind, "central_laplace")
        try:
            calibrated = curator.calibrate(where.budget, where.population, where.task, accounting="exact")
        except Infeasible:
            return None
        return expected(calibrated, *where.usual)
    variance = _curator_variance(where)
    if variance is None or not isinstance(where.population, Law):
        return None
    participants, weights = where.usual
    return float(weights @ (variance / participants.public.n_users.astype(float) ** 2))


def _curator_variance(where: Setting) -> float | None:
    """Return the variance of the curator's noise in one count or coordinate; None without a formula."""
    eps, delta = where.budget.largest_eps, where.budget.delta
    replaced = where.budget.neighbours == "replace_one"
    variances = []
    if isinstance(where.task, Sets):
        d, s = where.task.domain_size, where.task.set_size
        changed_counts = min(s, d - s) * (1 if d == 2 else 2)  # of two counts the second is n minus the first
        if not replaced or changed_counts == 0:  # everybody holds everything
            return None
        variances.append(1 / (2 * math.sinh(eps / (2 * changed_counts)) ** 2))
        length = math.sqrt(changed_counts)
    else:
        assert isinstance(where.task, Vectors)  # of the four kinds, two have had their answer
        length = where.task.clip * (2 if replaced else 1)
        if where.task.norm == "l1":
            variances.append(2 * (length / eps) ** 2)
    if delta > 0:
        variances.append((length / gaussian_ratio(eps, delta)) ** 2)
    return min(variances, default=None)


def known_half_width(where: Setting) -> float:
    """Return the half-width of the range of the estimated number, whose middle is an answer without data."""
    if isinstance(where.task, Summation):
        participants, weights = where.usual
        return float(np.ptp(where.task.values)) / 2 * float(weights @ participants.public.n)
    return where.task.clip if isinstance(where.task, Vectors) else 0.5


def blind(where: Setting, curator: float | None = None) -> float:
    """Return the mean squared error of the best answer without data, averaged over numbers of participants.

    For shares of values or items the answer is zero for every share. With data, the answer is equal shares if their
    error is less. Without data, equal shares are excluded, because they are assumed to be true. They are also
    excluded if the shares of the data differ from equal shares by less than `curator`, the `floor` of the setting.
    For a sum the answer is the middle of its range, with its largest error. For vectors it is the zero vector, with
    its largest error, when all users hold the same vector.
    """
    participants, weights = where.usual
    task, truth = where.task, np.asarray(participants.truth, float)
    if isinstance(task, Summation):
        half = float(np.ptp(task.values)) / 2
        return float(weights @ (half * participants.public.n_users) ** 2)
    if isinstance(task, Vectors):
        return task.clip**2 / task.dimension
    zeros, even = (
        float(weights @ np.mean((truth - guess) ** 2, axis=1))
        for guess in (0.0, float(where.shares.sum()) / len(where.shares))
    )
    lucky = where.assumed or even <= max(curator or 0.0, _ROUNDING * zeros)
    return zeros if lucky else min(zeros, even)
