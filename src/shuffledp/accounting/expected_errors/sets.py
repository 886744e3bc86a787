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
    """Return ``sum_j w_j (1 - w_j)``, the largest possible if None; ValueError if it is larger than that.

    Parameters
    ----------
    spread : float or None
        In [0, ``s (1 - s / d)``].
    domain_size, set_size : int
        Items d, and items per user s.

    Returns
    -------
    float
        The spread; if None ``s (1 - s / d)``, that of uniform frequencies, an upper bound as the frequencies sum to s.

    Notes
    -----
    Derived for this project: ``sum_j w_j^2`` is smallest for equal frequencies.
    """
    most = set_size * (1 - set_size / domain_size)
    if spread is None:
        return most
    spread = check_nonnegative("spread", spread)
    if spread > most * (1 + 1e-9):
        raise ValueError(f"spread must be at most s (1 - s / d) = {most:.6g}, got {spread!r}.")
    return spread


def sampling_sse(squares: float, n: int, spread: float, truth: str) -> float:
    """Return the error of a weighted mean over n users whose weights add up to 1.

    Parameters
    ----------
    squares : float
        Sum of the squared weights, at least ``1 / n``.
    n : int
        Users, >= 1.
    spread : float
        ``sum_j w_j (1 - w_j)`` of the true frequencies.
    truth : {"empirical", "population"}
        Compared with the frequencies of the n users themselves, weights being assigned at random; or with the
        frequencies of the population that they are drawn from.

    Returns
    -------
    float
        Exact, summed over the items. Against the frequencies of the n users equal weights have none.

    Notes
    -----
    Derived for this project: the variance of a mean of draws without and with replacement.
    """
    if truth == "population":
        return spread * squares
    return spread * n / (n - 1) * max(squares - 1 / n, 0.0) if n > 1 else 0.0


def blanket_sse(messages: float, cell_rate: float, reports: float) -> float:
    """Return the part of the expected error that blanket messages cause.

    Parameters
    ----------
    messages : float
        Expected number of blanket messages ``n m``.
    cell_rate : float
        Probability with which a slot holds a given item, for binomial numbers of messages; 0 for Poisson ones.
    reports : float
        ``sum_k n_k lambda_k``, by which the counts are divided.

    Returns
    -------
    float
        Exact, ``n m (1 - cell_rate) / reports^2``, summed over the items.

    Notes
    -----
    Derived for this project: the variance of binomial or Poisson counts.
    """
    kept = 1 - cell_rate
    return messages * kept / reports**2


def segmented_error_bound(messages: float, set_size: int, reports: float) -> float:
    """Return the printed bound on the expected error of the segmented protocol; it needs no data.

    Parameters
    ----------
    messages : float
        Expected number of blanket messages ``n m``.
    set_size : int
        Items per user s.
    reports : float
        ``Lambda = sum_k n_k lambda_k``.

    Returns
    -------
    float
        ``(n m + s Lambda) / Lambda^2``, an upper bound against the frequencies of the population.

    Notes
    -----
    Wang et al. 2024, arXiv 2407.19639, Section 5.2.
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
    """Return the expected error of the segmented protocol if levels are independent of the data.

    Parameters
    ----------
    level_sizes : sequence of int
        Users n_k of each level.
    rates : sequence of float
        Probability lambda_k with which a user of level k sends each item.
    set_size : int
        Items per user s.
    blanket : float
        Part of the blanket messages, :func:`blanket_sse`.
    spread, truth
        As in :func:`sampling_sse`.

    Returns
    -------
    float
        Exact, summed over the items.

    Notes
    -----
    Derived for this project. Besides its coins, ``lambda (1 - lambda)`` per item, a population's report varies by
    ``lambda^2 w (1 - w)``.
    """
    pairs = list(zip(level_sizes, rates, strict=True))
    reports = sum(n * rate for n, rate in pairs)
    squares = sum(n * rate**2 for n, rate in pairs) / reports**2
    coins = set_size * sum(n * rate * (1 - rate) for n, rate in pairs) / reports**2
    return blanket + coins + sampling_sse(squares, sum(level_sizes), spread, truth)
