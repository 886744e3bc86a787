"""Trees of counts with the least error of prefixes, among fan-outs that are powers of two."""

from __future__ import annotations

import math
from itertools import groupby

from shuffledp.accounting.expected_errors.range_trees import Tree, power_trees
from shuffledp.comparison.count_trees import TREE_PROTOCOLS, CountTree
from shuffledp.numerics.argument_ranges import check_count


def best_tree(name: str, users: int, domain_size: int, eps: float, delta: float) -> CountTree | None:
    """Return the tree of two or more levels with the least error of prefixes; None for two values.

    Fan-outs are powers of two. Levels are added as long as the error falls.
    """
    trees = sorted(power_trees(domain_size), key=len)
    best, least = None, math.inf
    for levels, same in groupby(trees, key=len):
        noise = CountTree.calibrate(name, users, (2,) * levels, eps, delta).tree.variances
        tree = min((Tree(fan_outs, noise) for fan_outs in same), key=lambda candidate: candidate.cdf_mse)
        if tree.cdf_mse >= least:
            break
        best, least = tree.fan_outs, tree.cdf_mse
    return None if best is None else CountTree.calibrate(name, users, best, eps, delta)


def calibrate_tree(
    name: str, fan_outs: str, users: int, domain_size: int, eps: float, delta: float
) -> CountTree:
    """Return the tree with fan-outs such as ``16,16``, or with ``best`` the one with the least error of prefixes.

    Raises ValueError for another text, or for fan-outs that are too small for the domain.
    """
    check_count("domain_size", domain_size, 2)
    if fan_outs == "best":
        flat = CountTree.calibrate(name, users, (domain_size,), eps, delta)
        tree = best_tree(name, users, domain_size, eps, delta) if name in TREE_PROTOCOLS else None
        return min([flat] if tree is None else [flat, tree], key=lambda candidate: candidate.tree.cdf_mse)
    try:
        sizes = [int(part) for part in fan_outs.split(",")]
    except ValueError:
        raise ValueError(f"fan_outs must be integers, such as 16,16, or best, got {fan_outs!r}.") from None
    if math.prod(sizes) < domain_size:
        raise ValueError(f"fan_outs must have a product of at least {domain_size}, got {fan_outs}.")
    return CountTree.calibrate(name, users, sizes, eps, delta)
