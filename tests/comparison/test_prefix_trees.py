"""Frequent values by a prefix tree: reference numbers, found and false values, accounting, and refusals."""

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.comparison import PrefixTree
from shuffledp.comparison.count_trees import TREE_PROTOCOLS, CountTree

FALSE_ALARM = 1e-6


@pytest.mark.parametrize(
    "name, rounds, bits, variance, threshold, certain, messages",
    [
        ("central_laplace", 4, 16, 127.8, 145, 187, 1),
        ("balls_into_bins", 4, 16, 211.1, 87.9, 127, 1_384),
        ("central_laplace", 8, 8, 511.4, 200, 296, 1),
        ("balls_into_bins", 8, 8, 418.2, 98.6, 159, 11.7),
        ("balls_into_bins", 16, 4, 834.8, 119.5, 211, 2.34),
    ],
)
def test_reference_numbers(name, rounds, bits, variance, threshold, certain, messages):
    """Specification, a million users and 100 survivors per round; counts are whole numbers here."""
    tree = PrefixTree.calibrate(name, 10**6, rounds, bits, 1.0, 1e-8)
    counted = 100 * 2**bits
    assert tree.threshold(counted) == pytest.approx(threshold, abs=1)
    assert tree.certain_count(counted) == pytest.approx(certain, abs=1)
    assert tree.of_round(counted).cost().messages_per_user == pytest.approx(messages, rel=2e-3)
    noise = CountTree.calibrate(name, 10**6, (2,) * rounds, 1.0, 1e-8).tree.variances[0]
    assert noise == pytest.approx(variance, rel=2e-3)


@pytest.mark.parametrize("name", TREE_PROTOCOLS)
def test_values_are_found_as_stated(name):
    """A value with the stated number of users is found in 99 % of the runs; prefixes without users survive rarely."""
    users, rounds, bits, runs = 4_000, 2, 4, 80
    tree, rng = PrefixTree.calibrate(name, users, rounds, bits, 1.0, 1e-6), np.random.default_rng(11)
    assert tree.guarantee == "upper"
    held = tree.certain_count(2 * 2**bits)
    values = np.full(users, 0x70)
    values[:held] = 0x2A
    found = [tree.find(values, rng) for _ in range(runs)]
    chance = binom.ppf([FALSE_ALARM, 1 - FALSE_ALARM], runs, 0.99) / runs
    assert chance[0] <= np.mean([0x2A in one for one in found]) <= 1
    false = sum(bool(set(one) - {0x2A, 0x70}) for one in found)
    assert false <= binom.ppf(1 - FALSE_ALARM, runs, 0.1)
    estimates = np.array([one[0x70] for one in found])
    spread = estimates.std() / runs**0.5
    assert estimates.mean() == pytest.approx(users - held, abs=5 * spread)
    assert all(next(iter(one)) == 0x70 for one in found)


def test_long_labels_are_found():
    """Labels of 64 bits, of which the largest sets the first bit; 30 have enough users, all others have one."""
    rng, users = np.random.default_rng(3), 40_000
    tree = PrefixTree.calibrate("central_gaussian", users, 8, 8, 1.0, 1e-8)
    labels = rng.integers(0, 2**64, 30, np.uint64)
    labels[0] = np.uint64(2**64 - 1)
    held = tree.certain_count(60 * 256, chance=0.9999)
    values = np.concatenate([np.repeat(labels, held), rng.integers(0, 2**64, users - 30 * held, np.uint64)])
    found = tree.find(rng.permutation(values), rng)
    assert set(map(int, labels)) <= set(found) and len(found) <= 32
    assert len(tree.find(values, rng, most=5)) <= 5


def test_nothing_is_found_without_frequent_values():
    tree = PrefixTree.calibrate("central_laplace", 500, 8, 8, 0.1, 1e-8)
    values = np.random.default_rng(2).integers(0, 2**63, 500)
    assert tree.find(values, np.random.default_rng(3)) == {}


@pytest.mark.parametrize(
    "change, message",
    [
        ({"name": "solh"}, "protocol must be one of"),
        ({"rounds": 9}, r"rounds must be an integer in \[2, 8\]"),
        ({"bits": 21}, "bits must be"),
        ({"users": 1}, "users must be"),
    ],
)
def test_wrong_settings_are_refused(change, message):
    setting = {"name": "central_laplace", "users": 100, "rounds": 2, "bits": 8, "eps": 1.0, "delta": 1e-6}
    with pytest.raises(ValueError, match=message):
        PrefixTree.calibrate(**{**setting, **change})


@pytest.mark.parametrize(
    "values, message", [([0, 16], r"in \[0, 2\^4\)"), ([0, -1], "integers"), ([1], "2 users")]
)
def test_wrong_values_are_refused(values, message):
    tree = PrefixTree.calibrate("central_laplace", 2, 2, 2, 1.0, 1e-6)
    with pytest.raises(ValueError, match=message):
        tree.find(np.array(values), np.random.default_rng(1))
