"""SOLH, truncation, private-coin, public-coin and correlated noise: estimators, exact fast laws and closed forms."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chisquare

from demo_job import demo_job
from shuffledp.accounting import Infeasible
from shuffledp.pipeline.experiments import runner
from shuffledp.populations import Fixed
from shuffledp.protocols import get
from shuffledp.protocols.frequency._binary_subspaces import (
    kernel_bases,
    kernel_law,
    parity,
    random_subspaces,
    spans,
)
from shuffledp.protocols.frequency._hashing import hash_values
from shuffledp.protocols.frequency.correlated_noise import CorrelatedNoise
from shuffledp.protocols.frequency.private_coin import PrivateCoin
from shuffledp.protocols.frequency.public_coin import PublicCoin
from shuffledp.protocols.frequency.solh import Solh
from shuffledp.protocols.frequency.truncation import Truncation
from shuffledp.tasks import Budget, Frequency, Participants, Public, Users


def rng(seed=0):
    return np.random.default_rng([2009, 13738, seed])


def test_error_beyond_memory_is_refused():
    many = PublicCoin(n_users=100, domain_size=10**7, rows=28, rate=0.1)
    who = Participants.from_counts(np.full((1, 10**7), 0) + np.eye(1, 10**7, dtype=int) * 100)
    with pytest.raises(
        Infeasible, match="too long a sum for 10,000,000 values: at most 2,396,745 in 28 rows"
    ):
        many.expected_squared_error(who)


def calibrated(name, n, k, eps, accounting="printed", delta=1e-6, **options):
    return get("frequency", name).calibrate(
        Budget(eps, delta), Fixed(n - 1), Frequency(k), accounting=accounting, **options
    )


def by_messages(protocol, counts, repeats, seed=1):
    """Return aggregates of the message level, (R, A)."""
    users = Users(np.repeat(np.arange(len(counts)), counts))
    public, source = Public(np.array([sum(counts)])), rng(seed)
    rows = [protocol.simulate_messages(users, public, source).ravel() for _ in range(repeats)]
    return np.array(rows, float)


def assert_same_law(slow, fast):
    """Check means, and centered products of two and three counts, within five standard errors (6e-7 each, if normal).

    Products of three are necessary: in a uniform tuple of the private-coin protocol, two values are independent, but
    three are not.
    """
    for order in (1, 2, 3):
        a, b = (products(x - fast.mean(axis=0), order) for x in (slow, fast))
        error = np.hypot(a.std(axis=0) / math.sqrt(len(a)), b.std(axis=0) / math.sqrt(len(b)))
        assert np.all(np.abs(a.mean(axis=0) - b.mean(axis=0)) <= 5 * error + 1e-9)


def products(x, order):
    chosen = itertools.combinations_with_replacement(range(x.shape[1]), order)
    return np.stack([np.prod(x[:, list(columns)], axis=1) for columns in chosen], axis=1)


# -- fast laws and closed forms ------------------------------------------------------------------------------------

SMALL = [
    Truncation(40, 3, 0.2, truncate=False),
    PrivateCoin(12, 5, 1, 2),
    PrivateCoin(12, 6, 2, 1),
    PrivateCoin(10, 3, 1, 4),
    PublicCoin(6, 4, 2, 0.3, hash_seed=5),
    CorrelatedNoise(20, 3, 0.8, 2.5, 0.3),
    CorrelatedNoise(20, 3, 0.8, 0.0, 7.6),  # nothing cancels
    CorrelatedNoise(20, 3, 0.8, 1e-3, 0.01),  # rarely, but then much
]


@pytest.mark.parametrize("protocol", SMALL, ids=lambda p: f"{p.name}-{p.domain_size}")
def test_fast_law_has_message_moments(protocol):
    k = protocol.domain_size
    counts = np.bincount(np.minimum(np.arange(protocol.n_users) // 3, k - 1), minlength=k)
    slow = by_messages(protocol, counts, 2000)
    who = Participants.from_counts(np.tile(counts, (20_000, 1)))
    fast = protocol.sample_aggregate(who, rng(2)).reshape(20_000, -1).astype(float)
    assert_same_law(slow, fast)


# -- binary subspaces, hashes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows, columns", [(1, 3), (2, 3), (3, 2), (3, 3)])
def test_kernel_law_equals_enumeration(rows, columns):
    matrices = np.array(list(itertools.product(range(2**columns), repeat=rows)))
    bases, dimensions = kernel_bases(matrices, columns)
    assert_allclose(np.bincount(dimensions, minlength=columns + 1) / len(matrices), kernel_law(rows, columns))
    for matrix, basis, dimension in zip(matrices, bases, dimensions, strict=True):
        kernel = {v for v in range(2**columns) if not np.any(parity(matrix & v))}
        assert set(spans(basis[None, :dimension])[0].tolist()) == kernel


@pytest.mark.parametrize("through", [None, 5])
def test_random_subspaces_are_uniform(through):
    given = None if through is None else np.full(35_000, through)
    found = random_subspaces(35_000, 2, 4, rng(8), given)
    assert np.all(found[:, 0] == 0)
    assert np.all(found[:, 3] == found[:, 1] ^ found[:, 2])
    kinds, times = np.unique(np.sort(found, axis=1), axis=0, return_counts=True)
    assert len(kinds) == (35 if through is None else 7)  # planes of GF(2)^4, and those through a vector
    assert chisquare(times).pvalue > 1e-6


def test_neighbouring_seeds_give_unrelated_hashes():
    seeds = np.arange(60_000)
    pairs = 7 * hash_values(seeds, np.array(1), 7) + hash_values(seeds + 1, np.array(0), 7)
    assert chisquare(np.bincount(pairs.astype(int), minlength=49)).pvalue > 1e-6


# -- refusals ----------------------------------------------------------------------------------------------------


def test_wrong_options_and_values_are_rejected():
    with pytest.raises(ValueError, match="hash_seed"):
        calibrated("public_coin", 500_000, 50, 1.0, hash_seed=2**32)
    with pytest.raises(ValueError, match=r"0\.\.3"):
        Solh(40, 4, 1.5, 3).encode(Users(np.array([4])), rng())
    with pytest.raises(Infeasible, match="cells"):
        calibrated("public_coin", 2**31 + 1, 50, 1.0)


# -- squared errors of biased estimates, in the interface and in the runner ----------------------------------------


def test_squared_error_is_variance_unless_biased():
    counts = Participants.from_counts(np.array([20, 15, 5, 0]))
    unbiased = Solh(40, 4, 1.5, 3)
    assert np.array_equal(unbiased.expected_squared_error(counts), unbiased.expected_variance(counts))

    class Skewed(Solh):
        biased = True

    skewed = Skewed(40, 4, 1.5, 3)
    assert skewed.expected_variance(counts) is not None
    assert skewed.expected_squared_error(counts) is None
    assert skewed.expected_mse(np.array([20, 15, 5, 0])) is None


TRUNCATED = {
    "protocol": "truncation",
    "accounting": ["exact"],
    "repeats": 400,
    "grid": {},
    "task": {"kind": "frequency", "domain_size": 4, "metrics": ["mse", "sse", "tve"]},
    "data": {"name": "uniform", "records": 2000},
    "population": {"users": 2000},
    "budget": {"eps": 0.5, "delta": 1.0e-5},
}


def expected_rows(tmp_path, **changes):
    done = runner.run(demo_job(**TRUNCATED | changes), prepared=tmp_path, root=tmp_path)
    table = done.values.to_pandas()
    simulated = table[table["kind"] == "simulated"].groupby("metric")["value"]
    return table[table["kind"] == "expected"].set_index("metric")["value"], simulated


@pytest.mark.parametrize("name", ["truncation", "public_coin"])
def test_runner_states_biased_squared_error(tmp_path, name):
    budget = {"eps": 0.5, "delta": 1.0e-5} if name == "truncation" else {"eps": 1.0, "delta": 1.0e-2}
    expected, simulated = expected_rows(tmp_path, protocol=name, budget=budget)
    assert set(expected.index) == {"mse", "sse"}  # absolute errors are not normal around the truth
    assert_allclose(expected["sse"], 4 * expected["mse"], rtol=1e-12)
    assert abs(simulated.mean()["mse"] - expected["mse"]) < 5 * simulated.std()["mse"] / math.sqrt(400)


def test_runner_omits_unknown_biased_errors(tmp_path):
    task = {"kind": "frequency", "domain_size": 4, "truth": "population", "metrics": ["mse"]}
    assert expected_rows(tmp_path, task=task)[0].empty
    assert expected_rows(tmp_path, data={"name": "uniform", "records": 2501})[0].empty  # fractions of users
