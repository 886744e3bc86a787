"""Errors of histograms from shuffled Hadamard entries."""

from __future__ import annotations

from shuffledp.numerics.argument_ranges import check_count, check_nonnegative, check_open_unit


def private_coin_mse(n: int, domain_size: int, tuples: float, match_rate: float | None = None) -> float:
    """Return the squared error of a frequency, averaged over the values; the same for all data.

    Parameters
    ----------
    n : int
        Number of users, >= 2.
    domain_size : int
        k, >= 2.
    tuples : float
        rho, uniform tuples per user, >= 0; not necessarily an integer.
    match_rate : float, optional
        ``h = 2^-tau``, in (0, 1); the paper's ``1/n`` when left out.

    Returns
    -------
    float
        Exact, for given data.

    Notes
    -----
    ``(rho + 1 - 1/k) h / ((1 - h) n)``: derived for this project, from the binomial law of the matches in the protocol
    of Ghazi et al., "On the power of multiple anonymous messages" (arXiv 1908.11358).
    """
    n = check_count("n", n, 2)
    domain_size = check_count("domain_size", domain_size, 2)
    tuples = check_nonnegative("tuples", tuples)
    rate = 1 / n if match_rate is None else check_open_unit("match_rate", match_rate)
    return (tuples + 1 - 1 / domain_size) * rate / ((1 - rate) * n)
