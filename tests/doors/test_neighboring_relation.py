"""Statements on the neighboring relation: what is released, and what stays unprotected."""

import numpy as np
import pytest
import yaml

import shuffledp
from command_line import printed
from shuffledp.populations import Binomial, Fixed
from shuffledp.protocols.registry import available, get
from shuffledp.tasks import Budget, Frequency, Participants, Public, Summation, Vectors

TASKS = {"frequency": Frequency(4), "summation": Summation(10), "vectors": Vectors(3, 1.0)}
ADD_REMOVE = [
    (kind, name) for kind in TASKS for name in available(kind) if "add_remove" in get(kind, name).neighbours
]


@pytest.mark.parametrize("kind, name", ADD_REMOVE)
def test_estimate_reads_no_protected_number(kind, name):
    protocol = get(kind, name).calibrate(Budget(1.0, 1e-6, "add_remove"), Fixed(999), TASKS[kind])
    aggregate = np.full((1, {"frequency": 4, "summation": 1, "vectors": 3}[kind]), 200.0)
    estimates = [protocol.estimate(aggregate, Public(np.array([n]))) for n in (999, 1000)]
    np.testing.assert_array_equal(*estimates)


@pytest.mark.parametrize(
    "relation, unprotected",
    [
        ("replace_one", "The number of users, which is fixed."),
        ("add_remove", "None. Estimates are divided by the planned number of users."),
    ],
)
def test_the_record_names_what_is_unprotected(relation, unprotected):
    words = (
        "describe central_laplace --users 1000 --domain-size 4 --eps 1 --delta 1e-6 --registry --neighbors"
    )
    record = yaml.safe_load(printed(words, relation))
    assert record["deployment"]["dp_variant"]["unprotected_quantities"] == unprotected


@pytest.mark.parametrize("name", ["central_laplace", "central_gaussian", "skellam"])
def test_random_number_has_no_shares(name):
    """Shares of a random number of users are infeasible under the relation add_remove."""
    with pytest.raises(ValueError, match="fixed number of users"):
        get("frequency", name).calibrate(Budget(1.0, 1e-6, "add_remove"), Binomial(999, 0.5), Frequency(4))


def test_stated_error_is_of_shares():
    protocol = get("frequency", "central_laplace").calibrate(
        Budget(1.0, 1e-6, "add_remove"), Fixed(999), Frequency(4)
    )
    counts = np.tile([400, 300, 200, 100], (20_000, 1))
    participants = Participants(Public(np.full(20_000, 1000)), counts, counts / 1000)
    rng = np.random.default_rng(20_261_128)
    estimates = protocol.estimate(protocol.sample_aggregate(participants, rng), participants.public)
    # Means of 80,000 squared errors: 6 standard errors, a false alarm in 1e8.
    squared = (estimates - counts / 1000) ** 2
    deviation = abs(squared.mean() - protocol.expected_variance(participants)[0, 0])
    assert deviation < 6 * squared.std() / np.sqrt(squared.size)


@pytest.mark.parametrize("kind, name", [case for case in ADD_REMOVE if case[0] == "frequency"])
@pytest.mark.parametrize("planned", [50, 1000])
def test_shares_of_other_numbers_are_refused(kind, name, planned):
    """Counts are divided by the planned number, so that no interval around such shares covers."""
    asked = {"counts": [60, 30, 10, 0], "protocol": name, "eps": 2.0, "delta": 1e-3}
    with pytest.raises(ValueError, match=f"users must be the number in the data, 100, .* got {planned}"):
        shuffledp.simulate(**asked, users=planned, neighbours="add_remove")
    assert shuffledp.simulate(**asked, users=100, neighbours="add_remove").planned == 100
