"""Random numbers of the checks, and comparisons with bounds whose false-alarm rate is known."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtr, stdtrit

from shuffledp.tasks import Array, Floats, Ints

SEED = 20230215
#: Permitted standard errors of a mean or a variance: probability 6e-7 for a normal deviate.
SIGMAS = 5.0
#: p-value of a test of two samples, below which their laws differ.
P_VALUE = 1e-6
#: Shares of the wealth that `contradicted` bets.
STAKES = tuple(2.0 ** -np.arange(0.5, 9.0))
#: Factor of the range of a summand over the number of draws in the empirical Bernstein bound.
RARE = 7 / 3 * math.log(2 / P_VALUE)


def generator(offset: int = 0) -> np.random.Generator:
    """Return a generator with the fixed seed; different offsets have independent streams."""
    return np.random.default_rng([SEED, offset])


def mean_and_error(sample: Floats) -> tuple[Floats, Floats]:
    """Return the sample mean and its standard error along the first axis, widened as in Student's law."""
    wider = -stdtrit(len(sample) - 1, ndtr(-SIGMAS)) / SIGMAS
    return sample.mean(axis=0), wider * sample.std(axis=0, ddof=1) / math.sqrt(len(sample))


def variance_and_error(sample: Floats) -> tuple[Floats, Floats]:
    """Return the sample variance and its standard error, from the fourth moment and the error of the mean.

    For fair coins squares are constant, and the deviation is the square of a normal deviate. It exceeds ``SIGMAS^2``
    times its mean as rarely as other deviates exceed `SIGMAS` standard errors.
    """
    squares = (sample - sample.mean(axis=0)) ** 2
    variance = np.mean(squares, axis=0)
    fourth = np.mean(squares**2, axis=0)
    error = np.sqrt(np.maximum(fourth - variance**2, 0) / len(sample)) + SIGMAS * variance / len(sample)
    return variance * len(sample) / (len(sample) - 1), error


def contradicted(
    squares: Floats, variance: Floats, jump: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return, per coordinate, whether squared errors, (R, d), show that a variance, (d,), is too small or too large.

    `jump` is the largest effect on the estimate of one user, or of one of many independent equal summands. A right
    variance is contradicted with a probability of at most `P_VALUE` per coordinate and side, for every number of
    repeats and for rare events, which sample moments would miss.

    Too small: the wealth of bets on larger squares, the mean over stakes s of ``prod(1 + s (x / variance - 1))``, has
    mean at most 1 for every law of x >= 0 (Ville's inequality). Too large: for x >= 0,
    ``P(mean(x) <= E x - t) <= exp(-R t^2 / (2 E x^2))`` (Maurer 2003), where the fourth moment of a sum of independent
    summands of at most `jump` is at most ``3 v^2 + jump^2 v``. The kurtosis may be 9 without an effect of `jump`, as
    for Laplace noise.
    """
    repeats = len(squares)
    shares = squares / variance - 1
    wealth = np.stack([np.log1p(stake * shares).sum(axis=0) for stake in STAKES])
    most = wealth.max(axis=0)
    log_wealth = most + np.log(np.mean(np.exp(wealth - most), axis=0))
    kurtosis = 6 + jump**2 / variance
    slack = np.sqrt(-2 * math.log(P_VALUE) * kurtosis / repeats)
    return log_wealth > -math.log(P_VALUE), shares.mean(axis=0) < -slack


def most_probable(hits: Any, draws: int, rate: float) -> Floats:
    """Return the upper bounds of Clopper and Pearson on probabilities, each too small with probability <= `rate`."""
    hits = np.asarray(hits, float)
    bound = betaincinv(hits + 1, np.maximum(draws - hits, 1.0), 1 - rate)
    return np.where(hits >= draws, 1.0, bound)


def least_probable(hits: Any, draws: int, rate: float) -> Floats:
    """Return the lower bounds of Clopper and Pearson on probabilities, each too large with probability <= `rate`."""
    return 1 - most_probable(draws - np.asarray(hits, float), draws, rate)


def laws_p_value(first: Floats, second: Floats) -> float:
    """Return the least p-value of Kolmogorov-Smirnov tests of the columns of two samples; conservative for counts."""
    from scipy.stats import ks_2samp  # slow to import, and only needed here

    return float(np.min(ks_2samp(first, second, method="asymp").pvalue))


def assert_close(name: str, got: Any, want: Any, error: Any, scale: Any = 0.0) -> None:
    """Raise AssertionError if two values differ by more than SIGMAS standard errors and rounding."""
    got, want = np.asarray(got, float), np.asarray(want, float)
    slack = SIGMAS * np.asarray(error, float) + 1e-9 * (np.abs(want) + np.abs(scale) + 1e-12)
    off = np.abs(got - want) > slack
    assert not np.any(off), f"{name}: got {got}, expected {want} within {slack}"


def kinds(rows: Array, most: int) -> Ints | None:
    """Return each row's lexicographic rank among the different rows, (N,); None for more than `most` of them."""
    ranks = np.zeros(len(rows), np.int64)
    for column in rows.reshape(len(rows), -1).T:
        place = _places(column)
        ranks = _places(ranks * (int(place.max()) + 1) + place)
        if ranks.max() >= most:  # further columns only part what is the same so far
            return None
    return ranks


def _places(column: Array) -> Ints:
    """Return the rank of each number among the different numbers; integers in a short range need no sorting."""
    if column.dtype.kind == "i":
        least = int(column.min())
        span = int(column.max()) - least + 1
        if span <= 4 * len(column):
            present = np.zeros(span, np.int64)
            present[column - least] = 1
            return np.asarray((np.cumsum(present) - 1)[column - least], np.int64)
    return np.asarray(np.unique(column, return_inverse=True)[1], np.int64)
