"""Errors of estimated item frequencies, for protocols on sets.

Errors are sums over the d items of squared errors of relative frequencies. ``spread = sum_j w_j (1 - w_j)`` for true
frequencies w. Source: arXiv 2407.19639, Section 5.2, for the bound; the exact errors are derived for this project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from shuffledp.numerics.argument_ranges import check_nonnegative

if TYPE_CHECKING:
    from collections.abc import Sequence

Truth = Literal["empirical", "population"]


def checked_spread(spread: float | None, domain_size: int, set_size: int) -> float:
    """Return ``sum_j w_j (1 - w_j)``, by default its largest value; raise ValueError if `spread` is above this value.

    The largest value is ``s (1 - s / d)``, for uniform frequencies: ``sum_j w_j^2`` is smallest for equal w_j, whose
    sum is s.
    """
    most = set_size * (1 - set_size / domain_size)
    if spread is None:
        return most
    spread = check_nonnegative("spread", spread)
    if spread > most * (1 + 1e-9):
        raise ValueError(f"spread must be at most s (1 - s / d) = {most:.6g}, got {spread!r}.")
    return spread


def sampling_sse(squares: float, n: int, spread: float, truth: Truth) -> float:
    """Return the exact error of a weighted mean over n users, where weights sum to 1 and their squares to `squares`.

    With ``empirical``, the reference is the frequencies of the n users, and weights are assigned at random. With
    ``population``, it is the frequencies of the population from which the users are drawn. The error is the variance of
    a mean of draws without or with replacement, summed over the items. Equal weights have no error against the
    frequencies of the n users.
    """
    if truth == "population":
        return spread * squares
    return spread * n / (n - 1) * max(squares - 1 / n, 0.0) if n > 1 else 0.0


def blanket_sse(messages: float, cell_rate: float, reports: float) -> float:
    """Return the exact error that blanket messages cause, summed over the items: ``n m (1 - cell_rate) / reports^2``.

    `messages` is n m, the expected number of blanket messages. `cell_rate` is the probability that a slot holds a given
    item, or 0 for Poisson numbers of messages. `reports` is ``sum_k n_k lambda_k``, by which the counts are divided.
    The counts have binomial or Poisson variance.
    """
    rest_rate = 1 - cell_rate
    return messages * rest_rate / reports**2


def segmented_error_bound(messages: float, set_size: int, reports: float) -> float:
    """Return the printed bound on the error of the segmented protocol, ``(n m + s Lambda) / Lambda^2``, for all data.

    `messages` is n m, the expected number, and `reports` is ``Lambda = sum_k n_k lambda_k``. It is an upper bound
    against the frequencies of the population: Wang et al. 2024, arXiv 2407.19639, Section 5.2.
    """
    return (messages + set_size * reports) / reports**2


def segmented_sse(
    level_sizes: Sequence[int],
    rates: Sequence[float],
    set_size: int,
    blanket: float,
    spread: float,
    truth: Truth,
) -> float:
    """Return the exact error of the segmented protocol, summed over the items, if levels are independent of the data.

    `blanket` is :func:`blanket_sse`. The n_k users of level k send each item with probability lambda_k. These decisions
    have variance ``lambda (1 - lambda)`` per item, and sampling from a population adds ``lambda^2 w (1 - w)``.
    """
    pairs = list(zip(level_sizes, rates, strict=True))
    reports = sum(n * rate for n, rate in pairs)
    squares = sum(n * rate**2 for n, rate in pairs) / reports**2
    coins = set_size * sum(n * rate * (1 - rate) for n, rate in pairs) / reports**2
    return blanket + coins + sampling_sse(squares, sum(level_sizes), spread, truth)
