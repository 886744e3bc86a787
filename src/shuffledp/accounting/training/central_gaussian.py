"""Central DP-SGD by dp_accounting, for the central curves in Figure 1a of the shuffle Gaussian paper.

Relation and sensitivity
------------------------
Both functions have the argument `noise_multiplier`, the standard deviation of the sum's noise over the clipping norm C.
The events of dp_accounting have the standard deviation over the sensitivity, the largest change of the sum:

=============================  ===================  ===========  ========================
function                       relation             sensitivity  noise of the event
=============================  ===================  ===========  ========================
central_gaussian_epsilon       add or remove one    C            ``noise_multiplier``
central_replacement_epsilon    replace one          2 C          ``noise_multiplier / 2``
=============================  ===================  ===========  ========================

dp_accounting is imported at its first use, which takes seconds.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np

from shuffledp.numerics.argument_ranges import (
    Delta,
    FromOne,
    OpenUnit,
    Positive,
)
from shuffledp.numerics.memoize import remember
from shuffledp.optional_dependencies import needed

CentralMethod = Literal["rdp", "rdp_to_63", "pld"]
CENTRAL_METHODS: tuple[str, ...] = get_args(CentralMethod)

#: Orders of the accountant; TensorFlow Privacy stopped at 63 when the paper was written.
_ORDERS_TO_63 = [1 + x / 10 for x in range(1, 100)] + list(range(11, 64))
_ORDERS = [*_ORDERS_TO_63, 128, 256, 512]
#: Integer orders, as in the theorem on sampling without replacement. Orders above 64 matter for small budgets only.
_REPLACEMENT_ORDERS = (*range(2, 65), *range(72, 257, 8))
#: Sensitivity over the clipping norm C: replacing a vector of norm at most C changes a sum by up to 2 C.
_REPLACEMENT_SENSITIVITY = 2.0
#: Noise over the sensitivity up to which the divergence of a sampled mechanism is evaluated; beyond, differences such
#: as 1 - exp(-1/noise^2) lose their digits: divergences become negative at 1e6, or are not defined at 1e8. More noise
#: is post-processing, so that the divergence here bounds the one there.
_MOST_NOISE = 1e4


def central_gaussian_epsilon(
    *,
    rate: OpenUnit,
    noise_multiplier: Positive,
    rounds: FromOne,
    delta: Delta,
    method: CentralMethod = "rdp",
) -> float:
    """Return the central eps of noisy sums of clipped gradients, with Poisson sampling of the users.

    Neighbors differ by one record that is added or removed, so that the sensitivity is the clipping norm C. Source:
    Mironov, Talwar and Zhang (2019), arXiv 1908.10530, for the Renyi divergence of the sampled Gaussian mechanism;
    dp_accounting evaluates it and the privacy loss distributions.

    Parameters
    ----------
    rate : float
        Probability that a user is sampled in a round, in (0, 1).
    noise_multiplier : float
        Standard deviation of the sum's noise over the clipping norm C, > 0.
    rounds : int
        Number of rounds, >= 1; users are drawn anew in every round.
    delta : float
        In (0, 1).
    method : {"rdp", "rdp_to_63", "pld"}
        ``rdp``: Renyi orders up to 512. ``rdp_to_63``: Renyi orders up to 63, the limit of TensorFlow Privacy when the
        paper was written. ``pld``: privacy loss distributions.

    Returns
    -------
    float
        Nats, >= 0. An upper bound: ``rdp`` by the conversion from Renyi orders, ``pld`` by privacy losses on a grid of
        step 1e-4 nats. A `noise_multiplier` above 10,000 counts as 10,000.

    Raises
    ------
    MissingExtra
        If dp-accounting is not installed; the extra ``central`` brings it.

    See Also
    --------
    central_replacement_epsilon : Replacement of a record, the relation of the shuffle Gaussian bounds.
    """
    return _remembered(rate, min(noise_multiplier, _MOST_NOISE), rounds, delta, method)


def central_replacement_epsilon(
    *, n: FromOne, m: FromOne, noise_multiplier: Positive, rounds: FromOne, delta: Delta
) -> float:
    """Return the central eps of noisy sums over m of n users for replacement neighbors.

    Neighbors differ in one record of norm at most C, so that the sensitivity is 2 C and the event has
    ``noise_multiplier / 2``.

    Parameters
    ----------
    n, m : int
        Number of users, and number of users in each sum, drawn without replacement, 1 <= m <= n.
    noise_multiplier : float
        Standard deviation of the sum's noise over the clipping norm C, not over the sensitivity 2 C, > 0.
    rounds : int
        Number of rounds, >= 1; users are drawn anew in every round.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Nats, >= 0. An upper bound from integer Renyi orders up to 256. For m = n the divergence is exact, ``2 order /
        noise_multiplier^2`` in each round. For m < n the smaller of this value and a bound for sampled mechanisms is
        used. For m = n eps is at most 13 % above the exact eps if the exact eps is between 0.05 and 50. Infinite if the
        divergence overflows.

    Raises
    ------
    MissingExtra
        If dp-accounting is not installed; the extra ``central`` brings it.

    Notes
    -----
    Source: Wang, Balle and Kasiviswanathan (2019), Theorem 27, for the Gaussian mechanism, evaluated by dp_accounting.
    A round is a mixture, over the subsets, of Gaussian mechanisms of m users, and the Renyi divergence is jointly
    quasi-convex. Sampling therefore never increases the divergence for m = n. In the theorem, a `noise_multiplier`
    above 20,000 counts as 20,000.

    Examples
    --------
    Ten rounds with 100 of 1,000 users each:

    >>> from shuffledp.accounting import central_replacement_epsilon
    >>> eps = central_replacement_epsilon(n=1000, m=100, noise_multiplier=4.0, rounds=10, delta=1e-5)
    >>> print(f"{eps:.3f}")
    1.539
    """
    if m > n:
        raise ValueError(f"m must be at most n = {n}, got {m}.")
    with needed():
        from dp_accounting import rdp

    noise = noise_multiplier / _REPLACEMENT_SENSITIVITY
    once = np.array([order / 2 / noise / noise for order in _REPLACEMENT_ORDERS])
    if not np.isfinite(once).all():
        return math.inf
    if m < n:
        once = np.minimum(once, _sampled_replacement_rdp(n, m, min(noise, _MOST_NOISE)))
    return float(rdp.compute_epsilon(_REPLACEMENT_ORDERS, rounds * once, delta)[0])


@remember(1024)
def _remembered(
    rate: float, noise_multiplier: float, rounds: int, delta: float, method: CentralMethod
) -> float:
    """Return eps by dp_accounting for one user added or removed; the noise is relative to the sensitivity C."""
    with needed():
        import dp_accounting
        from dp_accounting import pld, rdp

    relation = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
    event = dp_accounting.SelfComposedDpEvent(
        dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise_multiplier)), rounds
    )
    if method == "pld":
        tight = pld.PLDAccountant(relation, value_discretization_interval=1e-4)
        tight.compose(event)
        return float(tight.get_epsilon(delta))
    accountant = rdp.RdpAccountant(_ORDERS_TO_63 if method == "rdp_to_63" else _ORDERS, relation)
    accountant.compose(event)
    return float(accountant.get_epsilon_and_optimal_order(delta)[0])


@remember(64)
def _sampled_replacement_rdp(n: int, m: int, noise_over_sensitivity: float) -> tuple[float, ...]:
    """Return the divergences of one round at each order, for one user replaced, with the sensitivity 2 C."""
    with needed():
        import dp_accounting
        from dp_accounting import rdp

    relation = dp_accounting.NeighboringRelation.REPLACE_ONE
    accountant = rdp.RdpAccountant(_REPLACEMENT_ORDERS, relation)
    accountant.compose(
        dp_accounting.SampledWithoutReplacementDpEvent(
            n, m, dp_accounting.GaussianDpEvent(noise_over_sensitivity)
        )
    )
    return tuple(float(divergence) for divergence in accountant.rdp)
