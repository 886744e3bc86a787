"""The tree with the least error of prefixes, against all trees of powers of two."""

import pytest

from shuffledp.accounting.expected_errors.range_trees import Tree, power_trees
from shuffledp.comparison.best_trees import calibrate_tree
from shuffledp.comparison.count_trees import CountTree


@pytest.mark.parametrize("name", ["central_laplace", "balls_into_bins"])
@pytest.mark.parametrize("k", [2, 8, 64, 100])
def test_no_tree_has_less_error(name, k):
    """The histogram is the best one of few values, and trees of several levels are for many."""

    def calibrated(fan_outs):
        return CountTree.calibrate(name, 10**5, fan_outs, 1.0, 1e-8).tree

    trees = [
        calibrated((k,)),
        *(Tree(sizes, calibrated((2,) * len(sizes)).variances) for sizes in power_trees(k)),
    ]
    best = calibrate_tree(name, "best", 10**5, k, 1.0, 1e-8)
    assert best.tree.cdf_mse == pytest.approx(min(tree.cdf_mse for tree in trees), rel=1e-12)
