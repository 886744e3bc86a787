"""Central DP-SGD, by the accountants of dp_accounting: the central curve of Figure 1a of the shuffle Gaussian paper.

The library is imported when it is first needed: that takes seconds.
"""

from __future__ import annotations

from typing import Literal, get_args

from shuffledp.accounting.remember import remember
from shuffledp.numerics.checks import check_choice, check_count, check_open_unit, check_positive

CentralMethod = Literal["rdp", "rdp_to_63", "pld"]
CENTRAL_METHODS: tuple[str, ...] = get_args(CentralMethod)

#: Orders of the accountant; TensorFlow Privacy stopped at 63 when the paper was written.
_ORDERS_TO_63 = [1 + x / 10 for x in range(1, 100)] + list(range(11, 64))
_ORDERS = [*_ORDERS_TO_63, 128, 256, 512]
_REPLACEMENT_ORDERS = list(range(2, 65))


def central_gaussian_epsilon(
    *, rate: float, noise_multiplier: float, rounds: int, delta: float, method: CentralMethod = "rdp"
) -> float:
    """Return eps of `rounds` sums of clipped gradients with Gaussian noise, each user sampled with probability `rate`.

    Parameters
    ----------
    rate : float
        In (0, 1).
    noise_multiplier : float
        Standard deviation of the noise of the sum over the clipping norm, > 0.
    rounds : int
        >= 1.
    delta : float
        In (0, 1).
    method : {"rdp", "rdp_to_63", "pld"}
        Renyi orders up to 512; up to 63, as at the time of the paper; or privacy loss distributions.

    Returns
    -------
    float
        Nats. Neighbours differ by adding or removing one record, not by replacing one.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    rate = check_open_unit("rate", rate)
    noise_multiplier = check_positive("noise_multiplier", noise_multiplier)
    rounds = check_count("rounds", rounds, 1)
    delta = check_open_unit("delta", delta)
    check_choice("method", method, CENTRAL_METHODS)
    return _remembered(rate, noise_multiplier, rounds, delta, method)


def central_replacement_epsilon(
    *, n: int, m: int, noise_multiplier: float, rounds: int, delta: float
) -> float:
    """Return eps of `rounds` noisy sums over m of n users, drawn without replacement, under replacement neighbours.

    Parameters
    ----------
    n, m : int
        Users and those of them in a sum, 1 <= m <= n.
    noise_multiplier : float
        Standard deviation of the noise of the sum over the clipping norm, > 0; replacing a record may move the sum by
        twice the clipping norm, which the accountant takes into account.
    rounds : int
        >= 1.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Nats, from integer Renyi orders up to 64.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    n = check_count("n", n, 1)
    m = check_count("m", m, 1)
    if m > n:
        raise ValueError(f"m must be at most n = {n}, got {m}.")
    noise_multiplier = check_positive("noise_multiplier", noise_multiplier)
    rounds = check_count("rounds", rounds, 1)
    delta = check_open_unit("delta", delta)
    return _replacement(n, m, noise_multiplier, rounds, delta)


@remember(1024)
def _remembered(rate: float, noise_multiplier: float, rounds: int, delta: float, method: str) -> float:
    import dp_accounting
    from dp_accounting import pld, rdp

    event = dp_accounting.SelfComposedDpEvent(
        dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise_multiplier)), rounds
    )
    if method == "pld":
        tight = pld.PLDAccountant(value_discretization_interval=1e-4)
        tight.compose(event)
        return float(tight.get_epsilon(delta))
    accountant = rdp.RdpAccountant(_ORDERS_TO_63 if method == "rdp_to_63" else _ORDERS)
    accountant.compose(event)
    return float(accountant.get_epsilon_and_optimal_order(delta)[0])


@remember(1024)
def _replacement(n: int, m: int, noise_multiplier: float, rounds: int, delta: float) -> float:
    import dp_accounting
    from dp_accounting import rdp

    accountant = rdp.RdpAccountant(_REPLACEMENT_ORDERS, dp_accounting.NeighboringRelation.REPLACE_ONE)
    sampled = dp_accounting.SampledWithoutReplacementDpEvent(
        n, m, dp_accounting.GaussianDpEvent(noise_multiplier)
    )
    accountant.compose(dp_accounting.SelfComposedDpEvent(sampled, rounds))
    return float(accountant.get_epsilon(delta))
