"""Errors of prefixes from trees by several estimates: reference numbers, simulations, and refusals."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from shuffledp.accounting.expected_errors.range_trees import Tree
from shuffledp.comparison import tree_error
from shuffledp.comparison.tree_errors import (
    even_fan_outs,
    group_sampling_mse,
)

error = partial(tree_error, users=10**5, eps=1.0, delta=1e-8)


@pytest.mark.parametrize(
    "name, levels, estimate, expected",
    [
        ("central_laplace", 2, "least_squares", 159.48),
        ("central_laplace", 1, "least_squares", 334.31),
        ("central_laplace", 2, "node_sums", 15 * 31.83),
        ("balls_into_bins", 8, "least_squares", 377.0),
        ("balls_into_bins", None, "wavelet", 604.0),
    ],
)
def test_errors_of_the_specification(name, levels, estimate, expected):
    found = error(name, domain_size=256, levels=levels, estimate=estimate)
    assert found == pytest.approx(expected, rel=2e-3)


def test_split_users_add_group_sampling():
    """The specification's 19,883 takes counts of different groups as independent."""
    found = error("central_laplace", domain_size=256, levels=2, estimate="split_users")
    u = np.arange(16) / 16
    correlated = 2 * 10**5 * u.mean() * u.mean() / 16
    assert found - correlated == pytest.approx(19_883, abs=2)
    assert found > 100 * error("central_laplace", domain_size=256, levels=2)


@pytest.mark.parametrize("fan_outs", [(4, 4), (2, 2, 2)], ids=str)
def test_group_sampling_agrees_with_simulation(fan_outs):
    k, levels, runs, rng = int(np.prod(fan_outs)), len(fan_outs), 4_000, np.random.default_rng(3)
    users = 12 * k
    values, sizes = np.repeat(np.arange(k), 12), Tree(fan_outs, (1.0,) * levels).sizes
    groups = rng.permuted(np.tile(np.arange(users) % levels, (runs, 1)), axis=1)
    j = np.arange(k)
    found = np.zeros((runs, k))
    for level, (large, small) in enumerate(pairwise(sizes)):
        inside = (values >= (j - j % large)[:, None]) & (values < (j - j % small)[:, None])
        found += levels * (groups == level) @ inside.T
    squared = np.square(found - 12 * j).mean(axis=1)
    expected = group_sampling_mse(fan_outs, users) * users / (users - 1)
    assert squared.mean() == pytest.approx(expected, abs=5 * squared.std() / runs**0.5)


@pytest.mark.parametrize(
    "k, levels, fan_outs",
    [(256, 2, (16, 16)), (128, 2, (16, 8)), (1_024, 4, (8, 8, 4, 4)), (8, 3, (2, 2, 2))],
)
def test_fan_outs_are_even(k, levels, fan_outs):
    assert even_fan_outs(k, levels) == fan_outs


@pytest.mark.parametrize(
    "change, message",
    [
        ({"domain_size": 100, "levels": 2}, "domain_size must be a power of two"),
        ({"domain_size": 16, "levels": 5}, "levels must be"),
        (
            {"domain_size": 16, "levels": 2, "estimate": "wavelet"},
            "levels must be left out for wavelets, got 2",
        ),
        ({"domain_size": 16, "levels": 2, "estimate": "haar"}, "estimate must be"),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        error("central_laplace", **change)
