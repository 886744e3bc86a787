"""Errors of one report per user in the local model, with the sizes that the literature chooses for a local budget."""

from __future__ import annotations

import math
from typing import Annotated, Literal, get_args

import numpy as np

from shuffledp.numerics.argument_ranges import Eps, FromOne, FromTwo, check_between, checked, one_of
from shuffledp.protocols.frequency._designs import DesignReports
from shuffledp.protocols.frequency._hashing import is_prime, prime_above
from shuffledp.protocols.frequency.hadamard_response import HadamardResponse
from shuffledp.protocols.frequency.pgr import Pgr
from shuffledp.protocols.frequency.pi_rappor import PiRappor
from shuffledp.protocols.frequency.recursive_hadamard import RecursiveHadamard
from shuffledp.protocols.frequency.subset_selection import SubsetReport
from shuffledp.tasks import Participants, Public

LocalReport = Literal["subset_selection", "pgr", "pi_rappor", "hadamard_response", "recursive_hadamard"]
#: Largest local budget, below which e^eps_local + 1 can be searched for a prime.
_MOST_BUDGET = 20


def _design(protocol: LocalReport, users: int, k: int, eps_local: float) -> DesignReports:
    """Return the design of the size that the code of Feldman et al. 2022 chooses, with ``E = e^eps_local``.

    The prime of ``pgr`` is the smallest odd prime from E + 1 on, and the prime of ``pi_rappor`` the largest prime up to
    E + 1. The number of blocks is the largest power of two below min(E, 2 k), or half of the smallest power of two from
    E on.
    """
    factor, bits = math.exp(eps_local), (k - 1).bit_length()
    if protocol == "pgr":
        return Pgr(users, k, eps_local, prime_above(max(2, math.ceil(factor + 1) - 1)))
    if protocol == "pi_rappor":
        return PiRappor(
            users, k, eps_local, next(q for q in range(math.floor(factor + 1), 1, -1) if is_prime(q))
        )
    if protocol == "hadamard_response":
        return HadamardResponse(users, k, eps_local, 2 ** (math.ceil(math.log2(min(factor, 2 * k))) - 1))
    message_bits = min(bits, math.ceil(math.log2(factor)))
    return RecursiveHadamard(users, k, eps_local, 2 ** (message_bits - 1))


@checked
def local_report_error(
    protocol: Annotated[LocalReport, one_of(get_args(LocalReport))],
    users: FromOne,
    domain_size: FromTwo,
    eps_local: Eps,
) -> float:
    """Return the mean squared error of the counts of uniform values in the local model, in squared users.

    Subsets have the smallest size from ``k / (e^eps_local + 1)`` on. The sizes of the other protocols are those of the
    code of Feldman et al. 2022.

    Parameters
    ----------
    protocol : str
        Name of a protocol of one report.
    users : int
        >= 1.
    domain_size : int
        Number of values k, >= 2.
    eps_local : float
        Budget of a report in nats, in (0, 20].

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    :mod:`shuffledp.protocols.frequency._designs`, with a budget of the local model.
    """
    check_between("eps_local", eps_local, 0, _MOST_BUDGET)
    if protocol == "subset_selection":
        size = math.ceil(domain_size / (math.exp(eps_local) + 1))
        return SubsetReport(domain_size, size, eps_local).mse(users) * users**2
    counts = np.full((1, domain_size), users / domain_size)
    participants = Participants(Public(np.array([users])), counts, counts / users)
    variance = _design(protocol, users, domain_size, eps_local).expected_variance(participants)
    assert variance is not None
    return float(variance.mean()) * users**2
