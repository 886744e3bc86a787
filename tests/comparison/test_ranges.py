"""Ranges from trees of counts: closed forms, least squares, bands, reference numbers, and the command."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from command_line import invoked, printed, typed
from printed_tables import best
from shuffledp.accounting.expected_errors.range_trees import Tree
from shuffledp.comparison.count_trees import HISTOGRAM_PROTOCOLS, CountTree
from shuffledp.comparison.range_coverage import simulated_coverage
from shuffledp.comparison.ranges import range_rows
from shuffledp.comparison.simulating_ranges import SHARES
from shuffledp.tasks import Budget, Frequency, Participants

N, EPS, DELTA = 10**5, 1.0, 1e-8
TREES = [
    Tree((2, 2, 2, 2), (3.0, 1.0, 5.0, 2.0)),
    Tree((3, 3, 3), (2.0, 2.0, 2.0)),
    Tree((12,), (7.0,)),
    Tree((4, 2), (1.0, 9.0)),
]


def dense(tree):
    """Return the matrix of all nodes, its weights, and the covariance of the counts, whose total is known."""
    k = tree.sizes[0]
    rows = [np.kron(np.eye(k // size), np.ones(size)) for size in tree.sizes[1:]]
    weights = np.repeat(1 / np.array(tree.variances), [len(row) for row in rows])
    matrix, free = np.concatenate(rows), np.linalg.svd(np.ones((1, k)))[2][1:].T  # of sum 0
    return matrix, weights, free @ np.linalg.inv((matrix @ free).T * weights @ (matrix @ free)) @ free.T


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: str(tree.fan_outs))
def test_errors_are_dense_least_squares(tree):
    _, _, covariance = dense(tree)
    k = tree.sizes[0]
    prefixes = np.tri(k, k, -1)
    variances = np.einsum("ij,jk,ik->i", prefixes, covariance, prefixes)
    assert_allclose(tree.prefix_variances, variances, atol=1e-6)
    assert tree.cdf_mse == pytest.approx(variances.mean(), rel=1e-6)
    assert tree.largest_deviation == pytest.approx(np.sqrt(variances.max()), rel=1e-6)
    ranges = [(np.arange(k) >= a) & (np.arange(k) <= b) for a in range(k) for b in range(a, k)]
    assert tree.range_mse == pytest.approx(np.mean([g @ covariance @ g for g in ranges]), rel=1e-6)


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: str(tree.fan_outs))
def test_estimate_is_dense_least_squares(tree):
    matrix, weights, covariance = dense(tree)
    rng, k = np.random.default_rng(2), tree.sizes[0]
    true = rng.integers(0, 50, k)
    seen, even = matrix @ true + rng.normal(0, 3, len(matrix)), np.full(k, true.sum() / k)
    counts = np.split(seen, np.cumsum([k // size for size in tree.sizes[1:]])[:-1])
    expected = even + covariance @ (matrix.T * weights) @ (seen - matrix @ even)
    assert_allclose(tree.estimate(int(true.sum()), counts), expected, atol=1e-9)


@pytest.mark.parametrize("name", [*HISTOGRAM_PROTOCOLS, "grr_blanket"])
def test_simulated_errors_are_the_closed_forms(name):
    """All prefixes of uniform values, 2,000 runs: errors of independent counts, or of reports."""
    users, k, eps, runs = 4_000, 8, 1.0, 2_000
    row = next(row for row in range_rows(users, k, eps, 1e-6, [name]) if row.parameters["fan_outs"] == [k])
    protocol = best(Frequency(k), name, users - 1, Budget(eps, 1e-6))
    who = Participants.from_counts(np.full((runs, k), users // k))
    shares = protocol.simulate(who, np.random.default_rng(4))
    shares += (1 - shares.sum(axis=1, keepdims=True)) / k
    errors = users * np.cumsum(shares - 1 / k, axis=1)
    squared = (np.square(errors).sum(axis=1)) / k
    assert squared.mean() == pytest.approx(row.cdf_mse, abs=4 * squared.std() / runs**0.5)
    ends = np.hstack((np.zeros((runs, 1)), errors))
    first, last = np.triu_indices(k + 1, 1)
    squared = np.square(ends[:, last] - ends[:, first]).mean(axis=1)
    assert squared.mean() == pytest.approx(row.range_mse, abs=4 * squared.std() / runs**0.5)


FALSE_ALARM = 1e-6


def held_by(users, k):
    """Return users per value of a bell over k values."""
    bell = np.exp(-0.5 * ((np.arange(k) - k / 2) / (0.117 * k)) ** 2)
    return np.random.default_rng(8).multinomial(users, bell / bell.sum())


@pytest.mark.parametrize(
    "name, users, fan_outs, eps, delta",
    [
        ("correlated_noise", N, (256,), EPS, DELTA),
        ("correlated_noise", N, (16, 16), EPS, DELTA),
        ("balls_into_bins", N, (4, 2, 4, 2, 2, 2), EPS, DELTA),
        ("balls_into_bins", 2_000, (8, 8), EPS, 1e-6),
    ],
)
def test_bands_and_quantiles_cover(name, users, fan_outs, eps, delta):
    """A bell; the specification simulated a coverage of five quantiles of 0.999, and widths of 0 or 1 values."""
    tree = CountTree.calibrate(name, users, fan_outs, eps, delta)
    runs = 500
    found = simulated_coverage(tree, held_by(users, tree.tree.sizes[0]), SHARES, runs=runs, seed=3)
    fewest = binom.ppf(FALSE_ALARM, runs, 0.95)
    assert min(found.band, found.quantiles) * runs >= fewest
    if users == N:
        assert found.quantiles >= 0.99 and found.width <= 1


@pytest.mark.parametrize("fan_outs", [(2, 2), (2, 3), (2, 4), (3, 3), (2, 2, 2), (2,), (3,), (16,)], ids=str)
def test_narrow_bands_cover_laplace_noise(fan_outs):
    """40,000 runs of Laplace noise; a normal quantile covers 94.4 % for 2 x 2."""
    tree, runs = Tree(fan_outs, (2.0,) * len(fan_outs)), 40_000
    nodes = [tree.sizes[0] // size for size in tree.sizes[1:]]
    rng = np.random.default_rng(6)
    estimates = tree.estimate(0, [rng.laplace(size=(runs, number)) for number in nodes])
    inside = np.abs(np.cumsum(estimates, axis=1)).max(axis=1) <= tree.band
    assert inside.sum() >= binom.ppf(FALSE_ALARM, runs, 0.95)


def test_quantile_is_smallest_sufficient_value():
    tree = Tree((4,), (1e-12,))
    estimate, first, last = tree.quantiles(np.array([2.0, 0.0, 5.0, 3.0]), (0.1, 0.21, 0.69, 0.71, 0.999))
    assert estimate.tolist() == first.tolist() == last.tolist() == [0, 2, 2, 3, 3]


SETTING = typed("compare --task ranges --users 100000 --eps 1 --delta 1e-8")


def test_command_prints_best_trees():
    chosen = typed("--domain-size 256 --protocols central_laplace,correlated_noise,balls_into_bins")
    rows = json.loads(printed(*SETTING, *chosen, "--json"))["rows"]
    found = {(row["protocol"], len(row["parameters"]["fan_outs"]) > 1): row for row in rows}
    assert len(found) == len(rows) == 6
    tree = found["central_laplace", True]
    assert tree["parameters"]["fan_outs"] == [16, 16] and tree["guarantee"] == "exact"
    assert found["central_laplace", False]["guarantee"] == "exact"
    for of_tree, band in ((True, 64.0e-5), (False, 67.7e-5)):
        assert found["correlated_noise", of_tree]["band"] == pytest.approx(band, rel=2e-3)
    assert found["balls_into_bins", True]["parameters"]["fan_outs"] == [4, 2, 4, 2, 2, 2]
    assert [row["cdf_mse"] for row in rows] == sorted(row["cdf_mse"] for row in rows)
    text = printed(*SETTING, *chosen)
    assert "16 x 16" in text and f"{tree['cdf_mse']:.4g}" in text and "users²" in text
    line = next(line.split() for line in text.splitlines() if line.startswith("central_laplace   16 x 16"))
    assert tree["band"] <= float(line[6]) <= tree["band"] * 1.01 and line[-1] == "central"  # rounded up


@pytest.mark.parametrize(
    "more, message",
    [
        ([], "--task ranges needs --users and --domain-size"),
        (typed("--domain-size 8 --max-value 3"), "--max-value must be left out for --task ranges"),
        (["--domain-size", "1"], "domain_size must be an integer in [2"),
        (typed("--domain-size 8 --protocols solh"), "protocols must be one of"),
    ],
)
def test_other_options_are_refused(more, message):
    done = invoked(*SETTING, *more)
    assert done.exit_code == 1
    assert message in done.output
