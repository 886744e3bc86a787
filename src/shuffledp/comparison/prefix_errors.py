"""Errors of prefixes of ordered values as functions of numbers, for curves over the number of values."""

from __future__ import annotations

from typing import Annotated

from shuffledp.accounting.expected_errors.range_responses import UniformResponse
from shuffledp.comparison.best_trees import best_tree, calibrate_tree
from shuffledp.comparison.count_trees import HISTOGRAM_PROTOCOLS, TREE_PROTOCOLS, CountTree
from shuffledp.numerics.argument_ranges import Delta, Eps, FromTwo, checked, one_of
from shuffledp.populations.base import Fixed
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.registry import get
from shuffledp.tasks import Budget, Frequency

#: Protocol with the errors of `UniformResponse`.
RESPONSE = "grr_blanket"


def response_errors(
    users: int, domain_size: int, eps: float, delta: float
) -> tuple[ProtocolBase, UniformResponse]:
    """Return randomized response for a central budget, with its errors. Raise Infeasible if none meets the budget."""
    task = Frequency(domain_size)
    protocol = get("frequency", RESPONSE).calibrate(Budget(eps, delta), Fixed(users - 1), task)
    return protocol, UniformResponse(users, domain_size, protocol.parameters()["eps_local"])


@checked
def prefix_error(
    protocol: Annotated[str, one_of((*HISTOGRAM_PROTOCOLS, RESPONSE))],
    users: FromTwo,
    domain_size: FromTwo,
    eps: Eps,
    delta: Delta,
    *,
    tree: bool = False,
) -> float:
    """Return the mean squared error of all prefixes of uniform values, in squared users.

    Parameters
    ----------
    protocol : str
        One of `HISTOGRAM_PROTOCOLS`, or ``grr_blanket``.
    users : int
        >= 2.
    domain_size : int
        Number of ordered values k, >= 2.
    eps : float
        Central budget in nats, > 0, for replacement neighbors.
    delta : float
        In (0, 1).
    tree : bool
        True for the best tree of at least two levels, whose number of values is rounded up to a power of two; then
        protocol is one of `TREE_PROTOCOLS`, and k >= 3.

    Raises
    ------
    ValueError
        If an argument is out of range, or the protocol has no tree.
    Infeasible
        If no parameters meet the budget.

    Notes
    -----
    :mod:`shuffledp.accounting.expected_errors.range_trees`.
    """
    if tree:
        best = best_tree(protocol, users, domain_size, eps, delta)
        if best is None:
            raise ValueError(f"tree needs a domain_size of at least 3, got {domain_size}.")
        return best.tree.cdf_mse
    if protocol == RESPONSE:
        return response_errors(users, domain_size, eps, delta)[1].cdf_mse
    return CountTree.calibrate(protocol, users, (domain_size,), eps, delta).tree.cdf_mse


@checked
def best_levels(
    protocol: Annotated[str, one_of(TREE_PROTOCOLS)],
    users: FromTwo,
    domain_size: FromTwo,
    eps: Eps,
    delta: Delta,
) -> float:
    """Return the number of levels of the histogram or tree with the least error of prefixes, see `prefix_error`."""
    return float(len(calibrate_tree(protocol, "best", users, domain_size, eps, delta).fan_outs))
