"""Reference numbers of ranges and moments beside the table of errors: crossovers, deviations, messages and levels."""

import math

import numpy as np
import pytest

from shuffledp.accounting.expected_errors.range_trees import Tree, power_trees
from shuffledp.accounting.expected_errors.sums import discrete_laplace_variance
from shuffledp.comparison.best_trees import best_tree, calibrate_tree
from shuffledp.comparison.count_trees import CountTree
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.tasks import Budget, Sets

N, EPS, DELTA = 10**5, 1.0, 1e-8


def tree_of(name, fan_outs, eps=EPS):
    return CountTree.calibrate(name, N, fan_outs, eps, DELTA).tree


def ratios(name, domain_size, eps):
    """Return the least error of a tree of equal noise, as a part of the histogram's, for prefixes and for ranges."""
    flat = tree_of(name, (domain_size,), eps)
    most = (domain_size - 1).bit_length()
    noise = {h: tree_of(name, (2,) * h, eps).variances for h in range(2, most + 1)}
    trees = [Tree(fan_outs, noise[len(fan_outs)]) for fan_outs in power_trees(domain_size)]
    return [
        min(measure(t) for t in trees) / measure(flat)
        for measure in (lambda t: t.cdf_mse, lambda t: t.range_mse)
    ]


@pytest.mark.parametrize(
    "name, eps, crossovers",
    [
        ("central_laplace", 0.2, (64, 128)),
        ("central_laplace", 2.0, (64, 128)),
        ("balls_into_bins", 0.2, (8, 16)),
        ("balls_into_bins", 2.0, (4, 4)),
    ],
)
def test_crossovers_at_other_budgets(name, eps, crossovers):
    """Specification: the smallest power of two at which a tree beats the histogram; 4 is the smallest with a tree."""
    for measure, first in enumerate(crossovers):
        assert ratios(name, first, eps)[measure] < 1
        assert first == 4 or ratios(name, first // 2, eps)[measure] >= 1


@pytest.mark.parametrize("eps", [0.2, 2.0])
def test_trees_of_32_values(eps):
    """Specification: 1.18 to 1.25 times its error of prefixes for Laplace noise, 0.33 to 0.54 times for dummies."""
    assert 1.175 <= ratios("central_laplace", 32, eps)[0] <= 1.255
    assert 0.324 <= ratios("balls_into_bins", 32, eps)[0] <= 0.545


@pytest.mark.parametrize("k, levels", [(32, 1), (64, 2), (512, 2), (1_024, 3)])
def test_levels_of_best_laplace_tree(k, levels):
    assert len(calibrate_tree("central_laplace", "best", N, k, EPS, DELTA).fan_outs) == levels


@pytest.mark.parametrize("k", [64, 256, 1_024])
def test_levels_of_best_dummy_tree(k):
    """Specification: about log2(k) - 2 levels, with small fan-outs at the leaves."""
    best = best_tree("balls_into_bins", N, k, EPS, DELTA).fan_outs
    assert abs(len(best) - (math.log2(k) - 2)) <= 1
    assert best[-1] == 2 <= best[0]


def test_best_laplace_split_gains_little():
    errors = {
        share: Tree((16, 16), tuple(map(discrete_laplace_variance, (share / 2, (1 - share) / 2)))).cdf_mse
        for share in np.arange(0.4, 0.6, 0.001).round(3).tolist()
    }
    best = min(errors, key=errors.get)
    assert best == pytest.approx(0.477, abs=0.0015)
    assert (errors[best], errors[0.5]) == pytest.approx((158.6, 159.5), abs=0.06)


@pytest.mark.parametrize("levels, eps", [(4, 0.25), (8, 0.125), (10, 0.1)])
def test_many_laplace_levels_share_delta(levels, eps):
    """Specification: e_1 of a count is above eps/(2 h) from 8 levels on; delta is a binomial sum over 2 h counts."""
    found = (
        CountTree.calibrate("central_laplace", N, (2,) * levels, EPS, DELTA).protocol.parameters()["eps"] / 2
    )
    assert found == pytest.approx({4: 0.125, 8: 0.062525, 10: 0.050320}[levels], abs=3e-6)
    assert found >= eps / 2 - 2e-6
    counts, moved = 2 * levels, np.arange(2 * levels + 1)
    mass = [math.comb(counts, j) * math.exp(j * found) / (1 + math.exp(found)) ** counts for j in moved]
    assert np.maximum(mass * -np.expm1(EPS - (2 * moved - counts) * found), 0).sum() <= DELTA


@pytest.mark.parametrize("levels, pairs", [(1, 452), (2, 464), (4, 435)])
def test_correlated_pairs_hardly_grow_with_levels(levels, pairs):
    """Specification, per count; every level has the shape that is best for one level, so that few more are sent."""
    tree = CountTree.calibrate("correlated_noise", N, (2,) * levels if levels > 1 else (256,), EPS, DELTA)
    given = tree.protocol.parameters()
    sent = given["shape"] / math.expm1(given["decay"])  # negative binomial
    assert pairs * 0.995 <= sent <= pairs * 1.1


@pytest.mark.parametrize(
    "users, eps, delta, items, fan_outs",
    [(N, 1.0, 1e-8, 272, (16, 16)), (30_000, 0.5, 1e-6, 584, (8, 8, 8))],
)
def test_levels_are_items_of_a_set(users, eps, delta, items, fan_outs):
    """Specification: the dummies of a tree have the noise of those of sets with one item per level."""
    budget, task = Budget((eps,), delta), Sets(items, len(fan_outs))
    protocol = get("sets", "balls_into_bins").calibrate(budget, Fixed(users - 1), task)
    tree = CountTree.calibrate("balls_into_bins", users, fan_outs, eps, delta)
    assert tree.tree.variances[0] == pytest.approx(protocol.parameters()["blankets_per_item"], rel=5e-4)
    if items == 272:
        assert (tree.tree.variances[0], tree.messages_per_user) == pytest.approx((109.0, 2.297), rel=4e-3)


def range_deviation(tree):
    """Return the largest standard deviation of a range, from the variances of all of them."""
    k, worst = tree.sizes[0], 0.0
    for first in range(k):
        ranges = np.tri(k - first, k, first) - np.tri(1, k, first - 1)
        means = [ranges.reshape(len(ranges), -1, size).sum(axis=2) for size in tree.sizes]
        squares = [(mean**2).sum(axis=1) / size for mean, size in zip(means, tree.sizes, strict=True)]
        worst = max(worst, float((np.diff(squares, axis=0).T @ (1 / tree.information)).max()))
    return math.sqrt(worst)


@pytest.mark.parametrize("fan_outs, deviation", [((256,), 24.93), ((16, 16), 21.08)], ids=str)
def test_largest_deviations_of_a_range(fan_outs, deviation):
    assert range_deviation(tree_of("correlated_noise", fan_outs)) == pytest.approx(deviation, abs=0.01)


@pytest.mark.parametrize("k, band, covers", [(64, 33.9, 0.970), (256, 67.7, 0.960)])
def test_bridges_cover_what_the_specification_simulated(k, band, covers):
    """20,000 runs of Laplace noise: standard errors are below 0.0014."""
    tree, runs = tree_of("correlated_noise", (k,)), 20_000
    assert tree.band == pytest.approx(band, abs=0.05)
    noise = np.random.default_rng(9).laplace(0, math.sqrt(tree.variances[0] / 2), (runs, k))
    worst = np.abs(np.cumsum(tree.estimate(0, [noise]), axis=1)).max(axis=1)
    assert np.mean(worst <= tree.band) == pytest.approx(covers, abs=0.007)


def test_sampling_outweighs_the_noise():
    """Specification: correlated noise adds 2.5 % to the sampling variance of a prefix for 256 values, a tree 1.2 %."""
    share = np.arange(4_096) / 4_096
    sampling = N * np.mean(share * (1 - share))
    assert sampling == pytest.approx(16_667, rel=1e-4)
    added = [tree_of("correlated_noise", fan_outs).cdf_mse / sampling for fan_outs in ((256,), (16, 16))]
    assert added == pytest.approx([0.025, 0.012], abs=5e-4)


def test_means_beside_other_releases():
    """n = 1e5, eps = 1, numbers in [0, 1]: half of the budget, and a histogram of 64 bins with correlated noise."""
    most = 2_000
    assert discrete_laplace_variance(0.5 / most) / (N * most) ** 2 == pytest.approx(8.0e-10, rel=1e-6)
    tree = tree_of("correlated_noise", (64,))
    centered = (np.arange(64) - 31.5) / 64  # the known total makes a constant shift free
    means = tree.variances[0] * np.sum(centered**2) / N**2
    assert means == pytest.approx(5.2e-9, rel=1e-2)
