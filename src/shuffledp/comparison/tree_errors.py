"""Errors of prefixes from trees of equal fan-outs, by the estimates of the literature.

All estimates read the same counts of nodes. *Node sums* add the fewest nodes that cover a prefix, from the left.
*Least squares* is :meth:`shuffledp.accounting.expected_errors.range_trees.Tree.estimate`. *Wavelets* are the
coefficients of the Haar basis, the differences of the two children of a node of a binary tree, without their sums. With
*split users*, each user is in one of h equal groups at random and sends one node with the whole budget, and h times the
counts of the groups are added as node sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Annotated, Literal, get_args

import numpy as np

from shuffledp.accounting.expected_errors.range_trees import Tree
from shuffledp.comparison.count_trees import TREE_PROTOCOLS, CountTree
from shuffledp.numerics.argument_ranges import Delta, Eps, FromOne, FromTwo, check_count, checked, one_of

Estimate = Literal["least_squares", "node_sums", "wavelet", "split_users"]


def even_fan_outs(domain_size: int, levels: int | None) -> tuple[int, ...]:
    """Return fan-outs that are powers of two and differ by at most a factor of two, the larger ones first.

    Without a number of levels, the tree is binary.

    Raises ValueError if the domain is no power of two, or has fewer bits than levels.
    """
    bits = domain_size.bit_length() - 1
    if domain_size != 2**bits:
        raise ValueError(f"domain_size must be a power of two, got {domain_size}.")
    number = bits if levels is None else check_count("levels", levels, 1, bits)
    each, more = divmod(bits, number)
    return tuple(2 ** (each + (level < more)) for level in range(number))


def node_sums_mse(fan_outs: Sequence[int], variances: Sequence[float]) -> float:
    """Return the mean squared error of the prefixes of values below 0..k-1 as sums of nodes, in squared users."""
    return sum(v * (fan_out - 1) / 2 for fan_out, v in zip(fan_outs, variances, strict=True))


def wavelet_mse(tree: Tree) -> float:
    """Return the mean squared error of the prefixes from the Haar coefficients of a binary tree, in squared users."""
    s = np.array(tree.sizes, float)
    return float(np.sum(-np.diff((s**2 - 1) / (6 * s)) * np.array(tree.variances) / s[1:]))


def group_sampling_mse(fan_outs: Sequence[int], users: int) -> float:
    """Return what the sampling of split users adds to the error of the prefixes of uniform values, in squared users.

    The nodes of level l hold the share ``u_l`` of the users. Counts of two groups are correlated: a user in one group
    is missing from the other.
    """
    sizes = Tree(tuple(fan_outs), (1.0,) * len(fan_outs)).sizes
    j = np.arange(sizes[0])
    shares = [(j % large - j % small) / sizes[0] for large, small in pairwise(sizes)]
    variances = sum((len(shares) - 1) * np.mean(u * (1 - u)) for u in shares)
    covariances = sum(2 * np.mean(first * second) for first, second in combinations(shares, 2))
    return float(users * (variances + covariances))


@checked
def tree_error(
    protocol: Annotated[str, one_of(TREE_PROTOCOLS)],
    users: FromTwo,
    domain_size: FromTwo,
    eps: Eps,
    delta: Delta,
    *,
    levels: FromOne | None = None,
    estimate: Annotated[Estimate, one_of(get_args(Estimate))] = "least_squares",
) -> float:
    """Return the mean squared error of all prefixes of uniform values from a tree of equal fan-outs, in squared users.

    Parameters
    ----------
    protocol : str
        One of `TREE_PROTOCOLS`.
    users : int
        >= 2.
    domain_size : int
        Number of ordered values k, a power of two.
    eps : float
        Central budget of all levels together in nats, > 0, for replacement neighbors.
    delta : float
        In (0, 1).
    levels : int, optional
        Number of levels, in [1, log2(k)]; the fan-outs are powers of two that differ by at most a factor of two. By
        default log2(k).
    estimate : str
        ``least_squares``, ``node_sums``, ``wavelet`` for a binary tree, or ``split_users``, see the module.

    Raises
    ------
    ValueError
        If an argument is out of range, or the tree of ``wavelet`` is not binary.
    Infeasible
        If no parameters meet the budget.

    Notes
    -----
    :mod:`shuffledp.comparison.tree_errors`; derived for this project.
    """
    fan_outs = even_fan_outs(domain_size, levels)
    if estimate == "split_users":
        number = len(fan_outs)
        group = CountTree.calibrate(protocol, users // number, (domain_size,), eps, delta)
        noise = number**2 * group.tree.variances[0]
        return node_sums_mse(fan_outs, (noise,) * number) + group_sampling_mse(fan_outs, users)
    tree = CountTree.calibrate(protocol, users, fan_outs, eps, delta).tree
    if estimate == "node_sums":
        return node_sums_mse(fan_outs, tree.variances)
    if estimate == "least_squares":
        return tree.cdf_mse
    if max(fan_outs) > 2:
        raise ValueError(f"levels must be left out for wavelets, got {levels}.")
    return wavelet_mse(tree)
