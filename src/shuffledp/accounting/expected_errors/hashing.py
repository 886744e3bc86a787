"""Errors of histograms from hashed reports."""

from __future__ import annotations

import math

from shuffledp.numerics.argument_ranges import check_count, check_positive, check_unit


def solh_mse(n: int, domain_size: int, cells: int, eps_local: float) -> float:
    """Return the squared error of a frequency, averaged over the values; the same for all data.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    domain_size : int
        k, >= 2.
    cells : int
        d', >= 2.
    eps_local : float
        Nats, > 0.

    Returns
    -------
    float
        Exact for fully random hashes.

    Notes
    -----
    ``[q (1 - q) + (1 - p - q) (p - q) / k] / (n (p - q)^2)`` with ``q = 1/d'`` and
    ``p = e^eps_local / (e^eps_local + d' - 1)``.

    Wang et al. 2017 (optimized local hashing), derived anew with the part that depends on the frequencies.
    """
    n = check_count("n", n, 1)
    domain_size = check_count("domain_size", domain_size, 2)
    cells = check_count("cells", cells, 2)
    eps_local = check_positive("eps_local", eps_local)
    q = 1 / cells
    decay = math.exp(-eps_local)
    keep = 1 / (1 + (cells - 1) * decay)
    gap = -math.expm1(-eps_local) * keep * (1 - q)
    return (q * (1 - q) + (1 - keep - q) * gap / domain_size) / (n * gap * gap)


def unary_mse(n: int, domain_size: int, own_rate: float, other_rate: float) -> float:
    """Return the squared error of a frequency from rows of bits, averaged over the values; the same for all data.

    Parameters
    ----------
    n : int
        Number of users, >= 1.
    domain_size : int
        k, >= 2.
    own_rate, other_rate : float
        p > q, in [0, 1]: probabilities that the own bit and another one is set.

    Returns
    -------
    float
        Exact.

    Notes
    -----
    ``[p (1 - p) / k + (1 - 1/k) q (1 - q)] / (n (p - q)^2)``: Wang et al. 2017. With ``q = 1/d'`` that of
    :func:`solh_mse`.
    """
    n = check_count("n", n, 1)
    domain_size = check_count("domain_size", domain_size, 2)
    p, q = check_unit("own_rate", own_rate), check_unit("other_rate", other_rate)
    if p <= q:
        raise ValueError(f"own_rate must exceed other_rate = {other_rate!r}, got {own_rate!r}.")
    return (p * (1 - p) / domain_size + (1 - 1 / domain_size) * q * (1 - q)) / (n * (p - q) ** 2)
