"""Ranges from trees of counts: closed forms, least squares, bands, reference numbers, and the command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose
from scipy.stats import binom

from shuffledp.accounting.expected_errors.range_responses import UniformResponse
from shuffledp.accounting.expected_errors.range_trees import Tree, power_trees
from shuffledp.accounting.general.composition import ComposedProfile
from shuffledp.cli import main
from shuffledp.comparison.count_trees import HISTOGRAM_PROTOCOLS, CountTree
from shuffledp.comparison.range_coverage import simulated_coverage
from shuffledp.comparison.ranges import range_rows
from shuffledp.comparison.simulating_ranges import SHARES
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.protocols.frequency.balls_into_bins import BallsIntoBins
from shuffledp.tasks import Budget, Frequency, Participants

N, EPS, DELTA = 10**5, 1.0, 1e-8
TREES = [
    Tree((2, 2, 2, 2), (3.0, 1.0, 5.0, 2.0)),
    Tree((3, 3, 3), (2.0, 2.0, 2.0)),
    Tree((12,), (7.0,)),
    Tree((4, 2), (1.0, 9.0)),
]


def tree_of(name, fan_outs):
    """Return the tree of a protocol in the setting of the specification."""
    return CountTree.calibrate(name, N, fan_outs, EPS, DELTA).tree


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


@pytest.mark.parametrize(
    ("name", "fan_outs", "cdf", "ranges", "messages"),
    [
        ("central_laplace", (256,), 334.31, 335.61, 1),
        ("central_laplace", (16, 16), 159.48, 234.42, 2),
        ("central_laplace", (32, 8), 188.06, 224.62, 2),
        ("central_laplace", (1024,), 1_337.2, 1_338.5, 1),
        ("central_laplace", (32, 32), 329.1, 488.6, 2),
        ("central_laplace", (16, 8, 8), 326.4, 479.6, 3),
        ("correlated_noise", (256,), 414.35, 415.97, 3.32),
        ("correlated_noise", (16, 16), 197.08, 289.69, 4.55),
        ("correlated_noise", (32, 8), 232.39, 277.59, None),
        ("correlated_noise", (1024,), 1_657.4, 1_659.1, 10.29),
        ("correlated_noise", (32, 32), 406.7, 603.8, 11.88),
        ("balls_into_bins", (256,), 2_648.6, 2_658.9, 1.16),
        ("balls_into_bins", (16, 16), 547.9, 805.3, 2.30),
        ("balls_into_bins", (2,) * 8, 377.0, 648.2, 10.1),
        ("balls_into_bins", (4, 2, 4, 2, 2, 2), 359.3, 576.5, 7.55),
        ("balls_into_bins", (2,) * 10, 557, 984, 20.7),
        ("balls_into_bins", (4, *(2,) * 8), 541.3, None, None),
        ("balls_into_bins", (32, 32), 1_130, 1_678, 3.16),
        ("balls_into_bins", (1024,), 10_594, 10_605, 1.64),
    ],
)
def test_reference_errors(name, fan_outs, cdf, ranges, messages):
    """Specification; its bound of several levels of dummies has rounding, up to 0.2 % of the variance."""
    found = CountTree.calibrate(name, N, fan_outs, EPS, DELTA)
    relative = 2e-3 if name == "balls_into_bins" else 2e-4
    assert found.tree.cdf_mse == pytest.approx(cdf, rel=relative)
    assert ranges is None or found.tree.range_mse == pytest.approx(ranges, rel=relative)
    uneven = name == "correlated_noise" and len(fan_outs) > 1  # the shape is the best of one level
    assert messages is None or found.messages_per_user == pytest.approx(
        messages, rel=3e-2 if uneven else 4e-3
    )


@pytest.mark.parametrize(
    ("name", "rates"),
    [
        ("central_laplace", {1: 7.835, 2: 31.83, 3: 71.83, 4: 127.8, 5: 199.8, 8: 511.4, 10: 789.7}),
        ("correlated_noise", {1: 9.711, 2: 39.34, 4: 157.9}),
        (
            "balls_into_bins",
            {1: 62.12, 2: 109.5, 3: 160.0, 4: 211.4, 5: 263.3, 6: 315.3, 8: 419.8, 10: 524.6},
        ),
    ],
)
def test_all_levels_have_one_accounting(name, rates):
    """Specification: variances of a count for 1 to 10 levels; for dummies their mean, at most 0.1 % above the exact."""
    for levels, expected in rates.items():
        variance = tree_of(name, (2,) * levels).variances[0]
        mean = variance / (1 - variance / N) if name == "balls_into_bins" else variance
        assert expected * 0.999 <= mean <= expected * 1.0003


def test_uneven_noise_gains_an_eighth():
    """Specification: the best means of dummies per level of a binary tree, with the joint delta of even noise."""
    means = np.array([1_109, 459, 459, 460, 463, 473, 512, 187])
    tree = Tree((2,) * 8, tuple(means * (1 - means / N)))
    assert (tree.cdf_mse, tree.range_mse) == pytest.approx((332.3, 527.9), rel=2e-3)
    profiles = [BallsIntoBins(3, N, float(mean / N)).privacy_profile() for mean in means]
    assert ComposedProfile(profiles, [1] * 8, DELTA).epsilon(DELTA) == pytest.approx(EPS, rel=2e-3)


def test_wavelets_of_visible_counters_lose_information():
    """Specification, k = 256 and dummies: the Haar coefficients of a binary tree drop the sums."""
    tree = tree_of("balls_into_bins", (2,) * 8)
    s = np.array(tree.sizes, float)
    haar = np.sum(-np.diff((s**2 - 1) / (6 * s)) * tree.variances / s[1:])
    assert haar == pytest.approx(604, rel=2e-3) and tree.cdf_mse < 0.63 * haar


@pytest.mark.parametrize(("k", "share", "cdf"), [(256, 0.11978, 4_844.7), (1024, 0.29201, 16_584)])
def test_reference_errors_of_randomized_response(k, share, cdf):
    protocol = get("frequency", "grr_blanket").calibrate(Budget(EPS, DELTA), Fixed(N - 1), Frequency(k))
    ratio = np.exp(protocol.parameters()["eps_local"])
    assert k / (ratio + k - 1) == pytest.approx(share, rel=1e-4)
    assert UniformResponse(N, k, np.log(ratio)).cdf_mse == pytest.approx(cdf, rel=1e-4)


@pytest.mark.parametrize("name", [*HISTOGRAM_PROTOCOLS, "grr_blanket"])
def test_simulated_errors_are_the_closed_forms(name):
    """All prefixes of uniform values, 2,000 runs: errors of independent counts, or of reports."""
    users, k, eps, runs = 4_000, 8, 1.0, 2_000
    row = next(row for row in range_rows(users, k, eps, 1e-6, [name]) if row.parameters["fan_outs"] == [k])
    protocol = get("frequency", name).calibrate(Budget(eps, 1e-6), Fixed(users - 1), Frequency(k))
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


def test_deviations_and_bands_of_the_specification():
    flat = tree_of("correlated_noise", (256,))
    tree = tree_of("correlated_noise", (16, 16))
    assert (flat.largest_deviation, flat.band) == pytest.approx((24.93, 67.7), abs=0.05)
    assert (tree.largest_deviation, tree.band) == pytest.approx((17.194, 64.0), abs=0.05)


@pytest.mark.parametrize(("fan_outs", "quantile"), [((256,), 65.9), ((64,), 31.8), ((16, 16), 54.5)], ids=str)
def test_bands_cover_in_simulations(fan_outs, quantile):
    """The specification simulated the 95 % quantiles of the largest error; 4,000 runs here."""
    tree, rng = tree_of("correlated_noise", fan_outs), np.random.default_rng(5)
    noise = [
        rng.laplace(0, np.sqrt(v / 2), (4_000, tree.sizes[0] // size))
        for size, v in zip(tree.sizes[1:], tree.variances, strict=True)
    ]
    worst = np.abs(np.cumsum(tree.estimate(0, noise), axis=1)).max(axis=1)
    assert np.quantile(worst, 0.95) == pytest.approx(quantile, rel=0.03)
    assert np.mean(worst <= tree.band) > 0.95


FALSE_ALARM = 1e-6


def held_by(users, k):
    """Return users per value of a bell over k values."""
    bell = np.exp(-0.5 * ((np.arange(k) - k / 2) / (0.117 * k)) ** 2)
    return np.random.default_rng(8).multinomial(users, bell / bell.sum())


@pytest.mark.parametrize(
    ("name", "users", "fan_outs", "eps", "delta"),
    [
        ("correlated_noise", N, (256,), EPS, DELTA),
        ("correlated_noise", N, (16, 16), EPS, DELTA),
        ("balls_into_bins", N, (4, 2, 4, 2, 2, 2), EPS, DELTA),
        ("balls_into_bins", 2_000, (8, 8), EPS, 1e-6),
        ("central_laplace", 2_000, (2, 2), EPS, 1e-6),
        ("central_laplace", 2_000, (2, 3), EPS, 1e-6),
    ],
)
def test_bands_and_quantiles_cover(name, users, fan_outs, eps, delta):
    """A bell; the specification simulated a coverage of five quantiles of 0.999, and widths of 0 or 1 values."""
    tree = CountTree.calibrate(name, users, fan_outs, eps, delta)
    runs, k = 2_000 if tree.tree.sizes[0] < 8 else 500, tree.tree.sizes[0]
    found = simulated_coverage(tree, held_by(users, k), SHARES, runs=runs, seed=3)
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


def best_over_flat(name, domain_size, measure):
    """Return whether the best tree of equal noise beats the histogram."""
    flat = tree_of(name, (domain_size,))
    noise = {h: tree_of(name, (2,) * h).variances for h in range(2, 9)}
    trees = [Tree(f, noise[len(f)]) for f in power_trees(domain_size) if len(f) in noise]
    return min(measure(tree) for tree in trees) < measure(flat)


@pytest.mark.parametrize(
    ("name", "prefixes", "ranges"), [("central_laplace", 64, 128), ("balls_into_bins", 8, 8)]
)
def test_trees_win_from_the_crossover(name, prefixes, ranges):
    for measure, first in ((lambda t: t.cdf_mse, prefixes), (lambda t: t.range_mse, ranges)):
        assert best_over_flat(name, first, measure)
        assert not best_over_flat(name, first // 2, measure)


SETTING = ["compare", "--task", "ranges", "--users", "100000", "--eps", "1", "--delta", "1e-8"]


def test_command_prints_best_trees():
    chosen = ["--domain-size", "256", "--protocols", "central_laplace,correlated_noise,balls_into_bins"]
    done = CliRunner().invoke(main, [*SETTING, *chosen, "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["rows"]
    found = {(row["protocol"], len(row["parameters"]["fan_outs"]) > 1): row for row in rows}
    assert len(found) == len(rows) == 6
    tree = found["central_laplace", True]
    assert tree["parameters"]["fan_outs"] == [16, 16] and tree["guarantee"] == "exact"
    assert found["central_laplace", False]["guarantee"] == "exact"
    assert found["correlated_noise", True]["band"] == pytest.approx(64.0e-5, rel=2e-3)
    assert found["balls_into_bins", True]["parameters"]["fan_outs"] == [4, 2, 4, 2, 2, 2]
    assert [row["cdf_mse"] for row in rows] == sorted(row["cdf_mse"] for row in rows)
    text = CliRunner().invoke(main, [*SETTING, *chosen]).stdout
    assert "16 x 16" in text and f"{tree['cdf_mse']:.4g}" in text and "users²" in text
    line = next(line.split() for line in text.splitlines() if line.startswith("central_laplace   16 x 16"))
    assert tree["band"] <= float(line[6]) <= tree["band"] * 1.01 and line[-1] == "central"  # rounded up


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "--task ranges needs --users and --domain-size"),
        (["--domain-size", "8", "--max-value", "3"], "--max-value must be left out for --task ranges"),
        (["--domain-size", "1"], "domain_size must be an integer in [2"),
        (["--domain-size", "8", "--protocols", "solh"], "protocols must be one of"),
    ],
)
def test_other_options_are_refused(more, message):
    done = CliRunner().invoke(main, [*SETTING, *more])
    assert done.exit_code == 1
    assert message in done.output
