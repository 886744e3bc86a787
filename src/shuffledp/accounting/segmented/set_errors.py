"""Errors of the shares of holders of items, for protocols on sets.

Errors are sums over the d items of squared errors of relative frequencies. ``spread = sum_j w_j (1 - w_j)`` for true
frequencies w. Source: arXiv 2407.19639, Section 5.2, for the bound; the exact errors are derived for this project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from shuffledp.numerics.argument_ranges import check_nonnegative

if TYPE_CHECKING:
    from collections.abc import Sequence

Truth = Literal["empirical", "population"]
TRUTHS: tuple[str, ...] = get_args(Truth)


def checked_spread(spread: float | None, domain_size: int, set_size: int) -> float:
    """Return ``sum_j w_j (1 - w_j)``, the largest possible value if None; raise ValueError if it is above this value.

    That is ``s (1 - s / d)``, of uniform frequencies: ``sum_j w_j^2`` is smallest for equal ones, which sum to s.
    """
    most = set_size * (1 - set_size / domain_size)
    if spread is None:
        return most
    spread = check_nonnegative("spread", spread)
    if spread > most * (1 + 1e-9):
        raise ValueError(f"spread must be at most s (1 - s / d) = {most:.6g}, got {spread!r}.")
    return spread


def sampling_sse(squares: float, n: int, spread: float, truth: str) -> float:
    """Return the error of a weighted mean over n users whose weights add up to 1 and their squares to `squares`.

    Compared with the frequencies of the n users themselves (``empirical``), weights being assigned at random, or of the
    ``population`` that they are drawn from: the variance of a mean of draws without and with replacement. Exact, summed
    over the items; against the frequencies of the n users equal weights have none.
    """
    if truth == "population":
        return spread * squares
    return spread * n / (n - 1) * max(squares - 1 / n, 0.0) if n > 1 else 0.0


def blanket_sse(messages: float, cell_rate: float, reports: float) -> float:
    """Return the part of the error that blanket messages cause: ``n m (1 - cell_rate) / reports^2``.

    `messages` are n m, expected; `cell_rate` is the probability with which a slot holds a given item, 0 for Poisson
    numbers of messages; the counts are divided by `reports`, ``sum_k n_k lambda_k``. Exact, summed over the items: the
    variance of binomial or Poisson counts.
    """
    kept = 1 - cell_rate
    return messages * kept / reports**2


def segmented_error_bound(messages: float, set_size: int, reports: float) -> float:
    """Return the printed bound on the error of the segmented protocol, ``(n m + s Lambda) / Lambda^2``; needs no data.

    `messages` are n m, expected, and `reports` are ``Lambda = sum_k n_k lambda_k``. An upper bound against the
    frequencies of the population: Wang et al. 2024, arXiv 2407.19639, Section 5.2.
    """
    return (messages + set_size * reports) / reports**2


def segmented_sse(
    level_sizes: Sequence[int],
    rates: Sequence[float],
    set_size: int,
    blanket: float,
    spread: float,
    truth: str,
) -> float:
    """Return the error of the segmented protocol if levels are independent of the data.

    `blanket` is the part of :func:`blanket_sse`; n_k users of level k send each item with probability lambda_k. Exact,
    summed over the items: a report's coins have variance ``lambda (1 - lambda)`` per item, and sampling from a
    population adds ``lambda^2 w (1 - w)``.
    """
    pairs = list(zip(level_sizes, rates, strict=True))
    reports = sum(n * rate for n, rate in pairs)
    squares = sum(n * rate**2 for n, rate in pairs) / reports**2
    coins = set_size * sum(n * rate * (1 - rate) for n, rate in pairs) / reports**2
    return blanket + coins + sampling_sse(squares, sum(level_sizes), spread, truth)
