"""Central DP-SGD, by the accountants of dp_accounting: the central curves of Figure 1a of the shuffle Gaussian paper.

Relation and sensitivity
------------------------
Both functions take the same argument, `noise_multiplier`: the standard deviation of the noise of the sum of clipped
vectors over the clipping norm C. The events of dp_accounting take the standard deviation over the sensitivity, which
is the largest change of the sum under the relation of the accountant:

=============================  ===================  ===========  ========================
function                       relation             sensitivity  noise of the event
=============================  ===================  ===========  ========================
central_gaussian_epsilon       add or remove one    C            ``noise_multiplier``
central_replacement_epsilon    replace one          2 C          ``noise_multiplier / 2``
=============================  ===================  ===========  ========================

Only random allocation uses dp_accounting besides (`allocation_methods`). The library is imported at its first use,
which takes seconds.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np

from shuffledp.numerics.argument_ranges import check_choice, check_count, check_open_unit, check_positive
from shuffledp.numerics.memoize import remember
from shuffledp.optional_dependencies import needed

CentralMethod = Literal["rdp", "rdp_to_63", "pld"]
CENTRAL_METHODS: tuple[str, ...] = get_args(CentralMethod)

#: Orders of the accountant; TensorFlow Privacy stopped at 63 when the paper was written.
_ORDERS_TO_63 = [1 + x / 10 for x in range(1, 100)] + list(range(11, 64))
_ORDERS = [*_ORDERS_TO_63, 128, 256, 512]
#: Integers, which the theorem of sampling without replacement is about; those above 64 matter for small budgets only.
_REPLACEMENT_ORDERS = (*range(2, 65), *range(72, 257, 8))
#: Over the clipping norm C: a vector of norm at most C in place of another moves a sum by up to 2 C.
_REPLACEMENT_SENSITIVITY = 2.0
#: Noise over the sensitivity up to which the divergence of a sampled mechanism is evaluated; beyond, differences such
#: as 1 - exp(-1/noise^2) lose their digits: divergences become negative at 1e6, or are not defined at 1e8. More noise
#: is post-processing, so that the divergence here bounds the one there.
_MOST_NOISE = 1e4


def central_gaussian_epsilon(
    *, rate: float, noise_multiplier: float, rounds: int, delta: float, method: CentralMethod = "rdp"
) -> float:
    """Return eps of `rounds` sums of clipped gradients with Gaussian noise, each user sampled with probability `rate`.

    Neighbors differ by adding or removing one record, which moves the sum by up to the clipping norm C: the
    sensitivity is C.

    Parameters
    ----------
    rate : float
        In (0, 1).
    noise_multiplier : float
        Standard deviation of the noise of the sum over the clipping norm C, > 0.
    rounds : int
        >= 1.
    delta : float
        In (0, 1).
    method : {"rdp", "rdp_to_63", "pld"}
        Renyi orders up to 512; up to 63, as at the time of the paper; or privacy loss distributions.

    Returns
    -------
    float
        Nats, >= 0. An upper bound: ``rdp`` by the conversion from Renyi orders, ``pld`` by the grid of the privacy
        loss alone, whose step is 1e-4 nats. Noise of more than 10,000 clipping norms counts as 10,000.

    Raises
    ------
    MissingExtra
        If dp-accounting is not installed; the extra ``central`` brings it.

    See Also
    --------
    central_replacement_epsilon : Replacement of a record, the relation of the shuffle Gaussian bounds.

    Notes
    -----
    Mironov, Talwar and Zhang (2019), arXiv 1908.10530: Renyi divergence of the sampled Gaussian mechanism, and privacy
    loss distributions, as evaluated by dp_accounting.
    """
    rate = check_open_unit("rate", rate)
    noise_multiplier = check_positive("noise_multiplier", noise_multiplier)
    rounds = check_count("rounds", rounds, 1)
    delta = check_open_unit("delta", delta)
    check_choice("method", method, CENTRAL_METHODS)
    return _remembered(rate, min(noise_multiplier, _MOST_NOISE), rounds, delta, method)


def central_replacement_epsilon(
    *, n: int, m: int, noise_multiplier: float, rounds: int, delta: float
) -> float:
    """Return eps of `rounds` noisy sums over m of n users, drawn without replacement, under replacement neighbors.

    Neighbors differ by one record, which is replaced by another. Both are clipped to norm C, so that the sum of a
    subset moves by up to 2 C: the sensitivity is 2 C, and the accountant evaluates ``noise_multiplier / 2``.

    Parameters
    ----------
    n, m : int
        Number of users, and number of users in each sum, 1 <= m <= n.
    noise_multiplier : float
        Standard deviation of the noise of the sum over the clipping norm C (not over the sensitivity 2 C), > 0; as in
        :func:`central_gaussian_epsilon`.
    rounds : int
        >= 1.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Nats, >= 0. An upper bound: from integer Renyi orders up to 256, with the conversion from Renyi divergences and,
        for m < n, the smaller of a bound on the divergence of a sampled mechanism and the divergence for m = n, which
        no sampling exceeds. The latter is exact, ``2 order / noise_multiplier^2`` in each round. For m = n eps is at
        most 13 % above the exact eps if the exact eps is between 0.05 and 50. Infinite where this divergence overflows.

    Raises
    ------
    MissingExtra
        If dp-accounting is not installed; the extra ``central`` brings it.

    Notes
    -----
    Wang, Balle and Kasiviswanathan (2019), Theorem 27, for the Gaussian mechanism, as evaluated by dp_accounting. A
    round is a mixture, over the subsets, of Gaussian mechanisms of all m users, and the Renyi divergence is jointly
    quasi-convex: hence the bound by the divergence for m = n. Noise of more than 20,000 clipping norms counts as 20,000
    in the theorem.

    Examples
    --------
    Ten rounds with a tenth of a thousand users each:

    >>> from shuffledp.accounting import central_replacement_epsilon
    >>> eps = central_replacement_epsilon(n=1000, m=100, noise_multiplier=4.0, rounds=10, delta=1e-5)
    >>> print(f"{eps:.3f}")
    1.539
    """
    n = check_count("n", n, 1)
    m = check_count("m", m, 1)
    if m > n:
        raise ValueError(f"m must be at most n = {n}, got {m}.")
    noise_multiplier = check_positive("noise_multiplier", noise_multiplier)
    rounds = check_count("rounds", rounds, 1)
    delta = check_open_unit("delta", delta)
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
def _remembered(rate: float, noise_multiplier: float, rounds: int, delta: float, method: str) -> float:
    """Return eps by dp_accounting, for adding or removing one user; `noise_multiplier` is over the sensitivity C."""
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
    """Return the divergences of one round at each order, for replacing one user, whose sensitivity is 2 C."""
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
