"""Trees of counts: one accounting, the tree of the least error, and programs that give the library's estimates."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import isotonic_regression
from scipy.stats import binom

from command_line import invoked, typed
from exported_programs import answer_of, parameters_of
from shuffledp.accounting.expected_errors.range_trees import Tree, power_trees
from shuffledp.comparison.best_trees import calibrate_tree
from shuffledp.comparison.count_trees import CountTree
from shuffledp.protocols.client import randomizers
from shuffledp.protocols.client.export import refused_inputs
from shuffledp.protocols.client.trees import Nodes, monotone
from shuffledp.tasks import Public

BINS = {"domain": {"first": "0", "width": "1/2"}}


@pytest.mark.parametrize(
    "name, fan_outs",
    [("correlated_noise", (4, 3)), ("balls_into_bins", (2, 3, 2)), ("balls_into_bins", (12,))],
)
def test_the_analyzer_gives_the_librarys_answer(name, fan_outs, tmp_path):
    users, inputs, folder = 2_000, 11, tmp_path / "ages"
    tree = CountTree.calibrate(name, users, fan_outs, 3.0, 1e-3)
    tree.export_client(folder, inputs, **BINS)
    values = np.minimum(np.random.default_rng(2).geometric(0.3, users) - 1, inputs - 1).tolist()
    answer, sent = answer_of(folder, values, *typed("--range 1:2.5 --quantile 0.3 --quantile 0.9"))
    assert answer["guarantee"] == tree.guarantee and answer["warnings"] == []

    assert len(sent) == pytest.approx(users * tree.messages_per_user, rel=0.05)
    counts = np.bincount(sent, minlength=tree.protocol.alphabet_size)
    noisy = users * tree.protocol.estimate(counts[None], Public(np.array([users])))[0]
    expected = tree.tree.estimate(users, tree.nodes(noisy))
    below = np.cumsum(expected)[:inputs] / users
    assert_allclose(answer["estimates"], below, atol=1e-9)
    deviations = np.sqrt(np.append(tree.tree.prefix_variances[1:], 0.0)[:inputs])
    assert_allclose(np.array(answer["half_width"]) * users, 1.959964 * deviations, rtol=1e-6, atol=1e-6)
    assert answer["band"] * users == pytest.approx(tree.tree.band)
    quantiles = tree.tree.quantiles(expected, (0.3, 0.9))
    ends = [[one[key] for one in answer["quantiles"]] for key in ("value", "low", "high")]
    # A bin has the name of its smallest number, and an interval goes up to the end of its last bin.
    assert_allclose(ends, np.add(np.minimum(quantiles, inputs - 1), [[0], [0], [1]]) / 2)
    (middle,) = answer["ranges"]
    assert (middle["first"], middle["last"]) == (1, 2.5)
    assert middle["estimate"] == pytest.approx(below[5] - below[1])
    squares = [Nodes(tree.tree.sizes, tree.tree.information.tolist()).variance(2, stop) for stop in (2, 6)]
    assert squares == pytest.approx([0.0, (middle["half_width"] * users / 1.959964) ** 2])


def test_range_variances_are_least_squares():
    tree = Tree((3, 2, 2), (3.0, 1.0, 5.0))
    nodes, k = Nodes(tree.sizes, tree.information.tolist()), 12
    variances = [nodes.variance(first, last) for first in range(k) for last in range(first + 1, k + 1)]
    assert np.mean(variances) == pytest.approx(tree.range_mse)
    assert [nodes.variance(0, stop) for stop in range(k)] == pytest.approx(tree.prefix_variances.tolist())


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20))
def test_isotonic_regression_is_that_of_scipy(numbers):
    assert_allclose(monotone(numbers), isotonic_regression(numbers).x, atol=1e-9)


def test_fewer_users_lose_the_guarantee(tmp_path):
    folder = tmp_path / "few"
    CountTree.calibrate("balls_into_bins", 2_000, (4, 3), 3.0, 1e-3).export_client(folder, 12)
    answer, _ = answer_of(folder, [3] * 500)
    assert answer["guarantee_holds"] is False and answer["users"] == 500
    median = answer["quantiles"][2]
    assert (median["share"], median["low"], median["value"], median["high"]) == (0.5, 3, 3, 3)


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


def moved_delta(laws, eps):
    """Return the divergence of independent counters of which each has a law before and after the user's change."""
    before, after = (np.array([1.0]), np.array([1.0]))
    for one, other in laws:
        before, after = np.outer(before, one).ravel(), np.outer(after, other).ravel()
    return np.maximum(before - np.exp(eps) * after, 0).sum()


def test_joint_delta_equals_all_outcomes():
    """All outcomes of the counters that a user moves in a tree 2 x 2, with the dummies of all users."""
    users, eps, delta = 40, 2.0, 1e-2
    tree = CountTree.calibrate("balls_into_bins", users, (2, 2), eps, delta)
    noise = binom.pmf(np.arange(users + 1), users, tree.protocol.rate)
    without, held = np.append(noise, 0.0), np.append(0.0, noise)
    pair = [(held, without), (without, held)]
    assert tree.guarantee == "exact"
    assert 0.98 * delta <= moved_delta(2 * pair, eps) <= delta * (1 + 1e-9)
    assert moved_delta(pair, eps) < 0.6 * delta  # both values in one node of the first level


@pytest.mark.parametrize("levels", [1, 2, 4, 8])
def test_joint_laplace_delta_is_binomial(levels):
    """A count moved by one has two likelihood ratios only, so that h levels are 2h-fold randomized response."""
    eps, delta = 1.0, 1e-8
    tree = CountTree.calibrate("central_laplace", 10**5, (2,) * levels, eps, delta)
    one = tree.protocol.parameters()["eps"] / 2
    j = np.arange(2 * levels + 1)
    chance = binom.pmf(j, 2 * levels, 1 / (1 + np.exp(-one)))
    exact = np.sum(chance * np.maximum(-np.expm1(eps - (2 * j - 2 * levels) * one), 0))
    more = np.sum(chance * np.maximum(-np.expm1(eps - (2 * j - 2 * levels) * one * 1.001), 0))
    assert exact <= delta * (1 + 1e-6) < more


SETTING = typed("client correlated_noise --users 3000 --eps 2 --delta 1e-4")


def test_the_command_writes_programs_for_bins(tmp_path):
    done = invoked(*SETTING, *typed("--bins 0:8:0.5 --fan-outs 4,4 -o"), str(tmp_path / "ages"))
    assert done.exit_code == 0, done.output
    stated = parameters_of(tmp_path / "ages")
    assert (stated["task"], stated["inputs"], stated["fan_outs"]) == ("ranges", 16, [4, 4])
    assert [one["refusal"] for one in refused_inputs(stated)][:2] == [
        "value must be at least 0 and below 8, got '8'.",
        "value must be at least 0 and below 8, got '-0.5'.",
    ]
    assert [randomizers.input_of(stated, text) for text in ("0.5", "0.49999999999999999", "7.9")] == [
        1,
        0,
        15,
    ]
    with pytest.raises(ValueError, match="value must be a number"):
        randomizers.input_of(stated, "nan")


@pytest.mark.parametrize(
    "more, message",
    [
        (typed("--domain-size 8 --fan-outs 2,2"), "fan_outs must have a product of at least 8"),
        (typed("--domain-size 8 --fan-outs a"), "fan_outs must be integers"),
        (typed("--domain-size 8 --fan-outs best --rounds 2"), "--rounds must be left out"),
        (typed("--domain-size 8 --fan-outs best --dropout 0.1"), "--dropout must be left out"),
        (["--fan-outs", "best"], "--fan-outs needs"),
        (typed("--bins 0:1:0.3 --fan-outs best"), "bins must have LOW below HIGH"),
        (typed("--bins 0:9:1 --domain-size 9"), "Give one of --domain-size"),
    ],
)
def test_other_options_are_refused(more, message, tmp_path):
    done = invoked(*SETTING, *more, "-o", str(tmp_path / "none"))
    assert done.exit_code == 1 and message in done.output and not (tmp_path / "none").exists()
