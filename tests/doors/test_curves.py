"""Bounds of `shuffledp account`, compared with the messages of all users, which are enumerated.

Users have binary randomized response, and the other users hold the same value or share both values. A printed bound
must hold for every such data set, so that no test has a false alarm.
"""

import math
import re

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from command_line import printed

EPS_LOCAL, KEEP = 1.5, 1 / (1 + math.exp(-1.5))


def account(words):
    return printed(f"account {words}")


def pair(others, ones, rounds=1, keep=KEEP):
    """Return the laws of the numbers of reported ones of all rounds if user 1 holds 1, and if user 1 holds 0."""
    law = np.convolve(
        stats.binom.pmf(np.arange(ones + 1), ones, keep),
        stats.binom.pmf(np.arange(others - ones + 1), others - ones, 1 - keep),
    )
    single = np.convolve(law, [1 - keep, keep]), np.convolve(law, [keep, 1 - keep])
    p, q = np.ones(1), np.ones(1)
    for _ in range(rounds):
        p, q = np.outer(p, single[0]).ravel(), np.outer(q, single[1]).ravel()
    return p, q


def both(others, rounds=1):
    """Return pairs in both directions, with ones held by none, half or all of the other users."""
    pairs = [pair(others, ones, rounds) for ones in (0, others // 2, others)]
    return pairs + [(q, p) for p, q in pairs]


def delta(p, q, eps):
    return float(np.maximum(p - math.exp(eps) * q, 0).sum())


def mean_delta(numbers, eps, rounds=1):
    """Return the mean of delta over a law of the number of the same other users in all rounds."""
    worst = [max(delta(p, q, eps) for p, q in both(others, rounds)) for others in range(len(numbers))]
    return float(numbers @ worst)


def true_positives(p, q, rate):
    """Return the power of the best test with this false positive rate."""
    order = np.argsort(-p / q)
    return float(np.interp(rate, np.append(0, np.cumsum(q[order])), np.append(0, np.cumsum(p[order]))))


def part(text, begin, end):
    rows = [line.split() for line in text.partition(begin)[2].partition(end)[0].splitlines()]
    return [(float(row[0]), float(row[1])) for row in rows if len(row) == 2 and re.match(r"[\d.]", row[0])]


@pytest.mark.parametrize("rounds", [1, 2])
def test_curves_hold_for_all_messages(rounds):
    words = f"--eps-local {EPS_LOCAL} --users 9 --delta 1e-2 --randomizer binary --rounds {rounds} --curves"
    text, pairs = account(words), both(8, rounds)
    profile = part(text, "Profile", "Gaussian")
    assert len(profile) > 20
    for eps, most in profile:
        assert max(delta(p, q, eps) for p, q in pairs) <= most * (1 + 1e-9)
    divergences = part(text, "Renyi divergence:", "Tests")
    assert len(divergences) == 7
    for order, most in divergences:
        least = max(logsumexp(order * np.log(p) + (1 - order) * np.log(q)) / (order - 1) for p, q in pairs)
        assert least <= most <= 1.4 * least, order
    mu = float(re.search(r"mu = ([\d.e-]+),", text)[1])
    tests = part(text, "Tests of two neighbors:", "True")
    assert len(tests) == 6
    for rate, least in tests:
        missed = min(1 - true_positives(p, q, rate) for p, q in pairs)
        assert least <= missed + 1e-12
        assert stats.norm.cdf(stats.norm.ppf(1 - rate) - mu) <= missed
    sentences = re.findall(
        r"False|True positive rate at a false positive rate of (\S+): at most (\S+)\.\n", text
    )
    assert len(sentences) == 2
    for rate, most in sentences:
        power = max(true_positives(p, q, float(rate)) for p, q in pairs)
        assert power <= float(most) <= 1.5 * power


def of_answer(text):
    """Return the printed eps and its printed lower bound."""
    least = re.search(r"no eps below (\S+) does", text)
    return float(re.search(r"eps = ([\d.e-]+)[:,.]", text)[1].rstrip(".")), float(least[1])


def needed(pairs, target):
    """Return the smallest eps at which delta of all pairs is at most the target."""
    low, high = 0.0, 10.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if max(delta(p, q, middle) for p, q in pairs) > target else (low, middle)
    return high


@pytest.mark.parametrize("users, colluding", [(1, 0.0), (2, 0.0), (9, 0.0), (40, 0.0), (10, 0.25), (41, 0.5)])
def test_both_bounds_enclose_eps(users, colluding):
    text = account(
        f"--eps-local {EPS_LOCAL} --users {users} --delta 1e-2 --randomizer binary --colluding {colluding}"
    )
    eps, least = of_answer(text)
    others = int(re.search(r"Honest others: Fixed\(others=(\d+)\)", text)[1])
    assert others == users - 1 - math.ceil(colluding * users)
    want = needed(both(others), 1e-2)
    assert want <= eps + 1e-9 and least <= want + 1e-9
    assert eps <= 1.3 * want


@pytest.mark.parametrize(
    "words, numbers",
    [
        ("poisson:5", stats.poisson.pmf(np.arange(40), 5)),
        ("binomial:12:0.5", stats.binom.pmf(np.arange(13), 12, 0.5)),
        ("fixed:8", np.eye(9)[8]),
    ],
)
def test_random_users_have_mean_delta(words, numbers):
    text = account(f"--eps-local {EPS_LOCAL} --population {words} --delta 1e-2 --randomizer binary")
    eps, least = of_answer(text)
    assert mean_delta(numbers, eps) <= 1e-2 * (1 + 1e-9)
    assert mean_delta(numbers, least * 0.999) > 1e-2


def test_random_crowd_is_shared_by_default():
    """The default claim covers one crowd for all rounds; the claim for fresh crowds does not."""
    words = f"--population poisson:3 --eps-local {EPS_LOCAL} --delta 1e-2 --rounds 3 --randomizer binary"
    numbers = stats.poisson.pmf(np.arange(23), 3)
    text, anew = account(words), account(f"{words} --crowd fresh")
    assert "the same in all rounds (shared crowd)" in text
    assert "drawn anew in every round (fresh crowd)" in anew
    shared, fresh = of_answer(text)[0], of_answer(anew)[0]
    assert mean_delta(numbers, shared, 3) <= 1e-2
    assert fresh < shared and mean_delta(numbers, fresh, 3) > 0.9e-2
    assert '"crowd": "shared"' in account(f"{words} --json")


def test_computed_budgets_meet_printed_target():
    text = account("--eps 0.5 --users 30 --delta 1e-2 --randomizer binary")
    eps_local = float(re.search(r"eps_local = (\S+):", text)[1])
    p, q = pair(29, 0, keep=1 / (1 + math.exp(-eps_local)))
    assert max(delta(p, q, 0.5), delta(q, p, 0.5)) <= 1e-2 and eps_local > 0.8
    users = int(
        re.search(
            r"users = ([\d,]+):", account("--eps-local 1.5 --eps 0.5 --delta 1e-2 --randomizer binary")
        )[1]
    )
    assert max(delta(p, q, 0.5) for p, q in both(users - 1)) <= 1e-2
    assert max(delta(p, q, 0.5) for p, q in both(users // 2)) > 1e-2


def test_different_rounds_hold_together():
    text = account(f"--round {EPS_LOCAL}:4 --round {EPS_LOCAL}:6:1 --delta 1e-2 --randomizer binary")
    eps, least = of_answer(text)
    first, second = both(3), both(5)
    pairs = [
        (np.outer(a, c).ravel(), np.outer(b, d).ravel()) for (a, b), (c, d) in zip(first, second, strict=True)
    ]
    want = needed(pairs, 1e-2)
    assert least <= want <= eps <= 1.4 * want


@pytest.mark.parametrize("steps, sigma", [(1, 1.5), (8, 1.2)])
def test_batch_bounds_enclose_simulated_delta(steps, sigma):
    """All other items add -1, and the item adds 1: its batch has the sum 2, or 1 if it is a zero, above the others.

    Means of 300,000 draws differ from delta by 6 standard errors with a probability of 1e-9.
    """
    eps, least = of_answer(account(f"--batches {steps}:{sigma} --delta 1e-3"))

    def losses(item):
        """Return the logarithms of the density with the item, in units of the density with a zero."""
        drawn = np.random.default_rng(20_261_128).normal(0, sigma, (steps, 300_000))
        drawn[0] += item  # any step, by symmetry
        with_item, with_zero = (
            logsumexp((2 * x * drawn - x**2) / (2 * sigma**2), axis=0) for x in (2.0, 1.0)
        )
        return with_item - with_zero

    directions = (losses(2.0), -losses(1.0))

    def excess(at):
        """Return delta of the worse direction, and its standard error."""
        worse = max((-np.expm1(np.minimum(at - loss, 0)) for loss in directions), key=np.mean)
        return float(worse.mean()), float(worse.std() / math.sqrt(len(worse)))

    most, error = excess(eps)
    assert most <= 1e-3 + 6 * error
    most, error = excess(least * 0.999)
    assert most > 1e-3 - 6 * error
